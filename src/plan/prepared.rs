//! Small plans, ready to run: in a few lines nothing takes longer than to see that they are where they should be.

use relayout_kernels::{Mover, Prepared};
use smallvec::SmallVec;

use super::step::{Kernel, Steps};
use super::{BufferLength, Options, Streaming};

/// Steps that are checked once; room for more would make all plans larger.
pub(crate) type PreparedSteps = SmallVec<[Prepared; 2]>;

/// Bytes of both buffers beyond which checking is nothing beside moving.
const FEW_BYTES: usize = 64 << 10;

/// All steps of a plan but its fills, where they are few, move whole bytes, and do not stream.
pub(super) fn prepared(
    steps: &Steps,
    [src_len, dst_len]: [BufferLength; 2],
    options: Options,
) -> Option<PreparedSteps> {
    let (src_len, dst_len) = (src_len.bytes(), dst_len.bytes());
    if src_len.saturating_add(dst_len) > FEW_BYTES || options.streaming == Streaming::Always {
        return None;
    }
    let mut prepared = PreparedSteps::new();
    for step in steps.moves() {
        let Kernel::Move { family, element_bytes } = step.kernel else { return None };
        if prepared.len() == prepared.inline_size() {
            return None;
        }
        let mover = Mover { family, element_bytes, level: options.level, stream: false };
        prepared.push(mover.prepare(step.nest, src_len, dst_len)?);
    }
    Some(prepared)
}

//! Small plans, ready to run: in a few lines nothing takes longer than to see that they are where they should be.

use relayout_kernels::{Mover, OutOfBounds, Prepared, PreparedConverter, Scale};
use smallvec::SmallVec;

use super::choose::Element;
use super::step::{Kernel, Steps};
use super::{BufferLength, Options, Streaming};

/// Steps that are checked once; room for more would make all plans larger.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "plans are made without a heap")]
pub(crate) enum PreparedSteps {
    Moves(SmallVec<[Prepared; 2]>),
    /// The only one.
    Conversion(PreparedConverter),
}

impl Default for PreparedSteps {
    fn default() -> PreparedSteps {
        PreparedSteps::Moves(SmallVec::new())
    }
}

/// Bytes of both buffers beyond which checking is nothing beside moving.
const FEW_BYTES: usize = 64 << 10;

impl PreparedSteps {
    /// All steps of a plan but its fills, of which none needs more to run, where they are few, of whole bytes, and do not stream; else none.
    pub(super) fn new(
        steps: &Steps,
        element: &Element,
        [src_len, dst_len]: [BufferLength; 2],
        options: Options,
    ) -> PreparedSteps {
        let lengths @ [src_len, dst_len] = [src_len.bytes(), dst_len.bytes()];
        let is_small = src_len.saturating_add(dst_len) <= FEW_BYTES;
        if !is_small || options.streaming == Streaming::Always {
            return PreparedSteps::default();
        }
        PreparedSteps::all(steps, element, lengths, options).unwrap_or_default()
    }

    fn all(
        steps: &Steps,
        element: &Element,
        [src_len, dst_len]: [usize; 2],
        options: Options,
    ) -> Option<PreparedSteps> {
        let mut moves = SmallVec::new();
        let mut steps = steps.moves().peekable();
        while let Some(step) = steps.next() {
            match step.kernel {
                Kernel::Move { family, element_bytes } if moves.len() < moves.inline_size() => {
                    let mover = Mover { family, element_bytes, level: options.level, stream: false };
                    moves.push(mover.prepare(step.nest, src_len, dst_len)?);
                }
                Kernel::Convert { dst, .. } if moves.is_empty() && steps.peek().is_none() => {
                    let convert = element.convert.as_ref()?;
                    let scale = Scale::All(convert.factor());
                    let converter = convert.converter([element.src, dst], scale, options.level, false);
                    let conversion = converter.prepare(step.nest, src_len, dst_len)?;
                    return Some(PreparedSteps::Conversion(conversion));
                }
                _ => return None,
            }
        }
        Some(PreparedSteps::Moves(moves))
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            PreparedSteps::Moves(moves) => moves.len(),
            PreparedSteps::Conversion(_) => 1,
        }
    }

    /// Runs all of them.
    #[inline]
    pub(crate) fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), OutOfBounds> {
        match self {
            PreparedSteps::Moves(moves) => moves.iter().try_for_each(|nest| nest.run(src, dst)),
            PreparedSteps::Conversion(nest) => nest.run(src, dst),
        }
    }
}

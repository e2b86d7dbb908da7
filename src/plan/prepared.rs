//! Small plans, ready to run: in a few lines nothing takes longer than to see that they are where they should be.

use relayout_kernels::{Mover, OutOfBounds, Prepared, PreparedConverter, Scale};
use smallvec::SmallVec;

use super::choose::Element;
use super::step::{Kernel, Steps};
use super::{BufferLength, Options, Streaming};

/// Steps that are checked once: of one of the two kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct PreparedSteps {
    /// Room for more would make all plans larger.
    moves: SmallVec<[Prepared; 2]>,
    conversions: Vec<PreparedConverter>,
}

/// Bytes of both buffers beyond which checking is nothing beside moving.
const FEW_BYTES: usize = 64 << 10;

/// Boxes that are converted, beyond which they are not kept a second time.
const MOST_CONVERSIONS: usize = 4;

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
        let mut all = PreparedSteps::default();
        for step in steps.moves() {
            match step.kernel {
                Kernel::Move { family, element_bytes } if all.moves.len() < all.moves.inline_size() => {
                    let mover = Mover { family, element_bytes, level: options.level, stream: false };
                    all.moves.push(mover.prepare(step.nest, src_len, dst_len)?);
                }
                Kernel::Convert { dst, .. } if all.conversions.len() < MOST_CONVERSIONS => {
                    let convert = element.convert.as_ref()?;
                    let scale = Scale::All(convert.factor());
                    let converter = convert.converter([element.src, dst], scale, options.level, false);
                    all.conversions.push(converter.prepare(step.nest, src_len, dst_len)?);
                }
                _ => return None,
            }
        }
        Some(all)
    }

    pub(crate) fn len(&self) -> usize {
        self.moves.len() + self.conversions.len()
    }

    /// Runs all of them.
    #[inline]
    pub(crate) fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), OutOfBounds> {
        self.moves.iter().try_for_each(|nest| nest.run(src, dst))?;
        self.conversions.iter().try_for_each(|nest| nest.run(src, dst))
    }
}

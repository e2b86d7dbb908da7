//! Padding that is written with the rows before it, so that no line is written in parts.

use relayout_kernels::{Fill, Nest};

use super::ends::{Source, Target};
use super::restrict::{element_units, restrict_whole, src_units_per_byte};
use super::{ExecuteError, FEW_STEPS};
use crate::plan::Plan;
use crate::plan::step::{Kernel, Step};

impl Plan {
    /// True where padding may lie behind rows of elements, and be written with them.
    pub(super) fn pads_rows(&self) -> bool {
        let moves = self.steps.moves().count();
        self.fills_are_apart && self.steps.len() <= FEW_STEPS && (1..self.steps.len()).contains(&moves)
    }

    /// Runs what padding and the rows before it write in a part of the destination, together and past the cache: the number of the rows'
    /// box; none, and nothing is written, where no box has such rows.
    pub(super) fn run_padded_in(
        &self,
        (pad, fill): (&Step<'_>, Fill),
        src: Source<'_>,
        target: &mut Target<'_>,
    ) -> Result<Option<usize>, ExecuteError> {
        let range = target.range(1);
        let Some(padding) = restrict_whole(pad, &range) else { return Ok(None) };
        for (number, step) in self.steps.iter().enumerate() {
            if step.kernel.is_fill() || step.nest.dst_offset + run(&step) != pad.nest.dst_offset {
                continue;
            }
            let Some(rows) = restrict_whole(&step, &range) else { continue };
            let first = src.first(src_units_per_byte(&step.kernel));
            let [rows, padding] = [&rows, &padding].map(|part| Nest {
                src_offset: part.src_offset - first,
                dst_offset: part.dst_offset - range.start,
                loops: &part.loops,
            });
            let (from, to, padding) = (src.bytes, &mut *target.bytes, (padding, fill));
            let is_done = match step.kernel {
                Kernel::Move { family, element_bytes } => {
                    self.mover(family, element_bytes, true).run_padded(from, to, rows, padding)?
                }
                Kernel::Convert { dst: width, .. } => match self.converter_from(first, width, true) {
                    Some(converter) => converter.run_padded(from, to, rows, padding)?,
                    None => false,
                },
                Kernel::Copy | Kernel::Fill(_) => false,
            };
            if is_done {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }
}

/// Bytes from the first place of a step on that its innermost loops write one behind the other.
fn run(step: &Step<'_>) -> isize {
    step.nest.loops.iter().rev().fold(element_units(step), |run, l| match l.dst_stride == run {
        true => run.saturating_mul(l.extent as isize),
        false => run,
    })
}

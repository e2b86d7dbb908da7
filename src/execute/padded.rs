//! Padding that is written with the rows before it, so that no line is written in parts.

use std::ops::Range;

use relayout_kernels::Fill;
use smallvec::SmallVec;

use super::ends::{Source, Target};
use super::restrict::{Part, element_units, restrict_whole, src_element_units, src_units_per_byte};
use super::{ExecuteError, FEW_STEPS};
use crate::plan::Plan;
use crate::plan::step::{Kernel, Step};

impl Plan {
    /// True where padding may lie behind rows of elements, and be written with them.
    pub(super) fn pads_rows(&self) -> bool {
        let moves = self.steps.moves().count();
        self.fills_are_apart && self.steps.len() <= FEW_STEPS && (1..self.steps.len()).contains(&moves)
    }

    /// Runs what padding and the rows before it write in a part of the destination, together and past the cache: the numbers of the
    /// boxes that are done; none, and nothing is written, where no box has such rows.
    pub(super) fn run_padded_in(
        &self,
        (pad, fill): (&Step<'_>, Fill),
        src: Source<'_>,
        target: &mut Target<'_>,
    ) -> Result<Numbers, ExecuteError> {
        let range = target.range(1);
        let Some(padding) = restrict_whole(pad, &range) else { return Ok(Numbers::new()) };
        for (number, step) in self.steps.iter().enumerate() {
            if step.kernel.is_fill() || step.nest.dst_offset + run(&step) != pad.nest.dst_offset {
                continue;
            }
            let Some(rows) = restrict_whole(&step, &range) else { continue };
            let first = src.first(src_units_per_byte(&step.kernel));
            let [rows, padding] = [&rows, &padding].map(|part| part.nest_from(first, range.start));
            let (from, to, padding) = (src.bytes, &mut *target.bytes, (padding, fill));
            let before = self.before(&step, &range);
            let before = before.as_ref().map(|(number, part)| (*number, part.nest_from(first, range.start)));
            // With what rows have before, and else without.
            for before in before.map(Some).into_iter().chain([None]) {
                let nests = (before.map(|(_, nest)| nest), rows);
                let is_done = match step.kernel {
                    Kernel::Move { family, element_bytes } => {
                        self.mover(family, element_bytes, true).run_padded(from, to, nests, padding)?
                    }
                    Kernel::Convert { dst: width, .. } => match self.converter_from(first, width, true) {
                        Some(converter) => converter.run_padded(from, to, nests, padding)?,
                        None => false,
                    },
                    Kernel::Copy | Kernel::Fill(_) => false,
                };
                if is_done {
                    return Ok(before.map(|(number, _)| number).into_iter().chain([number]).collect());
                }
            }
        }
        Ok(Numbers::new())
    }

    /// The box whose runs of the source go on with those of another, and its part of a range of the destination.
    fn before(&self, step: &Step<'_>, range: &Range<isize>) -> Option<(usize, Part)> {
        let (number, before) = self.steps.iter().enumerate().find(|(_, other)| goes_on(other, step))?;
        Some((number, restrict_whole(&before, range)?))
    }
}

/// Numbers of boxes.
pub(super) type Numbers = SmallVec<[usize; 2]>;

/// True where what a box reads from its first place on, one element behind the other, goes on with what another reads from its own.
fn goes_on(step: &Step<'_>, other: &Step<'_>) -> bool {
    let mut run = src_element_units(step);
    while let Some(l) = step.nest.loops.iter().find(|l| l.extent > 1 && l.src_stride == run) {
        run = run.saturating_mul(l.extent as isize);
    }
    step.kernel == other.kernel && step.nest.src_offset + run == other.nest.src_offset
}

/// Bytes from the first place of a step on that its innermost loops write one behind the other.
fn run(step: &Step<'_>) -> isize {
    step.nest.loops.iter().rev().fold(element_units(step), |run, l| match l.dst_stride == run {
        true => run.saturating_mul(l.extent as isize),
        false => run,
    })
}

//! Running the steps of a plan, whole or in a part of the destination.

use std::ops::Range;

use relayout_kernels::{
    Family, Fill, Mover, Nest, OutOfBounds, Panel, Side, SlotWidth, copy_slots, fill_nest,
};

use super::restrict::{reach_in_row, restrict, restrict_rows, units_per_byte};
use super::{ExecuteError, tables};
use crate::plan::Plan;
use crate::plan::step::{Kernel, Step};

/// Consecutive bytes of the destination.
pub(super) struct Target<'a> {
    /// The place of its first byte in the whole.
    pub(super) start: usize,
    pub(super) bytes: &'a mut [u8],
}

impl Target<'_> {
    /// Its places in the whole, in units of which so many make a byte.
    pub(super) fn range(&self, units_per_byte: usize) -> Range<isize> {
        // A destination is a slice, and the slots of one fit 64 bits: the plan has counted them.
        let place = |byte: usize| byte.saturating_mul(units_per_byte) as isize;
        place(self.start)..place(self.start + self.bytes.len())
    }
}

impl Plan {
    /// Runs the whole plan.
    pub(super) fn run_whole(&self, src: &[u8], dst: &mut [u8], stream: bool) -> Result<(), ExecuteError> {
        self.steps.iter().try_for_each(|step| self.run_step(&step, src, dst, stream))?;
        match &self.tables {
            Some(tables) => tables::run(self, tables, src, &mut Target { start: 0, bytes: dst }),
            None => Ok(()),
        }
    }

    /// Runs what the plan writes in a panel of the destination.
    pub(super) fn run_panel(
        &self,
        src: &[u8],
        mut panel: Panel<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        for step in self.steps.iter() {
            match step.kernel {
                Kernel::Move { .. } if panel.rows() > 1 && keeps_to_rows(&step, panel.period()) => {
                    self.run_step_across(&step, src, &mut panel, stream)?;
                }
                _ => each_row(&mut panel, |target| self.run_step_in(&step, src, target, stream))?,
            }
        }
        match &self.tables {
            Some(tables) => each_row(&mut panel, |target| tables::run(self, tables, src, target)),
            None => Ok(()),
        }
    }

    /// Runs what a step writes in a panel, all rows at once.
    fn run_step_across(
        &self,
        step: &Step<'_>,
        src: &[u8],
        panel: &mut Panel<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let period = panel.period() as isize;
        let row = step.nest.dst_offset / period * period;
        let columns = panel.columns();
        let range = row + columns.start as isize..row + columns.end as isize;
        restrict_rows(step, &range, period, &mut |part| match part.kernel {
            Kernel::Move { family, element_bytes } => {
                Ok(self.mover(family, element_bytes, stream).run_panel(src, panel, part.nest)?)
            }
            _ => each_row(panel, |target| self.run_step_in(part, src, target, stream)),
        })
    }

    /// Runs what a step writes in a part of the destination.
    fn run_step_in(
        &self,
        step: &Step<'_>,
        src: &[u8],
        target: &mut Target<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let range = target.range(units_per_byte(step));
        restrict(step, &range, &mut |part| {
            let nest = Nest { dst_offset: part.nest.dst_offset - range.start, ..part.nest };
            self.run_step(&Step { nest, ..*part }, src, target.bytes, stream)
        })
    }

    /// Moves as much of a single element as lies in a part of the destination.
    pub(super) fn run_element(
        &self,
        [from, to]: [i64; 2],
        src: &[u8],
        target: &mut Target<'_>,
    ) -> Result<(), ExecuteError> {
        let nest = |offset: usize| Nest {
            src_offset: from as isize,
            dst_offset: to as isize + offset as isize,
            loops: &[],
        };
        let element = self.element;
        match (element.bytes(), element.dst) {
            (Some(bytes), SlotWidth::Bytes(slot)) => {
                let kernel = Kernel::Move { family: Family::Strided, element_bytes: bytes };
                self.run_step_in(&Step { kernel, nest: nest(0) }, src, target, false)?;
                if slot <= bytes {
                    return Ok(());
                }
                let width = SlotWidth::Bytes(slot - bytes);
                let zeros = Kernel::Fill(Fill { value: 0, width });
                self.run_step_in(&Step { kernel: zeros, nest: nest(bytes) }, src, target, false)
            }
            (_, dst) => {
                let value_bits = u32::try_from(element.bits).unwrap_or(8);
                let kernel = Kernel::Slots { value_bits, src: element.src, dst };
                self.run_step_in(&Step { kernel, nest: nest(0) }, src, target, false)
            }
        }
    }

    fn mover(&self, family: Family, element_bytes: usize, stream: bool) -> Mover {
        Mover { family, element_bytes, level: self.level, stream }
    }

    fn run_step(
        &self,
        step: &Step<'_>,
        src: &[u8],
        dst: &mut [u8],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        match step.kernel {
            Kernel::Fill(fill) => fill_nest(dst, step.nest, fill)?,
            Kernel::Slots { value_bits, src: from, dst: to } => {
                copy_slots(src, from, dst, to, step.nest, value_bits)?;
            }
            Kernel::Copy if !stream => copy(src, dst, step)?,
            Kernel::Copy => self.mover(Family::Rows, 1, stream).run(src, dst, step.nest)?,
            Kernel::Move { family, element_bytes } => {
                self.mover(family, element_bytes, stream).run(src, dst, step.nest)?
            }
        }
        Ok(())
    }
}

/// True where what lies inside the loops that go by whole rows lies in one row.
fn keeps_to_rows(step: &Step<'_>, period: usize) -> bool {
    let period = period as isize;
    step.nest.dst_offset % period + reach_in_row(step, period) <= period
}

/// Runs `work` on the panel's part of every row.
fn each_row(
    panel: &mut Panel<'_>,
    mut work: impl FnMut(&mut Target<'_>) -> Result<(), ExecuteError>,
) -> Result<(), ExecuteError> {
    (0..panel.rows()).try_for_each(|row| {
        let (start, bytes) = panel.row(row);
        work(&mut Target { start, bytes })
    })
}

/// One run of bytes, as far as possible without any of the kernels' cost.
fn copy(src: &[u8], dst: &mut [u8], step: &Step<'_>) -> Result<(), OutOfBounds> {
    let (nest, bytes) = (step.nest, step.points());
    let range = |offset: isize| {
        let start = usize::try_from(offset).ok()?;
        Some(start..start.checked_add(bytes)?)
    };
    let outside = |side, len| OutOfBounds { side, len };
    let from = range(nest.src_offset).and_then(|range| src.get(range));
    let from = from.ok_or_else(|| outside(Side::Source, src.len()))?;
    let len = dst.len();
    let to = range(nest.dst_offset).and_then(|range| dst.get_mut(range));
    to.ok_or_else(|| outside(Side::Destination, len))?.copy_from_slice(from);
    Ok(())
}

//! Running the steps of a plan, whole or in a part of the destination.

use std::ops::Range;

use relayout_kernels::{Converter, Family, Mover, Nest, OutOfBounds, Panel, Side, SlotWidth, fill_nest};
use smallvec::SmallVec;

use super::restrict::{element_units, reach_in_row, restrict, restrict_rows, units_per_byte};
use super::{ExecuteError, ef57, tables};
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

    /// Writes as much of some bytes, which begin at a place in the whole, as lies in it.
    pub(super) fn write(&mut self, place: usize, bytes: &[u8]) {
        let (skipped, part) = self.part(place, bytes.len());
        part.copy_from_slice(&bytes[skipped..skipped + part.len()]);
    }

    /// Of so many bytes from a place in the whole on, those that lie in it, and how many are before them.
    pub(super) fn part(&mut self, place: usize, len: usize) -> (usize, &mut [u8]) {
        let behind = self.start + self.bytes.len();
        let start = place.clamp(self.start, behind);
        let end = place.saturating_add(len).clamp(start, behind);
        ((start - place.min(start)).min(len), &mut self.bytes[start - self.start..end - self.start])
    }
}

impl Plan {
    /// Runs the whole plan.
    pub(super) fn run_whole(&self, src: &[u8], dst: &mut [u8], stream: bool) -> Result<(), ExecuteError> {
        self.steps.iter().try_for_each(|step| self.run_step(&step, src, dst, stream))?;
        if let Some(plan) = &self.ef57 {
            ef57::run(plan, self.table_base, self.element, src, dst);
        }
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
            // Only an element that is converted comes here where it straddles an end.
            let (start, width) = (part.nest.dst_offset, element_units(part));
            if part.nest.loops.is_empty() && (start < range.start || start + width > range.end) {
                return self.run_element(part, src, target, width.unsigned_abs());
            }
            let nest = Nest { dst_offset: part.nest.dst_offset - range.start, ..part.nest };
            self.run_step(&Step { nest, ..*part }, src, target.bytes, stream)
        })
    }

    /// Converts a single element, and writes as much of it as lies in a part of the destination.
    fn run_element(
        &self,
        step: &Step<'_>,
        src: &[u8],
        target: &mut Target<'_>,
        width: usize,
    ) -> Result<(), ExecuteError> {
        let mut whole: SmallVec<[u8; 16]> = SmallVec::from_elem(0, width);
        let nest = Nest { dst_offset: 0, ..step.nest };
        self.run_step(&Step { nest, ..*step }, src, &mut whole, false)?;
        target.write(step.nest.dst_offset as usize, &whole);
        Ok(())
    }

    fn mover(&self, family: Family, element_bytes: usize, stream: bool) -> Mover {
        Mover { family, element_bytes, level: self.level, stream }
    }

    /// The conversion of elements that change, into slots so wide.
    pub(super) fn converter(&self, dst: SlotWidth, stream: bool) -> Option<Converter> {
        self.element.convert.map(|convert| Converter {
            conversion: convert.conversion,
            src: self.element.src,
            dst,
            factor: convert.factor(),
            level: self.level,
            stream,
        })
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
            Kernel::Convert { dst: width, .. } => {
                let converter = self.converter(width, stream);
                converter.map_or(Ok(()), |converter| converter.run(src, dst, step.nest))?;
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

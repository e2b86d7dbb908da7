//! Running the steps of a plan, whole or in a part of the destination.

use relayout_kernels::{
    Along, Converter, Family, Mover, Nest, OutOfBounds, Panel, Scale, Side, SlotWidth, fill_nest,
    stream_fill_nest,
};
use smallvec::SmallVec;

use super::bands::Bands;
use super::ends::{Source, Target};
use super::parts::LINE;
use super::restrict::{
    element_units, reach_in_row, restrict, restrict_rows, restrict_whole, src_units_per_byte, units_per_byte,
};
use super::two_steps::{LEAST, TwoSteps};
use super::{ExecuteError, ef57, tables};
use crate::plan::Plan;
use crate::plan::convert::Convert;
use crate::plan::step::{Kernel, Step};

impl Plan {
    /// Runs the whole of a small plan.
    #[inline]
    pub(super) fn run_prepared(&self, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        if self.prepared.len() < self.steps.len() {
            self.run_fills(dst)?;
        }
        Ok(self.prepared.run(src, dst)?)
    }

    #[inline(never)] // plans without padding shall not make room for it
    fn run_fills(&self, dst: &mut [u8]) -> Result<(), OutOfBounds> {
        self.steps.parts().try_for_each(|(kernel, nest)| match *kernel {
            Kernel::Fill(fill) => fill_nest(dst, nest, fill),
            _ => Ok(()),
        })
    }

    /// Runs the whole plan.
    pub(super) fn run_whole(
        &self,
        src: Source<'_>,
        dst: &mut [u8],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let mut target = Target { start: 0, bytes: dst };
        if stream {
            return self.run_past_cache(src, target);
        }
        for (kernel, nest) in self.steps.parts() {
            self.run_step(kernel, nest, src, target.bytes, stream)?;
        }
        self.run_places(src, &mut target)
    }

    /// Runs what the plan writes in consecutive bytes of the destination.
    pub(super) fn run_range(
        &self,
        src: Source<'_>,
        mut target: Target<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        match stream {
            true => self.run_past_cache(src, target),
            false => self.run_target(src, &mut target, stream),
        }
    }

    /// Runs what the plan writes in a part of the destination past the cache: aside, in two steps, band by band, or all at once.
    #[inline(never)] // small plans shall not make room for what they do not do
    fn run_past_cache(&self, src: Source<'_>, mut target: Target<'_>) -> Result<(), ExecuteError> {
        if let Some(bands) = self.bands_aside(&target) {
            return self.run_aside(bands, src, target);
        }
        let is_worth_two = target.bytes.len() >= LEAST;
        if let Some(steps) = is_worth_two.then(|| TwoSteps::new(self)).flatten() {
            return self.run_two_steps(&steps, src, target);
        }
        let first = target.bytes.as_ptr().addr().wrapping_sub(target.start);
        match Bands::new(self, first % LINE) {
            Some(bands) => self.run_bands(bands, src, target),
            None => self.run_target(src, &mut target, true),
        }
    }

    /// Runs all boxes in one band of a part of the destination after the other.
    fn run_bands(&self, bands: Bands, src: Source<'_>, target: Target<'_>) -> Result<(), ExecuteError> {
        let Target { mut start, bytes: mut rest } = target;
        while !rest.is_empty() {
            let (bytes, behind) = rest.split_at_mut((bands.end(start) - start).min(rest.len()));
            let mut band = Target { start, bytes };
            self.run_target(src, &mut band, true)?;
            start += band.bytes.len();
            rest = behind;
        }
        Ok(())
    }

    /// Runs every box's part of some bytes of the destination.
    pub(super) fn run_target(
        &self,
        src: Source<'_>,
        target: &mut Target<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let mut done: SmallVec<[usize; 8]> = SmallVec::new();
        let pads_rows = stream && self.pads_rows();
        let mut steps = self.steps.iter().enumerate().peekable();
        while let Some((number, step)) = steps.next() {
            if let (true, Kernel::Fill(fill)) = (pads_rows, step.kernel) {
                let boxes = self.run_padded_in((&step, fill), src, target)?;
                done.extend_from_slice(&boxes);
                if !boxes.is_empty() {
                    continue;
                }
            }
            match steps.peek() {
                _ if done.contains(&number) => {}
                Some((next, rest))
                    if !done.contains(next) && self.run_rows_in([&step, rest], src, target, stream)? =>
                {
                    steps.next();
                }
                _ => self.run_step_in(&step, src, target, stream)?,
            }
        }
        self.run_places(src, target)
    }

    /// Runs what of the elements that boxes do not move lies in consecutive bytes of the destination.
    fn run_places(&self, src: Source<'_>, target: &mut Target<'_>) -> Result<(), ExecuteError> {
        if let Some(plan) = &self.ef57 {
            ef57::run(plan, self.table_base, self.element, src, target);
        }
        match &self.tables {
            Some(tables) => tables::run(self, tables, src, target),
            None => Ok(()),
        }
    }

    /// Runs what the plan writes in a panel of the destination, from the whole source.
    pub(super) fn run_panel(
        &self,
        src: Source<'_>,
        mut panel: Panel<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        if panel.rows() == 1 {
            let (start, bytes) = panel.row(0);
            return self.run_range(src, Target { start, bytes }, stream);
        }
        for step in self.steps.iter() {
            match step.kernel {
                Kernel::Move { .. } if keeps_to_rows(&step, panel.period()) => {
                    self.run_step_across(&step, src, &mut panel, stream)?;
                }
                _ => each_row(&mut panel, |target| self.run_step_in(&step, src, target, stream))?,
            }
        }
        each_row(&mut panel, |target| self.run_places(src, target))
    }

    /// Runs what a step writes in a panel, all rows at once.
    fn run_step_across(
        &self,
        step: &Step<'_>,
        src: Source<'_>,
        panel: &mut Panel<'_>,
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let period = panel.period() as isize;
        let row = step.nest.dst_offset / period * period;
        let columns = panel.columns();
        let range = row + columns.start as isize..row + columns.end as isize;
        restrict_rows(step, &range, period, &mut |part| match part.kernel {
            Kernel::Move { family, element_bytes } => {
                Ok(self.mover(family, element_bytes, stream).run_panel(src.bytes, panel, part.nest)?)
            }
            _ => each_row(panel, |target| self.run_step_in(part, src, target, stream)),
        })
    }

    /// Runs what a step writes in a part of the destination.
    fn run_step_in(
        &self,
        step: &Step<'_>,
        src: Source<'_>,
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
            self.run_step(&part.kernel, nest, src, target.bytes, stream)
        })
    }

    /// Runs what rows and their rest write in a part of the destination, together: false, and nothing is written, where the
    /// two boxes are none, or their parts.
    fn run_rows_in(
        &self,
        boxes: [&Step<'_>; 2],
        src: Source<'_>,
        target: &mut Target<'_>,
        stream: bool,
    ) -> Result<bool, ExecuteError> {
        let [Kernel::Move { family, element_bytes }, Kernel::Move { element_bytes: width, .. }] =
            boxes.map(|step| step.kernel)
        else {
            return Ok(false);
        };
        let range = target.range(1);
        let parts = boxes.map(|step| restrict_whole(step, &range));
        let [Some(rows), Some(rest)] = &parts else { return Ok(false) };
        let [rows, rest] = [rows, rest].map(|part| part.nest_from(src.first(1), range.start));
        let mover = self.mover(family, element_bytes, stream);
        Ok(element_bytes == width && mover.run_rows(src.bytes, target.bytes, rows, rest)?)
    }

    /// Converts a single element, and writes as much of it as lies in a part of the destination.
    fn run_element(
        &self,
        step: &Step<'_>,
        src: Source<'_>,
        target: &mut Target<'_>,
        width: usize,
    ) -> Result<(), ExecuteError> {
        let mut whole: SmallVec<[u8; 16]> = SmallVec::from_elem(0, width);
        let nest = Nest { dst_offset: 0, ..step.nest };
        self.run_step(&step.kernel, nest, src, &mut whole, false)?;
        target.write(step.nest.dst_offset as usize, &whole);
        Ok(())
    }

    pub(super) fn mover(&self, family: Family, element_bytes: usize, stream: bool) -> Mover {
        Mover { family, element_bytes, level: self.level, stream }
    }

    /// The conversion of elements that change, into slots so wide, with one factor for all of them.
    pub(super) fn converter(&self, dst: SlotWidth, stream: bool) -> Option<Converter<'_>> {
        let convert = self.element.convert.as_ref()?;
        Some(self.converter_of(convert, Scale::All(convert.factor()), dst, stream))
    }

    /// The same for bytes of the source from a place on, with the factors along a dimension, where there are some.
    pub(super) fn converter_from(&self, first: isize, dst: SlotWidth, stream: bool) -> Option<Converter<'_>> {
        let convert = self.element.convert.as_ref()?;
        Some(self.converter_of(convert, self.scale(convert, first), dst, stream))
    }

    /// What elements are multiplied by.
    fn scale(&self, convert: &Convert, first: isize) -> Scale<'_> {
        self.factors(first).unwrap_or_else(|| Scale::All(convert.factor()))
    }

    #[inline(always)]
    fn converter_of<'a>(
        &self,
        convert: &Convert,
        scale: Scale<'a>,
        dst: SlotWidth,
        stream: bool,
    ) -> Converter<'a> {
        convert.converter([self.element.src, dst], scale, self.level, stream)
    }

    #[inline(never)] // what it makes ready, boxes of other kinds shall not
    pub(super) fn convert(
        &self,
        width: SlotWidth,
        (first, src): (isize, &[u8]),
        dst: &mut [u8],
        nest: Nest<'_>,
        stream: bool,
    ) -> Result<(), OutOfBounds> {
        let Some(convert) = self.element.convert.as_ref() else { return Ok(()) };
        self.converter_of(convert, self.scale(convert, first), width, stream).run(src, dst, nest)
    }

    /// The factors along a dimension, where there are some, for bytes of the source from a place on.
    fn factors(&self, first: isize) -> Option<Scale<'_>> {
        let ((_, scale), places) = self.conversion.factors_along().zip(self.step_places.as_ref())?;
        let first = first - self.table_base[0] as isize;
        Some(Scale::Along(Along {
            values: &scale.factors,
            digits: &places.digits,
            first,
            start: places.start,
        }))
    }

    /// Runs a box. Inlined, since a nest that is handed on by way of memory takes as long as moving some lines.
    #[inline(always)]
    pub(super) fn run_step(
        &self,
        kernel: &Kernel,
        nest: Nest<'_>,
        src: Source<'_>,
        dst: &mut [u8],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let first = src.first(src_units_per_byte(kernel));
        let src_offset = nest.src_offset - first;
        let (nest, src) = (Nest { src_offset, ..nest }, src.bytes);
        match *kernel {
            Kernel::Fill(fill) if stream => stream_fill_nest(dst, nest, fill, self.level)?,
            Kernel::Fill(fill) => fill_nest(dst, nest, fill)?,
            Kernel::Convert { dst: width, .. } => self.convert(width, (first, src), dst, nest, stream)?,
            Kernel::Copy if !stream => copy(src, dst, nest)?,
            Kernel::Copy => self.mover(Family::Rows, 1, stream).run(src, dst, nest)?,
            Kernel::Move { family, element_bytes } => {
                self.mover(family, element_bytes, stream).run(src, dst, nest)?
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
fn copy(src: &[u8], dst: &mut [u8], nest: Nest<'_>) -> Result<(), OutOfBounds> {
    let bytes = nest.points();
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

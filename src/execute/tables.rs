//! Plans whose places come from tables, whole or in a part of the destination.

use std::convert::Infallible;
use std::ops::Range;

use relayout_kernels::{Factors, Offsets, SlotWidth, copy_offsets};
use smallvec::SmallVec;

use super::ExecuteError;
use super::ends::{Source, Target, hull, in_units};
use super::restrict::units;
use crate::plan::tables::{self, BLOCK, Room, Tables, points};
use crate::plan::{Plan, unit};

/// Moves every element, as far as it lies in the target.
pub(super) fn run(
    plan: &Plan,
    tables: &Tables,
    src: Source<'_>,
    target: &mut Target<'_>,
) -> Result<(), ExecuteError> {
    let mut some = Room::default();
    each_block(plan, tables, |block| block.run(src, target, &mut some))
}

/// The bytes of the source between the first and the last that some bytes of the destination are made from.
pub(super) fn src_span(plan: &Plan, tables: &Tables, range: &Range<usize>) -> Option<Range<usize>> {
    let mut span = None;
    let _: Result<(), Infallible> = each_block(plan, tables, |block| {
        span = hull(span.take(), block.src_span(range));
        Ok(())
    });
    span
}

/// Calls `visit` with every block of outer points with every block of inner points.
fn each_block<E>(
    plan: &Plan,
    tables: &Tables,
    mut visit: impl FnMut(Block<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let (mut outer, mut inner) = (Room::default(), Room::default());
    let scaled = plan.conversion.factors_along().map(|(dimension, _)| dimension);
    let whole_inner = points(&tables.inner) <= BLOCK;
    for (position, (first, count)) in blocks(&tables.outer).enumerate() {
        tables.evaluate(&tables.outer, first, count, scaled, &mut outer);
        for (first, count) in blocks(&tables.inner) {
            if !whole_inner || position == 0 {
                tables.evaluate(&tables.inner, first, count, scaled, &mut inner);
            }
            visit(Block { plan, outer: &outer, inner: &inner })?;
        }
    }
    Ok(())
}

/// The points of a set of dimensions in blocks: first point and count.
fn blocks(set: &[tables::Range]) -> impl Iterator<Item = (i64, i64)> {
    let total = points(set);
    (0..total).step_by(BLOCK as usize).map(move |first| (first, BLOCK.min(total - first)))
}

/// A block of outer points with a block of inner points.
struct Block<'a> {
    plan: &'a Plan,
    outer: &'a Room,
    inner: &'a Room,
}

impl Block<'_> {
    /// Moves what lies in the target: rows of points that lie in it whole together, others point by point.
    fn run(&self, src: Source<'_>, target: &mut Target<'_>, some: &mut Room) -> Result<(), ExecuteError> {
        let (Some(low), Some(high)) = (self.inner.dst.iter().min(), self.inner.dst.iter().max()) else {
            return Ok(());
        };
        let (slot, (units, width)) = (self.plan.element.dst, self.units());
        let range = target.range(units);
        let mut inside = 0..0;
        for row in 0..self.outer.dst.len() {
            let base = self.plan.table_base[1] + self.outer.dst[row];
            let (start, end) = (base + low, base + high + width);
            if start >= range.start as i64 && end <= range.end as i64 {
                if inside.is_empty() {
                    inside.start = row;
                }
                inside.end = row + 1;
                continue;
            }
            self.rows(std::mem::take(&mut inside), self.inner, src, target, slot)?;
            if start < range.end as i64 && end > range.start as i64 {
                self.row_in_part(row, src, target, some)?;
            }
        }
        self.rows(inside, self.inner, src, target, slot)
    }

    /// The bytes of the source between the first and the last that bytes of the destination are made from.
    fn src_span(&self, range: &Range<usize>) -> Option<Range<usize>> {
        let (low, high) = (*self.inner.src.iter().min()?, *self.inner.src.iter().max()?);
        let ([src_base, dst_base], (units, width)) = (self.plan.table_base, self.units());
        let range = in_units(range, units);
        let range = range.start as i64..range.end as i64;
        let touches = |place: i64, end: i64| place < range.end && end + width > range.start;
        let bounds = (*self.inner.dst.iter().min()?, *self.inner.dst.iter().max()?);
        let mut span = None;
        for (row_src, row_dst) in self.outer.src.iter().zip(&self.outer.dst) {
            let (src, dst) = (src_base + row_src, dst_base + row_dst);
            if dst + bounds.0 >= range.start && dst + bounds.1 + width <= range.end {
                span = hull(span, Some(self.src_bytes(src + low..src + high)));
            } else if touches(dst + bounds.0, dst + bounds.1) {
                for (from, to) in self.inner.src.iter().zip(&self.inner.dst) {
                    let some = touches(dst + to, dst + to).then(|| self.src_bytes(src + from..src + from));
                    span = hull(span, some);
                }
            }
        }
        span
    }

    /// The bytes from the first to the last of some source places.
    fn src_bytes(&self, places: Range<i64>) -> Range<usize> {
        let (units, width) = (units(self.plan.element.src), unit(self.plan.element.src));
        places.start as usize / units..((places.end + width) as usize).div_ceil(units)
    }

    /// Units of the destination in a byte, and those that a slot takes.
    fn units(&self) -> (usize, i64) {
        let width = self.plan.element.dst;
        (units(width), unit(width))
    }

    /// Moves some rows of points, all of which lie in the target, into slots so wide.
    fn rows(
        &self,
        rows: Range<usize>,
        inner: &Room,
        src: Source<'_>,
        target: &mut Target<'_>,
        slot: SlotWidth,
    ) -> Result<(), ExecuteError> {
        let [src_base, dst_base] = self.plan.table_base;
        let start = target.range(self.units().0).start as i64;
        let src_start = src.first(units(self.plan.element.src)) as i64;
        let from =
            Offsets { base: src_base - src_start, outer: &self.outer.src[rows.clone()], inner: &inner.src };
        let to = Offsets { base: dst_base - start, outer: &self.outer.dst[rows.clone()], inner: &inner.dst };
        let element = self.plan.element;
        match (self.plan.converter(slot, false), element.bytes(), slot) {
            (Some(converter), ..) => {
                let factors = self.factors(rows, inner);
                converter.run_offsets(src.bytes, target.bytes, [from, to], factors)?;
            }
            (None, Some(bytes), SlotWidth::Bytes(slot)) => {
                copy_offsets(src.bytes, target.bytes, from, to, bytes, slot)?;
            }
            _ => {} // what is packed is converted
        }
        Ok(())
    }

    /// The factors of some rows of points, where they belong to a dimension.
    fn factors<'f>(&'f self, rows: Range<usize>, inner: &'f Room) -> Option<Factors<'f>> {
        let (_, scale) = self.plan.conversion.factors_along()?;
        let places = Offsets { base: 0, outer: &self.outer.rows[rows], inner: &inner.rows };
        Some(Factors { values: &scale.factors, places })
    }

    /// Moves the points of a row that lie in the target, one at its end in part.
    fn row_in_part(
        &self,
        row: usize,
        src: Source<'_>,
        target: &mut Target<'_>,
        some: &mut Room,
    ) -> Result<(), ExecuteError> {
        let (units, width) = self.units();
        let range = target.range(units);
        some.clear();
        let mut straddling: SmallVec<[usize; 4]> = SmallVec::new();
        for (point, &to) in self.inner.dst.iter().enumerate() {
            let place = self.plan.table_base[1] + self.outer.dst[row] + to;
            if place >= range.start as i64 && place + width <= range.end as i64 {
                some.push(self.inner, point);
            } else if place < range.end as i64 && place + width > range.start as i64 {
                straddling.push(point);
            }
        }
        self.rows(row..row + 1, some, src, target, self.plan.element.dst)?;
        straddling.into_iter().try_for_each(|point| self.element(row, point, src, target, some))
    }

    /// Moves as much of a single element as lies in the target; slots that share bytes never straddle its ends.
    fn element(
        &self,
        row: usize,
        point: usize,
        src: Source<'_>,
        target: &mut Target<'_>,
        one: &mut Room,
    ) -> Result<(), ExecuteError> {
        one.clear();
        one.push(self.inner, point);
        let start = (self.plan.table_base[1] + self.outer.dst[row] + self.inner.dst[point]) as usize;
        let written = self.plan.element.written();
        let (bytes, slot) = (unit(written) as usize, self.units().1 as usize);
        let mut value: SmallVec<[u8; 16]> = SmallVec::from_elem(0, bytes);
        self.rows(row..row + 1, one, src, &mut Target { start, bytes: &mut value }, written)?;
        target.write(start, &value);
        target.part(start + bytes, slot.saturating_sub(bytes)).1.fill(0);
        Ok(())
    }
}

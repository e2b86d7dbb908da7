//! Plans whose places come from tables, whole or in a part of the destination.

use std::ops::Range;

use relayout_kernels::{Offsets, SlotWidth, copy_offsets, copy_slot_offsets};

use super::restrict::units;
use super::{ExecuteError, Target};
use crate::plan::tables::{self, BLOCK, Room, Tables, points};
use crate::plan::{Plan, unit};

/// Every block of outer points with every block of inner points, as far as it lies in the target.
pub(super) fn run(
    plan: &Plan,
    tables: &Tables,
    src: &[u8],
    target: &mut Target<'_>,
) -> Result<(), ExecuteError> {
    let (mut outer, mut inner, mut some) = (Room::default(), Room::default(), Room::default());
    let whole_inner = points(&tables.inner) <= BLOCK;
    for (position, (first, count)) in blocks(&tables.outer).enumerate() {
        tables.evaluate(&tables.outer, first, count, &mut outer);
        for (first, count) in blocks(&tables.inner) {
            if !whole_inner || position == 0 {
                tables.evaluate(&tables.inner, first, count, &mut inner);
            }
            Block { plan, outer: &outer, inner: &inner }.run(src, target, &mut some)?;
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
    fn run(&self, src: &[u8], target: &mut Target<'_>, some: &mut Room) -> Result<(), ExecuteError> {
        let (Some(low), Some(high)) = (self.inner.dst.iter().min(), self.inner.dst.iter().max()) else {
            return Ok(());
        };
        let (units, width) = self.units();
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
            self.rows(std::mem::take(&mut inside), self.inner, src, target)?;
            if start < range.end as i64 && end > range.start as i64 {
                self.row_in_part(row, src, target, some)?;
            }
        }
        self.rows(inside, self.inner, src, target)
    }

    /// Units of the destination in a byte, and those that a slot takes.
    fn units(&self) -> (usize, i64) {
        let width = self.plan.element.dst;
        (units(width), unit(width))
    }

    /// Moves some rows of points, all of which lie in the target.
    fn rows(
        &self,
        rows: Range<usize>,
        inner: &Room,
        src: &[u8],
        target: &mut Target<'_>,
    ) -> Result<(), ExecuteError> {
        let [src_base, dst_base] = self.plan.table_base;
        let start = target.range(self.units().0).start as i64;
        let from = Offsets { base: src_base, outer: &self.outer.src[rows.clone()], inner: &inner.src };
        let to = Offsets { base: dst_base - start, outer: &self.outer.dst[rows], inner: &inner.dst };
        let element = self.plan.element;
        match (element.bytes(), element.dst) {
            (Some(bytes), SlotWidth::Bytes(slot)) => {
                copy_offsets(src, target.bytes, from, to, bytes, slot)?;
            }
            _ => {
                let bits = u32::try_from(element.bits).unwrap_or(8);
                copy_slot_offsets((src, element.src), (target.bytes, element.dst), from, to, bits)?;
            }
        }
        Ok(())
    }

    /// Moves the points of a row that lie in the target, one at its end in part.
    fn row_in_part(
        &self,
        row: usize,
        src: &[u8],
        target: &mut Target<'_>,
        some: &mut Room,
    ) -> Result<(), ExecuteError> {
        let (units, width) = self.units();
        let range = target.range(units);
        some.src.clear();
        some.dst.clear();
        for (&from, &to) in self.inner.src.iter().zip(&self.inner.dst) {
            let place = self.plan.table_base[1] + self.outer.dst[row] + to;
            if place >= range.start as i64 && place + width <= range.end as i64 {
                some.src.push(from);
                some.dst.push(to);
            } else if place < range.end as i64 && place + width > range.start as i64 {
                let from = self.plan.table_base[0] + self.outer.src[row] + from;
                self.plan.run_element([from, place], src, target)?;
            }
        }
        self.rows(row..row + 1, some, src, target)
    }
}

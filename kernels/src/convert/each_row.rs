//! Rows that are woven, and what repeats all of them.

use super::rows::{ConvertRows, Place};
use super::scale::Scale;
use crate::loops::ONCE;
use crate::nest::Loop;

/// A row, and how often all of them were repeated before.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) turn: isize,
    pub(super) row: isize,
}

/// All rows in their order, again and again.
pub(super) struct EachRow {
    turns: isize,
    rows: isize,
    next: Row,
}

impl Iterator for EachRow {
    type Item = Row;

    #[inline(always)]
    fn next(&mut self) -> Option<Row> {
        let row = self.next;
        if row.turn == self.turns {
            return None;
        }
        let is_last = row.row + 1 == self.rows;
        self.next = match is_last {
            true => Row { turn: row.turn + 1, row: 0 },
            false => Row { row: row.row + 1, ..row },
        };
        Some(row)
    }
}

/// Loops over rows, of which the first is at a place, as those around, the one that repeats rows, and the rows: as few as there are until
/// factors are those of the first ones again, which are kept so.
pub(super) fn repeated<'l>(loops: &'l [Loop], scale: &Scale<'_>, place: isize) -> (&'l [Loop], Loop, Loop) {
    let [outer @ .., rows] = loops else { return (&[], ONCE, ONCE) };
    match scale.repeats_after(place, rows.src_stride).and_then(|count| apart(*rows, count)) {
        Some([beyond, few]) => (outer, beyond, few),
        None => match outer {
            [outer @ .., beyond] => (outer, *beyond, *rows),
            [] => (&[], ONCE, *rows),
        },
    }
}

/// A loop as one over so many steps each, and these; `None` where the last are not so many, or there are no others.
fn apart(rows: Loop, count: usize) -> Option<[Loop; 2]> {
    let Loop { extent, src_stride, dst_stride } = rows;
    let steps = count as isize;
    let beyond =
        Loop { extent: extent / count, src_stride: steps * src_stride, dst_stride: steps * dst_stride };
    (extent > count && extent.is_multiple_of(count)).then_some([beyond, Loop { extent: count, ..rows }])
}

impl ConvertRows<'_> {
    /// The rows that are woven.
    #[inline(always)]
    pub(super) fn each_row(&self) -> EachRow {
        let turns = if self.rows == 0 { 0 } else { self.beyond.extent as isize };
        EachRow { turns, rows: self.rows as isize, next: Row { turn: 0, row: 0 } }
    }

    /// Where one of these lies on either side.
    #[inline(always)]
    pub(super) fn places(&self, Row { turn, row }: Row) -> (Place, Place) {
        let Loop { src_stride, dst_stride, .. } = self.beyond;
        let (src, dst) = (self.src, self.dst);
        (src.at(turn * src_stride + row * src.pitch), dst.at(turn * dst_stride + row * dst.pitch))
    }

    /// Where one of these starts on either side, if its slots have whole bytes.
    #[inline(always)]
    pub(super) fn woven_starts(&self, row: Row) -> (*const u8, *mut u8) {
        let (src, dst) = self.places(row);
        (src.byte(src.first), dst.byte(dst.first))
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroUsize;

    use super::super::scale::{Along, StepDigit};
    use super::*;

    #[test]
    fn rows_are_repeated_where_their_factors_are() {
        let of = |extent, stride| Loop { extent, src_stride: stride, dst_stride: 2 * stride };
        let number = |n| NonZeroUsize::new(n).expect("digits have strides");
        let digit =
            |stride, modulus, unit| StepDigit { stride: number(stride), modulus: number(modulus), unit };
        // Rows of T(8,128)(4,1), four to a word and two of these words to a tile.
        let digits = [digit(1, 4, 1), digit(512, 1024, 4), digit(1 << 16, usize::MAX, 8)];
        let scale = Scale::Along(Along { values: &[], digits: &digits, first: 0, start: 0 });
        let outer = of(3, 1 << 20);
        let split = |loops: &[Loop], scale: &Scale<'_>| {
            let (outer, beyond, rows) = repeated(loops, scale, 4096);
            (outer.to_vec(), beyond, rows)
        };
        assert_eq!(split(&[outer, of(128, 512)], &scale), (vec![outer], of(64, 1024), of(2, 512)));
        // Of an odd number of rows, of a few, and of those that all have the same factor, none are repeated so.
        for rows in [of(127, 512), of(2, 512), of(64, 1024), of(64, 0), of(64, -512)] {
            assert_eq!(split(&[outer, rows], &scale), (vec![], outer, rows));
            assert_eq!(split(&[rows], &scale), (vec![], ONCE, rows));
        }
        assert_eq!(split(&[outer, of(128, 512)], &Scale::All(2.0)), (vec![], outer, of(128, 512)));
        assert_eq!(split(&[], &scale), (vec![], ONCE, ONCE));
        // Tiles of tiles, of which the next one has other factors.
        let digits = [digit(8192, usize::MAX, 32), digit(1024, 8192, 4), digit(512, 1024, 2), digit(1, 2, 1)];
        let scale = Scale::Along(Along { values: &[], digits: &digits, first: 0, start: 0 });
        assert_eq!(split(&[outer, of(128, 512)], &scale), (vec![], outer, of(128, 512)));
    }
}

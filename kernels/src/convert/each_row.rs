//! Rows that are woven, and what repeats all of them.

use super::rows::{ConvertRows, Place};
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

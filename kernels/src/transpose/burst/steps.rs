//! How many columns a turn has, and how many lines of each.

use crate::lanes::LINE;
use crate::transpose::ahead::meets;
use crate::tuning::{
    BURST_AHEAD, BURST_COLUMNS, BURST_LINES, BURST_NEAR, BURST_TILE, DEEP_COLUMNS, DEEP_DEPTH, MEETING_AHEAD,
    MEETING_DEPTH, PAGE,
};

/// True where several columns, or several rows, lie in a page.
#[inline(always)]
pub(crate) fn is_near(column_step: isize, row_step: isize) -> bool {
    column_step.unsigned_abs().min(row_step.unsigned_abs()) < PAGE
}

/// What a turn depends on: bytes of an element, and from column to column and from row to row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    pub(super) element: usize,
    pub(super) column_step: isize,
    pub(super) row_step: isize,
    /// True where lines of rows that start anywhere are joined in registers.
    pub(super) are_joined: bool,
    /// As in [`BurstTranspose`](super::BurstTranspose).
    pub(super) meet_deep: bool,
}

impl Steps {
    /// Most columns of a strip.
    #[inline(always)]
    pub(super) fn columns(self) -> usize {
        let lines = if self.row_step.unsigned_abs() <= BURST_TILE { BURST_LINES + 1 } else { BURST_LINES };
        if self.is_deep() {
            DEEP_COLUMNS.min(DEEP_DEPTH * LINE / self.element)
        } else if is_near(self.column_step, self.row_step) {
            BURST_NEAR.min(lines * LINE / self.element)
        } else if self.are_joined && !self.meets() || self.element <= 2 && !meets(self.column_step) {
            BURST_COLUMNS
        } else {
            BURST_COLUMNS / 2
        }
    }

    /// Lines of every column that a turn reads.
    #[inline(always)]
    pub(super) fn depth(self) -> usize {
        if self.is_deep() {
            DEEP_DEPTH
        } else if self.meets() {
            MEETING_DEPTH
        } else {
            1
        }
    }

    /// How far behind those of the next turn, of so many lines, lines are asked for, in bytes.
    #[inline(always)]
    pub(super) fn ahead(self, lines: usize) -> usize {
        match lines {
            DEEP_DEPTH if self.meets_deep() => DEEP_DEPTH * LINE,
            1 if !self.are_joined => BURST_AHEAD,
            _ => MEETING_AHEAD,
        }
    }

    /// True where a turn's columns meet in few sets of the caches: of many, those that are no multiple of a page apart do not.
    #[inline(always)]
    fn meets(self) -> bool {
        let over = self.column_step.wrapping_add(LINE as isize).rem_euclid(PAGE as isize);
        meets(self.column_step) && (!self.are_joined || over <= 2 * LINE as isize)
    }

    /// True where lines of columns, pushed out or read in part with this turn, would be gone before the next one: of many that meet, or
    /// of columns that are far where rows are near.
    #[inline(always)]
    fn is_deep(self) -> bool {
        let lasts = self.column_step.unsigned_abs().is_multiple_of(LINE) && !meets(self.column_step);
        let are_far = self.column_step.unsigned_abs() >= PAGE && self.row_step.unsigned_abs() < PAGE;
        self.meets_deep() || self.element >= 4 && are_far && !lasts
    }

    /// True where so many meet that few of their lines are kept.
    #[inline(always)]
    fn meets_deep(self) -> bool {
        self.meet_deep && self.meets() && !is_near(self.column_step, self.row_step)
    }
}

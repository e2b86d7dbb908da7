//! Columns of slots that share bytes, on either side or on both, that lie anywhere: a list says where.

use crate::convert::packed::bit_runs::{EMPTY, bits_at};
use crate::convert::packed::columns::{PackedSides, STRETCH_BYTES, made_place, make_line};
use crate::lanes::{LINE, Lanes};
use crate::transpose::ahead::Ahead;
use crate::transpose::block::Places;
use crate::transpose::columns::Columns;
use crate::tuning::MADE_APART;

/// The byte in which a column starts, and how many bits are before it there.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Start {
    pub(crate) byte: isize,
    pub(crate) bits: u32,
}

/// Columns of slots, `SLOTS` a byte where they share it, all of one strip.
#[derive(Clone, Copy)]
pub(crate) struct ListedColumns<const SLOTS: usize> {
    pub(crate) packed: PackedSides,
    /// Where they start, and as many more as are asked for ahead: [`ListedColumns::listed`] in all.
    pub(crate) starts: *const Start,
    /// Bits of every column.
    pub(crate) bits: usize,
    /// Bytes of the strip in every row: at most [`WIDEST`].
    pub(crate) width: usize,
    /// Room for a stretch of each column, as of those that lie evenly.
    pub(crate) made: *mut u8,
}

impl<const SLOTS: usize> ListedColumns<SLOTS> {
    /// So many columns of a strip, and those that are asked for ahead.
    pub(crate) fn listed(columns: usize) -> usize {
        columns + MADE_APART
    }

    /// Makes a stretch of a column ready, or of as many from it on as are joined, for one row or for as many as bytes are parted into.
    ///
    /// # Safety
    /// The bits of the columns must be readable from where they start behind `from`; `to` must be the place of a column in the room.
    #[inline(always)]
    unsafe fn column<L: Lanes, const JOIN: bool, const PART: bool>(
        &self,
        lanes: L,
        first: usize,
        from: *const u8,
        to: *mut u8,
    ) {
        let mut at = 0;
        while 8 * at < self.bits {
            let mut lines = [EMPTY; SLOTS];
            let mut column = 0;
            while column < if JOIN { SLOTS } else { 1 } {
                let number = first + column;
                // SAFETY: as many are listed behind the strip's.
                let (here, next) =
                    unsafe { (*self.starts.add(number), *self.starts.add(number + MADE_APART)) };
                let left = self.bits - 8 * at;
                let ask = from.wrapping_offset(next.byte + at as isize);
                if at == 0 {
                    lanes.prefetch(ask);
                }
                // The line in which it ends, which is another one where columns start inside lines.
                lanes.prefetch(ask.wrapping_add(LINE.min(left / 8)));
                // SAFETY: the caller's promise.
                lines[column] =
                    unsafe { bits_at(from.wrapping_offset(here.byte + at as isize), here.bits, left) };
                column += 1;
            }
            // SAFETY: there is room for a stretch of each column.
            unsafe { make_line::<SLOTS, JOIN, PART>(lines, to, at) };
            at += LINE;
        }
    }
}

impl<const SLOTS: usize> Columns for ListedColumns<SLOTS> {
    type Order = ();

    const ARE_THE_SOURCES: bool = false;

    #[inline(always)]
    fn strip(&self, _element: usize) -> usize {
        self.width
    }

    #[inline(always)]
    fn rows(&self, _register: usize) -> usize {
        STRETCH_BYTES
    }

    #[inline(always)]
    fn parts(&self) -> usize {
        if self.packed == PackedSides::Destination { 1 } else { SLOTS }
    }

    #[inline(always)]
    fn byte_order(&self) {}

    #[inline(always)]
    fn place(from: *const u8, part: usize, before: usize) -> *const u8 {
        made_place::<SLOTS>(from, part, before)
    }

    #[inline(always)]
    unsafe fn ready<L: Lanes, const E: usize>(
        &self,
        lanes: L,
        (from, _): (*const u8, isize),
        _rows: usize,
        _ahead: Ahead,
    ) -> ((*const u8, Places), Option<Ahead>) {
        let mut column = 0;
        while column < self.width {
            let to = self.made.wrapping_add(column * LINE);
            // SAFETY: the caller's promise.
            unsafe {
                match self.packed {
                    PackedSides::Both => self.column::<L, true, true>(lanes, SLOTS * column, from, to),
                    PackedSides::Destination => {
                        self.column::<L, true, false>(lanes, SLOTS * column, from, to)
                    }
                    PackedSides::Source => self.column::<L, false, true>(lanes, column, from, to),
                }
            }
            column += 1;
        }
        ((self.made.cast_const(), Places::even(LINE as isize)), None)
    }
}

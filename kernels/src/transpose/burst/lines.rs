//! The lines of a turn: rows of a block as they leave, with lines asked for among them.
//!
//! Lines of rows that start lines come straight from registers. Stores leave a core in order, so that whatever is stored between
//! two of them takes a place among the few stores that may wait.

use core::marker::PhantomData;
use core::ops::Range;

use super::{BurstTranspose, Strip};
use crate::lanes::{LANE, LINE, Lanes, copy_line};
use crate::rows::carry::emit;
use crate::transpose::ahead::Ahead;
use crate::transpose::block::{Beside, Leave, Tiles, put_lines};
use crate::transpose::columns::Turns;
use crate::tuning::BURST_COLUMNS;

/// Room for `N` rows of a strip, each behind a line that was carried: lanes of at most [`BURST_COLUMNS`] elements, which may become
/// twice as wide.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
pub(super) struct Joined([u8; LANE * LINE + 2 * BURST_COLUMNS * LANE]);

/// `N` rows of a block, of which some at the start are left out.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) at: usize,
    pub(super) skip: usize,
    /// Which of the block's parts they are.
    pub(super) part: usize,
    /// Rows of the block that leave before them.
    pub(super) before: usize,
}

/// Asks for as many lines as are read for those that are written.
pub(super) struct Asking<L, C, W> {
    pub(super) lanes: L,
    pub(super) source: C,
    pub(super) ahead: Ahead,
    pub(super) leave: PhantomData<W>,
    /// That of the next line.
    pub(super) number: usize,
}

impl<L: Lanes, C: Turns, W: Leave> Beside for Asking<L, C, W> {
    const IS_ONCE: bool = C::ASKS_FOR_ROWS;

    #[inline(always)]
    fn lines(&mut self, count: usize) {
        ask::<L, C, W>(self.lanes, self.source, self.ahead, self.number, count);
        self.number += count;
    }
}

/// Asks for what is read for so many lines of the destination, the first of which has this number.
#[inline(always)]
fn ask<L: Lanes, C: Turns, W: Leave>(lanes: L, source: C, ahead: Ahead, first: usize, count: usize) {
    let (first, count) = match W::TILES {
        1 => (first / 2, (first + count) / 2 - first / 2),
        tiles => (first * (tiles / 2), count * (tiles / 2)),
    };
    source.ask(lanes, ahead, first, count);
}

impl<const E: usize, const N: usize, const PAST: bool, C: Turns, W: Leave> BurstTranspose<E, N, PAST, C, W> {
    /// The first part of a block that has any of these rows, which are its last ones.
    #[inline(always)]
    pub(super) fn first_part(rows: &Range<usize>) -> usize {
        (Self::ROWS - (rows.end - rows.start)) / N
    }

    /// A part of a block whose last rows are these.
    #[inline(always)]
    pub(super) fn part(rows: &Range<usize>, part: usize) -> Rows {
        let at = rows.end - Self::ROWS + part * N;
        let skip = rows.start.saturating_sub(at);
        Rows { at, skip, part, before: at + skip - rows.start }
    }

    /// Streams `N` rows of a strip, and asks for as many lines.
    ///
    /// # Safety
    /// As [`BurstTranspose::block`], for a part of it; every row starts a line, or is stored.
    #[inline(always)]
    pub(super) unsafe fn whole_lines<L: Lanes>(
        &self,
        lanes: L,
        block: *const u8,
        strip: Strip,
        rows: Rows,
        (ahead, asked): (Ahead, usize),
    ) {
        let number = asked + rows.before * (strip.width / LINE);
        let mut asking = Asking { lanes, source: self.source, ahead, leave: PhantomData::<W>, number };
        let step = self.plane.rows.dst_stride;
        let mut row = rows.skip;
        while row < N {
            let even = self.plane.even_rows::<N>(rows.at + row, N - row);
            let to = self.plane.row_place(strip.to, rows.at + row).wrapping_offset(-(row as isize) * step);
            // SAFETY: the caller's promise, for rows that are at even distances.
            unsafe {
                self.lines::<L, PAST>(
                    lanes,
                    (block, strip, rows.part),
                    (to, step),
                    row..row + even,
                    &mut asking,
                );
            }
            row += even;
        }
    }

    /// Writes some of the `N` rows of a part of a block.
    ///
    /// # Safety
    /// `block` must be a filled block of the strip; a strip's bytes must be writable `row * step` bytes behind `to` for each of
    /// the rows, whole lines if they go `PAST` the cache.
    #[inline(always)]
    unsafe fn lines<L: Lanes, const PAST_IT: bool>(
        &self,
        lanes: L,
        (block, strip, part): (*const u8, Strip, usize),
        (to, step): (*mut u8, isize),
        rows: Range<usize>,
        beside: &mut impl Beside,
    ) {
        let columns = strip.width / Self::OUT;
        let half = part / L::LANES * (columns * L::BYTES);
        // SAFETY: registers of the strip's columns, as many as a line takes for every row.
        unsafe {
            let tiles = Tiles {
                first: block.add(half + part % L::LANES * (N * L::BYTES)),
                apart: N * L::LANES * L::BYTES,
                lines: strip.width / LINE,
                leave: self.leave,
            };
            put_lines::<L, E, N, PAST_IT, W, _>(lanes, tiles, (to, step), rows, beside);
        }
    }

    /// The rows of a block where they start anywhere, by way of their carries.
    ///
    /// What was just stored is not there to be read before all that was streamed before it has left. So each part of the rows
    /// is streamed after the next one is stored.
    ///
    /// # Safety
    /// As [`BurstTranspose::block`].
    #[inline(always)]
    pub(super) unsafe fn carried_lines<L: Lanes>(
        &self,
        lanes: L,
        block: *const u8,
        strip: Strip,
        rows: Range<usize>,
        asked: (Ahead, usize),
    ) {
        let begin = Self::first_part(&rows);
        let mut joined = core::mem::MaybeUninit::<[Joined; 2]>::uninit();
        let joined = joined.as_mut_ptr().cast::<Joined>();
        let mut part = begin;
        while part <= LINE / LANE {
            // SAFETY: the buffers take turns; each is filled before it is read, and all lines lie inside the rows.
            unsafe {
                if part < LINE / LANE {
                    let joined: *mut u8 = joined.add(part % 2).cast();
                    let to = (joined.add(LINE), (LINE + strip.width) as isize);
                    self.lines::<L, false>(lanes, (block, strip, part), to, 0..N, &mut ());
                    self.join_carries(lanes, joined, strip, Self::part(&rows, part));
                }
                if part > begin {
                    let joined = joined.add((part - 1) % 2).cast();
                    self.emit_rows(lanes, joined, strip, Self::part(&rows, part - 1), asked);
                }
            }
            part += 1;
        }
    }

    /// Puts what `N` rows carry before them.
    ///
    /// # Safety
    /// As [`BurstTranspose::carried_lines`].
    #[inline(always)]
    unsafe fn join_carries<L: Lanes>(&self, lanes: L, joined: *mut u8, strip: Strip, rows: Rows) {
        let mut row = if strip.is_first { N } else { rows.skip };
        while row < N {
            // SAFETY: the row's carry, and the line before the row.
            unsafe {
                let carry = self.plane.carry.add((rows.at + row - strip.first) * LINE);
                copy_line(lanes, carry, joined.add(row * (LINE + strip.width)));
            }
            row += 1;
        }
    }

    /// Streams what becomes whole lines of `N` rows, and asks for as many lines.
    ///
    /// # Safety
    /// As [`BurstTranspose::carried_lines`], which filled `joined`.
    #[inline(always)]
    unsafe fn emit_rows<L: Lanes>(
        &self,
        lanes: L,
        joined: *mut u8,
        strip: Strip,
        rows: Rows,
        (ahead, asked): (Ahead, usize),
    ) {
        let lines = strip.width / LINE;
        let mut row = rows.skip;
        while row < N {
            let to = self.plane.row_place(strip.to, rows.at + row);
            // SAFETY: a row behind a line, which is its carry but in the first strip.
            unsafe {
                let carry = self.plane.carry.add((rows.at + row - strip.first) * LINE);
                let buffer = joined.add(row * (LINE + strip.width));
                let number = asked + (rows.before + row - rows.skip) * lines;
                ask::<L, C, W>(lanes, self.source, ahead, number, lines);
                emit(lanes, buffer, to, strip.width, strip.is_first);
                copy_line(lanes, buffer, carry);
            }
            row += 1;
        }
    }
}

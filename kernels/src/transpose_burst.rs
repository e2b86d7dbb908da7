//! Transposes past the cache whose registers are half a line, on processors of AMD.
//!
//! A core with such registers keeps few stores in flight, and those that go past the cache hold up all that is stored behind
//! them. So work goes by turns: a line of each of a strip's columns is transposed into a buffer in the first-level cache,
//! then whole lines leave from there, as many as the buffer holds. Lines of the columns are asked for among the stores, one
//! for each that is written, so that the memory reads and writes at the same time, as it does for a copy.
//!
//! Columns whose lines are in the same few sets of the caches push each other out, and where they start no lines, a line that
//! is read in part with this turn is gone before the next one. There a turn reads two lines of every column.

use core::ops::Range;

use crate::ahead::{Ahead, Ask, meets};
use crate::carry::flush;
use crate::lanes::{LANE, LINE, Lanes};
use crate::streamed::StreamedPlane;
use crate::tuning::{BURST_AHEAD, BURST_COLUMNS, BURST_LINES, MEETING_DEPTH, STRIP_ROWS};
use crate::walk::Point;

/// Bytes of carry buffer that [`BurstTranspose`] wants: a line of every row of a panel.
pub(crate) const BURST_CARRY: usize = STRIP_ROWS * LINE;

/// Most bytes of a strip in every destination row.
const fn strip(element: usize) -> usize {
    let columns = BURST_COLUMNS * element;
    if columns < BURST_LINES * LINE { columns } else { BURST_LINES * LINE }
}

/// Room for a turn: lines of each of a strip's columns.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
struct Turn([u8; MEETING_DEPTH * BURST_COLUMNS * LINE]);

/// As [`StreamTranspose`](crate::transpose_stream::StreamTranspose), of the source's own columns. The rows are at least a
/// line's.
#[derive(Clone, Copy)]
pub(crate) struct BurstTranspose<const E: usize, const N: usize> {
    /// With [`BURST_CARRY`] bytes of carry.
    pub(crate) plane: StreamedPlane,
}

/// Some columns of the rows of a panel.
#[derive(Clone, Copy)]
struct Strip {
    /// Where row 0 lies in the source, and in the destination.
    from: *const u8,
    to: *mut u8,
    /// Bytes of every row: whole lines.
    width: usize,
    /// The first row of the panel.
    first: usize,
    /// True where nothing of the rows is written yet.
    is_first: bool,
}

impl<const E: usize, const N: usize> Point for BurstTranspose<E, N> {
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap; without a carry buffer every row of the
    /// destination starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let all_rows = self.plane.all_rows();
        let whole = self.plane.columns.extent / (LINE / E) * (LINE / E);
        // SAFETY: parts of the plane: the columns that are whole lines, and those behind them.
        unsafe {
            let mut first = 0;
            while first < all_rows {
                let end = all_rows.min(first + STRIP_ROWS);
                self.panel(lanes, whole, first..end, src, dst);
                first = end;
            }
            self.plane.behind::<L, E, N>(lanes, whole, (src, dst));
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const N: usize> BurstTranspose<E, N> {
    /// Rows of a block: those of a line of a column.
    const ROWS: usize = LINE / E;

    /// The rows of a panel, strip by strip.
    ///
    /// # Safety
    /// As [`Point::point`], for the first `columns`, which fill lines, and the `rows` given.
    #[inline(always)]
    unsafe fn panel<L: Lanes>(
        &self,
        lanes: L,
        columns: usize,
        rows: Range<usize>,
        src: *const u8,
        dst: *mut u8,
    ) {
        let step = self.plane.columns.src_stride;
        let mut column = 0;
        while column < columns {
            let strip = Strip {
                from: src.wrapping_offset(column as isize * step),
                to: dst.wrapping_add(column * E),
                width: strip(E).min((columns - column) * E),
                first: rows.start,
                is_first: column == 0,
            };
            // SAFETY: some of the columns.
            unsafe { self.turns(lanes, strip, rows.clone()) };
            column += strip.width / E;
        }
        if !self.plane.carry.is_null() && columns > 0 {
            for row in rows.clone() {
                let end = self.plane.row_place(dst, row).wrapping_add(columns * E);
                // SAFETY: the row's strips are written, and its carry ends with what belongs before `end`.
                unsafe { flush(self.plane.carry.wrapping_add((row - rows.start) * LINE), end) };
            }
        }
    }

    /// The rows of a strip, turn by turn.
    ///
    /// # Safety
    /// As [`BurstTranspose::panel`], for the strip's columns.
    #[inline(always)]
    unsafe fn turns<L: Lanes>(&self, lanes: L, strip: Strip, rows: Range<usize>) {
        let (step, columns) = (self.plane.columns.src_stride, strip.width / E);
        let deep = meets(step) && rows.len() >= MEETING_DEPTH * Self::ROWS;
        let depth = if deep { MEETING_DEPTH } else { 1 };
        let ask = Ask::of_bursts(step, self.plane.all_rows() * E, columns, BURST_AHEAD + (depth - 1) * LINE);
        let mut turn = core::mem::MaybeUninit::<Turn>::uninit();
        let turn = turn.as_mut_ptr().cast::<u8>();
        let mut row = rows.start;
        while row < rows.end {
            let end = rows.end.min(row + depth * Self::ROWS);
            // Fewer rows than those of a turn are read together with some before them, of which there are enough.
            let top = end - depth * Self::ROWS;
            // SAFETY: lines of the columns, of which the buffer has blocks one behind the other.
            unsafe {
                self.fill(lanes, strip.from.wrapping_add(top * E), (columns, depth), turn);
                while row < end {
                    let block = (row - top) / Self::ROWS;
                    let of_block = row..top + (block + 1) * Self::ROWS;
                    let ahead = ask.ahead(strip.from, rows.start * E..rows.end * E, row * E);
                    row = of_block.end;
                    self.block(lanes, turn.add(block * columns * LINE), strip, of_block, ahead);
                }
            }
        }
    }

    /// Some rows of a strip, at most those of a block.
    ///
    /// # Safety
    /// As [`BurstTranspose::panel`], for these rows; `block` must be a filled one, whose last row is the last one of these.
    #[inline(always)]
    unsafe fn block<L: Lanes>(
        &self,
        lanes: L,
        block: *const u8,
        strip: Strip,
        rows: Range<usize>,
        ahead: Ahead,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if !self.plane.carry.is_null() {
                return self.carried_lines(lanes, block, strip, rows, ahead);
            }
            let mut part = Self::first_part(&rows);
            while part < LINE / LANE {
                self.whole_lines(lanes, block, strip, Self::part(&rows, part), ahead);
                part += 1;
            }
        }
    }

    /// Reads lines of each of some columns, and transposes their lanes with those of others: a block holds the registers of `N`
    /// rows one behind the other, those of the columns' first halves, then those of the second ones.
    ///
    /// # Safety
    /// So many lines must be readable at each of the columns, which fill lines; there must be room for as many blocks.
    #[inline(always)]
    unsafe fn fill<L: Lanes>(
        &self,
        lanes: L,
        from: *const u8,
        (columns, depth): (usize, usize),
        turn: *mut u8,
    ) {
        let step = self.plane.columns.src_stride;
        let mut column = 0;
        while column < columns {
            let mut i = 0;
            while i < N {
                let from = from.wrapping_offset((column + i) as isize * step);
                let mut half = 0;
                while half < depth * (LINE / L::BYTES) {
                    // SAFETY: a register of each of these columns, and the places of their lanes.
                    unsafe {
                        let to = turn.add((half * columns + column + i) * L::BYTES);
                        let from = from.wrapping_add(half * L::BYTES);
                        lanes.turn(from, N as isize * step, to, N * L::BYTES);
                    }
                    half += 1;
                }
                i += 1;
            }
            column += N * L::LANES;
        }
    }
}

mod lines;
#[cfg(test)]
mod tests;

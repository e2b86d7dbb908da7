//! Transposes past the cache whose registers are half a line, on processors of AMD.
//!
//! A core with such registers keeps few stores in flight, and those that go past the cache hold up all that is stored behind
//! them. So work goes by turns: a line of each of a strip's columns is transposed into a buffer in the first-level cache,
//! then whole lines leave from there, as many as the buffer holds. Lines of the columns are asked for among the stores, one
//! for each that is written, so that the memory reads and writes at the same time, as it does for a copy.

use crate::ahead::{Ahead, Ask};
use crate::carry::{emit, flush};
use crate::lanes::{LANE, LINE, Lanes, copy_line};
use crate::nest::Loop;
use crate::transpose::plane;
use crate::transpose_block::load_tile;
use crate::tuning::{BURST_AHEAD, BURST_COLUMNS, BURST_LINES, STRIP_ROWS};
use crate::walk::Point;

/// Bytes of carry buffer that [`BurstTranspose`] wants: a line of every row of a panel.
pub(crate) const BURST_CARRY: usize = STRIP_ROWS * LINE;

/// Most bytes of a strip in every destination row.
const fn strip(element: usize) -> usize {
    let columns = BURST_COLUMNS * element;
    if columns < BURST_LINES * LINE { columns } else { BURST_LINES * LINE }
}

/// Room for a line of each of a strip's columns.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
struct Block([u8; BURST_COLUMNS * LINE]);

/// Room for `N` rows of a strip, each behind a line that was carried.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
struct Joined([u8; LANE * LINE + BURST_COLUMNS * LANE]);

/// As [`StreamTranspose`](crate::transpose_stream::StreamTranspose), of the source's own columns.
#[derive(Clone, Copy)]
pub(crate) struct BurstTranspose<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    /// One row goes on from another in the source; together with those beyond at least a line of them.
    pub(crate) rows: Loop,
    /// What continues the rows in the source, each step with all rows again.
    pub(crate) beyond: Loop,
    /// [`BURST_CARRY`] bytes, at the start of a line; unused, and perhaps null, where every row starts a line.
    pub(crate) carry: *mut u8,
}

/// `N` rows, of which some at the start are left out.
#[derive(Clone, Copy)]
struct Rows {
    at: usize,
    skip: usize,
}

/// Some columns of the rows of a panel.
#[derive(Clone, Copy)]
struct Strip {
    /// Where row 0 lies in the source, and in the destination.
    from: *const u8,
    to: *mut u8,
    /// Bytes of every row: whole lines.
    width: usize,
    /// True where nothing of the rows is written yet.
    is_first: bool,
}

impl<const E: usize, const N: usize> Point for BurstTranspose<E, N> {
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap; without a carry buffer every row of the
    /// destination starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let columns = self.columns;
        let all_rows = self.rows.extent * self.beyond.extent;
        let whole = columns.extent / (LINE / E) * (LINE / E);
        // SAFETY: parts of the plane: the columns that are whole lines, and those behind them.
        unsafe {
            let mut first = 0;
            while first < all_rows {
                let end = all_rows.min(first + STRIP_ROWS);
                self.panel(lanes, whole, first..end, src, dst);
                first = end;
            }
            if whole < columns.extent {
                // At least a block, stepping back over columns that are then moved twice.
                let width = (columns.extent - whole).max(N * L::LANES).min(columns.extent);
                let at = columns.extent - width;
                let edge = Loop { extent: width, ..columns };
                let from = src.wrapping_offset(at as isize * columns.src_stride);
                self.rest(lanes, edge, from, dst.wrapping_add(at * E));
            }
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

    /// The place of a row in the destination.
    #[inline(always)]
    fn row_place(&self, dst: *mut u8, row: usize) -> *mut u8 {
        let (above, inside) = match self.beyond.extent {
            1 => (0, row),
            _ => (row / self.rows.extent, row % self.rows.extent),
        };
        dst.wrapping_offset(above as isize * self.beyond.dst_stride + inside as isize * self.rows.dst_stride)
    }

    /// All rows of the columns given, with ordinary stores.
    ///
    /// # Safety
    /// As [`Point::point`].
    #[inline(always)]
    unsafe fn rest<L: Lanes>(&self, lanes: L, columns: Loop, src: *const u8, dst: *mut u8) {
        let mut step = 0;
        while step < self.beyond.extent {
            let row = step * self.rows.extent;
            let (from, to) = (src.wrapping_add(row * E), self.row_place(dst, row));
            // SAFETY: the rows of one step.
            unsafe { plane::<L, E, N>(lanes, columns, self.rows, from, to) };
            step += 1;
        }
    }

    /// The rows of a panel, strip by strip.
    ///
    /// # Safety
    /// As [`Point::point`], for the first `columns`, which fill lines, and the `rows` given.
    #[inline(always)]
    unsafe fn panel<L: Lanes>(
        &self,
        lanes: L,
        columns: usize,
        rows: core::ops::Range<usize>,
        src: *const u8,
        dst: *mut u8,
    ) {
        let step = self.columns.src_stride;
        let len = self.rows.extent * self.beyond.extent * E;
        let mut column = 0;
        while column < columns {
            let width = strip(E).min((columns - column) * E);
            let strip = Strip {
                from: src.wrapping_offset(column as isize * step),
                to: dst.wrapping_add(column * E),
                width,
                is_first: column == 0,
            };
            let ask = Ask::of_bursts(step, len, width / E, BURST_AHEAD);
            let mut row = rows.start;
            while row < rows.end {
                let end = rows.end.min(row + Self::ROWS);
                let ahead = ask.ahead(strip.from, rows.start * E..rows.end * E, row * E);
                // SAFETY: rows of the strip.
                unsafe { self.block(lanes, strip, row..end, rows.start, ahead) };
                row = end;
            }
            column += width / E;
        }
        if !self.carry.is_null() && columns > 0 {
            for row in rows.clone() {
                let end = self.row_place(dst, row).wrapping_add(columns * E);
                // SAFETY: the row's strips are written, and its carry ends with what belongs before `end`.
                unsafe { flush(self.carry.wrapping_add((row - rows.start) * LINE), end) };
            }
        }
    }

    /// Some rows of a strip, at most those of a block, in a panel whose first row is `first`.
    ///
    /// # Safety
    /// As [`BurstTranspose::panel`], for these rows.
    #[inline(always)]
    unsafe fn block<L: Lanes>(
        &self,
        lanes: L,
        strip: Strip,
        rows: core::ops::Range<usize>,
        first: usize,
        ahead: Ahead,
    ) {
        let mut block = core::mem::MaybeUninit::<Block>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        // Fewer rows than those of a block are read together with some before them, of which there are enough.
        let top = rows.end - Self::ROWS;
        let lines = strip.width / LINE;
        // SAFETY: whole lines of the columns, of which the buffer has the registers of `N` rows one behind the other: those
        // of the columns' first halves, then those of the second ones.
        unsafe {
            self.fill(lanes, strip.from.wrapping_add(top * E), strip.width / E, block);
            if !self.carry.is_null() {
                return self.carried_lines(lanes, block, strip, rows, first, ahead);
            }
            let mut part = (rows.start - top) / N;
            while part < LINE / LANE {
                let at = top + part * N;
                let group = Rows { at, skip: rows.start.saturating_sub(at) };
                self.whole_lines(
                    lanes,
                    turned::<L, E, N>(block, strip, part),
                    strip,
                    group,
                    (ahead, part * N * lines),
                );
                part += 1;
            }
        }
    }

    /// Reads a line of each of some columns, and transposes its lanes with those of others.
    ///
    /// # Safety
    /// A line must be readable at each of the columns, which fill lines; the buffer must be a [`Block`].
    #[inline(always)]
    unsafe fn fill<L: Lanes>(&self, lanes: L, from: *const u8, columns: usize, block: *mut u8) {
        let step = self.columns.src_stride;
        let mut column = 0;
        while column < columns {
            let mut i = 0;
            while i < N {
                let from = from.wrapping_offset((column + i) as isize * step);
                let mut half = 0;
                while half < LINE / L::BYTES {
                    // SAFETY: a register of each of these columns, and the places of their lanes.
                    unsafe {
                        let to = block.add((half * columns + column + i) * L::BYTES);
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

    /// Streams `N` rows of a strip, and asks for as many lines.
    ///
    /// # Safety
    /// As [`BurstTranspose::block`], of whose buffer `turned` is a lane; every row starts a line.
    #[inline(always)]
    unsafe fn whole_lines<L: Lanes>(
        &self,
        lanes: L,
        turned: *const u8,
        strip: Strip,
        rows: Rows,
        (ahead, mut asked): (Ahead, usize),
    ) {
        let to = self.row_place(strip.to, rows.at);
        let mut at = 0;
        while at < strip.width {
            // SAFETY: registers of the strip's columns, two for a line of every row.
            unsafe {
                let turned = turned.add(at / E * L::BYTES);
                let left = load_tile::<L, E, N>(lanes, turned);
                let right = load_tile::<L, E, N>(lanes, turned.add(N * L::LANES * L::BYTES));
                let mut row = rows.skip;
                while row < N {
                    let to = to.wrapping_offset(row as isize * self.rows.dst_stride).wrapping_add(at);
                    lanes.stream(to, left[row]);
                    lanes.stream(to.wrapping_add(L::BYTES), right[row]);
                    ahead.ask_lines(lanes, asked, 1);
                    asked += 1;
                    row += 1;
                }
            }
            at += LINE;
        }
    }

    /// The rows of a block where they start anywhere, by way of their carries; `first` is the first row that has one.
    ///
    /// What was just stored is not there to be read before all that was streamed before it has left. So each part of the rows
    /// is streamed after the next one is stored.
    ///
    /// # Safety
    /// As [`BurstTranspose::block`], of which `block` is the filled buffer.
    #[inline(always)]
    unsafe fn carried_lines<L: Lanes>(
        &self,
        lanes: L,
        block: *const u8,
        strip: Strip,
        rows: core::ops::Range<usize>,
        first: usize,
        ahead: Ahead,
    ) {
        let top = rows.end - Self::ROWS;
        let begin = (rows.start - top) / N;
        let mut joined = core::mem::MaybeUninit::<[Joined; 2]>::uninit();
        let joined = joined.as_mut_ptr().cast::<Joined>();
        let mut part = begin;
        while part <= LINE / LANE {
            // SAFETY: the buffers take turns; each is filled before it is read, and all lines lie inside the rows.
            unsafe {
                if part < LINE / LANE {
                    let turned = turned::<L, E, N>(block, strip, part);
                    let joined = joined.add(part % 2).cast();
                    join_lines::<L, E, N>(lanes, turned, strip.width, joined);
                    let at = top + part * N;
                    let group = Rows { at, skip: rows.start.saturating_sub(at) };
                    self.join_carries(lanes, joined, strip, group, first);
                }
                if part > begin {
                    let joined = joined.add((part - 1) % 2).cast();
                    let at = top + (part - 1) * N;
                    let group = Rows { at, skip: rows.start.saturating_sub(at) };
                    self.emit_rows(lanes, joined, strip, group, first, (ahead, at - top));
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
    unsafe fn join_carries<L: Lanes>(
        &self,
        lanes: L,
        joined: *mut u8,
        strip: Strip,
        rows: Rows,
        first: usize,
    ) {
        let mut row = if strip.is_first { N } else { rows.skip };
        while row < N {
            // SAFETY: the row's carry, and the line before the row.
            unsafe {
                let carry = self.carry.add((rows.at + row - first) * LINE);
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
        first: usize,
        (ahead, asked): (Ahead, usize),
    ) {
        let to = self.row_place(strip.to, rows.at);
        let lines = strip.width / LINE;
        let mut row = rows.skip;
        while row < N {
            let to = to.wrapping_offset(row as isize * self.rows.dst_stride);
            // SAFETY: a row behind a line, which is its carry but in the first strip.
            unsafe {
                let carry = self.carry.add((rows.at + row - first) * LINE);
                let buffer = joined.add(row * (LINE + strip.width));
                ahead.ask_lines(lanes, (asked + row) * lines, lines);
                emit(lanes, buffer, to, strip.width, strip.is_first);
                copy_line(lanes, buffer, carry);
            }
            row += 1;
        }
    }
}

/// The registers of a part of a block's rows.
///
/// # Safety
/// `block` must be a filled [`Block`].
#[inline(always)]
unsafe fn turned<L: Lanes, const E: usize, const N: usize>(
    block: *const u8,
    strip: Strip,
    part: usize,
) -> *const u8 {
    let half = part / L::LANES * (strip.width / E * L::BYTES);
    // SAFETY: inside the buffer.
    unsafe { block.add(half + part % L::LANES * (N * L::BYTES)) }
}

/// Transposes registers to `N` rows of so many bytes, each of them behind a line.
///
/// # Safety
/// `turned` must be a lane of a filled [`Block`], `joined` a [`Joined`].
#[inline(always)]
unsafe fn join_lines<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    turned: *const u8,
    width: usize,
    joined: *mut u8,
) {
    let mut at = 0;
    while at < width {
        // SAFETY: there is room for `N` rows of the widest strip, each behind a line.
        unsafe {
            let tile = load_tile::<L, E, N>(lanes, turned.add(at / E * L::BYTES));
            let mut row = 0;
            while row < N {
                lanes.store(joined.add(row * (LINE + width) + LINE + at), tile[row]);
                row += 1;
            }
        }
        at += L::BYTES;
    }
}

#[cfg(test)]
mod tests;

//! Transposes whose destination goes past the cache in whole lines.
//!
//! A strip of as many columns as fill two lines of every destination row is walked along the rows: the source is read in
//! a few long streams, one a column, and every row gets a pair of lines at a time. Where rows do not start lines, each
//! row carries the bytes behind its last whole line over to the next strip, so that every line is still written once and
//! whole.

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::rows::copy_short;
use crate::transpose::{load_tile, plane};
use crate::tuning::{COLUMN_AHEAD, STRIP_ROWS};
use crate::walk::Point;

/// Bytes of a strip in every destination row. A pair of lines, because single lines at strides near a power of two fill
/// only a part of the memory's rows; one line for bytes, whose strips would otherwise have more columns than the
/// first-level cache has room for.
const fn strip(element: usize) -> usize {
    if element == 1 { LINE } else { 2 * LINE }
}

/// What one row needs of the carry buffer: the line before, and a strip.
const ROW_BUFFER: usize = LINE + strip(2);

/// Bytes of carry buffer that [`StreamTranspose`] wants.
pub(crate) const CARRY_BYTES: usize = STRIP_ROWS * ROW_BUFFER;

/// As [`Transpose`](crate::transpose::Transpose), streaming.
#[derive(Clone, Copy)]
pub(crate) struct StreamTranspose<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
    /// What continues the rows in the source, each step with all rows again.
    pub(crate) beyond: Loop,
    /// [`CARRY_BYTES`] bytes at the start of a line; unused, and perhaps null, where every row starts a line.
    pub(crate) carry: *mut u8,
}

impl<const E: usize, const N: usize> Point for StreamTranspose<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap; without a carry buffer every row of the
    /// destination starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let columns = self.columns;
        let all_rows = self.rows.extent * self.beyond.extent;
        let (strips, lines) = (columns.extent / (strip(E) / E), all_rows / (LINE / E));
        let (full_columns, full_rows) = (strips * (strip(E) / E), lines * (LINE / E));
        // SAFETY: parts of the plane: the strips, the columns behind them, the rows behind those.
        unsafe {
            let mut first = 0;
            while first < full_rows {
                let count = STRIP_ROWS.min(full_rows - first);
                self.panel(lanes, full_columns, first..first + count, src, dst);
                first += count;
            }
            if full_columns < columns.extent {
                // At least a block, stepping back over columns that are then moved twice.
                let width = (columns.extent - full_columns).max(N * L::LANES).min(columns.extent);
                let at = columns.extent - width;
                let edge = Loop { extent: width, ..columns };
                let (from, to) =
                    (src.wrapping_offset(at as isize * columns.src_stride), dst.wrapping_add(at * E));
                self.rest(lanes, edge, 0, from, to);
            }
            if full_rows < all_rows {
                self.rest(lanes, columns, full_rows, src, dst);
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const N: usize> StreamTranspose<E, N> {
    /// The place of a row in the destination.
    #[inline(always)]
    fn row_place(&self, dst: *mut u8, row: usize) -> *mut u8 {
        let (above, inside) = match self.beyond.extent {
            1 => (0, row),
            _ => (row / self.rows.extent, row % self.rows.extent),
        };
        dst.wrapping_offset(above as isize * self.beyond.dst_stride + inside as isize * self.rows.dst_stride)
    }

    /// All rows from `first` on, of the columns given, with ordinary stores; whole lanes of rows where there are so many.
    ///
    /// # Safety
    /// As [`Point::point`], `src` and `dst` being the places of the first of all rows.
    #[inline(always)]
    unsafe fn rest<L: Lanes>(&self, lanes: L, columns: Loop, first: usize, src: *const u8, dst: *mut u8) {
        let mut row = first;
        while row < self.rows.extent * self.beyond.extent {
            // Rows up to the end of this step of `beyond`.
            let inside = row % self.rows.extent;
            let start = row - inside;
            // Stepping back over rows that are then moved twice, to fill a lane.
            let inside = inside.min(self.rows.extent.saturating_sub(N));
            let rows = Loop { extent: self.rows.extent - inside, ..self.rows };
            // SAFETY: rows of one step, as promised.
            unsafe {
                let from = src.wrapping_add((start + inside) * E);
                plane::<L, E, N>(lanes, columns, rows, from, self.row_place(dst, start + inside));
            }
            row = start + self.rows.extent;
        }
    }

    /// Whole strips of at most [`STRIP_ROWS`] rows, of which there are whole lines.
    ///
    /// # Safety
    /// As [`Point::point`], for the first `columns` and the `rows` given.
    #[inline(always)]
    unsafe fn panel<L: Lanes>(
        &self,
        lanes: L,
        columns: usize,
        rows: core::ops::Range<usize>,
        src: *const u8,
        dst: *mut u8,
    ) {
        let column_step = self.columns.src_stride;
        let mut staged = Staged([0; strip(2) * LINE]);
        let mut column = 0;
        while column < columns {
            let top = src.wrapping_offset(column as isize * column_step);
            let to = dst.wrapping_add(column * E);
            let mut row = rows.start;
            while row < rows.end {
                // SAFETY: a strip's columns and a line of rows from here.
                unsafe { stage_lines::<L, E>(lanes, top.wrapping_add(row * E), column_step, &mut staged) };
                let mut part = 0;
                while part < LINE / E {
                    // SAFETY: `N` rows of the lines just staged.
                    unsafe {
                        let from = staged.0.as_ptr().wrapping_add(part * E);
                        let to = self.row_place(to, row + part);
                        if self.carry.is_null() {
                            self.whole_lines(lanes, from, to);
                        } else {
                            self.carried_lines(lanes, from, to, row + part - rows.start, column == 0);
                        }
                    }
                    part += N;
                }
                row += LINE / E;
            }
            column += strip(E) / E;
        }
        if !self.carry.is_null() && columns > 0 {
            for row in rows.clone() {
                let end = self.row_place(dst, row).wrapping_add(columns * E);
                let rest = end.addr() % LINE;
                // SAFETY: the carry ends with the `rest` bytes that belong before `end`, all of them the row's own.
                unsafe {
                    let carry = self.carry.add((row - rows.start) * ROW_BUFFER);
                    copy_short(carry.add(LINE - rest), end.wrapping_sub(rest), rest);
                }
            }
        }
    }

    /// `N` rows of a strip, straight from the registers.
    ///
    /// # Safety
    /// As [`Point::point`]; every row starts a line at `to`.
    #[inline(always)]
    unsafe fn whole_lines<L: Lanes>(&self, lanes: L, from: *const u8, to: *mut u8) {
        let step = LINE as isize;
        let mut at = 0;
        while at < strip(E) {
            // SAFETY: the strip's columns are `strip(E)` bytes of every row, at a multiple of a register.
            unsafe {
                let tile = load_tile::<L, N>(lanes, from.wrapping_offset((at / E) as isize * step), step, E);
                let mut row = 0;
                while row < N {
                    let to = to.wrapping_offset(row as isize * self.rows.dst_stride).wrapping_add(at);
                    lanes.stream(to, tile[row]);
                    row += 1;
                }
            }
            at += L::BYTES;
        }
    }

    /// `N` rows of a strip, by way of their carries.
    ///
    /// # Safety
    /// As [`Point::point`]; `row` is the first row's number in the panel.
    #[inline(always)]
    unsafe fn carried_lines<L: Lanes>(
        &self,
        lanes: L,
        from: *const u8,
        to: *mut u8,
        row: usize,
        is_first: bool,
    ) {
        let step = LINE as isize;
        // SAFETY: rows of a panel have a buffer each, of a line and a strip; the lines written to the destination lie
        // inside the row but for the part before the first strip, which is not written as a line.
        unsafe {
            let buffer = self.carry.add(row * ROW_BUFFER);
            let mut at = 0;
            while at < strip(E) {
                let tile = load_tile::<L, N>(lanes, from.wrapping_offset((at / E) as isize * step), step, E);
                let mut i = 0;
                while i < N {
                    lanes.store(buffer.add(i * ROW_BUFFER + LINE + at), tile[i]);
                    i += 1;
                }
                at += L::BYTES;
            }
            let mut i = 0;
            while i < N {
                let to = to.wrapping_offset(i as isize * self.rows.dst_stride);
                emit::<L, E>(lanes, buffer.add(i * ROW_BUFFER), to, is_first);
                i += 1;
            }
        }
    }
}

/// A line of each of a strip's columns, together.
#[repr(align(64))]
struct Staged([u8; strip(2) * LINE]);

/// Copies a line of every column of a strip to one place: a line that is read in parts, at strides near a power of two,
/// is gone from the cache before its last part is wanted.
///
/// # Safety
/// A line must be readable at each of a strip's columns.
#[inline(always)]
unsafe fn stage_lines<L: Lanes, const E: usize>(lanes: L, line: *const u8, step: isize, staged: &mut Staged) {
    let mut column = 0;
    while column < strip(E) / E {
        let from = line.wrapping_offset(column as isize * step);
        lanes.prefetch(from.wrapping_add(COLUMN_AHEAD));
        let mut at = 0;
        while at < LINE {
            // SAFETY: the caller's promise; the staged lines have room for one of each column.
            unsafe { lanes.store(staged.0.as_mut_ptr().add(column * LINE + at), lanes.load(from.add(at))) };
            at += L::BYTES;
        }
        column += 1;
    }
}

/// Writes the whole lines that one row's buffer holds, and carries the rest.
///
/// # Safety
/// `buffer` must be a row's buffer whose strip belongs at `to`, with a valid carry unless `is_first`.
#[inline(always)]
unsafe fn emit<L: Lanes, const E: usize>(lanes: L, buffer: *mut u8, to: *mut u8, is_first: bool) {
    let before = to.addr() % LINE;
    let line = to.wrapping_sub(before);
    // SAFETY: the buffer's line ends with the `before` bytes in front of `to`; with them the strip is whole lines and
    // `before` bytes more, which stay in the last line for the next strip.
    unsafe {
        let mut at = 0;
        if is_first && before > 0 {
            copy_short(buffer.add(LINE), to, LINE - before);
            at = LINE;
        }
        while at < strip(E) {
            let mut part = 0;
            while part < LINE {
                let vector = lanes.load(buffer.add(LINE - before + at + part));
                lanes.stream(line.wrapping_add(at + part), vector);
                part += L::BYTES;
            }
            at += LINE;
        }
        let mut part = 0;
        while part < LINE {
            lanes.store(buffer.add(part), lanes.load(buffer.add(strip(E) + part)));
            part += L::BYTES;
        }
    }
}

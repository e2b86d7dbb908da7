//! Planes whose rows, or columns, meet in a few sets of the first-level cache, by way of a buffer.
//!
//! A block writes a line, or parts of two, of every one of its rows. Where rows are near a multiple of a page apart, these lines are
//! more than their sets keep, and each goes back to the second level before its next part comes, with half a block's time for the
//! way. So a part of the plane is transposed into a buffer, whose rows lie in all sets, and from there some lines of a row are
//! written at once. Columns that meet lose less, since what is read need not go back: some lines of each are copied to the buffer at
//! once, and transposed from there.

use core::mem::MaybeUninit;

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::rows::copy_registers;
use crate::transpose::stored::Plane;
use crate::tuning::{SET_LINES, SET_STRIDE};

/// Bytes of a row that are written at once, or of a column that are read: of fewer lines, as many begin and end in the middle; with more, the buffer leaves the
/// first-level cache.
const RUN: usize = 8 * LINE;

/// From row to row of the buffer, or from column to column, an odd number of lines.
const PITCH: usize = RUN + LINE;

/// The most rows of the buffer, or columns: two lines of elements, or one of bytes.
const RUNS: usize = 64;

/// Room for a part of a plane.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
struct Buffer([u8; RUNS * PITCH]);

/// What of a plane is gathered in the buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Gathered {
    /// Rows, until some lines of each are written.
    Rows,
    /// Columns, of which some lines are read at once.
    Columns,
}

impl Gathered {
    /// What had better be gathered of a plane whose destination starts there, if anything.
    #[inline(always)]
    pub(super) fn of(
        columns: Loop,
        rows: Loop,
        element: usize,
        (src, dst): (*const u8, *mut u8),
    ) -> Option<Gathered> {
        let start_lines = |place: usize, step: isize| {
            place.is_multiple_of(LINE) && step.unsigned_abs().is_multiple_of(LINE)
        };
        let (of_rows, of_columns) = (rows.dst_stride, columns.src_stride);
        if overfill_sets(of_rows, element, start_lines(dst.addr(), of_rows)) {
            return Some(Gathered::Rows);
        }
        let starts = start_lines(src.addr(), of_columns);
        // As few lines as there are columns of larger elements in a block come from the second level in time.
        let pays = element < 4 || element == 4 && !starts;
        (pays && overfill_sets(of_columns, element, starts)).then_some(Gathered::Columns)
    }
}

/// True where the lines of a block of elements of so many bytes are more than their sets of the first-level cache keep, on a side
/// whose rows or columns are so far from each other, and start lines or not.
#[inline(always)]
fn overfill_sets(step: isize, element: usize, start_lines: bool) -> bool {
    let (mut count, mut step) = (LINE / element, step.unsigned_abs() % SET_STRIDE);
    // Lines of a row, of which the second is in the next set.
    let parts = if start_lines { 1 } else { 2 };
    // Of rows that take turns, those that are near each other in the sets.
    while parts * count > SET_LINES {
        let drift = step.min(SET_STRIDE - step);
        let sets = drift * count / LINE + parts;
        if parts * count > SET_LINES * sets {
            return true;
        }
        (count, step) = (count / 2, 2 * step % SET_STRIDE);
    }
    false
}

impl<const E: usize, const N: usize> Plane<E, N> {
    /// As much at a time as the buffer has room for, along the rows first.
    ///
    /// # Safety
    /// As [`Plane::panels`].
    #[inline(always)]
    pub(super) unsafe fn by_buffer<L: Lanes>(&self, lanes: L, gathered: Gathered) {
        let (count, run, least) = (RUNS.min(2 * LINE / E), RUN / E, L::BYTES / E);
        let (height, width) = match gathered {
            Gathered::Rows => (count, run),
            Gathered::Columns => (run, count),
        };
        let mut row = 0;
        while row < self.rows.extent {
            let count = height.min(self.rows.extent - row).max(least);
            let top = row.min(self.rows.extent - count);
            let rows = Loop { extent: count, ..self.rows };
            let mut column = 0;
            while column < self.columns.extent {
                let count = width.min(self.columns.extent - column).max(least);
                let left = column.min(self.columns.extent - count);
                let columns = Loop { extent: count, ..self.columns };
                let part =
                    Plane::<E, N> { columns, rows, src: self.from(top, left), dst: self.to(top, left) };
                // SAFETY: a part of the plane, no smaller than a block, nor larger than the buffer.
                unsafe {
                    match gathered {
                        Gathered::Rows => part.rows_by_buffer(lanes),
                        Gathered::Columns => part.columns_by_buffer(lanes),
                    }
                }
                column += width;
            }
            row += height;
        }
    }

    /// Transposes the plane into the buffer, a block of columns after the other, and copies the rows from there.
    ///
    /// # Safety
    /// As [`Plane::panels`]; the plane's rows must fit the buffer.
    #[inline(always)]
    unsafe fn rows_by_buffer<L: Lanes>(&self, lanes: L) {
        let mut buffer = MaybeUninit::<Buffer>::uninit();
        let buffer = buffer.as_mut_ptr().cast::<u8>();
        let rows = Loop { dst_stride: PITCH as isize, ..self.rows };
        let into = Plane::<E, N> { rows, dst: buffer, ..*self };
        let size = L::BYTES / E;
        let mut column = 0;
        while column < self.columns.extent {
            let left = column.min(self.columns.extent - size);
            // SAFETY: a block's columns of the plane, and room in the buffer for all of its rows.
            unsafe { into.rows_of_squares::<L, false>(lanes, (0, self.rows.extent), (left, left + size)) };
            column += size;
        }
        let mut row = 0;
        while row < self.rows.extent {
            // SAFETY: a row of the plane, which the blocks have written to the buffer.
            unsafe {
                let from = buffer.add(row * PITCH);
                copy_registers::<L, false>(lanes, from, self.to(row, 0), self.columns.extent * E, (0, 0));
            }
            row += 1;
        }
    }

    /// Copies the plane's columns into the buffer, and transposes them from there.
    ///
    /// # Safety
    /// As [`Plane::panels`]; the plane's columns must fit the buffer.
    #[inline(always)]
    unsafe fn columns_by_buffer<L: Lanes>(&self, lanes: L) {
        let mut buffer = MaybeUninit::<Buffer>::uninit();
        let buffer = buffer.as_mut_ptr().cast::<u8>();
        let mut column = 0;
        while column < self.columns.extent {
            // SAFETY: a column of the plane, and room for it in the buffer.
            unsafe {
                let to = buffer.add(column * PITCH);
                copy_registers::<L, false>(lanes, self.from(0, column), to, self.rows.extent * E, (0, 0));
            }
            column += 1;
        }
        let columns = Loop { src_stride: PITCH as isize, ..self.columns };
        let from = Plane::<E, N> { columns, src: buffer, ..*self };
        // SAFETY: the plane, of whose columns the buffer has copies.
        unsafe { from.rows_of_squares::<L, false>(lanes, (0, self.rows.extent), (0, self.columns.extent)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_overfill_sets_near_pages() {
        for (step, element, start_lines, expected) in [
            (4096, 4, true, true),
            (-4096, 4, true, true),
            (8192, 2, true, true),
            (4100, 4, false, true),
            (4092, 4, false, true),
            (4 * 1040, 4, true, false),
            (4 * 1040, 4, false, false),
            (2048, 4, true, false),
            (2048, 2, true, true),
            (2050, 2, false, true),
            (4104, 8, false, false),
            (4096, 8, true, false),
            (4096, 16, true, false),
            (1 << 20, 1, false, true),
            (1000, 1, false, false),
        ] {
            assert_eq!(overfill_sets(step, element, start_lines), expected, "{step} {element} {start_lines}");
        }
    }
}

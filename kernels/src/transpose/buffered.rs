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
use crate::transpose::stored::Plane;
use crate::tuning::{SET_STRIDE, most_of_a_set};

/// Bytes of a row that are written at once, or of a column that are read: with fewer lines, more of them are shared with the next part;
/// with more, the buffer leaves the first-level cache.
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

/// The most lines for each set of the first-level cache that a block of elements of so many bytes has on a side whose rows or columns
/// are so far from each other, and start lines or not.
#[inline(always)]
fn lines_of_a_set(step: isize, element: usize, start_lines: bool) -> usize {
    let (mut count, mut step) = (LINE / element, step.unsigned_abs() % SET_STRIDE);
    // Lines of a row, of which the second is in the next set.
    let parts = if start_lines { 1 } else { 2 };
    let mut most = 0;
    // Of rows that take turns, those that are near each other in the sets.
    while parts * count > most {
        let drift = step.min(SET_STRIDE - step);
        most = most.max(parts * count / (drift * count / LINE + parts));
        (count, step) = (count / 2, 2 * step % SET_STRIDE);
    }
    most
}

impl<const E: usize, const N: usize> Plane<E, N> {
    /// What had better be gathered, if anything; `is_diagonal` where squares go along diagonals, which is no worse where columns meet no
    /// less than rows.
    #[inline(always)]
    pub(super) fn gathered(&self, is_diagonal: bool) -> Option<Gathered> {
        let start_lines = |place: usize, step: isize| {
            place.is_multiple_of(LINE) && step.unsigned_abs().is_multiple_of(LINE)
        };
        let (of_rows, of_columns) = (self.rows.dst_stride, self.columns.src_stride);
        let starts = start_lines(self.src.addr(), of_columns);
        let columns = lines_of_a_set(of_columns, E, starts);
        let rows = lines_of_a_set(of_rows, E, start_lines(self.dst.addr(), of_rows));
        // Rows and columns of a line are moved at once as they are.
        let are_long = |l: Loop| l.extent * E > LINE;
        let [most_of_rows, most_of_columns] = most_of_a_set(E);
        if are_long(self.columns) && rows > most_of_rows {
            let are_as_good = is_diagonal && columns >= rows;
            return (!are_as_good).then_some(Gathered::Rows);
        }
        // As few lines as there are columns of larger elements in a block come from the second level in time.
        let pays = E < 4 || E == 4 && !starts;
        (pays && are_long(self.rows) && columns > most_of_columns).then_some(Gathered::Columns)
    }

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
                copy(lanes, from, self.to(row, 0), self.columns.extent * E);
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
                copy(lanes, self.from(0, column), to, self.rows.extent * E);
            }
            column += 1;
        }
        let columns = Loop { src_stride: PITCH as isize, ..self.columns };
        let from = Plane::<E, N> { columns, src: buffer, ..*self };
        // SAFETY: the plane, of whose columns the buffer has copies.
        unsafe { from.rows_of_squares::<L, false>(lanes, (0, self.rows.extent), (0, self.columns.extent)) }
    }
}

/// Copies some registers, two at a time: of a loop over one, compilers make a call.
///
/// # Safety
/// `len` bytes, at least a register, must be readable at `from` and writable at `to`, without overlap.
#[inline(always)]
unsafe fn copy<L: Lanes>(lanes: L, from: *const u8, to: *mut u8, len: usize) {
    let last = len - L::BYTES;
    // SAFETY: registers inside the `len` bytes, of which the last one ends at their end.
    unsafe {
        let mut at = 0;
        while at + L::BYTES <= last {
            let pair = [lanes.load(from.add(at)), lanes.load(from.add(at + L::BYTES))];
            lanes.store(to.add(at), pair[0]);
            lanes.store(to.add(at + L::BYTES), pair[1]);
            at += 2 * L::BYTES;
        }
        if at < last {
            lanes.store(to.add(at), lanes.load(from.add(at)));
        }
        lanes.store(to.add(last), lanes.load(from.add(last)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_meet_near_pages() {
        for (step, element, start_lines, expected) in [
            (4096, 4, true, 16),
            (-4096, 4, true, 16),
            (8192, 2, true, 32),
            (4100, 4, false, 10),
            (4092, 4, false, 10),
            (4 * 1040, 4, true, 0),
            (2048, 4, true, 8),
            (2048, 2, true, 16),
            (2050, 2, false, 10),
            (4106, 2, false, 9),
            (4104, 8, false, 5),
            (4096, 8, true, 8),
            (4096, 16, true, 4),
            (0, 1, true, 64),
            (isize::MIN, 1, false, 64),
        ] {
            assert_eq!(
                lines_of_a_set(step, element, start_lines),
                expected,
                "{step} {element} {start_lines}"
            );
        }
    }
}

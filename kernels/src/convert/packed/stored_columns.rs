//! Transposes of what is made of columns, where the destination stays in the cache: what is made is transposed block by
//! block, and stored.

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::transpose::columns::Columns;
use crate::transpose::stored::plane;
use crate::tuning::Stretches;
use crate::walk::Point;

/// Columns that a source makes ready, and the rows of elements of `E` bytes that they become, `N` to a lane.
#[derive(Clone, Copy)]
pub(crate) struct StoredColumns<const E: usize, const N: usize, C> {
    pub(crate) source: C,
    /// Whole strips.
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
}

impl<const E: usize, const N: usize, C: Columns> Point for StoredColumns<E, N, C> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let (step, unit) = (self.columns.src_stride, self.rows.src_stride.unsigned_abs());
        let (columns_step, count) = self.source.of_source(step, self.source.strip(E) / E);
        let len = self.rows.extent * unit;
        let ask = self.source.asks(columns_step, len, count, Stretches::USUAL);
        let mut column = 0;
        while column < self.columns.extent {
            let top = self.source.strip_at(src, column, step);
            let to = dst.wrapping_add(column * E);
            let mut row = 0;
            while row < self.rows.extent {
                let count = self.source.rows(L::BYTES / E).min(self.rows.extent - row);
                let ahead = ask.ahead(top, 0..len, row * unit);
                // SAFETY: a strip's columns, and so many rows of them.
                unsafe {
                    let (made, _) =
                        self.source.ready::<L, E>(lanes, (top.wrapping_add(row * unit), step), count, ahead);
                    let made = (made.0, made.1.step);
                    self.store(lanes, made, count, to.wrapping_offset(row as isize * self.rows.dst_stride));
                }
                row += count;
            }
            column += self.source.strip(E) / E;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

impl<const E: usize, const N: usize, C: Columns> StoredColumns<E, N, C> {
    /// Writes `count` rows of a strip that was made ready, all of their parts, a line of each column at a time.
    ///
    /// # Safety
    /// The strip must lie at `from`, with the step from column to column, and its rows be valid from `to` on.
    #[inline(always)]
    unsafe fn store<L: Lanes>(&self, lanes: L, (from, step): (*const u8, isize), count: usize, to: *mut u8) {
        let parts = self.source.parts();
        let apart = self.rows.dst_stride / parts as isize;
        let columns = Loop { extent: self.source.strip(E) / E, src_stride: step, dst_stride: E as isize };
        let mut done = 0;
        while done < count {
            let extent = (count - done).min(LINE / E);
            let rows = Loop { extent, src_stride: E as isize, ..self.rows };
            let mut part = 0;
            while part < parts {
                let to = to.wrapping_offset(done as isize * self.rows.dst_stride + part as isize * apart);
                // SAFETY: the caller's promise, for rows of which a line of each column holds elements.
                unsafe { plane::<L, E, N>(lanes, columns, rows, C::place(from, part, done * E), to) };
                part += 1;
            }
            done += extent;
        }
    }
}

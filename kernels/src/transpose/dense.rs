//! Transposes whose rows follow one another in the destination without gaps, written past the cache.
//!
//! Rows that are shorter than a few lines seldom start or end with one. Together they are one stream: some rows at a time
//! are transposed into a buffer that stays in the first-level cache, and go from there in whole lines.

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::rows::stream_run;
use crate::transpose::stored::plane;
use crate::tuning::{DENSE_BYTES, DENSE_ROW};
use crate::walk::Point;

/// As [`Transpose`](crate::transpose::stored::Transpose), streaming, where each row continues the one before.
#[derive(Clone, Copy)]
pub(crate) struct StreamDense<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
}

/// True where rows of a few lines follow one another, and lines of them fit the buffer.
pub(crate) fn is_dense(rows: Loop, columns: Loop, element: usize) -> bool {
    let row = columns.extent * element;
    usize::try_from(rows.dst_stride) == Ok(row) && row <= DENSE_ROW && row * (LINE / element) <= DENSE_BYTES
}

#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
struct Buffer([u8; DENSE_BYTES]);

impl<const E: usize, const N: usize> Point for StreamDense<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap, and [`is_dense`] true of them.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut buffer = core::mem::MaybeUninit::<Buffer>::uninit();
        let buffer = buffer.as_mut_ptr().cast::<u8>();
        let row_bytes = self.columns.extent * E;
        // Whole lines of the source, which makes whole lines of the destination too.
        let some = DENSE_BYTES / row_bytes / (LINE / E) * (LINE / E);
        let mut row = 0;
        while row < self.rows.extent {
            let count = some.min(self.rows.extent - row);
            let from = src.wrapping_add(row * E);
            self.prefetch(lanes, from.wrapping_add(some * E), some * E);
            // SAFETY: `count` rows from here; they fit the buffer, and are written before they are read.
            unsafe {
                plane::<L, E, N>(lanes, self.columns, Loop { extent: count, ..self.rows }, from, buffer);
                stream_run(lanes, buffer, dst.wrapping_add(row * row_bytes), count * row_bytes, 0);
            }
            row += count;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const N: usize> StreamDense<E, N> {
    /// Asks for the lines of so many bytes of every column.
    #[inline(always)]
    fn prefetch<L: Lanes>(&self, lanes: L, from: *const u8, bytes: usize) {
        let mut column = 0;
        while column < self.columns.extent {
            let from = from.wrapping_offset(column as isize * self.columns.src_stride);
            let mut at = 0;
            while at < bytes {
                lanes.prefetch(from.wrapping_add(at));
                at += LINE;
            }
            column += 1;
        }
    }
}

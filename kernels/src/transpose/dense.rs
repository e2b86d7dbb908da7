//! Transposes whose rows follow one another in the destination without gaps, written past the cache.
//!
//! Rows of a few lines seldom start or end with one, and each such line would have to be read first. Together they are one stream:
//! the rows of a line of every column are transposed into a buffer that stays in the near caches, and go from there in
//! whole lines, as many as were read. Those of the blocks that follow are asked for among them.

use crate::lanes::{LINE, Lanes, stream_line};
use crate::nest::Loop;
use crate::rows::copy_short;
use crate::transpose::ahead::Ahead;
use crate::transpose::stored::plane;
use crate::tuning::{DENSE_AHEAD, DENSE_BYTES, DENSE_ROW, DENSE_TURNS, dense_lines};
use crate::walk::Point;

/// As [`Transpose`](crate::transpose::stored::Transpose), streaming, where each row continues the one before.
#[derive(Clone, Copy)]
pub(crate) struct StreamDense<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
    /// Room for a block, of [`buffer_bytes`].
    pub(crate) buffer: *mut u8,
}

/// True where rows follow one another, and are short: some lines, or, where they start none, so long that a line of every column
/// fits the buffer.
pub(crate) fn is_dense(rows: Loop, columns: Loop, element: usize) -> bool {
    let row = columns.extent * element;
    let is_short = match row % LINE {
        0 => row <= DENSE_ROW,
        _ => columns.extent * LINE <= DENSE_BYTES,
    };
    usize::try_from(rows.dst_stride) == Ok(row) && is_short
}

/// Bytes of the buffer for so many columns of elements of so many bytes.
pub(crate) fn buffer_bytes(columns: usize, element: usize) -> usize {
    buffers(columns, element) * columns * LINE * dense_lines(columns, element)
}

impl<const E: usize, const N: usize> Point for StreamDense<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap, [`is_dense`] true of them, and
    /// [`buffer_bytes`] writable at `buffer`.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let row_bytes = self.columns.extent * E;
        let lines = dense_lines(self.columns.extent, E);
        let some = lines * (LINE / E);
        let blocks = self.rows.extent.div_ceil(some);
        let rows = |block: usize| some.min(self.rows.extent - block * some);
        // Not those of the next block: the last ones would be asked for when the first ones are wanted.
        let ahead = DENSE_AHEAD.div_ceil(lines * self.columns.extent).max(2);
        let behind = buffers(self.columns.extent, E) - 1;
        let mut block = 0;
        while block < blocks + behind {
            // SAFETY: rows of the plane; they fit a part of the buffer, and are written before they are read.
            unsafe {
                if block < blocks {
                    let (from, to) = (src.wrapping_add(block * some * E), self.part(block));
                    plane::<L, E, N>(
                        lanes,
                        self.columns,
                        Loop { extent: rows(block), ..self.rows },
                        from,
                        to,
                    );
                }
                if let Some(done) = block.checked_sub(behind) {
                    let from = src.wrapping_add((done + ahead) * some * E);
                    let ahead = Ahead::of_lines(from, self.columns.src_stride, lines);
                    let to = dst.wrapping_add(done * some * row_bytes);
                    stream_block(lanes, self.part(done), to, rows(done) * row_bytes, ahead);
                }
            }
            block += 1;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const N: usize> StreamDense<E, N> {
    /// Room for a block.
    #[inline(always)]
    fn part(&self, block: usize) -> *mut u8 {
        let buffers = buffers(self.columns.extent, E);
        self.buffer.wrapping_add(block % buffers * (buffer_bytes(self.columns.extent, E) / buffers))
    }
}

/// How many blocks take turns. What was just stored is not there to be read before all that was streamed before it has left, and of
/// small blocks that is much of their time. Rows of whole lines are stored, and there, sooner than those of which each meets its
/// neighbours.
#[inline(always)]
fn buffers(columns: usize, element: usize) -> usize {
    match (columns * element).is_multiple_of(LINE) {
        false if columns <= DENSE_TURNS => 2,
        _ => 1,
    }
}

/// Copies a block past the cache, but for what is no whole line, and asks for a line with each.
///
/// # Safety
/// `len` bytes must be readable at `from` and writable at `to`, without overlap.
#[inline(always)]
unsafe fn stream_block<L: Lanes>(lanes: L, from: *const u8, to: *mut u8, len: usize, ahead: Ahead) {
    let head = (to.addr().wrapping_neg() % LINE).min(len);
    // SAFETY: head, lines and tail are disjoint parts of the `len` bytes; `to + head` is a multiple of a line.
    unsafe {
        copy_short(from, to, head);
        let (mut at, mut number) = (head, 0);
        while at + LINE <= len {
            stream_line(lanes, from.add(at), to.add(at));
            ahead.ask_lines(lanes, number, 1);
            at += LINE;
            number += 1;
        }
        copy_short(from.add(at), to.add(at), len - at);
    }
}

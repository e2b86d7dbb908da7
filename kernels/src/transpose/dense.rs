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
use crate::tuning::{DENSE_AHEAD, DENSE_NEAR, DENSE_ROW, DENSE_TURNS, dense_bytes, dense_lines, is_amd};
use crate::walk::Point;

/// As [`Transpose`](crate::transpose::stored::Transpose), streaming, where each row continues the one before.
#[derive(Clone, Copy)]
pub(crate) struct StreamDense<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
    pub(crate) blocks: Blocks,
    /// Room for the [`Blocks::bytes`].
    pub(crate) buffer: *mut u8,
}

/// The rows that are gathered together.
#[derive(Clone, Copy)]
pub(crate) struct Blocks {
    /// Lines of every column that become a block.
    lines: usize,
    /// Bytes of a block.
    bytes: usize,
    /// How many take turns. What was just stored is not there to be read before all that was streamed before it has left, and of
    /// small blocks that is much of their time. Rows of whole lines are stored, and there, sooner than those of which each meets
    /// its neighbours.
    buffers: usize,
    /// True where all of the next block is asked for at once.
    are_asked_for_together: bool,
}

impl Blocks {
    /// For so many columns of elements of so many bytes.
    pub(crate) fn new(columns: usize, element: usize) -> Blocks {
        let lines = dense_lines(columns, element);
        let take_turns = is_amd() && columns <= DENSE_TURNS && !(columns * element).is_multiple_of(LINE);
        Blocks {
            lines,
            bytes: columns * LINE * lines,
            buffers: if take_turns { 2 } else { 1 },
            are_asked_for_together: !is_amd() && columns * LINE <= DENSE_NEAR,
        }
    }

    /// Bytes of them all.
    pub(crate) fn bytes(self) -> usize {
        self.buffers * self.bytes
    }
}

/// True where rows follow one another, and are short: some lines, or, where they start none, so long that a line of every column
/// fits the buffer.
pub(crate) fn is_dense(rows: Loop, columns: Loop, element: usize) -> bool {
    let (row, block) = (columns.extent * element, columns.extent * LINE);
    let is_short = match row % LINE {
        0 => row <= DENSE_ROW && block <= DENSE_NEAR,
        _ => block <= dense_bytes(),
    };
    usize::try_from(rows.dst_stride) == Ok(row) && is_short
}

impl<const E: usize, const N: usize> Point for StreamDense<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap, [`is_dense`] true of them, and
    /// the blocks' bytes writable at `buffer`.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let row_bytes = self.columns.extent * E;
        let Blocks { lines, buffers, are_asked_for_together, .. } = self.blocks;
        let some = lines * (LINE / E);
        let blocks = self.rows.extent.div_ceil(some);
        let rows = |block: usize| some.min(self.rows.extent - block * some);
        let ahead = |block: usize| {
            Ahead::of_lines(src.wrapping_add(block * some * E), self.columns.src_stride, lines)
        };
        // Not those of the next block: the last ones would be asked for when the first ones are wanted.
        let apart = DENSE_AHEAD.div_ceil(lines * self.columns.extent).max(2);
        let mut block = 0;
        while block < blocks + buffers - 1 {
            // SAFETY: rows of the plane; they fit a part of the buffer, and are written before they are read.
            unsafe {
                if block < blocks {
                    if are_asked_for_together {
                        ahead(block + 1).ask_lines(lanes, 0, lines * self.columns.extent);
                    }
                    let (from, to) = (src.wrapping_add(block * some * E), self.part(block));
                    plane::<L, E, N>(
                        lanes,
                        self.columns,
                        Loop { extent: rows(block), ..self.rows },
                        from,
                        to,
                    );
                }
                if let Some(done) = block.checked_sub(buffers - 1) {
                    let ahead = (!are_asked_for_together).then(|| ahead(done + apart));
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
        self.buffer.wrapping_add(block % self.blocks.buffers * self.blocks.bytes)
    }
}

/// Copies a block past the cache, but for what is no whole line, and may ask for a line with each.
///
/// # Safety
/// `len` bytes must be readable at `from` and writable at `to`, without overlap.
#[inline(always)]
unsafe fn stream_block<L: Lanes>(lanes: L, from: *const u8, to: *mut u8, len: usize, ahead: Option<Ahead>) {
    let head = (to.addr().wrapping_neg() % LINE).min(len);
    // SAFETY: head, lines and tail are disjoint parts of the `len` bytes; `to + head` is a multiple of a line.
    unsafe {
        copy_short(from, to, head);
        let (mut at, mut number) = (head, 0);
        while at + LINE <= len {
            stream_line(lanes, from.add(at), to.add(at));
            if let Some(ahead) = ahead {
                ahead.ask_lines(lanes, number, 1);
            }
            at += LINE;
            number += 1;
        }
        copy_short(from.add(at), to.add(at), len - at);
    }
}

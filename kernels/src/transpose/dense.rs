//! Transposes whose rows follow one another in the destination without gaps, written past the cache.
//!
//! Rows of a few lines seldom start or end with one, and each such line would have to be read first. Together they are one stream:
//! the rows of a line of every column are transposed into a buffer that stays in the near caches, and go from there in
//! whole lines, as many as were read; the line in which a block ends waits for the next one's first bytes. Lines of the blocks that follow
//! are asked for among those that leave.

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::processor::is_amd;
use crate::rows::border::Border;
use crate::rows::stream_asking;
use crate::transpose::ahead::Ahead;
use crate::transpose::stored::plane;
use crate::tuning::{
    DENSE_AHEAD, DENSE_NEAR, DENSE_ROW, DENSE_TURNS, dense_bytes, dense_lines, gathers_behind_lines,
};
use crate::walk::Point;

/// As [`Transpose`](crate::transpose::stored::Transpose), streaming, where each row continues the one before.
#[derive(Clone, Copy)]
pub(crate) struct StreamDense<'a, const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
    pub(crate) blocks: Blocks,
    /// Room for the [`Blocks::bytes`].
    pub(crate) buffer: *mut u8,
    /// Between a block and the one behind it.
    pub(crate) border: &'a Border,
}

/// The rows that are gathered together.
#[derive(Clone, Copy, Debug)]
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
    /// For transposes that gather nothing.
    pub(crate) const NONE: Blocks = Blocks { lines: 1, bytes: 0, buffers: 0, are_asked_for_together: false };

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

/// True where rows follow one another, and are short: some lines, or, where they start none as the first one does, or other ones, so long
/// that a line of every column fits the buffer.
pub(crate) fn is_dense(rows: Loop, columns: Loop, element: usize, dst: *mut u8) -> bool {
    let (row, block) = (columns.extent * element, columns.extent * LINE);
    // Of few rows, as the words of a tile are, others go on with those of the next loop.
    let are_lines = rows.extent * element >= LINE;
    let is_behind = gathers_behind_lines(row) && are_lines && !dst.addr().is_multiple_of(LINE);
    let is_short = match row % LINE {
        0 if !is_behind => row <= DENSE_ROW && block <= DENSE_NEAR,
        _ => block <= dense_bytes(),
    };
    usize::try_from(rows.dst_stride) == Ok(row) && is_short
}

impl<const E: usize, const N: usize> Point for StreamDense<'_, E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap, [`is_dense`] true of them, and
    /// the blocks' bytes writable at `buffer`.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let Blocks { lines, buffers, are_asked_for_together, .. } = self.blocks;
        let block_lines = lines * self.columns.extent;
        let blocks = self.rows.extent.div_ceil(lines * (LINE / E));
        // Not those of the next block: the last ones would be asked for when the first ones are wanted.
        let apart = DENSE_AHEAD.div_ceil(block_lines).max(2);
        let mut block = 0;
        while block < blocks + buffers - 1 {
            // SAFETY: blocks of the plane; they fit a part of the buffer, and are gathered before they are streamed.
            unsafe {
                if block < blocks {
                    if are_asked_for_together {
                        self.lines_of(block + 1, src).ask_lines(lanes, 0, block_lines);
                    }
                    self.gather(lanes, block, src);
                }
                if block + 1 >= buffers {
                    let done = block + 1 - buffers;
                    let mut ahead = None;
                    if !are_asked_for_together {
                        ahead = Some(self.lines_of(done + apart, src));
                    }
                    self.leave(lanes, done, dst, ahead);
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

impl<const E: usize, const N: usize> StreamDense<'_, E, N> {
    /// The first row of a block, and how many it has.
    #[inline(always)]
    fn rows_of(&self, block: usize) -> (usize, usize) {
        let most = self.blocks.lines * (LINE / E);
        let first = block * most;
        (first, most.min(self.rows.extent - first))
    }

    /// The lines that a block is made from, if the plane goes on so far.
    #[inline(always)]
    fn lines_of(&self, block: usize, src: *const u8) -> Ahead {
        let from = src.wrapping_add(block * self.blocks.lines * LINE);
        Ahead::of_lines(from, self.columns.src_stride, self.blocks.lines)
    }

    /// Room for a block.
    #[inline(always)]
    fn part(&self, block: usize) -> *mut u8 {
        self.buffer.wrapping_add(block % self.blocks.buffers * self.blocks.bytes)
    }

    /// Transposes a block into the buffer.
    ///
    /// # Safety
    /// As [`StreamDense::point`]; there must be such a block.
    #[inline(always)]
    unsafe fn gather<L: Lanes>(&self, lanes: L, block: usize, src: *const u8) {
        let (first, count) = self.rows_of(block);
        let rows = Loop { extent: count, ..self.rows };
        // SAFETY: the caller's promise; these are the rows of a part of the plane, and the buffer has room for them.
        unsafe {
            plane::<L, E, N>(lanes, self.columns, rows, src.wrapping_add(first * E), self.part(block));
        }
    }

    /// Streams a block that was gathered, and asks for lines, if any, among its own.
    ///
    /// # Safety
    /// As [`StreamDense::gather`], which must have been called for it.
    #[inline(always)]
    unsafe fn leave<L: Lanes>(&self, lanes: L, block: usize, dst: *mut u8, ahead: Option<Ahead>) {
        let (first, count) = self.rows_of(block);
        let row = self.columns.extent * E;
        let (from, to, len) = (self.part(block), dst.wrapping_add(first * row), count * row);
        let (head, rest) = (to.addr().wrapping_neg() % LINE, to.wrapping_add(len).addr() % LINE);
        // SAFETY: the caller's promise; the rows follow one another, and have a line before the last one's end.
        unsafe {
            if len < 2 * LINE {
                return stream_asking(lanes, from, to, len, ahead);
            }
            if head > 0 {
                self.border.begin(lanes, from, to);
            }
            stream_asking(lanes, from.add(head), to.wrapping_add(head), len - head - rest, ahead);
            if rest > 0 {
                self.border.end(lanes, from.add(len - LINE), to.wrapping_add(len));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::buffer::AlignedBuffer;
    use crate::convert::flush::walk_at_level;

    /// Transposes `columns` of `rows` elements, one behind the other, to rows from `first` on, and compares the whole: whatever
    /// this processor would gather together.
    fn check<const E: usize, const N: usize>(rows: usize, columns: usize, first: usize) {
        let src: Vec<u8> =
            (0..rows * columns * E).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let mut dst = AlignedBuffer::zeroed(src.len() + 2 * LINE).unwrap();
        let dst = &mut dst[..];
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let (from, to) = ((column * rows + row) * E, first + (row * columns + column) * E);
            wanted[to..to + E].copy_from_slice(&src[from..from + E]);
        }
        let levels = [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available());
        let ways = [(1, 1), (1, 2), (2, 1), (4, 2)].into_iter().flat_map(|way| [(way, false), (way, true)]);
        for (level, ((lines, buffers), are_asked_for_together)) in
            levels.into_iter().flat_map(|level| ways.clone().map(move |way| (level, way)))
        {
            let bytes = columns * LINE * lines;
            let blocks = Blocks { lines, bytes, buffers, are_asked_for_together };
            let mut buffer = AlignedBuffer::zeroed(blocks.bytes()).unwrap();
            let border = Border::new();
            let kernel = StreamDense::<E, N> {
                columns: Loop { extent: columns, src_stride: (rows * E) as isize, dst_stride: E as isize },
                rows: Loop { extent: rows, src_stride: E as isize, dst_stride: (columns * E) as isize },
                blocks,
                buffer: buffer.as_mut_ptr(),
                border: &border,
            };
            dst.fill(0xA5);
            let places = (src.as_ptr(), dst[first..].as_mut_ptr());
            // SAFETY: all places lie in the two buffers, and the blocks in theirs; a thread sees what it streamed itself.
            let done = unsafe {
                let done = walk_at_level(level, &[], places, kernel);
                border.finish();
                done
            };
            assert!(
                done && dst == wanted,
                "{level}: {rows} x {columns} of {E} bytes from {first} on, {blocks:?}"
            );
        }
    }

    #[test]
    fn few_rows_of_whole_lines_are_not_gathered_wherever_they_start() {
        let rows = |extent| Loop { extent, src_stride: 4, dst_stride: 512 };
        let columns = Loop { extent: 128, src_stride: 4096, dst_stride: 4 };
        let [start, inside] = [LINE, LINE + 16].map(core::ptr::without_provenance_mut::<u8>);
        assert!([start, inside].iter().all(|&dst| !is_dense(rows(4), columns, 4, dst)));
        assert!(!is_dense(rows(16), columns, 4, start));
        assert_eq!(is_dense(rows(16), columns, 4, inside), gathers_behind_lines(512));
    }

    #[test]
    fn rows_are_whole_whatever_is_gathered() {
        for (rows, columns, first) in [(1000, 9, 0), (333, 24, 0), (130, 64, 0), (200, 100, 3), (70, 333, 0)]
        {
            check::<1, 16>(rows, columns, first);
            check::<2, 8>(rows, columns, 2 * first);
            check::<4, 4>(rows, columns, 4 * first);
            check::<8, 2>(rows, columns, 8 * first);
        }
    }
}

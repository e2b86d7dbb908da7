//! One stream that becomes a few rows, and rows made of pieces, written past the cache where rows start anywhere.
//!
//! A piece of a row seldom starts or ends a line, but the next piece goes on where it ended: every row carries the bytes
//! behind its last whole line over to its next piece, so that each line is written once and whole.

mod joined;

use crate::deinterleave::{unzip_part, unzip_rows};
use crate::lanes::{LINE, Lanes, copy_line, next_line, stream_line};
use crate::nest::Loop;
use crate::rows::border::Border;
use crate::rows::carry::emit_lines;
use crate::rows::pieces::Pieces;
use crate::tuning::ragged_ahead;
use crate::walk::{Point, each_point};

/// Takes pieces of `K` rows from a stream of elements of `E` bytes; with `K` = 1 the piece is copied.
#[derive(Clone, Copy)]
struct StreamRows<'a, const E: usize, const K: usize> {
    /// From one piece of a row to the next; continues `along` in the destination.
    next: Loop,
    /// From `K` rows to the next `K`.
    more: Loop,
    /// From row to row; consecutive elements of the source.
    across: Loop,
    /// Along a piece, of whole lines and at least a register.
    along: Loop,
    /// Elements of a row behind its last piece, fewer than a piece.
    rest: usize,
    /// How far ahead of its loads the stream is asked for, in bytes.
    ahead: usize,
    /// For every row the line before its next piece, a piece, and the row's first line; at the start of a line.
    carry: *mut u8,
    /// Between the last of the rows and what comes behind it.
    border: &'a Border,
}

/// Moves `across.extent` rows of pieces from a stream of elements of so many bytes, past the cache; false, and nothing is
/// moved, where there is no kernel for them.
///
/// # Safety
/// All places of the loops, and the rest of each row, must be valid on both sides, without overlap; `across` must be
/// consecutive elements of the source, which `along` advances by all of them, and `along` consecutive in the destination.
#[allow(dead_code)] // portable targets have no lanes
#[inline(never)]
pub(crate) unsafe fn stream_rows<L: Lanes>(
    lanes: L,
    element: usize,
    across: Loop,
    pieces: Pieces<'_>,
    src: *const u8,
    dst: *mut u8,
) -> bool {
    let Pieces { before, next, more, along, rest } = pieces;
    let (border, ahead) = (Border::new(), ragged_ahead());
    let mut carry = vec![0u8; more.extent * across.extent * pitch(along.extent * element) + LINE];
    let carry = next_line(carry.as_mut_ptr());
    macro_rules! run {
        ($($e:literal: $($k:literal)*;)*) => {
            match (element, across.extent) {
                // SAFETY: the caller's promise; the buffers live until the end of this function.
                $($(($e, $k) => unsafe {
                    let kernel = StreamRows::<$e, $k> { next, more, across, along, rest, ahead, carry, border: &border };
                    each_point(lanes, before, src, dst, kernel);
                    border.finish();
                })*)*
                _ => return false,
            }
        };
    }
    run!(1: 1 2 3 4 5 6 7 8; 2: 2 3 4 5 6 7 8; 4: 2 3 4 5 6 7 8; 8: 2 3 4;);
    true
}

/// Bytes from the carry of one row to that of the next, for pieces of so many bytes.
#[inline(always)]
fn pitch(piece: usize) -> usize {
    LINE + piece + LINE
}

impl<const E: usize, const K: usize> Point for StreamRows<'_, E, K> {
    /// # Safety
    /// All places of the four loops, and the rest of each row, must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut step = 0;
        while step <= self.next.extent {
            let from = src.wrapping_offset(step as isize * self.next.src_stride);
            let to = dst.wrapping_offset(step as isize * self.next.dst_stride);
            let mut group = 0;
            while group < self.more.extent {
                let from = from.wrapping_offset(group as isize * self.more.src_stride);
                let to = to.wrapping_offset(group as isize * self.more.dst_stride);
                // SAFETY: `K` pieces of rows, or what is behind them.
                unsafe {
                    if step == self.next.extent {
                        self.end(lanes, from, to, group);
                    } else if L::BYTES == LINE {
                        self.join_lines(lanes, from, to, group, step);
                    } else {
                        self.join_pieces(lanes, from, to, group, step == 0);
                    }
                }
                group += 1;
            }
            step += 1;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const K: usize> StreamRows<'_, E, K> {
    /// Bytes of a piece.
    #[inline(always)]
    fn piece(&self) -> usize {
        self.along.extent * E
    }

    /// The buffer of a row.
    #[inline(always)]
    fn buffer(&self, group: usize, row: usize) -> *mut u8 {
        self.carry.wrapping_add((group * K + row) * pitch(self.piece()))
    }

    /// The place of a row.
    #[inline(always)]
    fn row_place(&self, dst: *mut u8, row: usize) -> *mut u8 {
        dst.wrapping_offset(row as isize * self.across.dst_stride)
    }

    /// True where a row begins where the one before it ends; there may be none before the first row, or behind the last.
    #[inline(always)]
    fn follows(&self, group: usize, row: usize) -> bool {
        let bytes = (self.next.extent * self.piece() + self.rest * E) as isize;
        match row {
            0 if group == 0 || group == self.more.extent => false,
            0 => self.more.dst_stride == bytes + (K as isize - 1) * self.across.dst_stride,
            _ => self.across.dst_stride == bytes,
        }
    }

    /// Begins a row inside a line: the row's first line, which lies behind its piece, is written with the end of the row
    /// before.
    ///
    /// # Safety
    /// A line must be writable at `to`, where the row begins.
    #[inline(always)]
    unsafe fn begin<L: Lanes>(&self, lanes: L, group: usize, row: usize, to: *mut u8) {
        if !self.follows(group, row) {
            let head = self.buffer(group, row).wrapping_add(LINE + self.piece());
            // SAFETY: the caller's promise.
            unsafe { self.border.begin(lanes, head, to) };
        }
    }

    /// A piece of `K` rows by way of a buffer behind each row's carry.
    ///
    /// # Safety
    /// As [`Point::point`], for one piece of a group of `K` rows.
    #[inline(always)]
    unsafe fn join_pieces<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        group: usize,
        is_first: bool,
    ) {
        let piece = self.piece();
        let (count, pitch) = (self.along.extent, pitch(piece) as isize);
        if K == 1 {
            self.ask(lanes, src);
            // SAFETY: the same demands.
            return unsafe { self.join_copied(lanes, src, dst, group, is_first) };
        }
        // SAFETY: buffers have room for a piece of each row behind its carry, and for its first line behind that.
        unsafe {
            unzip_rows::<L, E, K>(lanes, count, pitch, src, self.buffer(group, 0).add(LINE), None);
            let mut row = 0;
            while row < K {
                let (buffer, to) = (self.buffer(group, row), self.row_place(dst, row));
                let begins = is_first && !to.addr().is_multiple_of(LINE);
                if begins {
                    copy_line(lanes, buffer.add(LINE), buffer.add(LINE + piece));
                    self.begin(lanes, group, row, to);
                }
                // One by one, among the lines that leave: asked for all at once, they hold up what is asked for next.
                let asked = src.wrapping_add(self.ahead + row * piece);
                emit_lines(lanes, buffer, to, if begins { LINE } else { 0 }..piece, Some(asked));
                row += 1;
            }
        }
    }

    /// A piece of one row: all lines but the first are read where they lie.
    ///
    /// # Safety
    /// As [`StreamRows::join_pieces`].
    #[inline(always)]
    unsafe fn join_copied<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        to: *mut u8,
        group: usize,
        is_first: bool,
    ) {
        let (piece, buffer, before) = (self.piece(), self.buffer(group, 0), to.addr() % LINE);
        let line = to.wrapping_sub(before);
        // SAFETY: the piece is whole lines; the buffer's first line ends with the `before` bytes in front of it, unless it is
        // the first, and has room for a line behind that, and for the row's first line behind a piece.
        unsafe {
            copy_line(lanes, src, buffer.add(LINE));
            if is_first && before > 0 {
                copy_line(lanes, src, buffer.add(LINE + piece));
                self.begin(lanes, group, 0, to);
            } else {
                stream_line(lanes, buffer.add(LINE - before), line);
            }
            let mut at = LINE;
            while at < piece {
                stream_line(lanes, src.add(at - before), line.wrapping_add(at));
                at += LINE;
            }
            copy_line(lanes, src.add(piece - LINE), buffer);
        }
    }

    /// Asks for the lines of `K` pieces of the stream ahead.
    #[inline(always)]
    fn ask<L: Lanes>(&self, lanes: L, src: *const u8) {
        let mut line = 0;
        while line < K * self.piece() {
            lanes.prefetch(src.wrapping_add(self.ahead + line));
            line += LINE;
        }
    }

    /// What a group of `K` rows still carries, the rest of each, and the beginnings of those that follow, as whole lines.
    ///
    /// # Safety
    /// As [`Point::point`], for what is behind the last piece of a group of `K` rows.
    #[inline(always)]
    unsafe fn end<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, group: usize) {
        let rest = self.rest * E;
        self.ask(lanes, src);
        // SAFETY: buffers have room for the rest of each row, and a line, behind its carry, which ends with what belongs
        // before the rest; a row's own first line, over which that may be written, is no longer needed.
        unsafe {
            let to = self.buffer(group, 0).add(LINE);
            if rest >= L::BYTES {
                unzip_rows::<L, E, K>(lanes, self.rest, pitch(self.piece()) as isize, src, to, None);
            } else if rest > 0 {
                unzip_part::<L, E, K>(lanes, self.rest, pitch(self.piece()) as isize, src, to);
            }
            let mut row = 0;
            while row < K {
                self.end_row(lanes, self.row_place(dst, row), group, row);
                row += 1;
            }
        }
    }

    /// # Safety
    /// As [`StreamRows::end`], for one row, whose rest belongs at `to` and lies behind its carry.
    #[inline(always)]
    unsafe fn end_row<L: Lanes>(&self, lanes: L, to: *mut u8, group: usize, row: usize) {
        let (buffer, rest, before) = (self.buffer(group, row), self.rest * E, to.addr() % LINE);
        let goes_on = if row + 1 < K { self.follows(group, row + 1) } else { self.follows(group + 1, 0) };
        let mut len = before + rest;
        // SAFETY: the caller's promise; where a row follows, the bytes behind this one are those that it begins with, as many
        // as its first line has at least.
        unsafe {
            if goes_on {
                let head = buffer.add(pitch(self.piece()) + LINE + self.piece());
                copy_line(lanes, head, buffer.add(LINE + rest));
                len = len.next_multiple_of(LINE);
            }
            let mut at = 0;
            while at + LINE <= len {
                stream_line(lanes, buffer.add(LINE - before + at), to.wrapping_sub(before).wrapping_add(at));
                at += LINE;
            }
            if at < len {
                self.border.end(lanes, buffer.add(rest), to.wrapping_add(rest));
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
    use crate::loops::ONCE;

    /// Pieces of a row, elements of a piece and behind the last one, and bytes from row to row.
    const PIECES: usize = 3;
    const PIECE: usize = 128;
    const REST: usize = 40;
    const PITCH: usize = 4096;

    /// Takes four rows of elements of two bytes from a stream that has two of them in turn, so many bytes behind the start of a line.
    fn check(level: Level, behind: usize) {
        let tile = 4 * PIECE;
        let src: Vec<u8> =
            (0..(PIECES + 1) * tile * 2).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let mut dst = AlignedBuffer::zeroed(4 * PITCH).unwrap();
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        for (i, element) in src.chunks_exact(2).enumerate() {
            let (piece, pair, at, way) = (i / tile, i / (2 * PIECE) % 2, i / 2 % PIECE, i % 2);
            if piece < PIECES || at < REST {
                let place = (2 * pair + way) * PITCH + (piece * PIECE + at) * 2 + behind;
                wanted[place..][..2].copy_from_slice(element);
            }
        }
        let next = Loop { extent: PIECES, src_stride: 2 * tile as isize, dst_stride: 2 * PIECE as isize };
        let more = Loop { extent: 2, src_stride: tile as isize, dst_stride: 2 * PITCH as isize };
        let across = Loop { extent: 2, src_stride: 2, dst_stride: PITCH as isize };
        let along = Loop { extent: PIECE, src_stride: 4, dst_stride: 2 };
        let mut carry = AlignedBuffer::zeroed(4 * pitch(2 * PIECE)).unwrap();
        let (border, carry) = (Border::new(), carry.as_mut_ptr());
        let kernel =
            StreamRows::<2, 2> { next, more, across, along, rest: REST, ahead: 4096, carry, border: &border };
        let places = (src.as_ptr(), dst.as_mut_ptr().wrapping_add(behind));
        // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
        let done = unsafe {
            let done = walk_at_level(level, &[ONCE], places, kernel);
            border.finish();
            done
        };
        assert!(done && dst[..] == wanted[..], "{level}, {behind} bytes behind a line");
    }

    #[test]
    fn rows_that_start_lines_are_joined_like_any() {
        for level in [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()) {
            [0, 2, 33, 62].into_iter().for_each(|behind| check(level, behind));
        }
    }
}

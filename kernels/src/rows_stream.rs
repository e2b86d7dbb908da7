//! One stream that becomes a few rows, and rows made of pieces, written past the cache where rows start anywhere.
//!
//! A piece of a row seldom starts or ends a line, but the next piece goes on where it ended: every row carries the bytes
//! behind its last whole line over to its next piece, so that each line is written once and whole.

use crate::deinterleave::{AHEAD_IN_STREAM, unzip_rows};
use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::rows::copy_short;
use crate::walk::Point;

/// Takes pieces of `K` rows from a stream of elements of `E` bytes; with `K` = 1 the piece is copied.
#[derive(Clone, Copy)]
pub(crate) struct StreamRows<const E: usize, const K: usize> {
    /// From one piece of a row to the next; continues `along` in the destination.
    pub(crate) next: Loop,
    /// From `K` rows to the next `K`.
    pub(crate) more: Loop,
    /// From row to row; consecutive elements of the source.
    pub(crate) across: Loop,
    /// Along a piece, of whole lines and at least a register.
    pub(crate) along: Loop,
    /// [`carry_bytes`] bytes at the start of a line.
    pub(crate) carry: *mut u8,
}

/// Bytes of carry buffer for so many rows of pieces of `piece` bytes.
pub(crate) fn carry_bytes(rows: usize, piece: usize) -> usize {
    rows * (LINE + piece)
}

impl<const E: usize, const K: usize> Point for StreamRows<E, K> {
    /// # Safety
    /// All places of the four loops must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let piece = self.along.extent * E;
        let pitch = LINE + piece;
        let mut step = 0;
        while step < self.next.extent {
            let from = src.wrapping_offset(step as isize * self.next.src_stride);
            let to = dst.wrapping_offset(step as isize * self.next.dst_stride);
            let mut group = 0;
            while group < self.more.extent {
                let from = from.wrapping_offset(group as isize * self.more.src_stride);
                let to = to.wrapping_offset(group as isize * self.more.dst_stride);
                let mut line = 0;
                while line < K * piece {
                    lanes.prefetch(from.wrapping_add(AHEAD_IN_STREAM + line));
                    line += LINE;
                }
                // SAFETY: `K` pieces, each into the buffer of its row, of which there are `K` for every group.
                unsafe {
                    let buffer = self.carry.add(group * K * pitch);
                    unzip_rows::<L, E, K>(
                        lanes,
                        self.along.extent,
                        pitch as isize,
                        from,
                        buffer.add(LINE),
                        false,
                    );
                    let mut row = 0;
                    while row < K {
                        let to = to.wrapping_offset(row as isize * self.across.dst_stride);
                        emit(lanes, buffer.add(row * pitch), to, piece, step == 0);
                        row += 1;
                    }
                }
                group += 1;
            }
            step += 1;
        }
        for row in 0..self.more.extent * K {
            let end = dst
                .wrapping_offset((row / K) as isize * self.more.dst_stride)
                .wrapping_offset((row % K) as isize * self.across.dst_stride)
                .wrapping_add(self.next.extent * piece);
            // SAFETY: all rows have had their pieces, so the carry ends with what belongs before `end`.
            unsafe { flush(self.carry.wrapping_add(row * pitch), end) };
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

/// Writes the whole lines that one row's buffer holds, and carries the rest.
///
/// # Safety
/// `buffer` must hold a line, of which the end is carried unless `is_first`, and behind it `len` bytes, whole lines, that
/// belong at `to`.
#[inline(always)]
pub(crate) unsafe fn emit<L: Lanes>(lanes: L, buffer: *mut u8, to: *mut u8, len: usize, is_first: bool) {
    let before = to.addr() % LINE;
    let line = to.wrapping_sub(before);
    // SAFETY: the buffer's first line ends with the `before` bytes in front of `to`; with them the piece is whole lines
    // and `before` bytes more, which go to the end of the first line for the next piece.
    unsafe {
        let mut at = 0;
        if is_first && before > 0 {
            copy_short(buffer.add(LINE), to, LINE - before);
            at = LINE;
        }
        while at < len {
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
            lanes.store(buffer.add(part), lanes.load(buffer.add(len + part)));
            part += L::BYTES;
        }
    }
}

/// Writes what a row still carries in front of its end.
///
/// # Safety
/// `carry` must be a line that ends with the bytes that belong before `end`, back to the start of `end`'s line.
#[inline(always)]
pub(crate) unsafe fn flush(carry: *const u8, end: *mut u8) {
    let rest = end.addr() % LINE;
    // SAFETY: the caller's promise.
    unsafe { copy_short(carry.add(LINE - rest), end.wrapping_sub(rest), rest) };
}

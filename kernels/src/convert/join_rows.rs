//! Rows that start no lines of the destination, written past the cache as whole lines all the same.
//!
//! A row is made of pieces that are read from several places of a stream. Where a line of the row goes on in the next piece,
//! it is put together from the end of this one and the start of the next, which is read for it once more: nothing is carried
//! from piece to piece, and every line is written once. Only the first and the last line of a row are written in part.

use super::cast_rows::Cast;
use super::casts::{Read, Write};
use super::words::{Means, Words};
use crate::lanes::LINE;
use crate::rows::copy_short;

/// Where a piece lies in its row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    /// From the piece in the source to the next one of the same row, in bytes.
    pub(super) next: isize,
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

impl<M: Means, R: Read, W: Write> Cast<'_, M, R, W> {
    /// Each word of a stream has an element for each of a few rows, `step` apart, of which pieces are written; `N` elements
    /// are a line.
    ///
    /// # Safety
    /// As [`cast`](super::cast_rows::cast); the piece must be whole lines and start an element of a line, and the next piece
    /// must be readable unless this is the last.
    #[inline(always)]
    pub(super) unsafe fn join<const N: usize>(self, step: isize, piece: Piece) {
        let mut row = 0;
        while row < self.rows.rows as isize {
            let (src, dst) = self.rows.starts(row);
            let mut way = 0;
            while way < 4 / R::BYTES {
                // SAFETY: the piece of one of the rows.
                unsafe { self.join_piece::<N>(src, dst.wrapping_offset(way as isize * step), way, piece) };
                way += 1;
            }
            row += 1;
        }
    }

    /// # Safety
    /// As [`Cast::join`], for one row.
    #[inline(always)]
    unsafe fn join_piece<const N: usize>(self, src: *const u8, dst: *mut u8, way: usize, piece: Piece) {
        let count = self.rows.count;
        // Elements before the first line that starts in the piece: the line before has them, but for the first piece's.
        let head = dst.addr().wrapping_neg() % LINE / W::BYTES;
        let mut at = head;
        // SAFETY: blocks inside the piece, and one that goes on in the next; `to` starts a line wherever one is streamed.
        unsafe {
            if piece.is_first && head > 0 {
                self.store_part::<N>(self.words(src, way), 0, head, dst);
            }
            while at + N <= count {
                let from = src.add(4 * at);
                if way == 0 {
                    self.rows.look_ahead(self.means.lanes(), from, 4 * N);
                }
                self.means.write(W::BYTES, &self.words::<N>(from, way), dst.add(W::BYTES * at), true);
                at += N;
            }
            let rest = count - at;
            if rest == 0 {
                return;
            }
            let last = src.add(4 * (count - N));
            if piece.is_last {
                return self.store_part::<N>(self.words(last, way), N - rest, rest, dst.add(W::BYTES * at));
            }
            let line = self.straddling::<N>(last, src.wrapping_offset(piece.next), N - rest, way);
            self.means.write(W::BYTES, &line, dst.add(W::BYTES * at), true);
        }
    }

    /// What becomes of the `N` elements of a way from word `first` on of `N` words and `N` more.
    ///
    /// # Safety
    /// `N` words must be readable at both places.
    #[inline(always)]
    unsafe fn straddling<const N: usize>(
        self,
        from: *const u8,
        then: *const u8,
        first: usize,
        way: usize,
    ) -> Words<N> {
        let mut both = [Words([0; N]); 2];
        let room = both.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's promise, and room for both places' words.
        unsafe {
            self.means.write(4, &self.means.read::<N>(4, from), room, false);
            self.means.write(4, &self.means.read::<N>(4, then), room.add(4 * N), false);
            self.words(room.add(4 * first), way)
        }
    }

    /// What becomes of the elements of a way.
    ///
    /// # Safety
    /// `N` words must be readable at `from`.
    #[inline(always)]
    unsafe fn words<const N: usize>(self, from: *const u8, way: usize) -> Words<N> {
        // SAFETY: the caller's promise.
        let stream = unsafe { self.means.read::<N>(4, from) };
        let mut words = stream.taken(R::BYTES, way);
        self.read.decode(self.means, &mut words);
        self.write.encode(self.means, &mut words);
        words
    }

    /// Writes `count` elements of a line, from one on.
    ///
    /// # Safety
    /// They must be writable at `to`; there must be so many in the line, and at least one less than it has.
    #[inline(always)]
    unsafe fn store_part<const N: usize>(self, words: Words<N>, first: usize, count: usize, to: *mut u8) {
        let mut line = Words([0; N]);
        let room = line.0.as_mut_ptr().cast::<u8>();
        // SAFETY: a line, of elements at most as wide as words; and the caller's promise.
        unsafe {
            self.means.write(W::BYTES, &words, room, false);
            copy_short(room.add(W::BYTES * first), to, W::BYTES * count);
        }
    }
}

//! Rows that start no lines of the destination, written past the cache as whole lines all the same.
//!
//! A row is made of pieces that are read from several places of a stream. Where a line of the row goes on in the next piece,
//! it is put together from the end of this one and the start of the next, which is read for it once more: nothing is carried
//! from piece to piece, and every line is written once. Only the first and the last line of a row are written in part.

use super::multiply::Find;
use super::words::cast_rows::Cast;
use super::words::casts::{Read, Write};
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

/// A way of a stream, whose words have an element of each.
struct Stream<F> {
    src: *const u8,
    /// The place of the way's first element in the source.
    place: isize,
    way: usize,
    factors: F,
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// Each word of a stream has an element for each of a few rows, `step` apart, of which pieces are written; `N` elements
    /// are a line.
    ///
    /// # Safety
    /// As [`cast`](super::words::pairs::cast); the piece must be whole lines and start an element of a line, and the next piece
    /// must be readable unless this is the last.
    #[inline(always)]
    pub(super) unsafe fn join<const N: usize>(self, step: isize, piece: Piece) {
        let mut row = 0;
        while row < self.rows.rows as isize {
            let (src, dst) = self.rows.starts(row);
            let mut way = 0;
            while way < 4 / R::BYTES {
                let mut stream = Stream {
                    src,
                    place: self.rows.src_place(row) + (way * R::BYTES) as isize,
                    way,
                    factors: self.factors(),
                };
                // SAFETY: the piece of one of the rows.
                unsafe { self.join_piece::<N>(&mut stream, dst.wrapping_offset(way as isize * step), piece) };
                way += 1;
            }
            row += 1;
        }
    }

    /// # Safety
    /// As [`Cast::join`], for the row of one way of a stream.
    #[inline(always)]
    unsafe fn join_piece<const N: usize>(self, stream: &mut Stream<F>, dst: *mut u8, piece: Piece) {
        let count = self.rows.count;
        // Elements before the first line that starts in the piece: the line before has them, but for the first piece's.
        let head = dst.addr().wrapping_neg() % LINE / W::BYTES;
        let mut at = head;
        // SAFETY: blocks inside the piece, and one that goes on in the next; `to` starts a line wherever one is streamed.
        unsafe {
            if piece.is_first && head > 0 {
                self.store_part::<N>(self.words(stream, 0), 0, head, dst);
            }
            while at + N <= count {
                if stream.way == 0 {
                    self.rows.look_ahead(self.means.lanes(), stream.src.add(4 * at), 4 * N);
                }
                let words = self.words::<N>(stream, 4 * at as isize);
                self.means.write(W::BYTES, &words, dst.add(W::BYTES * at), true);
                at += N;
            }
            let rest = count - at;
            if rest == 0 {
                return;
            }
            let last = 4 * (count - N) as isize;
            if piece.is_last {
                let words = self.words(stream, last);
                return self.store_part::<N>(words, N - rest, rest, dst.add(W::BYTES * at));
            }
            let line = self.straddling::<N>(stream, [last, piece.next], N - rest);
            self.means.write(W::BYTES, &line, dst.add(W::BYTES * at), true);
        }
    }

    /// What becomes of the `N` elements of a way from element `first` on of the `N` at one place, and those at another.
    ///
    /// # Safety
    /// `N` words must be readable so many bytes behind the stream's first.
    #[inline(always)]
    unsafe fn straddling<const N: usize>(
        self,
        stream: &mut Stream<F>,
        places: [isize; 2],
        first: usize,
    ) -> Words<N> {
        let mut both = [Words([0; N]); 2];
        let mut i = 0;
        while i < 2 {
            // SAFETY: the caller's promise.
            both[i] = unsafe { self.read_way(stream, places[i]) };
            i += 1;
        }
        // SAFETY: there are as many words behind the first `first` of both, which are at most `N`.
        let mut words = unsafe { self.means.read(4, both.as_ptr().cast::<u8>().add(4 * first)) };
        self.write.encode(self.means, &mut words);
        words
    }

    /// What becomes of the elements of a way, so many bytes behind the stream's first.
    ///
    /// # Safety
    /// `N` words must be readable there.
    #[inline(always)]
    unsafe fn words<const N: usize>(self, stream: &mut Stream<F>, before: isize) -> Words<N> {
        // SAFETY: the caller's promise.
        let mut words = unsafe { self.read_way(stream, before) };
        self.write.encode(self.means, &mut words);
        words
    }

    /// The elements of a way, as they stand between the types.
    ///
    /// # Safety
    /// As [`Cast::words`].
    #[inline(always)]
    unsafe fn read_way<const N: usize>(self, stream: &mut Stream<F>, before: isize) -> Words<N> {
        // SAFETY: the caller's promise.
        let all = unsafe { self.means.read::<N>(4, stream.src.wrapping_offset(before)) };
        let mut words = all.taken(R::BYTES, stream.way);
        self.read.decode(self.means, &mut words);
        stream.factors.multiply(self.means, &mut words, stream.place + before, 4);
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

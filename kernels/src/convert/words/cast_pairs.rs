//! Rows of words of which both sides have some: of tiles with two rows to a word, which become tiles with four, and the reverse.
//!
//! A word of pairs of two rows is made of a word of each, so that what converts and what weaves are one, as where elements stay alone.

use crate::convert::each_row::Row;
use crate::convert::multiply::{Find, Multiply};
use crate::convert::one_factor::{Either, Kept, One};
use crate::convert::words::cast_rows::Cast;
use crate::convert::words::casts::{Read, Write};
use crate::convert::words::{BLOCK, Means, Words};
use crate::lanes::apart;

/// Bytes of a word.
const WORD: usize = 4;

/// Does something for each of two, a copy each: what is made of either stays in registers.
macro_rules! each_pair {
    ($number:ident => $body:block) => {
        let $number = 0;
        $body
        let $number = 1;
        $body
    };
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// [`Cast::zip_pairs`] by blocks of the size that is best: in smaller ones compilers take the words of types with few steps, and of
    /// those that are told apart, from their registers.
    ///
    /// # Safety
    /// As [`Cast::zip_pairs`].
    #[inline(always)]
    pub(crate) unsafe fn zips_pairs(self, step: isize, stream: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            match (F::MULTIPLIES, R::IS_ANY) {
                (false, true) => self.zip_pairs::<BLOCK>(step, stream),
                (false, false) if !W::HAS_FEW_STEPS => self.zip_pairs::<{ BLOCK / 4 }>(step, stream),
                _ => self.zip_pairs::<{ BLOCK / 2 }>(step, stream),
            }
        }
    }

    /// [`Cast::unzip_pairs`] likewise.
    ///
    /// # Safety
    /// As [`Cast::unzip_pairs`].
    #[inline(always)]
    pub(crate) unsafe fn unzips_pairs(self, step: isize, stream: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            match (F::MULTIPLIES, R::IS_ANY) {
                (false, _) => self.unzip_pairs::<{ BLOCK / 4 }, { BLOCK / 4 }>(step, stream),
                (true, true) => self.unzip_pairs::<{ BLOCK / 2 }, { BLOCK / 2 }>(step, stream),
                (true, false) => self.unzip_pairs::<{ BLOCK / 2 }, { BLOCK / 4 }>(step, stream),
            }
        }
    }

    /// Two rows of pairs of elements of two bytes, `step` apart, become one of words of four of a byte, by blocks of `N` words.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast), for rows of pairs; the stream starts a line if `stream`.
    #[inline(always)]
    pub(crate) unsafe fn zip_pairs<const N: usize>(self, step: isize, stream: bool) {
        let half = R::BYTES as isize;
        let before = [0, half, step, step + half];
        let mut factors = [self.factors(), self.factors(), self.factors(), self.factors()];
        let mut kept = Kept::new(self.rows.beyond.extent > 1);
        for row in self.rows.each_row() {
            // SAFETY: the caller's promise.
            unsafe {
                match kept.ones::<F, N>(self.rows, &mut factors, row, (before, WORD), 4) {
                    ones if R::IS_ANY => {
                        let mut factors = Either::of_ways(ones, &mut factors);
                        self.zip_pairs_of::<_, N>(row, &mut factors, (before, stream));
                    }
                    Some(mut ones) => self.zip_pairs_of::<One, N>(row, &mut ones, (before, stream)),
                    None => self.zip_pairs_of::<F, N>(row, &mut factors, (before, stream)),
                }
            }
        }
    }

    /// A row of the stream, whose elements are so far from those of its first.
    ///
    /// # Safety
    /// As [`Cast::zip_pairs`].
    #[inline(always)]
    unsafe fn zip_pairs_of<G: Multiply, const N: usize>(
        self,
        row: Row,
        factors: &mut [G; 4],
        (before, stream): ([isize; 4], bool),
    ) {
        let (lanes, count) = (self.means.lanes(), self.rows.count);
        let streamed = apart(stream, N, count);
        let place = self.rows.places(row).0.first;
        let (src, dst) = self.rows.woven_starts(row);
        let mut done = 0;
        while done < count {
            let at = done.min(count - N);
            let (from, place) = (src.wrapping_add(WORD * at), place + (WORD * at) as isize);
            let mut woven = Words::<N>([0; N]);
            each_pair!(pair => {
                let from = from.wrapping_offset(before[2 * pair]);
                self.rows.look_ahead(lanes, from, WORD * N);
                // SAFETY: a block of each row of the source.
                let words = unsafe { self.means.read::<N>(WORD, from) };
                each_pair!(half => {
                    let way = 2 * pair + half;
                    let made = self.made(&mut factors[way], words.taken(R::BYTES, half), place + before[way]);
                    woven.put(&made, W::BYTES, way);
                });
            });
            // SAFETY: as many words of the stream.
            unsafe { self.means.write(WORD, &woven, dst.add(WORD * at), done < streamed) };
            done = at + N;
        }
    }

    /// The reverse: each word of four elements of a byte becomes a pair of each of two rows, `step` apart; by blocks of `N` words, or of
    /// `ONE` where every way has one factor.
    ///
    /// # Safety
    /// As [`Cast::zip_pairs`]; both rows start lines if `stream`.
    #[inline(always)]
    pub(crate) unsafe fn unzip_pairs<const N: usize, const ONE: usize>(self, step: isize, stream: bool) {
        if let Some(widening) = self.tops::<BLOCK>() {
            // SAFETY: the caller's promise.
            return unsafe { self.rows.unzip_pairs_to_tops::<M, N>(self.means, (step, stream), widening) };
        }
        let mut factors = [self.factors(), self.factors(), self.factors(), self.factors()];
        let mut kept = Kept::new(self.rows.beyond.extent > 1);
        for row in self.rows.each_row() {
            // SAFETY: the caller's promise.
            unsafe {
                match kept.ones::<F, N>(self.rows, &mut factors, row, ([0, 1, 2, 3], WORD), 4) {
                    ones if R::IS_ANY => {
                        let mut factors = Either::of_ways(ones, &mut factors);
                        self.unzip_pairs_of::<_, N>(row, &mut factors, (step, stream));
                    }
                    Some(mut ones) => self.unzip_pairs_of::<One, ONE>(row, &mut ones, (step, stream)),
                    None => self.unzip_pairs_of::<F, N>(row, &mut factors, (step, stream)),
                }
            }
        }
    }

    /// A row of the stream, taken apart.
    ///
    /// # Safety
    /// As [`Cast::unzip_pairs`].
    #[inline(always)]
    unsafe fn unzip_pairs_of<G: Multiply, const N: usize>(
        self,
        row: Row,
        factors: &mut [G; 4],
        (step, stream): (isize, bool),
    ) {
        let count = self.rows.count;
        let streamed = apart(stream, N, count);
        let place = self.rows.places(row).0.first;
        let (src, dst) = self.rows.woven_starts(row);
        let mut done = 0;
        while done < count {
            let at = done.min(count - N);
            let from = src.wrapping_add(WORD * at);
            self.rows.look_ahead(self.means.lanes(), from, WORD * N);
            // SAFETY: a block of the stream.
            let words = unsafe { self.means.read::<N>(WORD, from) };
            each_pair!(pair => {
                let place = place + (WORD * at + 2 * pair) as isize;
                let woven = self.pair_of(&mut factors[2 * pair..], &words, (pair, place));
                let to = dst.wrapping_offset(pair as isize * step).wrapping_add(WORD * at);
                // SAFETY: as many words of a row of the destination.
                unsafe { self.means.write(WORD, &woven, to, done < streamed) };
            });
            done = at + N;
        }
    }

    /// Words of one of both pairs of words of a stream, of which the first element is at a place.
    #[inline(always)]
    fn pair_of<G: Multiply, const N: usize>(
        self,
        factors: &mut [G],
        words: &Words<N>,
        (pair, place): (usize, isize),
    ) -> Words<N> {
        if Self::ROUNDS {
            let mut halves = [None; 2];
            each_pair!(half => {
                let mut taken = words.taken(R::BYTES, 2 * pair + half);
                self.read.decode(self.means, &mut taken);
                let place = place + half as isize;
                halves[half] = self.products_of::<G, N>(&mut factors[half], taken, (place, WORD));
            });
            if let [Some(first), Some(second)] = &halves {
                return self.means.zip_tops(first, second);
            }
        }
        let mut woven = Words::<N>([0; N]);
        each_pair!(half => {
            let taken = words.taken(R::BYTES, 2 * pair + half);
            let made = self.made(&mut factors[half], taken, place + half as isize);
            woven.put(&made, W::BYTES, half);
        });
        woven
    }

    /// What becomes of the elements of a way, of which the first is at a place.
    #[inline(always)]
    fn made<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        mut words: Words<N>,
        place: isize,
    ) -> Words<N> {
        self.read.decode(self.means, &mut words);
        factors.multiply(self.means, &mut words, place, WORD);
        self.write.encode(self.means, &mut words);
        words
    }
}

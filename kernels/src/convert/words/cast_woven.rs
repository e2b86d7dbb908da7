//! Rows of the conversions that go by words, a few of which become one stream, or come of one.
//!
//! A word of the stream is made of a word of each row, so that no element changes its place: conversion and weaving are one. The
//! reverse likewise.

use crate::convert::each_row::Row;
use crate::convert::multiply::{Find, Multiply};
use crate::convert::one_factor::{Either, Kept, One};
use crate::convert::rows::Lines;
use crate::convert::words::cast_rows::Cast;
use crate::convert::words::casts::{Read, Write};
use crate::convert::words::{BLOCK, Means, Words};
use crate::deinterleave::unzip_rows;
use crate::lanes::{LINE, Lanes, apart};
use crate::rows::stream_run;

/// Does something for each of two or four ways. Of two there is a copy each, without which their words would not stay in
/// registers.
macro_rules! each_way {
    ($ways:expr, $way:ident => $body:block) => {
        match $ways {
            2 => {
                let $way = 0;
                $body
                let $way = 1;
                $body
            }
            ways => {
                let mut number = 0;
                while number < ways {
                    let $way = number;
                    $body
                    number += 1;
                }
            }
        }
    };
}

/// How far ways with a step between them are from the first.
#[inline(always)]
fn even_ways(step: isize) -> [isize; 4] {
    [0, step, 2 * step, 3 * step]
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// True where the words of a line are one register or two, and types are told apart for each block: compilers would take the words
    /// of such few registers apart, and make anything but registers of them.
    const IS_FEW: bool = R::IS_ANY && 2 * M::Lanes::BYTES >= LINE;

    /// [`Cast::zip`] by blocks of the size that is best; with factors, larger blocks are better where the narrower type takes
    /// many steps, and for types with few of them.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    pub(crate) unsafe fn zips(self, step: isize, stream: bool) {
        // SAFETY: the caller's promise.
        unsafe {
            if W::BYTES == 1 && (F::MULTIPLIES || W::HAS_FEW_STEPS) {
                return self.zip::<BLOCK, BLOCK>(step, stream);
            }
            match R::BYTES {
                4 | 8 if Self::IS_FEW || F::MULTIPLIES => self.zip::<32, 16>(step, stream),
                4 | 8 => self.zip::<16, 16>(step, stream),
                2 => self.zip::<32, 32>(step, stream),
                _ => self.zip::<64, 64>(step, stream),
            }
        }
    }

    /// [`Cast::unzip`], and [`Cast::join`] by lines; false where no block of words is a line, and nothing was done.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    pub(crate) unsafe fn unzips(self, step: isize, lines: Lines) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match (lines, R::BYTES, W::BYTES) {
                (Lines::Joined(_), _, 8) => return false,
                (Lines::Joined(piece), _, 4) => self.join::<16>(step, piece),
                (Lines::Joined(piece), _, 2) => self.join::<32>(step, piece),
                (Lines::Joined(piece), _, _) => self.join::<64>(step, piece),
                (_, 1, _) => self.unzip::<BLOCK>(step, lines),
                (_, _, 4 | 8) if Self::IS_FEW || F::MULTIPLIES => self.unzip::<32>(step, lines),
                (_, _, 4 | 8) => self.unzip::<16>(step, lines),
                (_, _, 2) => self.unzip::<32>(step, lines),
                _ => self.unzip::<64>(step, lines),
            }
        }
        true
    }

    /// Rows `step` apart become one stream, an element of each in a word, by blocks of `N` elements, or of `ONE` where every way has one
    /// factor.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast); the stream starts a line if `stream`.
    #[inline(always)]
    unsafe fn zip<const N: usize, const ONE: usize>(self, step: isize, stream: bool) {
        if let (2, Some(widening), None) = (W::BYTES, self.tops::<N>(), self.rows.ragged) {
            // SAFETY: the caller's promise.
            return unsafe { self.rows.zip_to_tops::<M, N>(self.means, (step, stream), [widening; 2]) };
        }
        let mut factors = [self.factors(), self.factors(), self.factors(), self.factors()];
        let mut kept = Kept::new(self.rows.beyond.extent > 1);
        for row in self.rows.each_row() {
            let place = self.rows.places(row).0.first;
            // SAFETY: the caller's promise.
            unsafe {
                let ones = kept.ones::<F, N>(
                    self.rows,
                    &mut factors,
                    row,
                    (even_ways(step), R::BYTES),
                    4 / W::BYTES,
                );
                match (ones, self.rows.ragged) {
                    (ones, ragged) if R::IS_ANY => {
                        let mut factors = Either::of_ways(ones, &mut factors);
                        match ragged {
                            None => self.zip_row::<_, N>((row, place), &mut factors, (step, stream)),
                            Some(ragged) => self.zip_ragged::<_, N>(ragged, (row, place), &mut factors, step),
                        }
                    }
                    (Some(mut ones), None) => {
                        self.zip_row::<One, ONE>((row, place), &mut ones, (step, stream));
                    }
                    (None, None) => self.zip_row::<F, N>((row, place), &mut factors, (step, stream)),
                    (Some(mut ones), Some(ragged)) => {
                        self.zip_ragged::<One, ONE>(ragged, (row, place), &mut ones, step);
                    }
                    (None, Some(ragged)) => {
                        self.zip_ragged::<F, N>(ragged, (row, place), &mut factors, step);
                    }
                }
            }
        }
    }

    /// A row of the stream.
    ///
    /// # Safety
    /// As [`Cast::zip`].
    #[inline(always)]
    unsafe fn zip_row<G: Multiply, const N: usize>(
        self,
        (row, place): (Row, isize),
        factors: &mut [G; 4],
        (step, stream): (isize, bool),
    ) {
        let count = self.rows.count;
        // Pairs of rows put what their last block has more by itself.
        let streamed = if W::BYTES == 2 && stream { count / N * N } else { apart(stream, N, count) };
        let (src, dst) = self.rows.woven_starts(row);
        let mut done = 0;
        while done < count {
            let at = done.min(count - N);
            // SAFETY: a block of each row of the source.
            let woven = unsafe {
                self.woven::<G, N>(
                    factors,
                    src.wrapping_add(at * R::BYTES),
                    (place + (at * R::BYTES) as isize, step),
                )
            };
            // SAFETY: as many words of the stream, of which those before `done` are written.
            unsafe {
                if W::BYTES == 2 && stream && at < done {
                    let mut room = Words::<N>([0; N]);
                    let room = room.0.as_mut_ptr().cast::<u8>();
                    self.means.write(4, &woven, room, false);
                    let from = room.add(4 * (done - at));
                    stream_run(self.means.lanes(), from, dst.add(4 * done), 4 * (count - done), 0);
                } else {
                    self.means.write(4, &woven, dst.add(4 * at), done < streamed);
                }
            }
            done = at + N;
        }
    }

    /// A block of the stream: of each of a few rows, `step` apart, which are read from one place on, and find their factors from
    /// another.
    ///
    /// # Safety
    /// A block must be readable in each row.
    #[inline(always)]
    pub(super) unsafe fn woven<G: Multiply, const N: usize>(
        self,
        factors: &mut [G; 4],
        src: *const u8,
        (place, step): (isize, isize),
    ) -> Words<N> {
        if M::ROUNDS && Self::IS_ROUNDED {
            let mut ways = [None; 2];
            let mut way = 0;
            while way < 2 {
                let before = way as isize * step;
                self.rows.look_ahead(self.means.lanes(), src.wrapping_offset(before), N * R::BYTES);
                // SAFETY: the caller's promise.
                ways[way] = unsafe {
                    self.products::<G, N>(
                        &mut factors[way],
                        src.wrapping_offset(before),
                        (place + before, R::BYTES),
                    )
                };
                way += 1;
            }
            if let [Some(first), Some(second)] = &ways {
                return self.means.zip_tops(first, second);
            }
        }
        let mut woven = Words::<N>([0; N]);
        each_way!(4 / W::BYTES, way => {
            let before = way as isize * step;
            let from = src.wrapping_offset(before);
            self.rows.look_ahead(self.means.lanes(), from, N * R::BYTES);
            // SAFETY: the caller's promise.
            let mut words = unsafe { self.read::<N>(from) };
            factors[way].multiply(self.means, &mut words, place + before, R::BYTES);
            self.write.encode(self.means, &mut words);
            woven.put(&words, W::BYTES, way);
        });
        woven
    }

    /// The reverse: each word of a stream has an element for each of a few rows, `step` apart.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    unsafe fn unzip<const N: usize>(self, step: isize, lines: Lines) {
        let stream = lines.are_whole();
        if let (1, Some(widening)) = (R::BYTES, self.tops::<N>()) {
            // SAFETY: the caller's promise.
            return unsafe { self.rows.unzip_to_tops::<M, N>(self.means, (step, stream), widening) };
        }
        let mut factors = [self.factors(), self.factors(), self.factors(), self.factors()];
        // Those of a word are looked up together where they are the same.
        let apart_by = if F::MULTIPLIES && self.rows.words_share_factors() { 0 } else { 1 };
        let between = (apart_by * R::BYTES) as isize;
        let mut kept = Kept::new(self.rows.beyond.extent > 1);
        for row in self.rows.each_row() {
            let place = self.rows.places(row).0.first;
            // SAFETY: the caller's promise.
            unsafe {
                match kept.ones::<F, N>(self.rows, &mut factors, row, (even_ways(between), 4), 4 / R::BYTES) {
                    ones if R::IS_ANY => {
                        let apart_by = if ones.is_some() { 1 } else { apart_by };
                        let mut factors = Either::of_ways(ones, &mut factors);
                        self.unzip_row::<_, N>((row, place), &mut factors, apart_by, (step, stream));
                    }
                    Some(mut ones) => self.unzip_row::<One, N>((row, place), &mut ones, 1, (step, stream)),
                    None => self.unzip_row::<F, N>((row, place), &mut factors, apart_by, (step, stream)),
                }
            }
        }
    }

    /// A row of the stream, taken apart.
    ///
    /// # Safety
    /// As [`Cast::unzip`].
    #[inline(always)]
    unsafe fn unzip_row<G: Multiply, const N: usize>(
        self,
        (row, place): (Row, isize),
        factors: &mut [G; 4],
        apart_by: usize,
        (step, stream): (isize, bool),
    ) {
        let mut ways_apart = Words::<N>([0; N]);
        let ways_apart = ways_apart.0.as_mut_ptr().cast::<u8>();
        let count = self.rows.count;
        let streamed = apart(stream, N, count);
        let (src, dst) = self.rows.woven_starts(row);
        let mut done = 0;
        while done < count {
            let at = done.min(count - N);
            let from = src.wrapping_add(4 * at);
            let lanes = self.means.lanes();
            self.rows.look_ahead(lanes, from, 4 * N);
            // SAFETY: as many words of the stream, of which those of bytes are taken apart beforehand.
            let woven = unsafe {
                if R::BYTES == 1 {
                    unzip_rows::<M::Lanes, 1, 4>(lanes, N, N as isize, from, ways_apart, None);
                }
                self.means.read::<N>(4, from)
            };
            each_way!(4 / R::BYTES, way => {
                let (factors, place) =
                    (&mut factors[apart_by * way], place + (4 * at + apart_by * way * R::BYTES) as isize);
                let to = dst.wrapping_offset(way as isize * step).wrapping_add(at * W::BYTES);
                let to = (to, done < streamed);
                // SAFETY: a block of a row of the destination, and of bytes that were taken apart.
                unsafe {
                    if R::BYTES == 1 {
                        self.block::<G, N>(factors, ways_apart.add(N * way), (place, 4), to);
                    } else {
                        let mut words = woven.taken(R::BYTES, way);
                        self.read.decode(self.means, &mut words);
                        factors.multiply(self.means, &mut words, place, 4);
                        self.write.encode(self.means, &mut words);
                        self.write.write(self.means, &words, to.0, to.1);
                    }
                }
            });
            done = at + N;
        }
    }
}

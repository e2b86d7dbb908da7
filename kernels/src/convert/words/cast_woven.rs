//! Rows of the conversions that go by words, a few of which become one stream, or come of one.
//!
//! A word of the stream is made of a word of each row, so that no element changes its place: conversion and weaving are one. The
//! reverse likewise.

use crate::convert::multiply::Multiply;
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

impl<'a, M: Means, R: Read, W: Write, F: Multiply<'a>> Cast<'a, M, R, W, F> {
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
                return self.zip::<BLOCK>(step, stream);
            }
            match R::BYTES {
                4 | 8 if Self::IS_FEW || F::MULTIPLIES => self.zip::<32>(step, stream),
                4 | 8 => self.zip::<16>(step, stream),
                2 => self.zip::<32>(step, stream),
                _ => self.zip::<64>(step, stream),
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

    /// Rows `step` apart become one stream, an element of each in a word.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast); the stream starts a line if `stream`.
    #[inline(always)]
    unsafe fn zip<const N: usize>(self, step: isize, stream: bool) {
        if let (2, Some(widening)) = (W::BYTES, self.tops::<N>()) {
            // SAFETY: the caller's promise.
            return unsafe { self.rows.zip_to_tops::<M, N>(self.means, (step, stream), [widening; 2]) };
        }
        let count = self.rows.count;
        // Pairs of rows put what their last block has more by itself.
        let streamed = if W::BYTES == 2 && stream { count / N * N } else { apart(stream, N, count) };
        let mut factors = [self.factors(), self.factors(), self.factors(), self.factors()];
        let mut row = 0;
        while row < self.rows.rows as isize {
            let (src, dst) = self.rows.starts(row);
            let place = self.rows.src_place(row);
            let mut done = 0;
            while done < count {
                let at = done.min(count - N);
                let mut woven = Words::<N>([0; N]);
                each_way!(4 / W::BYTES, way => {
                    let before = way as isize * step + (at * R::BYTES) as isize;
                    let from = src.wrapping_offset(before);
                    self.rows.look_ahead(self.means.lanes(), from, N * R::BYTES);
                    // SAFETY: a block of a row of the source.
                    let mut words = unsafe { self.read(from) };
                    factors[way].multiply(&mut words, place + before, R::BYTES);
                    self.write.encode(self.means, &mut words);
                    woven.put(&words, W::BYTES, way);
                });
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
            row += 1;
        }
    }

    /// The reverse: each word of a stream has an element for each of a few rows, `step` apart.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    unsafe fn unzip<const N: usize>(self, step: isize, lines: Lines) {
        let stream = lines == Lines::Whole;
        if let (1, Some(widening)) = (R::BYTES, self.tops::<N>()) {
            // SAFETY: the caller's promise.
            return unsafe { self.rows.unzip_to_tops::<M, N>(self.means, (step, stream), widening) };
        }
        let mut ways_apart = Words::<N>([0; N]);
        let ways_apart = ways_apart.0.as_mut_ptr().cast::<u8>();
        let count = self.rows.count;
        let mut factors = [self.factors(), self.factors(), self.factors(), self.factors()];
        // Those of a word are looked up together where they are the same.
        let streamed = apart(stream, N, count);
        let apart_by = if F::MULTIPLIES && self.rows.words_share_factors() { 0 } else { 1 };
        let mut row = 0;
        while row < self.rows.rows as isize {
            let (src, dst) = self.rows.starts(row);
            let place = self.rows.src_place(row);
            let mut done = 0;
            while done < count {
                let at = done.min(count - N);
                let from = src.wrapping_add(4 * at);
                self.rows.look_ahead(self.means.lanes(), from, 4 * N);
                // SAFETY: as many words of the stream, of which those of bytes are taken apart beforehand.
                let woven = unsafe {
                    if R::BYTES == 1 {
                        unzip_rows::<M::Lanes, 1, 4>(
                            self.means.lanes(),
                            N,
                            N as isize,
                            from,
                            ways_apart,
                            None,
                        );
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
                            self.block::<N>(factors, ways_apart.add(N * way), (place, 4), to);
                        } else {
                            let mut words = woven.taken(R::BYTES, way);
                            self.read.decode(self.means, &mut words);
                            factors.multiply(&mut words, place, 4);
                            self.write.encode(self.means, &mut words);
                            self.write.write(self.means, &words, to.0, to.1);
                        }
                    }
                });
                done = at + N;
            }
            row += 1;
        }
    }
}

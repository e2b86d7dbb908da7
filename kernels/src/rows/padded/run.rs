//! The kernel: rows are copied, or woven, run by run, and padding is put behind them or between.

use super::part::{Part, Run};
use crate::interleave::{full_zips, zip_block, zip_blocks};
use crate::lanes::{Held, LINE, Lanes, stream_line};
use crate::rows::copy_short;
use crate::walk::Point;

/// Interleaves `K` rows of elements of `E` bytes, the last of which may be padding, and puts padding behind them; with `K` = 1 the row
/// is copied.
#[derive(Clone, Copy)]
pub(super) struct PaddedRows<const E: usize, const K: usize> {
    /// From row to row of the source.
    pub(super) step: isize,
    /// Rows of the source.
    pub(super) present: usize,
    pub(super) part: Part,
    /// A line of padding.
    pub(super) line: *const u8,
    /// How far ahead of its loads each row is asked for, in bytes; it is not if 0.
    pub(super) ahead: usize,
}

impl<const E: usize, const K: usize> Point for PaddedRows<E, K> {
    const APART: usize = if K > 2 { 8 / K } else { 4 };

    /// # Safety
    /// The rows that are present must have the elements of the part readable from `src` on, and all that they become with their padding be
    /// writable from `dst` on, which starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // A body of its own for single runs, whose rows are short: a loop around them takes a sixth of their time.
        if self.part.runs() == 1 {
            let Run { count, padded, .. } = self.part.run(0);
            // SAFETY: all of the part.
            return unsafe { self.run(lanes, src, count, (dst, padded)) };
        }
        let mut number = 0;
        while number < self.part.runs() {
            let Run { before, to, count, padded } = self.part.run(number);
            let bytes = if padded > 0 { padded } else { count * K * E };
            // SAFETY: a run of the part.
            unsafe {
                self.run(lanes, src.wrapping_add(before * E), count, (dst.wrapping_offset(to), bytes));
            }
            number += 1;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const K: usize> PaddedRows<E, K> {
    /// Elements, and padding behind them up to so many bytes.
    ///
    /// # Safety
    /// The rows that are present must have `count` elements readable from `src` on, and `bytes` be writable at `dst`, which starts a line.
    #[inline(always)]
    unsafe fn run<L: Lanes>(&self, lanes: L, src: *const u8, count: usize, (dst, bytes): (*mut u8, usize)) {
        // What is made at once: a register of each row, but of single ones a line.
        let block = if K == 1 { LINE } else { L::BYTES / E };
        let (whole, rest) = (count / block * block, count % block);
        let mut at = whole * K * E;
        // SAFETY: whole blocks of the rows; their rest, for which there is room; and whole lines up to the end.
        unsafe {
            if K == 1 {
                let mut line = 0;
                while line < at {
                    if self.ahead > 0 {
                        lanes.prefetch(src.wrapping_add(self.ahead + line));
                    }
                    stream_line(lanes, src.add(line), dst.add(line));
                    line += LINE;
                }
            } else if self.present == K {
                zip_blocks::<L, E, K, true>(lanes, whole, self.step, src, dst, self.ahead);
            } else {
                self.zip_with_padding(lanes, whole, src, dst);
            }
            if rest > 0 {
                at += self.rest(lanes, src.wrapping_add(whole * E), rest, (dst.add(at), bytes - at));
            }
            while at < bytes {
                stream_line(lanes, self.line, dst.add(at));
                at += LINE;
            }
        }
    }

    /// Whole registers of each row that is present, and of padding.
    ///
    /// # Safety
    /// As [`Point::point`], of a multiple of a register's elements.
    #[inline(always)]
    unsafe fn zip_with_padding<L: Lanes>(&self, lanes: L, count: usize, src: *const u8, dst: *mut u8) {
        let mut at = 0;
        while at < count {
            // SAFETY: a register of elements from `at` on exists in every row that is present; a line of padding, which registers
            // divide.
            unsafe {
                let mut rows = [lanes.load(self.line); K];
                let mut row = 0;
                while row < K {
                    if row < self.present {
                        let from = src.wrapping_offset(row as isize * self.step).wrapping_add(at * E);
                        if self.ahead > 0 {
                            lanes.prefetch(from.wrapping_add(self.ahead));
                        }
                        rows[row] = lanes.load(from);
                    }
                    row += 1;
                }
                full_zips::<L, E, K>(lanes, &mut rows);
                let mut part = 0;
                while part < K {
                    lanes.stream(dst.add(at * K * E + part * L::BYTES), rows[part]);
                    part += 1;
                }
            }
            at += L::BYTES / E;
        }
    }

    /// The elements behind the last whole block, and padding up to the end of what a block would be, or of the row: how many bytes that is.
    ///
    /// # Safety
    /// `count` elements, less than a block, must be readable in each row that is present, and so many bytes, whole lines, writable at `dst`, which
    /// starts one; `K` registers are whole lines unless there is one row.
    #[inline(always)]
    unsafe fn rest<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        count: usize,
        (dst, len): (*mut u8, usize),
    ) -> usize {
        if L::BYTES < LINE {
            // SAFETY: the caller's promise.
            return unsafe { self.rest_by_room(lanes, src, count, (dst, len)) };
        }
        let end = len.min(K * LINE);
        // SAFETY: the caller's promise, of registers of a line.
        unsafe {
            let behind = lanes.load(self.line);
            let mut rows = [behind; K];
            let mut row = 0;
            while row < K {
                if row < self.present {
                    let from = self.rest_of(lanes, src, row, count);
                    rows[row] = lanes.load_part(from, count * E, behind);
                }
                row += 1;
            }
            full_zips::<L, E, K>(lanes, &mut rows);
            let mut part = 0;
            while part * LINE < end {
                lanes.stream(dst.add(part * LINE), rows[part]);
                part += 1;
            }
        }
        end
    }

    /// Where the rest of a row lies, for which is asked ahead.
    #[inline(always)]
    fn rest_of<L: Lanes>(&self, lanes: L, src: *const u8, row: usize, count: usize) -> *const u8 {
        let from = src.wrapping_offset(row as isize * self.step);
        if self.ahead > 0 {
            // What is no whole block may lie on two lines.
            lanes.prefetch(from.wrapping_add(self.ahead));
            lanes.prefetch(from.wrapping_add(self.ahead + count * E - 1));
        }
        from
    }

    /// The same by way of a room, for what are no registers of a line.
    ///
    /// # Safety
    /// As [`PaddedRows::rest`].
    #[inline(always)]
    unsafe fn rest_by_room<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        count: usize,
        (dst, len): (*mut u8, usize),
    ) -> usize {
        let mut room = Held([[0; LINE]; K]);
        let room = room.0.as_mut_ptr().cast::<u8>();
        let register = if K == 1 { LINE } else { L::BYTES };
        let end = len.min(K * register);
        // SAFETY: the caller's promise, and room for a line of each row.
        unsafe {
            let mut row = 0;
            while row < K {
                let to = room.add(row * register);
                core::ptr::copy_nonoverlapping(self.line, to, register);
                if row < self.present {
                    copy_short(self.rest_of(lanes, src, row, count), to, count * E);
                }
                row += 1;
            }
            if K > 1 {
                zip_block::<L, E, K, false>(lanes, room, L::BYTES as isize, room, 0);
            }
            let mut at = 0;
            while at < end {
                stream_line(lanes, room.add(at), dst.add(at));
                at += LINE;
            }
        }
        end
    }
}

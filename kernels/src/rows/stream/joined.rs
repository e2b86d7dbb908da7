//! Pieces of rows that start anywhere, joined in registers of a line.

use super::StreamRows;
use crate::deinterleave::load_unzipped;
use crate::lanes::{LINE, Lanes};

impl<const E: usize, const K: usize> StreamRows<'_, E, K> {
    /// A piece of `K` rows, line by line: each is joined from the end of one register and the start of the next.
    ///
    /// # Safety
    /// As [`Point::point`], for the piece of so many steps of a group of `K` rows; a register is a line.
    #[inline(always)]
    pub(super) unsafe fn join_lines<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        group: usize,
        step: usize,
    ) {
        let mut carried = [lanes.zero(); K];
        let is_even = (dst.addr() | self.across.dst_stride as usize).is_multiple_of(2);
        // SAFETY: the caller's promise; the last line of the piece before is what is carried.
        unsafe {
            if step > 0 {
                let last = src.wrapping_offset(-self.next.src_stride).wrapping_add((self.piece() - LINE) * K);
                carried = load_unzipped::<L, E, K>(lanes, last);
            }
            match is_even && step > 0 {
                true => self.join_even(lanes, src, dst, &mut carried),
                false => self.join_any(lanes, (src, dst), group, step == 0, &mut carried),
            }
            if step + 1 == self.next.extent {
                let mut row = 0;
                while row < K {
                    lanes.store(self.buffer(group, row), carried[row]);
                    row += 1;
                }
            }
        }
    }

    /// The same where rows begin, or are anywhere: what belongs to the first line of each is written by itself.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn join_any<L: Lanes>(
        &self,
        lanes: L,
        (src, dst): (*const u8, *mut u8),
        group: usize,
        is_first: bool,
        carried: &mut [L::Vector; K],
    ) {
        let mut at = 0;
        // SAFETY: the caller's promise.
        unsafe {
            while at < self.piece() {
                let rows = load_unzipped::<L, E, K>(lanes, src.add(at * K));
                let mut row = 0;
                while row < K {
                    lanes.prefetch(src.wrapping_add(self.ahead + at * K + row * LINE));
                    let to = self.row_place(dst, row).wrapping_add(at);
                    let before = to.addr() % LINE;
                    if is_first && at == 0 && before > 0 {
                        lanes.store(self.buffer(group, row).add(LINE + self.piece()), rows[row]);
                        self.begin(lanes, group, row, to);
                    } else {
                        let line = lanes.join(carried[row], rows[row], LINE - before);
                        lanes.stream(to.wrapping_sub(before), line);
                    }
                    carried[row] = rows[row];
                    row += 1;
                }
                at += LINE;
            }
        }
    }

    /// The same where all rows are at even places, and none begins: with nothing else in the loop all lines stay in registers.
    ///
    /// # Safety
    /// The same.
    #[inline(always)]
    unsafe fn join_even<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        carried: &mut [L::Vector; K],
    ) {
        let mut at = 0;
        // SAFETY: the caller's promise.
        unsafe {
            // Registers suffice for two lines of each of four rows, and memory takes them faster one behind the other.
            while K == 4 && at + 2 * LINE <= self.piece() {
                self.join_some::<L, 2>(lanes, src.add(at * K), dst.wrapping_add(at), carried);
                at += 2 * LINE;
            }
            while at < self.piece() {
                self.join_some::<L, 1>(lanes, src.add(at * K), dst.wrapping_add(at), carried);
                at += LINE;
            }
        }
    }

    /// `N` lines of each of `K` rows at even places, none of which begins there.
    ///
    /// # Safety
    /// `K * N` lines must be readable at `src`, and those of the rows writable in which what is carried and they lie.
    #[inline(always)]
    unsafe fn join_some<L: Lanes, const N: usize>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        carried: &mut [L::Vector; K],
    ) {
        let mut parts = [[lanes.zero(); K]; N];
        // SAFETY: the caller's promise.
        unsafe {
            let mut line = 0;
            while line < N {
                parts[line] = load_unzipped::<L, E, K>(lanes, src.add(line * K * LINE));
                line += 1;
            }
            let mut row = 0;
            while row < K {
                let to = self.row_place(dst, row);
                let before = to.addr() % LINE / 2 * 2;
                let mut line = 0;
                while line < N {
                    lanes.prefetch(src.wrapping_add(self.ahead + (row * N + line) * LINE));
                    let joined = lanes.join(carried[row], parts[line][row], LINE - before);
                    lanes.stream(to.wrapping_sub(before).wrapping_add(line * LINE), joined);
                    carried[row] = parts[line][row];
                    line += 1;
                }
                row += 1;
            }
        }
    }
}

//! Pieces of rows that start anywhere, joined in registers of a line.

use super::StreamRows;
use crate::deinterleave::load_unzipped;
use crate::lanes::{LINE, Lanes};

impl<const E: usize, const K: usize> StreamRows<'_, E, K> {
    /// A piece of `K` rows, line by line: each is joined from the end of one register and the start of the next.
    ///
    /// # Safety
    /// As [`Point::point`](crate::walk::Point::point), for the piece of so many steps of a group of `K` rows; a register is a line.
    #[inline(always)]
    pub(super) unsafe fn join_lines<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        group: usize,
        step: usize,
    ) {
        let is_even = (dst.addr() | self.across.dst_stride as usize).is_multiple_of(2);
        // SAFETY: the caller's promise; the last line of the piece before is what is carried.
        unsafe {
            let (mut carried, done) = if step == 0 {
                (self.begin_rows(lanes, src, dst, group), LINE)
            } else {
                let last = src.wrapping_offset(-self.next.src_stride).wrapping_add((self.piece() - LINE) * K);
                (load_unzipped::<L, E, K>(lanes, last), 0)
            };
            match is_even {
                true => self.join_rest::<L, true>(lanes, src, dst, done, &mut carried),
                false => self.join_rest::<L, false>(lanes, src, dst, done, &mut carried),
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

    /// The first line of each of `K` rows, which is returned as what they carry: what belongs to the line in which a row begins
    /// is written by itself.
    ///
    /// # Safety
    /// As [`StreamRows::join_lines`], for the first piece.
    #[inline(always)]
    unsafe fn begin_rows<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        group: usize,
    ) -> [L::Vector; K] {
        // SAFETY: the caller's promise.
        unsafe {
            let rows = load_unzipped::<L, E, K>(lanes, src);
            let mut row = 0;
            while row < K {
                lanes.prefetch(src.wrapping_add(self.ahead + row * LINE));
                let to = self.row_place(dst, row);
                if to.addr().is_multiple_of(LINE) {
                    lanes.stream(to, rows[row]);
                } else {
                    lanes.store(self.buffer(group, row).add(LINE + self.piece()), rows[row]);
                    self.begin(lanes, group, row, to);
                }
                row += 1;
            }
            rows
        }
    }

    /// The lines of a piece from byte `at` on. With the beginnings of rows elsewhere, all of them stay in registers.
    ///
    /// # Safety
    /// As [`StreamRows::join_lines`]; all rows are at even places if `EVEN`.
    #[inline(always)]
    unsafe fn join_rest<L: Lanes, const EVEN: bool>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        mut at: usize,
        carried: &mut [L::Vector; K],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            // Registers suffice for two lines of each of four rows, and memory takes them faster one behind the other.
            while K == 4 && at + 2 * LINE <= self.piece() {
                self.join_some::<L, 2, EVEN>(lanes, src.add(at * K), dst.wrapping_add(at), carried);
                at += 2 * LINE;
            }
            while at < self.piece() {
                self.join_some::<L, 1, EVEN>(lanes, src.add(at * K), dst.wrapping_add(at), carried);
                at += LINE;
            }
        }
    }

    /// `N` lines of each of `K` rows.
    ///
    /// # Safety
    /// `K * N` lines must be readable at `src`, and those of the rows writable in which what is carried and they lie; all rows
    /// are at even places if `EVEN`.
    #[inline(always)]
    unsafe fn join_some<L: Lanes, const N: usize, const EVEN: bool>(
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
                let before = to.addr() % LINE;
                // Joining at an even place takes fewer steps, which the compiler only sees where it is told so.
                let before = if EVEN { before / 2 * 2 } else { before };
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

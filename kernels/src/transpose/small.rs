//! Planes so small that both sides stay in the first-level cache: lanes are read where they lie, one by one.
//!
//! Reading a lane into a register costs a load and a blend, bringing whole registers' lanes to their places twice a shuffle.
//! Larger planes are better read in whole lines (`transpose.rs`).

use crate::lanes::{LANE, Lanes};
use crate::nest::Loop;
use crate::transpose::block::network;
use crate::tuning::IN_FIRST_LEVEL;
use crate::walk::Point;

/// Transposes a plane of `rows` and `columns` of elements of `E` bytes, `N` to a lane, by whole registers:
/// `columns` has that destination stride, `rows` that source stride. Both have at least a lane.
#[derive(Clone, Copy)]
pub(crate) struct SmallTranspose<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
}

/// True where planes are few and small enough, lie near each other on both sides, and are no smaller than a tile.
#[inline(always)]
pub(crate) fn is_small(outer: &[Loop], rows: Loop, columns: Loop, element: usize) -> bool {
    let plane = rows.extent.saturating_mul(columns.extent).saturating_mul(element);
    let bytes = outer.iter().fold(plane, |bytes, l| bytes.saturating_mul(l.extent));
    // Columns, or rows, far from each other might meet in a set of the cache.
    let is_near =
        |l: Loop, stride: isize| l.extent.saturating_mul(stride.unsigned_abs()) <= 2 * IN_FIRST_LEVEL;
    bytes <= IN_FIRST_LEVEL
        && is_near(columns, columns.src_stride)
        && is_near(rows, rows.dst_stride)
        && rows.extent.min(columns.extent) * element >= LANE
}

impl<const E: usize, const N: usize> Point for SmallTranspose<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let row = self.columns.extent * E;
        // SAFETY: the caller's promise; the columns fill a register.
        unsafe {
            if row >= L::BYTES {
                self.tiles(lanes, src, dst);
            } else if row >= L::Narrow::BYTES {
                self.tiles(lanes.narrow(), src, dst);
            } else {
                self.tiles(lanes.narrow().narrow(), src, dst);
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

impl<const E: usize, const N: usize> SmallTranspose<E, N> {
    /// Tiles that are moved without asking whether there are more: some registers.
    const UNROLLED: usize = if N < 4 { 4 / N } else { 1 };
    /// Tiles that are read together: two where they are a register each.
    const TOGETHER: usize = if N == 1 { 2 } else { 1 };

    /// Registers of columns through all rows; the last of each direction steps back and moves some elements again rather
    /// than step outside.
    ///
    /// # Safety
    /// As [`Point::point`], and the columns must fill a register.
    #[inline(always)]
    unsafe fn tiles<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let width = L::BYTES / E;
        let last = self.columns.extent - width;
        let (lane_step, over) = (N as isize * self.rows.dst_stride, self.rows.extent % N);
        let mut column = 0;
        loop {
            let mut from = src.wrapping_offset(column as isize * self.columns.src_stride);
            let mut to = dst.wrapping_add(column * E);
            // SAFETY: tiles of the plane, a lane of rows each.
            unsafe {
                for _ in 0..self.rows.extent / N / Self::UNROLLED {
                    let mut i = 0;
                    while i < Self::UNROLLED {
                        if Self::TOGETHER == 2 {
                            self.pair(lanes, from, to);
                        } else {
                            self.tile(lanes, from, to);
                        }
                        let step = lane_step * Self::TOGETHER as isize;
                        (from, to) = (from.wrapping_add(Self::TOGETHER * LANE), to.wrapping_offset(step));
                        i += Self::TOGETHER;
                    }
                }
                for _ in 0..self.rows.extent / N % Self::UNROLLED {
                    self.tile(lanes, from, to);
                    (from, to) = (from.wrapping_add(LANE), to.wrapping_offset(lane_step));
                }
                if over > 0 {
                    let back = N - over;
                    let to = to.wrapping_offset(-(back as isize) * self.rows.dst_stride);
                    self.tile(lanes, from.wrapping_sub(back * E), to);
                }
            }
            if column == last {
                break;
            }
            column = (column + width).min(last);
        }
    }

    /// Two rows of elements of a lane.
    ///
    /// # Safety
    /// Two lanes must be readable at each of a register's columns, and a register writable at both rows.
    #[inline(always)]
    unsafe fn pair<L: Lanes>(&self, lanes: L, from: *const u8, to: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            let (first, second) = lanes.load_lane_pairs(from, self.columns.src_stride);
            lanes.store(to, first);
            lanes.store(to.wrapping_offset(self.rows.dst_stride), second);
        }
    }

    /// # Safety
    /// A lane must be readable at each of a register's columns, and a register writable at each of `N` rows.
    #[inline(always)]
    unsafe fn tile<L: Lanes>(&self, lanes: L, from: *const u8, to: *mut u8) {
        let step = self.columns.src_stride;
        let mut tile = [lanes.zero(); N];
        // SAFETY: column `i` of lane `l` is column `l * N + i`, so the loads reach exactly the tile's columns.
        unsafe {
            let mut i = 0;
            while i < N {
                tile[i] = lanes.load_lanes(from.wrapping_offset(i as isize * step), N as isize * step);
                i += 1;
            }
            network::<L, E, N>(lanes, &mut tile);
            let mut i = 0;
            while i < N {
                lanes.store(to.wrapping_offset(i as isize * self.rows.dst_stride), tile[i]);
                i += 1;
            }
        }
    }
}

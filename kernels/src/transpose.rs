//! The loop that is contiguous in the source is another than the one that is contiguous in the destination.
//!
//! A *column* here is one step of the destination's contiguous loop, a *row* one of the source's: 16 bytes of rows are
//! read from as many columns as a register has places for, transposed inside lanes, and stored as whole registers of
//! columns. Reading lanes from columns that are apart does the part of the work that crosses lanes.

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::strided::walk;
use crate::walk::Point;

/// Columns that are walked before the next line of rows: their source lines stay in the first-level cache until all four
/// lanes of each have been read.
const PANEL: usize = 256;

/// Transposes a plane of `rows` and `columns` of elements of `E` bytes, `N` to a lane: `columns` has that destination
/// stride, `rows` that source stride.
#[derive(Clone, Copy)]
pub(crate) struct Transpose<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
}

impl<const E: usize, const N: usize> Point for Transpose<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { plane::<L, E, N>(lanes, self.columns, self.rows, src, dst) }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

/// # Safety
/// All places of the two loops must be valid on both sides, without overlap.
#[inline(always)]
pub(crate) unsafe fn plane<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    columns: Loop,
    rows: Loop,
    src: *const u8,
    dst: *mut u8,
) {
    let block = N * L::LANES;
    if columns.extent < block || rows.extent < N {
        // SAFETY: the same places.
        return unsafe { small_plane::<E>(columns, rows, src, dst) };
    }
    let line = LINE / E;
    let mut first = 0;
    while first < columns.extent {
        let panel = PANEL.min(columns.extent - first);
        let mut row = 0;
        while row < rows.extent {
            let height = line.min(rows.extent - row);
            let mut column = first;
            while column < first + panel {
                // The last blocks step back and move some elements again rather than step outside.
                let at = column.min(columns.extent - block);
                let mut part = 0;
                while part < height {
                    let row = (row + part).min(rows.extent - N);
                    // SAFETY: `block` columns from `at` and `N` rows from `row` exist.
                    unsafe {
                        let from =
                            src.wrapping_offset(at as isize * columns.src_stride).wrapping_add(row * E);
                        let to = dst.wrapping_offset(row as isize * rows.dst_stride).wrapping_add(at * E);
                        tile::<L, N>(lanes, from, columns.src_stride, to, rows.dst_stride, E);
                    }
                    part += N;
                }
                column += block;
            }
            row += line;
        }
        first += panel;
    }
}

/// Planes narrower than a block.
///
/// # Safety
/// As [`plane`].
#[inline(always)]
unsafe fn small_plane<const E: usize>(columns: Loop, rows: Loop, src: *const u8, dst: *mut u8) {
    // SAFETY: the same places.
    unsafe { walk::<[u8; E]>(&[rows, columns], src, dst) }
}

/// One tile: `N` rows of `N * LANES` columns.
///
/// # Safety
/// `LANE` bytes must be readable at each column, and `BYTES` writable at each row.
#[inline(always)]
unsafe fn tile<L: Lanes, const N: usize>(
    lanes: L,
    src: *const u8,
    column_step: isize,
    dst: *mut u8,
    row_step: isize,
    element: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let tile = load_tile::<L, N>(lanes, src, column_step, element);
        let mut row = 0;
        while row < N {
            lanes.store(dst.wrapping_offset(row as isize * row_step), tile[row]);
            row += 1;
        }
    }
}

/// Reads `N` rows of `N * LANES` columns and transposes them: one register per row.
///
/// # Safety
/// `LANE` bytes must be readable at each column.
#[inline(always)]
pub(crate) unsafe fn load_tile<L: Lanes, const N: usize>(
    lanes: L,
    src: *const u8,
    column_step: isize,
    element: usize,
) -> [L::Vector; N] {
    let mut tile = [lanes.zero(); N];
    let mut i = 0;
    while i < N {
        // SAFETY: column `i` of lane `l` is column `l * N + i`, so the loads reach exactly the tile's columns.
        tile[i] = unsafe {
            lanes.load_lanes(src.wrapping_offset(i as isize * column_step), N as isize * column_step)
        };
        i += 1;
    }
    match element {
        1 => network::<L, 1, N>(lanes, &mut tile),
        2 => network::<L, 2, N>(lanes, &mut tile),
        4 => network::<L, 4, N>(lanes, &mut tile),
        8 => network::<L, 8, N>(lanes, &mut tile),
        _ => {}
    }
    tile
}

/// Transposes the `N` x `N` elements of every lane.
///
/// Interleaving the first half of the registers with the second, element by element, and again, log2(N) times, is the
/// transpose: each step moves the topmost bit of the register number to the bottom of the place in the lane.
///
/// ```text
///   a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
///   b0 b1 b2 b3  ->  a2 c2 a3 c3  ->  a1 b1 c1 d1
///   c0 c1 c2 c3      b0 d0 b1 d1      a2 b2 c2 d2
///   d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
/// ```
#[inline(always)]
pub(crate) fn network<L: Lanes, const UNIT: usize, const N: usize>(lanes: L, tile: &mut [L::Vector; N]) {
    let mut step = 1;
    while step < N {
        let from = *tile;
        let mut i = 0;
        while i < N / 2 {
            (tile[2 * i], tile[2 * i + 1]) = lanes.zip::<UNIT>(from[i], from[i + N / 2]);
            i += 1;
        }
        step *= 2;
    }
}

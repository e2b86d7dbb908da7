//! A line of every column of a strip, brought together where registers find them, and transposed from there.

use crate::lanes::{LINE, Lanes};
use crate::rows::copy_short;
use crate::transpose::block::network;

/// Row buffers, of which each has room for a line before what it gets.
#[derive(Clone, Copy)]
pub(super) struct Buffers {
    pub(super) first: *mut u8,
    /// From one to the next.
    pub(super) pitch: usize,
}

impl Buffers {
    /// That of a row.
    #[inline(always)]
    pub(super) fn row(self, row: usize) -> *mut u8 {
        self.first.wrapping_add(row * self.pitch)
    }
}

/// Copies `len` bytes, at most a line, of every column to its staged line.
///
/// # Safety
/// `len` bytes must be readable at each place from `src`.
#[inline(always)]
pub(super) unsafe fn gather<L: Lanes, const E: usize>(
    lanes: L,
    src: *const u8,
    places: &[isize],
    len: usize,
    staged: *mut u8,
) {
    for (column, place) in places.iter().enumerate() {
        let (from, to) = (src.wrapping_offset(*place), staged.wrapping_add(column * LINE));
        // SAFETY: the caller's promise; a line is staged whole or in part.
        unsafe {
            if len == LINE {
                let mut at = 0;
                while at < LINE {
                    lanes.store(to.add(at), lanes.load(from.add(at)));
                    at += L::BYTES;
                }
            } else {
                copy_short(from, to, len);
            }
        }
    }
}

/// Transposes `N` staged rows of so many bytes, whole lines, to row buffers from `first` on.
///
/// # Safety
/// So many bytes must be writable behind a line of each of these buffers.
#[inline(always)]
pub(super) unsafe fn lines_to_buffers<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    (from, len): (*const u8, usize),
    (buffers, first): (Buffers, usize),
) {
    let mut at = 0;
    while at < len {
        // SAFETY: staged lines, and the caller's promise.
        unsafe {
            let tile = load_staged::<L, E, N>(lanes, from.wrapping_add(at / E * LINE));
            let mut i = 0;
            while i < N {
                lanes.store(buffers.row(first + i).add(LINE + at), tile[i]);
                i += 1;
            }
        }
        at += L::BYTES;
    }
}

/// Transposes staged rows of so many columns, which may be no whole lines, and so many rows to row buffers: a lane of columns at a time,
/// with several lanes of rows in a register.
///
/// # Safety
/// The bytes of so many columns, and up to a lane behind them, must be writable behind a line of each buffer, of which there must be one for
/// each row of a line.
#[inline(always)]
pub(super) unsafe fn part_to_buffers<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    staged: *const u8,
    (width, height): (usize, usize),
    buffers: Buffers,
) {
    let mut column = 0;
    while column < width {
        let mut row = 0;
        while row < height {
            // SAFETY: staged lines of `N` columns, whole registers of rows, and the caller's promise.
            unsafe {
                let from = staged.add(column * LINE + row * E);
                let mut tile = [lanes.zero(); N];
                let mut i = 0;
                while i < N {
                    tile[i] = lanes.load(from.add(i * LINE));
                    i += 1;
                }
                network::<L, E, N>(lanes, &mut tile);
                let mut i = 0;
                while i < N {
                    let to = buffers.row(row + i).add(LINE + column * E);
                    lanes.store_lanes(to, (N * buffers.pitch) as isize, tile[i]);
                    i += 1;
                }
            }
            row += N * L::LANES;
        }
        column += N;
    }
}

/// Reads `N` rows of `N * LANES` staged columns and transposes them: one register per row.
///
/// # Safety
/// A lane must be readable in each of the columns' lines.
#[inline(always)]
pub(super) unsafe fn load_staged<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    from: *const u8,
) -> [L::Vector; N] {
    let mut tile = [lanes.zero(); N];
    let mut i = 0;
    while i < N {
        // SAFETY: column `i` of lane `l` is column `l * N + i`, so the loads reach exactly the tile's columns.
        tile[i] = unsafe { lanes.load_lanes(from.add(i * LINE), (N * LINE) as isize) };
        i += 1;
    }
    network::<L, E, N>(lanes, &mut tile);
    tile
}

//! A line of every column of a strip, brought together where registers find them, and transposed from there.

use crate::lanes::{LINE, Lanes};
use crate::rows::copy_short;
use crate::transpose::block::network;

/// Bytes of a strip in every row; see `transpose/stream.rs` for why two lines, and why one for bytes.
pub(super) const fn strip(element: usize) -> usize {
    if element == 1 { LINE } else { 2 * LINE }
}

/// What one row needs of a buffer: the line before, and a strip.
pub(super) const ROW_BUFFER: usize = LINE + strip(2);

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

/// Transposes `N` staged rows of a whole strip to row buffers.
///
/// # Safety
/// `N` rows, `ROW_BUFFER` bytes apart, must have `strip(E)` writable bytes each.
#[inline(always)]
pub(super) unsafe fn strip_to_buffers<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    from: *const u8,
    buffer: *mut u8,
) {
    let mut at = 0;
    while at < strip(E) {
        // SAFETY: staged lines, and the caller's promise.
        unsafe {
            let tile = load_staged::<L, E, N>(lanes, from.wrapping_add(at / E * LINE));
            let mut i = 0;
            while i < N {
                lanes.store(buffer.add(i * ROW_BUFFER + at), tile[i]);
                i += 1;
            }
        }
        at += L::BYTES;
    }
}

/// Transposes the staged rows of a part of a strip, so many columns and rows, to row buffers: a lane of columns at a time, with several lanes of rows in
/// a register.
///
/// # Safety
/// A line of rows, `ROW_BUFFER` bytes apart, must have `strip(E)` writable bytes each.
#[inline(always)]
pub(super) unsafe fn part_to_buffers<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    staged: *const u8,
    (width, height): (usize, usize),
    buffer: *mut u8,
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
                    let to = buffer.add((row + i) * ROW_BUFFER + column * E);
                    lanes.store_lanes(to, (N * ROW_BUFFER) as isize, tile[i]);
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

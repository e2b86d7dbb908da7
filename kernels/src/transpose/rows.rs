//! Elements of a lane, row by row.
//!
//! Elements of 16 bytes have nothing to be transposed inside lanes, so that a row can be put together from wherever its
//! columns lie, whole lines of it from its first one on. Blocks (`transpose.rs`) start every row at the same column, and
//! where rows start no lines, each of their stores would meet two.

use crate::lanes::{LANE, LINE, Lanes};
use crate::nest::Loop;
use crate::stage::starts_lines;

/// Columns of a panel: so many lines stay in the first-level cache until the rows that share them are written.
const COLUMNS: usize = 256;

/// Bytes of the shortest rows: of shorter ones, much is neither whole line nor register.
const LEAST: usize = 8 * LINE;

/// Bytes that rows are asked for ahead.
const AHEAD: usize = 2 * LINE;

/// True where rows of some lines start anywhere, and lines of as many columns as a panel has lie in all sets of the
/// first-level cache.
#[inline(always)]
pub(crate) fn is_row_by_row(columns: Loop, rows: Loop, element: usize, dst: *mut u8) -> bool {
    element == LANE
        && columns.extent * element >= LEAST
        && !starts_lines([&rows], dst)
        && dst.addr().is_multiple_of(LANE)
        && columns.src_stride.trailing_zeros() <= LINE.trailing_zeros()
}

/// Transposes a plane of elements of 16 bytes.
///
/// # Safety
/// All places of the two loops must be valid on both sides, without overlap.
#[inline(always)]
pub(crate) unsafe fn row_by_row<L: Lanes>(lanes: L, columns: Loop, rows: Loop, src: *const u8, dst: *mut u8) {
    let mut left = 0;
    while left < columns.extent {
        let width = COLUMNS.min(columns.extent - left);
        let (mut from, mut to) =
            (src.wrapping_offset(left as isize * columns.src_stride), dst.wrapping_add(left * LANE));
        for _ in 0..rows.extent {
            // SAFETY: a panel's part of a row.
            unsafe { row(lanes, from, columns.src_stride, to, width) };
            (from, to) = (from.wrapping_add(LANE), to.wrapping_offset(rows.dst_stride));
        }
        left += width;
    }
}

/// One row: elements up to the first line, whole registers, and the elements that are left.
///
/// # Safety
/// `LANE` bytes must be readable at `width` places `step` bytes apart, and `width` as many writable at `to`.
#[inline(always)]
unsafe fn row<L: Lanes>(lanes: L, from: *const u8, step: isize, to: *mut u8, width: usize) {
    let before = (to.addr().wrapping_neg() % LINE / LANE).min(width);
    let (mut from, mut to) = (from, to);
    // SAFETY: the elements of the row one after the other, each once.
    unsafe {
        (from, to) = elements(lanes.narrow().narrow(), from, step, to, before);
        for _ in 0..(width - before) / L::LANES {
            lanes.store(to, lanes.load_lanes(from, step));
            lanes.prefetch_near(to.wrapping_add(AHEAD));
            (from, to) = (from.wrapping_offset(L::LANES as isize * step), to.wrapping_add(L::BYTES));
        }
        elements(lanes.narrow().narrow(), from, step, to, (width - before) % L::LANES);
    }
}

/// Elements one by one; the places behind them.
///
/// # Safety
/// As [`row`], for `count` elements.
#[inline(always)]
unsafe fn elements<L: Lanes>(
    lanes: L,
    mut from: *const u8,
    step: isize,
    mut to: *mut u8,
    count: usize,
) -> (*const u8, *mut u8) {
    for _ in 0..count {
        // SAFETY: the caller's promise.
        unsafe { lanes.store(to, lanes.load(from)) };
        (from, to) = (from.wrapping_offset(step), to.wrapping_add(LANE));
    }
    (from, to)
}

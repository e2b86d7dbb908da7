//! Floats of a byte that become upper halves of `f32`, which hold them exactly: register by register, by no words.

use super::widening::Widening;
use super::words::{Means, put, put_zips};
use crate::deinterleave::load_unzipped;
use crate::lanes::Lanes;

/// Widens a block of elements, whole registers.
///
/// # Safety
/// As [`Means::read`] and [`Means::write`].
#[inline(always)]
pub(super) unsafe fn widen_to_tops<M: Means, const N: usize>(
    means: M,
    from: *const u8,
    (to, stream): (*mut u8, bool),
    widening: &Widening,
) {
    let lanes = means.lanes();
    let mut i = 0;
    while i < N {
        // SAFETY: a register of the block, and the two that become of it.
        unsafe {
            let (a, b) = means.widened(means.ordered(1, lanes.load(from.add(i))), widening);
            put(lanes, to.add(2 * i), a, stream);
            put(lanes, to.add(2 * i + M::Lanes::BYTES), b, stream);
        }
        i += M::Lanes::BYTES;
    }
}

/// The same for two rows `step` apart, of which every word takes an element each.
///
/// # Safety
/// As [`Means::read`] for either row, and [`Means::write`] for words.
#[inline(always)]
pub(super) unsafe fn zip_to_tops<M: Means, const N: usize>(
    means: M,
    (from, step): (*const u8, isize),
    (to, stream): (*mut u8, bool),
    widening: &Widening,
) {
    let lanes = means.lanes();
    let mut i = 0;
    while i < N {
        let from = from.wrapping_add(i);
        // SAFETY: a register of either row's block, and the four that become of both.
        unsafe {
            let (a, b) = means.widened(means.ordered(2, lanes.load(from)), widening);
            let second = lanes.load(from.wrapping_offset(step));
            let (c, d) = means.widened(means.ordered(2, second), widening);
            put_zips(lanes, to.add(4 * i), [(a, c), (b, d)], stream);
        }
        i += M::Lanes::BYTES;
    }
}

/// Each of four rows `step` apart takes a byte of every word.
///
/// # Safety
/// As [`Means::read`] for words, and [`Means::write`] for every row.
#[inline(always)]
pub(super) unsafe fn unzip_to_tops<M: Means, const N: usize>(
    means: M,
    from: *const u8,
    step: isize,
    (to, stream): (*mut u8, bool),
    widening: &Widening,
) {
    let lanes = means.lanes();
    let mut i = 0;
    while i < N {
        // SAFETY: as many words as a register has bytes, and the two registers that become of each row's bytes.
        unsafe {
            let rows = load_unzipped::<M::Lanes, 1, 4>(lanes, from.add(4 * i));
            let mut way = 0;
            while way < 4 {
                let to = to.wrapping_offset(way as isize * step).wrapping_add(2 * i);
                let (a, b) = means.widened(means.ordered(1, rows[way]), widening);
                put(lanes, to, a, stream);
                put(lanes, to.wrapping_add(M::Lanes::BYTES), b, stream);
                way += 1;
            }
        }
        i += M::Lanes::BYTES;
    }
}

//! Nests of few elements: brought together, converted as one row, and put in their places. To look for a better way would take
//! longer than that.

use core::mem::MaybeUninit;

use super::converter::{Converter, each_place};
use super::rows::{ConvertRows, Place};
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::mover::scalar;
use crate::nest::Loop;
use crate::slots::value_mask;
use crate::tuning::{FEW, FEW_SLOTS};

/// Bytes of the widest element that there is room for.
const WIDEST: usize = 16;

/// Room for so many elements.
#[repr(align(64))]
#[allow(dead_code, reason = "reached by its address only")]
struct Room([u8; FEW * WIDEST]);

impl Converter<'_> {
    /// How many elements there are, where these are few, and there is room for them.
    pub(super) fn count_few(&self, loops: &[Loop]) -> Option<usize> {
        let count = loops.iter().fold(1usize, |count, l| count.saturating_mul(l.extent));
        let widest = self.conversion.src_bytes().max(self.conversion.dst_bytes());
        let fits = count <= FEW && loops.len() <= MAX_LOOPS && widest <= WIDEST;
        (fits && !self.has_factors()).then_some(count)
    }

    /// Converts a nest of few elements; false where there are more, or wider ones than there is room for, or where places tell
    /// factors: nothing was done then.
    ///
    /// # Safety
    /// Every slot that the loops reach from the two places must be valid there, without overlap.
    pub(super) unsafe fn few(&self, loops: &[Loop], src: Place, dst: Place) -> bool {
        let Some(count) = self.count_few(loops) else { return false };
        let [src_bytes, dst_bytes] = [self.conversion.src_bytes(), self.conversion.dst_bytes()];
        let mut rooms = [const { MaybeUninit::<Room>::uninit() }; 2];
        let [read, written] = rooms.each_mut().map(|room| Place::near(room.as_mut_ptr().cast()));
        let [src_unit, dst_unit] = self.units();
        let from = if is_dense(loops, |l| l.src_stride, src_unit) { src } else { read };
        let to = if is_dense(loops, |l| l.dst_stride, dst_unit) { dst } else { written };
        let slot_by_slot = src.bits.is_some() && from.is_near || dst.bits.is_some() && to.is_near;
        if slot_by_slot && count > FEW_SLOTS {
            return false;
        }
        // SAFETY: the caller's promise; either room has place for all elements, and is written before it is read.
        unsafe {
            if from.is_near {
                gather(loops, src, read, src_bytes);
            }
            let rows = ConvertRows::new(&self.conversion, [from, to], self.scale);
            ConvertRows { rows: 1, count, ..rows }.at_level(self.level);
            if to.is_near {
                scatter(loops, written, dst, dst_bytes);
            }
        }
        true
    }
}

/// True where the elements of a side, `step` apart, follow one another as the loops go.
fn is_dense(loops: &[Loop], stride: impl Fn(&Loop) -> isize, mut step: isize) -> bool {
    loops.iter().rev().filter(|l| l.extent > 1).all(|l| {
        let continues = stride(l) == step;
        step *= l.extent as isize;
        continues
    })
}

/// The loops with the steps of one side, and with one element behind the other on the other side; the longest is innermost.
fn beside_dense(loops: &[Loop], bytes: usize, with: impl Fn(&Loop, isize) -> Loop) -> Loops {
    let mut step = bytes as isize;
    let mut dense = [0; MAX_LOOPS];
    for (l, dense) in loops.iter().zip(&mut dense).rev() {
        *dense = step;
        step *= l.extent as isize;
    }
    let mut beside = Loops::default();
    loops.iter().zip(dense).for_each(|(l, dense)| beside.push(with(l, dense)));
    beside.sort_by_key(|l| l.extent);
    beside
}

/// Reads all elements, those that share bytes into a byte each.
///
/// # Safety
/// The slots must be valid at `src`, and room for them at `to`.
unsafe fn gather(loops: &[Loop], src: Place, to: Place, bytes: usize) {
    let loops = beside_dense(loops, bytes, |l, dense| Loop { dst_stride: dense, ..*l });
    let Some(bits) = src.bits else {
        // SAFETY: the caller's promise.
        return unsafe { scalar(loops.as_slice(), src.byte_of(0), to.base, bytes) };
    };
    let (bits, per_byte) = (bits as u32, 8 / bits as isize);
    each_pair(loops.as_slice(), src, to, &mut |slot, at| {
        let shift = slot.rem_euclid(per_byte) as u32 * bits;
        // SAFETY: the byte of a slot, and the room of its element.
        unsafe {
            let byte = src.base.offset(slot.div_euclid(per_byte)).read();
            to.base.offset(at).write(byte >> shift & value_mask(bits));
        }
    });
}

/// Writes all elements, those that share bytes between what is beside them.
///
/// # Safety
/// The slots must be valid at `dst`, and the elements lie at `from`.
unsafe fn scatter(loops: &[Loop], from: Place, dst: Place, bytes: usize) {
    let loops = beside_dense(loops, bytes, |l, dense| Loop { src_stride: dense, ..*l });
    let Some(bits) = dst.bits else {
        // SAFETY: the caller's promise.
        return unsafe { scalar(loops.as_slice(), from.base, dst.byte_of(0), bytes) };
    };
    let (bits, per_byte) = (bits as u32, 8 / bits as isize);
    each_pair(loops.as_slice(), from, dst, &mut |at, slot| {
        let shift = slot.rem_euclid(per_byte) as u32 * bits;
        let mask = value_mask(bits) << shift;
        // SAFETY: an element, and the byte of its slot.
        unsafe {
            let value = from.base.offset(at).read();
            let byte = dst.base.offset(slot.div_euclid(per_byte));
            byte.write(byte.read() & !mask | value << shift & mask);
        }
    });
}

/// Calls `visit` with both places of every point of the loops.
#[inline(always)]
fn each_pair(loops: &[Loop], src: Place, dst: Place, visit: &mut impl FnMut(isize, isize)) {
    let (inner, outer) = loops.split_last().unwrap_or((&ONCE, &[]));
    each_place(outer, src, dst, &mut |src, dst| {
        let (mut src, mut dst) = (src.first, dst.first);
        for _ in 0..inner.extent {
            visit(src, dst);
            (src, dst) = (src + inner.src_stride, dst + inner.dst_stride);
        }
    });
}

//! Slots narrower than a byte, and values narrower than their slots: one value at a time.

use crate::nest::{Loop, Nest, OutOfBounds};

/// The widths of slots that share a byte.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[repr(u8)]
pub enum Bits {
    /// Eight slots a byte.
    One = 1,
    /// Four slots a byte.
    Two = 2,
    /// Two slots a byte.
    Four = 4,
}

impl Bits {
    /// Slots in this many bytes.
    pub(crate) fn slots_in(self, bytes: usize) -> usize {
        bytes.saturating_mul(8 / self as usize)
    }
}

/// How wide one slot is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotWidth {
    /// Whole bytes; offsets and strides of this side are in bytes.
    Bytes(usize),
    /// A part of a byte; offsets and strides of this side are in slots, the first slot in the low bits.
    Bits(Bits),
}

impl SlotWidth {
    /// Length of a slice of `bytes`, and width of a slot, in the unit of this side.
    pub(crate) fn units(self, bytes: usize) -> (usize, usize) {
        match self {
            SlotWidth::Bytes(width) => (bytes, width),
            SlotWidth::Bits(bits) => (bits.slots_in(bytes), 1),
        }
    }
}

/// Copies one value of `value_bits` bits (at most 8) for every point of `nest`.
///
/// What a wider source slot holds above the value is dropped; a wider destination slot becomes zero there.
///
/// # Errors
/// [`OutOfBounds`] where some slot lies outside its slice; nothing was moved then.
pub fn copy_slots(
    src: &[u8],
    src_width: SlotWidth,
    dst: &mut [u8],
    dst_width: SlotWidth,
    nest: Nest<'_>,
    value_bits: u32,
) -> Result<(), OutOfBounds> {
    if nest.is_empty() {
        return Ok(());
    }
    let ((src_len, src_slot), (dst_len, dst_slot)) = (src_width.units(src.len()), dst_width.units(dst.len()));
    nest.check(src_len, src_slot, dst_len, dst_slot)?;
    let mask = value_mask(value_bits);
    each_pair(nest.loops, nest.src_offset, nest.dst_offset, &mut |from, to| {
        let value = load(src, from.unsigned_abs(), src_width) & mask;
        store(dst, to.unsigned_abs(), dst_width, value);
    });
    Ok(())
}

pub(crate) fn value_mask(value_bits: u32) -> u8 {
    u8::MAX >> 8u32.saturating_sub(value_bits).min(7)
}

/// The low byte of the slot at `place`.
pub(crate) fn load(src: &[u8], place: usize, width: SlotWidth) -> u8 {
    match width {
        SlotWidth::Bytes(_) => src[place],
        SlotWidth::Bits(bits) => {
            let per_byte = 8 / bits as usize;
            src[place / per_byte] >> (place % per_byte * bits as usize)
        }
    }
}

/// Writes a value to the slot at `place`, zero above it.
pub(crate) fn store(dst: &mut [u8], place: usize, width: SlotWidth, value: u8) {
    match width {
        SlotWidth::Bytes(bytes) => {
            dst[place] = value;
            dst[place + 1..place + bytes].fill(0);
        }
        SlotWidth::Bits(bits) => store_slot(dst, place, bits, value),
    }
}

/// Writes the low bits of `value` to slot `slot` and leaves the rest of its byte.
pub(crate) fn store_slot(dst: &mut [u8], slot: usize, bits: Bits, value: u8) {
    let per_byte = 8 / bits as usize;
    let shift = slot % per_byte * bits as usize;
    let mask = value_mask(bits as u32) << shift;
    let byte = &mut dst[slot / per_byte];
    *byte = (*byte & !mask) | ((value << shift) & mask);
}

/// Calls `visit` with both places of every point.
fn each_pair(loops: &[Loop], src: isize, dst: isize, visit: &mut impl FnMut(isize, isize)) {
    match loops {
        [] => visit(src, dst),
        [outer, rest @ ..] => {
            for i in 0..outer.extent as isize {
                each_pair(rest, src + i * outer.src_stride, dst + i * outer.dst_stride, visit);
            }
        }
    }
}

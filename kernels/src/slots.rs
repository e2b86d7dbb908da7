//! Slots narrower than a byte: their widths, and one at a time.

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

/// The low bits of a byte.
#[inline(always)]
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
#[inline(always)]
pub(crate) fn store_slot(dst: &mut [u8], slot: usize, bits: Bits, value: u8) {
    let per_byte = 8 / bits as usize;
    let shift = slot % per_byte * bits as usize;
    let mask = value_mask(bits as u32) << shift;
    let byte = &mut dst[slot / per_byte];
    *byte = (*byte & !mask) | ((value << shift) & mask);
}

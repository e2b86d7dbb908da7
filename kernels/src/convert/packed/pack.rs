//! Slots that share a byte, and slots of a byte each: one packed byte at a time, by shifts that vectors have too.

use crate::convert::hop::{Hop, NO_FACTORS, apply};
use crate::slots::{Bits, store_slot, value_mask};

/// The two halves of a byte.
#[inline(always)]
pub(crate) fn spread_4(byte: u8) -> u16 {
    let x = u16::from(byte);
    (x | x << 4) & 0x0f0f
}

/// The four quarters of a byte.
#[inline(always)]
pub(crate) fn spread_2(byte: u8) -> u32 {
    let x = u32::from(byte);
    let x = (x | x << 12) & 0x000f_000f;
    (x | x << 6) & 0x0303_0303
}

/// The eight bits of a byte.
#[inline(always)]
pub(crate) fn spread_1(byte: u8) -> u64 {
    let x = u64::from(byte);
    let x = (x | x << 28) & 0x0000_000f_0000_000f;
    let x = (x | x << 14) & 0x0003_0003_0003_0003;
    (x | x << 7) & 0x0101_0101_0101_0101
}

/// The low halves of two bytes.
#[inline(always)]
pub(crate) fn gather_4(bytes: u16) -> u8 {
    let x = bytes & 0x0f0f;
    (x | x >> 4) as u8
}

/// The low quarters of four bytes.
#[inline(always)]
pub(crate) fn gather_2(bytes: u32) -> u8 {
    let x = bytes & 0x0303_0303;
    let x = (x | x >> 6) & 0x000f_000f;
    (x | x >> 12) as u8
}

/// The low bits of eight bytes.
#[inline(always)]
pub(crate) fn gather_1(bytes: u64) -> u8 {
    let x = bytes & 0x0101_0101_0101_0101;
    let x = (x | x >> 7) & 0x0003_0003_0003_0003;
    let x = (x | x >> 14) & 0x0000_000f_0000_000f;
    (x | x >> 28) as u8
}

/// Unpacks the slots from `first` on, and those before it in its byte; returns how many these are. They come to stand at
/// `dst`.
///
/// # Safety
/// The bytes of the slots must be readable from `src` on, byte 0 being that of slot 0; `dst` must have room for the slots
/// of whole bytes.
#[inline(always)]
pub(crate) unsafe fn unpack(bits: Bits, src: *const u8, first: usize, dst: *mut u8, count: usize) -> usize {
    let per_byte = 8 / bits as usize;
    let before = first % per_byte;
    let bytes = (before + count).div_ceil(per_byte);
    // SAFETY: the caller's promise.
    unsafe { apply(&Hop::Unpack(bits), src.add(first / per_byte), dst, bytes, NO_FACTORS) };
    before
}

/// Of the slots from `first` on those before the first whole byte, and those of whole bytes.
#[inline(always)]
fn whole_bytes(per_byte: usize, first: usize, count: usize) -> [usize; 2] {
    let head = (first.wrapping_neg() % per_byte).min(count);
    [head, (count - head) / per_byte * per_byte]
}

/// Unpacks the slots from `first` on, and nothing else.
///
/// # Safety
/// As [`unpack`], with room for `count` bytes at `dst`.
#[inline(always)]
pub(crate) unsafe fn unpack_exactly(bits: Bits, src: *const u8, first: usize, dst: *mut u8, count: usize) {
    let per_byte = 8 / bits as usize;
    let [head, body] = whole_bytes(per_byte, first, count);
    // SAFETY: the caller's promise; the body is whole bytes.
    unsafe {
        single(bits, src, first, dst, head);
        let slot = first + head;
        apply(&Hop::Unpack(bits), src.add(slot / per_byte), dst.add(head), body / per_byte, NO_FACTORS);
        single(bits, src, slot + body, dst.add(head + body), count - head - body);
    }
}

/// Fewer slots than a byte has, one by one.
///
/// # Safety
/// As [`unpack_exactly`].
#[inline(always)]
unsafe fn single(bits: Bits, src: *const u8, first: usize, dst: *mut u8, count: usize) {
    let per_byte = 8 / bits as usize;
    let mut slot = first;
    while slot < first + count {
        // SAFETY: the byte of a slot, as promised.
        unsafe {
            let byte = src.add(slot / per_byte).read();
            dst.add(slot - first).write(byte >> (slot % per_byte * bits as usize) & value_mask(bits as u32));
        }
        slot += 1;
    }
}

/// Packs bytes into the slots from `first` on; what else their bytes hold stays.
///
/// # Safety
/// `count` bytes must be readable at `src`, and the bytes of the slots writable from `dst` on, byte 0 being that of slot
/// 0.
#[inline(always)]
pub(crate) unsafe fn pack(bits: Bits, src: *const u8, dst: *mut u8, first: usize, count: usize) {
    let per_byte = 8 / bits as usize;
    let [head, body] = whole_bytes(per_byte, first, count);
    // SAFETY: the caller's promise; the body is whole bytes, of which nothing else is a part.
    unsafe {
        ends(bits, src, dst, first, head);
        let slot = first + head;
        apply(&Hop::Pack(bits), src.add(head), dst.add(slot / per_byte), body / per_byte, NO_FACTORS);
        ends(bits, src.add(head + body), dst, slot + body, count - head - body);
    }
}

/// Fewer slots than a byte has.
///
/// # Safety
/// As [`pack`].
#[inline(always)]
unsafe fn ends(bits: Bits, src: *const u8, dst: *mut u8, first: usize, count: usize) {
    if count == 0 {
        return;
    }
    let per_byte = 8 / bits as usize;
    // SAFETY: the byte of these slots, as promised.
    let byte = unsafe { core::slice::from_raw_parts_mut(dst.add(first / per_byte), 1) };
    let mut i = 0;
    while i < count {
        // SAFETY: `count` bytes are readable.
        store_slot(byte, first % per_byte + i, bits, unsafe { src.add(i).read() });
        i += 1;
    }
}

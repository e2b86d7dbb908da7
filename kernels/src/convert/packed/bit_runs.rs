//! Runs of bits that start anywhere in a byte: read a line at a time, and moved.

use crate::lanes::{Held, LINE, Lanes, copy_line, stream_line};
use crate::rows::copy_short;
use crate::tuning::BIT_ROWS_AHEAD;
use crate::walk::Point;

/// Bytes of a word.
const WORD: usize = size_of::<u64>();

/// A line, in words that registers are made of.
pub(crate) type Line = [u64; LINE / WORD];

/// One without any bit.
pub(crate) const EMPTY: Line = [0; LINE / WORD];

/// Reads the first `len` bytes of a line that starts `shift` bits behind the first of a byte.
///
/// # Safety
/// The bytes of these bits must be readable from `from` on; there must be at most a line of them, and fewer bits before than a
/// byte has.
#[inline(always)]
pub(crate) unsafe fn line_at(from: *const u8, shift: u32, len: usize) -> Line {
    // SAFETY: the caller's promise. Of bits that start inside a byte the last ones are in the byte behind so many.
    unsafe {
        match (shift, len) {
            (0, LINE) => from.cast::<Line>().read_unaligned(),
            (_, LINE) => shifted_line(from, shift),
            _ => {
                let mut bytes = [0; LINE + WORD];
                copy_short(from, bytes.as_mut_ptr(), len + usize::from(shift > 0));
                shifted_line(bytes.as_ptr(), shift)
            }
        }
    }
}

/// Reads the first bits of a line that starts `shift` bits behind the first of a byte: as many as there are, and no byte that has none
/// of them.
///
/// # Safety
/// The bytes of these bits must be readable from `from` on; there must be fewer bits before than a byte has.
#[inline(always)]
pub(crate) unsafe fn bits_at(from: *const u8, shift: u32, bits: usize) -> Line {
    let bytes = (shift as usize + bits).div_ceil(8);
    // SAFETY: the caller's promise: a line's bits, or more bytes than a line, or these few.
    unsafe {
        if bits >= LINE_BITS || bytes > LINE {
            return line_at(from, shift, LINE);
        }
        let mut held = [0; LINE + WORD];
        copy_short(from, held.as_mut_ptr(), bytes);
        shifted_line(held.as_ptr(), shift)
    }
}

/// Reads a line, and the byte behind it.
///
/// # Safety
/// As [`line_at`], for a line and a byte.
#[inline(always)]
unsafe fn shifted_line(from: *const u8, shift: u32) -> Line {
    let mut line = EMPTY;
    let mut i = 0;
    while i < line.len() {
        // SAFETY: word `i` of the line, and the same a byte on.
        line[i] = unsafe { shifted_word(from.add(WORD * i), shift) };
        i += 1;
    }
    line
}

/// Reads a word that starts so many bits behind the first of a byte: what two words, a byte apart, say alike where they meet.
///
/// # Safety
/// A word and a byte must be readable.
#[inline(always)]
unsafe fn shifted_word(from: *const u8, shift: u32) -> u64 {
    // SAFETY: the caller's promise.
    let (low, high) = unsafe { (from.cast::<[u8; WORD]>().read(), from.add(1).cast::<[u8; WORD]>().read()) };
    u64::from_le_bytes(low) >> shift | u64::from_le_bytes(high) << (8 - shift)
}

/// Reads a word that starts so many bits behind the first of a byte.
///
/// # Safety
/// The bytes of these bits must be readable.
#[inline(always)]
unsafe fn word_at(from: *const u8, shift: u32) -> u64 {
    // SAFETY: the caller's promise.
    unsafe {
        match shift {
            0 => u64::from_le_bytes(from.cast::<[u8; WORD]>().read()),
            _ => shifted_word(from, shift),
        }
    }
}

/// Moves `count` bits, from bit `from_bit` of a place to bit `to_bit` of another; the bits around them stay.
///
/// # Safety
/// The bytes of these bits must be readable at `from`, and readable and writable at `to`, without overlap.
#[inline(always)]
pub(crate) unsafe fn move_bits(from: *const u8, from_bit: usize, to: *mut u8, to_bit: usize, count: usize) {
    let head = (to_bit.wrapping_neg() % 8).min(count);
    let (from_bit, to_bit, count) = {
        // SAFETY: bits of one byte of the destination.
        unsafe { move_few(from, from_bit, to, to_bit, head) };
        (from_bit + head, to_bit + head, count - head)
    };
    let (from_byte, shift) = (from.wrapping_add(from_bit / 8), (from_bit % 8) as u32);
    let to_byte = to.wrapping_add(to_bit / 8);
    // SAFETY: whole bytes of the destination, and the bits that they become; and those behind.
    unsafe {
        move_bytes(from_byte, shift, to_byte, count / 8);
        let done = count / 8 * 8;
        move_few(from, from_bit + done, to, to_bit + done, count - done);
    }
}

/// The same for whole bytes of the destination. The last line, or word, steps back rather than be a part of one, which the
/// processor would wait for on its way through a buffer.
///
/// # Safety
/// As [`move_bits`].
#[inline(always)]
unsafe fn move_bytes(from: *const u8, shift: u32, to: *mut u8, bytes: usize) {
    let mut at = 0;
    // SAFETY: bytes of the destination, and the bits that they become: with a shift, those of a byte more.
    unsafe {
        if bytes >= LINE {
            while at < bytes {
                let here = at.min(bytes - LINE);
                to.add(here).cast::<Line>().write_unaligned(line_at(from.add(here), shift, LINE));
                at = here + LINE;
            }
        }
        while at < bytes && bytes >= WORD {
            let here = at.min(bytes - WORD);
            to.add(here).cast::<[u8; WORD]>().write(word_at(from.add(here), shift).to_le_bytes());
            at = here + WORD;
        }
        while at < bytes {
            move_few(from, 8 * at + shift as usize, to, 8 * at, 8);
            at += 1;
        }
    }
}

/// The same for at most eight bits, all of one byte of the destination.
///
/// # Safety
/// As [`move_bits`].
#[inline(always)]
unsafe fn move_few(from: *const u8, from_bit: usize, to: *mut u8, to_bit: usize, count: usize) {
    if count == 0 {
        return;
    }
    let shift = from_bit % 8;
    // SAFETY: the bytes of these bits; the second one where they go on in it.
    unsafe {
        let from = from.add(from_bit / 8);
        let low = u16::from(from.read());
        let high = if shift + count > 8 { u16::from(from.add(1).read()) } else { 0 };
        let bits = ((high << 8 | low) >> shift) as u8;
        let mask = (((1u16 << count) - 1) << (to_bit % 8)) as u8;
        let to = to.add(to_bit / 8);
        to.write(to.read() & !mask | bits << (to_bit % 8) & mask);
    }
}

/// As [`move_bits`]; whole lines of the destination go past the cache.
///
/// # Safety
/// As [`move_bits`]; the caller fences.
#[inline(always)]
pub(crate) unsafe fn stream_bits<L: Lanes>(
    lanes: L,
    (from, from_bit): (*const u8, usize),
    (to, to_bit): (*mut u8, usize),
    count: usize,
) {
    let to_byte = to_bit.next_multiple_of(8);
    let to_line = to.wrapping_add(to_byte / 8).addr().wrapping_neg() % LINE;
    let head = (to_byte - to_bit + 8 * to_line).min(count);
    let lines = (count - head) / LINE_BITS;
    // SAFETY: the bits before the first whole line, those of whole lines, and those behind the last one.
    unsafe {
        move_bits(from, from_bit, to, to_bit, head);
        let mut done = head;
        while done < head + lines * LINE_BITS {
            let bit = from_bit + done;
            let line = Held([bytemuck::cast(line_at(from.add(bit / 8), (bit % 8) as u32, LINE))]);
            stream_line(lanes, line.0[0].as_ptr(), to.add((to_bit + done) / 8));
            done += LINE_BITS;
        }
        move_bits(from, from_bit + done, to, to_bit + done, count - done);
    }
}

/// Bits of a line.
const LINE_BITS: usize = 8 * LINE;

/// A block of rows of whole bytes, which become parts of rows of bits that start anywhere. What is behind a part's last whole line
/// stays where it is, in a line before the next part, so that no line between two parts is written twice.
#[derive(Clone, Copy)]
pub(crate) struct BitRows {
    pub(crate) rows: usize,
    /// From row to row of the block, in bytes: each has a line before it.
    pub(crate) pitch: usize,
    /// The first bit of the first row's part in the destination, and how far the next row's is from it.
    pub(crate) first: isize,
    pub(crate) step: isize,
    /// Bits of a part.
    pub(crate) count: usize,
    /// True where they follow a part of the same rows.
    pub(crate) follow: bool,
    /// Bytes from this part to the next one, where there is one.
    pub(crate) next: Option<usize>,
    /// Whole lines go past the cache.
    pub(crate) stream: bool,
}

impl BitRows {
    /// The bits of a part that are written with it, counted from the first one of the line before it, for a row of a destination
    /// whose part starts at `to_bit`: up to the last line that it fills, and from there on in the next part.
    #[inline(always)]
    fn written(&self, to: *mut u8, to_bit: usize) -> core::ops::Range<usize> {
        let in_line = |bit: usize| (8 * (to.addr() % LINE) + bit) % LINE_BITS;
        let start = if self.follow { LINE_BITS - in_line(to_bit) } else { LINE_BITS };
        let end = LINE_BITS + self.count;
        start..if self.next.is_some() { end - in_line(to_bit + self.count) } else { end }
    }

    /// Asks for the lines of the destination that are read before they are written: past the cache, only where rows begin and end.
    #[inline(always)]
    fn ask<L: Lanes>(&self, lanes: L, to: *const u8) {
        let (mut line, bytes) = (0, self.count / 8);
        while line <= bytes {
            let is_whole = self.stream && (line > 0 || self.follow);
            if !(is_whole && (line + LINE < bytes || self.next.is_some())) {
                lanes.prefetch_near(to.wrapping_add(line));
            }
            line += LINE;
        }
    }
}

impl Point for BitRows {
    /// # Safety
    /// As [`move_bits`], for every row, whose part lies a line behind its place in the block, and for what the part before
    /// left; no row of the destination may begin before `dst`.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut row = 0;
        while row < self.rows {
            let to_bit = (self.first + row as isize * self.step) as usize;
            self.ask(lanes, dst.wrapping_offset((to_bit as isize + BIT_ROWS_AHEAD * self.step) / 8));
            let from = src.wrapping_add(row * self.pitch);
            let written = self.written(dst, to_bit);
            let (to_bit, count) = (to_bit + written.start - LINE_BITS, written.len());
            // SAFETY: the caller's promise; a line is before every part.
            unsafe {
                match self.stream {
                    true => stream_bits(lanes, (from, written.start), (dst, to_bit), count),
                    false => move_bits(from, written.start, dst, to_bit, count),
                }
                if let Some(next) = self.next {
                    copy_line(lanes, from.add(next), from.cast_mut());
                }
            }
            row += 1;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_moved_and_others_stay() {
        let src: Vec<u8> = (0..300u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect();
        let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (i % 8) & 1;
        for count in [0usize, 1, 5, 8, 9, 63, 64, 500, 511, 512, 513, 520, 1100, 2000] {
            for (from, to) in (0..8usize).flat_map(|from| (8..16usize).map(move |to| (from, to))) {
                // As long as the bits reach, so that nothing behind them may be read.
                let exactly = src[..(from + count).div_ceil(8)].to_vec();
                let mut found = vec![0xa5; (to + count).div_ceil(8) + 2];
                // SAFETY: both have the bytes of these bits.
                unsafe { move_bits(exactly.as_ptr(), from, found.as_mut_ptr(), to, count) };
                for i in 0..8 * found.len() {
                    let wanted = if (to..to + count).contains(&i) {
                        bit(&src, from + i - to)
                    } else {
                        0xa5 >> (i % 8) & 1
                    };
                    assert_eq!(bit(&found, i), wanted, "bit {i} of {count} from {from} to {to}");
                }
            }
        }
    }
}

//! Columns of slots that share bytes, made ready to be transposed byte by byte.
//!
//! Where a byte has `SLOTS` slots, as many columns have, in each byte, slots of as many rows. Transposing these few slots by
//! as many, byte by byte, makes the bytes of the destination: each of a row, with a slot of each column.

use crate::ahead::Ahead;
use crate::columns::Columns;
use crate::lanes::{LINE, Lanes};
use crate::rows::copy_short;
use crate::tuning::MADE_APART;

/// Columns of packed slots, `SLOTS` a byte.
#[derive(Clone, Copy)]
pub(super) struct PackedColumns<const SLOTS: usize> {
    /// From column to column of slots, in bytes.
    step: isize,
    /// Bytes of a strip in every row: at most [`WIDEST`].
    width: usize,
    /// Room for a stretch of each column of a strip.
    made: *mut u8,
}

/// Lines of a column that are made ready together: with less, they would be read one here and one there.
const STRETCH: usize = 4;

/// The same in bytes.
const STRETCH_BYTES: usize = STRETCH * LINE;

/// The most bytes that a strip has in every row: single lines are written at half the speed of pairs.
pub(super) const WIDEST: usize = 2 * LINE;

impl<const SLOTS: usize> PackedColumns<SLOTS> {
    /// Groups of columns between those that are read and those that are asked for.
    const APART: usize = MADE_APART / SLOTS;

    /// Bytes of room for what is made of columns of so many bytes.
    pub(super) fn room(rows: usize) -> usize {
        SLOTS * WIDEST * rows.next_multiple_of(LINE).min(STRETCH_BYTES)
    }

    /// For columns `step` bytes apart, in strips of at most [`WIDEST`], a power of two; there must be [room] at `made`.
    ///
    /// [room]: PackedColumns::room
    pub(super) fn new(step: isize, width: usize, made: *mut u8) -> Self {
        PackedColumns { step, width, made }
    }

    /// Makes `len` bytes of the columns that become one of bytes ready, and asks for the lines of as many others.
    ///
    /// # Safety
    /// So many bytes must be readable at each of the columns, from `from` on; `to` must be a group's place in the room.
    #[inline(always)]
    unsafe fn group<L: Lanes>(self, lanes: L, from: *const u8, len: usize, to: *mut u8, next: *const u8) {
        let mut at = 0;
        while at < len {
            let mut lines = [Line::default(); SLOTS];
            let mut column = 0;
            while column < SLOTS {
                let place = at as isize + column as isize * self.step;
                lanes.prefetch(next.wrapping_offset(place));
                // SAFETY: the caller's promise.
                lines[column] = unsafe { line(from.wrapping_offset(place), LINE.min(len - at)) };
                column += 1;
            }
            turn_slots(&mut lines);
            let mut part = 0;
            while part < SLOTS {
                let to = Self::place(to, part, at).cast_mut();
                // SAFETY: there is room for a stretch of each column.
                unsafe { to.cast::<Line>().write_unaligned(lines[part]) };
                part += 1;
            }
            at += LINE;
        }
    }
}

impl<const SLOTS: usize> Columns for PackedColumns<SLOTS> {
    const ARE_THE_SOURCES: bool = false;

    const STRETCH: usize = STRETCH;

    #[inline(always)]
    fn strip(&self, _element: usize) -> usize {
        self.width
    }

    #[inline(always)]
    fn rows(&self, _register: usize) -> usize {
        STRETCH_BYTES
    }

    #[inline(always)]
    fn parts(&self) -> usize {
        SLOTS
    }

    #[inline(always)]
    fn of_source(&self, _step: isize, count: usize) -> (isize, usize) {
        (self.step, SLOTS * count)
    }

    /// A line of every column lies together, part by part: what is transposed next.
    #[inline(always)]
    fn place(from: *const u8, part: usize, before: usize) -> *const u8 {
        from.wrapping_add((before / LINE * SLOTS + part) * WIDEST * LINE + before % LINE)
    }

    #[inline(always)]
    unsafe fn ready<L: Lanes, const E: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        rows: usize,
        ahead: Ahead,
    ) -> ((*const u8, isize), Option<Ahead>) {
        let mut group = 0;
        while group < self.width {
            // Behind the last columns follow the first ones of the next stretch.
            let (next, base) = match group + Self::APART {
                next if next < self.width => (next, from),
                next => (next - self.width, ahead.first()),
            };
            let next = base.wrapping_offset(next as isize * step);
            let from = from.wrapping_offset(group as isize * step);
            // SAFETY: the caller's promise; so many bytes of the columns that become one of bytes.
            unsafe { self.group(lanes, from, rows, self.made.wrapping_add(group * LINE), next) };
            group += 1;
        }
        ((self.made, LINE as isize), None)
    }
}

/// A line, in words that registers are made of.
type Line = [u64; LINE / 8];

/// Reads the first `len` bytes of a line.
///
/// # Safety
/// They must be readable at `from`, and at most a line.
#[inline(always)]
unsafe fn line(from: *const u8, len: usize) -> Line {
    // SAFETY: the caller's promise.
    unsafe {
        if len == LINE {
            return from.cast::<Line>().read_unaligned();
        }
        let mut line = Line::default();
        copy_short(from, line.as_mut_ptr().cast(), len);
        line
    }
}

/// Transposes the slots of as many bytes, in every place of the lines: slot `j` of line `i` becomes slot `i` of line `j`. Each
/// step exchanges one bit of the two numbers.
#[inline(always)]
fn turn_slots<const SLOTS: usize>(lines: &mut [Line; SLOTS]) {
    if SLOTS >= 8 {
        exchange::<SLOTS, 4>(lines);
    }
    if SLOTS >= 4 {
        exchange::<SLOTS, 2>(lines);
    }
    exchange::<SLOTS, 1>(lines);
}

/// Exchanges the bit `APART` of the numbers of slots and lines.
#[inline(always)]
fn exchange<const SLOTS: usize, const APART: usize>(lines: &mut [Line; SLOTS]) {
    let bits = 8 / SLOTS * APART;
    // The slots whose number lacks the bit.
    let mask = match bits {
        1 => 0x5555_5555_5555_5555,
        2 => 0x3333_3333_3333_3333,
        _ => 0x0f0f_0f0f_0f0f_0f0f,
    };
    let mut first = 0;
    while first < SLOTS {
        if first & APART == 0 {
            let (mut low, mut high) = (lines[first], lines[first + APART]);
            let mut i = 0;
            while i < low.len() {
                let differ = (low[i] >> bits ^ high[i]) & mask;
                high[i] ^= differ;
                low[i] ^= differ << bits;
                i += 1;
            }
            (lines[first], lines[first + APART]) = (low, high);
        }
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{Bits, store_slot};

    fn check<const SLOTS: usize>(bits: Bits) {
        let mut lines = [[0u8; LINE]; SLOTS];
        let mut expected = lines;
        for place in 0..LINE {
            for (i, j) in (0..SLOTS).flat_map(|i| (0..SLOTS).map(move |j| (i, j))) {
                let value = (place * 29 + i * 7 + j * 3) as u8;
                store_slot(&mut lines[i][place..=place], j, bits, value);
                store_slot(&mut expected[j][place..=place], i, bits, value);
            }
        }
        let mut lines = lines.map(bytemuck::cast::<_, Line>);
        turn_slots(&mut lines);
        assert_eq!(lines.map(bytemuck::cast::<_, [u8; LINE]>), expected);
    }

    #[test]
    fn slots_are_transposed() {
        check::<2>(Bits::Four);
        check::<4>(Bits::Two);
        check::<8>(Bits::One);
    }
}

//! Columns of slots that share bytes, made ready to be transposed byte by byte.
//!
//! Where a byte has `SLOTS` slots, as many columns have, in each byte, slots of as many rows. Transposing these few slots by
//! as many, byte by byte, makes the bytes of the destination: each of a row, with a slot of each column.

use crate::ahead::Ahead;
use crate::columns::Columns;
use crate::lanes::{LINE, Lanes};
use crate::rows::copy_short;
use crate::tuning::MADE_STRETCH;

/// Columns of packed slots, `SLOTS` a byte.
#[derive(Clone, Copy)]
pub(super) struct PackedColumns<const SLOTS: usize> {
    /// From column to column of slots, in bytes.
    pub(super) step: isize,
    /// Room for a line of each column of a strip.
    pub(super) made: *mut u8,
}

impl<const SLOTS: usize> Columns for PackedColumns<SLOTS> {
    const ARE_THE_SOURCES: bool = false;

    const STRETCH: usize = MADE_STRETCH;

    #[inline(always)]
    fn rows(&self, _register: usize) -> usize {
        LINE
    }

    #[inline(always)]
    fn parts(&self) -> usize {
        SLOTS
    }

    #[inline(always)]
    fn of_source(&self, _step: isize, count: usize) -> (isize, usize) {
        (self.step, SLOTS * count)
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
        while group < LINE {
            let from = from.wrapping_offset(group as isize * step);
            let mut lines = [[0; LINE]; SLOTS];
            let mut column = 0;
            while column < SLOTS {
                ahead.ask_lines(lanes, group * SLOTS + column, 1);
                // SAFETY: the caller's promise; so many bytes of the columns that become one of bytes.
                unsafe { line(from.wrapping_offset(column as isize * self.step), rows, &mut lines[column]) };
                column += 1;
            }
            turn_slots(&mut lines);
            let mut part = 0;
            while part < SLOTS {
                let to = self.made.wrapping_add((part * LINE + group) * LINE);
                // SAFETY: there is room for a line of each column, part by part.
                unsafe { to.cast::<[u8; LINE]>().write(lines[part]) };
                part += 1;
            }
            group += 1;
        }
        ((self.made, LINE as isize), None)
    }
}

/// Reads the first `len` bytes of a line.
///
/// # Safety
/// They must be readable at `from`, and at most a line.
#[inline(always)]
unsafe fn line(from: *const u8, len: usize, line: &mut [u8; LINE]) {
    // SAFETY: the caller's promise; bytes ask for no alignment.
    unsafe {
        match len {
            LINE => *line = from.cast::<[u8; LINE]>().read(),
            _ => copy_short(from, line.as_mut_ptr(), len),
        }
    }
}

/// Transposes the slots of as many bytes, in every place of the lines: slot `j` of line `i` becomes slot `i` of line `j`. Each
/// step exchanges one bit of the two numbers.
#[inline(always)]
fn turn_slots<const SLOTS: usize>(lines: &mut [[u8; LINE]; SLOTS]) {
    let bits = 8 / SLOTS;
    let mut apart = SLOTS / 2;
    while apart > 0 {
        // The slots whose number lacks the bit.
        let mask = match bits * apart {
            1 => 0x55,
            2 => 0x33,
            _ => 0x0f,
        };
        let mut first = 0;
        while first < SLOTS {
            if first & apart == 0 {
                let (low, high) = (lines[first], lines[first + apart]);
                let mut i = 0;
                while i < LINE {
                    let (a, b) = (low[i], high[i]);
                    lines[first][i] = a & mask | (b & mask) << (bits * apart);
                    lines[first + apart][i] = a >> (bits * apart) & mask | b & !mask;
                    i += 1;
                }
            }
            first += 1;
        }
        apart /= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::{Bits, store_slot};

    fn check<const SLOTS: usize>(bits: Bits) {
        let mut lines = [[0; LINE]; SLOTS];
        let mut expected = lines;
        for place in 0..LINE {
            for (i, j) in (0..SLOTS).flat_map(|i| (0..SLOTS).map(move |j| (i, j))) {
                let value = (place * 29 + i * 7 + j * 3) as u8;
                store_slot(&mut lines[i][place..=place], j, bits, value);
                store_slot(&mut expected[j][place..=place], i, bits, value);
            }
        }
        turn_slots(&mut lines);
        assert_eq!(lines, expected);
    }

    #[test]
    fn slots_are_transposed() {
        check::<2>(Bits::Four);
        check::<4>(Bits::Two);
        check::<8>(Bits::One);
    }
}

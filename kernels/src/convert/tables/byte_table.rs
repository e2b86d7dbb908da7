//! Elements of a byte that become others, by a table of what becomes of each of the 256, where registers look up 16 bytes: whatever
//! the conversion, it costs the same.
//!
//! A result is looked up by the low half of a byte and chosen by the bits of the high one. Where a bit counts, what it changes is
//! added without carry: so each choice is a bit by bit difference that is looked up, too, and left out by a mask. Of three bits
//! there are eight differences, and what the sign changes, one more wherever that is always the same, and eight more elsewhere.

use pulp::NullaryFnOnce;

use crate::convert::hop::Hop;
use crate::convert::program::Conversion;
use crate::convert::rows::{ConvertRows, Form, Lines};
use crate::convert::tables::table::ENTRIES;
use crate::convert::words::{BLOCK, Means, Vector, put_bytes};
use crate::deinterleave::load_unzipped;
use crate::lanes::{LANE, Lanes, apart, put};

/// Bits of the high half of a byte without the sign.
const BITS: usize = 3;

/// Differences by these.
const DIFFERENCES: usize = 1 << BITS;

/// Of every number of four bits all bits where a bit of it is set.
const MASKS: [[u8; LANE]; BITS + 1] = {
    let mut masks = [[0; LANE]; BITS + 1];
    let mut number = 0;
    while number < LANE {
        let mut bit = 0;
        while bit <= BITS {
            masks[bit][number] = if number >> bit & 1 == 1 { u8::MAX } else { 0 };
            bit += 1;
        }
        number += 1;
    }
    masks
};

/// What becomes of every byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByteTable {
    /// By the bits of a number, what they change together that none of them changes alone, without the sign and with it.
    differences: [[[u8; LANE]; DIFFERENCES]; 2],
    /// Where the sign changes the same of all bytes, that, for every high half that has it.
    sign: Option<[u8; LANE]>,
}

impl ByteTable {
    pub(crate) fn new(results: &[u8; ENTRIES]) -> ByteTable {
        let mut rows: [[u8; LANE]; 2 * DIFFERENCES] =
            core::array::from_fn(|high| core::array::from_fn(|low| results[high * LANE + low]));
        // Each bit's part of what its number changes, one after the other.
        for bit in 0..=BITS {
            for number in (0..rows.len()).filter(|number| number >> bit & 1 == 1) {
                let without = rows[number ^ (1 << bit)];
                rows[number].iter_mut().zip(without).for_each(|(row, without)| *row ^= without);
            }
        }
        let differences =
            [0, 1].map(|sign: usize| core::array::from_fn(|number| rows[sign * DIFFERENCES + number]));
        let [first, others @ ..]: [[u8; LANE]; DIFFERENCES] = differences[1];
        let is_same = others == [[0; LANE]; DIFFERENCES - 1] && first == [first[0]; LANE];
        ByteTable { differences, sign: is_same.then(|| MASKS[BITS].map(|mask| mask & first[0])) }
    }

    /// True for conversions that take longer otherwise: of floats of a byte to other bytes, or the reverse.
    pub(crate) fn fits(conversion: &Conversion) -> bool {
        let is_float = |hop: &Hop| {
            matches!(hop, Hop::Decode8(_) | Hop::DecodePower | Hop::Encode8(_) | Hop::EncodePower { .. })
        };
        let bytes = [conversion.src_bytes(), conversion.dst_bytes()];
        bytes == [1; 2] && conversion.parts() == 1 && conversion.hops().any(is_float)
    }

    /// Converts rows; false where there is no way, and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], which means what it offers.
    pub(in crate::convert) unsafe fn run<M: Means>(&self, rows: &ConvertRows<'_>, means: M) -> bool {
        let has_way = match rows.form {
            Form::Plain | Form::Lines => true,
            Form::Zip { ways, .. } => ways == 4,
            Form::Unzip { ways, lines, .. } => ways == 4 && matches!(lines, Lines::Stored | Lines::Whole),
            Form::ZipPairs { .. } | Form::UnzipPairs { .. } => false,
        };
        let takes = has_way && rows.count >= BLOCK && !rows.has_packed() && rows.turned.is_none();
        takes
            && match self.sign {
                Some(sign) => means.vectorize(Enter { rows, means, table: (self.differences[0], sign) }),
                None => means.vectorize(Enter { rows, means, table: self.differences }),
            }
    }
}

/// What becomes of the bytes of a register.
trait Results: Copy {
    fn of<L: Lanes>(&self, lanes: L, bytes: L::Vector) -> L::Vector;
}

/// Where the sign changes anything.
impl Results for [[[u8; LANE]; DIFFERENCES]; 2] {
    #[inline(always)]
    fn of<L: Lanes>(&self, lanes: L, bytes: L::Vector) -> L::Vector {
        let halves @ (_, high) = lanes.halves(bytes);
        let (plain, changed) = (differences(lanes, &self[0], halves), differences(lanes, &self[1], halves));
        lanes.xor(plain, lanes.and(changed, lanes.look_up(MASKS[BITS], high)))
    }
}

/// Where it always changes the same.
impl Results for ([[u8; LANE]; DIFFERENCES], [u8; LANE]) {
    #[inline(always)]
    fn of<L: Lanes>(&self, lanes: L, bytes: L::Vector) -> L::Vector {
        let halves @ (_, high) = lanes.halves(bytes);
        lanes.xor(differences(lanes, &self.0, halves), lanes.look_up(self.1, high))
    }
}

/// The sums of what the low three bits of the high halves change: pairs by the first bit, pairs of these by the next one, and both.
#[inline(always)]
fn differences<L: Lanes>(
    lanes: L,
    tables: &[[u8; LANE]; DIFFERENCES],
    (low, high): (L::Vector, L::Vector),
) -> L::Vector {
    let mut sums = [low; DIFFERENCES];
    let mut i = 0;
    while i < DIFFERENCES {
        sums[i] = lanes.look_up(tables[i], low);
        i += 1;
    }
    let mut bit = 0;
    while bit < BITS {
        let mask = lanes.look_up(MASKS[bit], high);
        let mut i = 0;
        while i < DIFFERENCES >> (bit + 1) {
            sums[i] = lanes.xor(sums[2 * i], lanes.and(sums[2 * i + 1], mask));
            i += 1;
        }
        bit += 1;
    }
    sums[0]
}

/// Rows as pulp wants them.
struct Enter<'r, 'a, M, T> {
    rows: &'r ConvertRows<'a>,
    means: M,
    table: T,
}

impl<M: Means, T: Results> NullaryFnOnce for Enter<'_, '_, M, T> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // A copy, which no store may change.
        let rows = *self.rows;
        let enter = Enter { rows: &rows, ..self };
        // SAFETY: entered by `ByteTable::run`, whose caller keeps the contract.
        unsafe {
            match rows.form {
                Form::Plain | Form::Lines => enter.straight(),
                Form::Zip { step, stream, .. } => enter.zip(step, stream),
                Form::Unzip { step, lines, .. } => enter.unzip(step, lines.are_whole()),
                Form::ZipPairs { .. } | Form::UnzipPairs { .. } => return false,
            }
        }
        true
    }
}

impl<M: Means, T: Results> Enter<'_, '_, M, T> {
    /// Row by row, line by line; the last one of a row steps back.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements.
    #[inline(always)]
    unsafe fn straight(&self) {
        let (rows, lanes) = (self.rows, self.means.lanes());
        let streamed = apart(rows.form.is_lines(), BLOCK, rows.count);
        for row in 0..rows.rows as isize {
            let (src, dst) = rows.starts(row);
            let mut done = 0;
            while done < rows.count {
                let at = done.min(rows.count - BLOCK);
                rows.look_ahead_of(lanes, row, src, at, BLOCK);
                let mut line = [lanes.zero(); BLOCK / LANE];
                let mut part = 0;
                while part < BLOCK / M::Lanes::BYTES {
                    // SAFETY: a register of the block.
                    line[part] = unsafe { lanes.load(src.add(at + part * M::Lanes::BYTES)) };
                    part += 1;
                }
                // SAFETY: as many elements of the row.
                unsafe { self.put(line, dst.add(at), done < streamed) };
                done = at + BLOCK;
            }
        }
    }

    /// Four rows `step` apart become a stream of words.
    ///
    /// # Safety
    /// As [`Enter::straight`]; streams start lines if `stream`.
    #[inline(always)]
    unsafe fn zip(&self, step: isize, stream: bool) {
        let (rows, lanes) = (self.rows, self.means.lanes());
        let streamed = apart(stream, BLOCK, rows.count);
        for row in rows.each_row() {
            let (src, dst) = rows.woven_starts(row);
            let mut done = 0;
            while done < rows.count {
                let at = done.min(rows.count - BLOCK);
                let mut i = 0;
                while i < BLOCK {
                    let mut ways = [lanes.zero(); 4];
                    let mut way = 0;
                    while way < 4 {
                        let from = src.wrapping_offset(way as isize * step).wrapping_add(at + i);
                        if i == 0 {
                            rows.look_ahead(lanes, from, BLOCK);
                        }
                        // SAFETY: a register of a row's block.
                        let bytes = unsafe { lanes.load(from) };
                        ways[way] = self.table.of(lanes, self.means.ordered(2, bytes));
                        way += 1;
                    }
                    // SAFETY: as many words of the stream.
                    unsafe { put_bytes(lanes, dst.add(4 * (at + i)), ways, done < streamed) };
                    i += M::Lanes::BYTES;
                }
                done = at + BLOCK;
            }
        }
    }

    /// A stream of words becomes four rows `step` apart.
    ///
    /// # Safety
    /// As [`Enter::straight`]; rows start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip(&self, step: isize, stream: bool) {
        let (rows, lanes) = (self.rows, self.means.lanes());
        let streamed = apart(stream, BLOCK, rows.count);
        for row in rows.each_row() {
            let (src, dst) = rows.woven_starts(row);
            let mut done = 0;
            while done < rows.count {
                let at = done.min(rows.count - BLOCK);
                rows.look_ahead(lanes, src.wrapping_add(4 * at), 4 * BLOCK);
                // SAFETY: a block of the stream, and of each row.
                unsafe { self.unzip_block(src.add(4 * at), dst.wrapping_add(at), step, done < streamed) };
                done = at + BLOCK;
            }
        }
    }

    /// A block of it: whole lines, one after the other.
    ///
    /// # Safety
    /// A block must be readable in each way of the stream, and writable in each row, which start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip_block(&self, from: *const u8, to: *mut u8, step: isize, stream: bool) {
        let lanes = self.means.lanes();
        let mut lines = [[lanes.zero(); 4]; BLOCK / LANE];
        let mut part = 0;
        while part < BLOCK / M::Lanes::BYTES {
            // SAFETY: as many words as a register has bytes.
            lines[part] =
                unsafe { load_unzipped::<M::Lanes, 1, 4>(lanes, from.add(4 * part * M::Lanes::BYTES)) };
            part += 1;
        }
        let mut way = 0;
        while way < 4 {
            let mut line = [lanes.zero(); BLOCK / LANE];
            let mut part = 0;
            while part < BLOCK / M::Lanes::BYTES {
                line[part] = lines[part][way];
                part += 1;
            }
            // SAFETY: a block of the row.
            unsafe { self.put(line, to.wrapping_offset(way as isize * step), stream) };
            way += 1;
        }
    }

    /// Writes what becomes of a line, one register right after the other.
    ///
    /// # Safety
    /// As [`put`], for a line.
    #[inline(always)]
    unsafe fn put(&self, mut line: [Vector<M>; BLOCK / LANE], to: *mut u8, stream: bool) {
        let lanes = self.means.lanes();
        let mut part = 0;
        while part < BLOCK / M::Lanes::BYTES {
            line[part] = self.table.of(lanes, line[part]);
            part += 1;
        }
        let mut part = 0;
        while part < BLOCK / M::Lanes::BYTES {
            // SAFETY: a register of the line.
            unsafe { put(lanes, to.wrapping_add(part * M::Lanes::BYTES), line[part], stream) };
            part += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the differences of a byte come to.
    fn found(table: &ByteTable, byte: usize) -> u8 {
        let (low, high) = (byte % LANE, byte / LANE);
        let parts = (0..2 * DIFFERENCES).filter(|number| number & high == *number);
        parts.fold(0, |sum, n| sum ^ table.differences[n / DIFFERENCES][n % DIFFERENCES][low])
    }

    #[test]
    fn differences_come_to_what_a_byte_becomes() {
        let mixed: [u8; ENTRIES] = core::array::from_fn(|i| (i.wrapping_mul(0x9E37_79B9) >> 7) as u8);
        let signed = core::array::from_fn(|i| ((i as u8 & 0x7f) / 2) | (i as u8 & 0x80));
        for (results, sign) in [(mixed, None), (signed, Some(MASKS[BITS].map(|mask| mask & 0x80)))] {
            let table = ByteTable::new(&results);
            assert_eq!(table.sign, sign);
            for (byte, &result) in results.iter().enumerate() {
                assert_eq!(found(&table, byte), result, "{byte:#x}");
            }
        }
    }
}

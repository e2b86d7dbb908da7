//! Rows of slots that share bytes, otherwise as they are: packed, unpacked, and woven eight at a time.

use super::hop::{Hop, NO_FACTORS, apply};
use super::pack::{pack, unpack_exactly};
use super::rows::{self, ConvertRows, Form};
use super::words::Means;
use crate::deinterleave::unzip_rows;
use crate::interleave::zip_rows;
use crate::lanes::{LINE, Lanes, copy_line, stream_line};
use crate::slots::Bits;

/// Slots that are packed or unpacked between two looks ahead.
const STEP: usize = 8 * LINE;

/// Rows of half bytes of which a word takes one slot each.
pub(super) const HALF_BYTES: usize = 8;

/// Some lines in the first-level cache, or in registers.
#[repr(align(64))]
struct Lines<const COUNT: usize>([[u8; LINE]; COUNT]);

/// Moves rows for which there is a way here; false where there is none, and nothing was done.
///
/// # Safety
/// As [`ConvertRows::at_level`].
#[inline(always)]
pub(super) unsafe fn packed<M: Means>(rows: &ConvertRows<'_>, means: M) -> bool {
    if !rows.conversion.is_identity() {
        return false;
    }
    let alone = Packed { rows, lanes: means.lanes() };
    // SAFETY: the caller's promise, for all of them.
    unsafe {
        match (rows.form, rows.src.bits, rows.dst.bits) {
            // One loop for each width, which divides by constants.
            (Form::Plain | Form::Lines, None, Some(Bits::One)) => alone.pack(Bits::One),
            (Form::Plain | Form::Lines, None, Some(Bits::Two)) => alone.pack(Bits::Two),
            (Form::Plain | Form::Lines, None, Some(Bits::Four)) => alone.pack(Bits::Four),
            (Form::Plain | Form::Lines, Some(Bits::One), None) => alone.unpack(Bits::One),
            (Form::Plain | Form::Lines, Some(Bits::Two), None) => alone.unpack(Bits::Two),
            (Form::Plain | Form::Lines, Some(Bits::Four), None) => alone.unpack(Bits::Four),
            (Form::Zip { ways: HALF_BYTES, step, stream }, src, Some(Bits::Four))
                if alone.aligned(src, step) =>
            {
                match src {
                    Some(_) if rows.count >= 2 * LINE => alone.zip_packed(step, stream),
                    _ => alone.zip(step, stream),
                }
            }
            (Form::Unzip { ways: HALF_BYTES, step, lines }, Some(Bits::Four), None)
                if alone.aligned(Some(Bits::Four), 0) =>
            {
                alone.unzip(step, lines == rows::Lines::Whole);
            }
            _ => return false,
        }
    }
    true
}

/// Rows at a level.
#[derive(Clone, Copy)]
struct Packed<'a, L> {
    rows: &'a ConvertRows<'a>,
    lanes: L,
}

impl<L: Lanes> Packed<'_, L> {
    /// True where rows that are `step` apart all start bytes on either side, at whole lines of slots.
    #[inline(always)]
    fn aligned(self, src: Option<Bits>, step: isize) -> bool {
        let even = |place: isize| place % 2 == 0;
        let (from, to) = (self.rows.src, self.rows.dst);
        let fits = |bits: Option<Bits>, first: isize, pitch: isize| match bits {
            Some(Bits::Four) => even(first) && even(pitch) && even(step),
            Some(_) => false,
            None => true,
        };
        self.rows.count.is_multiple_of(2)
            && fits(src, from.first, from.pitch)
            && self.rows.dst.bits.is_none_or(|_| even(to.first) && even(to.pitch))
    }

    /// Bytes become slots; those of lines start lines, and are whole.
    ///
    /// # Safety
    /// As [`packed`].
    #[inline(always)]
    unsafe fn pack(self, bits: Bits) {
        let stream = self.rows.form == Form::Lines;
        let per_byte = 8 / bits as usize;
        let mut row = 0;
        while row < self.rows.rows as isize {
            let from = self.rows.src.byte(self.rows.src.first + row * self.rows.src.pitch).cast_const();
            let first = (self.rows.dst.first + row * self.rows.dst.pitch) as usize;
            let mut done = 0;
            while done < self.rows.count {
                let count = STEP.min(self.rows.count - done);
                self.rows.look_ahead(self.lanes, from.wrapping_add(done), count);
                let slot = first + done;
                // SAFETY: slots of the row. Lines have `STEP` slots or a divisor of it.
                unsafe {
                    let from = from.add(done);
                    let to = self.rows.dst.base;
                    match stream {
                        true => self.pack_lines(bits, from, to.add(slot / per_byte), count / per_byte),
                        false => pack(bits, from, to, slot, count),
                    }
                }
                done += count;
            }
            row += 1;
        }
    }

    /// # Safety
    /// `bytes`, which are whole lines, must be writable at `to`, which starts a line, and their slots readable at `from`.
    #[inline(always)]
    unsafe fn pack_lines(self, bits: Bits, from: *const u8, to: *mut u8, bytes: usize) {
        let mut at = 0;
        while at < bytes {
            let mut line = Lines([[0; LINE]; 1]);
            let room = line.0.as_mut_ptr().cast::<u8>();
            // SAFETY: a line, and its slots.
            unsafe {
                match bits {
                    Bits::One => apply(&Hop::Pack(Bits::One), from.add(8 * at), room, LINE, NO_FACTORS),
                    Bits::Two => apply(&Hop::Pack(Bits::Two), from.add(4 * at), room, LINE, NO_FACTORS),
                    Bits::Four => apply(&Hop::Pack(Bits::Four), from.add(2 * at), room, LINE, NO_FACTORS),
                }
                stream_line(self.lanes, room, to.add(at));
            }
            at += LINE;
        }
    }

    /// Slots become bytes; those of lines start lines, and are whole.
    ///
    /// # Safety
    /// As [`packed`].
    #[inline(always)]
    unsafe fn unpack(self, bits: Bits) {
        let stream = self.rows.form == Form::Lines;
        let per_byte = 8 / bits as usize;
        let mut row = 0;
        while row < self.rows.rows as isize {
            let first = (self.rows.src.first + row * self.rows.src.pitch) as usize;
            let to = self.rows.dst.byte(self.rows.dst.first + row * self.rows.dst.pitch);
            let mut done = 0;
            while done < self.rows.count {
                let count = STEP.min(self.rows.count - done);
                let slot = first + done;
                let from = self.rows.src.base.cast_const();
                self.rows.look_ahead(self.lanes, from.wrapping_add(slot / per_byte), count / per_byte);
                // SAFETY: slots of the row; whole lines where they start bytes and go past the cache.
                unsafe {
                    if stream && slot.is_multiple_of(per_byte) && count == STEP {
                        self.unpack_lines(bits, from.add(slot / per_byte), to.add(done));
                    } else {
                        unpack_exactly(bits, from, slot, to.add(done), count);
                    }
                }
                done += count;
            }
            row += 1;
        }
    }

    /// # Safety
    /// [`STEP`] bytes must be writable at `to`, which starts a line, and as many slots readable at `from`.
    #[inline(always)]
    unsafe fn unpack_lines(self, bits: Bits, from: *const u8, to: *mut u8) {
        let mut at = 0;
        while at < STEP {
            let mut lines = Lines([[0; LINE]; 4]);
            let room = lines.0.as_mut_ptr().cast::<u8>();
            // SAFETY: four lines, and the slots that become them.
            unsafe {
                match bits {
                    Bits::One => {
                        apply(&Hop::Unpack(Bits::One), from.add(at / 8), room, 4 * LINE / 8, NO_FACTORS)
                    }
                    Bits::Two => {
                        apply(&Hop::Unpack(Bits::Two), from.add(at / 4), room, 4 * LINE / 4, NO_FACTORS)
                    }
                    Bits::Four => {
                        apply(&Hop::Unpack(Bits::Four), from.add(at / 2), room, 4 * LINE / 2, NO_FACTORS)
                    }
                }
                let mut line = 0;
                while line < 4 * LINE {
                    stream_line(self.lanes, room.add(line), to.add(at + line));
                    line += LINE;
                }
            }
            at += 4 * LINE;
        }
    }

    /// Eight rows become one stream: two at a time the bytes of four, which are interleaved.
    ///
    /// # Safety
    /// As [`packed`], for rows that start bytes; the stream starts a line if `stream`.
    #[inline(always)]
    unsafe fn zip(self, step: isize, stream: bool) {
        let mut row = 0;
        while row < self.rows.rows as isize {
            let src = self.rows.src.at(row * self.rows.src.pitch);
            let to = self.rows.dst.at(row * self.rows.dst.pitch).byte_of(0);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - LINE);
                let mut rows = Lines([[0; LINE]; HALF_BYTES]);
                let mut way = 0;
                while way < HALF_BYTES {
                    let from = src.at(way as isize * step + at as isize);
                    // SAFETY: a line of slots of a row.
                    unsafe { self.line(from.byte_of(0), from.bits.is_some(), &mut rows.0[way]) };
                    way += 1;
                }
                let pairs = joined(&rows);
                // SAFETY: as many slots of the stream, half a byte each.
                unsafe {
                    let (from, to) = (pairs.0.as_ptr().cast::<u8>(), to.add(4 * at));
                    zip_rows::<L, 1, 4>(self.lanes, LINE, LINE as isize, from, to, stream && at == done);
                }
                done = at + LINE;
            }
            row += 1;
        }
    }

    /// The same for a line of packed slots of each row at a time, without taking them apart: a half of a byte of one row and
    /// one of the next make a byte of the stream.
    ///
    /// # Safety
    /// As [`Packed::zip`], for packed rows of at least two lines of slots.
    #[inline(always)]
    unsafe fn zip_packed(self, step: isize, stream: bool) {
        let columns = 2 * LINE;
        let step = step / 2;
        let mut row = 0;
        while row < self.rows.rows as isize {
            let from = self.rows.src.at(row * self.rows.src.pitch).byte_of(0).cast_const();
            let to = self.rows.dst.at(row * self.rows.dst.pitch).byte_of(0);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - columns);
                let mut halves = Lines([[0; LINE]; HALF_BYTES]);
                let mut pair = 0;
                while pair < HALF_BYTES / 2 {
                    let first = from.wrapping_add(at / 2).wrapping_offset(2 * pair as isize * step);
                    let second = first.wrapping_offset(step);
                    self.rows.look_ahead(self.lanes, first, LINE);
                    self.rows.look_ahead(self.lanes, second, LINE);
                    // SAFETY: a line of two rows; arrays of words are read where they lie.
                    let [low, high] = unsafe {
                        halves_of(
                            first.cast::<Words>().read_unaligned(),
                            second.cast::<Words>().read_unaligned(),
                        )
                    };
                    halves.0[pair] = bytemuck::cast(low);
                    halves.0[HALF_BYTES / 2 + pair] = bytemuck::cast(high);
                    pair += 1;
                }
                // SAFETY: as many slots of the stream, half a byte each.
                unsafe {
                    let (from, to) = (halves.0.as_ptr().cast::<u8>(), to.add(4 * at));
                    zip_rows::<L, 1, HALF_BYTES>(
                        self.lanes,
                        LINE,
                        LINE as isize,
                        from,
                        to,
                        stream && at == done,
                    );
                }
                done = at + columns;
            }
            row += 1;
        }
    }

    /// A line of slots of a row, a byte each.
    ///
    /// # Safety
    /// They must be readable at `from`.
    #[inline(always)]
    unsafe fn line(self, from: *const u8, is_packed: bool, line: &mut [u8; LINE]) {
        self.rows.look_ahead(self.lanes, from, if is_packed { LINE / 2 } else { LINE });
        // SAFETY: the caller's promise; arrays of bytes ask for no alignment.
        unsafe {
            match is_packed {
                true => apply(&Hop::Unpack(Bits::Four), from, line.as_mut_ptr(), LINE / 2, NO_FACTORS),
                false => *line = from.cast::<[u8; LINE]>().read(),
            }
        }
    }

    /// One stream becomes eight rows of bytes: the reverse.
    ///
    /// # Safety
    /// As [`packed`], for rows that start bytes; the rows start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip(self, step: isize, stream: bool) {
        let mut row = 0;
        while row < self.rows.rows as isize {
            let from = self.rows.src.at(row * self.rows.src.pitch).byte_of(0).cast_const();
            let dst = self.rows.dst.at(row * self.rows.dst.pitch);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - LINE);
                self.rows.look_ahead(self.lanes, from.wrapping_add(4 * at), 4 * LINE);
                let mut pairs = Lines([[0; LINE]; HALF_BYTES / 2]);
                let room = pairs.0.as_mut_ptr().cast::<u8>();
                // SAFETY: as many slots of the stream, half a byte each.
                unsafe {
                    unzip_rows::<L, 1, 4>(self.lanes, LINE, LINE as isize, from.add(4 * at), room, false);
                }
                let rows = split(&pairs);
                let mut way = 0;
                while way < HALF_BYTES {
                    let to = dst.at(way as isize * step + at as isize).byte_of(0);
                    let line = rows.0[way].as_ptr();
                    // SAFETY: a line of a row.
                    unsafe {
                        match stream && at == done {
                            true => stream_line(self.lanes, line, to),
                            false => copy_line(self.lanes, line, to),
                        }
                    }
                    way += 1;
                }
                done = at + LINE;
            }
            row += 1;
        }
    }
}

/// A line, in words.
type Words = [u64; LINE / 8];

/// The low halves of the bytes of two lines as halves of a byte, and the high ones.
#[inline(always)]
fn halves_of(first: Words, second: Words) -> [Words; 2] {
    const LOW: u64 = 0x0f0f_0f0f_0f0f_0f0f;
    let (mut low, mut high) = (Words::default(), Words::default());
    let mut i = 0;
    while i < low.len() {
        low[i] = first[i] & LOW | (second[i] & LOW) << 4;
        high[i] = first[i] >> 4 & LOW | second[i] & !LOW;
        i += 1;
    }
    [low, high]
}

/// The slots of two rows at a time as halves of a byte.
#[inline(always)]
fn joined(rows: &Lines<HALF_BYTES>) -> Lines<{ HALF_BYTES / 2 }> {
    let mut pairs = Lines([[0; LINE]; HALF_BYTES / 2]);
    let mut pair = 0;
    while pair < HALF_BYTES / 2 {
        let mut i = 0;
        while i < LINE {
            pairs.0[pair][i] = rows.0[2 * pair][i] & 0x0f | rows.0[2 * pair + 1][i] << 4;
            i += 1;
        }
        pair += 1;
    }
    pairs
}

/// The halves of every byte as slots of two rows.
#[inline(always)]
fn split(pairs: &Lines<{ HALF_BYTES / 2 }>) -> Lines<HALF_BYTES> {
    let mut rows = Lines([[0; LINE]; HALF_BYTES]);
    let mut pair = 0;
    while pair < HALF_BYTES / 2 {
        let mut i = 0;
        while i < LINE {
            rows.0[2 * pair][i] = pairs.0[pair][i] & 0x0f;
            rows.0[2 * pair + 1][i] = pairs.0[pair][i] >> 4;
            i += 1;
        }
        pair += 1;
    }
    rows
}

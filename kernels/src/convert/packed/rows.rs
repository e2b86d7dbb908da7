//! Rows of slots that share bytes, otherwise as they are: packed, unpacked, and moved to other bits.

use crate::convert::hop::{Hop, NO_FACTORS, apply};
use crate::convert::packed::bit_runs::move_bits;
use crate::convert::packed::pack::{pack, unpack_exactly};
use crate::convert::rows::{ConvertRows, Form, Place};
use crate::convert::words::Means;
use crate::lanes::{Held, LINE, Lanes, stream_line};
use crate::slots::Bits;

/// Slots that are packed or unpacked between two looks ahead.
const STEP: usize = 8 * LINE;

/// Bytes that slots become before they are written past the cache.
const LINES: usize = 4 * LINE;

/// Moves rows for which there is a way here; false where there is none, and nothing was done.
///
/// # Safety
/// As [`ConvertRows::at_level`].
#[inline(always)]
pub(crate) unsafe fn packed<M: Means>(rows: &ConvertRows<'_>, means: M) -> bool {
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
            (Form::Plain, Some(from), Some(to)) if from == to => alone.shift(from),
            _ => return alone.weave(),
        }
    }
    true
}

/// Rows at a level.
#[derive(Clone, Copy)]
pub(crate) struct Packed<'a, L> {
    pub(crate) rows: &'a ConvertRows<'a>,
    pub(crate) lanes: L,
}

impl<L: Lanes> Packed<'_, L> {
    /// Bytes become slots; those of lines start lines, and are whole.
    ///
    /// # Safety
    /// As [`packed`].
    #[inline(always)]
    unsafe fn pack(self, bits: Bits) {
        let stream = self.rows.form.is_lines();
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
            let mut line = Held([[0; LINE]; 1]);
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
        let stream = self.rows.form.is_lines();
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
                // SAFETY: slots of the row; whole lines where they go past the cache.
                unsafe {
                    if stream && slot.is_multiple_of(per_byte) {
                        self.unpack_lines(bits, from.add(slot / per_byte), to.add(done), count);
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
    /// `count` bytes, which are whole lines, must be writable at `to`, which starts a line, and as many slots readable at `from`.
    #[inline(always)]
    unsafe fn unpack_lines(self, bits: Bits, from: *const u8, to: *mut u8, count: usize) {
        let mut at = 0;
        while at < count {
            let some = LINES.min(count - at);
            let mut lines = Held([[0; LINE]; LINES / LINE]);
            let room = lines.0.as_mut_ptr().cast::<u8>();
            // SAFETY: a few lines, and the slots that become them.
            unsafe {
                match bits {
                    Bits::One => apply(&Hop::Unpack(Bits::One), from.add(at / 8), room, some / 8, NO_FACTORS),
                    Bits::Two => apply(&Hop::Unpack(Bits::Two), from.add(at / 4), room, some / 4, NO_FACTORS),
                    Bits::Four => {
                        apply(&Hop::Unpack(Bits::Four), from.add(at / 2), room, some / 2, NO_FACTORS)
                    }
                }
                let mut line = 0;
                while line < some {
                    stream_line(self.lanes, room.add(line), to.add(at + line));
                    line += LINE;
                }
            }
            at += some;
        }
    }

    /// Slots go from anywhere in a byte to anywhere in one.
    ///
    /// # Safety
    /// As [`packed`].
    #[inline(always)]
    unsafe fn shift(self, bits: Bits) {
        let (from, to, step) = (self.rows.src, self.rows.dst, 8 * STEP / bits as usize);
        let bit = |place: Place, slot: isize| (place.first + slot) as usize * bits as usize;
        let mut row = 0;
        while row < self.rows.rows as isize {
            let mut done = 0;
            while done < self.rows.count {
                let count = step.min(self.rows.count - done);
                let src = bit(from, row * from.pitch + done as isize);
                let dst = bit(to, row * to.pitch + done as isize);
                self.rows.look_ahead(self.lanes, from.base.wrapping_add(src / 8), count * bits as usize / 8);
                // SAFETY: slots of the row.
                unsafe { move_bits(from.base, src, to.base, dst, count * bits as usize) };
                done += count;
            }
            row += 1;
        }
    }
}

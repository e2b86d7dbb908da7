//! Rows of the conversions that go by words, of which a side, or both, are packed: some elements have a byte each between their
//! slots and their words.

use crate::convert::multiply::Find;
use crate::convert::packed::pack::{pack, unpack};
use crate::convert::words::cast_rows::Cast;
use crate::convert::words::casts::{Read, Write};
use crate::convert::words::{BLOCK, Means};
use crate::lanes::apart;

/// Elements that are unpacked at once, or converted before they are packed: what is done besides takes as long as some dozen of them.
const STEP: usize = 1024;

/// Elements with a byte each, and room for those before and behind them in their bytes.
#[repr(align(64))]
struct Bytes([u8; STEP + 16]);

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// Row by row, some elements at a time; the last ones of a row step back rather than be less than a block.
    ///
    /// # Safety
    /// As [`cast_any`](crate::convert::words::pairs::cast_any); elements of a packed side must have one byte.
    #[inline(always)]
    pub(crate) unsafe fn packed(self) {
        let (count, per_byte) = (self.rows.count, self.rows.src.bits.map_or(1, |bits| 8 / bits as usize));
        let (mut unpacked, mut to_pack) = (Bytes([0; STEP + 16]), Bytes([0; STEP + 16]));
        let mut factors = self.factors();
        let mut row = 0;
        while row < self.rows.rows as isize {
            let (src, dst) =
                (self.rows.src.at(row * self.rows.src.pitch), self.rows.dst.at(row * self.rows.dst.pitch));
            let mut done = 0;
            while done < count {
                let first = done.min(count - BLOCK);
                let some = STEP.min(count - first);
                let slot = (src.first + first as isize) as usize;
                let bytes = src.byte_of((first * R::BYTES) as isize);
                self.rows.look_ahead(self.means.lanes(), bytes, some * R::BYTES / per_byte);
                // SAFETY: elements of the row, of which there is room for all bytes.
                unsafe {
                    let from = match src.bits {
                        Some(bits) => {
                            let room = unpacked.0.as_mut_ptr();
                            room.add(unpack(bits, src.base, slot, room, some)).cast_const()
                        }
                        None => bytes.cast_const(),
                    };
                    let to = match dst.bits {
                        Some(_) => to_pack.0.as_mut_ptr(),
                        None => dst.byte(dst.first + (first * W::BYTES) as isize),
                    };
                    let streams = self.rows.form.is_lines() && dst.bits.is_none() && first == done;
                    let place = src.first + (first * R::BYTES) as isize;
                    self.blocks(&mut factors, (from, place), (to, streams), some);
                    if let Some(bits) = dst.bits {
                        pack(bits, to, dst.base, (dst.first + first as isize) as usize, some);
                    }
                }
                done = first + some;
            }
            row += 1;
        }
    }

    /// Converts so many elements, at least a block, whose factors are those of the places from one on.
    ///
    /// # Safety
    /// They must be readable at `from` and writable at `to`, without overlap; they start a line and are whole lines there where
    /// they are streamed.
    #[inline(always)]
    unsafe fn blocks(
        self,
        factors: &mut F,
        (from, place): (*const u8, isize),
        (to, streams): (*mut u8, bool),
        count: usize,
    ) {
        let streamed = apart(streams, BLOCK, count);
        let mut done = 0;
        while done < count {
            let at = done.min(count - BLOCK);
            // SAFETY: a block of them.
            unsafe {
                let (from, place) = (from.add(at * R::BYTES), (place + (at * R::BYTES) as isize, R::BYTES));
                let to = (to.add(at * W::BYTES), done < streamed);
                if !self.rounded_top(factors, from, place, to) {
                    self.block::<F, BLOCK>(factors, from, place, to);
                }
            }
            done = at + BLOCK;
        }
    }

    /// Converts a block of products that the level rounds to upper halves of `f32`, between types that are told apart inside, which
    /// [`Cast::block`] does not know; false where it does not, and nothing was done.
    ///
    /// # Safety
    /// As [`Cast::block`].
    #[inline(always)]
    unsafe fn rounded_top(
        self,
        factors: &mut F,
        from: *const u8,
        place: (isize, usize),
        to: (*mut u8, bool),
    ) -> bool {
        let may_round = !Self::ROUNDS && M::ROUNDS_SHORT && F::MULTIPLIES && R::BYTES == 1 && W::BYTES == 2;
        if !may_round || !self.write.is_top() || !self.read.nan_is_short() {
            return false;
        }
        // SAFETY: the caller's promise.
        unsafe { self.rounded::<F, BLOCK>(factors, from, place, to) }
    }
}

//! Floats of 16 bits that become floats of a byte: register by register, by no words.

use core::arch::x86_64::__m512i;

use pulp::NullaryFnOnce;

use crate::convert::float::Lean;
use crate::convert::rows::{ConvertRows, Form, Lines};
use crate::convert::tables::narrowing::Narrowing;
use crate::convert::words::means_avx512::Avx512;
use crate::convert::words::{BLOCK, Means, put_zips};
use crate::lanes::{LINE, Lanes, apart, put};

/// Low bytes of halves.
const LOW_BYTES: [[u8; 2]; LINE / 2] = [[u8::MAX, 0]; LINE / 2];

impl Narrowing {
    /// Converts rows of at least [`BLOCK`] elements; false where there is no way, and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], which means what it offers.
    pub(in crate::convert) unsafe fn run(&self, rows: &ConvertRows<'_>, means: Avx512) -> bool {
        let has_way = match rows.form {
            Form::Plain | Form::Lines => true,
            Form::Zip { ways, .. } => ways == 4,
            Form::Unzip { ways, lines, .. } => ways == 2 && matches!(lines, Lines::Stored | Lines::Whole),
        };
        let fits = has_way && rows.count >= BLOCK && !rows.has_packed() && rows.turned.is_none();
        fits && match self.kind {
            Lean::NAN_IS_NEXT => means.vectorize(Enter::<{ Lean::NAN_IS_NEXT }>(rows, means, self)),
            Lean::PLAIN_ZERO => means.vectorize(Enter::<{ Lean::PLAIN_ZERO }>(rows, means, self)),
            _ => means.vectorize(Enter::<{ Lean::OTHER }>(rows, means, self)),
        }
    }
}

/// Rows in a level's region.
struct Enter<'r, 'a, const KIND: u32>(&'r ConvertRows<'a>, Avx512, &'r Narrowing);

impl<const KIND: u32> NullaryFnOnce for Enter<'_, '_, KIND> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Enter(rows, means, narrowing) = self;
        // A copy, which no store may change: what registers are filled with is read once.
        let narrow = Narrow::<KIND> { means, narrowing: *narrowing };
        // SAFETY: entered by `Narrowing::run`, whose caller keeps the contract.
        unsafe {
            match rows.form {
                Form::Plain | Form::Lines => rows.straight_to_bytes(&narrow),
                Form::Zip { step, stream, .. } => rows.zip_to_bytes(&narrow, (step, stream)),
                Form::Unzip { step, lines, .. } => {
                    rows.unzip_to_bytes(&narrow, (step, lines == Lines::Whole));
                }
            }
        }
        true
    }
}

/// A level, and what it narrows floats by to those of a kind.
struct Narrow<const KIND: u32> {
    means: Avx512,
    narrowing: Narrowing,
}

impl<const KIND: u32> Narrow<KIND> {
    /// Reads two registers of floats, which become one of packed bytes.
    ///
    /// # Safety
    /// Both must be readable from `from` on.
    #[inline(always)]
    unsafe fn load(&self, from: *const u8) -> __m512i {
        let lanes = self.means.lanes();
        // SAFETY: the caller's promise.
        let halves = unsafe { [lanes.load(from), lanes.load(from.add(LINE))] };
        self.means.narrowed::<KIND>(halves, &self.narrowing)
    }

    /// Takes a block of elements there.
    ///
    /// # Safety
    /// As [`Means::read`] and [`Means::write`].
    #[inline(always)]
    unsafe fn block(&self, from: *const u8, (to, stream): (*mut u8, bool)) {
        let (lanes, mut i) = (self.means.lanes(), 0);
        while i < BLOCK {
            // SAFETY: two registers of the block, and the one that becomes of both.
            unsafe {
                let bytes = self.means.unpacked(1, 0, self.load(from.add(2 * i)));
                put(lanes, to.add(i), bytes, stream);
            }
            i += LINE;
        }
    }

    /// The same for four rows `step` apart, of which every word takes an element each.
    ///
    /// # Safety
    /// As [`Means::read`] for each row, and [`Means::write`] for words.
    #[inline(always)]
    unsafe fn zip_block(&self, (from, step): (*const u8, isize), (to, stream): (*mut u8, bool)) {
        let (lanes, mut i) = (self.means.lanes(), 0);
        while i < BLOCK {
            let mut rows = [lanes.zero(); 4];
            let mut way = 0;
            while way < 4 {
                let from = from.wrapping_offset(way as isize * step).wrapping_add(2 * i);
                // SAFETY: two registers of a row's block.
                rows[way] = unsafe { self.means.unpacked(1, 2, self.load(from)) };
                way += 1;
            }
            let (a, b) = lanes.zip::<1>(rows[0], rows[1]);
            let (c, d) = lanes.zip::<1>(rows[2], rows[3]);
            // SAFETY: the four registers of words that become of as many rows.
            unsafe { put_zips(lanes, to.add(4 * i), [(a, c), (b, d)], stream) };
            i += LINE;
        }
    }

    /// Each of two rows `step` apart takes a half of every word.
    ///
    /// # Safety
    /// As [`Means::read`] for words, and [`Means::write`] for either row.
    #[inline(always)]
    unsafe fn unzip_block(&self, from: *const u8, step: isize, (to, stream): (*mut u8, bool)) {
        let (means, lanes, mut i) = (self.means, self.means.lanes(), 0);
        while i < BLOCK {
            // SAFETY: four registers of words, the one that becomes of each row's elements, and one that is all there.
            unsafe {
                let mask = lanes.load(LOW_BYTES.as_ptr().cast());
                let (a, b) = (self.load(from.add(4 * i)), self.load(from.add(4 * i + 2 * LINE)));
                let even = means.packed([lanes.and(a, mask), lanes.and(b, mask)]);
                let (a, b) = (lanes.shift_down(a, 8), lanes.shift_down(b, 8));
                let odd = means.packed([lanes.and(a, mask), lanes.and(b, mask)]);
                put(lanes, to.add(i), means.unpacked(2, 0, even), stream);
                put(lanes, to.wrapping_offset(step).add(i), means.unpacked(2, 0, odd), stream);
            }
            i += LINE;
        }
    }
}

impl ConvertRows<'_> {
    /// Row by row, block by block; the last block of a row steps back.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements.
    #[inline(always)]
    unsafe fn straight_to_bytes<const KIND: u32>(&self, narrow: &Narrow<KIND>) {
        let streamed = apart(self.form == Form::Lines, BLOCK, self.count);
        for row in 0..self.rows as isize {
            let (src, dst) = self.starts(row);
            let mut done = 0;
            while done < self.count {
                let at = done.min(self.count - BLOCK);
                self.look_ahead_of(narrow.means.lanes(), row, src, 2 * at, 2 * BLOCK);
                let to = (dst.wrapping_add(at), done < streamed);
                // SAFETY: a block of the row.
                unsafe { narrow.block(src.add(2 * at), to) };
                done = at + BLOCK;
            }
        }
    }

    /// Four rows `step` apart each become a stream of words.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements; streams start lines if `stream`.
    #[inline(always)]
    unsafe fn zip_to_bytes<const KIND: u32>(&self, narrow: &Narrow<KIND>, (step, stream): (isize, bool)) {
        let streamed = apart(stream, BLOCK, self.count);
        for row in 0..self.rows as isize {
            let (src, dst) = self.starts(row);
            let mut done = 0;
            while done < self.count {
                let at = done.min(self.count - BLOCK);
                let from = src.wrapping_add(2 * at);
                for way in 0..4 {
                    self.look_ahead(narrow.means.lanes(), from.wrapping_offset(way * step), 2 * BLOCK);
                }
                // SAFETY: a block of four rows of the source, and as many words of the stream.
                unsafe { narrow.zip_block((from, step), (dst.add(4 * at), done < streamed)) };
                done = at + BLOCK;
            }
        }
    }

    /// A stream of words becomes two rows.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements, which start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip_to_bytes<const KIND: u32>(&self, narrow: &Narrow<KIND>, (step, stream): (isize, bool)) {
        let streamed = apart(stream, BLOCK, self.count);
        for row in 0..self.rows as isize {
            let (src, dst) = self.starts(row);
            let mut done = 0;
            while done < self.count {
                let at = done.min(self.count - BLOCK);
                let from = src.wrapping_add(4 * at);
                self.look_ahead(narrow.means.lanes(), from, 4 * BLOCK);
                let to = (dst.wrapping_add(at), done < streamed);
                // SAFETY: as many words of the stream, and a block of either row of the destination.
                unsafe { narrow.unzip_block(from, step, to) };
                done = at + BLOCK;
            }
        }
    }
}

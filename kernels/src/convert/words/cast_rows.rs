//! Rows of the conversions that go by words, in every form: what a block reads is converted, woven and written from
//! registers.

use core::marker::PhantomData;

use pulp::NullaryFnOnce;

use crate::convert::multiply::{Factors, Find, Multiply};
use crate::convert::one_factor::{Either, One};
use crate::convert::rows::{ConvertRows, Form, Look};
use crate::convert::tables::tops::to_tops;
use crate::convert::tables::widening::Widening;
use crate::convert::words::casts::{Read, Write};
use crate::convert::words::{BLOCK, Means, Words};
use crate::lanes::{LINE, Lanes, apart};
use crate::tuning::ROWS_OF_FACTORS;

/// Rows through words, which are multiplied by factors, if by any, between being read and being written.
pub(crate) struct Cast<'a, M, R, W, F> {
    pub(crate) rows: &'a ConvertRows<'a>,
    pub(crate) means: M,
    pub(crate) read: R,
    pub(crate) write: W,
    pub(crate) factors: PhantomData<F>,
}

/// A block that goes step by step.
struct Aside<'a, 'f, M, R, W, F, G, const N: usize> {
    cast: Cast<'a, M, R, W, F>,
    factors: &'f mut G,
    from: *const u8,
    place: (isize, usize),
    to: (*mut u8, bool),
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>, G: Multiply, const N: usize> NullaryFnOnce
    for Aside<'a, '_, M, R, W, F, G, N>
{
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: made by `Cast::aside`, whose caller keeps the contract.
        unsafe { self.cast.by_steps::<G, N>(self.factors, self.from, self.place, self.to) };
        true
    }
}

impl<M: Copy, R: Copy, W: Copy, F> Clone for Cast<'_, M, R, W, F> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: Copy, R: Copy, W: Copy, F> Copy for Cast<'_, M, R, W, F> {}

impl ConvertRows<'_> {
    /// True where rows are long enough for words, and slots have whole bytes.
    #[inline(always)]
    pub(crate) fn fills_blocks(&self) -> bool {
        let conversion = self.conversion;
        // The largest block of any form: a line of the narrower side, if that has one or two bytes.
        let block = if conversion.src_bytes().min(conversion.dst_bytes()) == 2 { BLOCK / 2 } else { BLOCK };
        !self.has_packed() && self.count * conversion.parts() >= block
    }

    /// True where slots share bytes on either side.
    #[inline(always)]
    pub(crate) fn has_packed(&self) -> bool {
        self.src.bits.is_some() || self.dst.bits.is_some()
    }

    /// True for rows that go by words between types that are told apart where they run: those with factors, and those from packed
    /// slots. Rows that are not woven only, where slots are packed.
    pub(crate) fn go_by_any_words(&self) -> bool {
        let alone = matches!(self.form, Form::Plain | Form::Lines) && self.conversion.parts() == 1;
        match self.has_packed() {
            true => {
                // Hops into packed slots are faster than a factor of one.
                let wanted = self.conversion.is_scaled() || self.dst.bits.is_none();
                wanted && alone && self.count >= BLOCK && !self.conversion.is_identity()
            }
            false => self.conversion.is_scaled() && self.fills_blocks(),
        }
    }
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// True where elements of either side have one byte.
    const HAS_BYTES: bool = R::BYTES == 1 || W::BYTES == 1;

    /// True for products that are rounded to upper halves of `f32`.
    pub(crate) const IS_ROUNDED: bool = F::MULTIPLIES && W::IS_TOP;

    /// True where the level rounds most of these as a block.
    pub(crate) const ROUNDS: bool = Self::IS_ROUNDED && (M::ROUNDS || M::ROUNDS_SHORT && R::NAN_IS_SHORT);

    /// False where there is no way for the form.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    pub(crate) unsafe fn run(self) -> bool {
        let alone = self.rows.conversion.parts() == 1;
        // Packed elements have a byte each on their way.
        let may_be_packed = F::MULTIPLIES && Self::HAS_BYTES;
        // SAFETY: the caller's promise, for all of them.
        unsafe {
            match self.rows.form {
                Form::Plain | Form::Lines if may_be_packed && self.rows.has_packed() => self.packed(),
                Form::Plain | Form::Lines => self.straights(),
                Form::Zip { ways, step, stream } if alone && ways * W::BYTES == 4 => self.zips(step, stream),
                Form::Unzip { ways, step, lines } if alone && ways * R::BYTES == 4 => {
                    return self.unzips(step, lines);
                }
                Form::ZipPairs { step, stream } if alone && (R::BYTES, W::BYTES) == (2, 1) => {
                    self.zips_pairs(step, stream);
                }
                Form::UnzipPairs { step, lines } if alone && (R::BYTES, W::BYTES) == (1, 2) => {
                    self.unzips_pairs(step, lines.are_whole());
                }
                Form::Zip { .. } | Form::Unzip { .. } | Form::ZipPairs { .. } | Form::UnzipPairs { .. } => {
                    return false;
                }
            }
        }
        true
    }

    /// [`Cast::straight`] by blocks of the size that is best. Factors are looked up for each block, and so less often for larger
    /// ones.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    unsafe fn straights(self) {
        // SAFETY: the caller's promise; rows with elements of a byte are that long.
        unsafe {
            if F::MULTIPLIES && (Self::HAS_BYTES || self.rows.count >= BLOCK) {
                return self.straight::<BLOCK>();
            }
            // Registers of half a line are too few for the words of a line of bytes.
            let is_strip = matches!(self.rows.look, Look::Strip(_));
            match (R::BYTES, W::BYTES) {
                (4, 1) if 2 * M::Lanes::BYTES == LINE && !is_strip => self.straight::<{ BLOCK / 2 }>(),
                _ if Self::HAS_BYTES => self.straight::<BLOCK>(),
                _ => self.straight::<{ BLOCK / 2 }>(),
            }
        }
    }

    /// Row by row, block by block; the last block of a row steps back, to lines that were begun before. Rows may be a strip's,
    /// whose lines are asked for by their numbers.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast).
    #[inline(always)]
    unsafe fn straight<const N: usize>(self) {
        let stream = self.rows.form.is_lines() && !matches!(self.rows.look, Look::Strip(_));
        let count = self.rows.count * self.rows.conversion.parts();
        let streamed = apart(stream, N, count);
        let mut factors = self.factors();
        if F::MULTIPLIES && R::BYTES > 1 && self.rows.take_turns() {
            // SAFETY: the caller's promise.
            return unsafe { self.by_turns::<N>(&mut factors, streamed) };
        }
        let pitch = if F::MULTIPLIES { self.rows.pitch_of_factors() } else { 0 };
        let mut of_rows = [0.0; BLOCK];
        let are_found = F::MULTIPLIES && self.rows.factors_of_rows(&mut of_rows);
        let mut number = 0;
        let mut row = 0;
        while row < self.rows.rows as isize {
            if are_found {
                factors.set(of_rows[row as usize]);
            }
            let at = (row, self.rows.src.first + row * pitch, &mut number);
            // SAFETY: the caller's promise.
            unsafe {
                match factors.all() {
                    one if R::IS_ANY => {
                        let mut factors = Either::new(one.map(One), &mut factors);
                        self.straight_row::<_, N>(&mut factors, at, streamed);
                    }
                    Some(factor) => self.straight_row::<One, N>(&mut One(factor), at, streamed),
                    None => self.straight_row::<F, N>(&mut factors, at, streamed),
                }
            }
            row += 1;
        }
    }

    /// One of them, of which the first element finds its factor at a place, and the first line of a strip has a number.
    ///
    /// # Safety
    /// As [`Cast::straight`].
    #[inline(always)]
    unsafe fn straight_row<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        (row, place, number): (isize, isize, &mut usize),
        streamed: usize,
    ) {
        let (lanes, bytes) = (self.means.lanes(), N * R::BYTES);
        let count = self.rows.count * self.rows.conversion.parts();
        let (src, dst) = self.rows.starts(row);
        let mut done = 0;
        while done < count {
            let at = done.min(count - N);
            match self.rows.look {
                Look::Strip(ahead) => ahead.ask_lines(lanes, *number, bytes / LINE),
                _ => self.rows.look_ahead(lanes, src.wrapping_add(at * R::BYTES), bytes),
            }
            *number += bytes / LINE;
            let place = (place + (at * R::BYTES) as isize, R::BYTES);
            let to = dst.wrapping_add(at * W::BYTES);
            // SAFETY: a block of the row.
            unsafe { self.block::<G, N>(factors, src.add(at * R::BYTES), place, (to, done < streamed)) };
            done = at + N;
        }
    }

    /// Rows that share their factors, block by block a few of them in turn, so that factors are read once for these.
    ///
    /// # Safety
    /// As [`Cast::straight`].
    #[inline(always)]
    unsafe fn by_turns<const N: usize>(self, factors: &mut F, streamed: usize) {
        let count = self.rows.count * self.rows.conversion.parts();
        let rows = self.rows.rows as isize;
        let mut first = 0;
        while first < rows {
            let behind = rows.min(first + ROWS_OF_FACTORS);
            let mut done = 0;
            while done < count {
                let at = done.min(count - N);
                let place = (self.rows.src.first + (at * R::BYTES) as isize, R::BYTES);
                let mut row = first;
                while row < behind {
                    let (src, dst) = self.rows.starts(row);
                    let (from, to) = (src.wrapping_add(at * R::BYTES), dst.wrapping_add(at * W::BYTES));
                    self.rows.look_ahead(self.means.lanes(), from, N * R::BYTES);
                    // SAFETY: a block of the row.
                    unsafe { self.block::<F, N>(factors, from, place, (to, done < streamed)) };
                    row += 1;
                }
                done = at + N;
            }
            first = behind;
        }
    }

    /// Converts a block whose factors are those of the elements from a place on, with a step.
    ///
    /// # Safety
    /// A block must be readable at `from` and writable at `to`, where it starts a line if it is streamed.
    #[inline(always)]
    pub(crate) unsafe fn block<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        from: *const u8,
        (place, step): (isize, usize),
        (to, stream): (*mut u8, bool),
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if let Some(widening) = self.tops::<N>() {
                return to_tops::<M, N>(self.means, from, (to, stream), widening);
            }
            if !Self::ROUNDS {
                return self.by_steps::<G, N>(factors, from, (place, step), (to, stream));
            }
            if !self.rounded::<G, N>(factors, from, (place, step), (to, stream)) {
                self.aside::<G, N>(factors, from, (place, step), (to, stream));
            }
        }
    }

    /// Converts a block of products that the level rounds as it should; false where there is one that it does not, and nothing was done.
    ///
    /// # Safety
    /// As [`Cast::block`].
    #[inline(always)]
    pub(crate) unsafe fn rounded<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        from: *const u8,
        place: (isize, usize),
        (to, stream): (*mut u8, bool),
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match self.products::<G, N>(factors, from, place) {
                Some(words) => self.means.write_tops(&words, to, stream),
                None => return false,
            }
        }
        true
    }

    /// [`Cast::by_steps`] in a region of its own: what few blocks need, and is long, stands there once for all places that ask for it.
    ///
    /// # Safety
    /// As [`Cast::block`].
    #[inline(always)]
    pub(crate) unsafe fn aside<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        from: *const u8,
        place: (isize, usize),
        to: (*mut u8, bool),
    ) {
        self.means.vectorize(Aside::<M, R, W, F, G, N> { cast: self, factors, from, place, to });
    }

    /// [`Cast::block`] step by step, whatever the level rounds together.
    ///
    /// # Safety
    /// As [`Cast::block`].
    #[inline(always)]
    unsafe fn by_steps<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        from: *const u8,
        (place, step): (isize, usize),
        (to, stream): (*mut u8, bool),
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut words = self.read::<N>(from);
            factors.multiply(self.means, &mut words, place, step);
            if M::ROUNDS_ANY && W::IS_TOP {
                return self.means.write_tops(&words, to, stream);
            }
            self.write.encode(self.means, &mut words);
            self.write.write(self.means, &words, to, stream);
        }
    }

    /// Products of a block that the level rounds as it should; none where there is one that it does not.
    ///
    /// # Safety
    /// A block must be readable at `from`.
    #[inline(always)]
    pub(crate) unsafe fn products<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        from: *const u8,
        (place, step): (isize, usize),
    ) -> Option<Words<N>> {
        // SAFETY: the caller's promise.
        let words = unsafe { self.read::<N>(from) };
        self.products_of::<G, N>(factors, words, (place, step))
    }

    /// The same of a block as it stands between the types.
    #[inline(always)]
    pub(crate) fn products_of<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        mut words: Words<N>,
        (place, step): (isize, usize),
    ) -> Option<Words<N>> {
        let factors = factors.block::<N>(place, step);
        self.means.multiply(&mut words, &factors);
        let is_sure = R::IS_WHOLE && matches!(factors, Factors::Alike(factor) if factor.is_normal());
        let rounds = is_sure || self.means.rounds_all(&words);
        // What makes no new NaN leaves short ones short. Instructions that round would not do so with denormals.
        let stays_short = || !M::ROUNDS && self.read.nan_is_short() && factors.are_normal();
        (rounds || stays_short()).then_some(words)
    }

    /// How floats of a byte are widened where all that they become is upper halves of `f32`.
    #[inline(always)]
    pub(crate) fn tops<const N: usize>(&self) -> Option<&Widening> {
        let whole = W::IS_EXACT_TOP && !F::MULTIPLIES && N.is_multiple_of(M::Lanes::BYTES);
        if whole { self.read.widening() } else { None }
    }

    /// The factors of rows that are read with the same step.
    #[inline(always)]
    pub(crate) fn factors(self) -> F {
        F::new(self.rows.scale)
    }

    /// A block as it stands between the types.
    ///
    /// # Safety
    /// A block of elements must be readable at `from`.
    #[inline(always)]
    pub(crate) unsafe fn read<const N: usize>(self, from: *const u8) -> Words<N> {
        // SAFETY: the caller's promise.
        unsafe { self.read.read(self.means, from) }
    }
}

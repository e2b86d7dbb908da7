//! Where halves come from that are narrowed to floats of a byte: as they are read, or by words that are multiplied by factors.

use crate::convert::each_row::Row;
use crate::convert::multiply::{Factors, Find, Multiply, multiplies_plainly};
use crate::convert::one_factor::{Kept, One};
use crate::convert::rows::ConvertRows;
use crate::convert::scale::Scale;
use crate::convert::tables::narrowing::Narrowing;
use crate::convert::tables::narrows::Narrows;
use crate::convert::words::casts::Read;
use crate::convert::words::{BLOCK, Vector, Words};
use crate::lanes::Lanes;

/// The most registers of a line.
pub(super) const MOST_REGISTERS: usize = 2;

/// What is read block by block, as halves that are narrowed.
pub(super) trait Blocks {
    /// Bytes of an element.
    const BYTES: usize;

    /// Reads a block of elements of a way, the first of which is at a place of the source, for what narrows them: for each register
    /// of `N` bytes that they become, the two of their halves.
    ///
    /// # Safety
    /// They must be readable at `from`, and the level's registers have `N` bytes, at least half of a block.
    unsafe fn halves<M: Narrows, const N: usize>(
        &mut self,
        by: (M, &Narrowing),
        from: *const u8,
        place: isize,
        way: usize,
    ) -> [[Vector<M>; 2]; MOST_REGISTERS];
}

/// The same, with the factors of elements' places, or none.
pub(super) trait Source<'a>: Blocks + Sized {
    /// What it is made for.
    type From: Copy;

    /// Where all elements of a way have one factor: a loop over some of them keeps it in a register.
    type One: Blocks;

    /// For elements that have these factors.
    fn new(from: Self::From, scale: Scale<'a>) -> Self;

    /// From here on all elements of the first way have one factor.
    fn set(&mut self, _factor: f32) {}

    /// Where all elements of the first way have one factor.
    fn all(&self) -> Option<Self::One> {
        None
    }

    /// Where all elements of a row have one for each way, of which the first are so far from those of the first way.
    fn ones(
        &mut self,
        _rows: &ConvertRows<'_>,
        _kept: &mut Kept,
        _row: Row,
        _before: [isize; 4],
    ) -> Option<Self::One> {
        None
    }
}

/// Reads two registers.
///
/// # Safety
/// They must be readable at `from`.
#[inline(always)]
unsafe fn two<L: Lanes>(lanes: L, from: *const u8) -> [L::Vector; 2] {
    // SAFETY: the caller's promise.
    unsafe { [lanes.load(from), lanes.load(from.add(L::BYTES))] }
}

/// Floats of 16 bits.
pub(super) struct Halves;

impl Blocks for Halves {
    const BYTES: usize = 2;

    #[inline(always)]
    unsafe fn halves<M: Narrows, const N: usize>(
        &mut self,
        (means, _): (M, &Narrowing),
        from: *const u8,
        _place: isize,
        _way: usize,
    ) -> [[Vector<M>; 2]; MOST_REGISTERS] {
        let mut halves = [[means.lanes().zero(); 2]; MOST_REGISTERS];
        let mut part = 0;
        while part < BLOCK / N {
            // SAFETY: the caller's promise.
            halves[part] = unsafe { two(means.lanes(), from.add(2 * N * part)) };
            part += 1;
        }
        halves
    }
}

impl<'a> Source<'a> for Halves {
    type From = ();
    type One = Halves;

    #[inline(always)]
    fn new((): (), _scale: Scale<'a>) -> Halves {
        Halves
    }
}

/// What is read as words, and multiplied by factors, if by any; of each of four ways.
pub(super) struct ByWords<R, F> {
    read: R,
    factors: [F; 4],
}

impl<R: Read, F: Multiply> Blocks for ByWords<R, F> {
    const BYTES: usize = R::BYTES;

    #[inline(always)]
    unsafe fn halves<M: Narrows, const N: usize>(
        &mut self,
        by: (M, &Narrowing),
        from: *const u8,
        place: isize,
        way: usize,
    ) -> [[Vector<M>; 2]; MOST_REGISTERS] {
        let factors = self.factors[way].block::<BLOCK>(place, R::BYTES);
        let mut halves = [[by.0.lanes().zero(); 2]; MOST_REGISTERS];
        let mut part = 0;
        while part < BLOCK / N {
            // SAFETY: the caller's promise.
            halves[part] = unsafe {
                let from = from.add(R::BYTES * N * part);
                products::<M, R, F, N>(by, self.read, from, &factors.part(part))
            };
            part += 1;
        }
        halves
    }
}

/// Reads as many elements as a register has bytes, `N`, multiplies them by their factors, if by any, and takes the upper halves.
///
/// # Safety
/// They must be readable at `from`, and registers have so many bytes.
#[inline(always)]
unsafe fn products<M: Narrows, R: Read, F: Multiply, const N: usize>(
    (means, narrowing): (M, &Narrowing),
    read: R,
    from: *const u8,
    factors: &Factors<'_, N>,
) -> [Vector<M>; 2] {
    if R::IS_LOUD_TOP
        && F::MULTIPLIES
        && let Factors::Alike(factor) = *factors
        && multiplies_plainly(factor)
    {
        // SAFETY: the caller's promise.
        let tops = unsafe { two(means.lanes(), from) };
        return [
            means.odd_products(tops[0], factor, narrowing),
            means.odd_products(tops[1], factor, narrowing),
        ];
    }
    // SAFETY: the caller's promise.
    let mut words: Words<N> = unsafe { read.read(means, from) };
    if F::MULTIPLIES {
        factors.multiply(means, &mut words);
    }
    [means.odd_tops(&words, 0, narrowing), means.odd_tops(&words, 2, narrowing)]
}

impl<'a, R: Read, F: Find<'a>> Source<'a> for ByWords<R, F> {
    type From = R;
    type One = ByWords<R, One>;

    #[inline(always)]
    fn new(read: R, scale: Scale<'a>) -> ByWords<R, F> {
        ByWords { read, factors: [F::new(scale), F::new(scale), F::new(scale), F::new(scale)] }
    }

    #[inline(always)]
    fn set(&mut self, factor: f32) {
        self.factors[0].set(factor);
    }

    #[inline(always)]
    fn all(&self) -> Option<ByWords<R, One>> {
        self.factors[0].all().map(|factor| ByWords { read: self.read, factors: [One(factor); 4] })
    }

    #[inline(always)]
    fn ones(
        &mut self,
        rows: &ConvertRows<'_>,
        kept: &mut Kept,
        row: Row,
        before: [isize; 4],
    ) -> Option<ByWords<R, One>> {
        let factors = kept.ones::<F, BLOCK>(rows, &mut self.factors, row, (before, R::BYTES), 4)?;
        Some(ByWords { read: self.read, factors })
    }
}

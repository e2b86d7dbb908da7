//! What a level offers to narrow floats of 16 bits to a byte by halves of words.

use crate::convert::tables::narrowing::Narrowing;
use crate::convert::words::{Means, Vector, Words};

/// Instructions for halves of words. They work in lanes, and what comes of them is put in order at the end.
pub(crate) trait Narrows: Means {
    /// Two registers of floats of 16 bits as floats of a byte of a kind that [`Lean`](crate::convert::float::Lean) names, packed as
    /// by [`Narrows::packed`].
    fn narrowed<const KIND: u32>(self, halves: [Vector<Self>; 2], narrowing: &Narrowing) -> Vector<Self>;

    /// The upper halves of two registers of a block, of which the last bit is set where the lower half is not zero.
    fn odd_tops<const N: usize>(self, words: &Words<N>, index: usize, narrowing: &Narrowing) -> Vector<Self>;

    /// The same of the products of a register of upper halves of `f32` with a factor, as [`Means::multiply_by`] takes it.
    fn odd_products(self, tops: Vector<Self>, factor: f32, narrowing: &Narrowing) -> Vector<Self>;

    /// The low bytes of the halves of two registers, whose high bytes are zero: in every lane those of the first, then of the
    /// second.
    fn packed(self, halves: [Vector<Self>; 2]) -> Vector<Self>;

    /// Puts what was packed once or twice in order, or packed once so that two zips of its bytes come out in order.
    fn unpacked(self, packs: usize, zips: usize, vector: Vector<Self>) -> Vector<Self>;
}

//! Types as words of 32 bits: what is done to the words that were read, and to those that are written.

use crate::convert::float::{self, Decode, Encode, Lean};
use crate::convert::integer::{Bounds, nearest, truncated};
use crate::convert::tables::widening::Widening;
use crate::convert::words::{Means, Words};
use crate::lanes::Lanes;

/// A type as it is read.
pub(crate) trait Read: Copy {
    /// Bytes of an element.
    const BYTES: usize;

    /// True where types are told apart for each block.
    const IS_ANY: bool = false;

    /// True for upper halves of `f32`.
    const IS_TOP: bool = false;

    /// True for the same where NaN is still as it was.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other targets do not ask"))]
    const IS_LOUD_TOP: bool = false;

    /// True for integers, whose products with a normal factor are zero, normal or infinite.
    const IS_WHOLE: bool = false;

    /// True where NaN has no bits below the upper half of the `f32`, if there is one at all: a normal factor leaves it so, and rounding
    /// to that half leaves it, too.
    const NAN_IS_SHORT: bool = Self::IS_WHOLE;

    /// The same where types are told apart inside.
    #[inline(always)]
    fn nan_is_short(&self) -> bool {
        Self::NAN_IS_SHORT
    }

    /// Turns patterns into what stands between two types: an `f32`, or an integer of 32 bits.
    fn decode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>);

    /// What a level widens many elements by, where they are floats of a byte and it was made.
    #[inline(always)]
    fn widening(&self) -> Option<&Widening> {
        None
    }

    /// Reads a block of elements, as they stand between two types.
    ///
    /// # Safety
    /// A block of elements must be readable at `from`.
    #[inline(always)]
    unsafe fn read<M: Means, const N: usize>(self, means: M, from: *const u8) -> Words<N> {
        // SAFETY: the caller's promise.
        unsafe {
            if let (Some(widening), true) = (self.widening(), N.is_multiple_of(M::Lanes::BYTES)) {
                return means.widen_bytes(from, widening);
            }
            let mut words = means.read(Self::BYTES, from);
            self.decode(means, &mut words);
            words
        }
    }
}

/// A type as it is written.
pub(crate) trait Write: Copy {
    /// Bytes of an element.
    const BYTES: usize;

    /// True where large blocks of words stay in registers all the way.
    const HAS_FEW_STEPS: bool = false;

    /// True for floats of a byte.
    const IS_BYTE_FLOAT: bool = false;

    /// True for upper halves of `f32` to which these are rounded.
    const IS_TOP: bool = false;

    /// The same where types are told apart inside.
    #[inline(always)]
    fn is_top(&self) -> bool {
        Self::IS_TOP
    }

    /// True for upper halves of `f32` of which the lower ones are zero.
    const IS_EXACT_TOP: bool = false;

    /// The reverse; what stands above the pattern is left out.
    fn encode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>);

    /// Writes patterns, together whole lines.
    ///
    /// # Safety
    /// As [`Means::write`].
    #[inline(always)]
    unsafe fn write<M: Means, const N: usize>(self, means: M, words: &Words<N>, to: *mut u8, stream: bool) {
        // SAFETY: the caller's promise.
        unsafe { means.write(Self::BYTES, words, to, stream) }
    }
}

/// Replaces every word by an expression of it.
macro_rules! each {
    ($words:ident, $x:ident => $result:expr) => {{
        let mut i = 0;
        while i < $words.0.len() {
            let $x = $words.0[i];
            $words.0[i] = $result;
            i += 1;
        }
    }};
}

pub(crate) use each;

/// A type of so many bytes as it is: `f32`, an integer without a sign, and the low bits of any integer.
#[derive(Clone, Copy)]
pub(crate) struct Plain<const BYTES: usize>;

/// An integer with a sign.
#[derive(Clone, Copy)]
pub(crate) struct Signed<const BYTES: usize>;

/// The upper half of an `f32`, rounded when written.
#[derive(Clone, Copy)]
pub(crate) struct Top;

/// The same as it is read where whatever comes next makes NaN quiet.
#[derive(Clone, Copy)]
pub(crate) struct LoudTop;

/// The same where nothing is rounded.
#[derive(Clone, Copy)]
pub(crate) struct ExactTop;

/// An integer that becomes a float.
#[derive(Clone, Copy)]
pub(crate) struct Whole<const BYTES: usize, const SIGNED: bool>;

/// An integer of as many of the low bits of a byte as the mask has, which becomes a float; of those with a sign its bit is given.
#[derive(Clone, Copy)]
pub(crate) struct LowBits {
    pub(crate) mask: u32,
    pub(crate) sign: u32,
}

/// A float that becomes an integer of one or two bytes.
#[derive(Clone, Copy)]
pub(crate) struct ToInteger<const BYTES: usize>(pub(crate) Bounds);

/// A float of 16 bits whose infinity has this pattern, and becomes the greatest number.
#[derive(Clone, Copy)]
pub(crate) struct Bounded<W>(pub(crate) W, pub(crate) u32);

/// IEEE 754's float of 16 bits.
#[derive(Clone, Copy)]
pub(crate) struct HalfFrom(pub(crate) Decode);

/// The same as it is written.
#[derive(Clone, Copy)]
pub(crate) struct HalfTo(pub(crate) Encode);

/// A float of a byte, and what a level widens many of them by where it was made.
#[derive(Clone, Copy)]
pub(crate) struct ByteFrom<'a>(pub(crate) Decode, pub(crate) Option<&'a Widening>);

/// A float of a byte, of a kind that [`Lean`] names.
#[derive(Clone, Copy)]
pub(crate) struct ByteTo<const KIND: u32>(pub(crate) Lean);

impl<const BYTES: usize> Read for Plain<BYTES> {
    const BYTES: usize = BYTES;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, _words: &mut Words<N>) {}
}

impl<const BYTES: usize> Write for Plain<BYTES> {
    const BYTES: usize = BYTES;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, _words: &mut Words<N>) {}
}

impl<const BYTES: usize> Read for Signed<BYTES> {
    const BYTES: usize = BYTES;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => match BYTES {
            1 => x as i8 as u32,
            _ => x as i16 as u32,
        });
    }
}

/// The highest bit of a byte.
pub(crate) const SIGN_OF_BYTE: u32 = 0x80;

/// The highest bit of two bytes.
pub(crate) const SIGN_OF_HALF: u32 = 0x8000;

/// The float of an integer whose sign bit is given: a bit that stands for as much less as it would count for more.
#[inline(always)]
pub(crate) fn whole(x: u32, sign: u32) -> u32 {
    ((x ^ sign).wrapping_sub(sign) as i32 as f32).to_bits()
}

impl<const BYTES: usize, const SIGNED: bool> Read for Whole<BYTES, SIGNED> {
    const BYTES: usize = BYTES;

    const IS_WHOLE: bool = true;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => whole(x, if BYTES == 1 && SIGNED { SIGN_OF_BYTE } else { 0 }));
    }
}

impl Read for LowBits {
    const BYTES: usize = 1;

    const IS_WHOLE: bool = true;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => whole(x & self.mask, self.sign));
    }
}

impl<const BYTES: usize> Write for ToInteger<BYTES> {
    const BYTES: usize = BYTES;

    const HAS_FEW_STEPS: bool = true;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        let Bounds { least, greatest, nearest: to_nearest, mask } = self.0;
        match to_nearest {
            true => each!(words, x => nearest(f32::from_bits(x), least, greatest) & mask),
            false => each!(words, x => truncated(f32::from_bits(x), least, greatest) as u32 & mask),
        }
    }
}

impl Bounded<Top> {
    /// The pattern of infinity.
    pub(crate) const INFINITE: u32 = 0x7f80;
}

impl Bounded<HalfTo> {
    /// The pattern of infinity.
    pub(crate) const INFINITE: u32 = 0x7c00;
}

impl<W: Write> Write for Bounded<W> {
    const BYTES: usize = W::BYTES;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        self.0.encode(means, words);
        each!(words, x => x - u32::from(x & 0x7fff == self.1));
    }
}

impl Read for Top {
    const BYTES: usize = 2;

    const IS_TOP: bool = true;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => float::decode_top(x as u16));
    }
}

impl Read for LoudTop {
    const BYTES: usize = 2;

    const NAN_IS_SHORT: bool = true;

    const IS_LOUD_TOP: bool = true;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => x << 16);
    }
}

impl Write for Top {
    const BYTES: usize = 2;

    const IS_TOP: bool = true;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => float::encode_top(x));
    }
}

impl Write for ExactTop {
    const BYTES: usize = 2;

    const IS_EXACT_TOP: bool = true;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => x >> 16);
    }
}

impl Read for HalfFrom {
    const BYTES: usize = 2;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        means.widen_halves(words, &self.0);
    }

    #[inline(always)]
    unsafe fn read<M: Means, const N: usize>(self, means: M, from: *const u8) -> Words<N> {
        // SAFETY: the caller's promise.
        unsafe { means.read_halves(from, &self.0) }
    }
}

impl Write for HalfTo {
    const BYTES: usize = 2;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        means.round_to_halves(words, &self.0);
    }
}

impl Read for ByteFrom<'_> {
    const BYTES: usize = 1;

    const NAN_IS_SHORT: bool = true;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => self.0.one(x));
    }

    #[inline(always)]
    fn widening(&self) -> Option<&Widening> {
        self.1
    }
}

impl<const KIND: u32> Write for ByteTo<KIND> {
    const BYTES: usize = 1;

    const IS_BYTE_FLOAT: bool = true;

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, words: &mut Words<N>) {
        each!(words, x => self.0.one::<KIND>(x));
    }
}

//! Types as words that are told apart where they run, and not by a kernel of their own for each pair: those of conversions
//! with factors, of packed slots, and of pairs that are rarer than others.

use crate::convert::float::{self, Decode, Encode, Lean};
use crate::convert::hop::{Hop, Int};
use crate::convert::integer::{Bounds, rounded, truncated_whole};
use crate::convert::program::Conversion;
use crate::convert::tables::widening::Widening;
use crate::convert::words::casts::{
    ByteFrom, ByteTo, HalfFrom, HalfTo, LoudTop, Read, SIGN_OF_BYTE, SIGN_OF_HALF, ToInteger, Top, Write,
    each, whole,
};
use crate::convert::words::{Means, Words};

/// A type of so many bytes as it is read: the word becomes an `f32`.
#[derive(Clone, Copy)]
pub(crate) struct AnyFrom<'a, const BYTES: usize>(pub(crate) From<'a>);

/// A type of so many bytes as it is written.
#[derive(Clone, Copy)]
pub(crate) struct AnyTo<const BYTES: usize>(pub(crate) To);

/// What is read.
#[derive(Clone, Copy)]
pub(crate) enum From<'a> {
    /// `f32`.
    Plain,
    /// The upper half of an `f32`; NaN becomes quiet where it is multiplied, or written.
    Top,
    /// IEEE 754's float of 16 bits.
    Half(Decode),
    /// A float of a byte.
    Byte(ByteFrom<'a>),
    /// A power of two.
    Power,
    /// An integer of the bits of a mask, whose sign bit is given, or of four bytes, which is one as it is.
    Integer { mask: u32, sign: u32 },
    /// One where any bit of the mask is set.
    Truth { mask: u32 },
}

/// What is written.
#[derive(Clone, Copy)]
pub(crate) enum To {
    /// `f32`.
    Plain,
    /// The upper half of an `f32`.
    Top,
    /// IEEE 754's float of 16 bits.
    Half(Encode),
    /// Any other float of 16 bits, or of a byte.
    Narrow(Encode),
    /// Floats of a byte whose NaN is next, of which there are the most, as [`Lean`] tells them.
    ByteNext(Lean),
    /// Most others.
    Byte(Lean),
    /// Powers of two, what is too large being told.
    Power { beyond: u32 },
    /// Integers of one or two bytes.
    Integer(Bounds),
    /// Integers of four bytes with a sign, towards zero or to the nearest.
    Whole { nearest: bool },
    /// Not numbers, but whether any bit of the mask is set in the word that was read, or always.
    Truth { mask: u32, always: bool },
}

/// Both ends of a conversion, where there is a way by words; with what floats of a byte are widened by.
pub(crate) fn ends<'a>(conversion: &Conversion, widening: Option<&'a Widening>) -> Option<(From<'a>, To)> {
    let mut hops = conversion.hops().filter(|hop| **hop != Hop::Scale).copied().peekable();
    if let Some(&Hop::Test { bytes: 1 | 2 | 4, mask, always }) = hops.peek()
        && conversion.hops().count() == 1
    {
        return Some((From::Plain, To::Truth { mask: mask as u32, always }));
    }
    let from = source(&mut hops, widening)?;
    let top = matches!(conversion.hops().next(), Some(Hop::Decode8Top(_)));
    let to = destination(&mut hops, if top { To::Top } else { To::Plain })?;
    hops.next().is_none().then_some((from, to))
}

/// The hops that are left.
type Hops<I> = core::iter::Peekable<I>;

/// What is read, whose hops are taken.
fn source<'a>(
    hops: &mut Hops<impl Iterator<Item = Hop>>,
    widening: Option<&'a Widening>,
) -> Option<From<'a>> {
    if let Some(Hop::Test { bytes: 1 | 2 | 4, mask, always: false }) =
        hops.next_if(|hop| matches!(hop, Hop::Test { .. }))
    {
        let is_float = hops.next_if(|hop| matches!(hop, Hop::IntToF32(_))).is_some();
        return is_float.then_some(From::Truth { mask: mask as u32 });
    }
    let low = match hops.next_if(|hop| matches!(hop, Hop::Mask { .. })) {
        Some(Hop::Mask { bits, signed }) => {
            Some((ones(bits), if signed { ones(bits) ^ ones(bits) >> 1 } else { 0 }))
        }
        _ => None,
    };
    let integer = |sign| {
        let (mask, sign) = low.unwrap_or((u32::MAX, sign));
        Some(From::Integer { mask, sign })
    };
    let from = hops.peek().and_then(|hop| match *hop {
        Hop::DecodeTop16 => Some(From::Top),
        Hop::Decode16(from) if from.is_half() => Some(From::Half(from)),
        Hop::Decode8(from) | Hop::Decode8Top(from) => Some(From::Byte(ByteFrom(from, widening))),
        Hop::DecodePower => Some(From::Power),
        Hop::IntToF32(Int::S8) => integer(SIGN_OF_BYTE),
        Hop::IntToF32(Int::S16) => integer(SIGN_OF_HALF),
        Hop::IntToF32(Int::U8 | Int::U16 | Int::S32) => integer(0),
        _ => None,
    });
    match (from, low) {
        (Some(from), _) => {
            hops.next();
            Some(from)
        }
        (None, Some(_)) => None,
        (None, None) => Some(From::Plain),
    }
}

/// What is written, whose hops are taken: the type given, if there are none.
fn destination(hops: &mut Hops<impl Iterator<Item = Hop>>, itself: To) -> Option<To> {
    Some(match hops.next() {
        None => itself,
        Some(Hop::EncodeTop16) => To::Top,
        Some(Hop::Encode16(to)) if to.is_half() => To::Half(to),
        Some(Hop::Encode16(to)) => To::Narrow(to),
        Some(Hop::Encode8(to)) => match to.lean() {
            Some((lean, Lean::NAN_IS_NEXT)) => To::ByteNext(lean),
            Some((lean, _)) => To::Byte(lean),
            None => To::Narrow(to),
        },
        Some(Hop::EncodePower { beyond }) => To::Power { beyond },
        Some(Hop::F32ToInt { to: Int::S32, nearest }) => To::Whole { nearest },
        Some(Hop::F32ToInt { to, nearest }) => {
            let mut bounds = to.bounds(nearest)?;
            if let Some(Hop::Clamp { least, greatest, .. }) =
                hops.next_if(|hop| matches!(hop, Hop::Clamp { .. }))
            {
                bounds = Bounds { least: least as f32, greatest: greatest as f32, ..bounds };
            }
            if let Some(Hop::Mask { bits, .. }) = hops.next_if(|hop| matches!(hop, Hop::Mask { .. })) {
                bounds = Bounds { mask: ones(bits), ..bounds };
            }
            To::Integer(bounds)
        }
        Some(_) => return None,
    })
}

/// So many low bits.
fn ones(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

impl<const BYTES: usize> Read for AnyFrom<'_, BYTES> {
    const BYTES: usize = BYTES;

    const IS_ANY: bool = true;

    #[inline(always)]
    fn nan_is_short(&self) -> bool {
        matches!(self.0, From::Top | From::Byte(_) | From::Power | From::Integer { .. } | From::Truth { .. })
    }

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        const ONE: u32 = 1f32.to_bits();
        match self.0 {
            From::Top if BYTES == 2 => LoudTop.decode(means, words),
            From::Half(decode) if BYTES == 2 => HalfFrom(decode).decode(means, words),
            From::Byte(byte) if BYTES == 1 => byte.decode(means, words),
            From::Power if BYTES == 1 => each!(words, x => float::decode_power(x)),
            From::Integer { mask, sign } => each!(words, x => whole(x & mask, sign)),
            From::Truth { mask } => each!(words, x => if x & mask != 0 { ONE } else { 0 }),
            _ => {}
        }
    }

    #[inline(always)]
    fn widening(&self) -> Option<&Widening> {
        match &self.0 {
            From::Byte(byte) if BYTES == 1 => byte.widening(),
            _ => None,
        }
    }
}

impl<const BYTES: usize> Write for AnyTo<BYTES> {
    const BYTES: usize = BYTES;

    #[inline(always)]
    fn is_top(&self) -> bool {
        matches!(self.0, To::Top)
    }

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        match self.0 {
            To::Top if BYTES == 2 => Top.encode(means, words),
            To::Half(encode) if BYTES == 2 => HalfTo(encode).encode(means, words),
            To::Narrow(encode) if BYTES != 4 => each!(words, x => encode.one(x)),
            To::Power { beyond } if BYTES == 1 => each!(words, x => float::encode_power(x, beyond)),
            To::Truth { mask, always } if BYTES == 1 => {
                each!(words, x => u32::from((x & mask != 0) | always))
            }
            To::Whole { nearest } if BYTES == 4 => {
                each!(words, x => truncated_whole(rounded(f32::from_bits(x), nearest)) as u32);
            }
            To::Integer(bounds) if BYTES != 4 => ToInteger::<BYTES>(bounds).encode(means, words),
            To::ByteNext(lean) if BYTES == 1 => ByteTo::<{ Lean::NAN_IS_NEXT }>(lean).encode(means, words),
            To::Byte(lean) if BYTES == 1 => ByteTo::<{ Lean::ANY }>(lean).encode(means, words),
            _ => {}
        }
    }
}

//! Types as words that are told apart where they run, and not by a kernel of their own for each pair: those of conversions
//! with factors, and of packed slots.

use super::casts::{
    ByteFrom, ByteTo, HalfFrom, HalfTo, LoudTop, Read, SIGN_OF_BYTE, ToInteger, Top, Write, whole,
};
use super::float::{Decode, Encode, Lean};
use super::hop::{Hop, Int};
use super::integer::Bounds;
use super::program::Conversion;
use super::widening::Widening;
use super::words::{Means, Words};

/// A type of so many bytes as it is read: the word becomes an `f32`.
#[derive(Clone, Copy)]
pub(super) struct AnyFrom<'a, const BYTES: usize>(pub(super) From<'a>);

/// A type of so many bytes as it is written.
#[derive(Clone, Copy)]
pub(super) struct AnyTo<const BYTES: usize>(pub(super) To);

/// What is read.
#[derive(Clone, Copy)]
pub(super) enum From<'a> {
    /// `f32`.
    Plain,
    /// The upper half of an `f32`; NaN becomes quiet where it is multiplied, or written.
    Top,
    /// IEEE 754's float of 16 bits.
    Half(Decode),
    /// A float of a byte.
    Byte(ByteFrom<'a>),
    /// An integer of the bits of a mask, whose sign bit is given, or of four bytes, which is one as it is.
    Integer { mask: u32, sign: u32 },
}

/// What is written.
#[derive(Clone, Copy)]
pub(super) enum To {
    /// `f32`.
    Plain,
    /// The upper half of an `f32`.
    Top,
    /// IEEE 754's float of 16 bits.
    Half(Encode),
    /// Floats of a byte, by their bits of mantissa and what is special about them, as [`Lean`] tells them.
    Byte(Lean, u32, u32),
    /// Integers of one or two bytes.
    Integer(Bounds),
}

/// Both ends of a conversion, where there is a way by words; with what floats of a byte are widened by.
pub(super) fn ends<'a>(conversion: &Conversion, widening: Option<&'a Widening>) -> Option<(From<'a>, To)> {
    let mut hops = conversion.hops().filter(|hop| **hop != Hop::Scale).peekable();
    let mut low = None;
    if let Some(&&Hop::Mask { bits, signed }) = hops.peek() {
        low = Some((ones(bits), if signed { ones(bits) ^ ones(bits) >> 1 } else { 0 }));
        hops.next();
    }
    let integer = |mask, sign| {
        let (mask, sign) = low.unwrap_or((mask, sign));
        Some(From::Integer { mask, sign })
    };
    let first = hops.peek().and_then(|hop| match **hop {
        Hop::DecodeTop16 => Some(From::Top),
        Hop::Decode16(from) if from.is_half() => Some(From::Half(from)),
        Hop::Decode8(from) | Hop::Decode8Top(from) => Some(From::Byte(ByteFrom(from, widening))),
        Hop::IntToF32(Int::S8) => integer(u32::MAX, SIGN_OF_BYTE),
        Hop::IntToF32(Int::U8 | Int::S32) => integer(u32::MAX, 0),
        _ => None,
    });
    let read = match first {
        Some(_) => hops.next(),
        None if low.is_some() => return None,
        None => None,
    };
    let from = first.unwrap_or(From::Plain);
    let to = match hops.next() {
        None if matches!(read, Some(Hop::Decode8Top(_))) => To::Top,
        None => To::Plain,
        Some(Hop::EncodeTop16) => To::Top,
        Some(Hop::Encode16(to)) if to.is_half() => To::Half(*to),
        Some(Hop::Encode8(to)) => match to.lean()? {
            (lean, mantissa @ 2..=4, Lean::OTHER) => To::Byte(lean, mantissa, Lean::OTHER),
            (lean, mantissa @ 2..=3, Lean::PLAIN_ZERO) => To::Byte(lean, mantissa, Lean::PLAIN_ZERO),
            (lean, 3, Lean::NAN_IS_NEXT) => To::Byte(lean, 3, Lean::NAN_IS_NEXT),
            _ => return None,
        },
        Some(&Hop::F32ToInt { to, nearest }) => {
            let mut bounds = to.bounds(nearest)?;
            if let Some(&&Hop::Clamp { least, greatest, .. }) = hops.peek() {
                bounds = Bounds { least: least as f32, greatest: greatest as f32, ..bounds };
                hops.next();
            }
            if let Some(&&Hop::Mask { bits, .. }) = hops.peek() {
                bounds = Bounds { mask: ones(bits), ..bounds };
                hops.next();
            }
            To::Integer(bounds)
        }
        Some(_) => return None,
    };
    hops.next().is_none().then_some((from, to))
}

/// So many low bits.
fn ones(bits: u32) -> u32 {
    u32::MAX >> (32 - bits)
}

impl<const BYTES: usize> Read for AnyFrom<'_, BYTES> {
    const BYTES: usize = BYTES;

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        match self.0 {
            From::Top if BYTES == 2 => LoudTop.decode(means, words),
            From::Half(decode) if BYTES == 2 => HalfFrom(decode).decode(means, words),
            From::Byte(byte) if BYTES == 1 => byte.decode(means, words),
            From::Integer { mask, sign } if BYTES != 2 => {
                let mut i = 0;
                while i < N {
                    words.0[i] = whole(words.0[i] & mask, sign);
                    i += 1;
                }
            }
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
    fn encode<M: Means, const N: usize>(self, means: M, words: &mut Words<N>) {
        macro_rules! byte {
            ($lean:ident, $mantissa:literal, $kind:expr) => {
                ByteTo::<$mantissa, { $kind }>($lean).encode(means, words)
            };
        }
        match self.0 {
            To::Top if BYTES == 2 => Top.encode(means, words),
            To::Half(encode) if BYTES == 2 => HalfTo(encode).encode(means, words),
            To::Integer(bounds) if BYTES != 4 => ToInteger::<BYTES>(bounds).encode(means, words),
            To::Byte(lean, 2, Lean::OTHER) if BYTES == 1 => byte!(lean, 2, Lean::OTHER),
            To::Byte(lean, 3, Lean::OTHER) if BYTES == 1 => byte!(lean, 3, Lean::OTHER),
            To::Byte(lean, 4, Lean::OTHER) if BYTES == 1 => byte!(lean, 4, Lean::OTHER),
            To::Byte(lean, 2, Lean::PLAIN_ZERO) if BYTES == 1 => byte!(lean, 2, Lean::PLAIN_ZERO),
            To::Byte(lean, 3, Lean::PLAIN_ZERO) if BYTES == 1 => byte!(lean, 3, Lean::PLAIN_ZERO),
            To::Byte(lean, 3, Lean::NAN_IS_NEXT) if BYTES == 1 => byte!(lean, 3, Lean::NAN_IS_NEXT),
            _ => {}
        }
    }
}

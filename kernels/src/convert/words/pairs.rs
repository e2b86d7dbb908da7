//! Which pairs of types go by words, and as what they are read and written: each pair is a kernel of its own.

use core::marker::PhantomData;

use crate::convert::float::{Encode, Lean};
use crate::convert::hop::{Hop, Int};
use crate::convert::integer::Bounds;
use crate::convert::multiply::{Find, Unscaled, Walk};
use crate::convert::number::FloatFormat;
use crate::convert::program::Conversion;
use crate::convert::rows::{ConvertRows, Form};
use crate::convert::words::Means;
use crate::convert::words::any::{AnyFrom, AnyTo, From, To, ends};
use crate::convert::words::cast_rows::Cast;
use crate::convert::words::casts::{
    Bounded, ByteFrom, ByteTo, ExactTop, HalfFrom, HalfTo, LoudTop, LowBits, Plain, Signed, ToInteger, Top,
    Whole,
};
use crate::convert::words::wide::{Double, Long};

/// Converts rows that fill blocks where there is a way by words; false where there is none, and nothing was done.
///
/// # Safety
/// As [`ConvertRows::at_level`], which means what it offers.
pub(crate) unsafe fn cast<M: Means>(rows: &ConvertRows<'_>, means: M) -> bool {
    let mut hops = rows.conversion.hops();
    let pair = (hops.next(), hops.next());
    macro_rules! through {
        ($read:expr, $write:expr) => {{
            let factors = PhantomData::<Unscaled>;
            let cast = Cast { rows, means, read: $read, write: $write, factors };
            // SAFETY: the caller's promise.
            unsafe { cast.enter() }
        }};
    }
    let is_bounded = matches!(pair, (_, Some(Hop::Clamp { .. } | Hop::Mask { .. }))) || hops.next().is_some();
    if is_bounded {
        return match to_few_bits::<M>(rows.conversion).filter(|_| !rows.conversion.is_scaled()) {
            Some((From::Plain, bounds)) => through!(Plain::<4>, ToInteger::<1>(bounds)),
            Some((From::Top, bounds)) => through!(LoudTop, ToInteger::<1>(bounds)),
            _ => false,
        };
    }
    macro_rules! to_byte {
        ($read:expr, $encode:expr) => {
            match $encode.lean() {
                Some((lean, Lean::OTHER)) => through!($read, ByteTo::<{ Lean::OTHER }>(lean)),
                Some((lean, Lean::PLAIN_ZERO)) => through!($read, ByteTo::<{ Lean::PLAIN_ZERO }>(lean)),
                Some((lean, Lean::NAN_IS_NEXT)) => through!($read, ByteTo::<{ Lean::NAN_IS_NEXT }>(lean)),
                _ => false,
            }
        };
    }
    match pair {
        (Some(Hop::EncodeTop16), None) => through!(Plain::<4>, Top),
        (Some(Hop::DecodeTop16), None) => through!(Top, Plain::<4>),
        (Some(Hop::Encode16(to)), None) if to.is_half() => through!(Plain::<4>, HalfTo(*to)),
        (Some(Hop::Decode16(from)), None) if from.is_half() => through!(HalfFrom(*from), Plain::<4>),
        (Some(Hop::Encode16(to)), None) if to.is_bounded_half() => {
            let half = HalfTo(Encode::new(FloatFormat::F16, false));
            through!(Plain::<4>, Bounded(half, Bounded::<HalfTo>::INFINITE))
        }
        (Some(Hop::Encode16(to)), None) if to.is_bounded_top() => {
            through!(Plain::<4>, Bounded(Top, Bounded::<Top>::INFINITE))
        }
        (Some(Hop::IntToF32(Int::S8)), None) => through!(Whole::<1, true>, Plain::<4>),
        (Some(Hop::IntToF32(Int::U8)), None) => through!(Whole::<1, false>, Plain::<4>),
        (Some(Hop::IntToF32(Int::S32)), None) => through!(Whole::<4, true>, Plain::<4>),
        (Some(Hop::IntToF32(Int::S8)), Some(Hop::EncodeTop16)) => through!(Whole::<1, true>, Top),
        (Some(Hop::IntToF32(Int::U8)), Some(Hop::EncodeTop16)) => through!(Whole::<1, false>, Top),
        (Some(&Hop::F32ToInt { to, nearest }), None) => match (to.bounds(nearest), to.bytes()) {
            (Some(bounds), 1) => through!(Plain::<4>, ToInteger::<1>(bounds)),
            (Some(bounds), _) => through!(Plain::<4>, ToInteger::<2>(bounds)),
            (None, _) => false,
        },
        (Some(Hop::DecodeTop16), Some(&Hop::F32ToInt { to: to @ (Int::S8 | Int::U8), nearest })) => {
            to.bounds(nearest).is_some_and(|bounds| through!(LoudTop, ToInteger::<1>(bounds)))
        }
        (Some(Hop::Encode8(to)), None) => to_byte!(Plain::<4>, to),
        (Some(Hop::Decode8(from)), None) => through!(ByteFrom(*from, rows.widening), Plain::<4>),
        (Some(Hop::Decode8Top(from)), None) => through!(ByteFrom(*from, rows.widening), ExactTop),
        (Some(Hop::DecodeTop16), Some(Hop::Encode8(to))) => to_byte!(LoudTop, to),
        (Some(Hop::DecodeTop16), Some(Hop::Encode16(to))) if to.is_half() => through!(LoudTop, HalfTo(*to)),
        (Some(Hop::Decode16(from)), Some(Hop::EncodeTop16)) if from.is_half() => {
            through!(HalfFrom(*from), Top)
        }
        (Some(Hop::Decode16(from)), Some(Hop::Encode8(to))) if from.is_half() => {
            to_byte!(HalfFrom(*from), to)
        }
        (Some(Hop::Decode8(from)), Some(Hop::Encode16(to))) if to.is_half() => {
            through!(ByteFrom(*from, rows.widening), HalfTo(*to))
        }
        (Some(Hop::F64ToF32), None) => through!(Double, Plain::<4>),
        (Some(Hop::F64ToF32), Some(Hop::EncodeTop16)) => through!(Double, Top),
        (Some(Hop::F32ToF64), None) => through!(Plain::<4>, Double),
        (Some(Hop::DecodeTop16), Some(Hop::F32ToF64)) => through!(LoudTop, Double),
        (Some(Hop::Decode16(from)), Some(Hop::F32ToF64)) if from.is_half() => {
            through!(HalfFrom(*from), Double)
        }
        (Some(Hop::Decode8(from)), Some(Hop::F32ToF64)) => {
            through!(ByteFrom(*from, rows.widening), Double)
        }
        (Some(&Hop::Resize { from, bytes }), None) => match (from, bytes) {
            (Int::S32 | Int::U32, 1) => through!(Plain::<4>, Plain::<1>),
            (Int::S32 | Int::U32, 2) => through!(Plain::<4>, Plain::<2>),
            (Int::S64 | Int::U64, 4) => through!(Long::<true>, Plain::<4>),
            (Int::S32, 8) => through!(Plain::<4>, Long::<true>),
            (Int::U32, 8) => through!(Plain::<4>, Long::<false>),
            (Int::S16 | Int::U16, 1) => through!(Plain::<2>, Plain::<1>),
            (Int::S16, 4) => through!(Signed::<2>, Plain::<4>),
            (Int::U16, 4) => through!(Plain::<2>, Plain::<4>),
            (Int::S8, 4) => through!(Signed::<1>, Plain::<4>),
            (Int::U8, 4) => through!(Plain::<1>, Plain::<4>),
            (Int::S8, 2) => through!(Signed::<1>, Plain::<2>),
            (Int::U8, 2) => through!(Plain::<1>, Plain::<2>),
            _ => false,
        },
        _ => false,
    }
}

/// What is read, and the bounds, of a conversion to integers of a byte, or of fewer bits, where these have kernels of their own.
fn to_few_bits<M: Means>(conversion: &Conversion) -> Option<(From<'_>, Bounds)> {
    match ends(conversion, None).filter(|_| M::OWN_PAIRS && conversion.dst_bytes() == 1) {
        Some((from, To::Integer(bounds))) => Some((from, bounds)),
        _ => None,
    }
}

/// As [`cast`] for pairs that are often multiplied by factors: quantised weights that are restored, and floats that are scaled.
///
/// # Safety
/// As [`cast`].
pub(crate) unsafe fn cast_scaled<M: Means>(rows: &ConvertRows<'_>, means: M) -> bool {
    if rows.dst.bits.is_some() {
        return false;
    }
    let mut hops = rows.conversion.hops();
    let triple = (hops.next(), hops.next(), hops.next());
    macro_rules! through {
        ($read:expr, $write:expr) => {{
            let factors = PhantomData::<Walk<'_>>;
            let cast = Cast { rows, means, read: $read, write: $write, factors };
            // SAFETY: the caller's promise.
            unsafe { cast.enter() }
        }};
    }
    match to_few_bits::<M>(rows.conversion) {
        Some((From::Plain, bounds)) => return through!(Plain::<4>, ToInteger::<1>(bounds)),
        Some((From::Top, bounds)) => return through!(LoudTop, ToInteger::<1>(bounds)),
        _ => {}
    }
    if let (Some(Hop::Mask { .. }), ..) = triple {
        return match ends(rows.conversion, None) {
            Some((From::Integer { mask, sign }, To::Top)) => through!(LowBits { mask, sign }, Top),
            _ => false,
        };
    }
    if hops.next().is_some() {
        return false;
    }
    match triple {
        (Some(Hop::Scale), Some(Hop::EncodeTop16), None) => through!(Plain::<4>, Top),
        // Rows that are not woven are faster between types that are told apart inside.
        (Some(Hop::Scale), Some(&Hop::F32ToInt { to: to @ (Int::S8 | Int::U8), nearest }), None)
            if matches!(rows.form, Form::Zip { .. }) || rows.turned.is_some() =>
        {
            to.bounds(nearest).is_some_and(|bounds| through!(Plain::<4>, ToInteger::<1>(bounds)))
        }
        (Some(Hop::DecodeTop16), Some(Hop::Scale), None) => through!(LoudTop, Plain::<4>),
        (Some(Hop::DecodeTop16), Some(Hop::Scale), Some(Hop::EncodeTop16)) => through!(LoudTop, Top),
        (Some(Hop::IntToF32(Int::S8)), Some(Hop::Scale), None) => through!(Whole::<1, true>, Plain::<4>),
        (Some(Hop::IntToF32(Int::S8)), Some(Hop::Scale), Some(Hop::EncodeTop16)) => {
            through!(Whole::<1, true>, Top)
        }
        (Some(Hop::IntToF32(Int::U8)), Some(Hop::Scale), Some(Hop::EncodeTop16)) => {
            through!(Whole::<1, false>, Top)
        }
        // Where rounding takes as long for these as for others, types that are told apart inside are as fast.
        (Some(Hop::Decode8(from)), Some(Hop::Scale), Some(Hop::EncodeTop16))
            if M::ROUNDS_SHORT || means.rounding().is_some() =>
        {
            through!(ByteFrom(*from, rows.widening), Top)
        }
        _ => false,
    }
}

/// As [`cast`] between types that are told apart inside, multiplied by their factors or not.
///
/// # Safety
/// As [`cast`].
pub(crate) unsafe fn cast_any<'a, M: Means, F: Find<'a>>(
    rows: &'a ConvertRows<'a>,
    means: M,
    (from, to): (From<'_>, To),
) -> bool {
    macro_rules! through {
        ($($read:literal $write:literal;)*) => {
            match (rows.conversion.src_bytes(), rows.conversion.dst_bytes()) {
                $(($read, $write) => {
                    let (read, write) = (AnyFrom::<$read>(from), AnyTo::<$write>(to));
                    // SAFETY: the caller's promise.
                    unsafe { Cast { rows, means, read, write, factors: PhantomData::<F> }.enter() }
                })*
                _ => false,
            }
        };
    }
    through!(4 4; 4 2; 4 1; 2 4; 2 2; 2 1; 1 4; 1 2; 1 1;)
}

//! Hops: loops that take a run of elements from one form to another, both contiguous.
//!
//! A conversion is a few hops one after the other, so that each pair of types need not have a loop of its own. A loop is
//! plain arithmetic over blocks of a constant size, which the compiler makes vector code of the level in whose region it
//! stands.

use super::float::{self, Decode, Encode};
use super::integer::{Bounds, rounded, rounded64, truncated, truncated_whole, truncated64};
use super::packed::pack;
use crate::slots::Bits;

/// Elements of a block: four registers of the widest level, where elements have four bytes.
const BLOCK: usize = 64;
/// Elements of a small block, for short runs.
const SMALL: usize = 32;

/// The widths of integers of whole bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Int {
    S8,
    S16,
    S32,
    S64,
    U8,
    U16,
    U32,
    U64,
}

/// One hop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Hop {
    /// `f32` to a float of a byte, or of two.
    Encode8(Encode),
    Encode16(Encode),
    /// `f32` to a format of 16 bits whose exponents are those of `f32`.
    EncodeTop16,
    EncodePower {
        beyond: u32,
    },
    /// A float of a byte, or of two, to `f32`.
    Decode8(Decode),
    Decode16(Decode),
    /// A float of a byte to the upper half of an `f32`, which holds it exactly.
    Decode8Top(Decode),
    DecodeTop16,
    DecodePower,
    /// Infinities become the greatest finite `f32`, or `f64`.
    Saturate32,
    Saturate64,
    F64ToF32,
    F64ToF32Odd,
    F32ToF64,
    IntToF32(Int),
    IntToF64(Int),
    /// Towards zero, or to the nearest.
    F32ToInt {
        to: Int,
        nearest: bool,
    },
    F64ToInt {
        to: Int,
        nearest: bool,
    },
    /// Integers of other widths: of as many bytes as said, the low ones kept.
    Resize {
        from: Int,
        bytes: usize,
    },
    /// The least and the greatest number that stay, of the integer's own type.
    Clamp {
        of: Int,
        least: i64,
        greatest: u64,
    },
    /// Bits of integers narrower than a byte, in bytes: the others become zero, or copies of the sign.
    Mask {
        bits: u32,
        signed: bool,
    },
    /// One where any bit of the mask is set in as many bytes, or `always`.
    Test {
        bytes: usize,
        mask: u64,
        always: bool,
    },
    /// The product with a factor.
    Scale,
    /// Real numbers of as many bytes become complex.
    AppendZeros {
        bytes: usize,
    },
    /// Bytes of packed slots become a byte for each slot, or the other way round; counted in packed bytes.
    Unpack(Bits),
    Pack(Bits),
}

impl Int {
    pub(super) fn bytes(self) -> usize {
        match self {
            Int::S8 | Int::U8 => 1,
            Int::S16 | Int::U16 => 2,
            Int::S32 | Int::U32 => 4,
            Int::S64 | Int::U64 => 8,
        }
    }

    /// All of those of one or two bytes, reached towards zero or as the nearest.
    pub(super) fn bounds(self, nearest: bool) -> Option<Bounds> {
        let (least, greatest) = match self {
            Int::S8 => (i8::MIN.into(), i8::MAX.into()),
            Int::U8 => (u8::MIN.into(), u8::MAX.into()),
            Int::S16 => (i16::MIN.into(), i16::MAX.into()),
            Int::U16 => (u16::MIN.into(), u16::MAX.into()),
            Int::S32 | Int::S64 | Int::U32 | Int::U64 => return None,
        };
        Some(Bounds { least, greatest, nearest, mask: u32::MAX })
    }
}

/// Applies an expression to every element of a run, and its number where that is wanted; blocks overlap at its end rather
/// than leave a tail.
macro_rules! each {
    ($run:expr, $x:ident: $from:ty => $to:ty, $result:expr) => {
        each!($run, $x @ _number: $from => $to, $result)
    };
    ($run:expr, $x:ident @ $number:ident: $from:ty => $to:ty, $result:expr) => {{
        let (src, dst, count) = $run;
        // SAFETY: `count` elements from `at` on, in either run, are what the caller promises; arrays of bytes ask for no
        // alignment, and the runs do not overlap.
        unsafe {
            let mut at = 0;
            while at < count {
                if count >= BLOCK {
                    let first = at.min(count - BLOCK);
                    block!(BLOCK, src, dst, first, $x @ $number: $from => $to, $result);
                    at = first + BLOCK;
                } else if count >= SMALL {
                    let first = at.min(count - SMALL);
                    block!(SMALL, src, dst, first, $x @ $number: $from => $to, $result);
                    at = first + SMALL;
                } else {
                    block!(1, src, dst, at, $x @ $number: $from => $to, $result);
                    at += 1;
                }
            }
        }
    }};
}

/// Applies an expression to a block of elements.
macro_rules! block {
    ($size:expr, $src:expr, $dst:expr, $at:expr, $x:ident @ $number:ident: $from:ty => $to:ty, $result:expr) => {{
        let from =
            &*$src.cast::<[u8; size_of::<$from>()]>().add($at).cast::<[[u8; size_of::<$from>()]; $size]>();
        let to =
            &mut *$dst.cast::<[u8; size_of::<$to>()]>().add($at).cast::<[[u8; size_of::<$to>()]; $size]>();
        let mut i = 0;
        while i < $size {
            let ($x, $number) = (<$from>::from_le_bytes(from[i]), $at + i);
            let result: $to = $result;
            to[i] = result.to_le_bytes();
            i += 1;
        }
    }};
}

/// Runs of integers, by their type.
macro_rules! of_int {
    ($int:expr, $t:ident => $body:expr) => {
        match $int {
            Int::S8 => {
                type $t = i8;
                $body
            }
            Int::S16 => {
                type $t = i16;
                $body
            }
            Int::S32 => {
                type $t = i32;
                $body
            }
            Int::S64 => {
                type $t = i64;
                $body
            }
            Int::U8 => {
                type $t = u8;
                $body
            }
            Int::U16 => {
                type $t = u16;
                $body
            }
            Int::U32 => {
                type $t = u32;
                $body
            }
            Int::U64 => {
                type $t = u64;
                $body
            }
        }
    };
}

/// Floats to integers that fit 32 bits, by functions that bound and round them.
macro_rules! to_narrow {
    ($run:expr, $float:ty, $to:ty, $bounded:path, $rounded:path, $nearest:expr) => {
        each!($run, x: $float => $to, $bounded($rounded(x, $nearest), <$to>::MIN.into(), <$to>::MAX.into()) as $to)
    };
}

/// Source, destination and count of elements of a hop.
type Run = (*const u8, *mut u8, usize);

/// For hops that take none.
pub(super) const NO_FACTORS: *const f32 = core::ptr::null();

/// Takes a run through a hop.
///
/// # Safety
/// `count` elements must be readable at the source and writable at the destination, of the widths that the hop has, and
/// the two must not overlap; to [`Hop::Scale`] as many factors must be readable.
#[inline(always)]
pub(super) unsafe fn apply(hop: &Hop, src: *const u8, dst: *mut u8, count: usize, factors: *const f32) {
    let run: Run = (src, dst, count);
    match *hop {
        Hop::Encode8(encode) => each!(run, x: u32 => u8, encode.one(x) as u8),
        Hop::Encode16(encode) => each!(run, x: u32 => u16, encode.one(x) as u16),
        Hop::EncodeTop16 => each!(run, x: u32 => u16, float::encode_top(x) as u16),
        Hop::EncodePower { beyond } => each!(run, x: u32 => u8, float::encode_power(x, beyond) as u8),
        Hop::Decode8(decode) => each!(run, x: u8 => u32, decode.one(x.into())),
        Hop::Decode8Top(decode) => each!(run, x: u8 => u16, (decode.one(x.into()) >> 16) as u16),
        Hop::Decode16(decode) => each!(run, x: u16 => u32, decode.one(x.into())),
        Hop::DecodeTop16 => each!(run, x: u16 => u32, float::decode_top(x)),
        Hop::DecodePower => each!(run, x: u8 => u32, float::decode_power(x.into())),
        Hop::Saturate32 => each!(run, x: u32 => u32, float::saturated32(x)),
        Hop::Saturate64 => each!(run, x: u64 => u64, float::saturated64(x)),
        Hop::F64ToF32 => each!(run, x: f64 => u32, float::f64_to_f32(x)),
        Hop::F64ToF32Odd => each!(run, x: f64 => u32, float::f64_to_f32_odd(x)),
        Hop::F32ToF64 => each!(run, x: u32 => u64, float::f32_to_f64(x)),
        Hop::IntToF32(int) => of_int!(int, T => each!(run, x: T => f32, x as f32)),
        Hop::IntToF64(int) => of_int!(int, T => each!(run, x: T => f64, x as f64)),
        Hop::F32ToInt { to: Int::S8, nearest } => to_narrow!(run, f32, i8, truncated, rounded, nearest),
        Hop::F32ToInt { to: Int::U8, nearest } => to_narrow!(run, f32, u8, truncated, rounded, nearest),
        Hop::F32ToInt { to: Int::S16, nearest } => to_narrow!(run, f32, i16, truncated, rounded, nearest),
        Hop::F32ToInt { to: Int::U16, nearest } => to_narrow!(run, f32, u16, truncated, rounded, nearest),
        Hop::F32ToInt { to: Int::S32, nearest } => {
            each!(run, x: f32 => i32, truncated_whole(rounded(x, nearest)));
        }
        Hop::F64ToInt { to: Int::S8, nearest } => to_narrow!(run, f64, i8, truncated64, rounded64, nearest),
        Hop::F64ToInt { to: Int::U8, nearest } => to_narrow!(run, f64, u8, truncated64, rounded64, nearest),
        Hop::F64ToInt { to: Int::S16, nearest } => to_narrow!(run, f64, i16, truncated64, rounded64, nearest),
        Hop::F64ToInt { to: Int::U16, nearest } => to_narrow!(run, f64, u16, truncated64, rounded64, nearest),
        Hop::F64ToInt { to: Int::S32, nearest } => to_narrow!(run, f64, i32, truncated64, rounded64, nearest),
        // No level but the highest has wider ones in vectors.
        Hop::F32ToInt { to, nearest } => of_int!(to, T => each!(run, x: f32 => T, rounded(x, nearest) as T)),
        Hop::F64ToInt { to, nearest } => {
            of_int!(to, T => each!(run, x: f64 => T, rounded64(x, nearest) as T))
        }
        Hop::Resize { from, bytes } => {
            // SAFETY: the caller's promise.
            unsafe { resize(from, bytes, run) }
        }
        Hop::Clamp { of, least, greatest } => {
            of_int!(of, T => each!(run, x: T => T, x.clamp(least as T, greatest as T)));
        }
        Hop::Mask { bits, signed } => {
            let unused = 8 - bits;
            match signed {
                true => each!(run, x: u8 => i8, (x << unused) as i8 >> unused),
                false => each!(run, x: u8 => u8, x << unused >> unused),
            }
        }
        Hop::Test { bytes, mask, always } => match bytes {
            1 => each!(run, x: u8 => u8, u8::from((x & mask as u8 != 0) | always)),
            2 => each!(run, x: u16 => u8, u8::from((x & mask as u16 != 0) | always)),
            4 => each!(run, x: u32 => u8, u8::from((x & mask as u32 != 0) | always)),
            _ => each!(run, x: u64 => u8, u8::from((x & mask != 0) | always)),
        },
        Hop::Scale => each!(run, x @ number: u32 => u32, float::scaled(x, factors.add(number).read())),
        Hop::AppendZeros { bytes } => match bytes {
            4 => each!(run, x: u32 => u64, u64::from(x)),
            _ => each!(run, x: u64 => u128, u128::from(x)),
        },
        Hop::Unpack(Bits::One) => each!(run, x: u8 => u64, pack::spread_1(x)),
        Hop::Unpack(Bits::Two) => each!(run, x: u8 => u32, pack::spread_2(x)),
        Hop::Unpack(Bits::Four) => each!(run, x: u8 => u16, pack::spread_4(x)),
        Hop::Pack(Bits::One) => each!(run, x: u64 => u8, pack::gather_1(x)),
        Hop::Pack(Bits::Two) => each!(run, x: u32 => u8, pack::gather_2(x)),
        Hop::Pack(Bits::Four) => each!(run, x: u16 => u8, pack::gather_4(x)),
    }
}

/// # Safety
/// As [`apply`].
#[inline(always)]
unsafe fn resize(from: Int, bytes: usize, run: Run) {
    macro_rules! to {
        ($t:ty) => {
            match bytes {
                1 => each!(run, x: $t => u8, x as u8),
                2 => each!(run, x: $t => u16, x as u16),
                4 => each!(run, x: $t => u32, x as u32),
                _ => each!(run, x: $t => u64, x as u64),
            }
        };
    }
    of_int!(from, T => to!(T));
}

//! What is converted into what, and in which slots.

use relayout_kernels::{Bits, Conversion, FloatFormat, Number, Rules, SlotWidth, Specials};

pub(crate) const BF16: FloatFormat =
    FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, specials: Specials::Ieee };
pub(crate) const F16: FloatFormat = FloatFormat::F16;
pub(crate) const F8: FloatFormat =
    FloatFormat { exponent_bits: 4, mantissa_bits: 3, bias: 7, specials: Specials::NanOnly };
pub(crate) const F8_PLAIN_ZERO: FloatFormat =
    FloatFormat { exponent_bits: 5, mantissa_bits: 2, bias: 16, specials: Specials::NanIsNegativeZero };
pub(crate) const F8_IEEE: FloatFormat =
    FloatFormat { exponent_bits: 3, mantissa_bits: 4, bias: 3, specials: Specials::Ieee };
pub(crate) const S32: Number = Number::Integer { bits: 32, signed: true };
pub(crate) const S16: Number = Number::Integer { bits: 16, signed: true };
pub(crate) const U16: Number = Number::Integer { bits: 16, signed: false };
pub(crate) const U8: Number = Number::Integer { bits: 8, signed: false };
pub(crate) const S8: Number = Number::Integer { bits: 8, signed: true };
pub(crate) const S4: Number = Number::Integer { bits: 4, signed: true };

/// Floats of a byte, but for powers of two.
pub(crate) const FLOATS_OF_A_BYTE: [FloatFormat; 7] = [
    of_a_byte(4, 3, 7, Specials::Ieee),
    of_a_byte(5, 2, 15, Specials::Ieee),
    of_a_byte(4, 3, 11, Specials::NanIsNegativeZero),
    of_a_byte(4, 3, 8, Specials::NanIsNegativeZero),
    F8,
    F8_PLAIN_ZERO,
    F8_IEEE,
];

const fn of_a_byte(exponent_bits: u32, mantissa_bits: u32, bias: i32, specials: Specials) -> FloatFormat {
    FloatFormat { exponent_bits, mantissa_bits, bias, specials }
}

/// What is converted: conversion, and slots of either side.
pub(crate) fn conversions() -> Vec<(Conversion, SlotWidth, SlotWidth)> {
    use SlotWidth::{Bits as Packed, Bytes};
    let of = |from, to| Conversion::new(from, to, Rules::default()).expect("a defined conversion");
    let (f32, bf16, f8) = (Number::Float(FloatFormat::F32), Number::Float(BF16), Number::Float(F8));
    let (f16, f64) = (Number::Float(F16), Number::Float(FloatFormat::F64));
    let saturating = Rules { saturate_floats: true, ..Rules::default() };
    let bounded = |from, to| Conversion::new(from, to, saturating).expect("a defined conversion");
    let rounding = Rules { round_to_nearest: true, ..Rules::default() };
    let nearest = |from, to| Conversion::new(from, to, rounding).expect("a defined conversion");
    vec![
        (of(f32, bf16), Bytes(4), Bytes(2)),
        (of(bf16, f32), Bytes(2), Bytes(4)),
        (of(f32, f8), Bytes(4), Bytes(1)),
        (of(f8, bf16), Bytes(1), Bytes(2)),
        (of(f8, f32), Bytes(1), Bytes(4)),
        (of(f32, f16), Bytes(4), Bytes(2)),
        (of(f16, f32), Bytes(2), Bytes(4)),
        (of(bf16, f16), Bytes(2), Bytes(2)),
        (of(bf16, Number::Float(F8_PLAIN_ZERO)), Bytes(2), Bytes(1)),
        (of(f16, Number::Float(F8_IEEE)), Bytes(2), Bytes(1)),
        (of(S32, S8), Bytes(4), Bytes(1)),
        (of(f32, S8), Bytes(4), Bytes(1)),
        (of(f32, S32), Bytes(4), Bytes(4)),
        (of(f64, U8), Bytes(8), Bytes(1)),
        (of(S8, S32), Bytes(1), Bytes(4)),
        (of(U8, S16), Bytes(1), Bytes(2)),
        (of(S8, f64), Bytes(1), Bytes(8)),
        (of(f32, S4), Bytes(4), Packed(Bits::Four)),
        (of(S4, f32), Packed(Bits::Four), Bytes(4)),
        (Conversion::identity(1), Bytes(1), Packed(Bits::Four)),
        (Conversion::identity(1), Packed(Bits::Four), Bytes(1)),
        (Conversion::identity(1), Packed(Bits::Two), Packed(Bits::Two)),
        (Conversion::identity(1), Packed(Bits::Four), Packed(Bits::Four)),
        (Conversion::identity(1), Bytes(1), Packed(Bits::One)),
        (Conversion::identity(1), Packed(Bits::One), Bytes(1)),
        (of(U8, f32), Bytes(1), Bytes(4)),
        (of(S32, f32), Bytes(4), Bytes(4)),
        (of(S8, bf16), Bytes(1), Bytes(2)),
        (bounded(f32, bf16), Bytes(4), Bytes(2)),
        (bounded(f32, f16), Bytes(4), Bytes(2)),
        (nearest(f32, S8), Bytes(4), Bytes(1)),
        (nearest(f32, U16), Bytes(4), Bytes(2)),
        (nearest(f32, S4), Bytes(4), Packed(Bits::Four)),
        (nearest(f16, S32), Bytes(2), Bytes(4)),
        (nearest(f64, S16), Bytes(8), Bytes(2)),
    ]
}

/// The same of rarer pairs.
pub(crate) fn rare_conversions() -> Vec<(Conversion, SlotWidth, SlotWidth)> {
    use SlotWidth::Bytes;
    let of = |from, to| Conversion::new(from, to, Rules::default()).expect("a defined conversion");
    let saturating = Rules { saturate_floats: true, ..Rules::default() };
    let bounded = |from, to| Conversion::new(from, to, saturating).expect("a defined conversion");
    let [f64, f32, bf16, f16, f8] = [FloatFormat::F64, FloatFormat::F32, BF16, F16, F8].map(Number::Float);
    let integer = |bits, signed| Number::Integer { bits, signed };
    let [power, few] = [(8, 0, 127, Specials::PowersOfTwo), (2, 3, 1, Specials::FiniteOnly)].map(
        |(exponent_bits, mantissa_bits, bias, specials)| {
            Number::Float(FloatFormat { exponent_bits, mantissa_bits, bias, specials })
        },
    );
    vec![
        (of(f64, f32), Bytes(8), Bytes(4)),
        (of(f64, bf16), Bytes(8), Bytes(2)),
        (of(f32, f64), Bytes(4), Bytes(8)),
        (of(bf16, f64), Bytes(2), Bytes(8)),
        (of(f16, f64), Bytes(2), Bytes(8)),
        (of(f8, f64), Bytes(1), Bytes(8)),
        (of(integer(64, true), S32), Bytes(8), Bytes(4)),
        (of(S32, integer(64, true)), Bytes(4), Bytes(8)),
        (of(integer(32, false), integer(64, false)), Bytes(4), Bytes(8)),
        (of(U8, f16), Bytes(1), Bytes(2)),
        (of(S16, f32), Bytes(2), Bytes(4)),
        (of(S32, bf16), Bytes(4), Bytes(2)),
        (of(f16, bf16), Bytes(2), Bytes(2)),
        (of(f16, S8), Bytes(2), Bytes(1)),
        (of(f8, Number::Float(F8_PLAIN_ZERO)), Bytes(1), Bytes(1)),
        (of(Number::Truth, f32), Bytes(1), Bytes(4)),
        (of(bf16, Number::Truth), Bytes(2), Bytes(1)),
        (of(f32, power), Bytes(4), Bytes(1)),
        (of(power, bf16), Bytes(1), Bytes(2)),
        (of(f32, few), Bytes(4), Bytes(1)),
        (bounded(bf16, f16), Bytes(2), Bytes(2)),
    ]
}

/// What is converted and multiplied.
pub(crate) fn scaled_conversions() -> Vec<(Conversion, SlotWidth, SlotWidth)> {
    use SlotWidth::{Bits as Packed, Bytes};
    let rules = Rules { scale: true, ..Rules::default() };
    let of = |from, to| Conversion::new(from, to, rules).expect("a defined conversion");
    let rounding = Rules { round_to_nearest: true, ..rules };
    let nearest = |from, to| Conversion::new(from, to, rounding).expect("a defined conversion");
    let (f32, bf16, f8) = (Number::Float(FloatFormat::F32), Number::Float(BF16), Number::Float(F8));
    let f16 = Number::Float(F16);
    vec![
        (of(f32, f32), Bytes(4), Bytes(4)),
        (nearest(f32, S8), Bytes(4), Bytes(1)),
        (nearest(bf16, S8), Bytes(2), Bytes(1)),
        (nearest(f16, U16), Bytes(2), Bytes(2)),
        (nearest(f32, S4), Bytes(4), Bytes(1)),
        (nearest(f32, S4), Bytes(4), Packed(Bits::Four)),
        (of(f32, U8), Bytes(4), Bytes(1)),
        (of(S32, S8), Bytes(4), Bytes(1)),
        (of(f32, S32), Bytes(4), Bytes(4)),
        (of(f32, bf16), Bytes(4), Bytes(2)),
        (of(f32, f8), Bytes(4), Bytes(1)),
        (of(bf16, f32), Bytes(2), Bytes(4)),
        (of(bf16, f16), Bytes(2), Bytes(2)),
        (of(f16, Number::Float(F8_PLAIN_ZERO)), Bytes(2), Bytes(1)),
        (of(bf16, Number::Float(F8_IEEE)), Bytes(2), Bytes(1)),
        (of(bf16, f8), Bytes(2), Bytes(1)),
        (of(f8, f32), Bytes(1), Bytes(4)),
        (of(f8, bf16), Bytes(1), Bytes(2)),
        (of(f8, f8), Bytes(1), Bytes(1)),
        (of(S8, f32), Bytes(1), Bytes(4)),
        (of(U8, bf16), Bytes(1), Bytes(2)),
        (of(S8, bf16), Bytes(1), Bytes(2)),
        (of(bf16, bf16), Bytes(2), Bytes(2)),
        (of(S32, f16), Bytes(4), Bytes(2)),
        (of(S4, f32), Packed(Bits::Four), Bytes(4)),
        (of(Number::Float(FloatFormat::F64), f32), Bytes(8), Bytes(4)),
    ]
}

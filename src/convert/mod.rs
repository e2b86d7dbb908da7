//! What an element becomes in another element type: the rules, one element at a time.
//!
//! | from | to | becomes |
//! |---|---|---|
//! | any type | the same | the same bits, whatever they mean |
//! | float | float | the nearest value, of two the one with the even pattern; see [`Overflow`] for too large ones |
//! | float | integer | its integer part, or what [`Rounding`] says; the nearest integer of the type where that is outside; NaN becomes 0 |
//! | integer | float | the nearest value |
//! | integer | integer | the same number, or what [`Narrowing`] says |
//! | `pred` | number | 1 or 0 |
//! | number | `pred` | true unless it is zero: NaN is true |
//! | real | complex | the number, with a zero imaginary part |
//! | complex | complex | part by part |
//! | complex | real or `pred` | refused |
//!
//! - **NaN stays NaN and becomes quiet.** Between `f64`, `f32`, `bf16` and `f16` sign and payload are kept, as far as the
//!   narrower type has bits for it; other types have the NaN of their own, with the sign where they have one. In the types
//!   without NaN it becomes zero, of the other sign.
//! - **Denormals are exact** on both sides, and negative zero stays negative where the type has one.
//! - **Numbers become `bf16` and the types below 16 bits by way of `f32`**, from `f64` and from integers of more than 24
//!   bits: such numbers are rounded twice. So do numpy and ml_dtypes. All others are rounded once.
//! - **`f8e8m0fnu`** has powers of two only, and takes the upper neighbour from the middle on. Zero and negative numbers
//!   become NaN.
//! - Of slots wider than the type the low bits count; a byte of `pred` that is not zero is true.
//!
//! These are the results of numpy and ml_dtypes, bit for bit, but for payloads of NaN (which follow the crate `half`) and for
//! floats that no integer of the type holds, which they leave open.

mod ef57;
mod float;
mod options;

pub use options::{Conversion, Narrowing, Overflow, Rounding};

pub(crate) use ef57::{ef57_join, ef57_split};

use crate::PrimitiveType;
use crate::value::float::FloatFormat;
use float::{Float, Nan};

/// True where elements of one type can become elements of another.
///
/// ```
/// use relayout::{PrimitiveType as P, convert};
/// assert!(convert::is_defined(P::F32, P::Bf16) && convert::is_defined(P::S4, P::C64));
/// assert!(!convert::is_defined(P::C64, P::F32) && !convert::is_defined(P::Token, P::Token));
/// ```
pub fn is_defined(from: PrimitiveType, to: PrimitiveType) -> bool {
    let elements = from.is_array_element() && to.is_array_element();
    elements && (to.is_complex() || !from.is_complex())
}

/// True where a scale can stand between the types: real numbers to real floats, and to integers.
pub fn takes_scale(from: PrimitiveType, to: PrimitiveType) -> bool {
    is_defined(from, to) && (to.is_floating_point() || to.is_integral())
}

/// What the value with the bits `bits` of type `from` becomes in type `to`; `None` where that is not defined, or a scale
/// stands between types that take none. Of factors along a dimension the first one counts.
///
/// ```
/// use relayout::{Conversion, PrimitiveType as P, convert, value};
/// let options = Conversion::new();
/// let pi = value::parse(P::F32, "3.14159265").expect("a value");
/// let near_pi = convert::value(P::F32, P::F8e4m3fn, pi, &options).expect("a defined conversion");
/// assert_eq!(value::format(P::F8e4m3fn, near_pi), "3.25");
/// assert_eq!(convert::value(P::S32, P::U8, 0xffff_ffff, &options), Some(0xff));
/// assert_eq!(convert::value(P::C64, P::F32, 0, &options), None);
/// ```
pub fn value(from: PrimitiveType, to: PrimitiveType, bits: u128, options: &Conversion) -> Option<u128> {
    let factor = options.scale().map(|(_, factors)| factors.first().copied().unwrap_or(1.0));
    if !is_defined(from, to) || factor.is_some() && !takes_scale(from, to) {
        return None;
    }
    Some(element(from, to, bits, options, factor))
}

/// As [`value`], for pairs that are known to be defined, and with the element's own factor.
pub(crate) fn element(
    from: PrimitiveType,
    to: PrimitiveType,
    bits: u128,
    options: &Conversion,
    factor: Option<f32>,
) -> u128 {
    let part = |kind| match kind {
        PrimitiveType::C64 => PrimitiveType::F32,
        PrimitiveType::C128 => PrimitiveType::F64,
        real => real,
    };
    let real = |bits| match part(from) == part(to) && factor.is_none() {
        true => bits & low_bits(part(from)),
        false => write(part(to), scaled(read(part(from), bits), factor), options),
    };
    if !from.is_complex() {
        return real(bits);
    }
    let [low, high] = [0, width(part(from))].map(|shift| real(bits >> shift & low_bits(part(from))));
    low | high << width(part(to))
}

/// A number of any real type.
#[derive(Clone, Copy, Debug)]
enum Number {
    /// An integer, a truth value among them.
    Integer(i128),
    /// A float, exactly.
    Float(Float),
}

fn width(element_type: PrimitiveType) -> u32 {
    element_type.bit_width().unwrap_or(0)
}

/// Ones in all bits of a type.
fn low_bits(element_type: PrimitiveType) -> u128 {
    u128::MAX.checked_shr(128 - width(element_type)).unwrap_or(0)
}

fn read(from: PrimitiveType, bits: u128) -> Number {
    if from == PrimitiveType::Pred {
        return Number::Integer((bits != 0).into());
    }
    let bits = bits & low_bits(from);
    if let Some(format) = FloatFormat::of(from) {
        return Number::Float(float::read(format, bits));
    }
    let unused = 128 - width(from);
    Number::Integer(match from.is_signed_integral() {
        true => ((bits << unused) as i128) >> unused,
        false => bits as i128,
    })
}

/// The product with a factor, in `f32`.
fn scaled(number: Number, factor: Option<f32>) -> Number {
    let Some(factor) = factor else { return number };
    let value = match number {
        Number::Integer(integer) => integer as f32,
        Number::Float(Float::Number(value)) => value as f32,
        Number::Float(nan) => {
            let single = FloatFormat::F32;
            return Number::Float(float::read(single, float::write(single, nan, Overflow::Ieee)));
        }
    };
    let product = value * factor;
    Number::Float(match product.is_nan() {
        // Machines differ in the sign of a NaN that they make.
        true => Float::Nan(Nan::NEW),
        false => Float::Number(product.into()),
    })
}

fn write(to: PrimitiveType, number: Number, options: &Conversion) -> u128 {
    if let Some(format) = FloatFormat::of(to) {
        let value = match number {
            Number::Integer(integer) if to == PrimitiveType::F64 => Float::Number(integer as f64),
            Number::Integer(integer) => Float::Number(f64::from(integer as f32)),
            Number::Float(value) => float::by_way_of_f32(to, value),
        };
        return float::write(format, value, options.overflow());
    }
    match number {
        Number::Integer(integer) => write_integer(to, integer, options.narrowing()),
        Number::Float(Float::Number(value)) if to == PrimitiveType::Pred => (value != 0.0).into(),
        // Saturates, and then saturates again in the type's own range.
        Number::Float(Float::Number(value)) => {
            let whole = match options.rounding() {
                Rounding::TowardZero => value.trunc(),
                Rounding::NearestEven => value.round_ties_even(),
            };
            write_integer(to, whole as i128, Narrowing::Saturate)
        }
        Number::Float(Float::Nan(_)) => u128::from(to == PrimitiveType::Pred),
    }
}

fn write_integer(to: PrimitiveType, integer: i128, narrowing: Narrowing) -> u128 {
    let signed = to.is_signed_integral();
    let greatest = (low_bits(to) >> u32::from(signed)) as i128;
    let least = if signed { -greatest - 1 } else { 0 };
    match narrowing {
        _ if to == PrimitiveType::Pred => (integer != 0).into(),
        Narrowing::Wrap => integer as u128 & low_bits(to),
        Narrowing::Saturate => integer.clamp(least, greatest) as u128 & low_bits(to),
    }
}

//! Floats to floats, by the description of their formats alone.

use super::Overflow;
use crate::PrimitiveType;
use crate::value::float::{FloatFormat, Specials};

/// A float of any format, read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Float {
    /// A number, exactly.
    Number(f64),
    /// Not one.
    Nan(Nan),
}

/// What is kept of a NaN on its way from one format to another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nan {
    is_negative: bool,
    /// The mantissa behind the quiet bit, moved to the top of 64 bits.
    payload: u64,
}

impl Nan {
    /// The NaN that arithmetic makes of numbers.
    pub(super) const NEW: Nan = Nan { is_negative: false, payload: 0 };
}

/// True for the formats whose NaNs have a payload that survives: `f64`, `f32`, `bf16`, `f16`.
fn keeps_payload(format: FloatFormat) -> bool {
    format.specials == Specials::Ieee && format.mantissa_bits > 4
}

/// Bits of a payload: the mantissa without the quiet bit.
fn payload_bits(format: FloatFormat) -> u32 {
    format.mantissa_bits - 1
}

/// Reads a pattern.
pub(super) fn read(format: FloatFormat, bits: u128) -> Float {
    let value = format.decode(bits);
    if !value.is_nan() {
        return Float::Number(value);
    }
    let payload = match keeps_payload(format) {
        true => (bits as u64) << (64 - payload_bits(format)),
        false => 0,
    };
    Float::Nan(Nan { is_negative: bits & format.sign_bit() != 0, payload })
}

/// The pattern of a value in a format.
pub(super) fn write(format: FloatFormat, value: Float, overflow: Overflow) -> u128 {
    match value {
        Float::Nan(nan) => write_nan(format, nan),
        Float::Number(value) if format.specials == Specials::PowersOfTwo => write_power(value, overflow),
        Float::Number(value) => write_number(format, value, overflow),
    }
}

fn write_nan(format: FloatFormat, nan: Nan) -> u128 {
    let sign = if nan.is_negative { format.sign_bit() } else { 0 };
    let payload = match keeps_payload(format) {
        true => u128::from(nan.payload >> (64 - payload_bits(format))),
        false => 0,
    };
    match (format.specials, format.nan()) {
        (Specials::Ieee | Specials::NanOnly, Some(quiet)) => sign | quiet | payload,
        (_, Some(only)) => only,
        // Formats without NaN write zero, of the other sign: what ml_dtypes does.
        (_, None) => sign ^ format.sign_bit(),
    }
}

fn write_number(format: FloatFormat, value: f64, overflow: Overflow) -> u128 {
    let sign = if value.is_sign_negative() { format.sign_bit() } else { 0 };
    // Nothing where the format has no infinity to round to.
    let magnitude = format.encode_magnitude(value.abs());
    let is_finite = |bits: &u128| *bits <= format.greatest_finite();
    match (magnitude, overflow, format.specials) {
        // The pattern of negative zero is NaN.
        (Some(0), _, Specials::NanIsNegativeZero) => 0,
        (Some(magnitude), Overflow::Ieee, _) => sign | magnitude,
        (Some(magnitude), Overflow::Saturate, _) if is_finite(&magnitude) => sign | magnitude,
        (_, Overflow::Saturate, _) | (None, _, Specials::FiniteOnly) => sign | format.greatest_finite(),
        (None, ..) => write_nan(format, Nan { is_negative: value.is_sign_negative(), payload: 0 }),
    }
}

/// Powers of two from 2⁻¹²⁷ to 2¹²⁷, and NaN for what is zero, negative or too large. A value between two powers goes to
/// the upper one from their middle on, and a value below the least one to that; between the least two, whose lower one
/// has no middle in `f32`'s exponents, everything above it goes to the upper one. This is what ml_dtypes does.
fn write_power(value: f64, overflow: Overflow) -> u128 {
    const NAN: u128 = 0xff;
    const GREATEST: u128 = 0xfe;
    let least = 2f64.powi(-127);
    if value <= 0.0 {
        return NAN;
    }
    if value <= 2.0 * least {
        return u128::from(value > least);
    }
    if value.is_infinite() {
        return if overflow == Overflow::Saturate { GREATEST } else { NAN };
    }
    let exponent = ((value.to_bits() >> 52) as i32) - 1023;
    let is_upper = value >= 1.5 * 2f64.powi(exponent);
    let pattern = (exponent + 127 + i32::from(is_upper)) as u128;
    match overflow {
        _ if pattern <= GREATEST => pattern,
        Overflow::Ieee => NAN,
        Overflow::Saturate => GREATEST,
    }
}

/// What stands between a source and a format: the types of at most 16 bits, but for `f16`, are reached from `f32`, by way
/// of which numpy and ml_dtypes convert too.
pub(super) fn by_way_of_f32(to: PrimitiveType, value: Float) -> Float {
    match value {
        Float::Number(number) if !matches!(to, PrimitiveType::F64 | PrimitiveType::F16) => {
            Float::Number(f64::from(number as f32))
        }
        _ => value,
    }
}

//! Binary floating-point formats by table: one way to encode and one to decode, whatever the widths.

use super::low_bits;
use crate::PrimitiveType;

/// What a format does with the patterns that IEEE 754 reserves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Specials {
    /// The greatest exponent means infinity and NaN.
    Ieee,
    /// No infinity; NaN is the pattern with all magnitude bits set (`fn`).
    NanOnly,
    /// No infinity and no negative zero, whose pattern is NaN (`fnuz`).
    NanIsNegativeZero,
    /// Numbers only.
    FiniteOnly,
    /// No sign, no zero, no mantissa: powers of two, and NaN with all bits set (`f8e8m0fnu`).
    PowersOfTwo,
}

/// A floating-point format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FloatFormat {
    pub(crate) exponent_bits: u32,
    pub(crate) mantissa_bits: u32,
    pub(crate) bias: i32,
    pub(crate) specials: Specials,
}

/// The standard type that a format's values are printed as.
pub(super) enum NarrowFloat {
    F32,
    F64,
}

/// (type, exponent bits, mantissa bits, bias, specials).
const FORMATS: [(PrimitiveType, u32, u32, i32, Specials); 15] = [
    (PrimitiveType::F64, 11, 52, 1023, Specials::Ieee),
    (PrimitiveType::F32, 8, 23, 127, Specials::Ieee),
    (PrimitiveType::Bf16, 8, 7, 127, Specials::Ieee),
    (PrimitiveType::F16, 5, 10, 15, Specials::Ieee),
    (PrimitiveType::F8e5m2, 5, 2, 15, Specials::Ieee),
    (PrimitiveType::F8e4m3, 4, 3, 7, Specials::Ieee),
    (PrimitiveType::F8e3m4, 3, 4, 3, Specials::Ieee),
    (PrimitiveType::F8e4m3fn, 4, 3, 7, Specials::NanOnly),
    (PrimitiveType::F8e4m3b11fnuz, 4, 3, 11, Specials::NanIsNegativeZero),
    (PrimitiveType::F8e5m2fnuz, 5, 2, 16, Specials::NanIsNegativeZero),
    (PrimitiveType::F8e4m3fnuz, 4, 3, 8, Specials::NanIsNegativeZero),
    (PrimitiveType::F6e3m2fn, 3, 2, 3, Specials::FiniteOnly),
    (PrimitiveType::F6e2m3fn, 2, 3, 1, Specials::FiniteOnly),
    (PrimitiveType::F4e2m1fn, 2, 1, 1, Specials::FiniteOnly),
    (PrimitiveType::F8e8m0fnu, 8, 0, 127, Specials::PowersOfTwo),
];

/// Mantissa bits of an f64, and the exponent of its smallest step.
const F64_MANTISSA_BITS: u32 = 52;
const F64_LEAST_EXPONENT: i32 = -1074;

impl FloatFormat {
    pub(crate) const F32: FloatFormat =
        FloatFormat { exponent_bits: 8, mantissa_bits: 23, bias: 127, specials: Specials::Ieee };
    pub(crate) const F64: FloatFormat =
        FloatFormat { exponent_bits: 11, mantissa_bits: 52, bias: 1023, specials: Specials::Ieee };

    pub(crate) fn of(element_type: PrimitiveType) -> Option<FloatFormat> {
        let row = FORMATS.iter().find(|row| row.0 == element_type)?;
        Some(FloatFormat { exponent_bits: row.1, mantissa_bits: row.2, bias: row.3, specials: row.4 })
    }

    pub(super) fn narrow(self) -> NarrowFloat {
        if self.mantissa_bits == F64_MANTISSA_BITS { NarrowFloat::F64 } else { NarrowFloat::F32 }
    }

    /// All bits but the sign.
    pub(crate) fn magnitude_mask(self) -> u128 {
        low_bits(self.exponent_bits + self.mantissa_bits)
    }

    /// The sign bit; the formats without one have no bit there.
    pub(crate) fn sign_bit(self) -> u128 {
        match self.specials {
            Specials::PowersOfTwo => 0,
            _ => self.magnitude_mask() + 1,
        }
    }

    /// The pattern of the greatest finite value.
    pub(crate) fn greatest_finite(self) -> u128 {
        match self.specials {
            Specials::Ieee => (low_bits(self.exponent_bits) << self.mantissa_bits) - 1,
            Specials::NanOnly | Specials::PowersOfTwo => self.magnitude_mask() - 1,
            Specials::NanIsNegativeZero | Specials::FiniteOnly => self.magnitude_mask(),
        }
    }

    pub(crate) fn infinity(self) -> Option<u128> {
        (self.specials == Specials::Ieee).then(|| self.greatest_finite() + 1)
    }

    /// The NaN that the text `nan` means: quiet, positive where there is a choice.
    pub(crate) fn nan(self) -> Option<u128> {
        match self.specials {
            Specials::Ieee => Some((self.greatest_finite() + 1) | 1 << (self.mantissa_bits - 1)),
            Specials::NanOnly | Specials::PowersOfTwo => Some(self.magnitude_mask()),
            Specials::NanIsNegativeZero => Some(self.sign_bit()),
            Specials::FiniteOnly => None,
        }
    }

    pub(super) fn highest(self) -> u128 {
        self.infinity().unwrap_or(self.greatest_finite())
    }

    pub(super) fn lowest(self) -> u128 {
        match self.specials {
            Specials::PowersOfTwo => 0,
            _ => self.sign_bit() | self.highest(),
        }
    }

    /// The exponent of the smallest step between values; of the smallest value where there are only powers of two.
    fn least_exponent(self) -> i32 {
        match self.specials {
            Specials::PowersOfTwo => -self.bias,
            _ => 1 - self.bias - self.mantissa_bits as i32,
        }
    }

    /// The nearest value, ties to the even pattern; `None` where the format has no such value.
    pub(super) fn encode(self, value: f64) -> Option<u128> {
        if value.is_nan() {
            return self.nan();
        }
        let sign = if value.is_sign_negative() { self.sign_bit() } else { 0 };
        let has_no_place = value == 0.0 || value.is_sign_negative();
        if self.specials == Specials::PowersOfTwo && has_no_place {
            return None;
        }
        let magnitude = self.encode_magnitude(value.abs())?;
        let is_nan = self.specials == Specials::NanIsNegativeZero && magnitude == 0;
        Some(if is_nan { 0 } else { sign | magnitude })
    }

    pub(crate) fn encode_magnitude(self, value: f64) -> Option<u128> {
        if value.is_infinite() {
            return self.infinity();
        }
        let (mantissa, exponent) = decompose(value);
        if mantissa == 0 {
            return Some(0);
        }
        // The step between the values around this one, and how many of the mantissa's bits lie below it.
        let top = exponent + mantissa.ilog2() as i32;
        let least = self.least_exponent();
        let step = (top - self.mantissa_bits as i32).max(least);
        let below = ((step - exponent) as u32).min(100);
        let (whole, rest) = (mantissa >> below, mantissa & low_bits(below));
        // Patterns are consecutive: the leading one of a normal number carries into the exponent field.
        let mut pattern = (((step - least) as u128) << self.mantissa_bits) + whole;
        if self.specials == Specials::PowersOfTwo {
            match pattern.checked_sub(1) {
                Some(shifted) => pattern = shifted,
                None => return Some(0), // below the least value, and there is no zero to round to
            }
        }
        let twice = rest << 1;
        let unit = 1 << below;
        if twice > unit || (twice == unit && pattern % 2 == 1) {
            pattern += 1;
        }
        if pattern > self.greatest_finite() { self.infinity() } else { Some(pattern) }
    }

    /// The value of a pattern, exactly.
    pub(crate) fn decode(self, bits: u128) -> f64 {
        if self.mantissa_bits == F64_MANTISSA_BITS {
            return f64::from_bits(bits as u64);
        }
        let sign = if bits & self.sign_bit() == 0 { 1.0 } else { -1.0 };
        let magnitude = bits & self.magnitude_mask();
        if self.nan() == Some(bits)
            || (magnitude > self.greatest_finite() && self.infinity() != Some(magnitude))
        {
            return f64::NAN;
        }
        if magnitude > self.greatest_finite() {
            return sign * f64::INFINITY;
        }
        let power = |exponent: i32| 2f64.powi(exponent);
        if self.specials == Specials::PowersOfTwo {
            return power(magnitude as i32 + self.least_exponent());
        }
        let fraction = magnitude & low_bits(self.mantissa_bits);
        match (magnitude >> self.mantissa_bits) as i32 {
            0 => sign * fraction as f64 * power(self.least_exponent()),
            exponent => {
                let mantissa = fraction | 1 << self.mantissa_bits;
                sign * mantissa as f64 * power(self.least_exponent() + exponent - 1)
            }
        }
    }
}

/// A finite, non-negative value as mantissa and exponent: `mantissa * 2^exponent`.
fn decompose(value: f64) -> (u128, i32) {
    let bits = value.to_bits();
    let fraction = u128::from(bits) & low_bits(F64_MANTISSA_BITS);
    match (bits >> F64_MANTISSA_BITS) as i32 {
        0 => (fraction, F64_LEAST_EXPONENT),
        exponent => (fraction | 1 << F64_MANTISSA_BITS, F64_LEAST_EXPONENT + exponent - 1),
    }
}

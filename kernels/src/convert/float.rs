//! Narrow floats from and to `f32`, by integers: the numbers that describe a format, and one element's way through them.
//!
//! Everything is a select and nothing a branch, so that loops of it become vector code at every level. Where floats are added,
//! operands and results are normal, so that modes which flush denormals change nothing.

use super::number::{FloatFormat, Specials};

/// Bits of an infinite `f32`.
pub(super) const INFINITY: u32 = 0x7f80_0000;
/// All bits of an `f32` but the sign.
pub(super) const MAGNITUDE: u32 = 0x7fff_ffff;
/// A NaN of an `f32`, quiet.
pub(super) const QUIET: u32 = 0x7fc0_0000;

/// The greatest finite pattern of a format of at most 16 bits.
fn greatest(format: FloatFormat) -> u32 {
    let magnitude = (1 << (format.exponent_bits + format.mantissa_bits)) - 1;
    match format.specials {
        Specials::Ieee => (magnitude >> format.mantissa_bits << format.mantissa_bits) - 1,
        Specials::NanOnly | Specials::PowersOfTwo => magnitude - 1,
        Specials::NanIsNegativeZero | Specials::FiniteOnly => magnitude,
    }
}

/// The bits of 2^exponent as an `f32`.
fn power(exponent: i32) -> u32 {
    ((127 + exponent) as u32) << 23
}

/// Bits of NaNs' payloads that a format shares with `f32`.
fn payload(format: FloatFormat) -> u32 {
    match format.specials {
        Specials::Ieee if format.mantissa_bits > 4 => (1 << format.mantissa_bits) - 1,
        _ => 0,
    }
}

/// From `f32` to a format of at most 16 bits with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Encode {
    /// The least magnitude that becomes what all greater ones become.
    limit: u32,
    /// Bits that are rounded away.
    shift: u32,
    /// Just below half of the last place that stays.
    half: u32,
    /// What the exponents' biases differ by, in the format's last place.
    rebias: u32,
    /// The least magnitude that is normal in the format.
    least_normal: u32,
    /// An `f32` whose last place is the format's least value.
    denormals: u32,
    nan: u32,
    payload: u32,
    sign_shift: u32,
    sign: u32,
    /// Turns the sign of NaN, where only numbers exist.
    nan_sign: u32,
    /// Zero has no sign.
    zero_is_plain: bool,
}

impl Encode {
    pub(crate) fn new(format: FloatFormat, saturates: bool) -> Encode {
        let (shift, greatest) = (23 - format.mantissa_bits, greatest(format));
        let sign = 1 << (format.exponent_bits + format.mantissa_bits);
        let rebias = ((127 - format.bias) as u32) << format.mantissa_bits;
        let same_exponents = format.exponent_bits == 8;
        let stops = saturates || format.specials == Specials::FiniteOnly;
        Encode {
            // Behind the greatest pattern stands that of infinity, or of NaN.
            limit: (greatest + u32::from(!stops) + rebias) << shift,
            shift,
            half: (1 << (shift - 1)) - 1,
            rebias,
            least_normal: if same_exponents { 0 } else { power(1 - format.bias) },
            denormals: power(24 - format.bias - format.mantissa_bits as i32),
            nan: match format.specials {
                Specials::Ieee => (greatest + 1) | 1 << (format.mantissa_bits - 1),
                Specials::FiniteOnly => 0,
                _ => greatest + 1,
            },
            payload: payload(format),
            sign_shift: 31 - (format.exponent_bits + format.mantissa_bits),
            sign,
            nan_sign: if format.specials == Specials::FiniteOnly { sign } else { 0 },
            zero_is_plain: format.specials == Specials::NanIsNegativeZero,
        }
    }

    /// The lean way to a byte, and the kind, where there are as many bits of mantissa as formats in use have: of none, the last place of a
    /// sum is not that of the pattern.
    #[inline(always)]
    pub(crate) fn lean(&self) -> Option<(Lean, u32)> {
        let is_byte = self.sign == 0x80 && self.nan_sign == 0 && self.payload == 0;
        let is_lean = is_byte && matches!(self.mantissa_bits(), 2..=4);
        let offset = (self.least_normal >> self.shift).wrapping_neg() & 0xff;
        let lean = Lean {
            limit: self.limit,
            least_exponent: self.least_normal,
            shift: self.shift,
            above: (self.shift << 23) + offset,
            nan: self.nan,
            sign_of_zero: if self.zero_is_plain { 0 } else { self.sign },
        };
        let kind = match self.zero_is_plain {
            true => Lean::PLAIN_ZERO,
            false if self.shift == Lean::SHIFT && self.nan == (self.limit >> self.shift) - self.rebias => {
                Lean::NAN_IS_NEXT
            }
            false => Lean::OTHER,
        };
        is_lean.then_some((lean, kind))
    }

    /// Bits of the mantissa that a pattern keeps.
    pub(crate) fn mantissa_bits(&self) -> u32 {
        23 - self.shift
    }

    /// True for IEEE 754's format of 16 bits, without saturation: no other has as many bits and the same greatest number.
    #[inline(always)]
    pub(crate) fn is_half(&self) -> bool {
        const LIMIT: u32 = (127 + 16) << 23; // 2^16, behind the greatest number
        self.shift == 13 && self.sign == 0x8000 && self.limit == LIMIT
    }

    /// The same with saturation.
    #[inline(always)]
    pub(crate) fn is_bounded_half(&self) -> bool {
        const LIMIT: u32 = ((127 + 16) << 23) - (1 << 13); // the greatest number
        self.shift == 13 && self.sign == 0x8000 && self.limit == LIMIT
    }

    /// True for the upper half of `f32`, with saturation.
    #[inline(always)]
    pub(crate) fn is_bounded_top(&self) -> bool {
        self.shift == 16 && self.sign == 0x8000 && self.limit == INFINITY - (1 << 16)
    }

    /// The pattern nearest to the `f32` with the bits `bits`.
    #[inline(always)]
    pub(crate) fn one(&self, bits: u32) -> u32 {
        let magnitude = bits & MAGNITUDE;
        let limited = magnitude.min(self.limit);
        let even = limited >> self.shift & 1;
        let normal = ((limited + self.half + even) >> self.shift).wrapping_sub(self.rebias);
        let sum = f32::from_bits(limited) + f32::from_bits(self.denormals);
        let denormal = sum.to_bits().wrapping_sub(self.denormals);
        let number = if limited < self.least_normal { denormal } else { normal };
        let is_nan = magnitude > INFINITY;
        let nan = self.nan | magnitude >> self.shift & self.payload;
        let result = if is_nan { nan } else { number };
        let sign = bits >> self.sign_shift & self.sign ^ if is_nan { self.nan_sign } else { 0 };
        result | if self.zero_is_plain & (result == 0) { 0 } else { sign }
    }
}

/// From `f32` to a float of a byte, with fewer steps: numbers are added to one whose last place is theirs, which rounds them,
/// the denormal ones like all others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lean {
    /// The least magnitude that becomes what all greater ones become.
    limit: u32,
    /// The exponent of the least normal number, where an `f32` has it.
    least_exponent: u32,
    /// Bits of the mantissa that the result has not.
    shift: u32,
    /// How far the last place of the result is above that of an `f32`, as exponents are told, and what the least exponent is there, below
    /// zero, as a byte.
    above: u32,
    nan: u32,
    /// The sign that zero may have.
    sign_of_zero: u32,
}

/// Bits of an `f32`'s exponent.
const EXPONENT: u32 = INFINITY;

impl Lean {
    /// Formats with three bits of mantissa whose NaN is what stands behind the greatest number: NaN comes to it by itself, like all that
    /// is too large.
    pub(crate) const NAN_IS_NEXT: u32 = 0;
    /// Bits of the mantissa that those have not.
    const SHIFT: u32 = 23 - 3;
    /// Formats where zero has no sign.
    pub(crate) const PLAIN_ZERO: u32 = 1;
    /// All others.
    pub(crate) const OTHER: u32 = 2;
    /// Formats that are told apart only where they run, which takes some steps more.
    pub(crate) const ANY: u32 = 3;

    /// The pattern nearest to the `f32` with the bits `bits`, in the low byte.
    #[inline(always)]
    pub(crate) fn one<const KIND: u32>(&self, bits: u32) -> u32 {
        // Shifts that compilers know are faster.
        let shift = if KIND == Lean::NAN_IS_NEXT { Lean::SHIFT } else { self.shift };
        let magnitude = bits & MAGNITUDE;
        let limited = magnitude.min(self.limit);
        let exponent = (limited & EXPONENT).max(self.least_exponent);
        // A number whose last place is that of the result, so that the sum is rounded there: its low bits are the mantissa,
        // the leading one too, and what the exponent is counted from is taken off beforehand. Above the low byte is noise.
        let large = exponent.wrapping_add(self.above);
        let sum = (f32::from_bits(limited) + f32::from_bits(large)).to_bits();
        let number = sum.wrapping_add(exponent >> shift);
        let result = if KIND != Lean::NAN_IS_NEXT && magnitude > INFINITY { self.nan } else { number };
        let sign = bits >> 24 & 0x80;
        let sign_of_zero = match KIND {
            Lean::PLAIN_ZERO => 0,
            Lean::ANY => sign & self.sign_of_zero,
            _ => sign,
        };
        result | if result as u8 == 0 { sign_of_zero } else { sign }
    }
}

/// From a format of at most 16 bits with a sign to `f32`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Decode {
    pub(super) shift: u32,
    pub(super) rebias: u32,
    /// The least normal pattern, and its value.
    pub(super) least_normal: u32,
    least_value: u32,
    pub(super) magnitude: u32,
    pub(super) greatest: u32,
    /// The pattern of infinity, or one that no magnitude has.
    infinity: u32,
    /// The pattern of the only NaN, sign and all, or one that no pattern is.
    pub(super) nan: u32,
    payload: u32,
    pub(super) sign_shift: u32,
}

impl Decode {
    pub(crate) fn new(format: FloatFormat) -> Decode {
        const NONE: u32 = u32::MAX;
        let width = format.exponent_bits + format.mantissa_bits;
        let greatest = greatest(format);
        let same_exponents = format.exponent_bits == 8;
        Decode {
            shift: 23 - format.mantissa_bits,
            rebias: ((127 - format.bias) as u32) << 23,
            least_normal: if same_exponents { 0 } else { 1 << format.mantissa_bits },
            least_value: power(1 - format.bias),
            magnitude: (1 << width) - 1,
            greatest,
            infinity: if format.specials == Specials::Ieee { greatest + 1 } else { NONE },
            nan: if format.specials == Specials::NanIsNegativeZero { 1 << width } else { NONE },
            payload: payload(format),
            sign_shift: 31 - width,
        }
    }

    /// True for IEEE 754's format of 16 bits.
    #[inline(always)]
    pub(crate) fn is_half(&self) -> bool {
        self.shift == 13 && self.rebias == (127 - 15) << 23 && self.infinity == 0x7c00
    }

    /// The bits of the `f32` that has the value of a pattern; what stands above the pattern is left out.
    #[inline(always)]
    pub(crate) fn one(&self, pattern: u32) -> u32 {
        let magnitude = pattern & self.magnitude;
        let moved = magnitude << self.shift;
        let normal = moved + self.rebias;
        let sum = f32::from_bits(moved + self.least_value) - f32::from_bits(self.least_value);
        let number = if magnitude < self.least_normal { sum.to_bits() } else { normal };
        let nan = QUIET | (magnitude & self.payload) << self.shift;
        let special = if magnitude == self.infinity { INFINITY } else { nan };
        let is_special = (magnitude > self.greatest) | (pattern & (self.magnitude << 1 | 1) == self.nan);
        let result = if is_special { special } else { number };
        result | pattern << self.sign_shift & !MAGNITUDE
    }
}

/// From `f32` to the powers of two from 2^-127 to 2^127: zero, negative numbers and NaN become NaN.
#[inline(always)]
pub(crate) fn encode_power(bits: u32, beyond: u32) -> u32 {
    const LEAST: u32 = 0x0040_0000;
    // From the middle on to the upper one; the least one has no middle, and nothing is below it.
    let rounded = bits.wrapping_add(LEAST - u32::from(bits == LEAST)) >> 23;
    let number = if rounded > 0xfe { beyond } else { rounded };
    if bits == 0 || bits > INFINITY { 0xff } else { number }
}

/// The bits of the `f32` that has the value of a power's pattern.
#[inline(always)]
pub(crate) fn decode_power(pattern: u32) -> u32 {
    let number = if pattern == 0 { 0x0040_0000 } else { pattern << 23 };
    if pattern == 0xff { QUIET } else { number }
}

/// `f64` to `f32`, to the nearest.
#[inline(always)]
pub(crate) fn f64_to_f32(value: f64) -> u32 {
    let nan = narrow_nan(value.to_bits());
    if value.is_nan() { nan } else { (value as f32).to_bits() }
}

/// `f64` to `f32`, the last bit set where it is not exact: rounding the result again is then rounding once.
#[inline(always)]
pub(crate) fn f64_to_f32_odd(value: f64) -> u32 {
    let nearest = value as f32;
    let back = f64::from(nearest);
    let bits = nearest.to_bits();
    let toward_zero = if back.abs() > value.abs() { bits.wrapping_sub(1) } else { bits };
    let odd = if back == value { bits } else { toward_zero | 1 };
    if value.is_nan() { narrow_nan(value.to_bits()) } else { odd }
}

#[inline(always)]
fn narrow_nan(bits: u64) -> u32 {
    let sign = (bits >> 32) as u32 & !MAGNITUDE;
    sign | QUIET | (bits >> 29) as u32 & 0x007f_ffff
}

/// `f32` to `f64`.
#[inline(always)]
pub(crate) fn f32_to_f64(bits: u32) -> u64 {
    let sign = u64::from(bits & !MAGNITUDE) << 32;
    let nan = sign | 0x7ff8 << 48 | u64::from(bits & 0x007f_ffff) << 29;
    let number = f64::from(f32::from_bits(bits)).to_bits();
    if bits & MAGNITUDE > INFINITY { nan } else { number }
}

/// The product with a factor: a NaN stays itself, and a new one is positive.
#[inline(always)]
pub(crate) fn scaled(bits: u32, factor: f32) -> u32 {
    let value = f32::from_bits(bits);
    let product = value * factor;
    let number = if product.is_nan() { QUIET } else { product.to_bits() };
    if value.is_nan() { bits | QUIET } else { number }
}

/// `f32` to the format of 16 bits that is its upper half, in the low half of a word: what halves are selected by, compilers would
/// narrow as well.
#[inline(always)]
pub(crate) fn encode_top(bits: u32) -> u32 {
    let rounded = bits.wrapping_add(0x7fff + (bits >> 16 & 1));
    let result = if f32::from_bits(bits).is_nan() { bits | QUIET } else { rounded };
    result >> 16
}

/// The `f32` whose upper half a pattern is.
#[inline(always)]
pub(crate) fn decode_top(pattern: u16) -> u32 {
    let bits = u32::from(pattern) << 16;
    if bits & MAGNITUDE > INFINITY { bits | QUIET } else { bits }
}

/// The greatest finite `f32` for what is infinite.
#[inline(always)]
pub(crate) fn saturated32(bits: u32) -> u32 {
    bits - u32::from(bits & MAGNITUDE == INFINITY)
}

/// The greatest finite `f64` for what is infinite.
#[inline(always)]
pub(crate) fn saturated64(bits: u64) -> u64 {
    bits - u64::from(bits & (u64::MAX >> 1) == f64::INFINITY.to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_half_format_is_half() {
        let other =
            [(5, 10, 15, Specials::NanOnly), (5, 10, 16, Specials::Ieee), (8, 7, 127, Specials::Ieee)];
        for (exponent_bits, mantissa_bits, bias, specials) in other {
            let format = FloatFormat { exponent_bits, mantissa_bits, bias, specials };
            assert!(!Encode::new(format, false).is_half() && !Decode::new(format).is_half(), "{format:?}");
        }
        assert!(Encode::new(FloatFormat::F16, false).is_half() && Decode::new(FloatFormat::F16).is_half());
        assert!(!Encode::new(FloatFormat::F16, true).is_half());
        let top = FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, specials: Specials::Ieee };
        for (format, saturates) in
            [(FloatFormat::F16, true), (FloatFormat::F16, false), (top, true), (top, false)]
        {
            let encode = Encode::new(format, saturates);
            assert_eq!(encode.is_bounded_half(), saturates && format == FloatFormat::F16, "{format:?}");
            assert_eq!(encode.is_bounded_top(), saturates && format == top, "{format:?}");
        }
    }
}

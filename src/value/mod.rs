//! Values of element types as bit patterns, and as text.
//!
//! A pattern is the value's bits in the low bits of a `u128`, the bits above being zero. Complex numbers have their
//! real part in the low half, as in little-endian memory. Types that are no array elements have no values; their
//! patterns are 0.

mod decimal;
pub(crate) mod float;

use crate::PrimitiveType;
use float::{FloatFormat, NarrowFloat};

/// The bits of 0. `f8e8m0fnu` has no zero; all bits zero are its least value, 2⁻¹²⁷.
pub fn zero(_: PrimitiveType) -> u128 {
    0
}

/// The bits of 1; of a complex type, 1 with a zero imaginary part. In `s1` the one bit means -1.
///
/// ```
/// use relayout::{PrimitiveType, value};
/// assert_eq!(value::one(PrimitiveType::F32), 0x3f80_0000);
/// assert_eq!(value::one(PrimitiveType::C64), 0x3f80_0000);
/// ```
pub fn one(element_type: PrimitiveType) -> u128 {
    match Kind::of(element_type) {
        Kind::Float(format) => format.encode(1.0).unwrap_or(0),
        Kind::Complex(part) => one(part),
        Kind::Integer { .. } | Kind::Predicate => 1,
        Kind::None => 0,
    }
}

/// The bits of the least value: minus infinity, the least finite value of a float without infinities, the least
/// integer, false. Both parts of a complex number are the least.
pub fn lowest(element_type: PrimitiveType) -> u128 {
    match Kind::of(element_type) {
        Kind::Float(format) => format.lowest(),
        Kind::Complex(part) => both(part, lowest(part)),
        Kind::Integer { bits, signed: true } => 1 << (bits - 1),
        Kind::Integer { .. } | Kind::Predicate | Kind::None => 0,
    }
}

/// The bits of the greatest value: infinity, the greatest finite value of a float without infinities, the greatest
/// integer, true. Both parts of a complex number are the greatest.
pub fn highest(element_type: PrimitiveType) -> u128 {
    match Kind::of(element_type) {
        Kind::Float(format) => format.highest(),
        Kind::Complex(part) => both(part, highest(part)),
        Kind::Integer { bits, signed } => low_bits(bits - u32::from(signed)),
        Kind::Predicate => 1,
        Kind::None => 0,
    }
}

/// Reads a value of `element_type`; `None` where the text names none.
///
/// - Any type: `0x` and the raw bits, no more than the type has.
/// - Integers: decimal, within the range of the type.
/// - Floats: decimal or with an exponent, rounded once, to the nearest value, ties to the even one; too large a number
///   becomes infinity, or none where the type has no infinity. `inf`, `-inf` and `nan` where the type has them.
/// - `pred`: `true`, `false`, `1` or `0`.
/// - Complex: `(re,im)`, or a real number.
///
/// ```
/// use relayout::{PrimitiveType, value};
/// assert_eq!(value::parse(PrimitiveType::Bf16, "1.5"), Some(0x3fc0));
/// assert_eq!(value::parse(PrimitiveType::S4, "-8"), Some(0x8));
/// assert_eq!(value::parse(PrimitiveType::S4, "8"), None);
/// assert_eq!(value::parse(PrimitiveType::F8e4m3fn, "0x7f"), Some(0x7f));
/// ```
pub fn parse(element_type: PrimitiveType, text: &str) -> Option<u128> {
    if let Some(digits) = text.strip_prefix("0x") {
        return parse_raw(element_type, digits);
    }
    match Kind::of(element_type) {
        Kind::Float(format) => decimal::parse(text, format),
        Kind::Complex(part) => parse_complex(part, text),
        Kind::Integer { bits, signed } => parse_integer(bits, signed, text),
        Kind::Predicate => match text {
            "true" | "1" => Some(1),
            "false" | "0" => Some(0),
            _ => None,
        },
        Kind::None => None,
    }
}

/// The value as text that [`parse`] reads back to the same bits.
///
/// Floats print the shortest decimal that their `f32` (`f64`: `f64`) value reads back from; a NaN that is not the one
/// that `nan` means prints its bits. Bits above the type's width are ignored.
///
/// ```
/// use relayout::{PrimitiveType, value};
/// assert_eq!(value::format(PrimitiveType::F16, 0x3c00), "1.0");
/// assert_eq!(value::format(PrimitiveType::S8, 0xff), "-1");
/// assert_eq!(value::format(PrimitiveType::F32, 0x7fc0_0001), "0x7fc00001");
/// ```
pub fn format(element_type: PrimitiveType, bits: u128) -> String {
    let width = element_type.bit_width().unwrap_or(0);
    let bits = bits & low_bits(width);
    match Kind::of(element_type) {
        Kind::Float(format) => format_float(format, bits),
        Kind::Complex(part) => {
            let imaginary = bits >> (width / 2);
            format!("({},{})", self::format(part, bits), self::format(part, imaginary))
        }
        Kind::Integer { signed: true, .. } => {
            let unused = 128 - width;
            (((bits << unused) as i128) >> unused).to_string()
        }
        Kind::Predicate => (bits == 1).to_string(),
        Kind::Integer { .. } | Kind::None => bits.to_string(),
    }
}

/// How a type's bits are read.
enum Kind {
    Predicate,
    Integer {
        bits: u32,
        signed: bool,
    },
    Float(FloatFormat),
    /// Two numbers of this type.
    Complex(PrimitiveType),
    None,
}

impl Kind {
    fn of(element_type: PrimitiveType) -> Kind {
        if let Some(format) = FloatFormat::of(element_type) {
            return Kind::Float(format);
        }
        match (element_type, element_type.bit_width()) {
            (PrimitiveType::Pred, _) => Kind::Predicate,
            (PrimitiveType::C64, _) => Kind::Complex(PrimitiveType::F32),
            (PrimitiveType::C128, _) => Kind::Complex(PrimitiveType::F64),
            (_, Some(bits)) => Kind::Integer { bits, signed: element_type.is_signed_integral() },
            (_, None) => Kind::None,
        }
    }
}

/// Ones in the low `bits` bits.
fn low_bits(bits: u32) -> u128 {
    u128::MAX.checked_shr(128 - bits).unwrap_or(0)
}

fn both(part: PrimitiveType, bits: u128) -> u128 {
    bits | bits << part.bit_width().unwrap_or(0)
}

fn parse_raw(element_type: PrimitiveType, digits: &str) -> Option<u128> {
    let width = element_type.bit_width()?;
    // The standard parser would take a sign.
    let all_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let bits = u128::from_str_radix(digits, 16).ok().filter(|_| all_digits)?;
    (bits <= low_bits(width)).then_some(bits)
}

fn parse_integer(bits: u32, signed: bool, text: &str) -> Option<u128> {
    let value: i128 = text.parse().ok()?;
    let least = if signed { -(1i128 << (bits - 1)) } else { 0 };
    let greatest = low_bits(bits - u32::from(signed)) as i128;
    (least..=greatest).contains(&value).then_some(value as u128 & low_bits(bits))
}

fn parse_complex(part: PrimitiveType, text: &str) -> Option<u128> {
    let Some(parts) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) else {
        return parse(part, text);
    };
    let (real, imaginary) = parts.split_once(',')?;
    let (real, imaginary) = (parse(part, real.trim())?, parse(part, imaginary.trim())?);
    Some(real | imaginary << part.bit_width()?)
}

fn format_float(format: FloatFormat, bits: u128) -> String {
    let value = format.decode(bits);
    if value.is_nan() {
        return if format.nan() == Some(bits) { "nan".to_owned() } else { format!("{bits:#x}") };
    }
    match format.narrow() {
        NarrowFloat::F64 => format!("{value:?}"),
        // Every format below f64 is a subset of f32, whose shortest text is the shorter one.
        NarrowFloat::F32 => format!("{:?}", value as f32),
    }
}

//! Decimal text to any floating-point format with a single rounding.

use std::cmp::Ordering;

use super::float::{FloatFormat, NarrowFloat};

/// Reads a number, `inf`, `-inf` or `nan`; `None` where the text is none or the format has no such value.
pub(super) fn parse(text: &str, format: FloatFormat) -> Option<u128> {
    let nearest: f64 = text.parse().ok()?;
    match format.narrow() {
        NarrowFloat::F64 => format.encode(nearest),
        // Rounding twice, to f64 and then to the format, could fall on the wrong side of a tie.
        NarrowFloat::F32 => format.encode(round_to_odd(text, nearest)),
    }
}

/// The f64 next to `text` towards zero, its last bit set where it is not exact; `nearest` is the one closest to it.
///
/// With two more bits than a format has, the last bit tells the format's own rounding on which side of a tie the text
/// lies.
fn round_to_odd(text: &str, nearest: f64) -> f64 {
    if !nearest.is_finite() {
        return nearest;
    }
    // 767 digits write any f64 exactly.
    let exact = Magnitude::of(&format!("{nearest:.766e}"));
    let bits = match Magnitude::of(text).cmp(&exact) {
        Ordering::Equal => nearest.to_bits(),
        Ordering::Greater => nearest.to_bits() | 1,
        Ordering::Less => (nearest.to_bits() - 1) | 1,
    };
    f64::from_bits(bits)
}

/// The absolute value of a decimal text; ordered as numbers are.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Magnitude {
    /// The power of ten of the first digit plus one; the least number for zero.
    exponent: i64,
    /// Digits from the first to the last that is not zero.
    digits: Vec<u8>,
}

impl Magnitude {
    /// Of a text that the standard parser takes for a finite number.
    fn of(text: &str) -> Magnitude {
        let text = text.trim_start_matches(['+', '-']);
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).collect();
        let Some(first) = digits.iter().position(|&digit| digit != b'0') else {
            return Magnitude { exponent: i64::MIN, digits: Vec::new() };
        };
        let last = digits.iter().rposition(|&digit| digit != b'0').unwrap_or(first);
        let beyond = if exponent.starts_with('-') { i64::MIN } else { i64::MAX };
        let exponent: i64 = exponent.parse().unwrap_or(beyond);
        let exponent = exponent.saturating_add(whole.len() as i64 - first as i64);
        Magnitude { exponent, digits: digits[first..=last].to_vec() }
    }
}

//! Floats of 16 bits to floats of a byte: what a level needs to narrow a register of them at once, half by half. Of wider ones it
//! is the upper half, whose last bit is set where the lower one is not zero: what is rounded away later is told apart from its
//! middle all the same.
//!
//! A normal number is rounded by adding just less than half of the last place that stays, one more where that place is odd, and
//! another bias, and shifting the sum. Numbers that become denormal share the shift: between two halves that differ in what
//! stays of them at most one result follows another, and it does so right behind the first half, where the tie is. What is
//! added instead of the above is looked up by what stays, of which there are no more than one instruction looks up.
//!
//! Where instructions look up bytes, what stays and what is rounded away are packed to bytes first, and told apart there: the result
//! is what stays, without the bias, or what is looked up by it, and one more where the rest is beyond some bound.

use crate::convert::float::{Decode, Encode};
use crate::convert::hop::Hop;
use crate::convert::program::Conversion;
use crate::lanes::{LANE, LINE};

/// Halves that are looked up together.
pub(crate) const LOOKED_UP: usize = LINE / 2;

/// The top bit of a byte.
const TOP: u8 = 0x80;

/// How floats of one format become floats of a byte of another, by halves of words.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other targets narrow them as words"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Narrowing {
    /// What is read.
    pub(crate) from: From,
    /// Half of the least result, a normal number: this magnitude and all below it become zero.
    pub(crate) least: u16,
    /// The least magnitude whose result is not looked up.
    pub(crate) least_normal: u16,
    /// The magnitude that becomes what all greater ones become.
    pub(crate) limit: u16,
    /// Bits that are rounded away.
    pub(crate) shift: u16,
    /// What is added to all magnitudes that are not looked up before they are shifted, besides their oddness.
    pub(crate) added: u16,
    /// What is added to others, by the low bits of what stays of them.
    pub(crate) looked_up: [u16; LOOKED_UP],
    /// Greater magnitudes are NaN, which becomes this.
    pub(crate) infinity: u16,
    pub(crate) nan: u16,
    /// One: all that a lower half may count for. Of a least of two numbers that they know compilers make three instructions.
    pub(crate) one: u16,
    /// The kind of the results, as [`Lean`](crate::convert::float::Lean) names it.
    pub(crate) kind: u32,
    /// The same by bytes.
    pub(crate) bytes: Bytes,
}

/// How what stays of magnitudes above the least, a byte, becomes a result.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other targets narrow them as words"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    /// The limit above the least magnitude.
    pub(crate) limit: u16,
    /// Bits that are rounded away.
    pub(crate) rest: u16,
    /// Of these, half of the last place that stays.
    pub(crate) half: u8,
    /// What normal results are less than what stays.
    pub(crate) offset: u8,
    /// Added to what stays, it sets the top bit of all that is not looked up, and of nothing else.
    pub(crate) not_looked_up: u8,
    /// The results of others; the top bit is set where none of what is rounded away makes it one more.
    pub(crate) looked_up: [[u8; LANE]; 2],
}

/// A format as it is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum From {
    /// `f32`.
    Plain,
    /// The upper half of one.
    Top,
    /// IEEE 754's float of 16 bits.
    Half(Decode),
}

impl From {
    /// The `f32` of a pattern of 16 bits, the upper ones of an `f32`.
    fn one(self, pattern: u16) -> u32 {
        match self {
            From::Plain | From::Top => u32::from(pattern) << 16,
            From::Half(decode) => decode.one(pattern.into()),
        }
    }

    /// Of patterns of 16 bits, bits of the mantissa, one and infinity.
    fn numbers(self) -> (u32, u16, u16) {
        match self {
            From::Plain | From::Top => (7, 0x3f80, 0x7f80),
            From::Half(_) => (10, 0x3c00, 0x7c00),
        }
    }
}

/// The two ends of a conversion, and what the halves are that are narrowed: upper ones of `f32` where there is a factor.
fn ends(conversion: &Conversion) -> Option<(From, From, Encode)> {
    let mut hops = conversion.hops().filter(|hop| **hop != Hop::Scale);
    let (from, to) = match (hops.next(), hops.next()) {
        (Some(Hop::Encode8(to)), None) => (From::Plain, to),
        (Some(Hop::DecodeTop16), Some(Hop::Encode8(to))) => (From::Top, to),
        (Some(Hop::Decode16(from)), Some(Hop::Encode8(to))) if from.is_half() => (From::Half(*from), to),
        _ => return None,
    };
    let halves = if conversion.is_scaled() { From::Top } else { from };
    hops.next().is_none().then_some((from, halves, *to))
}

impl Narrowing {
    /// `None` for other conversions, for those of complex numbers, for results of less than a byte, and where too many are denormal.
    pub(crate) fn new(conversion: &Conversion) -> Option<Narrowing> {
        let (from, halves, to) = ends(conversion).filter(|_| conversion.parts() == 1)?;
        let (_, kind) = to.lean()?;
        let kept = to.mantissa_bits();
        let (mantissa, one, infinity) = halves.numbers();
        let result = |pattern: u16| to.one(halves.one(pattern)) as u8;
        let shift = mantissa.checked_sub(kept).filter(|&shift| shift > 0)?;
        let rebias = (one >> shift).checked_sub(result(one).into())?;
        let [least, least_normal] = match rebias {
            // Where the exponents are the same, denormal numbers are rounded like others.
            0 => [0; 2],
            _ => {
                let least_normal = (rebias + (1 << kept)) << shift;
                let least = least_normal.checked_sub((kept as u16 + 1) << mantissa)?;
                (least >> mantissa > 0).then_some([least, least_normal])?
            }
        };
        let places = least >> shift..least_normal >> shift;
        if places.len() > LOOKED_UP || result(least) != 0 {
            return None;
        }
        // Formats that reach further than the source's, or have no mantissa, are nobody's.
        let limit = (u16::from(result(infinity)) + rebias) << shift;
        if limit > infinity || kept == 0 {
            return None;
        }
        let mut narrowing = Narrowing {
            from,
            least,
            least_normal,
            limit,
            shift: shift as u16,
            added: ((1 << (shift - 1)) - 1u16).wrapping_sub(rebias << shift),
            looked_up: [0; LOOKED_UP],
            infinity,
            nan: result(infinity + 1).into(),
            one: 1,
            kind,
            bytes: Bytes {
                limit: limit - least,
                rest: (1 << shift) - 1,
                half: 1 << (shift - 1),
                offset: (rebias - (least >> shift)) as u8,
                not_looked_up: TOP - places.len() as u8,
                looked_up: [[0; LANE]; 2],
            },
        };
        for (i, place) in places.enumerate() {
            let first = place << shift;
            let [at, behind] = [first, first + 1].map(result);
            let sum = (u16::from(at) << shift) + u16::from(behind - at) * ((1 << shift) - 1);
            narrowing.looked_up[usize::from(place) % LOOKED_UP] = sum.wrapping_sub(first);
            narrowing.bytes.looked_up[i / LANE][i % LANE] = if behind > at { at } else { at | TOP };
        }
        Some(narrowing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::convert::number::{FloatFormat, Number, Specials};
    use crate::convert::program::Rules;

    const TOP: FloatFormat =
        FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, specials: Specials::Ieee };

    /// Bits of the exponent and of the mantissa, bias and specials of floats of a byte, and how many sources have a way.
    const BYTES: [(u32, u32, i32, Specials, usize); 7] = [
        (4, 3, 7, Specials::Ieee, 2),
        (4, 3, 7, Specials::NanOnly, 2),
        (4, 3, 11, Specials::NanIsNegativeZero, 2),
        (4, 3, 8, Specials::NanIsNegativeZero, 2),
        (5, 2, 15, Specials::Ieee, 2),
        (5, 2, 16, Specials::NanIsNegativeZero, 1),
        (3, 4, 3, Specials::Ieee, 0),
    ];

    #[test]
    fn formats_of_few_bits_of_mantissa_have_a_way() {
        for (exponent_bits, mantissa_bits, bias, specials, ways) in BYTES {
            let to = Number::Float(FloatFormat { exponent_bits, mantissa_bits, bias, specials });
            for saturate_floats in [false, true] {
                let rules = Rules { saturate_floats, ..Rules::default() };
                let has_way = |from: &FloatFormat| {
                    let conversion = Conversion::new(Number::Float(*from), to, rules);
                    Narrowing::new(&conversion.expect("both are real")).is_some()
                };
                assert_eq!(
                    [TOP, FloatFormat::F16].iter().filter(|from| has_way(from)).count(),
                    ways,
                    "{to:?}"
                );
            }
        }
    }
}

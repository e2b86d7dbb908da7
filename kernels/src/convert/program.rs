//! The hops between two types.

use super::float::{Decode, Encode};
use super::hop::{Hop, Int};
use super::number::{FloatFormat, Number, Specials};
use crate::slots::SlotWidth;

/// Most hops that a conversion takes: to the scale and through it, and from there to a clamped, masked integer.
const MAX_HOPS: usize = 6;

/// What becomes of numbers that are too large for their new type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Rules {
    /// Floats become the greatest finite value rather than infinity or NaN.
    pub saturate_floats: bool,
    /// Integers become the nearest integer rather than lose their high bits.
    pub saturate_integers: bool,
    /// Floats become the nearest integer, of two the even one, rather than lose their fraction.
    pub round_to_nearest: bool,
    /// A factor is multiplied in, as `f32`.
    pub scale: bool,
}

/// A conversion between two types, made for runs of elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Conversion {
    hops: [Option<Hop>; MAX_HOPS],
    /// Bytes of an element before and after.
    src_bytes: usize,
    dst_bytes: usize,
    /// Bits of an element before that count, where it has bytes of its own.
    src_bits: u32,
    /// Numbers that an element has on its way.
    parts: usize,
    /// True where elements are multiplied by a factor.
    scaled: bool,
}

/// Where a number is between its types.
#[derive(Clone, Copy)]
enum Way {
    F32,
    F64,
    Int(Int),
}

impl Conversion {
    /// The conversion of elements of `from` to `to`; `None` where a complex number would lose a part, or be scaled.
    pub fn new(from: Number, to: Number, rules: Rules) -> Option<Conversion> {
        let mut conversion = Conversion {
            hops: [None; MAX_HOPS],
            src_bytes: from.bytes(),
            dst_bytes: to.bytes(),
            // A truth value is told by all bits of its byte.
            src_bits: if from == Number::Truth { 8 } else { from.bits() },
            parts: 1,
            scaled: false,
        };
        match (from, to) {
            _ if from == to && !rules.scale => {}
            (Number::Complex(_), _) | (_, Number::Complex(_)) if rules.scale => return None,
            (Number::Complex(a), Number::Complex(b)) => {
                conversion.parts = 2;
                conversion.convert(Number::Float(a), Number::Float(b), rules);
            }
            (Number::Complex(_), _) => return None,
            (_, Number::Complex(part)) => {
                if from != Number::Float(part) {
                    conversion.convert(from, Number::Float(part), rules);
                }
                conversion.push(Hop::AppendZeros { bytes: Number::Float(part).bytes() });
            }
            _ => conversion.convert(from, to, rules),
        }
        Some(conversion)
    }

    /// Moves elements of `bytes` bytes as they are.
    pub fn identity(bytes: usize) -> Conversion {
        Conversion {
            hops: [None; MAX_HOPS],
            src_bytes: bytes,
            dst_bytes: bytes,
            src_bits: 8 * bytes as u32,
            parts: 1,
            scaled: false,
        }
    }

    /// Moves the low `bits` bits of a byte, zero above them.
    pub fn low_bits(bits: u32) -> Conversion {
        let mut conversion = Conversion::identity(1);
        if bits < 8 {
            conversion.push(Hop::Mask { bits, signed: false });
        }
        conversion
    }

    /// The same between such slots, of which packed ones hold their bits and no others: what unpacking makes zero, or packing leaves
    /// out, need not be masked. `None` where all hops are needed.
    pub(super) fn between(&self, src: SlotWidth, dst: SlotWidth) -> Option<Conversion> {
        let is_masked = |slot: SlotWidth, hop: &Hop| match (slot, hop) {
            (SlotWidth::Bits(held), Hop::Mask { bits, signed: false }) => held as u32 <= *bits,
            _ => false,
        };
        let first = self.hops[0].as_ref().filter(|hop| is_masked(src, hop));
        let last = match dst {
            SlotWidth::Bits(_) => self.hops().last().filter(|hop| is_masked(dst, hop)),
            SlotWidth::Bytes(_) => None,
        };
        let left_out = |hop: &Hop| [first, last].into_iter().flatten().any(|mask| core::ptr::eq(mask, hop));
        first.or(last)?;
        let mut lean = Conversion { hops: [None; MAX_HOPS], ..*self };
        self.hops().filter(|hop| !left_out(hop)).for_each(|&hop| lean.push(hop));
        Some(lean)
    }

    /// True where the bits stay as they are.
    pub fn is_identity(&self) -> bool {
        self.hops[0].is_none()
    }

    /// True where elements are multiplied by a factor.
    pub(super) fn is_scaled(&self) -> bool {
        self.scaled
    }

    pub(super) fn hops(&self) -> impl Iterator<Item = &Hop> + Clone {
        self.hops.iter().flatten()
    }

    pub(super) fn src_bytes(&self) -> usize {
        self.src_bytes
    }

    pub(super) fn dst_bytes(&self) -> usize {
        self.dst_bytes
    }

    pub(super) fn src_bits(&self) -> u32 {
        self.src_bits
    }

    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    fn push(&mut self, hop: Hop) {
        if let Some(place) = self.hops.iter_mut().find(|place| place.is_none()) {
            *place = Some(hop);
        }
    }

    /// Between real types.
    fn convert(&mut self, from: Number, to: Number, mut rules: Rules) {
        // What nothing needs is not paid for.
        rules.saturate_floats &= rules.scale || !always_fits(from, to);
        if to == Number::Truth {
            return self.push(test(from));
        }
        let mut way = self.read(from);
        if rules.scale {
            way = self.reach_f32(way, false);
            self.push(Hop::Scale);
            self.scaled = true;
        }
        match to {
            Number::Float(FloatFormat::F64) => {
                match way {
                    Way::F64 => {}
                    Way::F32 => self.push(Hop::F32ToF64),
                    Way::Int(int) => self.push(Hop::IntToF64(int)),
                }
                if rules.saturate_floats {
                    self.push(Hop::Saturate64);
                }
            }
            Number::Float(format) => {
                // Numbers of 11 bits are rounded from the exact value, as numpy does, narrower ones from an `f32`.
                self.reach_f32(way, format.mantissa_bits == 10);
                self.encode(format, rules);
            }
            Number::Integer { bits, signed } => self.write_integer(way, bits, signed, rules),
            Number::Truth | Number::Complex(_) => {}
        }
    }

    fn read(&mut self, from: Number) -> Way {
        match from {
            Number::Truth => {
                self.push(test(from));
                Way::Int(Int::U8)
            }
            Number::Integer { bits, signed } => {
                if bits < 8 {
                    self.push(Hop::Mask { bits, signed });
                }
                Way::Int(int(bits, signed))
            }
            Number::Float(FloatFormat::F64) => Way::F64,
            Number::Float(format) | Number::Complex(format) => {
                match (format.specials, format.bits()) {
                    (_, 32) => {}
                    (Specials::PowersOfTwo, _) => self.push(Hop::DecodePower),
                    (_, 16) if format.exponent_bits == 8 => self.push(Hop::DecodeTop16),
                    (_, 16) => self.push(Hop::Decode16(Decode::new(format))),
                    _ => self.push(Hop::Decode8(Decode::new(format))),
                }
                Way::F32
            }
        }
    }

    fn reach_f32(&mut self, way: Way, odd: bool) -> Way {
        match way {
            Way::F32 => {}
            Way::F64 if odd => self.push(Hop::F64ToF32Odd),
            Way::F64 => self.push(Hop::F64ToF32),
            Way::Int(int) => self.push(Hop::IntToF32(int)),
        }
        Way::F32
    }

    fn encode(&mut self, format: FloatFormat, rules: Rules) {
        let saturates = rules.saturate_floats;
        match (format.specials, format.bits()) {
            (_, 32) if saturates => self.push(Hop::Saturate32),
            (_, 32) => {}
            (Specials::PowersOfTwo, _) => {
                self.push(Hop::EncodePower { beyond: if saturates { 0xfe } else { 0xff } });
            }
            (_, 16) if format.exponent_bits == 8 && !saturates => match self.hops {
                // Nothing is rounded.
                [Some(Hop::Decode8(decode)), None, ..] => self.hops[0] = Some(Hop::Decode8Top(decode)),
                _ => self.push(Hop::EncodeTop16),
            },
            (_, 16) => self.push(Hop::Encode16(Encode::new(format, saturates))),
            _ => self.push(Hop::Encode8(Encode::new(format, saturates))),
        }
    }

    fn write_integer(&mut self, way: Way, bits: u32, signed: bool, rules: Rules) {
        let to = int(bits, signed);
        let nearest = rules.round_to_nearest;
        match way {
            Way::F32 => self.push(Hop::F32ToInt { to, nearest }),
            Way::F64 => self.push(Hop::F64ToInt { to, nearest }),
            Way::Int(from) => {
                if rules.saturate_integers {
                    self.clamp(from, bits, signed);
                }
                if from.bytes() != to.bytes() {
                    self.push(Hop::Resize { from, bytes: to.bytes() });
                }
            }
        }
        if bits < 8 {
            if !matches!(way, Way::Int(_)) {
                self.clamp(to, bits, signed);
            }
            self.push(Hop::Mask { bits, signed: false });
        }
    }

    /// Integers of type `of` into the range of a type; nothing where all are inside.
    fn clamp(&mut self, of: Int, bits: u32, signed: bool) {
        let range = |bits: u32, signed: bool| {
            // A sign bit of its own has nothing below it.
            let greatest = u64::MAX.checked_shr(64 - bits + u32::from(signed)).unwrap_or(0);
            (if signed { -1i64 << (bits - 1) } else { 0 }, greatest)
        };
        let own = range(8 * of.bytes() as u32, matches!(of, Int::S8 | Int::S16 | Int::S32 | Int::S64));
        let wanted = range(bits, signed);
        let (least, greatest) = (own.0.max(wanted.0), own.1.min(wanted.1));
        if (least, greatest) != own {
            self.push(Hop::Clamp { of, least, greatest });
        }
    }
}

/// True where no number is too large for its new type, and none is infinite: what has at most a byte, in floats of more.
fn always_fits(from: Number, to: Number) -> bool {
    let is_small = match from {
        Number::Truth => true,
        Number::Integer { bits, .. } => bits <= 8,
        Number::Float(format) => {
            format.bits() <= 8 && !matches!(format.specials, Specials::Ieee | Specials::PowersOfTwo)
        }
        Number::Complex(_) => false,
    };
    is_small && matches!(to, Number::Float(format) if format.bits() >= 16)
}

/// The test for anything but zero.
fn test(from: Number) -> Hop {
    let ones = |bits: u32| u64::MAX >> (64 - bits);
    let mask = match from {
        Number::Truth => 0xff,
        Number::Float(FloatFormat {
            specials: Specials::NanIsNegativeZero | Specials::PowersOfTwo, ..
        }) => ones(from.bits()),
        Number::Float(_) => ones(from.bits() - 1),
        _ => ones(from.bits().min(64)),
    };
    let always = matches!(from, Number::Float(FloatFormat { specials: Specials::PowersOfTwo, .. }));
    Hop::Test { bytes: from.bytes(), mask, always }
}

fn int(bits: u32, signed: bool) -> Int {
    match (bits, signed) {
        (0..=8, true) => Int::S8,
        (0..=8, false) => Int::U8,
        (16, true) => Int::S16,
        (16, false) => Int::U16,
        (32, true) => Int::S32,
        (32, false) => Int::U32,
        (_, true) => Int::S64,
        (_, false) => Int::U64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Bits;

    #[test]
    fn packed_slots_need_no_masks() {
        let number = |bits, signed| Number::Integer { bits, signed };
        let of = |from, to, rules| Conversion::new(from, to, rules).expect("both are integers");
        let (byte, four) = (SlotWidth::Bytes(1), SlotWidth::Bits(Bits::Four));
        let wrapped = of(number(8, true), number(4, true), Rules::default());
        assert_eq!(wrapped.between(byte, four), Some(Conversion { src_bits: 8, ..Conversion::identity(1) }));
        assert_eq!(wrapped.between(byte, byte), None);
        let saturated =
            of(number(8, true), number(4, true), Rules { saturate_integers: true, ..Rules::default() });
        let hops: Vec<Hop> =
            saturated.between(byte, four).iter().flat_map(|lean| lean.hops()).copied().collect();
        assert_eq!(hops, [Hop::Clamp { of: Int::S8, least: -8, greatest: 7 }]);
        // Bits of a sign are needed, and those of slots that hold more.
        let signed = of(number(4, true), number(8, true), Rules::default());
        assert_eq!(signed.between(four, byte), None);
        let unsigned = of(number(2, false), number(8, false), Rules::default());
        assert_eq!(unsigned.between(four, byte), None);
        let lean = unsigned.between(SlotWidth::Bits(Bits::Two), byte).expect("nothing stands above two bits");
        assert!(lean.is_identity());
    }
}

//! What the bits of an element mean.

/// A binary floating-point format: sign (but for powers of two), exponent and mantissa, from the top bit down.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FloatFormat {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa.
    pub mantissa_bits: u32,
    /// What is subtracted from the exponent's bits.
    pub bias: i32,
    /// What the patterns mean that IEEE 754 reserves.
    pub specials: Specials,
}

/// What a format does with the patterns that IEEE 754 reserves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Specials {
    /// The greatest exponent means infinity and NaN.
    Ieee,
    /// No infinity; NaN has all bits of the magnitude set.
    NanOnly,
    /// No infinity and no negative zero, whose pattern is NaN.
    NanIsNegativeZero,
    /// Numbers only.
    FiniteOnly,
    /// No sign, no zero, no mantissa: powers of two, and NaN with all bits set.
    PowersOfTwo,
}

/// What the bits of an element mean.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Number {
    /// A truth value: zero, or anything else.
    Truth,
    /// An integer of 1, 2, 4, 8, 16, 32 or 64 bits, in two's complement where it has a sign.
    Integer {
        /// Bits of the integer.
        bits: u32,
        /// True where negative integers exist.
        signed: bool,
    },
    /// A float of 4 to 64 bits; those of more than 16 are the two of IEEE 754.
    Float(FloatFormat),
    /// Two floats of 32 or 64 bits, the real part first.
    Complex(FloatFormat),
}

impl FloatFormat {
    /// IEEE 754's binary16.
    pub const F16: FloatFormat =
        FloatFormat { exponent_bits: 5, mantissa_bits: 10, bias: 15, specials: Specials::Ieee };
    /// IEEE 754's binary32.
    pub const F32: FloatFormat =
        FloatFormat { exponent_bits: 8, mantissa_bits: 23, bias: 127, specials: Specials::Ieee };
    /// IEEE 754's binary64.
    pub const F64: FloatFormat =
        FloatFormat { exponent_bits: 11, mantissa_bits: 52, bias: 1023, specials: Specials::Ieee };

    /// Bits of a value.
    pub fn bits(self) -> u32 {
        let sign = u32::from(self.specials != Specials::PowersOfTwo);
        sign + self.exponent_bits + self.mantissa_bits
    }
}

impl Number {
    /// Bits of a value; a truth value takes one.
    pub fn bits(self) -> u32 {
        match self {
            Number::Truth => 1,
            Number::Integer { bits, .. } => bits,
            Number::Float(format) => format.bits(),
            Number::Complex(format) => 2 * format.bits(),
        }
    }

    /// Bytes of a value that is not packed.
    pub fn bytes(self) -> usize {
        self.bits().div_ceil(8) as usize
    }
}

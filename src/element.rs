//! Element types: XLA's `PrimitiveType` with its numbers, names and widths.

use std::fmt;

/// The type of an array's elements, or the kind of a shape without elements.
///
/// Numbers and names are those of XLA's `PrimitiveType` enumeration; names are lower case and have no aliases.
///
/// ```
/// use relayout::PrimitiveType;
/// let bf16 = PrimitiveType::from_name("bf16").unwrap();
/// assert_eq!((bf16.number(), bf16.bit_width(), bf16.byte_width()), (16, Some(16), Some(2)));
/// assert_eq!(PrimitiveType::S4.byte_width(), Some(1)); // one byte each, unless a layout packs them
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(u8)]
#[allow(missing_docs)] // each variant is its XLA name; the table below holds the facts
pub enum PrimitiveType {
    Pred = 1,
    S8 = 2,
    S16 = 3,
    S32 = 4,
    S64 = 5,
    U8 = 6,
    U16 = 7,
    U32 = 8,
    U64 = 9,
    F16 = 10,
    F32 = 11,
    F64 = 12,
    Tuple = 13,
    Opaque = 14,
    C64 = 15,
    Bf16 = 16,
    Token = 17,
    C128 = 18,
    F8e5m2 = 19,
    F8e4m3fn = 20,
    S4 = 21,
    U4 = 22,
    F8e4m3b11fnuz = 23,
    F8e5m2fnuz = 24,
    F8e4m3fnuz = 25,
    S2 = 26,
    U2 = 27,
    F8e4m3 = 28,
    F8e3m4 = 29,
    S1 = 30,
    U1 = 31,
    F4e2m1fn = 32,
    F8e8m0fnu = 33,
    Buffer = 34,
    F6e3m2fn = 35,
    F6e2m3fn = 36,
}

/// What kind of values a type holds; private, because the predicates are what callers ask.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Predicate,
    Signed,
    Unsigned,
    Float,
    Complex,
    /// Not an array element.
    None,
}

use PrimitiveType as P;

/// (type, name, bits, class), in the order of the numbers.
const TABLE: [(PrimitiveType, &str, u32, Class); 36] = [
    (P::Pred, "pred", 1, Class::Predicate),
    (P::S8, "s8", 8, Class::Signed),
    (P::S16, "s16", 16, Class::Signed),
    (P::S32, "s32", 32, Class::Signed),
    (P::S64, "s64", 64, Class::Signed),
    (P::U8, "u8", 8, Class::Unsigned),
    (P::U16, "u16", 16, Class::Unsigned),
    (P::U32, "u32", 32, Class::Unsigned),
    (P::U64, "u64", 64, Class::Unsigned),
    (P::F16, "f16", 16, Class::Float),
    (P::F32, "f32", 32, Class::Float),
    (P::F64, "f64", 64, Class::Float),
    (P::Tuple, "tuple", 0, Class::None),
    (P::Opaque, "opaque", 0, Class::None),
    (P::C64, "c64", 64, Class::Complex),
    (P::Bf16, "bf16", 16, Class::Float),
    (P::Token, "token", 0, Class::None),
    (P::C128, "c128", 128, Class::Complex),
    (P::F8e5m2, "f8e5m2", 8, Class::Float),
    (P::F8e4m3fn, "f8e4m3fn", 8, Class::Float),
    (P::S4, "s4", 4, Class::Signed),
    (P::U4, "u4", 4, Class::Unsigned),
    (P::F8e4m3b11fnuz, "f8e4m3b11fnuz", 8, Class::Float),
    (P::F8e5m2fnuz, "f8e5m2fnuz", 8, Class::Float),
    (P::F8e4m3fnuz, "f8e4m3fnuz", 8, Class::Float),
    (P::S2, "s2", 2, Class::Signed),
    (P::U2, "u2", 2, Class::Unsigned),
    (P::F8e4m3, "f8e4m3", 8, Class::Float),
    (P::F8e3m4, "f8e3m4", 8, Class::Float),
    (P::S1, "s1", 1, Class::Signed),
    (P::U1, "u1", 1, Class::Unsigned),
    (P::F4e2m1fn, "f4e2m1fn", 4, Class::Float),
    (P::F8e8m0fnu, "f8e8m0fnu", 8, Class::Float),
    (P::Buffer, "buffer", 0, Class::None),
    (P::F6e3m2fn, "f6e3m2fn", 6, Class::Float),
    (P::F6e2m3fn, "f6e2m3fn", 6, Class::Float),
];

impl PrimitiveType {
    /// Every type, in the order of the numbers.
    pub fn all() -> impl Iterator<Item = PrimitiveType> {
        TABLE.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (PrimitiveType, &'static str, u32, Class) {
        &TABLE[self as usize - 1]
    }

    fn class(self) -> Class {
        self.row().3
    }

    /// XLA's number of the type.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The type with XLA's number `number`; 0 is XLA's invalid type and is none.
    pub fn from_number(number: u8) -> Option<PrimitiveType> {
        TABLE.get(usize::from(number).checked_sub(1)?).map(|row| row.0)
    }

    /// The lower-case name, as in `bf16[8,128]`.
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The type called `name`; names are lower case and exact.
    pub fn from_name(name: &str) -> Option<PrimitiveType> {
        TABLE.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// True for types that may be elements of an array.
    pub fn is_array_element(self) -> bool {
        self.class() != Class::None
    }

    /// Bits of a value; `None` for tuples, tokens and the other types that are no array elements.
    pub fn bit_width(self) -> Option<u32> {
        self.is_array_element().then(|| self.row().2)
    }

    /// Bytes that one element takes where it is not packed: its bits rounded up to whole bytes.
    pub fn byte_width(self) -> Option<u32> {
        self.bit_width().map(|bits| bits.div_ceil(8))
    }

    /// True for real floating-point types.
    pub fn is_floating_point(self) -> bool {
        self.class() == Class::Float
    }

    /// True for signed and unsigned integers; `pred` is none.
    pub fn is_integral(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// True for signed integers.
    pub fn is_signed_integral(self) -> bool {
        self.class() == Class::Signed
    }

    /// True for unsigned integers.
    pub fn is_unsigned_integral(self) -> bool {
        self.class() == Class::Unsigned
    }

    /// True for complex types.
    pub fn is_complex(self) -> bool {
        self.class() == Class::Complex
    }

    /// True for the types narrower than a byte that XLA packs on request; `pred` is not among them.
    pub fn is_sub_byte_non_pred(self) -> bool {
        self.bit_width().is_some_and(|bits| bits < 8) && self != P::Pred
    }
}

impl fmt::Display for PrimitiveType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

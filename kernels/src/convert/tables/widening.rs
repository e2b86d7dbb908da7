//! Floats of a byte to the upper halves of `f32`, which hold them exactly: what a level needs to widen a register of them at
//! once, byte by byte.
//!
//! The magnitude of a normal number is shifted and gets another bias. Numbers that are not normal, and what is none, are few:
//! the low four bits tell them apart, as many as one instruction looks up.

use crate::convert::float::{Decode, QUIET};

/// Patterns that are looked up together.
const LOOKED_UP: usize = 16;

/// Low and high bytes of halves, by the low four bits of a pattern.
pub(crate) type ByteTables = [[u8; LOOKED_UP]; 2];

/// A byte in all bytes of a word, as registers are filled with it.
type Bytes = u32;

/// How far elements are shifted, as shifts of whole registers take it.
type Count = [u64; 2];

/// How the floats of a byte of one format become upper halves of `f32`.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other targets widen them one by one"))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Widening {
    /// What one element at a time takes.
    pub(crate) decode: Decode,
    /// All bits of a pattern, and all but the sign.
    pub(crate) pattern: Bytes,
    pub(crate) magnitude: Bytes,
    /// How far the sign is from the top of a byte.
    pub(crate) sign_up: Count,
    /// How far a magnitude is from where it is in a half, in the low byte and in the high one, and its bits there.
    pub(crate) up: Count,
    pub(crate) down: Count,
    pub(crate) low: Bytes,
    pub(crate) high: Bytes,
    /// What is added to every half in the end, in both halves of a word.
    pub(crate) rebias: u32,
    /// Magnitudes below this are looked up, and those above the other.
    pub(crate) least_normal: Bytes,
    pub(crate) greatest: Bytes,
    /// A pattern that is looked up with the latter.
    pub(crate) nan: Bytes,
    pub(crate) small: ByteTables,
    /// Where it is not in the same table as what is small.
    pub(crate) special: Option<ByteTables>,
}

impl Widening {
    pub(crate) fn new(decode: Decode) -> Widening {
        let (magnitude, greatest, rebias) =
            (decode.magnitude as u8, decode.greatest as u8, decode.rebias >> 16);
        let half = |bits: u32| ((bits >> 16) as u16).wrapping_sub(rebias as u16).to_le_bytes();
        let small: [_; LOOKED_UP] = core::array::from_fn(|i| half(decode.one(i as u32)));
        let special: [_; LOOKED_UP] = core::array::from_fn(|i| {
            let pattern = 0x70 | i as u32;
            half(if pattern > greatest.into() { decode.one(pattern) } else { QUIET })
        });
        let tables = |halves: [[u8; 2]; LOOKED_UP]| [0, 1].map(|byte| halves.map(|half| half[byte]));
        let (least_normal, has_nan) = (decode.least_normal as u8, decode.nan <= u8::MAX.into());
        let first_special =
            if greatest < magnitude { usize::from(greatest + 1) % LOOKED_UP } else { LOOKED_UP };
        let shares = !has_nan && usize::from(least_normal) <= first_special;
        let both = core::array::from_fn(|i| if shares && i >= first_special { special[i] } else { small[i] });
        let bytes = |byte: u8| u32::from_ne_bytes([byte; 4]);
        let up = decode.shift - 16;
        Widening {
            decode,
            pattern: bytes(magnitude << 1 | 1),
            magnitude: bytes(magnitude),
            sign_up: [u64::from(decode.sign_shift) - 24, 0],
            up: [up.into(), 0],
            down: [8 - u64::from(up), 0],
            low: bytes(u8::MAX << up),
            high: bytes(u8::MAX >> (8 - up)),
            rebias: rebias << 16 | rebias,
            least_normal: bytes(least_normal),
            greatest: bytes(greatest),
            nan: bytes(if has_nan { decode.nan as u8 } else { u8::MAX }),
            small: tables(both),
            special: (!shares).then(|| tables(special)),
        }
    }
}

//! Floats of a byte that become upper halves of `f32`, multiplied by a factor: looked up by halves of a byte, in registers.
//!
//! Multiplying scales all numbers of the same mantissa alike. The low half of a pattern has the mantissa, and what is left of the
//! exponent besides the high half's part, which is only added. What the least and the greatest high half stand for may be
//! denormal, infinite or NaN; these have tables of their own.

use pulp::NullaryFnOnce;

use crate::convert::float::Decode;
use crate::convert::hop::Hop;
use crate::convert::program::Conversion;
use crate::convert::rows::{ConvertRows, Form, Lines, Place};
use crate::convert::scale::Scale;
use crate::convert::tables::stretches::{Stretches, by_stretches};
use crate::convert::tables::tops::ToTops;
use crate::convert::words::{BLOCK, Means, Vector};
use crate::lanes::{LANE, Lanes};
use crate::level::Level;
use crate::tuning::CONVERT_SCALED;

/// High halves of magnitudes: the least, one in the middle whose results the tables hold, and the greatest.
const GROUPS: [u8; 3] = [0, 4, 7];

/// The least and the greatest magnitude that are not looked up.
const LEAST: u8 = 0x10;
const GREATEST: u8 = 0x6f;

/// The sign of a half, in its high byte.
const SIGN: u8 = 0x80;

/// What becomes of a float of a byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScaledTops {
    /// By the low half of a pattern, low and high bytes of results without what the high half adds.
    middle: [[u8; LANE]; 2],
    /// Where these differ from the results of the least and of the greatest magnitudes.
    least: [[u8; LANE]; 2],
    greatest: [[u8; LANE]; 2],
    /// By the high half, what is added to high bytes; and all bits, for the least and for the greatest.
    added: [u8; LANE],
    is_least: [u8; LANE],
    is_greatest: [u8; LANE],
}

/// The format of bytes whose sign changes nothing else, with two or three bits of mantissa, and how far a high half is from where
/// it is added; `None` for any other conversion.
fn format(conversion: &Conversion) -> Option<u32> {
    let mut hops = conversion.hops();
    let (Some(Hop::Decode8(decode)), Some(Hop::Scale), Some(Hop::EncodeTop16), None) =
        (hops.next(), hops.next(), hops.next(), hops.next())
    else {
        return None;
    };
    let Decode { shift, magnitude: 0x7f, nan: u32::MAX, .. } = *decode else { return None };
    let mantissa = 23 - shift;
    matches!(mantissa, 2 | 3).then(|| 3 - mantissa)
}

impl Stretches for ScaledTops {
    const LEAST: usize = CONVERT_SCALED;

    fn new(conversion: &Conversion, factor: f32, level: Level) -> Option<ScaledTops> {
        let up = format(conversion)?;
        let patterns: [u8; BLOCK] = core::array::from_fn(|i| match GROUPS.get(i / LANE) {
            Some(group) => group << 4 | (i % LANE) as u8,
            None => [LEAST, GREATEST][i % 2],
        });
        let mut results = [[0u8; 2]; BLOCK];
        let places = [patterns.as_ptr().cast_mut(), results.as_mut_ptr().cast()].map(Place::near);
        let rows = ConvertRows::new(conversion, places, Scale::All(factor));
        // SAFETY: some patterns, and room for their results.
        unsafe { ConvertRows { rows: 1, count: BLOCK, ..rows }.at_level(level) };
        let exponent = |result: [u8; 2]| u16::from_le_bytes(result) >> 7 & 0xff;
        // All between the two are normal, before they are rounded and afterwards.
        let is_normal = exponent(results[3 * LANE]) > 1 && exponent(results[3 * LANE + 1]) < 0xff;
        let table = |group: usize, byte: usize| core::array::from_fn(|i| results[group * LANE + i][byte]);
        let [low, high] = [0, 1].map(|byte| table(1, byte));
        let middle = [low, high.map(|byte: u8| byte.wrapping_sub(GROUPS[1] << up))];
        let apart = |group: usize| {
            [0, 1].map(|byte| {
                let other: [u8; LANE] = table(group, byte);
                core::array::from_fn(|i| middle[byte][i] ^ other[i])
            })
        };
        let is = |group: u8| core::array::from_fn(|i| if i as u8 % 8 == group { u8::MAX } else { 0 });
        let added = core::array::from_fn(|i| {
            let (sign, group) = (if i < LANE / 2 { 0 } else { SIGN }, i as u8 % 8);
            if [GROUPS[0], GROUPS[2]].contains(&group) { sign } else { sign | group << up }
        });
        is_normal.then(|| ScaledTops {
            middle,
            least: apart(0),
            greatest: apart(2),
            added,
            is_least: is(GROUPS[0]),
            is_greatest: is(GROUPS[2]),
        })
    }

    unsafe fn convert<M: Means>(&self, rows: &ConvertRows<'_>, means: M) {
        means.vectorize(Enter { rows, means, tables: [self; 2] });
    }
}

impl ScaledTops {
    /// True for conversions that may have such tables.
    pub(crate) fn fits(conversion: &Conversion) -> bool {
        format(conversion).is_some()
    }

    /// Converts rows by this one, made for all of them, or by tables for their factors; false where there is no way, and nothing
    /// was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], which means what it offers.
    pub(in crate::convert) unsafe fn run<M: Means>(
        &self,
        rows: &ConvertRows<'_>,
        means: M,
        level: Level,
    ) -> bool {
        if rows.count < BLOCK {
            return false;
        }
        match rows.form {
            Form::Plain | Form::Lines if rows.scale.is_along() => {
                let pays = rows.has_stretches::<ScaledTops>();
                if pays {
                    // SAFETY: the caller's promise.
                    unsafe { by_stretches(rows, means, level, self) };
                }
                pays
            }
            Form::Zip { ways: 2, step, .. } => {
                let Some([first, second]) = self.pair(rows, step, level) else { return false };
                means.vectorize(Enter { rows, means, tables: [&first, &second] })
            }
            Form::Unzip { ways: 4, lines: Lines::Stored | Lines::Whole, .. } if !rows.scale.is_along() => {
                means.vectorize(Enter { rows, means, tables: [self; 2] })
            }
            Form::Plain | Form::Lines => means.vectorize(Enter { rows, means, tables: [self; 2] }),
            Form::Zip { .. } | Form::Unzip { .. } | Form::ZipPairs { .. } | Form::UnzipPairs { .. } => false,
        }
    }

    /// The tables of all pairs of rows, where either way's factors are all alike.
    fn pair(&self, rows: &ConvertRows<'_>, step: isize, level: Level) -> Option<[ScaledTops; 2]> {
        let Scale::Along(along) = &rows.scale else { return Some([*self; 2]) };
        let last = usize::try_from(rows.src.pitch).ok()?.checked_mul(rows.rows - 1)?;
        let elements = last.checked_add(rows.count)?;
        let table = |before: isize| {
            let segment = along.segment(rows.src_place(0) + before, 1);
            let alike = !segment.advances && segment.count >= elements && elements >= CONVERT_SCALED;
            alike.then(|| ScaledTops::new(rows.conversion, along.value(segment.index), level))?
        };
        Some([table(0)?, table(step)?])
    }
}

/// Rows whose factors are those of tables: one for each of two that become a stream, and the first for all others.
struct Enter<'r, 'a, M> {
    rows: &'r ConvertRows<'a>,
    means: M,
    tables: [&'r ScaledTops; 2],
}

impl<M: Means> NullaryFnOnce for Enter<'_, '_, M> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Enter { rows, means, tables } = self;
        // Tables of its own stay in registers: others might change with whatever is written.
        let tables = [*tables[0], *tables[1]];
        let tables = [&tables[0], &tables[1]];
        // SAFETY: entered by `ScaledTops::run`, whose caller keeps the contract.
        unsafe {
            match rows.form {
                Form::Zip { step, stream, .. } => {
                    rows.zip_to_tops::<M, BLOCK>(means, (step, stream), tables);
                }
                Form::Unzip { step, lines, .. } => {
                    rows.unzip_to_tops::<M, BLOCK>(means, (step, lines == Lines::Whole), tables[0]);
                }
                Form::Plain | Form::Lines => rows.straight_to_tops::<M, BLOCK>(means, tables[0]),
                Form::ZipPairs { .. } | Form::UnzipPairs { .. } => return false,
            }
        }
        true
    }
}

impl ToTops for &ScaledTops {
    #[inline(always)]
    fn tops<M: Means>(self, means: M, bytes: Vector<M>) -> (Vector<M>, Vector<M>) {
        let lanes = means.lanes();
        let (low, high) = lanes.halves(bytes);
        let (is_least, is_greatest) =
            (lanes.look_up(self.is_least, high), lanes.look_up(self.is_greatest, high));
        let mut result = [lanes.zero(); 2];
        let mut byte = 0;
        while byte < 2 {
            let least = lanes.and(lanes.look_up(self.least[byte], low), is_least);
            let greatest = lanes.and(lanes.look_up(self.greatest[byte], low), is_greatest);
            result[byte] = lanes.xor(lanes.look_up(self.middle[byte], low), lanes.xor(least, greatest));
            byte += 1;
        }
        let added = lanes.add_bytes(result[1], lanes.look_up(self.added, high));
        lanes.zip::<1>(result[0], added)
    }
}

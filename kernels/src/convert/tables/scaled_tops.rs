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

/// What tables are made of: all patterns of each group, then the least and the greatest that are not looked up.
const PATTERNS: [u8; BLOCK] = {
    let mut patterns = [0; BLOCK];
    let mut i = 0;
    while i < BLOCK {
        patterns[i] = match i / LANE {
            group if group < GROUPS.len() => GROUPS[group] << 4 | (i % LANE) as u8,
            _ => [LEAST, GREATEST][i % 2],
        };
        i += 1;
    }
    patterns
};

/// All bits where a high half is the least magnitude's, and where it is the greatest's.
const IS_APART: [[u8; LANE]; 2] = {
    let mut is = [[0; LANE]; 2];
    let mut i = 0;
    while i < LANE / 8 {
        is[0][8 * i + GROUPS[0] as usize] = u8::MAX;
        is[1][8 * i + GROUPS[2] as usize] = u8::MAX;
        i += 1;
    }
    is
};

/// What is added by the high half, where it is that or twice it.
const ADDED: [[u8; LANE]; 2] = {
    let mut added = [[0; LANE]; 2];
    let mut i = 0;
    while i < LANE {
        let (sign, group) = (if i < LANE / 2 { 0 } else { SIGN }, i as u8 % 8);
        let is_apart = group == GROUPS[0] || group == GROUPS[2];
        added[0][i] = if is_apart { sign } else { sign | group };
        added[1][i] = if is_apart { sign } else { sign | group << 1 };
        i += 1;
    }
    added
};

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
        let mut results = [[0u8; 2]; BLOCK];
        let places = [PATTERNS.as_ptr().cast_mut(), results.as_mut_ptr().cast()].map(Place::near);
        let rows = ConvertRows::new(conversion, places, Scale::All(factor));
        // SAFETY: some patterns, and room for their results.
        unsafe { ConvertRows { rows: 1, count: BLOCK, ..rows }.at_level(level) };
        let exponent = |result: [u8; 2]| u16::from_le_bytes(result) >> 7 & 0xff;
        // All between the two are normal, before they are rounded and afterwards.
        if exponent(results[3 * LANE]) <= 1 || exponent(results[3 * LANE + 1]) == 0xff {
            return None;
        }
        // Plain loops: tables are made for every row that has a factor of its own.
        let [mut least, mut middle, mut greatest] = [[[0; LANE]; 2]; 3];
        for i in 0..LANE {
            let [a, b, c] = [0, 1, 2].map(|group| results[group * LANE + i]);
            middle[0][i] = b[0];
            middle[1][i] = b[1].wrapping_sub(GROUPS[1] << up);
            for byte in 0..2 {
                least[byte][i] = middle[byte][i] ^ a[byte];
                greatest[byte][i] = middle[byte][i] ^ c[byte];
            }
        }
        let (added, [is_least, is_greatest]) = (ADDED[up as usize], IS_APART);
        Some(ScaledTops { middle, least, greatest, added, is_least, is_greatest })
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
            Form::Unzip { ways: 4, lines: Lines::Stored | Lines::Whole, .. } | Form::UnzipPairs { .. }
                if !rows.scale.is_along() =>
            {
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
                    rows.unzip_to_tops::<M, BLOCK>(means, (step, lines.are_whole()), tables[0]);
                }
                Form::UnzipPairs { step, lines } => {
                    // As many words as a register of a line has.
                    let lines = (step, lines.are_whole());
                    rows.unzip_pairs_to_tops::<M, { BLOCK / 4 }>(means, lines, tables[0]);
                }
                Form::Plain | Form::Lines => rows.straight_to_tops::<M, BLOCK>(means, tables[0]),
                Form::ZipPairs { .. } => return false,
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

//! What a conversion makes before it starts, where there are enough elements for it to pay.

use crate::convert::converter::Converter;
use crate::convert::hop::Hop;
use crate::convert::rows::{ConvertRows, Place};
use crate::convert::tables::byte_table::ByteTable;
use crate::convert::tables::narrowing::Narrowing;
use crate::convert::tables::scaled_tops::ScaledTops;
use crate::convert::tables::small_table::{self, SmallTable};
use crate::convert::tables::stretches::Stretches;
use crate::convert::tables::table::{ENTRIES, Table};
use crate::convert::tables::widening::Widening;
use crate::level::Level;
use crate::nest::Loop;
use crate::tuning::{
    CONVERT_NARROWING, CONVERT_SCALED, CONVERT_SMALL_TABLE, CONVERT_TABLE, CONVERT_WIDENING,
};

impl Converter<'_> {
    /// The table of a conversion of bytes, where there are enough elements to make one for.
    pub(crate) fn table(&self, loops: &[Loop]) -> Option<Table> {
        let bytes = self.conversion.dst_bytes();
        let fits = self.conversion.src_bytes() == 1 && matches!(bytes, 1 | 2 | 4);
        let has_level = self.level >= Level::Avx512Vbmi;
        if !has_level || !fits || self.conversion.is_identity() || !self.pays_to_look_up(loops) {
            return None;
        }
        Table::new(&self.results()[..bytes * ENTRIES], bytes)
    }

    /// The same to bytes, where registers look up 16 of them.
    pub(crate) fn byte_table(&self, loops: &[Loop]) -> Option<ByteTable> {
        let has_level = self.level > Level::Scalar && self.level < Level::Avx512Vbmi;
        if !has_level || !ByteTable::fits(&self.conversion) || !self.pays_to_look_up(loops) {
            return None;
        }
        self.results().first_chunk().map(ByteTable::new)
    }

    /// True where there are enough elements, without factors of their own.
    fn pays_to_look_up(&self, loops: &[Loop]) -> bool {
        has_elements(loops, CONVERT_TABLE) && !self.has_factors()
    }

    /// What every byte becomes, one after the other.
    fn results(&self) -> [u8; 4 * ENTRIES] {
        let all: [u8; ENTRIES] = core::array::from_fn(|byte| byte as u8);
        let mut results = [0; 4 * ENTRIES];
        let places = [all.as_ptr().cast_mut(), results.as_mut_ptr()].map(Place::near);
        let rows = ConvertRows::new(&self.conversion, places, self.scale);
        let task = ConvertRows { rows: 1, count: ENTRIES, ..rows };
        // SAFETY: every byte there is, and room for as many results of at most four bytes.
        unsafe { task.at_level(self.level) };
        results
    }

    /// The table of a conversion of elements of few bits, where there are enough elements.
    pub(crate) fn small_table(&self, loops: &[Loop]) -> Option<SmallTable> {
        let pays = self.level > Level::Scalar && has_elements(loops, CONVERT_SMALL_TABLE);
        let fits = pays && small_table::fits(&self.conversion, self.src);
        fits.then(|| SmallTable::new(&self.conversion, self.scale.for_all(), self.level)).flatten()
    }

    /// The results of floats of a byte that are multiplied by a factor, where there are enough of them.
    pub(crate) fn scaled_tops(&self, loops: &[Loop]) -> Option<ScaledTops> {
        let pays = self.level > Level::Scalar && has_elements(loops, CONVERT_SCALED);
        let fits = pays && ScaledTops::fits(&self.conversion);
        fits.then(|| ScaledTops::new(&self.conversion, self.scale.for_all(), self.level)).flatten()
    }

    /// How floats of a byte are widened, where there are enough of them.
    pub(crate) fn widening(&self, loops: &[Loop]) -> Option<Widening> {
        let has_registers = cfg!(target_arch = "x86_64") && self.level > Level::Scalar;
        let pays = has_registers && has_elements(loops, CONVERT_WIDENING);
        match self.conversion.hops().next() {
            Some(&(Hop::Decode8(decode) | Hop::Decode8Top(decode))) if pays => Some(Widening::new(decode)),
            _ => None,
        }
    }

    /// How floats of 16 or 32 bits are narrowed to a byte, where there are enough of them, and registers for what that takes.
    pub(crate) fn narrowing(&self, loops: &[Loop]) -> Option<Narrowing> {
        // With half as many to a register, `f32` without factors are narrowed as soon as words.
        let are_plain = self.conversion.src_bytes() == 4 && !self.conversion.is_scaled();
        let least = if are_plain { Level::Avx512 } else { Level::Avx2 };
        let pays = self.level >= least && has_elements(loops, CONVERT_NARROWING);
        if pays { Narrowing::new(&self.conversion) } else { None }
    }
}

/// True where loops have at least so many elements.
fn has_elements(loops: &[Loop], count: usize) -> bool {
    let elements = loops.iter().try_fold(1usize, |product, l| product.checked_mul(l.extent));
    elements.is_none_or(|elements| elements >= count)
}

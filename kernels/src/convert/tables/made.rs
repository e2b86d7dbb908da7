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

/// What a converter makes before it starts.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) table: Option<Table>,
    pub(crate) byte_table: Option<ByteTable>,
    pub(crate) small: Option<SmallTable>,
    pub(crate) scaled: Option<ScaledTops>,
    pub(crate) widening: Option<Widening>,
    pub(crate) narrowing: Option<Narrowing>,
}

impl Made {
    pub(crate) const NOTHING: Made =
        Made { table: None, byte_table: None, small: None, scaled: None, widening: None, narrowing: None };
}

impl Converter<'_> {
    /// What is made for so many elements as some loops lead to.
    pub(crate) fn make(&self, loops: &[Loop]) -> Made {
        Made {
            table: self.table(loops),
            byte_table: self.byte_table(loops),
            small: self.small_table(loops),
            scaled: self.scaled_tops(loops),
            widening: self.widening(loops),
            narrowing: self.narrowing(loops),
        }
    }

    /// True where something is made for them: a table, or what is found out as soon.
    pub(crate) fn makes(&self, loops: &[Loop]) -> bool {
        self.takes_table(loops)
            || self.takes_byte_table(loops)
            || self.takes_small_table(loops)
            || self.takes_scaled_tops(loops)
            || self.widening(loops).is_some()
            || self.narrowing(loops).is_some()
    }

    /// The table of a conversion of bytes, where there are enough elements to make one for.
    fn table(&self, loops: &[Loop]) -> Option<Table> {
        let bytes = self.conversion.dst_bytes();
        self.takes_table(loops).then(|| Table::new(&self.results()[..bytes * ENTRIES], bytes)).flatten()
    }

    fn takes_table(&self, loops: &[Loop]) -> bool {
        let fits = self.conversion.src_bytes() == 1 && matches!(self.conversion.dst_bytes(), 1 | 2 | 4);
        let has_level = self.level >= Level::Avx512Vbmi;
        has_level && fits && !self.conversion.is_identity() && self.pays_to_look_up(loops)
    }

    /// The same to bytes, where registers look up 16 of them.
    fn byte_table(&self, loops: &[Loop]) -> Option<ByteTable> {
        self.takes_byte_table(loops).then(|| self.results().first_chunk().map(ByteTable::new)).flatten()
    }

    fn takes_byte_table(&self, loops: &[Loop]) -> bool {
        let has_level = self.level > Level::Scalar && self.level < Level::Avx512Vbmi;
        has_level && ByteTable::fits(&self.conversion) && self.pays_to_look_up(loops)
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
    fn small_table(&self, loops: &[Loop]) -> Option<SmallTable> {
        self.takes_small_table(loops)
            .then(|| SmallTable::new(&self.conversion, self.scale.for_all(), self.level))
            .flatten()
    }

    fn takes_small_table(&self, loops: &[Loop]) -> bool {
        let pays = self.level > Level::Scalar && has_elements(loops, CONVERT_SMALL_TABLE);
        pays && small_table::fits(&self.conversion, self.src)
    }

    /// The results of floats of a byte that are multiplied by a factor, where there are enough of them.
    fn scaled_tops(&self, loops: &[Loop]) -> Option<ScaledTops> {
        self.takes_scaled_tops(loops)
            .then(|| ScaledTops::new(&self.conversion, self.scale.for_all(), self.level))
            .flatten()
    }

    fn takes_scaled_tops(&self, loops: &[Loop]) -> bool {
        let pays = self.level > Level::Scalar && has_elements(loops, CONVERT_SCALED);
        pays && ScaledTops::fits(&self.conversion)
    }

    /// How floats of a byte are widened, where there are enough of them.
    fn widening(&self, loops: &[Loop]) -> Option<Widening> {
        let has_registers = cfg!(target_arch = "x86_64") && self.level > Level::Scalar;
        let pays = has_registers && has_elements(loops, CONVERT_WIDENING);
        match self.conversion.hops().next() {
            Some(&(Hop::Decode8(decode) | Hop::Decode8Top(decode))) if pays => Some(Widening::new(decode)),
            _ => None,
        }
    }

    /// How floats of 16 or 32 bits are narrowed to a byte, where there are enough of them, and registers for what that takes.
    fn narrowing(&self, loops: &[Loop]) -> Option<Narrowing> {
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

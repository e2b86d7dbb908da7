//! Conversions where places come from tables.

use core::num::NonZeroUsize;
use core::ops::Range;

use super::converter::Converter;
use super::rows::{ConvertRows, Place};
use super::scale::{Along, Scale, StepDigit};
use crate::nest::{OutOfBounds, Side};
use crate::offsets::{Offsets, copy_offsets};
use crate::slots::{SlotWidth, load, store, value_mask};

/// Elements that are gathered, converted and scattered together.
const BLOCK: usize = 64;

/// Bytes of the widest element that becomes another.
const WIDEST: usize = 16;

/// A factor for every point: `values` at the places that the tables give.
#[derive(Clone, Copy, Debug)]
pub struct Factors<'a> {
    /// The factors.
    pub values: &'a [f32],
    /// Which of them belongs to a point.
    pub places: Offsets<'a>,
}

impl Factors<'_> {
    /// The factors of some points of a row, inside the values.
    fn gather(&self, row: usize, points: Range<usize>, own: &mut [f32; BLOCK]) {
        let Factors { values, places } = self;
        for (own, place) in own.iter_mut().zip(&places.inner[points]) {
            *own = values[(places.base + places.outer[row] + place) as usize];
        }
    }
}

impl Converter<'_> {
    /// Converts one element for every point, whose places are in bytes, or in slots on a side whose slots share bytes; tables
    /// of all sides have equal lengths. Slots of whole bytes become zero above the value. Factors, where given, stand in for
    /// the one of the converter.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some slot lies outside its slice, or a factor outside its own, which counts as the source;
    /// nothing was written then.
    pub fn run_offsets(
        &self,
        src: &[u8],
        dst: &mut [u8],
        [from, to]: [Offsets<'_>; 2],
        factors: Option<Factors<'_>>,
    ) -> Result<(), OutOfBounds> {
        if from.outer.is_empty() || from.inner.is_empty() {
            return Ok(());
        }
        if let Some(conversion) = self.conversion.between(self.src, self.dst) {
            return Converter { conversion, ..*self }.run_offsets(src, dst, [from, to], factors);
        }
        self.check_slots(src.len(), dst.len())?;
        if let (true, SlotWidth::Bytes(_), SlotWidth::Bytes(slot)) =
            (self.conversion.is_identity(), self.src, self.dst)
        {
            // Of any width.
            return copy_offsets(src, dst, from, to, self.conversion.src_bytes(), slot);
        }
        let ((src_len, src_slot), (dst_len, dst_slot)) =
            (self.src.units(src.len()), self.dst.units(dst.len()));
        let [src_unit, dst_unit] = self.units().map(isize::unsigned_abs);
        from.check(src_slot.max(src_unit), src_len, Side::Source)?;
        to.check(dst_slot.max(dst_unit), dst_len, Side::Destination)?;
        if let Some(Factors { values, places }) = factors {
            places.check(1, values.len(), Side::Source)?;
        }
        // Elements of a block are gathered one behind the other.
        let stride = NonZeroUsize::new(self.conversion.src_bytes()).unwrap_or(NonZeroUsize::MIN);
        let digits = [StepDigit { stride, modulus: NonZeroUsize::MAX, unit: 1 }];
        for (i, (from_row, to_row)) in from.rows().zip(to.rows()).enumerate() {
            for first in (0..from.inner.len()).step_by(BLOCK) {
                let points = first..(first + BLOCK).min(from.inner.len());
                let mut own = [0.0; BLOCK];
                if let Some(factors) = factors {
                    factors.gather(i, points.clone(), &mut own);
                }
                let of_each = Along { values: &own, digits: &digits, first: 0, start: 0 };
                let scale = factors.map_or(self.scale, |_| Scale::Along(of_each));
                let (from, to) = (&from.inner[points.clone()], &to.inner[points]);
                Converter { scale, ..*self }.block((src, from_row, from), (dst, to_row, to));
            }
        }
        Ok(())
    }

    /// At most [`BLOCK`] elements, at places inside the slices.
    fn block(
        &self,
        (src, src_row, from): (&[u8], i64, &[i64]),
        (dst, dst_row, to): (&mut [u8], i64, &[i64]),
    ) {
        let [src_bytes, dst_bytes] = [self.conversion.src_bytes(), self.conversion.dst_bytes()];
        let (mut read, mut written) = ([0; BLOCK * WIDEST], [0; BLOCK * WIDEST]);
        for (&place, element) in from.iter().zip(read.chunks_exact_mut(src_bytes)) {
            let place = (src_row + place) as usize;
            match self.src {
                SlotWidth::Bits(bits) => element[0] = load(src, place, self.src) & value_mask(bits as u32),
                SlotWidth::Bytes(_) => element.copy_from_slice(&src[place..place + src_bytes]),
            }
        }
        let places = [read.as_mut_ptr(), written.as_mut_ptr()].map(Place::near);
        let rows = ConvertRows::new(&self.conversion, places, self.scale);
        let task = ConvertRows { rows: 1, count: from.len(), ..rows };
        // SAFETY: both arrays have room for a block of the widest elements.
        unsafe { task.at_level(self.level) };
        for (&place, element) in to.iter().zip(written.chunks_exact(dst_bytes)) {
            let place = (dst_row + place) as usize;
            match self.dst {
                SlotWidth::Bits(_) => store(dst, place, self.dst, element[0]),
                SlotWidth::Bytes(slot) => {
                    dst[place..place + dst_bytes].copy_from_slice(element);
                    dst[place + dst_bytes..(place + slot).max(place + dst_bytes)].fill(0);
                }
            }
        }
    }
}

//! Rows by tables that factors are put into: a stretch of elements with the same factor at a time.

use crate::convert::program::Conversion;
use crate::convert::rows::{ConvertRows, Form};
use crate::convert::scale::Scale;
use crate::convert::words::Means;
use crate::level::Level;

/// What becomes of elements that are multiplied by the same factor.
pub(crate) trait Stretches: Sized {
    /// Fewest elements that [`Stretches::convert`] takes.
    const LEAST: usize;

    /// Fewest elements of a row for whose factor it pays.
    const PAYS: usize = Self::LEAST;

    /// The results of a conversion with a factor, where it has a scale; `None` where these are not to be looked up.
    fn new(conversion: &Conversion, factor: f32, level: Level) -> Option<Self>;

    /// Converts the only row, whose factor is the one that it was made for.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], which means what it offers.
    unsafe fn convert<M: Means>(&self, row: &ConvertRows<'_>, means: M);
}

/// Converts rows that [`ConvertRows::has_stretches`], by tables as they are wanted, or by one made for all.
///
/// # Safety
/// As [`ConvertRows::at_level`], which means what it offers.
pub(crate) unsafe fn by_stretches<T: Stretches, M: Means>(
    rows: &ConvertRows<'_>,
    means: M,
    level: Level,
    for_all: &T,
) {
    for row in 0..rows.rows as isize {
        let mut done = 0;
        while done < rows.count {
            let rest = rows.count - done;
            let (factor, same) = rows.factor::<T>(row, done).unwrap_or((None, T::PAYS.min(rest)));
            let count = same.min(rest);
            let src = rows.src.at(row * rows.src.pitch + (done * rows.src_unit()) as isize);
            let dst = rows.dst.at(row * rows.dst.pitch + (done * rows.conversion.dst_bytes()) as isize);
            let part = ConvertRows { src, dst, rows: 1, count, small: None, scaled: None, ..*rows };
            let own =
                factor.filter(|_| count >= T::LEAST).map(|factor| T::new(rows.conversion, factor, level));
            let table = match &own {
                Some(own) => own.as_ref(),
                None => (count >= T::LEAST && !rows.scale.is_along()).then_some(for_all),
            };
            // SAFETY: elements of a row. Parts of one that goes past the cache need not be lines.
            unsafe {
                match table {
                    Some(table) => table.convert(&part, means),
                    None => ConvertRows { form: Form::Plain, ..part }.at_level(level),
                }
            }
            done += count;
        }
    }
}

impl ConvertRows<'_> {
    /// True for rows with stretches that are long enough.
    pub(crate) fn has_stretches<T: Stretches>(&self) -> bool {
        let form = matches!(self.form, Form::Plain | Form::Lines) && self.dst.bits.is_none();
        form && self.count >= T::LEAST && self.factor::<T>(0, 0).is_some()
    }

    /// The factor of an element of a row, where elements have any of their own, and how many from it on have the same; nothing
    /// where those are too few.
    fn factor<T: Stretches>(&self, row: isize, at: usize) -> Option<(Option<f32>, usize)> {
        let Scale::Along(along) = &self.scale else { return Some((None, usize::MAX)) };
        let place = self.src_place(row) + (at * self.src_unit()) as isize;
        let segment = along.segment(place, self.src_unit());
        let is_long = !segment.advances && segment.count.min(self.count) >= T::PAYS;
        is_long.then(|| (Some(along.value(segment.index)), segment.count))
    }
}

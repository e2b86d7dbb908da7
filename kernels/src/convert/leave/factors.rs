//! The factors of elements that are converted as they leave: found once for the rows of a group, of which each has one, or each
//! column of the strip.

use super::Turned;
use crate::convert::forms::BLOCK;
use crate::convert::multiply::{Factors, Multiply, Unscaled, Walk};
use crate::convert::scale::Scale;
use crate::lanes::LINE;
use crate::nest::Loop;
use crate::transpose::split::Split;

/// Where the factors of a plane are found.
#[derive(Clone, Copy, Debug)]
pub(in crate::convert) struct FactorsOf {
    /// Where the source's slice begins.
    pub(in crate::convert) origin: *const u8,
    pub(in crate::convert) alike: Alike,
}

/// Which elements have the same factor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::convert) enum Alike {
    /// Those of a row of a strip.
    Rows,
    /// Those of a column of a strip, in a group of rows.
    Columns,
}

impl Alike {
    /// Which of a plane's do wherever it is, that of a nest at a place of the source; none where both have several.
    pub(in crate::convert) fn of(scale: &Scale<'_>, split: &Split, place: isize) -> Option<Alike> {
        let Split { outer, unit, rows, beyond, along, columns, further, .. } = split;
        let of_plane = [rows, beyond, along, columns, further].into_iter();
        let all = of_plane.chain(outer.as_slice()).chain(unit.as_slice());
        let are_same = |loops: [&Loop; 2]| loops.iter().all(|l| scale.is_same_over(place, all.clone(), l));
        match (are_same([columns, further]), are_same([rows, beyond])) {
            (true, _) => Some(Alike::Rows),
            (_, true) if columns.src_stride > 0 => Some(Alike::Columns),
            _ => None,
        }
    }
}

/// Factors, or none, of elements that leave.
pub(in crate::convert) trait Leaves {
    /// Those of a group of rows.
    type Found: Default;

    /// Those of a line.
    type Of<'f>: Multiply;

    /// Finds them for a register of a plane's rows and a strip of its columns, whose first element, of so many bytes, lies there.
    fn found(
        scale: &Scale<'_>,
        turned: &Turned<'_>,
        first: (*const u8, usize),
        columns: usize,
    ) -> Self::Found;

    /// Those of a row, from a column of the strip on.
    fn of(found: &Self::Found, row: usize, column: usize) -> Self::Of<'_>;
}

impl Leaves for Unscaled {
    type Found = ();

    type Of<'f> = Unscaled;

    #[inline(always)]
    fn found(_scale: &Scale<'_>, _turned: &Turned<'_>, _first: (*const u8, usize), _columns: usize) {}

    #[inline(always)]
    fn of((): &(), _row: usize, _column: usize) -> Unscaled {
        Unscaled
    }
}

/// Factors of the rows of a group, or of the columns of its strip: there are at most a block of either.
#[repr(C, align(64))] // so that no register of factors meets two lines
pub(in crate::convert) struct OfGroup {
    factors: [f32; BLOCK],
    alike: Alike,
}

impl Default for OfGroup {
    #[inline(always)]
    fn default() -> OfGroup {
        OfGroup { alike: Alike::Rows, factors: [1.0; BLOCK] }
    }
}

/// Factors of a line.
pub(in crate::convert) struct OfLine<'f> {
    group: &'f OfGroup,
    row: usize,
    column: usize,
}

impl Leaves for Walk<'_> {
    type Found = OfGroup;

    type Of<'f> = OfLine<'f>;

    #[inline(always)]
    fn found(
        scale: &Scale<'_>,
        turned: &Turned<'_>,
        (from, bytes): (*const u8, usize),
        columns: usize,
    ) -> OfGroup {
        let FactorsOf { origin, alike } = turned.factors;
        let place = from.addr().wrapping_sub(origin.addr()) as isize;
        let mut found = OfGroup { alike, factors: [0.0; BLOCK] };
        match alike {
            Alike::Rows => scale.fill(place, bytes, &mut found.factors[..LINE / bytes]),
            Alike::Columns => scale.fill_columns(place, turned.columns, &mut found.factors[..columns]),
        }
        found
    }

    #[inline(always)]
    fn of(group: &OfGroup, row: usize, column: usize) -> OfLine<'_> {
        OfLine { group, row, column }
    }
}

impl Multiply for OfLine<'_> {
    const MULTIPLIES: bool = true;

    #[inline(always)]
    fn block<const N: usize>(&mut self, _place: isize, _step: usize) -> Factors<'_, N> {
        let OfGroup { alike, factors } = self.group;
        let each = match factors.get(self.column..) {
            Some(factors) if *alike == Alike::Columns => factors.first_chunk(),
            _ => None,
        };
        match each {
            Some(factors) => Factors::Each(factors),
            None => Factors::Alike(factors[self.row % BLOCK]),
        }
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroUsize;

    use super::*;
    use crate::convert::scale::{Along, StepDigit};
    use crate::loops::{Loops, ONCE};

    /// Which elements of a plane of `f32` are alike, at a place of an array whose rows have 100 elements, that is `wide` by `high` of
    /// them.
    fn alike(digits: &[StepDigit], place: isize, [high, wide]: [usize; 2]) -> Option<Alike> {
        let along = Along { values: &[], digits, first: 0, start: 0 };
        let split = Split {
            outer: Loops::of(&[Loop { extent: 3, src_stride: 4 * 100 * 50, dst_stride: 0 }]),
            unit: Loops::default(),
            rows: Loop { extent: wide, src_stride: 4, dst_stride: 0 },
            beyond: ONCE,
            along: ONCE,
            columns: Loop { extent: high, src_stride: 4 * 100, dst_stride: 0 },
            further: ONCE,
            rows_straddle: false,
            whole: [high, wide],
        };
        Alike::of(&Scale::Along(along), &split, place)
    }

    #[test]
    fn factors_are_those_of_rows_or_of_columns() {
        let digit = |stride: usize, modulus: usize| StepDigit {
            stride: NonZeroUsize::new(4 * stride).unwrap(),
            modulus: NonZeroUsize::new(4 * modulus).unwrap(),
            unit: 1,
        };
        let [slowest, rows, columns] = [digit(5000, 15_000), digit(100, 5000), digit(1, 100)];
        assert_eq!(alike(&[columns], 0, [50, 100]), Some(Alike::Rows));
        assert_eq!(alike(&[rows], 0, [50, 100]), Some(Alike::Columns));
        // Those of planes, of two together, and of some elements that lie together.
        assert_eq!(alike(&[slowest], 0, [50, 100]), Some(Alike::Rows));
        assert_eq!(alike(&[slowest, rows], 0, [50, 100]), Some(Alike::Columns));
        assert_eq!(alike(&[digit(10, 100)], 0, [50, 100]), Some(Alike::Rows));
        assert_eq!(alike(&[rows, columns], 0, [50, 100]), None);
        // A part of a row, and one that goes on in the next.
        assert_eq!(alike(&[rows], 40, [50, 90]), Some(Alike::Columns));
        assert_eq!(alike(&[rows], 44, [50, 90]), None);
    }
}

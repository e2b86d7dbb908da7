//! Elements of a row that have one factor, all of them.

use super::each_row::Row;
use super::multiply::{Factors, Find, Multiply};
use super::rows::ConvertRows;
use crate::tuning::KEPT_ROWS;

/// One factor for all elements, wherever they are: a loop over some of them keeps it in a register.
#[derive(Clone, Copy)]
pub(super) struct One(pub(super) f32);

impl Multiply for One {
    const MULTIPLIES: bool = true;

    #[inline(always)]
    fn block<const N: usize>(&mut self, _place: isize, _step: usize) -> Factors<'_, N> {
        Factors::Alike(self.0)
    }
}

/// The factor of all elements where they have one, and otherwise those of their places. Which of both is told for each block: a loop for
/// either would be twice the code, and is where types are told apart inside no faster.
pub(super) struct Either<'f, F>(Option<f32>, &'f mut F);

impl<'f, F> Either<'f, F> {
    /// One for all, or what finds them.
    #[inline(always)]
    pub(super) fn new(one: Option<One>, found: &'f mut F) -> Either<'f, F> {
        Either(one.map(|One(factor)| factor), found)
    }

    /// The same for the ways of a row.
    #[inline(always)]
    pub(super) fn of_ways(ones: Option<[One; 4]>, [a, b, c, d]: &'f mut [F; 4]) -> [Either<'f, F>; 4] {
        let one = |way: usize| ones.map(|ones| ones[way]);
        [Either::new(one(0), a), Either::new(one(1), b), Either::new(one(2), c), Either::new(one(3), d)]
    }
}

impl<F: Multiply> Multiply for Either<'_, F> {
    const MULTIPLIES: bool = F::MULTIPLIES;

    #[inline(always)]
    fn block<const N: usize>(&mut self, place: isize, step: usize) -> Factors<'_, N> {
        match self.0 {
            Some(factor) => Factors::Alike(factor),
            None => self.1.block(place, step),
        }
    }
}

/// Factors of the ways of a few rows, and for how many more turns of all rows each has them.
pub(super) struct Kept {
    rows: [([One; 4], usize); KEPT_ROWS],
    /// False once there was one for a turn only: to find that out takes longer than to find the factor.
    pays: bool,
}

impl Kept {
    /// None yet, of rows that are repeated or not.
    #[inline(always)]
    pub(super) fn new(are_repeated: bool) -> Kept {
        Kept { rows: [([One(1.0); 4], 0); KEPT_ROWS], pays: are_repeated }
    }

    /// The factors of ways that have one each in all of a row. From the first way to each of them, and from one element of a way to the
    /// next, it is so far where factors are found.
    #[inline(always)]
    pub(super) fn ones<'a, F: Find<'a>, const N: usize>(
        &mut self,
        rows: &ConvertRows<'_>,
        factors: &mut [F; 4],
        row: Row,
        (before, unit): ([isize; 4], usize),
        ways: usize,
    ) -> Option<[One; 4]> {
        if !F::MULTIPLIES {
            return None;
        }
        if let Some(ones) = self.take(row) {
            return Some(ones);
        }
        let first = rows.places(row).0.first;
        let keeps = self.pays && (row.row as usize) < KEPT_ROWS;
        let mut ones = [One(1.0); 4];
        let mut turns = usize::MAX;
        let mut way = 0;
        while way < ways {
            let place = first + before[way];
            ones[way] = One(factors[way].one::<N>(place, unit, rows.count)?);
            if keeps {
                let last = place + ((rows.count - 1) * unit) as isize;
                turns = turns.min(factors[way].lasts([place, last], rows.beyond.src_stride));
            }
            way += 1;
        }
        if keeps {
            self.put(row, ones, turns);
        }
        Some(ones)
    }

    /// Those of a row.
    #[inline(always)]
    fn take(&mut self, row: Row) -> Option<[One; 4]> {
        let (ones, turns) = self.rows.get_mut(row.row as usize)?;
        *turns = turns.checked_sub(1)?;
        Some(*ones)
    }

    /// Keeps those of one of the first few rows, for so many turns, this one among them.
    #[inline(always)]
    fn put(&mut self, row: Row, ones: [One; 4], turns: usize) {
        self.pays = turns > 1;
        if let Some(kept) = self.rows.get_mut(row.row as usize) {
            *kept = (ones, turns - 1);
        }
    }
}

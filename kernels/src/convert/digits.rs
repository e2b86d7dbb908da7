//! The digits that tell the factor of a place, along the loops of a nest: loops taken apart where a digit begins anew, and digits of other
//! places, where the elements of these loops lie in another order.

use core::num::NonZeroUsize;

use super::scale::{Along, StepDigit};
use crate::loops::{Loops, MAX_LOOPS};
use crate::nest::Loop;

/// A digit that counts for nothing.
const NO_DIGIT: StepDigit = StepDigit { stride: NonZeroUsize::MIN, modulus: NonZeroUsize::MIN, unit: 0 };

/// A few digits, the fastest first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Digits {
    digits: [StepDigit; MAX_LOOPS],
    len: usize,
}

impl Digits {
    fn as_slice(&self) -> &[StepDigit] {
        &self.digits[..self.len]
    }

    /// One more: so many values, a stride apart, each of which counts for so many steps.
    fn push(&mut self, stride: usize, count: usize, unit: usize) {
        let (Some(stride), Some(modulus)) = (NonZeroUsize::new(stride), NonZeroUsize::new(stride * count))
        else {
            return;
        };
        let digit = StepDigit { stride, modulus, unit };
        match self.digits[..self.len].last_mut() {
            Some(last) if last.goes_on_as(&digit) => last.modulus = modulus,
            _ if unit == 0 => {}
            _ => {
                self.digits[self.len] = digit;
                self.len += 1;
            }
        }
    }
}

impl StepDigit {
    /// True for another one that counts on where this one begins anew.
    fn goes_on_as(&self, next: &StepDigit) -> bool {
        let values = self.modulus.get() / self.stride;
        self.modulus == next.stride && values.checked_mul(self.unit) == Some(next.unit)
    }
}

impl<'a> Along<'a> {
    /// The same factors by the digits of a room, whose first place is this one of the source.
    pub(super) fn moved<'d>(&self, place: isize, digits: &'d Digits) -> Along<'d>
    where
        'a: 'd,
    {
        let start = 0usize.wrapping_sub(self.segment(place, 1).index);
        Along { values: self.values, digits: digits.as_slice(), first: 0, start }
    }

    /// The digits of a room for so many steps of each loop of a nest, which are so far apart in the room, one loop behind the other: none
    /// where a step of a loop does not count for the same everywhere in the nest.
    pub(super) fn digits_of(
        &self,
        place: isize,
        loops: &[Loop],
        (room, chunks): (&[isize; MAX_LOOPS], &[usize; MAX_LOOPS]),
    ) -> Option<Digits> {
        let steps = self.steps(place, loops)?;
        let mut order: [usize; MAX_LOOPS] = core::array::from_fn(|i| i);
        let order = &mut order[..loops.len()];
        order.sort_unstable_by_key(|&i| room[i]);
        let mut digits = Digits { digits: [NO_DIGIT; MAX_LOOPS], len: 0 };
        for &i in order.iter().filter(|&&i| chunks[i] > 1) {
            digits.push(room[i].unsigned_abs(), chunks[i], steps[i]);
        }
        Some(digits)
    }

    /// The loops of a nest, those apart in which a digit begins anew, or counts on, on the way; none where that is within a step.
    pub(super) fn apart(&self, loops: &[Loop]) -> Option<Loops> {
        let mut parts = Loops::of_few(loops).filter(|_| self.follow_one_another())?;
        for digit in self.digits.iter().flat_map(|digit| self.whole(digit)) {
            for border in [digit.stride.get(), digit.modulus.get()] {
                let crosses = |l: &Loop| {
                    let step = usize::try_from(l.src_stride).unwrap_or(0);
                    step > 0 && step < border && step.saturating_mul(l.extent - 1) >= border
                };
                while let Some(l) = parts.take(crosses) {
                    let inner = Some(border / l.src_stride.unsigned_abs())
                        .filter(|inner| border == inner * l.src_stride.unsigned_abs())
                        .filter(|inner| {
                            l.extent.is_multiple_of(*inner) && parts.as_slice().len() + 2 <= MAX_LOOPS
                        })?;
                    let [src_stride, dst_stride] =
                        [l.src_stride, l.dst_stride].map(|stride| inner as isize * stride);
                    parts.push(Loop { extent: inner, ..l });
                    parts.push(Loop { extent: l.extent / inner, src_stride, dst_stride });
                }
            }
        }
        Some(parts)
    }

    /// True where of two digits one always begins anew within a step of the other, as they should.
    fn follow_one_another(&self) -> bool {
        let within = |a: &StepDigit, b: &StepDigit| b.stride.get().is_multiple_of(a.modulus.get());
        let digits = self.digits.iter().enumerate();
        let mut pairs = digits.flat_map(|(i, a)| self.digits[i + 1..].iter().map(move |b| (a, b)));
        pairs.all(|(a, b)| within(a, b) || within(b, a))
    }

    /// A digit, and those that count on where it begins anew, as one; none for these.
    fn whole(&self, digit: &StepDigit) -> Option<StepDigit> {
        if self.digits.iter().any(|other| other.goes_on_as(digit)) {
            return None;
        }
        let mut last = digit;
        while let Some(next) = self.digits.iter().find(|next| last.goes_on_as(next)) {
            last = next;
        }
        Some(StepDigit { modulus: last.modulus, ..*digit })
    }

    /// What the loops of a nest from a place on count for, if each step of a loop counts for the same: where no digit carries.
    fn steps(&self, place: isize, loops: &[Loop]) -> Option<[usize; MAX_LOOPS]> {
        let first = self.first.checked_add(place)?.unsigned_abs();
        let mut steps = [0usize; MAX_LOOPS];
        for StepDigit { stride, modulus, unit } in self.digits.iter().flat_map(|digit| self.whole(digit)) {
            let (stride, modulus) = (stride.get(), modulus.get());
            let (mut inside, mut value) = (first % modulus % stride, first % modulus / stride);
            for (steps, l) in steps.iter_mut().zip(loops) {
                let step = usize::try_from(l.src_stride).ok()? % modulus;
                if step.is_multiple_of(stride) {
                    value = value.checked_add((step / stride).checked_mul(l.extent - 1)?)?;
                    *steps = steps.checked_add((step / stride).checked_mul(unit)?)?;
                } else {
                    inside = inside.checked_add(step.checked_mul(l.extent - 1)?)?;
                }
            }
            if inside >= stride || value >= modulus / stride {
                return None;
            }
        }
        Some(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digit(stride: usize, modulus: usize, unit: usize) -> StepDigit {
        let number = |n| NonZeroUsize::new(n).expect("digits have strides");
        StepDigit { stride: number(stride), modulus: number(modulus), unit }
    }

    fn of(extent: usize, src_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride: 2 * src_stride }
    }

    #[test]
    fn loops_are_taken_apart_where_digits_begin_anew() {
        let along = |digits| Along { values: &[], digits, first: 0, start: 0 };
        // Rows of T(8,128)(8,1) with 64 tiles beside each other: tiles are one loop.
        let rows = [digit(1, 8, 1), digit(1 << 16, usize::MAX, 8)];
        let (tiles, word) = (of(64 * 20, 1024), of(8, 1));
        assert!(along(&rows).steps(0, &[tiles, word]).is_none());
        let apart = along(&rows).apart(&[tiles, word]).expect("whole rows of tiles");
        assert_eq!(apart.as_slice(), [word, of(64, 1024), of(20, 1 << 16)]);
        let steps = along(&rows).steps(0, apart.as_slice()).expect("no digit carries");
        assert_eq!(steps[..3], [1, 0, 8]);
        // From the fourth row on the word is counted in another tile.
        assert!(along(&rows).steps(4, apart.as_slice()).is_none());
        // Columns of the same, which are one digit.
        let columns = [digit(8, 1024, 1), digit(1024, 1 << 16, 128)];
        let apart = along(&columns).apart(&[of(128 * 64, 8), word]).expect("all columns");
        assert_eq!(apart.as_slice(), [of(128 * 64, 8), word]);
        assert_eq!(along(&columns).steps(8, &[of(100, 8), word]).expect("some columns")[..2], [1, 0]);
        // Neither whole steps nor digits that follow one another.
        assert!(along(&rows).apart(&[of(100, 1024)]).is_none());
        assert!(along(&[digit(8, 64, 1), digit(32, 1 << 10, 1)]).apart(&[word]).is_none());
    }
}

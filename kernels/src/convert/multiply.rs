//! The factors of one block of elements after the other, on their way through words.

use core::ops::Range;

use super::float;
use super::forms::BLOCK;
use super::leave::factors::Leaves;
use super::patterns::{Groups, PATTERN, Pattern};
use super::scale::{Along, Scale, begin_anew};
use super::words::casts::each;
use super::words::{Means, Words};

/// Room for the factors of a block.
#[repr(align(64))]
struct Held([f32; BLOCK]);

/// The factors of one block of elements after the other.
pub(super) struct Walk<'a> {
    along: Option<Along<'a>>,
    /// Elements at these places, whole steps from the first of them, have this factor; all elements where that is the least place.
    alike: Range<isize>,
    factor: f32,
    /// What comes behind them, if it is known.
    groups: Groups,
    /// The block at this place, with the last step, was the last one that was asked for, but for those that are alike: it and
    /// what follows it have these factors, or, if these are none, it alone those that are held.
    at: isize,
    coming: &'a [f32],
    held: Held,
    /// Made where it is wanted: making it costs as much as converting some hundred elements.
    pattern: Option<Pattern>,
    /// Where the block's factors are in it, if they are there and not among those that are held.
    of_pattern: Option<usize>,
}

/// The factors of a block.
pub(super) enum Factors<'a, const N: usize> {
    /// One for all.
    Alike(f32),
    /// One for each element.
    Each(&'a [f32; N]),
}

impl<const N: usize> Factors<'_, N> {
    /// True where none is zero, denormal, infinite or NaN.
    #[inline(always)]
    pub(super) fn are_normal(&self) -> bool {
        match self {
            Factors::Alike(factor) => factor.is_normal(),
            Factors::Each(factors) => {
                let (mut others, mut i) = (0, 0);
                while i < N {
                    // The exponents of all others are the least and the greatest.
                    others |= u32::from((factors[i].to_bits() >> 23 & 0xff).wrapping_sub(1) >= 0xfe);
                    i += 1;
                }
                others == 0
            }
        }
    }

    /// Those of a part of the block, of `P` elements.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn part<const P: usize>(&self, part: usize) -> Factors<'_, P> {
        match self {
            Factors::Alike(factor) => Factors::Alike(*factor),
            Factors::Each(factors) => {
                Factors::Each(factors[part * P..].first_chunk().expect("parts are in the block"))
            }
        }
    }

    /// Multiplies a block, as words that hold `f32`.
    #[inline(always)]
    pub(super) fn multiply<M: Means>(&self, means: M, words: &mut Words<N>) {
        // One factor from a register: a block of them, just written in parts, would have to be in the cache before it is read whole.
        match self {
            Factors::Alike(factor) if multiplies_plainly(*factor) => means.multiply_by(words, *factor),
            Factors::Alike(factor) => each!(words, x => float::scaled(x, *factor)),
            Factors::Each(factors) => means.multiply_by_each(words, factors),
        }
    }
}

/// True for a factor by which no number becomes NaN, and [`Means::multiply_by`] can multiply.
#[inline(always)]
pub(super) fn multiplies_plainly(factor: f32) -> bool {
    factor != 0.0 && factor.is_finite()
}

/// What happens to blocks of elements between being read and being written.
pub(super) trait Multiply {
    /// True where there are factors.
    const MULTIPLIES: bool;

    /// The factors of a block, at most [`BLOCK`] elements, of which the first is at a place of the slice, the others `step` from one
    /// to the next. Whoever asks the same value again asks for as many, and with the same step.
    fn block<const N: usize>(&mut self, place: isize, step: usize) -> Factors<'_, N>;

    /// Multiplies a block, as words that hold `f32`, by the factors of these elements.
    #[inline(always)]
    fn multiply<M: Means, const N: usize>(
        &mut self,
        means: M,
        words: &mut Words<N>,
        place: isize,
        step: usize,
    ) {
        if Self::MULTIPLIES {
            self.block::<N>(place, step).multiply(means, words);
        }
    }
}

/// The same, where factors are those of elements' places, or none.
pub(super) trait Find<'a>: Multiply + Leaves {
    /// For elements that have these factors.
    fn new(scale: Scale<'a>) -> Self;

    /// From here on all elements have one factor.
    fn set(&mut self, factor: f32);

    /// The factor of all elements, wherever they are, if they have one.
    fn all(&self) -> Option<f32>;

    /// The factor of all of some elements, which are found as by [`Multiply::block`].
    fn one<const N: usize>(&mut self, place: isize, step: usize, count: usize) -> Option<f32>;

    /// How often a row, whose first and last elements are at these places and all of whose elements have the same factor, can be moved
    /// on by a stride until one of them has another: at least once.
    fn lasts(&self, ends: [isize; 2], stride: isize) -> usize;
}

/// No factors: words stay as they are.
pub(super) struct Unscaled;

impl Multiply for Unscaled {
    const MULTIPLIES: bool = false;

    #[inline(always)]
    fn block<const N: usize>(&mut self, _place: isize, _step: usize) -> Factors<'_, N> {
        Factors::Alike(1.0)
    }
}

impl<'a> Find<'a> for Unscaled {
    #[inline(always)]
    fn new(_scale: Scale<'a>) -> Unscaled {
        Unscaled
    }

    #[inline(always)]
    fn set(&mut self, _factor: f32) {}

    #[inline(always)]
    fn all(&self) -> Option<f32> {
        None
    }

    #[inline(always)]
    fn one<const N: usize>(&mut self, _place: isize, _step: usize, _count: usize) -> Option<f32> {
        None
    }

    #[inline(always)]
    fn lasts(&self, _ends: [isize; 2], _stride: isize) -> usize {
        usize::MAX
    }
}

impl Multiply for Walk<'_> {
    const MULTIPLIES: bool = true;

    #[inline(always)]
    fn block<const N: usize>(&mut self, place: isize, step: usize) -> Factors<'_, N> {
        let last = place + ((N - 1) * step) as isize;
        let are_alike = |walk: &Walk<'_>| {
            let Range { start, end } = walk.alike;
            let is_in_step =
                start == isize::MIN || start <= place && (place - start).unsigned_abs().is_multiple_of(step);
            is_in_step && last < end
        };
        if !are_alike(self) && place != self.at {
            match self.coming.get(N..) {
                Some(behind) if behind.len() >= N && place == self.at + (N * step) as isize => {
                    (self.at, self.coming) = (place, behind);
                }
                _ => self.find(place, step, N),
            }
        }
        if are_alike(self) {
            return Factors::Alike(self.factor);
        }
        let held = || self.held().first_chunk().expect("blocks are at most as long as what is held");
        Factors::Each(self.coming.first_chunk().unwrap_or_else(held))
    }
}

impl<'a> Find<'a> for Walk<'a> {
    #[inline(always)]
    fn new(scale: Scale<'a>) -> Walk<'a> {
        let (along, factor, alike) = match scale {
            Scale::All(factor) => (None, factor, isize::MIN..isize::MAX),
            Scale::Along(along) => (Some(along), 0.0, 0..0),
        };
        let (held, groups) = (Held([0.0; BLOCK]), Groups::default());
        let (pattern, of_pattern) = (None, None);
        Walk { along, alike, factor, groups, at: isize::MIN, coming: &[], held, pattern, of_pattern }
    }

    #[inline(always)]
    fn set(&mut self, factor: f32) {
        (self.alike, self.factor) = (isize::MIN..isize::MAX, factor);
    }

    #[inline(always)]
    fn all(&self) -> Option<f32> {
        (self.alike.start == isize::MIN).then_some(self.factor)
    }

    #[inline(always)]
    fn one<const N: usize>(&mut self, place: isize, step: usize, count: usize) -> Option<f32> {
        let last = place + ((count - 1) * step) as isize;
        match self.block::<N>(place, step) {
            Factors::Alike(factor) => (last < self.alike.end).then_some(factor),
            Factors::Each(_) => None,
        }
    }

    #[inline(never)] // as for `Along::fill`
    fn lasts(&self, [first, last]: [isize; 2], stride: isize) -> usize {
        match (&self.along, usize::try_from(stride)) {
            (None, _) | (_, Ok(0)) => usize::MAX,
            (Some(along), Ok(stride)) => {
                let [first, last] = [first, last].map(|place| along.segment(place, stride).lasts());
                first.min(last)
            }
            (Some(_), Err(_)) => 1,
        }
    }
}

impl Walk<'_> {
    /// The factors of the last block, where they are not among those that are coming.
    #[inline(always)]
    fn held(&self) -> &[f32] {
        match (&self.pattern, self.of_pattern) {
            (Some(pattern), Some(first)) => &pattern.factors[first..],
            _ => &self.held.0,
        }
    }

    /// Makes the factors of some elements ready.
    #[inline(never)] // as for `Along::fill`
    fn find(&mut self, place: isize, step: usize, count: usize) {
        let Some(along) = &self.along else { return };
        (self.at, self.coming) = (place, &[]);
        self.of_pattern = self.pattern.as_ref().and_then(|pattern| pattern.index(place, step, count));
        if self.of_pattern.is_some() {
            return;
        }
        if place == self.alike.end
            && let Some(index) = self.groups.next(place)
        {
            (self.factor, self.alike) = (along.value(index), place..place + self.groups.each as isize);
            return;
        }
        let segment = along.segment(place, step);
        let behind = segment.index.saturating_add(segment.count).min(along.values.len());
        let reach = |count: usize| {
            let reach = count.saturating_mul(step).min(isize::MAX.unsigned_abs());
            place..place.saturating_add_unsigned(reach)
        };
        if segment.count < count {
            let period = segment.period();
            if period <= BLOCK && segment.window() >= count {
                // In place: it is made anew as often as every few blocks.
                let pattern = self.pattern.get_or_insert_with(Pattern::empty);
                (pattern.period, pattern.places) = (period, reach(segment.window()));
                along.fill(place, step, &mut pattern.factors[..period]);
                begin_anew(&mut pattern.factors[..2 * BLOCK], period);
                self.of_pattern = Some(0);
            } else if let all = segment.rest().min(PATTERN)
                && all >= 2 * count
            {
                let pattern = self.pattern.get_or_insert_with(Pattern::empty);
                (pattern.period, pattern.places) = (PATTERN, reach(all));
                along.fill(place, step, &mut pattern.factors[..all]);
                self.of_pattern = Some(0);
            } else {
                along.fill(place, step, &mut self.held.0[..count]);
            }
        } else if !segment.advances {
            self.factor = along.value(segment.index);
            self.alike = reach(segment.count);
            self.groups = match segment.groups().filter(|&(each, _)| each >= count) {
                Some((each, all)) => {
                    Groups { index: segment.index, end: reach(all).end, each: each.saturating_mul(step) }
                }
                None => Groups::default(),
            };
        } else if let Some(coming) = along.values.get(segment.index..behind)
            && coming.len() >= count
        {
            self.coming = coming;
        } else {
            along.fill(place, step, &mut self.held.0[..count]);
        }
    }
}

#[cfg(test)]
mod tests {
    use core::num::NonZeroUsize;

    use super::super::scale::StepDigit;
    use super::*;

    fn digit(stride: usize, modulus: usize, unit: usize) -> StepDigit {
        let number = |n| NonZeroUsize::new(n).expect("digits have strides");
        StepDigit { stride: number(stride), modulus: number(modulus), unit }
    }

    fn each<const N: usize>(factors: Factors<'_, N>) -> [f32; N] {
        match factors {
            Factors::Alike(factor) => [factor; N],
            Factors::Each(factors) => *factors,
        }
    }

    /// The factors of some elements, each from its own place.
    fn one_by_one(along: &Along<'_>, place: isize, step: usize, count: usize) -> Vec<f32> {
        let index = |place: usize| -> usize {
            along.digits.iter().map(|d| place % d.modulus / d.stride * d.unit).sum::<usize>() - along.start
        };
        let places = (0..count).map(|i| (along.first + place) as usize + i * step);
        places.map(|place| along.values.get(index(place)).copied().unwrap_or(f32::NAN)).collect()
    }

    #[test]
    fn factors_are_those_of_the_places() {
        let values: Vec<f32> = (0..600).map(|i| i as f32).collect();
        let cases: [(&[StepDigit], usize); 12] = [
            (&[digit(128, usize::MAX, 1)], 0), // groups that are whole blocks, or several, or parts of one
            (&[digit(640, 6400, 1)], 0),
            (&[digit(40, 400, 1), digit(800, usize::MAX, 10)], 0),
            (&[digit(4, 12, 1)], 0),           // three channels, the last dimension
            (&[digit(800, usize::MAX, 1)], 0), // rows
            (&[digit(4, 800, 1)], 0),          // columns
            (&[digit(2, 4, 1), digit(512, 2048, 2)], 0), // rows of T(8,128)(2,1)
            (&[digit(4, 512, 1), digit(4096, 1 << 14, 128)], 0), // columns of T(8,128)
            (&[digit(40, usize::MAX, 1)], 2),
            (&[digit(4, 256, 1), digit(2048, 1 << 13, 64)], 0), // columns of T(8,64)(2,1)
            (&[digit(16, 48, 1), digit(96, 192, 3)], 0),        // few of each
            (&[digit(128, 256, 1)], 0),                         // blocks inside of one, and across two
        ];
        for (digits, start) in cases {
            for (first, step) in [(80, 2), (80, 4), (84, 8), (4096, 16)] {
                let along = Along { values: &values, digits, first, start };
                let mut walk = Walk::new(Scale::Along(along));
                // Each place twice, and the one before it once more.
                let before = |place: usize| place.saturating_sub(16 * step);
                let places =
                    (0..3000).step_by(16 * step).flat_map(|place| [place, place, before(place), place]);
                for place in places.chain([0, 2 * step]) {
                    let wanted = one_by_one(&along, place as isize, step, 64);
                    let mut found = [0.0; 64];
                    along.fill(place as isize, step, &mut found);
                    let same =
                        |found: &[f32]| found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same(&found), "{along:?} {place} {step}: {found:?} {wanted:?}");
                    assert!(same(&each(walk.block::<16>(place as isize, step))), "{digits:?} {place} {step}");
                }
            }
        }
    }

    #[test]
    fn words_share_factors() {
        let same = |first, place, digits: &[StepDigit]| {
            Scale::Along(Along { values: &[], digits, first, start: 0 }).is_same_within(place, 4)
        };
        assert!(Scale::All(2.0).is_same_within(3, 4));
        // Columns of T(8,128)(4,1), and rows.
        assert!(same(0, 512, &[digit(4, 512, 1), digit(1024, 8192, 128)]));
        assert!(!same(0, 512, &[digit(1, 4, 1), digit(512, 1024, 4)]));
        // Words that start inside of four bytes.
        assert!(!same(2, 512, &[digit(4, 512, 1)]) && same(2, 510, &[digit(4, 512, 1)]));
    }

    #[test]
    fn what_has_no_factor_becomes_nan() {
        let along = Along { values: &[2.0, 3.0], digits: &[digit(4, usize::MAX, 1)], first: 0, start: 0 };
        let mut walk = Walk::new(Scale::Along(along));
        let [a, b, c, d] = each(walk.block::<4>(0, 4));
        assert!((a, b) == (2.0, 3.0) && c.is_nan() && d.is_nan());
        // Groups, of which the first ones come before those with factors.
        let along = Along { values: &[2.0, 3.0], digits: &[digit(8, usize::MAX, 1)], first: 0, start: 2 };
        let mut walk = Walk::new(Scale::Along(along));
        let found = [0, 8, 16, 24, 32].map(|place| each(walk.block::<8>(place, 1))[0]);
        assert!(found[0].is_nan() && found[1].is_nan() && found[2..4] == [2.0, 3.0] && found[4].is_nan());
    }
}

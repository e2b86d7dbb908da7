//! The factors of one block of elements after the other, on their way through words.

use core::ops::Range;

use super::float;
use super::forms::BLOCK;
use super::scale::{Along, Scale, begin_anew, exactly};
use super::words::Words;

/// Room for the factors of a block.
#[repr(align(64))]
struct Held([f32; BLOCK]);

/// Multiply that begin anew after at most a block, so often that there is a block from every one of the first few on.
struct Pattern {
    factors: [f32; 2 * BLOCK],
    /// Elements after which they begin anew.
    period: usize,
    /// Where they hold, the first of them for the first of these places.
    places: Range<isize>,
}

impl Pattern {
    /// One that holds nowhere.
    fn empty() -> Pattern {
        Pattern { factors: [0.0; 2 * BLOCK], period: 1, places: 0..0 }
    }

    /// The factors of some elements, at most a block, where they all hold.
    fn of(&self, place: isize, step: usize, count: usize) -> Option<&[f32]> {
        let last = place + ((count - 1) * step) as isize;
        if place < self.places.start || last >= self.places.end {
            return None;
        }
        let first = exactly((place - self.places.start).unsigned_abs(), step)? % self.period;
        Some(&self.factors[first..first + count])
    }
}

/// The factors of one block of elements after the other.
pub(super) struct Walk<'a> {
    along: Option<Along<'a>>,
    /// Elements at these places have the factors that are held, which are all alike.
    alike: Range<isize>,
    /// From this place on, with the last step, elements have these.
    next: isize,
    coming: &'a [f32],
    held: Held,
    /// Made where it is wanted: making it costs as much as converting some hundred elements.
    pattern: Option<Pattern>,
}

/// What happens to blocks of elements between being read and being written.
pub(super) trait Multiply<'a> {
    /// True where there are some.
    const MULTIPLIES: bool;

    /// For elements that have these factors.
    fn new(scale: Scale<'a>) -> Self;

    /// Multiplies a block, as words that hold `f32`, whose first element is at a place of the slice, the others `step` from one
    /// to the next. Whoever asks the same value again asks with the same step, and places that are steps apart.
    fn multiply<const N: usize>(&mut self, words: &mut Words<N>, place: isize, step: usize);
}

/// No factors: words stay as they are.
pub(super) struct Unscaled;

impl<'a> Multiply<'a> for Unscaled {
    const MULTIPLIES: bool = false;

    #[inline(always)]
    fn new(_scale: Scale<'a>) -> Unscaled {
        Unscaled
    }

    #[inline(always)]
    fn multiply<const N: usize>(&mut self, _words: &mut Words<N>, _place: isize, _step: usize) {}
}

impl<'a> Multiply<'a> for Walk<'a> {
    const MULTIPLIES: bool = true;

    #[inline(always)]
    fn new(scale: Scale<'a>) -> Walk<'a> {
        let (along, factor, alike) = match scale {
            Scale::All(factor) => (None, factor, isize::MIN..isize::MAX),
            Scale::Along(along) => (Some(along), 0.0, 0..0),
        };
        Walk { along, alike, next: 0, coming: &[], held: Held([factor; BLOCK]), pattern: None }
    }

    #[inline(always)]
    fn multiply<const N: usize>(&mut self, words: &mut Words<N>, place: isize, step: usize) {
        let factors = self.block::<N>(place, step);
        let mut i = 0;
        while i < N {
            words.0[i] = float::scaled(words.0[i], factors[i]);
            i += 1;
        }
    }
}

impl Walk<'_> {
    /// The factors of `N` elements, at most [`BLOCK`].
    #[inline(always)]
    fn block<const N: usize>(&mut self, place: isize, step: usize) -> &[f32; N] {
        let last = place + ((N - 1) * step) as isize;
        if !(self.alike.start <= place && last < self.alike.end) {
            if !(place == self.next && self.coming.len() >= N) {
                self.find(place, step, N);
            }
            if let (true, Some((block, rest))) = (place == self.next, self.coming.split_first_chunk()) {
                self.next += (N * step) as isize;
                self.coming = rest;
                return block;
            }
        }
        self.held.0.first_chunk().expect("blocks are at most as long as what is held")
    }

    /// Makes the factors of some elements ready.
    #[inline(never)] // as for `Along::fill`
    fn find(&mut self, place: isize, step: usize, count: usize) {
        let Some(along) = &self.along else { return };
        if let Some(pattern) = &self.pattern
            && let Some(factors) = pattern.of(place, step, count)
        {
            return self.held.0[..count].copy_from_slice(factors);
        }
        let segment = along.segment(place, step);
        (self.alike, self.coming) = (0..0, &[]);
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
                begin_anew(&mut pattern.factors, period);
                self.held.0[..count].copy_from_slice(&pattern.factors[..count]);
            } else {
                along.fill(place, step, &mut self.held.0[..count]);
            }
        } else if !segment.advances {
            self.held.0.fill(along.value(segment.index));
            self.alike = reach(segment.count);
        } else if let Some(coming) = along.values.get(segment.index..behind)
            && coming.len() >= count
        {
            (self.next, self.coming) = (place, coming);
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
        let cases: [(&[StepDigit], usize); 8] = [
            (&[digit(4, 12, 1)], 0),                     // three channels, the last dimension
            (&[digit(800, usize::MAX, 1)], 0),           // rows
            (&[digit(4, 800, 1)], 0),                    // columns
            (&[digit(2, 4, 1), digit(512, 2048, 2)], 0), // rows of T(8,128)(2,1)
            (&[digit(4, 512, 1), digit(4096, 1 << 14, 128)], 0), // columns of T(8,128)
            (&[digit(40, usize::MAX, 1)], 2),
            (&[digit(4, 256, 1), digit(2048, 1 << 13, 64)], 0), // columns of T(8,64)(2,1)
            (&[digit(16, 48, 1), digit(96, 192, 3)], 0),        // few of each
        ];
        for (digits, start) in cases {
            for (first, step) in [(80, 2), (80, 4), (84, 8), (4096, 16)] {
                let along = Along { values: &values, digits, first, start };
                let mut walk = Walk::new(Scale::Along(along));
                for place in (0..3000).step_by(16 * step).chain([0, 2 * step as isize as usize]) {
                    let wanted = one_by_one(&along, place as isize, step, 64);
                    let mut found = [0.0; 64];
                    along.fill(place as isize, step, &mut found);
                    let same =
                        |found: &[f32]| found.iter().zip(&wanted).all(|(a, b)| a.to_bits() == b.to_bits());
                    assert!(same(&found), "{along:?} {place} {step}: {found:?} {wanted:?}");
                    assert!(same(walk.block::<16>(place as isize, step)), "{digits:?} {place} {step}");
                }
            }
        }
    }

    #[test]
    fn what_has_no_factor_becomes_nan() {
        let along = Along { values: &[2.0, 3.0], digits: &[digit(4, usize::MAX, 1)], first: 0, start: 0 };
        let mut walk = Walk::new(Scale::Along(along));
        let [a, b, c, d] = *walk.block::<4>(0, 4);
        assert!((a, b) == (2.0, 3.0) && c.is_nan() && d.is_nan());
    }
}

//! Factors that elements are multiplied by: one for all, or one for each step of a dimension.
//!
//! A nest has places and no dimensions, so it is the place of an element in the source that says which factor is its: the
//! step of a dimension is a sum of digits of the place. Along a run of elements most digits stay as they are, or one of them
//! counts up, so factors are found for some elements at once.

use core::num::NonZeroUsize;
use core::ops::Range;

use super::float;
use super::forms::BLOCK;
use super::words::Words;

/// What elements are multiplied by, where their conversion has a scale.
#[derive(Clone, Copy, Debug)]
pub enum Scale<'a> {
    /// One factor for all elements.
    All(f32),
    /// A factor for each step of a dimension.
    Along(Along<'a>),
}

/// A factor for each step of a dimension, which the place of an element in the source tells.
#[derive(Clone, Copy, Debug)]
pub struct Along<'a> {
    /// The factors. An element that has none becomes NaN.
    pub values: &'a [f32],
    /// The digits of a place whose sum is the step.
    pub digits: &'a [StepDigit],
    /// The place of the first byte of the source slice, or of its first slot where slots share bytes.
    pub first: isize,
    /// The step that the first of the factors belongs to.
    pub start: usize,
}

/// A digit of a place, and what it counts for: `place % modulus / stride * unit`.
///
/// Of two digits one's stride is a multiple of the other's modulus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StepDigit {
    /// From one value of the digit to the next, in bytes, or in slots where slots share bytes.
    pub stride: NonZeroUsize,
    /// From where on the digit begins anew: a multiple of the stride, or the greatest number where it never does.
    pub modulus: NonZeroUsize,
    /// Steps of the dimension from one value to the next.
    pub unit: usize,
}

/// Elements whose factors are found together.
struct Segment {
    /// The factor of the first one.
    index: usize,
    count: usize,
    /// True where each has the next factor; false where all have the same.
    advances: bool,
}

impl Scale<'_> {
    /// As [`Along::fill`]; all factors alike where there is only one.
    #[inline(always)]
    pub(super) fn fill(&self, place: isize, step: usize, room: &mut [f32]) {
        match self {
            Scale::All(factor) => room.fill(*factor),
            Scale::Along(along) => along.fill(place, step, room),
        }
    }
}

impl<'a> Along<'a> {
    /// The elements from a place of the slice on, `step` from one to the next, whose factors are alike or follow one another.
    fn segment(&self, place: isize, step: usize) -> Segment {
        let place = self.first.wrapping_add(place).unsigned_abs();
        let mut index = 0usize;
        // The fastest digit that changes, the bytes or slots that are left in its value, and in its period.
        let mut fastest: Option<(&StepDigit, usize, usize)> = None;
        for digit in self.digits {
            let inside =
                if digit.modulus == NonZeroUsize::MAX { place } else { split(place, digit.modulus)[1] };
            let [value, behind] = split(inside, digit.stride);
            index = index.wrapping_add(value.wrapping_mul(digit.unit));
            let changes = step < digit.modulus.get() || step % digit.modulus != 0;
            if changes && fastest.is_none_or(|(other, ..)| digit.stride < other.stride) {
                fastest = Some((digit, digit.stride.get() - behind, digit.modulus.get() - inside));
            }
        }
        let steps = |bytes: usize| match step.is_power_of_two() {
            true => ((bytes - 1) >> step.trailing_zeros()) + 1,
            false => bytes.div_ceil(step.max(1)),
        };
        let (count, advances) = match fastest {
            None => (usize::MAX, false),
            Some((digit, left, _)) if step < digit.stride.get() => (steps(left), false),
            Some((digit, _, left)) if step == digit.stride.get() && digit.unit == 1 => (steps(left), true),
            Some(_) => (1, false),
        };
        Segment { index: index.wrapping_sub(self.start), count, advances }
    }

    /// The factors of as many elements as there is room for, from a place of the slice on, `step` from one to the next.
    #[inline(never)] // whoever multiplies has all registers in use, and nothing here is done in vectors
    pub(super) fn fill(&self, place: isize, step: usize, room: &mut [f32]) {
        // Behind the slowest digit's modulus everything begins anew.
        let modulus = self.digits.iter().map(|digit| digit.modulus.get()).max().unwrap_or(1);
        let is_short = modulus / room.len().max(1) < step && modulus.is_multiple_of(step);
        let own = if is_short { (modulus / step).min(room.len()) } else { room.len() };
        let mut done = 0;
        while done < own {
            let Segment { index, count, advances } = self.segment(place + (done * step) as isize, step);
            let end = done.saturating_add(count).min(own);
            for (i, factor) in room[done..end].iter_mut().enumerate() {
                *factor = self.value(if advances { index.wrapping_add(i) } else { index });
            }
            done = end;
        }
        for i in own..room.len() {
            room[i] = room[i - own];
        }
    }

    fn value(&self, index: usize) -> f32 {
        self.values.get(index).copied().unwrap_or(f32::NAN)
    }
}

/// Quotient and remainder, without a division where it is not needed: divisions take longer than all else of a search.
#[inline(always)]
fn split(place: usize, by: NonZeroUsize) -> [usize; 2] {
    match by.is_power_of_two() {
        true => [place >> by.trailing_zeros(), place & (by.get() - 1)],
        false => [place / by, place % by],
    }
}

/// Room for the factors of a block.
#[repr(align(64))]
struct Held([f32; BLOCK]);

/// The factors of one block of elements after the other.
pub(super) struct Walk<'a> {
    along: Option<Along<'a>>,
    /// Elements at these places have the factors that are held, which are all alike.
    alike: Range<isize>,
    /// From this place on, with the last step, elements have these.
    next: isize,
    coming: &'a [f32],
    held: Held,
}

/// What happens to blocks of elements between being read and being written.
pub(super) trait Factors<'a> {
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

impl<'a> Factors<'a> for Unscaled {
    const MULTIPLIES: bool = false;

    #[inline(always)]
    fn new(_scale: Scale<'a>) -> Unscaled {
        Unscaled
    }

    #[inline(always)]
    fn multiply<const N: usize>(&mut self, _words: &mut Words<N>, _place: isize, _step: usize) {}
}

impl<'a> Factors<'a> for Walk<'a> {
    const MULTIPLIES: bool = true;

    #[inline(always)]
    fn new(scale: Scale<'a>) -> Walk<'a> {
        let (along, factor, alike) = match scale {
            Scale::All(factor) => (None, factor, isize::MIN..isize::MAX),
            Scale::Along(along) => (Some(along), 0.0, 0..0),
        };
        Walk { along, alike, next: 0, coming: &[], held: Held([factor; BLOCK]) }
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
        let segment = along.segment(place, step);
        (self.alike, self.coming) = (0..0, &[]);
        let behind = segment.index.saturating_add(segment.count).min(along.values.len());
        if segment.count < count {
            along.fill(place, step, &mut self.held.0[..count]);
        } else if !segment.advances {
            self.held.0.fill(along.value(segment.index));
            let reach = segment.count.saturating_mul(step).min(isize::MAX.unsigned_abs());
            self.alike = place..place.saturating_add_unsigned(reach);
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
        let cases: [(&[StepDigit], usize); 6] = [
            (&[digit(4, 12, 1)], 0),                     // three channels, the last dimension
            (&[digit(800, usize::MAX, 1)], 0),           // rows
            (&[digit(4, 800, 1)], 0),                    // columns
            (&[digit(2, 4, 1), digit(512, 2048, 2)], 0), // rows of T(8,128)(2,1)
            (&[digit(4, 512, 1), digit(4096, 1 << 14, 128)], 0), // columns of T(8,128)
            (&[digit(40, usize::MAX, 1)], 2),
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

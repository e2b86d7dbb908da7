//! Factors that were found for more elements than were asked for.

use core::ops::Range;

use super::forms::BLOCK;
use super::scale::exactly;

/// Factors that are found together: to find those of a few elements takes as long as to multiply some dozen.
pub(super) const PATTERN: usize = 8 * BLOCK;

/// Factors that begin anew after at most a block, so often that there is a block from every one of the first few on, or those of some
/// blocks.
pub(super) struct Pattern {
    pub(super) factors: [f32; PATTERN],
    /// Elements after which they begin anew, at most [`PATTERN`].
    pub(super) period: usize,
    /// Where they hold, the first of them for the first of these places.
    pub(super) places: Range<isize>,
}

impl Pattern {
    /// One that holds nowhere.
    pub(super) fn empty() -> Pattern {
        Pattern { factors: [0.0; PATTERN], period: 1, places: 0..0 }
    }

    /// The first of the factors of so many elements, at most a block, where they all hold.
    #[inline(always)]
    pub(super) fn index(&self, place: isize, step: usize, count: usize) -> Option<usize> {
        let last = place + ((count - 1) * step) as isize;
        if place < self.places.start || last >= self.places.end {
            return None;
        }
        let first = exactly((place - self.places.start).unsigned_abs(), step)?;
        // A division takes as long as half a block.
        let first = if first < self.period { first } else { first % self.period };
        (first + count <= PATTERN).then_some(first)
    }
}

/// Groups of elements, as many bytes or slots each, with one factor after the other.
#[derive(Clone, Copy, Default)]
pub(super) struct Groups {
    /// The factor of the last one that was asked for, and where the first elements are that are in none.
    pub(super) index: usize,
    pub(super) end: isize,
    pub(super) each: usize,
}

impl Groups {
    /// The next one's factor, if it starts at a place.
    #[inline(always)]
    pub(super) fn next(&mut self, place: isize) -> Option<usize> {
        if place >= self.end {
            return None;
        }
        // The first ones may have no factor, and numbers before those of any.
        self.index = self.index.wrapping_add(1);
        Some(self.index)
    }
}

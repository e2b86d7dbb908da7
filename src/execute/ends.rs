//! The buffers of an execution, whole or in a part.

use std::ops::Range;

/// Consecutive bytes of the source.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// The place of its first byte in the whole.
    pub(super) start: usize,
    pub(super) bytes: &'a [u8],
}

impl<'a> Source<'a> {
    pub(super) fn whole(bytes: &'a [u8]) -> Source<'a> {
        Source { start: 0, bytes }
    }

    /// The place of its first byte in the whole, in units of which so many make a byte.
    pub(super) fn first(self, units_per_byte: usize) -> isize {
        in_units(&(self.start..self.start), units_per_byte).start
    }
}

/// Consecutive bytes of the destination.
pub(super) struct Target<'a> {
    /// The place of its first byte in the whole.
    pub(super) start: usize,
    pub(super) bytes: &'a mut [u8],
}

impl Target<'_> {
    /// Its places in the whole, in units of which so many make a byte.
    pub(super) fn range(&self, units_per_byte: usize) -> Range<isize> {
        in_units(&self.places(), units_per_byte)
    }

    /// Writes as much of some bytes, which begin at a place in the whole, as lies in it.
    pub(super) fn write(&mut self, place: usize, bytes: &[u8]) {
        let (skipped, part) = self.part(place, bytes.len());
        part.copy_from_slice(&bytes[skipped..skipped + part.len()]);
    }

    /// Of so many bytes from a place in the whole on, those that lie in it, and how many are before them.
    pub(super) fn part(&mut self, place: usize, len: usize) -> (usize, &mut [u8]) {
        let behind = self.start + self.bytes.len();
        let start = place.clamp(self.start, behind);
        let end = place.saturating_add(len).clamp(start, behind);
        ((start - place.min(start)).min(len), &mut self.bytes[start - self.start..end - self.start])
    }

    /// Its bytes' places in the whole.
    pub(super) fn places(&self) -> Range<usize> {
        self.start..self.start + self.bytes.len()
    }
}

/// Places in units of which so many make a byte.
pub(super) fn in_units(bytes: &Range<usize>, units_per_byte: usize) -> Range<isize> {
    // Buffers are slices, and the slots of one fit 64 bits: the plan has counted them.
    let place = |byte: usize| byte.saturating_mul(units_per_byte) as isize;
    place(bytes.start)..place(bytes.end)
}

/// From the first to the last byte of both.
pub(super) fn hull(a: Option<Range<usize>>, b: Option<Range<usize>>) -> Option<Range<usize>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.start.min(b.start)..a.end.max(b.end)),
        (a, b) => a.or(b),
    }
}

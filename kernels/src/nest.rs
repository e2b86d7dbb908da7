//! Loop nests, and the check that keeps every kernel inside its slices.

use std::fmt;

/// One loop: how often, and how far each step moves the two places.
///
/// Strides are in the unit of the nest that the loop belongs to: bytes, or slots for packed elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Loop {
    /// How often the loop runs; 0 means that the nest moves nothing.
    pub extent: usize,
    /// What one step adds to the source place.
    pub src_stride: isize,
    /// What one step adds to the destination place.
    pub dst_stride: isize,
}

/// Where a nest starts, and its loops from the outermost to the innermost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Nest<'a> {
    /// The source place of the first element.
    pub src_offset: isize,
    /// The destination place of the first element.
    pub dst_offset: isize,
    /// The loops, outermost first.
    pub loops: &'a [Loop],
}

/// Source or destination of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Side {
    /// The slice that is read.
    Source,
    /// The slice that is written.
    Destination,
}

/// A nest that would reach outside its slice; nothing was moved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OutOfBounds {
    /// Which slice.
    pub side: Side,
    /// Length of the slice, in the unit of the nest.
    pub len: usize,
}

impl fmt::Display for OutOfBounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Source => "source",
            Side::Destination => "destination",
        };
        write!(f, "the loop nest reaches outside the {side} of length {}", self.len)
    }
}

impl std::error::Error for OutOfBounds {}

impl Nest<'_> {
    /// True where some loop never runs.
    pub fn is_empty(&self) -> bool {
        self.loops.iter().any(|l| l.extent == 0)
    }

    /// How many elements the loops reach, at most `usize::MAX`.
    pub fn points(&self) -> usize {
        self.loops.iter().fold(1, |points, l| points.saturating_mul(l.extent))
    }

    /// Checks that every element of `width` units lies inside slices of `src_len` and `dst_len` units.
    pub(crate) fn check(
        &self,
        src_len: usize,
        src_width: usize,
        dst_len: usize,
        dst_width: usize,
    ) -> Result<(), OutOfBounds> {
        let src = self.loops.iter().map(|l| (l.extent, l.src_stride));
        if !stays_inside(self.src_offset, src, src_width, src_len) {
            return Err(OutOfBounds { side: Side::Source, len: src_len });
        }
        let dst = self.loops.iter().map(|l| (l.extent, l.dst_stride));
        if !stays_inside(self.dst_offset, dst, dst_width, dst_len) {
            return Err(OutOfBounds { side: Side::Destination, len: dst_len });
        }
        Ok(())
    }
}

/// True where `offset` plus any sum of steps, and `width` units from there, lie in `0..len`.
///
/// All loops must run at least once.
pub(crate) fn stays_inside(
    offset: isize,
    steps: impl Iterator<Item = (usize, isize)>,
    width: usize,
    len: usize,
) -> bool {
    let reach = || {
        let (mut low, mut high) = (offset, offset.checked_add_unsigned(width)?);
        for (extent, stride) in steps {
            let span = stride.checked_mul(isize::try_from(extent - 1).ok()?)?;
            if span < 0 {
                low = low.checked_add(span)?;
            } else {
                high = high.checked_add(span)?;
            }
        }
        Some((low, high))
    };
    reach().is_some_and(|(low, high)| low >= 0 && high.unsigned_abs() <= len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(src_offset: isize, dst_offset: isize, loops: &[Loop]) -> Nest<'_> {
        Nest { src_offset, dst_offset, loops }
    }

    #[test]
    fn reach_is_exact_on_both_ends() {
        let loops = [Loop { extent: 3, src_stride: -4, dst_stride: 2 }];
        assert_eq!(nest(8, 0, &loops).check(12, 4, 8, 4), Ok(()));
        let low = nest(7, 0, &loops).check(12, 4, 8, 4);
        assert_eq!(low, Err(OutOfBounds { side: Side::Source, len: 12 }));
        let high = nest(8, 1, &loops).check(12, 4, 8, 4);
        assert_eq!(high, Err(OutOfBounds { side: Side::Destination, len: 8 }));
    }

    #[test]
    fn overflow_is_outside() {
        let loops = [Loop { extent: usize::MAX, src_stride: 1, dst_stride: isize::MAX }];
        assert!(nest(0, 0, &loops).check(usize::MAX, 1, usize::MAX, 1).is_err());
        let loops = [Loop { extent: 3, src_stride: isize::MAX, dst_stride: 0 }];
        assert!(nest(0, 0, &loops).check(usize::MAX, 1, 1, 1).is_err());
    }
}

//! Which bytes explicit strides reach, and whether they keep the destination's elements apart.

use smallvec::SmallVec;

use super::digits::Digits;
use super::lower::{Window, elements};
use super::pieces::{Atom, Piece};
use crate::{End, PlanError};

/// The lowest place of a side, and the end of the highest element, counted from the element of index 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Reach {
    /// `None` where nothing is reached.
    bounds: Option<(i64, i64)>,
}

impl Reach {
    /// The exact reach of the elements from `start`; every element has `width` units.
    pub(crate) fn of_elements(
        digits: &Digits,
        start: &[i64],
        window: &Window,
        width: i64,
        end: End,
    ) -> Result<Reach, PlanError> {
        if window.is_empty() {
            return Ok(Reach { bounds: None });
        }
        // What every term can contribute at most must fit with room to spare; then no sum below overflows.
        let total = digits.terms.iter().try_fold(width, |total, term| {
            let span = term.stride.checked_abs()?.checked_mul(digits.slots[term.register])?;
            total.checked_add(span).filter(|&total| total < i64::MAX / 4)
        });
        total.ok_or(PlanError::AddressOverflow { end })?;
        let (mut low, mut high) = (0, width);
        match elements(digits, start, &window.extents) {
            Some((pieces, ranges)) => {
                // Indices are independent, so the extremes of the sum are the sums of the extremes.
                for range in ranges {
                    let extremes =
                        || pieces.destinations(range.clone()).map(|(offset, atoms)| extremes(offset, atoms));
                    low += extremes().map(|(low, _)| low).min().unwrap_or(0);
                    high += extremes().map(|(_, high)| high).max().unwrap_or(0);
                }
            }
            // Tiles that `*` mixes inside: every slot of the tiles counts as reached.
            None => {
                for term in &digits.terms {
                    let span = term.stride * (digits.slots[term.register] - 1);
                    low += span.min(0);
                    high += span.max(0);
                }
            }
        }
        Ok(Reach { bounds: Some((low, high)) })
    }

    /// Counts the destination places of a box in.
    pub(crate) fn add_piece(&mut self, piece: &Piece, width: i64) {
        let (low, high) = extremes(piece.dst_offset, &piece.atoms);
        let (old_low, old_high) = self.bounds.unwrap_or((low, high + width));
        self.bounds = Some((old_low.min(low), old_high.max(high + width)));
    }

    /// Bytes that a buffer must have whose element of index 0 lies at `offset`.
    pub(crate) fn buffer_length(self, offset: i64, end: End) -> Result<usize, PlanError> {
        let Some((low, high)) = self.bounds else { return Ok(0) };
        let overflow = || PlanError::AddressOverflow { end };
        let byte = low.checked_add(offset).ok_or_else(overflow)?;
        if byte < 0 {
            return Err(PlanError::BelowBuffer { end, byte });
        }
        let length = high.checked_add(offset).ok_or_else(overflow)?;
        usize::try_from(length).map_err(|_| overflow())
    }
}

/// The lowest and the highest destination place of loops that start at `offset`.
fn extremes(offset: i64, atoms: &[Atom]) -> (i64, i64) {
    let span = |atom: &Atom| atom.dst_stride * (atom.extent - 1);
    let low = atoms.iter().map(|atom| span(atom).min(0)).sum::<i64>();
    let high = atoms.iter().map(|atom| span(atom).max(0)).sum::<i64>();
    (offset + low, offset + high)
}

/// Refuses strides that may put two elements of the destination, or padding that is written, into the same bytes.
///
/// Sorted by size, every stride must step over all that the smaller ones span; then no two places meet.
pub(crate) fn check_overlap(
    digits: &Digits,
    window: &Window,
    writes_padding: bool,
    width: i64,
) -> Result<(), PlanError> {
    if window.is_empty() && !writes_padding {
        return Ok(());
    }
    // Where nothing is divided, a register is a logical dimension, of which only the window is written.
    let extent = |register: usize| match digits.ops.is_empty() && !writes_padding {
        true => window.extents[register],
        false => digits.slots[register],
    };
    let mut loops: SmallVec<[(i64, i64); 16]> =
        digits.terms.iter().map(|term| (term.stride, extent(term.register))).filter(|l| l.1 > 1).collect();
    loops.sort_by_key(|l| l.0.unsigned_abs());
    let mut span = width;
    for (stride, extent) in loops {
        let overlaps = PlanError::DestinationOverlaps { stride, extent, span };
        if stride.abs() < span {
            return Err(overlaps);
        }
        span += stride.abs() * (extent - 1);
    }
    Ok(())
}

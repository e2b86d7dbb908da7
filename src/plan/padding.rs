//! The destination's slots that hold no element, as pieces without a source.

use super::lower::MAX_BOXES;
use super::pieces::{PartRange, PartRanges, Parts, Piece, each_product, products};

/// The slots of one side's indices; `None` where they would be too many parts, in whose loops both sides are set alike.
pub(crate) trait Slots {
    /// What finding adds to.
    type Parts: Parts;

    fn parts(&self) -> &Self::Parts;

    fn indices(&self) -> usize;

    /// Finds the slots that hold no value of an index.
    fn unused(&mut self, index: usize) -> Option<PartRange>;

    /// Finds the slots that hold its values.
    fn elements(&mut self, index: usize) -> Option<PartRange>;

    /// Finds all of its slots.
    fn everything(&mut self, index: usize) -> PartRange;
}

/// Calls `visit` with pieces that cover every slot outside the elements, none twice. `None` where there would be more than
/// [`MAX_BOXES`], or where `visit` gives up.
pub(crate) fn padding(
    slots: &mut impl Slots,
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<()> {
    let indices = slots.indices();
    let padded = (0..indices).map(|index| slots.unused(index)).collect::<Option<PartRanges>>()?;
    let Some(last) = padded.iter().rposition(|range| !range.is_empty()) else { return Some(()) };
    let covered = (0..last).map(|index| slots.elements(index)).collect::<Option<PartRanges>>()?;
    let whole: PartRanges = (0..indices).map(|index| slots.everything(index)).collect();
    // Elements of the indices before, padding of this one, anything of the indices behind.
    let each = |visit: &mut dyn FnMut(&[PartRange]) -> Option<()>| {
        let mut ranges = whole.clone();
        for index in 0..=last {
            ranges[index] = padded[index].clone();
            visit(&ranges)?;
            if index < last {
                ranges[index] = covered[index].clone();
            }
        }
        Some(())
    };
    let mut count = 0usize;
    each(&mut |ranges| {
        count = count.checked_add(products(ranges)?)?;
        (count <= MAX_BOXES).then_some(())
    })?;
    each(&mut |ranges| each_product(slots.parts(), ranges, visit))
}

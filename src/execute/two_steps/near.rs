//! What two steps read, brought near before the first of them, where that is in pieces of many places.

use std::convert::Infallible;
use std::ops::Range;

use relayout_kernels::{Loop, bring_near, reads_all_in_order_first, reads_in_order_first};

use super::{BAND, MOST_BETWEEN, slot_bits};
use crate::execute::ends::{Source, Target, hull};
use crate::execute::restrict::{restrict, src_span, units_per_byte};
use crate::plan::Plan;
use crate::plan::step::Step;

/// Rows that are read in turn and still followed each.
const FOLLOWED: usize = 16;

impl Plan {
    /// Brings the part of the source near that is read for a part of the destination, where much of it is.
    pub(super) fn bring_source(&self, src: Source<'_>, target: &Target<'_>) {
        let pays = reads_in_order_first() && (reads_all_in_order_first() || self.reads_pieces());
        let read = if pays { self.read_for(target) } else { None };
        let Some(read) = read else { return };
        let places = read.start.wrapping_sub(src.start)..read.end.wrapping_sub(src.start);
        // In bits, of as many elements on either side.
        let [from, to] = slot_bits(self);
        let is_dense =
            read.len().saturating_mul(to) <= target.bytes.len().saturating_mul(MOST_BETWEEN * from);
        if let (true, Some(bytes)) = (is_dense && read.len() <= 2 * BAND, src.bytes.get(places)) {
            bring_near(bytes);
        }
    }

    /// True where the source is read in pieces of tiles, or of more rows at once than processors follow.
    fn reads_pieces(&self) -> bool {
        let reads = |l: &Loop| l.src_stride.unsigned_abs();
        let reads_across = |step: &Step<'_>| {
            let loops = step.nest.loops;
            let is_across = |i: &usize| loops[..*i].iter().any(|l| reads(l) < reads(&loops[*i]));
            let streams = (0..loops.len()).filter(is_across).map(|i| loops[i].extent);
            streams.fold(1, usize::saturating_mul) > FOLLOWED
        };
        let has_tiles = !self.src.layout().tiles().is_empty();
        has_tiles || self.steps.moves().max_by_key(Step::points).is_some_and(|step| reads_across(&step))
    }

    /// The bytes of the source between the first and the last that is read for a part of the destination.
    pub(in crate::execute) fn read_for(&self, target: &Target<'_>) -> Option<Range<usize>> {
        let mut read = None;
        for step in self.steps.moves() {
            let range = target.range(units_per_byte(&step));
            let Ok(()) = restrict::<Infallible>(&step, &range, &mut |part| {
                read = hull(read.clone(), src_span(part));
                Ok(())
            });
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_those_of_tiles_and_of_many_rows_at_once() {
        let reads_pieces = |src: &str, dst: &str| {
            Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap().reads_pieces()
        };
        assert!(reads_pieces("bf16[999,300]{1,0:T(8,128)(2,1)}", "f32[999,300]"));
        assert!(reads_pieces("f32[9,40,2560]", "f32[9,40,2560]{1,2,0}"));
        assert!(!reads_pieces("f32[9,3,2560]", "f32[9,3,2560]{1,2,0}"));
        assert!(!reads_pieces("f32[999,300]", "f32[999,300]{1,0:T(8,128)}"));
    }
}

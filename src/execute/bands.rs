//! Bands: pieces of a destination that all boxes are written to before the next.
//!
//! The boxes of ragged layouts meet inside lines, and read parts of the same tiles. One box after the other, such a line
//! comes from memory and goes back once for each of them; band by band it is still in the cache. Where most lines belong to
//! one box, boxes are faster one after the other.

use relayout_kernels::Loop;

use super::FEW_STEPS;
use super::parts::LINE;
use super::restrict::{element_units, src_units_per_byte, units_per_byte, written};
use crate::plan::Plan;
use crate::plan::step::{Kernel, Step};

/// Bytes of a band: a part of the second-level cache, beside as much of the source, and enough that beginning each box anew
/// takes no time in comparison.
const BAND: usize = 512 * 1024;

/// Other boxes count where they hold more than one in so many elements.
const SHARE: usize = 16;

/// Of more parts it makes no difference where a loop ends.
const MOST_PARTS: usize = 8;

/// Where one band ends and the next begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Bands {
    origin: usize,
    bytes: usize,
}

impl Bands {
    /// The bands of a plan of several boxes, whose destination starts so many bytes behind the start of a line; `None` where it
    /// has one, or where the largest does not go along its destination, or reads its source across; or where it keeps to lines of its
    /// own, and moves nearly all.
    pub(super) fn new(plan: &Plan, behind_line: usize) -> Option<Bands> {
        if plan.steps.len() < 2 || plan.tables.is_some() || plan.ef57.is_some() {
            return None;
        }
        let bytes = |step: &Step<'_>| written(step) / units_per_byte(step);
        if plan.steps.len() <= FEW_STEPS && shares_rows(plan, SHARE) {
            return plan.steps.moves().max_by_key(bytes).and_then(|largest| Bands::of(&largest, BAND));
        }
        let largest = plan.steps.iter().max_by_key(bytes)?;
        if behind_line == 0 && keeps_to_lines(&largest) { None } else { Bands::of(&largest, BAND) }
    }

    /// Bands of at most so many bytes that go along a box.
    pub(super) fn of(step: &Step<'_>, most: usize) -> Option<Bands> {
        Bands::reading(step, most, None)
    }

    /// The same, also across a source of which a band reads runs of at least so many bytes, if any may.
    pub(super) fn reading(step: &Step<'_>, most: usize, least: Option<usize>) -> Option<Bands> {
        if step.kernel.is_fill() || matches!(step.kernel, Kernel::Copy) {
            return None;
        }
        let per_byte = units_per_byte(step);
        let most = most.saturating_mul(per_byte);
        let loops = step.nest.loops;
        let slowest = loops.iter().position(|l| l.dst_stride.unsigned_abs() <= most)?;
        let (outer, [cut, inner @ ..]) = loops.split_at(slowest) else { return None };
        let reach = |l: &Loop| l.dst_stride.saturating_mul(l.extent as isize - 1);
        let inside = inner.iter().map(reach).fold(element_units(step), isize::saturating_add);
        let stride = usize::try_from(cut.dst_stride).ok().filter(|&stride| stride > 0)?;
        // Each step of the loop that is cut is a piece of the destination, and loops outside of it are slower; those inside are
        // faster in the source too, which would else be read in runs that may be short, and none outside leads to another part of a
        // line, or of two where slots share bytes.
        let line = LINE * src_units_per_byte(&step.kernel);
        let reads = |l: &Loop| l.src_stride.unsigned_abs();
        let run = reads(cut).saturating_mul(cut.extent.min(most / stride)) / src_units_per_byte(&step.kernel);
        let is_across = inner.iter().any(|l| reads(l) > reads(cut));
        let reads_runs = !is_across || reads(cut) <= line && least.is_some_and(|least| run >= least);
        let goes_along = inside <= cut.dst_stride
            && outer.iter().all(|l| l.dst_stride > cut.dst_stride && reads(l) >= line);
        (goes_along && reads_runs).then_some(())?;
        // Bands end where bytes do.
        let steps = most / stride / steps_of_bytes(stride, per_byte) * steps_of_bytes(stride, per_byte);
        // Of slots that share bytes, an even part of them might be no whole bytes on either side.
        let are_whole = per_byte == 1 && src_units_per_byte(&step.kernel) == 1;
        let fewest = steps.div_ceil(2).max(least.unwrap_or(0).div_ceil(reads(cut).max(1)));
        let even = if is_across && are_whole { even_part(cut.extent, fewest, steps) } else { None };
        let steps = even.unwrap_or(steps);
        let origin = usize::try_from(step.nest.dst_offset).ok()?;
        let are_bytes = steps > 0 && origin.is_multiple_of(per_byte);
        are_bytes.then_some(Bands { origin: origin / per_byte, bytes: steps * stride / per_byte })
    }

    /// Where the band ends that a byte of the destination belongs to.
    pub(super) fn end(&self, place: usize) -> usize {
        match place.checked_sub(self.origin) {
            Some(behind) => place.saturating_add(self.bytes - behind % self.bytes),
            None => self.origin,
        }
    }
}

/// The most steps between two numbers that divide a loop into a few even parts: bands across a source then end with the loop, and read
/// parts of one plane each.
fn even_part(extent: usize, fewest: usize, most: usize) -> Option<usize> {
    let parts = extent.div_ceil(most.max(1));
    if parts > MOST_PARTS {
        return None;
    }
    let parts = (parts.max(1)..=2 * parts).find(|&parts| extent.is_multiple_of(parts))?;
    Some(extent / parts).filter(|&steps| steps >= fewest)
}

/// How many steps of so many slots are whole bytes, of which each has so many.
fn steps_of_bytes(stride: usize, per_byte: usize) -> usize {
    // Both are powers of two, as far as they divide.
    per_byte / (1 << stride.trailing_zeros().min(per_byte.trailing_zeros()))
}

/// True where the boxes beside the largest hold more than one in `share` bytes: they read the ends of the same rows, which had better
/// be in the cache still.
pub(super) fn shares_rows(plan: &Plan, share: usize) -> bool {
    let moves = || plan.steps.moves().map(|step| written(&step) / units_per_byte(&step));
    let (all, most) = (moves().fold(0, usize::saturating_add), moves().max().unwrap_or(0));
    (all - most).saturating_mul(share) > all
}

/// True where a box shares no line with another but its last ones: whatever leads farther than a line leads to the start of one.
pub(super) fn keeps_to_lines(step: &Step<'_>) -> bool {
    let line = (LINE * units_per_byte(step)) as isize;
    let starts_line = |place: isize| place % line == 0;
    starts_line(step.nest.dst_offset)
        && step.nest.loops.iter().all(|l| l.dst_stride.abs() < line || starts_line(l.dst_stride))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bands(src: &str, dst: &str) -> Option<Bands> {
        Bands::new(&Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap(), 0)
    }

    #[test]
    fn ragged_tiles_are_written_in_bands() {
        // Rows of 8 x 4000 bytes, of which 16 are a band.
        let found = bands("f32[999,1000]{1,0:T(8,128)}", "f32[999,1000]").unwrap();
        assert_eq!(found, Bands { origin: 0, bytes: 16 * 32000 });
        assert_eq!([0, 511_999, 512_000].map(|place| found.end(place)), [512_000, 512_000, 1_024_000]);
    }

    #[test]
    fn ragged_tiles_that_are_converted_are_written_in_bands() {
        let found = bands("bf16[999,1000]{1,0:T(8,128)(2,1)}", "f32[999,1000]").unwrap();
        assert_eq!(found, Bands { origin: 0, bytes: 16 * 32000 });
    }

    #[test]
    fn boxes_whose_lines_are_their_own_are_written_one_after_the_other() {
        let [src, dst] = ["bf16[999,8160]{1,0:T(8,128)(2,1)}", "bf16[999,8160]"];
        assert_eq!(bands(src, dst), None);
        assert_eq!(bands(dst, src), None);
        assert_eq!(bands("bf16[999,8000]", "bf16[999,8000]{1,0:T(8,128)(2,1)}"), None);
        assert!(bands("bf16[999,1000]{1,0:T(8,128)(2,1)}", "bf16[999,1000]").is_some());

        let plan = Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap();
        assert!(Bands::new(&plan, 32).is_some());
    }

    #[test]
    fn boxes_that_read_much_of_the_same_rows_are_written_in_bands() {
        // Rows of 8 tiles of 8 x 128 x 4 bytes.
        let found = bands("f32[999,1000]", "f32[999,1000]{1,0:T(8,128)}").unwrap();
        assert_eq!(found, Bands { origin: 0, bytes: 16 * 32768 });
    }

    #[test]
    fn bands_across_a_source_read_runs() {
        let reading = |least| {
            let plan =
                Plan::new(&"f32[9,40,2560]".parse().unwrap(), &"bf16[9,40,2560]{1,2,0}".parse().unwrap());
            Bands::reading(&plan.unwrap().steps.moves().next().unwrap(), 64_000, least)
        };
        // 800 rows of 80 bytes, of as many floats of each column; 640 are a quarter of them all.
        assert_eq!(reading(Some(3200)), Some(Bands { origin: 0, bytes: 64_000 }));
        assert_eq!(reading(Some(2560)), Some(Bands { origin: 0, bytes: 51_200 }));
        assert_eq!([reading(Some(3201)), reading(None)], [None, None]);
    }

    #[test]
    fn even_parts_are_few_and_no_less_than_wanted() {
        assert_eq!(even_part(2560, 400, 800), Some(640));
        assert_eq!(even_part(100, 400, 800), None);
        assert_eq!(even_part(600, 400, 800), Some(600));
        // Three parts of 111 are too few steps each, 1,000 would be too many parts, and 127 has none.
        assert_eq!(
            [(111, 55, 110), (8000, 4, 8), (127, 32, 64)].map(|(n, few, most)| even_part(n, few, most)),
            [None; 3]
        );
    }

    #[test]
    fn one_box_and_what_goes_across_is_written_whole() {
        assert_eq!(bands("f32[1000,1024]{1,0:T(8,128)}", "f32[1000,1024]"), None);
        assert_eq!(bands("f32[999,1000]{0,1}", "f32[999,1000]{1,0:T(8,128)}"), None);
        assert_eq!(bands("f32[999,1000]{0,1}", "bf16[999,1000]{1,0:T(8,128)(2,1)}"), None);
    }
}

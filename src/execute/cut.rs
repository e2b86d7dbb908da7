//! Cutting a plan along its destination: the part of a box that lies in a range of bytes is a few smaller boxes.

use std::ops::Range;

use relayout_kernels::{Fill, Loop, Nest, SlotWidth};
use smallvec::SmallVec;

use crate::plan::step::{Kernel, Step, Steps};

/// Bytes of the destination that an element of a step takes.
fn element_bytes(step: &Step<'_>) -> isize {
    match step.kernel {
        Kernel::Copy => 1,
        Kernel::Move { element_bytes, .. } => element_bytes as isize,
        Kernel::Fill(fill) => match fill.width {
            SlotWidth::Bytes(bytes) => bytes as isize,
            SlotWidth::Bits(_) => 1,
        },
        Kernel::Slots { .. } => 1,
    }
}

/// Calls `visit` with boxes that together are the part of `step` in `range`; elements that straddle its ends are moved
/// in part. Slots that share bytes, or are moved bit by bit, must not come here.
pub(super) fn restrict<E>(
    step: &Step<'_>,
    range: &Range<isize>,
    visit: &mut impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let (start, end) = (step.nest.dst_offset, step.nest.dst_offset + reach(step));
    if start >= range.end || end <= range.start {
        return Ok(());
    }
    if start >= range.start && end <= range.end {
        return visit(step);
    }
    let loops = step.nest.loops;
    let Some(slowest) = (0..loops.len()).max_by_key(|&i| loops[i].dst_stride) else {
        return visit_bytes(step, range, visit);
    };
    let Loop { extent, dst_stride, .. } = loops[slowest];
    // Steps of the slowest loop whose inside lies in the range whole; those beside them are cut further.
    let inside = reach(step) - dst_stride * (extent as isize - 1);
    let first = div_ceil(range.start - start, dst_stride).clamp(0, extent as isize);
    let behind = ((range.end - start - inside).div_euclid(dst_stride) + 1).clamp(first, extent as isize);
    let mut parts: Loops = SmallVec::from_slice(loops);
    if behind > first {
        parts[slowest].extent = (behind - first) as usize;
        visit(&moved(step, slowest, first, &parts))?;
    }
    let touches = |i: isize| {
        let at = start + i * dst_stride;
        at < range.end && at + inside > range.start
    };
    parts.remove(slowest);
    let before = (0..first).rev().take_while(|&i| touches(i));
    let after = (behind..extent as isize).take_while(|&i| touches(i));
    for i in before.chain(after) {
        restrict(&moved(step, slowest, i, &parts), range, visit)?;
    }
    Ok(())
}

/// The loops of a part of a box.
type Loops = SmallVec<[Loop; 10]>;

/// Visits the bytes of a single element that lie in the range: they are contiguous on both sides.
fn visit_bytes<E>(
    step: &Step<'_>,
    range: &Range<isize>,
    visit: &mut impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let Nest { src_offset, dst_offset, .. } = step.nest;
    let skip = (range.start - dst_offset).max(0);
    let bytes = ((element_bytes(step) - skip).min(range.end - dst_offset - skip)) as usize;
    let run = [Loop { extent: bytes, src_stride: 1, dst_stride: 1 }];
    let (kernel, loops) = match step.kernel {
        Kernel::Fill(fill) => {
            let value = fill.value.checked_shr(8 * skip as u32).unwrap_or(0);
            (Kernel::Fill(Fill { value, width: SlotWidth::Bytes(bytes) }), &run[..0])
        }
        _ => (Kernel::Copy, &run[..]),
    };
    let nest = Nest { src_offset: src_offset + skip, dst_offset: dst_offset + skip, loops };
    visit(&Step { kernel, nest })
}

/// Bytes from the first element's start to the last one's end; destination strides are never negative.
pub(super) fn reach(step: &Step<'_>) -> isize {
    let spans = step.nest.loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1));
    spans.sum::<isize>() + element_bytes(step)
}

/// The box of `loops` that starts at one step of a loop of `step`.
fn moved<'a>(step: &Step<'_>, position: usize, index: isize, loops: &'a [Loop]) -> Step<'a> {
    let Loop { src_stride, dst_stride, .. } = step.nest.loops[position];
    let src_offset = step.nest.src_offset + index * src_stride;
    let dst_offset = step.nest.dst_offset + index * dst_stride;
    Step { kernel: step.kernel, nest: Nest { src_offset, dst_offset, loops } }
}

fn div_ceil(a: isize, b: isize) -> isize {
    -(-a).div_euclid(b)
}

/// Ends of ranges of about `wanted` bytes that no step's element straddles: whole steps of one loop of the largest box.
///
/// Empty where the plan is better run as a whole.
pub(super) fn cuts(steps: &Steps, total: usize, wanted: usize) -> Vec<usize> {
    let Some(largest) = steps.iter().max_by_key(|step| step.points() as isize * element_bytes(step)) else {
        return Vec::new();
    };
    // The slowest loop that is not slower than a range: its steps are the grain of the cuts.
    let grains =
        largest.nest.loops.iter().map(|l| l.dst_stride.unsigned_abs()).filter(|&s| s > 0 && s <= wanted);
    let Some(grain) = grains.max() else { return Vec::new() };
    let step = wanted.div_ceil(grain) * grain;
    let origin = largest.nest.dst_offset.unsigned_abs() % grain;
    (origin + step..total).step_by(step).collect()
}

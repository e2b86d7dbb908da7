//! Cutting a plan along its destination: the part of a box that lies in a range of bytes is a few smaller boxes.

use std::ops::Range;

use relayout_kernels::{Fill, Loop, SlotWidth};
use smallvec::SmallVec;

use crate::plan::step::{Kernel, Step};

/// Bytes of the destination that an element of a step takes.
fn element_bytes(step: &Step) -> isize {
    match step.kernel {
        Kernel::Copy { .. } => 1,
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
    step: &Step,
    range: &Range<isize>,
    visit: &mut impl FnMut(&Step) -> Result<(), E>,
) -> Result<(), E> {
    let (start, end) = (step.dst_offset, step.dst_offset + reach(step));
    if start >= range.end || end <= range.start {
        return Ok(());
    }
    if start >= range.start && end <= range.end {
        return visit(step);
    }
    let Some(slowest) = (0..step.loops.len()).max_by_key(|&i| step.loops[i].dst_stride) else {
        return visit(&bytes_of_element(step, range));
    };
    let Loop { extent, dst_stride, .. } = step.loops[slowest];
    // Steps of the slowest loop whose inside lies in the range whole; those beside them are cut further.
    let inside = reach(step) - dst_stride * (extent as isize - 1);
    let first = div_ceil(range.start - start, dst_stride).clamp(0, extent as isize);
    let behind = ((range.end - start - inside).div_euclid(dst_stride) + 1).clamp(first, extent as isize);
    if behind > first {
        visit(&part(step, slowest, first, (behind - first) as usize))?;
    }
    let touches = |i: isize| {
        let at = start + i * dst_stride;
        at < range.end && at + inside > range.start
    };
    let before = (0..first).rev().take_while(|&i| touches(i));
    let after = (behind..extent as isize).take_while(|&i| touches(i));
    for i in before.chain(after) {
        restrict(&without(step, slowest, i), range, visit)?;
    }
    Ok(())
}

/// The bytes of a single element that lie in the range: its bytes are contiguous on both sides.
fn bytes_of_element(step: &Step, range: &Range<isize>) -> Step {
    let skip = (range.start - step.dst_offset).max(0);
    let bytes = (element_bytes(step) - skip).min(range.end - step.dst_offset - skip);
    let kernel = match step.kernel {
        Kernel::Fill(fill) => Kernel::Fill(Fill {
            value: fill.value.checked_shr(8 * skip as u32).unwrap_or(0),
            width: SlotWidth::Bytes(bytes as usize),
        }),
        _ => Kernel::Copy { bytes: bytes as usize },
    };
    let mut loops = SmallVec::new();
    if let Kernel::Copy { bytes } = kernel {
        loops.push(Loop { extent: bytes, src_stride: 1, dst_stride: 1 });
    }
    Step { kernel, src_offset: step.src_offset + skip, dst_offset: step.dst_offset + skip, loops }
}

/// Bytes from the first element's start to the last one's end; destination strides are never negative.
pub(super) fn reach(step: &Step) -> isize {
    let spans = step.loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1));
    spans.sum::<isize>() + element_bytes(step)
}

/// `count` steps of one loop, from `first` on.
fn part(step: &Step, position: usize, first: isize, count: usize) -> Step {
    let mut part = moved(step, position, first);
    part.loops[position].extent = count;
    part
}

/// A single step of one loop, which is then gone.
fn without(step: &Step, position: usize, index: isize) -> Step {
    let mut rest = moved(step, position, index);
    rest.loops.remove(position);
    rest
}

fn moved(step: &Step, position: usize, index: isize) -> Step {
    let Loop { src_stride, dst_stride, .. } = step.loops[position];
    let mut moved = step.clone();
    moved.src_offset += index * src_stride;
    moved.dst_offset += index * dst_stride;
    moved
}

fn div_ceil(a: isize, b: isize) -> isize {
    -(-a).div_euclid(b)
}

/// Ends of ranges of about `wanted` bytes that no step's element straddles: whole steps of one loop of the largest box.
///
/// Empty where the plan is better run as a whole.
pub(super) fn cuts(steps: &[Step], total: usize, wanted: usize) -> Vec<usize> {
    let Some(largest) = steps.iter().max_by_key(|step| step.points() as isize * element_bytes(step)) else {
        return Vec::new();
    };
    // The slowest loop that is not slower than a range: its steps are the grain of the cuts.
    let grains = largest.loops.iter().map(|l| l.dst_stride.unsigned_abs()).filter(|&s| s > 0 && s <= wanted);
    let Some(grain) = grains.max() else { return Vec::new() };
    let step = wanted.div_ceil(grain) * grain;
    let origin = largest.dst_offset.unsigned_abs() % grain;
    (origin + step..total).step_by(step).collect()
}

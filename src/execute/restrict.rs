//! The part of a box that lies in a range of the destination is a few smaller boxes.

use std::ops::Range;

use relayout_kernels::{Family, Fill, Loop, Nest, SlotWidth};
use smallvec::SmallVec;

use crate::plan::step::{Kernel, Step};

/// How wide the destination's places are that a step writes.
fn width(step: &Step<'_>) -> SlotWidth {
    match step.kernel {
        Kernel::Copy => SlotWidth::Bytes(1),
        Kernel::Move { element_bytes, .. } => SlotWidth::Bytes(element_bytes),
        Kernel::Fill(fill) => fill.width,
        Kernel::Convert { dst, .. } => dst,
    }
}

/// Units of a side that make a byte: slots where slots share bytes, else bytes.
pub(super) fn units(width: SlotWidth) -> usize {
    match width {
        SlotWidth::Bytes(_) => 1,
        SlotWidth::Bits(bits) => 8 / bits as usize,
    }
}

/// [`units`] of a step's destination.
pub(super) fn units_per_byte(step: &Step<'_>) -> usize {
    units(width(step))
}

/// Units of the destination that an element of a step takes.
pub(super) fn element_units(step: &Step<'_>) -> isize {
    match width(step) {
        SlotWidth::Bytes(bytes) => bytes as isize,
        SlotWidth::Bits(_) => 1,
    }
}

/// Units of the destination that the elements of a step take together.
pub(super) fn written(step: &Step<'_>) -> usize {
    step.points().saturating_mul(element_units(step).unsigned_abs())
}

/// Calls `visit` with boxes that together are the part of `step` in `range`, which is in the units of the step's
/// destination; elements that straddle its ends are moved in part, and those that are converted are visited one by one,
/// whole.
pub(super) fn restrict<E>(
    step: &Step<'_>,
    range: &Range<isize>,
    visit: &mut impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    restrict_rows(step, range, isize::MAX, visit)
}

/// [`restrict`] to the same range of every row of `period` units: loops that go by whole rows are not looked at, and what
/// is inside them must not reach beyond the row of `range`.
pub(super) fn restrict_rows<E>(
    step: &Step<'_>,
    range: &Range<isize>,
    period: isize,
    visit: &mut impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    let inner = reach_in_row(step, period);
    let (start, end) = (step.nest.dst_offset, step.nest.dst_offset + inner);
    if start >= range.end || end <= range.start {
        return Ok(());
    }
    if start >= range.start && end <= range.end {
        return visit(step);
    }
    let loops = step.nest.loops;
    let Some(slowest) = slowest_in_row(loops, period) else { return visit_bytes(step, range, visit) };
    let Loop { extent, dst_stride, .. } = loops[slowest];
    // Steps of the slowest loop whose inside lies in the range whole; those beside them are cut further.
    let inside = inner - dst_stride * (extent as isize - 1);
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
        restrict_rows(&moved(step, slowest, i, &parts), range, period, visit)?;
    }
    Ok(())
}

/// The slowest loop that does not go by whole rows.
fn slowest_in_row(loops: &[Loop], period: isize) -> Option<usize> {
    let inside_row = |&i: &usize| loops[i].dst_stride % period != 0;
    (0..loops.len()).filter(inside_row).max_by_key(|&i| loops[i].dst_stride)
}

/// The loops of a part of a box.
type Loops = SmallVec<[Loop; 10]>;

/// Visits the bytes of elements that lie in the range; slots that share bytes never straddle its ends.
fn visit_bytes<E>(
    step: &Step<'_>,
    range: &Range<isize>,
    visit: &mut impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    if let Kernel::Convert { .. } = step.kernel {
        return visit(step);
    }
    let Nest { src_offset, dst_offset, loops } = step.nest;
    let skip = (range.start - dst_offset).max(0);
    let bytes = ((element_units(step) - skip).min(range.end - dst_offset - skip)) as usize;
    let width = SlotWidth::Bytes(bytes);
    let mut parts: Loops = SmallVec::from_slice(loops);
    let kernel = match step.kernel {
        Kernel::Fill(fill) => {
            let value = fill.value.checked_shr(8 * skip as u32).unwrap_or(0);
            Kernel::Fill(Fill { value, width })
        }
        // The bytes of an element are contiguous on both sides.
        _ => {
            parts.push(Loop { extent: bytes, src_stride: 1, dst_stride: 1 });
            Kernel::Move { family: Family::Rows, element_bytes: 1 }
        }
    };
    let nest = Nest { src_offset: src_offset + skip, dst_offset: dst_offset + skip, loops: &parts };
    visit(&Step { kernel, nest })
}

/// Units from the first element's start to the last one's end; destination strides are never negative.
pub(super) fn reach(step: &Step<'_>) -> isize {
    reach_in_row(step, isize::MAX)
}

/// [`reach`] without the loops that go by whole rows of `period` units.
pub(super) fn reach_in_row(step: &Step<'_>, period: isize) -> isize {
    let inside_row = step.nest.loops.iter().filter(|l| l.dst_stride % period != 0);
    inside_row.map(|l| l.dst_stride * (l.extent as isize - 1)).sum::<isize>() + element_units(step)
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

//! The part of a box that lies in a range of one side is a few smaller boxes.

use std::ops::Range;

use relayout_kernels::{Family, Fill, Loop, Nest, SlotWidth};
use smallvec::SmallVec;

use crate::plan::step::{Kernel, Step};

/// How wide the destination's places are that a step writes.
fn width(kernel: &Kernel) -> SlotWidth {
    match *kernel {
        Kernel::Copy => SlotWidth::Bytes(1),
        Kernel::Move { element_bytes, .. } => SlotWidth::Bytes(element_bytes),
        Kernel::Fill(fill) => fill.width,
        Kernel::Convert { dst, .. } => dst,
    }
}

/// How wide the source's places are.
fn src_width(kernel: &Kernel) -> SlotWidth {
    match *kernel {
        Kernel::Convert { src, .. } => src,
        Kernel::Fill(_) | Kernel::Copy | Kernel::Move { .. } => width(kernel),
    }
}

/// [`units`] of a kernel's source.
pub(super) fn src_units_per_byte(kernel: &Kernel) -> usize {
    units(src_width(kernel))
}

/// The bytes of the source between the first and the last that a step reads.
pub(super) fn src_span(step: &Step<'_>) -> Option<Range<usize>> {
    let steps = step.nest.loops.iter().map(|l| (l.extent, l.src_stride));
    (!step.kernel.is_fill()).then(|| span(step.nest.src_offset, steps, src_width(&step.kernel)))
}

/// The bytes of the destination between the first and the last that a step writes, parts of bytes counted as whole.
pub(super) fn dst_span(step: &Step<'_>) -> Range<usize> {
    span(step.nest.dst_offset, step.nest.loops.iter().map(|l| (l.extent, l.dst_stride)), width(&step.kernel))
}

fn span(offset: isize, steps: impl Iterator<Item = (usize, isize)>, width: SlotWidth) -> Range<usize> {
    let (mut low, mut high) = (offset, offset + units_of(width));
    for (extent, stride) in steps {
        let reach = stride * (extent as isize - 1);
        low += reach.min(0);
        high += reach.max(0);
    }
    // A plan's places are never negative.
    low.unsigned_abs() / units(width)..high.unsigned_abs().div_ceil(units(width))
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
    units(width(&step.kernel))
}

/// Units of the destination that an element of a step takes.
pub(super) fn element_units(step: &Step<'_>) -> isize {
    units_of(width(&step.kernel))
}

/// Units of the source that an element of a step takes.
pub(super) fn src_element_units(step: &Step<'_>) -> isize {
    units_of(src_width(&step.kernel))
}

/// Units from a slot to the next.
pub(super) fn units_of(width: SlotWidth) -> isize {
    match width {
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
    let cut = Cut { range, period, element: element_units(step) };
    cut.nest(step.nest, &mut |nest, straddles| {
        let part = Step { nest, ..*step };
        if straddles { visit_bytes(&part, range, visit) } else { visit(&part) }
    })
}

/// A box with loops of its own.
pub(super) struct Part {
    pub(super) src_offset: isize,
    pub(super) dst_offset: isize,
    pub(super) loops: Loops,
}

impl Part {
    /// The same with places counted from others of either side.
    pub(super) fn nest_from(&self, src: isize, dst: isize) -> Nest<'_> {
        let (src_offset, dst_offset) = (self.src_offset - src, self.dst_offset - dst);
        Nest { src_offset, dst_offset, loops: &self.loops }
    }
}

/// The part of `step` in `range` where it is a single box of whole elements.
pub(super) fn restrict_whole(step: &Step<'_>, range: &Range<isize>) -> Option<Part> {
    let mut only = None;
    let found = restrict(step, range, &mut |part| {
        let Nest { src_offset, dst_offset, loops } = part.nest;
        // Only an element that is converted comes here where it straddles an end.
        let (start, width) = (dst_offset, element_units(part));
        let is_inside = !loops.is_empty() || range.start <= start && start + width <= range.end;
        let is_only = only.is_none() && part.kernel == step.kernel && is_inside;
        only = Some(Part { src_offset, dst_offset, loops: SmallVec::from_slice(loops) });
        if is_only { Ok(()) } else { Err(()) }
    });
    only.filter(|_| found.is_ok())
}

/// Calls `visit` with boxes that together are the elements of `step` that begin in `range` of the source, which is in the
/// units of the step's source.
pub(super) fn restrict_source<E>(
    step: &Step<'_>,
    range: &Range<isize>,
    visit: &mut impl FnMut(&Step<'_>) -> Result<(), E>,
) -> Result<(), E> {
    // Where an element begins is one unit, which straddles nothing.
    let cut = Cut { range, period: isize::MAX, element: 1 };
    let (mut mirrored, mut back) = (Loops::new(), Loops::new());
    cut.nest(mirror(step.nest, &mut mirrored), &mut |nest, _| {
        visit(&Step { nest: mirror(nest, &mut back), ..*step })
    })
}

/// The nest with its sides exchanged, walked so that the new destination only ascends.
fn mirror<'a>(nest: Nest<'_>, loops: &'a mut Loops) -> Nest<'a> {
    let Nest { mut src_offset, mut dst_offset, .. } = nest;
    loops.clear();
    for &Loop { extent, src_stride, dst_stride } in nest.loops {
        let sign = if src_stride < 0 { -1 } else { 1 };
        if sign < 0 {
            let last = extent as isize - 1;
            src_offset += src_stride * last;
            dst_offset += dst_stride * last;
        }
        loops.push(Loop { extent, src_stride: sign * dst_stride, dst_stride: sign * src_stride });
    }
    Nest { src_offset: dst_offset, dst_offset: src_offset, loops }
}

/// What of a nest is wanted: elements of so many units in a range of every row of the destination.
struct Cut<'a> {
    range: &'a Range<isize>,
    period: isize,
    element: isize,
}

impl Cut<'_> {
    /// Calls `visit` with nests that lie in the range whole, and, flagged, with those whose elements straddle its ends.
    fn nest<E>(
        &self,
        nest: Nest<'_>,
        visit: &mut impl FnMut(Nest<'_>, bool) -> Result<(), E>,
    ) -> Result<(), E> {
        let Cut { range, period, element } = *self;
        let inner = loops_reach(nest.loops, period) + element;
        let (start, end) = (nest.dst_offset, nest.dst_offset + inner);
        if start >= range.end || end <= range.start {
            return Ok(());
        }
        if start >= range.start && end <= range.end {
            return visit(nest, false);
        }
        let Some(slowest) = slowest_in_row(nest.loops, period) else { return visit(nest, true) };
        let Loop { extent, dst_stride, .. } = nest.loops[slowest];
        // Steps of the slowest loop whose inside lies in the range whole; those beside them are cut further.
        let inside = inner - dst_stride * (extent as isize - 1);
        let first = div_ceil(range.start - start, dst_stride).clamp(0, extent as isize);
        let behind = ((range.end - start - inside).div_euclid(dst_stride) + 1).clamp(first, extent as isize);
        let mut parts: Loops = SmallVec::from_slice(nest.loops);
        if behind > first {
            parts[slowest].extent = (behind - first) as usize;
            visit(moved(nest, slowest, first, &parts), false)?;
        }
        let touches = |i: isize| {
            let at = start + i * dst_stride;
            at < range.end && at + inside > range.start
        };
        parts.remove(slowest);
        let before = (0..first).rev().take_while(|&i| touches(i));
        let after = (behind..extent as isize).take_while(|&i| touches(i));
        for i in before.chain(after) {
            self.nest(moved(nest, slowest, i, &parts), visit)?;
        }
        Ok(())
    }
}

/// The slowest loop that does not go by whole rows.
fn slowest_in_row(loops: &[Loop], period: isize) -> Option<usize> {
    let inside_row = |&i: &usize| loops[i].dst_stride % period != 0;
    (0..loops.len()).filter(inside_row).max_by_key(|&i| loops[i].dst_stride)
}

/// The loops of a part of a box.
pub(super) type Loops = SmallVec<[Loop; 10]>;

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

/// Units from the first element's start to the last one's end, without the loops that go by whole rows of `period` units;
/// destination strides are never negative.
pub(super) fn reach_in_row(step: &Step<'_>, period: isize) -> isize {
    loops_reach(step.nest.loops, period) + element_units(step)
}

/// Units from the first element's start to that of the last one, without the loops that go by whole rows.
fn loops_reach(loops: &[Loop], period: isize) -> isize {
    let inside_row = loops.iter().filter(|l| l.dst_stride % period != 0);
    inside_row.map(|l| l.dst_stride * (l.extent as isize - 1)).sum()
}

/// The nest of `loops` that starts at one step of a loop of `nest`.
fn moved<'a>(nest: Nest<'_>, position: usize, index: isize, loops: &'a [Loop]) -> Nest<'a> {
    let Loop { src_stride, dst_stride, .. } = nest.loops[position];
    let src_offset = nest.src_offset + index * src_stride;
    let dst_offset = nest.dst_offset + index * dst_stride;
    Nest { src_offset, dst_offset, loops }
}

fn div_ceil(a: isize, b: isize) -> isize {
    -(-a).div_euclid(b)
}

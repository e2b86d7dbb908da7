//! Elements that are converted and moved in two steps, band by band: the one step is a row of elements that are contiguous on both
//! sides, the other moves them as a plan without conversion would, and what stands between them stays in the cache.
//!
//! Where rows of tiles are short, or ragged, what moves elements puts them together to whole lines with their padding; what converts
//! them on the way does not, and takes rows that fill a register to be fast.

use std::convert::Infallible;
use std::ops::Range;

use relayout_kernels::{Loop, Nest, SlotWidth};

use super::ExecuteError;
use super::bands::{Bands, keeps_to_lines, shares_rows};
use super::ends::{Source, Target, hull};
use super::restrict::{restrict, src_span};
use crate::plan::step::Step;
use crate::plan::{BufferLength, Options, Plan};
use crate::{ArrayShape, Request};

/// Bytes of the destination that are made together: with what stands between the steps, and as much of the source, a part of the
/// second-level cache.
const BAND: usize = 256 * 1024;

/// Rows of more elements are padded seldom enough to be converted on the way.
const SHORT_ROW: i64 = 256;

/// Boxes beside the largest count where they have more than one of so many elements.
const SHARE: usize = 64;

/// Which side is contiguous, and so the other's type is what moves.
enum Contiguous {
    Source,
    Destination,
}

/// A plan that goes by two steps.
pub(super) struct TwoSteps {
    contiguous: Contiguous,
    /// Moves elements as they are on the side that is not contiguous.
    moved: Plan,
    bands: Bands,
    /// Bytes of an element on either side.
    widths: [usize; 2],
}

impl TwoSteps {
    /// The steps of a plan, where two are better than one.
    pub(super) fn new(plan: &Plan) -> Option<TwoSteps> {
        let widths = widths(plan)?;
        let largest = moves(plan).max_by_key(Step::points)?;
        let bands = Bands::of(&largest, BAND)?;
        let contiguous = contiguous(plan, &largest, widths)?;
        let of_type =
            |shape: &ArrayShape, other: &ArrayShape| shape.clone().with_element_type(other.element_type());
        let (from, to) = match contiguous {
            Contiguous::Source => (of_type(&plan.src, &plan.dst), plan.dst.clone()),
            Contiguous::Destination => (plan.src.clone(), of_type(&plan.dst, &plan.src)),
        };
        let options = Options { level: plan.level, max_threads: Some(1), streaming: plan.streaming };
        let request = Request::new(&from, &to).with_padding(plan.padding());
        let moved = Plan::with_options(&request, options).ok()?;
        Some(TwoSteps { contiguous, moved, bands, widths })
    }
}

/// Bytes of an element on either side, where all of both arrays takes part, elements fill their slots, and none has a factor of its own,
/// which it would be found by its place for.
fn widths(plan: &Plan) -> Option<[usize; 2]> {
    let (SlotWidth::Bytes(src), SlotWidth::Bytes(dst)) = (plan.element.src, plan.element.dst) else {
        return None;
    };
    let bits = |shape: &ArrayShape| shape.element_type().bit_width().map(|bits| bits as usize);
    let fill_slots = [Some(8 * src), Some(8 * dst)] == [bits(&plan.src), bits(&plan.dst)];
    let is_dense =
        matches!((plan.src_len, plan.dst_len), (BufferLength::Exactly(_), BufferLength::Exactly(_)));
    let has_boxes = plan.tables.is_none() && plan.ef57.is_none() && plan.element.convert.is_some();
    let is_alike = plan.conversion.factors_along().is_none();
    (fill_slots && is_dense && has_boxes && is_alike && plan.is_whole()).then_some([src, dst])
}

/// The boxes that move elements.
fn moves(plan: &Plan) -> impl Iterator<Item = Step<'_>> {
    plan.steps.iter().filter(|step| !step.kernel.is_fill())
}

/// Which side holds nothing but the elements, one behind the other, where the other one's rows are such that two steps are better.
fn contiguous(plan: &Plan, largest: &Step<'_>, [src, dst]: [usize; 2]) -> Option<Contiguous> {
    let elements = moves(plan).map(|step| step.points()).fold(0, usize::saturating_add);
    if elements.saturating_mul(dst) == plan.dst_byte_size() {
        let is_alone = plan.steps.len() > 1 && !shares_rows(plan, SHARE);
        return (!keeps_to_lines(largest) && !is_alone).then_some(Contiguous::Destination);
    }
    let is_short = minor_dimension(&plan.src).is_some_and(|size| size <= SHORT_ROW);
    (is_short && elements.saturating_mul(src) == plan.src_byte_size()).then_some(Contiguous::Source)
}

/// So many bytes of a buffer that grows to them.
fn room_of(room: &mut Vec<u8>, len: usize) -> &mut [u8] {
    room.resize(len.max(room.len()), 0);
    &mut room[..len]
}

/// Elements of the fastest dimension.
fn minor_dimension(shape: &ArrayShape) -> Option<i64> {
    let fastest =
        shape.layout().minor_to_major().first().and_then(|&dimension| usize::try_from(dimension).ok())?;
    shape.dimensions().get(fastest)?.bound()
}

impl Plan {
    /// Runs what the plan writes in a part of the destination by two steps.
    pub(super) fn run_two_steps(
        &self,
        steps: &TwoSteps,
        src: Source<'_>,
        target: Target<'_>,
    ) -> Result<(), ExecuteError> {
        let Target { mut start, bytes: mut rest } = target;
        let mut room = Vec::new();
        while !rest.is_empty() {
            let (bytes, behind) = rest.split_at_mut((steps.bands.end(start) - start).min(rest.len()));
            let mut band = Target { start, bytes };
            match steps.contiguous {
                Contiguous::Source => self.convert_first(steps, src, &mut band, &mut room)?,
                Contiguous::Destination => self.convert_last(steps, src, &mut band, &mut room)?,
            }
            start += band.bytes.len();
            rest = behind;
        }
        Ok(())
    }

    /// Converts all that is read for a band, and moves it from there.
    fn convert_first(
        &self,
        steps: &TwoSteps,
        src: Source<'_>,
        band: &mut Target<'_>,
        room: &mut Vec<u8>,
    ) -> Result<(), ExecuteError> {
        let [from, to] = steps.widths;
        let part = self.read_for(band).and_then(|read| {
            let part = src.bytes.get(read.start.checked_sub(src.start)?..)?.get(..read.len())?;
            (read.len() / from * to <= 2 * BAND).then_some((read.start, part))
        });
        let Some((start, part)) = part else { return self.run_target(src, band, true) };
        let converted = room_of(room, part.len() / from * to);
        self.convert_row((start as isize, part), converted, steps.widths, false)?;
        steps.moved.run_target(Source { start: start / from * to, bytes: converted }, band, true)
    }

    /// Moves what belongs to a band, and converts it from there.
    fn convert_last(
        &self,
        steps: &TwoSteps,
        src: Source<'_>,
        band: &mut Target<'_>,
        room: &mut Vec<u8>,
    ) -> Result<(), ExecuteError> {
        let [from, to] = steps.widths;
        let places = band.places();
        if !places.start.is_multiple_of(to) || !places.end.is_multiple_of(to) {
            return self.run_target(src, band, true);
        }
        let len = places.len() / to * from;
        let mut moved = Target { start: places.start / to * from, bytes: room_of(room, len) };
        steps.moved.run_target(src, &mut moved, false)?;
        self.convert_row((0, moved.bytes), band.bytes, steps.widths, true)
    }

    /// The bytes of the source between the first and the last that is read for a part of the destination.
    fn read_for(&self, target: &Target<'_>) -> Option<Range<usize>> {
        let range = target.range(1);
        let mut read = None;
        for step in moves(self) {
            let Ok(()) = restrict::<Infallible>(&step, &range, &mut |part| {
                read = hull(read.clone(), src_span(part));
                Ok(())
            });
        }
        read
    }

    /// Converts elements that are contiguous on both sides, the first of which is at a place of the source.
    fn convert_row(
        &self,
        (first, src): (isize, &[u8]),
        dst: &mut [u8],
        [from, to]: [usize; 2],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let row = [Loop { extent: src.len() / from, src_stride: from as isize, dst_stride: to as isize }];
        let nest = Nest { src_offset: 0, dst_offset: 0, loops: &row };
        Ok(self.convert(SlotWidth::Bytes(to), (first, src), dst, nest, stream)?)
    }
}

//! Elements that are converted and moved in two steps, band by band, each by a plan of its own, with an array between them of which the
//! part that belongs to a band stays in the cache.
//!
//! Where rows are woven with padding, or lie across the source, what moves elements puts them together to whole lines with it; what
//! converts them on the way does so row by row, and takes rows that fill a register to be fast. So elements go to tiles by way of the
//! destination's order, also those that are only moved, where their rows lie across the source; and those without padding are moved
//! first and converted last.

use relayout_kernels::{Loop, Nest, SlotWidth, converts_in_one_step, narrows_first};
use smallvec::SmallVec;

use super::ExecuteError;
use super::bands::{Bands, keeps_to_lines, shares_rows};
use super::ends::{Source, Target};
use super::parts::LINE;
use super::restrict::{element_units, src_element_units, units_of, units_per_byte, written};
use crate::plan::step::{Step, bits};
use crate::plan::{BufferLength, Options, Plan};
use crate::{ArrayShape, Layout, Request};

/// Bytes of the destination that are made together: with what stands between the steps, and as much of the source, a part of the
/// second-level cache.
const BAND: usize = 256 * 1024;

/// The same where a source is read across by way of the destination's order: longer bands read longer runs of it, and what it has on
/// the lines around them stays in the second-level cache until the next band.
const BAND_ACROSS: usize = 512 * 1024;

/// Bytes of the source that such a band reads together at least: a line.
const ACROSS: usize = 64;

/// The same of a band that is moved across the source before it is converted.
const RUN_ACROSS: usize = 512;

/// Bytes of a band between the steps where slots share bytes there, for the square of their bits: a part of the second-level cache, of
/// which to transpose slots takes the more the more of them share a byte.
const PACKED_BAND: usize = 32 * 1024;

/// A part of a source is brought near as a whole where it has at most so many elements for each that is read: the next band reads others.
const MOST_BETWEEN: usize = 3;

/// Rows of the source that become fewer bytes than this are transposed a few lines at a time.
const SHORT_ACROSS: usize = 192;

/// Rows of so many slots that share bytes are converted one by one, and of half as many where they are only unpacked, to lines.
const LONG_ROW: usize = 128;

/// The same where rows start no lines.
const LONG_BESIDE_LINES: usize = 2048;

/// Fewer slots are unpacked as they are transposed.
const SHORT_RUN: usize = 16;

/// Rows of more elements, which lie apart, are padded seldom enough to be converted on the way, unless other rows of their tiles are
/// padding.
const SHORT_ROW: i64 = 256;

/// Rows of tiles of so many elements are long.
const LONG_TILE_ROW: i64 = 768;

/// Boxes beside the largest count where they hold more than one in so many elements.
const SHARE: usize = 64;

/// The same for boxes of other rows of a tile.
const SHARE_OF_ROWS: usize = 16;

/// The most rows that a source has element by element in turn.
const MOST_WAYS: usize = 8;

/// For fewer bytes than this, two plans take longer to be made than what they gain.
pub(super) const LEAST: usize = 64 * 1024;

/// What the steps of a plan are.
enum Steps {
    /// Elements are converted, or moved, to an array in the destination's order without tiles, and moved from there to tiles.
    OrdersFirst { ordered: Box<Plan>, moved: Box<Plan> },
    /// Elements are moved to an array like the destination, which has nothing but them, and then converted.
    ConvertsLast { moved: Box<Plan> },
}

/// A plan that goes by two steps.
pub(super) struct TwoSteps {
    steps: Steps,
    bands: Bands,
}

impl TwoSteps {
    /// The steps of a plan, where two are better than one.
    pub(super) fn new(plan: &Plan) -> Option<TwoSteps> {
        if !is_alike(plan) {
            return None;
        }
        let largest = plan.steps.moves().max_by_key(bytes_of)?;
        let converts = plan.element.convert.is_some();
        // Of as many elements as fit a band between the steps, too.
        let [from, to] = slot_bits(plan);
        let most = BAND / from.max(to) * to;
        if bytes_of_boxes(plan) == plan.dst_byte_size() {
            let (most, run) = match from < 8 && from < to {
                true => ((PACKED_BAND * from).saturating_mul(to), ACROSS),
                false => (most, RUN_ACROSS),
            };
            let [(src, from), (dst, to)] = [(&plan.src, plan.element.src), (&plan.dst, plan.element.dst)];
            let changes = converts && (src.element_type(), from) != (dst.element_type(), to);
            let bands = Bands::reading(&largest, most, Some(run)).filter(|_| changes)?;
            return Some(TwoSteps { steps: converts_last(plan, &largest)?, bands });
        }
        let [src, _] = widths(plan)?;
        let along = Bands::of(&largest, most);
        let step = step_of_rows(&largest)? / src;
        let (steps, bands) = match along {
            Some(_) if converts && pays_along(plan, &largest, step)? => first(plan, BAND, 0)?,
            Some(_) if step <= MOST_WAYS => return None,
            _ if pays_across(plan, &largest) => first(plan, BAND_ACROSS, ACROSS)?,
            _ => return None,
        };
        Some(TwoSteps { steps, bands })
    }
}

/// Two steps to tiles that end with padding, or are woven with it, where the rows do not lie one element after the other in the source,
/// so that they are not converted with their padding; and to those of several boxes of which some are woven with it.
fn pays_along(plan: &Plan, largest: &Step<'_>, step: usize) -> Option<bool> {
    Some(match step == 1 {
        true => plan.steps.moves().count() > 2 && weaves_padding(plan, largest),
        false => step <= MOST_WAYS && (has_short_rows(plan)? || shares_rows(plan, SHARE_OF_ROWS)),
    })
}

/// True where many elements belong to boxes of fewer rows to a word than the largest: those that are woven with padding.
fn weaves_padding(plan: &Plan, largest: &Step<'_>) -> bool {
    let ways = |step: &Step<'_>| {
        let [src, dst] = [src_element_units(step), element_units(step)];
        step.nest.loops.iter().find(|l| l.dst_stride == dst && l.src_stride != src).map_or(1, |l| l.extent)
    };
    let others = plan.steps.moves().filter(|step| ways(step) < ways(largest));
    let others = others.map(|step| bytes_of(&step)).fold(0, usize::saturating_add);
    others.saturating_mul(SHARE_OF_ROWS) > bytes_of_boxes(plan)
}

/// The same where rows lie across the source, which has no tiles itself, and become words: many of which have padding, or of several
/// boxes that read short rows of the source.
fn pays_across(plan: &Plan, largest: &Step<'_>) -> bool {
    let [from, to] = [&plan.src, &plan.dst].map(|shape| shape.layout().tiles().len());
    let all = bytes_of_boxes(plan);
    // Padding between elements, of words that have no more.
    let pads_words = |step: Step<'_>| {
        let unit = element_units(&step);
        let is_between = step.kernel.is_fill() && step.nest.loops.iter().all(|l| l.dst_stride != unit);
        is_between && bytes_of(&step).saturating_mul(SHARE_OF_ROWS) > all
    };
    let [from_bits, to_bits] = slot_bits(plan);
    let reads_short = || bytes_read_together(largest).saturating_mul(to_bits) / from_bits < SHORT_ACROSS;
    let are_several = || shares_rows(plan, SHARE_OF_ROWS) && reads_short();
    from == 0 && to > 1 && (are_several() || plan.steps.iter().any(pads_words))
}

/// Bytes of the source that lie one behind the other where a step reads them; of elements of whole bytes.
fn bytes_read_together(step: &Step<'_>) -> usize {
    let mut loops: SmallVec<[&Loop; 16]> = step.nest.loops.iter().collect();
    loops.sort_unstable_by_key(|l| l.src_stride.unsigned_abs());
    let is_next = |l: &Loop, run: usize| usize::try_from(l.src_stride) == Ok(run);
    let element = src_element_units(step).unsigned_abs();
    loops.into_iter().fold(element, |run, l| if is_next(l, run) { run * l.extent } else { run })
}

/// True where rows of the destination's order are short.
fn has_short_rows(plan: &Plan) -> Option<bool> {
    Some(fastest(plan)? <= SHORT_ROW)
}

/// Elements of a row of the destination's order.
fn fastest(plan: &Plan) -> Option<i64> {
    let first = plan.dst.layout().minor_to_major().first();
    plan.dst.dimensions().get(first.and_then(|&dimension| usize::try_from(dimension).ok())?)?.bound()
}

/// Bytes of the source from one element of a row that a step writes to the next.
fn step_of_rows(step: &Step<'_>) -> Option<usize> {
    let rows = step.nest.loops.iter().filter(|l| l.extent > MOST_WAYS);
    Some(rows.min_by_key(|l| l.dst_stride.unsigned_abs())?.src_stride.unsigned_abs())
}

/// Bytes that a plan's boxes write, but for padding.
fn bytes_of_boxes(plan: &Plan) -> usize {
    plan.steps.moves().map(|step| bytes_of(&step)).fold(0, usize::saturating_add)
}

/// Bytes that a step writes.
fn bytes_of(step: &Step<'_>) -> usize {
    written(step) / units_per_byte(step)
}

/// Two steps by way of the destination's order, in bands of at most so many bytes that read runs of at least so many of the source.
fn first(plan: &Plan, most: usize, least: usize) -> Option<(Steps, Bands)> {
    let layout = plan.dst.layout();
    let order = Layout::from_minor_to_major(layout.minor_to_major().iter().copied());
    let between =
        ArrayShape::new(plan.dst.element_type(), plan.dst.dimensions().iter().copied()).with_layout(order);
    let request = Request::new(&plan.src, &between).with_conversion(plan.conversion.clone());
    let ordered = Plan::with_options(&request, options(plan)).ok()?;
    let parts = plan.dst_byte_size().div_ceil(most).max(1);
    if run_of_band(&ordered, ordered.dst_byte_size() / parts)? < least {
        return None;
    }
    let request = Request::new(&between, &plan.dst).with_padding(plan.padding());
    let moved = Plan::with_options(&request, options(plan)).ok()?;
    let bands = Bands::of(&moved.steps.moves().max_by_key(Step::points)?, most)?;
    Some((Steps::OrdersFirst { ordered: Box::new(ordered), moved: Box::new(moved) }, bands))
}

/// Two steps to rows that start no lines, or end beside tiles, or are of three elements, unless this processor converts them as fast on their
/// way.
fn converts_last(plan: &Plan, largest: &Step<'_>) -> Option<Steps> {
    let [from, to] = slot_bits(plan);
    // Bytes that become rows of two bytes are slow to be put together in lines while they are converted.
    let are_slow = [from, to] == [8, 16];
    let is_alone = plan.steps.len() > 1 && !are_slow && !shares_rows(plan, SHARE);
    let goes_straight = converts_in_one_step();
    let pays = match from {
        ..8 => moves_packed_first(plan, largest),
        _ if (8..from).contains(&to) && goes_across(largest, ACROSS) && narrows_first() => false,
        _ if !keeps_to_lines(largest) => {
            !(goes_straight && [from, to] == [16, 32] && has_long_tile_rows(plan, largest))
        }
        _ => are_threes(largest) && from > if goes_straight { 32 } else { 8 },
    };
    // Slots wider than their values are cleared by a step of their own.
    if is_alone || !pays || plan.element.written() != plan.element.dst {
        return None;
    }
    let slots = plan.src.layout().element_size_in_bits();
    let layout = plan.dst.layout().clone().with_element_size_in_bits(slots);
    let between = plan.dst.clone().with_element_type(plan.src.element_type()).with_layout(layout);
    let moved = Plan::with_options(&Request::new(&plan.src, &between), options(plan)).ok()?;
    let fills_slots = moved.element.written() == moved.element.dst;
    fills_slots.then_some(Steps::ConvertsLast { moved: Box::new(moved) })
}

/// True where rows are put together from many pieces of tiles, which are lines of a few rows, two of them element by element in turn.
fn has_long_tile_rows(plan: &Plan, step: &Step<'_>) -> bool {
    let (src, dst, loops) = (src_element_units(step), element_units(step), step.nest.loops);
    let takes_turns = loops.iter().any(|l| l.extent == 2 && l.src_stride == src);
    let is_line = |l: &Loop| (l.extent * dst.unsigned_abs()).is_multiple_of(LINE);
    let has_lines = loops.iter().any(|l| l.src_stride == 2 * src && l.dst_stride == dst && is_line(l));
    takes_turns && has_lines && fastest(plan).is_some_and(|row| row >= LONG_TILE_ROW)
}

/// True where packed slots had better be moved before they are converted: where rows that both sides have are short, or start no
/// lines, and where what lies across the source becomes elements of four bytes and more, which are slow to be transposed on the way.
fn moves_packed_first(plan: &Plan, step: &Step<'_>) -> bool {
    let unit = [src_element_units(step), element_units(step)];
    let is_unpacked = plan.element.convert.is_some_and(|convert| convert.conversion.is_identity());
    if let Some(row) = step.nest.loops.iter().find(|l| [l.src_stride, l.dst_stride] == unit) {
        let are_tiles = [&plan.src, &plan.dst].iter().all(|shape| !shape.layout().tiles().is_empty());
        let [least, long_row] = if is_unpacked { [SHORT_RUN, LONG_ROW / 2] } else { [1, LONG_ROW] };
        let starts_lines = keeps_to_lines(step) || row.extent >= LONG_BESIDE_LINES;
        return !are_tiles && row.extent >= least && (row.extent < long_row || !starts_lines);
    }
    slot_bits(plan)[1] >= 32 && goes_across(step, LONG_ROW)
}

/// True where elements that follow one another in the destination are so many bytes, or slots, apart in the source.
fn goes_across(step: &Step<'_>, apart: usize) -> bool {
    let is_across = |l: &Loop| l.dst_stride == element_units(step) && l.src_stride.unsigned_abs() >= apart;
    step.nest.loops.iter().any(is_across)
}

/// True where rows of three elements follow one another: no word is made of them, so that they are slow to be put together while they
/// are converted.
fn are_threes(step: &Step<'_>) -> bool {
    let (element, loops) = (element_units(step), step.nest.loops);
    let follow = loops.iter().any(|l| l.dst_stride == 3 * element);
    follow && loops.iter().any(|l| l.extent == 3 && l.dst_stride == element)
}

/// Bytes of the source that lie together, and are read for so many consecutive bytes that a plan writes.
fn run_of_band(plan: &Plan, bytes: usize) -> Option<usize> {
    let step = plan.steps.moves().max_by_key(Step::points)?;
    let steps = |l: &Loop| l.extent.min(bytes / l.dst_stride.unsigned_abs().max(1));
    let loops = step.nest.loops.iter().map(|l| (l.src_stride.unsigned_abs(), steps(l)));
    let mut read: SmallVec<[(usize, usize); 16]> = loops.filter(|&(_, steps)| steps > 1).collect();
    read.sort_unstable();
    let [element, _] = widths(plan)?;
    Some(read.into_iter().fold(element, |run, (stride, steps)| match stride <= 2 * run {
        true => stride * (steps - 1) + run,
        false => run,
    }))
}

fn options(plan: &Plan) -> Options {
    Options { level: plan.level, max_threads: Some(1), streaming: plan.streaming }
}

/// True where all of both arrays takes part, and no element has a factor of its own, which it would be found by its place for.
fn is_alike(plan: &Plan) -> bool {
    let is_dense =
        matches!((plan.src_len, plan.dst_len), (BufferLength::Exactly(_), BufferLength::Exactly(_)));
    let has_boxes = plan.tables.is_none() && plan.ef57.is_none();
    is_dense && has_boxes && plan.conversion.factors_along().is_none() && plan.is_whole()
}

/// Bits of a slot on either side.
fn slot_bits(plan: &Plan) -> [usize; 2] {
    [plan.element.src, plan.element.dst].map(bits)
}

/// Bytes of an element on either side, where elements fill their slots.
fn widths(plan: &Plan) -> Option<[usize; 2]> {
    let (SlotWidth::Bytes(src), SlotWidth::Bytes(dst)) = (plan.element.src, plan.element.dst) else {
        return None;
    };
    // Slots that are said to be so wide would stay so with elements of another type.
    let bits = |shape: &ArrayShape| match shape.layout().element_size_in_bits() {
        0 => shape.element_type().bit_width().map(|bits| bits as usize),
        _ => None,
    };
    let fill_slots = [Some(8 * src), Some(8 * dst)] == [bits(&plan.src), bits(&plan.dst)];
    fill_slots.then_some([src, dst])
}

/// So many bytes of a buffer that grows to them, and no further.
fn room_of(room: &mut Vec<u8>, len: usize) -> &mut [u8] {
    if len > room.len() {
        // Nothing of what it holds is wanted any more.
        room.clear();
        room.reserve_exact(len);
    }
    room.resize(len.max(room.len()), 0);
    &mut room[..len]
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
            match &steps.steps {
                Steps::OrdersFirst { ordered, moved } => {
                    self.order_first([ordered, moved], src, &mut band, &mut room)?;
                }
                Steps::ConvertsLast { moved } => {
                    self.convert_last(moved, src, &mut band, &mut room)?;
                }
            }
            start += band.bytes.len();
            rest = behind;
        }
        Ok(())
    }

    /// Puts what belongs to a band in the destination's order, and moves it from there.
    fn order_first(
        &self,
        [ordered, moved]: [&Plan; 2],
        src: Source<'_>,
        band: &mut Target<'_>,
        room: &mut Vec<u8>,
    ) -> Result<(), ExecuteError> {
        // What lies between the first and the last element of a band may be read where a part of the source has nothing.
        let is_whole = src.start == 0 && src.bytes.len() == self.src_byte_size();
        let part = moved.read_for(band).filter(|part| is_whole && part.len() <= BAND_ACROSS);
        let Some(part) = part else { return self.run_target(src, band, true) };
        let mut between = Target { start: part.start, bytes: room_of(room, part.len()) };
        ordered.bring_source(src, &between);
        ordered.run_target(src, &mut between, false)?;
        moved.run_target(Source { start: part.start, bytes: between.bytes }, band, true)
    }

    /// Moves what belongs to a band, and converts it from there.
    fn convert_last(
        &self,
        moved: &Plan,
        src: Source<'_>,
        band: &mut Target<'_>,
        room: &mut Vec<u8>,
    ) -> Result<(), ExecuteError> {
        let [from, to] = slot_bits(self);
        let places = band.places();
        // As many slots between the steps, if these are whole bytes there, too.
        let [from_bits, to_bits] = [from, to].map(|bits| bits as u64);
        let between = |bytes: usize| {
            let bits = (bytes as u64).checked_mul(8).filter(|bits| bits.is_multiple_of(to_bits))?;
            let made = (bits / to_bits).checked_mul(from_bits).filter(|bits| bits.is_multiple_of(8))?;
            usize::try_from(made / 8).ok()
        };
        let (start, len) = match (between(places.start), between(places.len())) {
            (Some(start), Some(len)) if len <= 2 * BAND => (start, len),
            _ => return self.run_target(src, band, true),
        };
        let mut between = Target { start, bytes: room_of(room, len) };
        moved.bring_source(src, &between);
        moved.run_target(src, &mut between, false)?;
        let [src_stride, dst_stride] = [self.element.src, self.element.dst].map(units_of);
        let row = [Loop { extent: 8 * places.len() / to, src_stride, dst_stride }];
        let nest = Nest { src_offset: 0, dst_offset: 0, loops: &row };
        Ok(self.convert(self.element.dst, (0, between.bytes), band.bytes, nest, true)?)
    }
}

mod near;
#[cfg(test)]
mod tests;

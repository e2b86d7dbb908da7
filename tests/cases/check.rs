//! One case through the planner, measured by the reference and by what a plan promises.

use std::mem::MaybeUninit;

use relayout::index::Indexer;
use relayout::reference::{ReferenceError, relayout};
use relayout::{
    ArrayShape, Chunk, End, ExecuteError, Level, Padding, Plan, PlanError, PrimitiveType, Request, Slot,
    Streaming, TileDimension,
};

use super::generate::Case;
use super::placing::Placing;

/// What a destination holds before it is written.
const SENTINEL: u8 = 0xa5;
/// Bytes on either side of a buffer that nobody may touch.
const MARGIN: usize = 64;

/// How a case was planned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// Planner and reference refused it alike.
    Refused,
    /// As strided boxes.
    Boxes(usize),
    /// As offset tables.
    Tables,
}

/// Runs a case; an error names it by its problem line.
pub(crate) fn check(case: &Case) -> Result<Outcome, String> {
    run(case).map_err(|why| format!("{case}\n  {why}"))
}

fn run(case: &Case) -> Result<Outcome, String> {
    let plan = match case.builder().build() {
        Ok(plan) => plan,
        Err(PlanError::DestinationOverlaps { .. }) if case.may_overlap => return Ok(Outcome::Refused),
        Err(error) if case.request().check() == Err(error.clone()) => return Ok(Outcome::Refused),
        Err(error) => return Err(format!("refused: {error}")),
    };
    let src = source(case, plan.src_byte_size());
    let mut found = Guarded::new(&case.dst_placing, plan.dst_byte_size());
    let mut expected = found.clone();
    relayout(&case.request(), src.buffer(), expected.buffer_mut())
        .map_err(|error| format!("the reference refuses what was planned: {error}"))?;

    plan.execute(src.buffer(), found.buffer_mut()).map_err(|error| error.to_string())?;
    found.equals(&expected, "executed once")?;
    plan.execute(src.buffer(), found.buffer_mut()).map_err(|error| error.to_string())?;
    found.equals(&expected, "executed twice")?;
    every_level_agrees(case, &src, &expected)?;
    unwritten_memory_is_written(&plan, &src, expected.buffer().len())?;
    any_partition_agrees(case, &plan, &src, &expected)?;

    padding_is_as_promised(case, found.buffer())?;
    buffers_are_measured(case, &plan, &src)?;
    round_trip(case, &src, &found)?;
    let explanation = plan.explain();
    let tables = explanation.kernels.iter().any(|kernel| kernel.contains("offsets"));
    let boxes = explanation.boxes.iter().filter(|explained| !explained.is_fill).count();
    Ok(if tables { Outcome::Tables } else { Outcome::Boxes(boxes) })
}

/// Memory that held anything becomes what zeroed memory becomes.
fn unwritten_memory_is_written(plan: &Plan, src: &Guarded, len: usize) -> Result<(), String> {
    let mut expected = vec![0; len];
    plan.execute(src.buffer(), &mut expected).map_err(|error| error.to_string())?;
    for held in [SENTINEL, !SENTINEL] {
        let mut memory = vec![MaybeUninit::new(held); len];
        let written = plan.execute_uninit(src.buffer(), &mut memory).map_err(|error| error.to_string())?;
        if written != expected {
            return Err(format!("memory that held {held:#x} shows it"));
        }
    }
    Ok(())
}

/// Neither the instructions nor the kind of stores change a byte.
fn every_level_agrees(case: &Case, src: &Guarded, expected: &Guarded) -> Result<(), String> {
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for streaming in [Streaming::Never, Streaming::Always] {
            let plan = case.builder().level(level).streaming(streaming).build();
            let plan = plan.map_err(|error| format!("refused at level {level}: {error}"))?;
            let mut found = Guarded::new(&case.dst_placing, plan.dst_byte_size());
            plan.execute(src.buffer(), found.buffer_mut()).map_err(|error| error.to_string())?;
            found.equals(expected, &format!("at level {level}, streaming {streaming:?}"))?;
        }
    }
    Ok(())
}

/// Chunks of any number, in any order, with all bytes or with their own, are the whole.
fn any_partition_agrees(case: &Case, plan: &Plan, src: &Guarded, expected: &Guarded) -> Result<(), String> {
    let seed = usize::from(case.seed);
    for end in [End::Destination, End::Source] {
        for chunks in
            [plan.chunks(1 + seed % 7), plan.chunks_of_bytes(1 + plan.dst_byte_size() / (1 + seed % 5))]
        {
            let mut chunks: Vec<Chunk> = chunks.contiguous(end).collect();
            chunks_are_apart(&chunks)?;
            let first = seed % chunks.len().max(1);
            chunks.rotate_left(first);
            let mut found = Guarded::new(&case.dst_placing, plan.dst_byte_size());
            for (number, chunk) in chunks.iter().enumerate() {
                let done = if number % 2 == seed % 2 {
                    plan.execute_chunk(chunk, src.buffer(), found.buffer_mut())
                } else {
                    let dst = &mut found.buffer_mut()[chunk.dst_range()];
                    plan.execute_chunk_ranges(chunk, &src.buffer()[chunk.src_span()], dst)
                };
                done.map_err(|error| format!("{chunk:?}: {error}"))?;
            }
            found.equals(expected, &format!("in {} chunks by the {end}", chunks.len()))?;
        }
    }
    Ok(())
}

/// On the side on which chunks are contiguous, their ranges follow one another.
fn chunks_are_apart(chunks: &[Chunk]) -> Result<(), String> {
    for pair in chunks.windows(2) {
        let apart = match pair[0].contiguous() {
            End::Destination => pair[0].dst_range().end == pair[1].dst_range().start,
            // An element that straddles a cut is read whole, and spans of nothing lie anywhere.
            End::Source => {
                let (a, b) = (pair[0].src_span(), pair[1].src_span());
                a.is_empty() || b.is_empty() || (a.start <= b.start && a.end <= b.end)
            }
        };
        if !apart {
            return Err(format!("chunks meet: {pair:?}"));
        }
    }
    Ok(())
}

/// A buffer at some address, between margins.
#[derive(Clone)]
struct Guarded {
    bytes: Vec<u8>,
    start: usize,
    len: usize,
}

impl Guarded {
    fn new(placing: &Placing, reached: usize) -> Guarded {
        let len = reached + if placing.strides_bytes.is_some() { placing.slack } else { 0 };
        let start = MARGIN + placing.misalignment;
        Guarded { bytes: vec![SENTINEL; start + len + MARGIN], start, len }
    }

    fn buffer(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.len]
    }

    fn buffer_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.len]
    }

    /// Compares all bytes, those of the margins too.
    fn equals(&self, expected: &Guarded, when: &str) -> Result<(), String> {
        let pairs = self.bytes.iter().zip(&expected.bytes);
        let mut wrong = pairs.enumerate().filter(|(_, (found, expected))| found != expected);
        let Some((at, (found, expected))) = wrong.next() else { return Ok(()) };
        let (byte, more) = (at as isize - self.start as isize, wrong.count());
        Err(format!(
            "{when}: byte {byte} of {} is {found:#04x}, expected {expected:#04x}; {more} more differ",
            self.len
        ))
    }
}

/// Bytes without order: a row of numbers that do not repeat.
fn source(case: &Case, reached: usize) -> Guarded {
    let mut src = Guarded::new(&case.src_placing, reached);
    let mut state = u64::from(case.seed) + 1;
    for byte in src.buffer_mut() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *byte = (state >> 56) as u8;
    }
    src
}

fn slot_bits(request: &Request<'_>, end: End) -> usize {
    match request.slot(end).expect("the request was planned") {
        Slot::Bytes(bytes) => 8 * bytes as usize,
        Slot::Bits(bits) => bits as usize,
    }
}

/// Bit `bit` of slot `slot`, the first slot in the low bits.
fn bit_of(bytes: &[u8], slot: usize, bits: usize, bit: usize) -> bool {
    let position = slot * bits + bit;
    bytes[position / 8] >> (position % 8) & 1 == 1
}

/// Looks at every slot without an element, by the index function alone.
fn padding_is_as_promised(case: &Case, dst: &[u8]) -> Result<(), String> {
    let request = case.request();
    if case.dst_placing.strides_bytes.is_some() {
        return Ok(());
    }
    let promised = match request.padding() {
        _ if !request.covers_destination() => None,
        Padding::Zero => Some(0),
        Padding::Fill(value) => Some(value),
        _ => None,
    };
    let sentinel = u128::from_le_bytes([SENTINEL; 16]);
    let bits = slot_bits(&request, End::Destination);
    let indexer = Indexer::new(case.dst_array()).map_err(|error| error.to_string())?;
    for slot in (0..indexer.slots()).filter(|&slot| indexer.multi(slot).is_none()) {
        let holds = |bit: usize| match promised {
            Some(value) => bit < 128 && value >> bit & 1 == 1,
            // Sentinel bytes are alike, so a slot holds those that it lies over.
            None => sentinel >> ((slot as usize * bits + bit) % 8) & 1 == 1,
        };
        if !(0..bits).all(|bit| bit_of(dst, slot as usize, bits, bit) == holds(bit)) {
            return Err(format!("padding slot {slot} is not as promised"));
        }
    }
    Ok(())
}

/// A byte less is refused and nothing is written then; a byte less would not have been enough either.
fn buffers_are_measured(case: &Case, plan: &Plan, src: &Guarded) -> Result<(), String> {
    let [src_len, dst_len] = [plan.src_byte_size(), plan.dst_byte_size()];
    let mut dst = vec![SENTINEL; dst_len];
    if src_len > 0 {
        let refused = plan.execute(&src.buffer()[..src_len - 1], &mut dst);
        expect_refusal(refused, End::Source, src_len, case.src_placing.strides_bytes.is_some())?;
    }
    if dst_len > 0 {
        let refused = plan.execute(src.buffer(), &mut dst[1..]);
        expect_refusal(refused, End::Destination, dst_len, case.dst_placing.strides_bytes.is_some())?;
    }
    if dst.iter().any(|&byte| byte != SENTINEL) {
        return Err("a refused execution wrote something".to_owned());
    }
    for (end, placing, len) in
        [(End::Source, &case.src_placing, src_len), (End::Destination, &case.dst_placing, dst_len)]
    {
        if len == 0 || placing.strides_bytes.is_none() || combines(case, end) {
            continue;
        }
        let (src_len, dst_len) = if end == End::Source { (len - 1, dst_len) } else { (src_len, len - 1) };
        let by_reference = relayout(&case.request(), &src.buffer()[..src_len], &mut dst[..dst_len]);
        if !matches!(by_reference, Err(ReferenceError::BufferSize { end: short, .. }) if short == end) {
            return Err(format!("the {end} would do with less than {len} bytes: {by_reference:?}"));
        }
    }
    Ok(())
}

fn expect_refusal(
    found: Result<(), ExecuteError>,
    end: End,
    expected: usize,
    at_least: bool,
) -> Result<(), String> {
    let refusal = ExecuteError::BufferSize { end, expected, found: expected - 1, at_least };
    if found == Err(refusal) { Ok(()) } else { Err(format!("{end} short of a byte: {found:?}")) }
}

/// True where the reach of strides is a bound, not exact.
fn combines(case: &Case, end: End) -> bool {
    let shape = if end == End::Source { case.src_array() } else { case.dst_array() };
    shape.layout().tiles().iter().any(|tile| tile.dimensions().contains(&TileDimension::Combine))
}

/// Brings the destination's elements into a plain array and compares them with the source's there.
fn round_trip(case: &Case, src: &Guarded, dst: &Guarded) -> Result<(), String> {
    if case.region.is_some() || case.request().converts() {
        return Ok(());
    }
    let element_type = case.src_array().element_type();
    let sizes = case.src_array().bounds().map_err(|error| error.to_string())?;
    let plain = ArrayShape::new(element_type, sizes);
    let mut there =
        Request::new(case.src_array(), &plain).with_src_offset_bytes(case.src_placing.offset_bytes);
    if let Some(strides) = &case.src_placing.strides_bytes {
        there = there.with_src_strides_bytes(strides);
    }
    let bytes = plain.byte_size().map_err(|error| error.to_string())? as usize;
    let (mut expected, mut found) = (vec![0; bytes], vec![0; bytes]);
    relayout(&there, src.buffer(), &mut expected).map_err(|error| error.to_string())?;

    let plain = plain.into();
    let mut back = Plan::builder(&case.dst, &plain).src_offset_bytes(case.dst_placing.offset_bytes);
    if let Some(strides) = &case.dst_placing.strides_bytes {
        back = back.src_strides_bytes(strides);
    }
    let back = back.build().map_err(|error| format!("the way back is refused: {error}"))?;
    back.execute(dst.buffer(), &mut found).map_err(|error| format!("the way back: {error}"))?;
    keep_values(element_type, &mut expected);
    keep_values(element_type, &mut found);
    if found == expected { Ok(()) } else { Err("the round trip changes elements".to_owned()) }
}

/// Drops what slots wider than the type hold above the value: equal slots move it, others do not.
fn keep_values(element_type: PrimitiveType, bytes: &mut [u8]) {
    if let Some(bits @ 1..8) = element_type.bit_width() {
        bytes.iter_mut().for_each(|byte| *byte &= u8::MAX >> (8 - bits));
    }
}

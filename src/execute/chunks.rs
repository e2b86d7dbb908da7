//! A plan in parts that the caller runs: where each reads and writes, and running it.

use std::iter::FusedIterator;
use std::ops::Range;

use super::cuts::Cuts;
use super::ends::{Source, Target, hull, in_units};
use super::parts::Grid;
use super::restrict::{dst_span, restrict, restrict_source, src_span, src_units_per_byte, units_per_byte};
use super::{ExecuteError, check_length, ef57, tables};
use crate::plan::step::Step;
use crate::plan::{BufferLength, Plan};
use crate::{End, Fingerprint};

/// A part of a plan's work, which [`Plan::execute_chunk`] and [`Plan::execute_chunk_ranges`] run.
///
/// Chunks come from [`Plan::chunks`] and [`Plan::chunks_of_bytes`]. They hold numbers only, and work with every plan that
/// has the same [fingerprint](Plan::fingerprint).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Chunk {
    fingerprint: Fingerprint,
    work: Work,
    src: Range<usize>,
    dst: Range<usize>,
}

/// What a chunk does of its plan.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Work {
    /// All that lies in its range of the destination.
    Destination,
    /// The elements that begin in some bytes of the source, and the padding in some bytes of the destination.
    Source { elements: Range<usize>, padding: Range<usize> },
}

impl Chunk {
    /// The bytes of the source between the first and the last that the chunk reads; empty where it reads none.
    ///
    /// Spans of chunks that are [contiguous](Chunk::contiguous) in the source do not overlap, but for elements that strides
    /// lay over each other.
    pub fn src_span(&self) -> Range<usize> {
        self.src.clone()
    }

    /// The bytes of the destination between the first and the last that the chunk writes; empty where it writes none.
    ///
    /// Chunks that are [contiguous](Chunk::contiguous) in the destination have adjacent ranges, and write all that the
    /// plan writes there. Ranges of the others may overlap, though no two chunks write the same byte: bits of one byte,
    /// where elements share bytes, may belong to two.
    pub fn dst_range(&self) -> Range<usize> {
        self.dst.clone()
    }

    /// The side on which the chunks of a plan are consecutive ranges.
    pub fn contiguous(&self) -> End {
        match self.work {
            Work::Destination => End::Destination,
            Work::Source { .. } => End::Source,
        }
    }
}

/// The [chunks](Chunk) of a plan, made one by one.
///
/// Iterating takes time in proportion to a plan's boxes and none in proportion to its data; but where a plan has no short
/// list of boxes each chunk takes a walk over the indices, without moving anything.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    plan: &'a Plan,
    fingerprint: Fingerprint,
    most: Most,
    end: End,
    cuts: Cuts,
    next: usize,
    /// Where the padding of the next chunk begins.
    padding: usize,
    /// What the elements of the next chunk reach, where it was looked at already.
    ahead: Option<Reach>,
}

/// What limits chunks.
#[derive(Clone, Copy, Debug)]
enum Most {
    Chunks(usize),
    Bytes(usize),
}

/// Bytes that are read and written.
#[derive(Clone, Default, Debug)]
struct Reach {
    src: Option<Range<usize>>,
    dst: Option<Range<usize>>,
}

impl Reach {
    fn add(&mut self, step: &Step<'_>) {
        self.src = hull(self.src.take(), src_span(step));
        self.dst = hull(self.dst.take(), Some(dst_span(step)));
    }
}

impl<'a> Chunks<'a> {
    fn new(plan: &'a Plan, most: Most, end: End) -> Chunks<'a> {
        // Elements that no box places, and zeros that they overwrite, have an order that only the destination keeps.
        let is_apart = plan.fills_are_apart && plan.element.dst == plan.element.written();
        let by_source = plan.tables.is_none() && plan.ef57.is_none() && is_apart;
        let end = if by_source { end } else { End::Destination };
        let grid = match end {
            End::Source => Grid::of_source(plan),
            End::Destination => Grid::new(plan, plan.dst_byte_size()),
        };
        let cuts = match most {
            Most::Chunks(count) => grid.cuts(count),
            Most::Bytes(bytes) => grid.cuts_of_bytes(bytes),
        };
        // Padding without elements is written where it lies.
        if cuts.parts() == 0 && end == End::Source {
            return Chunks::new(plan, most, End::Destination);
        }
        Chunks { plan, fingerprint: plan.fingerprint(), most, end, cuts, next: 0, padding: 0, ahead: None }
    }

    /// Chunks that are consecutive ranges of the source, or of the destination as they are at first.
    ///
    /// This is a wish: where a plan has no short list of boxes ([`explain`](Plan::explain) tells), splits or joins `f64`,
    /// writes slots that are wider than their values, or fills its padding together with the elements, chunks stay ranges
    /// of the destination. Chunks start anew.
    #[must_use]
    pub fn contiguous(self, end: End) -> Chunks<'a> {
        Chunks::new(self.plan, self.most, end)
    }

    /// The chunk of a range of the destination.
    fn in_destination(&self, part: usize) -> Chunk {
        let (plan, dst) = (self.plan, self.cuts.piece(part));
        let mut reach = Reach::default();
        for step in plan.steps.iter() {
            let units = units_per_byte(&step);
            let range = in_units(&dst, units);
            let _ = restrict(&step, &range, &mut |part| {
                reach.add(part);
                Ok::<(), ExecuteError>(())
            });
        }
        let mut src = reach.src;
        if let Some(pairs) = &plan.ef57 {
            src = hull(src, ef57::src_span(pairs, plan.table_base, plan.element, &dst));
        }
        if let Some(tables) = &plan.tables {
            src = hull(src, tables::src_span(plan, tables, &dst));
        }
        self.chunk(Work::Destination, src, Some(dst))
    }

    /// The chunk of a range of the source, and of the padding before the elements of the next.
    fn in_source(&mut self, part: usize) -> Chunk {
        let elements = self.cuts.piece(part);
        let mut reach = self.ahead.take().unwrap_or_else(|| self.elements(part));
        let end = if part + 1 < self.cuts.parts() {
            let next = self.elements(part + 1);
            let end = next.dst.as_ref().map_or(0, |dst| dst.start);
            self.ahead = Some(next);
            end.max(self.padding)
        } else {
            self.plan.dst_byte_size()
        };
        let padding = std::mem::replace(&mut self.padding, end)..end;
        let _ = self.plan.each_fill(&padding, &mut |part| {
            reach.add(part);
            Ok(())
        });
        self.chunk(Work::Source { elements, padding }, reach.src, reach.dst)
    }

    /// What the elements of a range of the source reach.
    fn elements(&self, part: usize) -> Reach {
        let mut reach = Reach::default();
        let _ = self.plan.each_move(&self.cuts.piece(part), &mut |part| {
            reach.add(part);
            Ok(())
        });
        reach
    }

    fn chunk(&self, work: Work, src: Option<Range<usize>>, dst: Option<Range<usize>>) -> Chunk {
        let or_none = |range: Option<Range<usize>>| range.unwrap_or(0..0);
        Chunk { fingerprint: self.fingerprint, work, src: or_none(src), dst: or_none(dst) }
    }
}

impl Iterator for Chunks<'_> {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let part = self.next;
        if part >= self.cuts.parts() {
            return None;
        }
        self.next += 1;
        Some(match self.end {
            End::Source => self.in_source(part),
            End::Destination => self.in_destination(part),
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.cuts.parts() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Chunks<'_> {}
impl FusedIterator for Chunks<'_> {}

type Visit<'a> = dyn FnMut(&Step<'_>) -> Result<(), ExecuteError> + 'a;

impl Plan {
    /// Cuts the work into at most `count` chunks of about equal size, which may run in any order, on any threads.
    ///
    /// Each has a consecutive range of the destination; with [`Chunks::contiguous`] of the source. Cuts lie between tiles,
    /// rows, pages or lines where that is possible. Whatever the partition, the destination's bytes become what
    /// [`execute`](Plan::execute) makes them, padding included.
    ///
    /// ```
    /// use relayout::{Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("f32[64,128]".parse()?, "f32[64,128]{1,0:T(8,128)}".parse()?);
    /// let plan = Plan::new(&src, &dst)?;
    /// let chunks: Vec<_> = plan.chunks(2).collect();
    /// assert_eq!((chunks[0].dst_range(), chunks[1].dst_range()), (0..16384, 16384..32768));
    ///
    /// let numbers = vec![7; plan.src_byte_size()];
    /// let mut tiles = vec![0; plan.dst_byte_size()];
    /// for chunk in chunks.iter().rev() {
    ///     plan.execute_chunk(chunk, &numbers, &mut tiles)?;
    /// }
    /// assert_eq!(tiles, [7; 32768]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunks(&self, count: usize) -> Chunks<'_> {
        Chunks::new(self, Most::Chunks(count), End::Destination)
    }

    /// Cuts the work into chunks of at most `bytes` bytes of the destination, or of the source with
    /// [`Chunks::contiguous`]; `bytes` counts as 1 at least. See [`chunks`](Plan::chunks).
    ///
    /// On the source's side an element belongs to the chunk in which it begins, so that a span may be longer by the rest
    /// of an element.
    ///
    /// ```
    /// use relayout::{End, Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("f32[64,128]".parse()?, "bf16[64,128]{0,1}".parse()?);
    /// let plan = Plan::new(&src, &dst)?;
    /// let chunks = plan.chunks_of_bytes(4096).contiguous(End::Source);
    /// let spans: Vec<_> = chunks.map(|chunk| chunk.src_span()).collect();
    /// assert_eq!(spans.len(), 8);
    /// assert_eq!(spans[1], 4096..8192);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chunks_of_bytes(&self, bytes: usize) -> Chunks<'_> {
        Chunks::new(self, Most::Bytes(bytes), End::Destination)
    }

    /// Runs one chunk, on the caller's thread, from the whole source into the whole destination.
    ///
    /// # Errors
    /// [`ExecuteError::ForeignChunk`] where the chunk belongs to another plan, then as [`execute`](Plan::execute).
    pub fn execute_chunk(&self, chunk: &Chunk, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        self.check_chunk(chunk)?;
        check_length(End::Source, self.src_len, src.len())?;
        check_length(End::Destination, self.dst_len, dst.len())?;
        let bytes = &mut dst[chunk.dst.clone()];
        self.run_chunk(chunk, Source::whole(src), Target { start: chunk.dst.start, bytes })
    }

    /// Runs one chunk, on the caller's thread, from its [span](Chunk::src_span) of the source into its
    /// [range](Chunk::dst_range) of the destination: the rest of either need not be in memory.
    ///
    /// Of a destination range that belongs to several chunks, bytes of the others are left as they were.
    ///
    /// ```
    /// use relayout::{Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("u8[4,6]".parse()?, "u8[4,6]{0,1}".parse()?);
    /// let plan = Plan::new(&src, &dst)?;
    /// let rows: Vec<u8> = (0..24).collect();
    /// let mut columns = Vec::new();
    /// for chunk in plan.chunks_of_bytes(8) {
    ///     let mut some = vec![0; chunk.dst_range().len()];
    ///     plan.execute_chunk_ranges(&chunk, &rows[chunk.src_span()], &mut some)?;
    ///     columns.extend(some);
    /// }
    /// assert_eq!(columns[..8], [0, 6, 12, 18, 1, 7, 13, 19]);
    /// assert_eq!(columns.len(), 24);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExecuteError::ForeignChunk`] where the chunk belongs to another plan, and [`ExecuteError::BufferSize`] where a
    /// slice is not as long as its range; nothing was written then.
    pub fn execute_chunk_ranges(
        &self,
        chunk: &Chunk,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<(), ExecuteError> {
        self.check_chunk(chunk)?;
        check_length(End::Source, BufferLength::Exactly(chunk.src.len()), src.len())?;
        check_length(End::Destination, BufferLength::Exactly(chunk.dst.len()), dst.len())?;
        let src = Source { start: chunk.src.start, bytes: src };
        self.run_chunk(chunk, src, Target { start: chunk.dst.start, bytes: dst })
    }

    fn check_chunk(&self, chunk: &Chunk) -> Result<(), ExecuteError> {
        let (expected, found) = (self.fingerprint(), chunk.fingerprint);
        if found == expected { Ok(()) } else { Err(ExecuteError::ForeignChunk { expected, found }) }
    }

    fn run_chunk(&self, chunk: &Chunk, src: Source<'_>, target: Target<'_>) -> Result<(), ExecuteError> {
        let stream = self.streams();
        let Work::Source { elements, padding } = &chunk.work else {
            return self.run_range(src, target, stream);
        };
        let mut run = |part: &Step<'_>| {
            let mut nest = part.nest;
            nest.dst_offset -= target.range(units_per_byte(part)).start;
            self.run_step(&part.kernel, nest, src, target.bytes, stream)
        };
        self.each_fill(padding, &mut run)?;
        self.each_move(elements, &mut run)
    }

    /// The padding in some bytes of the destination.
    fn each_fill(&self, range: &Range<usize>, visit: &mut Visit<'_>) -> Result<(), ExecuteError> {
        let mut fills = self.steps.iter().filter(|step| step.kernel.is_fill());
        fills.try_for_each(|step| {
            restrict(&step, &in_units(range, units_per_byte(&step)), &mut |part| visit(part))
        })
    }

    /// The elements that begin in some bytes of the source.
    fn each_move(&self, range: &Range<usize>, visit: &mut Visit<'_>) -> Result<(), ExecuteError> {
        let mut moves = self.steps.moves();
        moves.try_for_each(|step| {
            restrict_source(&step, &in_units(range, src_units_per_byte(&step.kernel)), &mut |part| {
                visit(part)
            })
        })
    }
}

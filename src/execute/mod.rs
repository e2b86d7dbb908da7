//! Running a plan: boxes to kernels.

mod cut;
mod parallel;
mod typed;
mod uninit;

use relayout_kernels::{
    BufferError, Family, Mover, Nest, Offsets, OutOfBounds, Side, SlotWidth, copy_offsets, copy_slot_offsets,
    copy_slots, fill_nest, stream_threshold,
};
use thiserror::Error;

use crate::End;
use crate::plan::step::{Kernel, Step};
use crate::plan::tables::{BLOCK, Range, Room, Tables, points};
use crate::plan::{BufferLength, Plan, Streaming};

/// Why a plan could not be executed.
///
/// Buffers of a wrong length are found first, the source's before the destination's, and leave the destination as it
/// was.
///
/// ```
/// use relayout::{End, ExecuteError, Plan, Shape};
/// let (src, dst): (Shape, Shape) = ("f32[3,5]".parse()?, "f32[3,5]{0,1}".parse()?);
/// let error = Plan::new(&src, &dst)?.execute(&[0; 59], &mut [0; 60]).unwrap_err();
/// let size = ExecuteError::BufferSize { end: End::Source, expected: 60, found: 59, at_least: false };
/// assert_eq!(error, size);
/// assert_eq!(error.to_string(), "source has 59 bytes, expected 60");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ExecuteError {
    /// A buffer that does not have the bytes of its shape.
    #[error("{end} has {found} bytes, expected {}{expected}", if *.at_least { "at least " } else { "" })]
    BufferSize {
        /// Which buffer.
        end: End,
        /// Bytes that the plan wants.
        expected: usize,
        /// Bytes that came.
        found: usize,
        /// True where more would do: the buffer is strided.
        at_least: bool,
    },
    /// A slice of numbers that are not as wide as the slots of the array.
    #[error("{end} has elements of {found} bytes, expected {expected}")]
    ElementSize {
        /// Which slice.
        end: End,
        /// Bytes of a slot.
        expected: usize,
        /// Bytes of a number that came.
        found: usize,
    },
    /// There is no buffer to execute into; from [`AlignedBuffer::written_by`](crate::AlignedBuffer::written_by).
    #[error(transparent)]
    Buffer(#[from] BufferError),
    /// A kernel refused a box because it leaves a buffer. A plan never makes such a box.
    #[error("the plan reaches outside its buffers: {0}")]
    OutOfBounds(#[from] OutOfPlan),
}

/// What a kernel said of a box that leaves its buffer; part of [`ExecuteError::OutOfBounds`].
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct OutOfPlan(String);

impl From<OutOfBounds> for ExecuteError {
    fn from(error: OutOfBounds) -> ExecuteError {
        ExecuteError::OutOfBounds(OutOfPlan(error.to_string()))
    }
}

/// Below this many bytes, both buffers together, the caller's thread alone is faster than waking others.
const PARALLEL_BYTES: usize = 512 * 1024;

/// A thread's share of the destination is cut into so many ranges, so that a slow one does not hold up the end.
const RANGES_PER_THREAD: usize = 4;

/// No range is smaller than this, in bytes: handing one over costs some microseconds.
const LEAST_RANGE: usize = 256 * 1024;

impl Plan {
    /// Moves every element from `src` to `dst`.
    ///
    /// Dense buffers must have exactly [`src_byte_size`](Plan::src_byte_size) and
    /// [`dst_byte_size`](Plan::dst_byte_size) bytes, strided ones at least so many; no alignment is asked for.
    /// What the source holds between its elements, padding included, has no influence on the result; neither have
    /// threads, level or streaming.
    ///
    /// # Errors
    /// [`ExecuteError::BufferSize`] where a buffer has another size; nothing was written then.
    ///
    /// # Performance
    /// From 512 KiB on, both buffers together, the threads of the current rayon pool share the work, as far as
    /// [`max_threads`](crate::PlanBuilder::max_threads) lets them; packed slots, and pairs without a short list of boxes,
    /// stay on the caller's thread. Nothing is allocated in proportion to the data: at most some 512 KiB a thread.
    pub fn execute(&self, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        check_length(End::Source, self.src_len, src.len())?;
        check_length(End::Destination, self.dst_len, dst.len())?;
        let stream = self.streams();
        let threads = self.threads();
        if threads > 1 {
            self.execute_on(threads, src, dst, stream)?;
        } else {
            self.steps.iter().try_for_each(|step| self.run_step(&step, src, dst, stream))?;
        }
        match &self.tables {
            Some(tables) => self.run_tables(tables, src, dst),
            None => Ok(()),
        }
    }

    /// Runs the steps on several threads, where the destination can be cut.
    fn execute_on(
        &self,
        threads: usize,
        src: &[u8],
        dst: &mut [u8],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let ranges = self.ranges(threads);
        if ranges.is_empty() {
            return self.steps.iter().try_for_each(|step| self.run_step(&step, src, dst, stream));
        }
        let parts = split(dst, &ranges);
        parallel::for_each(parts, threads, |(start, part)| self.run_range(src, start, part, stream))
    }

    /// True where whole lines go past the cache.
    fn streams(&self) -> bool {
        match self.streaming {
            Streaming::Always => true,
            Streaming::Never => false,
            Streaming::Auto => self.src_byte_size() + self.dst_byte_size() > stream_threshold(),
        }
    }

    /// Threads that are worth using.
    fn threads(&self) -> usize {
        if self.max_threads == Some(1) || self.src_byte_size() + self.dst_byte_size() < PARALLEL_BYTES {
            return 1;
        }
        self.max_threads.unwrap_or(usize::MAX).min(parallel::threads())
    }

    /// Where the destination is cut for several threads; empty where it is not.
    fn ranges(&self, threads: usize) -> Vec<usize> {
        // Slots that share bytes, or are moved bit by bit, cannot be cut at any byte.
        if self.tables.is_some() || self.element.bytes().is_none() {
            return Vec::new();
        }
        let total = self.dst_byte_size();
        let wanted = total.div_ceil(threads * RANGES_PER_THREAD).max(LEAST_RANGE);
        cut::cuts(&self.steps, total, wanted)
    }

    /// Runs what the steps do in one range of the destination.
    fn run_range(&self, src: &[u8], start: usize, dst: &mut [u8], stream: bool) -> Result<(), ExecuteError> {
        let origin = start as isize;
        let range = origin..origin + dst.len() as isize;
        for step in self.steps.iter() {
            cut::restrict(&step, &range, &mut |part| {
                let nest = Nest { dst_offset: part.nest.dst_offset - origin, ..part.nest };
                self.run_step(&Step { nest, ..*part }, src, dst, stream)
            })?;
        }
        Ok(())
    }

    fn run_step(
        &self,
        step: &Step<'_>,
        src: &[u8],
        dst: &mut [u8],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let mover = |family, element_bytes| Mover { family, element_bytes, level: self.level, stream };
        match step.kernel {
            Kernel::Fill(fill) => fill_nest(dst, step.nest, fill)?,
            Kernel::Slots { value_bits } => {
                copy_slots(src, self.element.src, dst, self.element.dst, step.nest, value_bits)?;
            }
            Kernel::Copy if !stream => copy(src, dst, step)?,
            Kernel::Copy => mover(Family::Rows, 1).run(src, dst, step.nest)?,
            Kernel::Move { family, element_bytes } => {
                mover(family, element_bytes).run(src, dst, step.nest)?
            }
        }
        Ok(())
    }

    /// Every block of outer points with every block of inner points.
    fn run_tables(&self, tables: &Tables, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        let (mut outer, mut inner) = (Room::default(), Room::default());
        let whole_inner = points(&tables.inner) <= BLOCK;
        for (position, (first, count)) in blocks(&tables.outer).enumerate() {
            tables.evaluate(&tables.outer, first, count, &mut outer);
            for (first, count) in blocks(&tables.inner) {
                if !whole_inner || position == 0 {
                    tables.evaluate(&tables.inner, first, count, &mut inner);
                }
                self.run_block(&outer, &inner, src, dst)?;
            }
        }
        Ok(())
    }

    fn run_block(&self, outer: &Room, inner: &Room, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        let [src_base, dst_base] = self.table_base;
        let from = Offsets { base: src_base, outer: &outer.src, inner: &inner.src };
        let to = Offsets { base: dst_base, outer: &outer.dst, inner: &inner.dst };
        match (self.element.bytes(), self.element.dst) {
            (Some(bytes), SlotWidth::Bytes(slot)) => copy_offsets(src, dst, from, to, bytes, slot)?,
            _ => {
                let bits = u32::try_from(self.element.bits).unwrap_or(8);
                copy_slot_offsets((src, self.element.src), (dst, self.element.dst), from, to, bits)?;
            }
        }
        Ok(())
    }
}

/// One run of bytes, as far as possible without any of the kernels' cost.
fn copy(src: &[u8], dst: &mut [u8], step: &Step<'_>) -> Result<(), OutOfBounds> {
    let (nest, bytes) = (step.nest, step.points());
    let range = |offset: isize| {
        let start = usize::try_from(offset).ok()?;
        Some(start..start.checked_add(bytes)?)
    };
    let outside = |side, len| OutOfBounds { side, len };
    let from = range(nest.src_offset).and_then(|range| src.get(range));
    let from = from.ok_or_else(|| outside(Side::Source, src.len()))?;
    let len = dst.len();
    let to = range(nest.dst_offset).and_then(|range| dst.get_mut(range));
    to.ok_or_else(|| outside(Side::Destination, len))?.copy_from_slice(from);
    Ok(())
}

/// The parts of the destination between the cuts, each with its first byte's place.
fn split<'a>(mut dst: &'a mut [u8], cuts: &[usize]) -> Vec<(usize, &'a mut [u8])> {
    let mut parts = Vec::with_capacity(cuts.len() + 1);
    let mut start = 0;
    for &cut in cuts {
        let (part, rest) = dst.split_at_mut(cut - start);
        parts.push((start, part));
        (dst, start) = (rest, cut);
    }
    parts.push((start, dst));
    parts
}

/// The points of a set of dimensions in blocks: first point and count.
fn blocks(set: &[Range]) -> impl Iterator<Item = (i64, i64)> {
    let total = points(set);
    (0..total).step_by(BLOCK as usize).map(move |first| (first, BLOCK.min(total - first)))
}

fn check_length(end: End, wanted: BufferLength, found: usize) -> Result<(), ExecuteError> {
    let (fits, at_least) = match wanted {
        BufferLength::Exactly(bytes) => (found == bytes, false),
        BufferLength::AtLeast(bytes) => (found >= bytes, true),
    };
    if fits {
        return Ok(());
    }
    Err(ExecuteError::BufferSize { end, expected: wanted.bytes(), found, at_least })
}

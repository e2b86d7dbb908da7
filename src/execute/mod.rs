//! Running a plan: boxes to kernels.

mod aside;
mod bands;
mod chunks;
mod cuts;
mod ef57;
mod ends;
mod padded;
mod parallel;
mod parts;
mod restrict;
mod run;
mod scheduler;
mod tables;
mod two_steps;
mod typed;
mod uninit;

use relayout_kernels::{BufferError, OutOfBounds, stream_threshold};
use thiserror::Error;

pub use chunks::{Chunk, Chunks};
pub use scheduler::Scheduler;

use crate::plan::{BufferLength, Plan, Streaming};
use crate::{End, Fingerprint};

/// Steps that are looked through, and begun anew, for every part of a destination: of more, that takes longer than what it saves.
const FEW_STEPS: usize = 32;

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
    /// A chunk of another plan.
    #[error("the chunk belongs to the plan {found}, expected {expected}")]
    ForeignChunk {
        /// The fingerprint of the plan that was to run it.
        expected: Fingerprint,
        /// The fingerprint of the plan that made it.
        found: Fingerprint,
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
    /// [`max_threads`](crate::PlanBuilder::max_threads) lets them. Nothing is allocated in proportion to the data: less
    /// than 1 MiB a thread.
    /// A destination at the start of a cache line, as an [`AlignedBuffer`](crate::AlignedBuffer) is, is written fastest.
    pub fn execute(&self, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        self.execute_with(&parallel::CurrentPool, src, dst)
    }

    /// True where whole lines go past the cache.
    fn streams(&self) -> bool {
        match self.streaming {
            Streaming::Always => true,
            Streaming::Never => false,
            Streaming::Auto => self.src_byte_size() + self.dst_byte_size() > stream_threshold(),
        }
    }
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

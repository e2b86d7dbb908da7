//! Running a plan: boxes to kernels.

use relayout_kernels::{
    Offsets, OutOfBounds, SlotWidth, copy_nest, copy_offsets, copy_slot_offsets, copy_slots, fill_nest,
};
use thiserror::Error;

use crate::End;
use crate::plan::step::{Kernel, Step};
use crate::plan::tables::{BLOCK, Range, Room, Tables, points};
use crate::plan::{BufferLength, Plan};

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
    /// What the source holds between its elements, padding included, has no influence on the result.
    ///
    /// # Errors
    /// [`ExecuteError::BufferSize`] where a buffer has another size; nothing was written then.
    ///
    /// # Performance
    /// Runs on the caller's thread, and allocates nothing in proportion to the data: nothing for boxes, and two tables
    /// of at most 4,096 indices for both sides where a pair has no short list of boxes.
    pub fn execute(&self, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        check_length(End::Source, self.src_len, src.len())?;
        check_length(End::Destination, self.dst_len, dst.len())?;
        for step in &self.steps {
            self.run_step(step, src, dst)?;
        }
        match &self.tables {
            Some(tables) => self.run_tables(tables, src, dst),
            None => Ok(()),
        }
    }

    fn run_step(&self, step: &Step, src: &[u8], dst: &mut [u8]) -> Result<(), ExecuteError> {
        let kernel = step.kernel;
        match kernel {
            Kernel::Fill(fill) => fill_nest(dst, step.nest(), fill)?,
            Kernel::Slots { value_bits } => {
                copy_slots(src, self.element.src, dst, self.element.dst, step.nest(), value_bits)?;
            }
            Kernel::Copy { .. } | Kernel::Rows { .. } | Kernel::Blocked { .. } => {
                copy_nest(src, dst, step.nest(), kernel.element_bytes())?;
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

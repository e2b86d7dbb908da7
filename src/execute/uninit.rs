//! Destinations that nobody has written yet.

use std::mem::MaybeUninit;

use relayout_kernels::{any_bytes, zero_bytes};

use super::{ExecuteError, check_length};
use crate::{End, Plan};

impl Plan {
    /// As [`execute`](Plan::execute), into memory that nobody has written yet; returns it as bytes, each of them written.
    ///
    /// What a relayout leaves as it was becomes zero here: padding that is left alone, what lies outside a region, and bytes
    /// that strides step over.
    ///
    /// ```
    /// use relayout::{Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("u8[3]".parse()?, "u8[3]{0:T(4)}".parse()?);
    /// let plan = Plan::new(&src, &dst)?;
    /// let mut tile = Vec::with_capacity(plan.dst_byte_size());
    /// assert_eq!(plan.execute_uninit(&[1, 2, 3], &mut tile.spare_capacity_mut()[..4])?, [1, 2, 3, 0]);
    /// # tile.push(0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Into a new buffer on whole cache lines:
    ///
    /// ```
    /// # use relayout::{AlignedBuffer, Plan, Shape};
    /// # let (src, dst): (Shape, Shape) = ("u8[3]".parse()?, "u8[3]{0:T(4)}".parse()?);
    /// # let plan = Plan::new(&src, &dst)?;
    /// let bytes = plan.dst_byte_size();
    /// let tile = AlignedBuffer::written_by(bytes, |memory| plan.execute_uninit(&[1, 2, 3], memory))?;
    /// assert_eq!(tile[..], [1, 2, 3, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`execute`](Plan::execute).
    ///
    /// # Performance
    /// Where the relayout writes every byte, as it does into a whole dense array unless padding is left alone, nothing is
    /// written twice. Else zeros are written first.
    pub fn execute_uninit<'a>(
        &self,
        src: &[u8],
        dst: &'a mut [MaybeUninit<u8>],
    ) -> Result<&'a mut [u8], ExecuteError> {
        // Before zeros are written: an error leaves the destination as it was.
        check_length(End::Source, self.src_len, src.len())?;
        check_length(End::Destination, self.dst_len, dst.len())?;
        let bytes = if self.writes_every_byte { any_bytes(dst) } else { zero_bytes(dst) };
        self.execute(src, bytes)?;
        Ok(bytes)
    }
}

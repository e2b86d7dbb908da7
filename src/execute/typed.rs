//! Buffers of numbers in place of bytes.

use bytemuck::Pod;
use relayout_kernels::SlotWidth;

use super::ExecuteError;
use crate::{End, Plan};

impl Plan {
    /// As [`execute`](Plan::execute), from and to slices of numbers.
    ///
    /// A number must be as wide as a slot of its side: 4 bytes for `f32`, one byte where slots are packed. Its kind is not
    /// looked at. With the feature `half` the library's own `half::bf16` and `half::f16` are such numbers.
    ///
    /// ```
    /// use relayout::{End, ExecuteError, Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("f32[2,3]".parse()?, "f32[2,3]{0,1}".parse()?);
    /// let plan = Plan::new(&src, &dst)?;
    /// let rows = [[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let mut columns = [0f32; 6];
    /// plan.execute_typed(rows.as_flattened(), &mut columns)?;
    /// assert_eq!(columns, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    ///
    /// // Elements that change their type have numbers of another one on either side.
    /// let (src, dst): (Shape, Shape) = ("s32[2]".parse()?, "f64[2]".parse()?);
    /// let mut floats = [0f64; 2];
    /// Plan::new(&src, &dst)?.execute_typed(&[-1i32, 7], &mut floats)?;
    /// assert_eq!(floats, [-1.0, 7.0]);
    ///
    /// let error = plan.execute_typed(rows.as_flattened(), &mut [0f64; 3]).unwrap_err();
    /// assert_eq!(error, ExecuteError::ElementSize { end: End::Destination, expected: 4, found: 8 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExecuteError::ElementSize`] where numbers have another width, the source's first; and as
    /// [`execute`](Plan::execute), whose sizes are in bytes.
    pub fn execute_typed<S: Pod, D: Pod>(&self, src: &[S], dst: &mut [D]) -> Result<(), ExecuteError> {
        check_element::<S>(End::Source, self.element.src)?;
        check_element::<D>(End::Destination, self.element.dst)?;
        self.execute(bytemuck::cast_slice(src), bytemuck::cast_slice_mut(dst))
    }
}

fn check_element<T>(end: End, slot: SlotWidth) -> Result<(), ExecuteError> {
    let expected = match slot {
        SlotWidth::Bytes(bytes) => bytes,
        SlotWidth::Bits(_) => 1,
    };
    let found = size_of::<T>();
    if found == expected { Ok(()) } else { Err(ExecuteError::ElementSize { end, expected, found }) }
}

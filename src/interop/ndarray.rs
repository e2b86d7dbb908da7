//! Views of the crate `ndarray`.

use ndarray::{ArrayRef, Dimension};

use super::{InteropError, Strided};
use crate::Element;

impl Strided {
    /// The array that a view of `ndarray` shows, in the buffer that starts at its lowest element.
    ///
    /// Views without gaps have all their memory at hand, however they are permuted or inverted:
    ///
    /// ```
    /// use ndarray::{Array2, array, s};
    /// use relayout::interop::Strided;
    /// use relayout::{Plan, Shape};
    /// let matrix: Array2<f32> = array![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
    /// let view = matrix.slice(s![..;-1, ..]).reversed_axes();
    /// let strided = Strided::from_view(&view)?;
    /// let dense: Shape = "f32[3,2]".parse()?;
    /// let plan = Plan::builder(strided.shape(), &dense).src_strided(&strided).build()?;
    ///
    /// let memory = view.as_slice_memory_order().expect("no gaps");
    /// let mut rows = Array2::<f32>::zeros((3, 2));
    /// plan.execute_typed(memory, rows.as_slice_mut().expect("row major"))?;
    /// assert_eq!(rows, view);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InteropError::Overflow`].
    pub fn from_view<A: Element, D: Dimension>(view: &ArrayRef<A, D>) -> Result<Strided, InteropError> {
        let overflow = || InteropError::Overflow { what: "a size or stride of the view" };
        let sizes = view.shape().iter().map(|&size| i64::try_from(size).ok());
        let sizes = sizes.collect::<Option<Vec<i64>>>().ok_or_else(overflow)?;
        let in_bytes = |stride: &isize| (*stride as i64).checked_mul(size_of::<A>() as i64);
        let strides = view.strides().iter().map(in_bytes).collect::<Option<Vec<i64>>>();
        Strided::from_numpy(A::PRIMITIVE_TYPE, &sizes, &strides.ok_or_else(overflow)?)
    }

    /// The array that a view shows, in the buffer that it is a view of: for views with gaps, whose memory no slice of their
    /// own can show. A destination is described before it is borrowed to be written.
    ///
    /// ```
    /// use ndarray::{Array2, s};
    /// use relayout::interop::Strided;
    /// use relayout::{Plan, Shape};
    /// let mut matrix: Array2<u16> = Array2::zeros((3, 4));
    /// let memory = matrix.as_slice().expect("row major");
    /// let every_other = Strided::from_view_in(&matrix.slice(s![1.., ..;2]), memory)?;
    ///
    /// let dense: Shape = "u16[2,2]".parse()?;
    /// let plan = Plan::builder(&dense, every_other.shape()).dst_strided(&every_other).build()?;
    /// plan.execute(&[1, 0, 2, 0, 3, 0, 4, 0], bytemuck::cast_slice_mut(matrix.as_slice_mut().expect("row major")))?;
    /// assert_eq!(matrix.as_slice(), Some(&[0, 0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0][..]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InteropError::OutsideBuffer`] where the view is not one of `buffer`, and [`InteropError::Overflow`].
    pub fn from_view_in<A: Element, D: Dimension>(
        view: &ArrayRef<A, D>,
        buffer: &[A],
    ) -> Result<Strided, InteropError> {
        let strided = Strided::from_view(view)?;
        if view.is_empty() {
            return Ok(strided);
        }
        let bytes = size_of_val(buffer);
        let first = view.as_ptr().addr() as i128 - buffer.as_ptr().addr() as i128;
        let low = first - i128::from(strided.offset_bytes());
        let high = low + i128::from(strided.span_bytes());
        if low < 0 || high > bytes as i128 {
            return Err(InteropError::OutsideBuffer { low, high, bytes });
        }
        strided.at_offset_bytes(first as i64) // inside the buffer
    }
}

//! An array in somebody else's buffer.

use super::InteropError;
use crate::{ArrayShape, PrimitiveType, Shape};

/// An array in somebody else's buffer: its shape, its byte strides, and the byte where its first element lies.
///
/// [`PlanBuilder::src_strided`](crate::PlanBuilder::src_strided) and
/// [`dst_strided`](crate::PlanBuilder::dst_strided) take it.
///
/// ```
/// use relayout::interop::Strided;
/// use relayout::{Plan, PrimitiveType};
/// // NumPy: np.arange(6, dtype=np.uint8).reshape(2, 3)[::-1, ::2]
/// let view = Strided::from_numpy(PrimitiveType::U8, &[2, 2], &[-3, 2])?;
/// assert_eq!((view.offset_bytes(), view.span_bytes()), (3, 6)); // element (0, 0) lies three bytes behind the lowest
///
/// let dense = view.shape().clone();
/// let mut rows = [0; 4];
/// Plan::builder(view.shape(), &dense).src_strided(&view).build()?.execute(&[0, 1, 2, 3, 4, 5], &mut rows)?;
/// assert_eq!(rows, [3, 5, 0, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Strided {
    shape: Shape,
    strides_bytes: Option<Vec<i64>>,
    offset_bytes: i64,
    span_bytes: i64,
}

impl Strided {
    /// An array as NumPy states it: sizes, and strides in bytes of any sign, also zero.
    ///
    /// NumPy gives the address of element (0, …, 0); the buffer here starts at the lowest byte that the array reaches, so
    /// [`offset_bytes`](Strided::offset_bytes) is not zero where strides are negative. An array without elements
    /// reaches nothing.
    ///
    /// # Errors
    /// [`InteropError`] for lists of different lengths, negative sizes, spans beyond 64 bits, and types that are no
    /// elements.
    pub fn from_numpy(
        element_type: PrimitiveType,
        shape: &[i64],
        strides_bytes: &[i64],
    ) -> Result<Strided, InteropError> {
        let (low, high) = reach(element_type, shape, strides_bytes)?;
        let span = "the span of the array";
        Ok(Strided {
            shape: ArrayShape::new(element_type, shape.iter().copied()).into(),
            strides_bytes: Some(strides_bytes.to_vec()),
            offset_bytes: low.checked_neg().ok_or(InteropError::Overflow { what: span })?,
            span_bytes: high.checked_sub(low).ok_or(InteropError::Overflow { what: span })?,
        })
    }

    /// A dense array at the start of its buffer.
    pub(super) fn dense(shape: ArrayShape) -> Result<Strided, InteropError> {
        let span_bytes = shape.byte_size()?;
        Ok(Strided { shape: shape.into(), strides_bytes: None, offset_bytes: 0, span_bytes })
    }

    /// The same array in a buffer that starts elsewhere: element (0, …, 0) lies at byte `offset`.
    ///
    /// A plan refuses it where that makes the array reach below the buffer.
    ///
    /// # Errors
    /// [`InteropError::StridesOfPacked`] where elements share bytes, and the offset is not zero.
    pub fn at_offset_bytes(mut self, offset: i64) -> Result<Strided, InteropError> {
        if self.strides_bytes.is_none() && offset != 0 {
            return Err(InteropError::StridesOfPacked { element_type: self.shape.primitive_type() });
        }
        self.offset_bytes = offset;
        Ok(self)
    }

    /// The shape, always an array in the default layout.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Distances in bytes along each dimension; none where elements share bytes, which are dense then.
    pub fn strides_bytes(&self) -> Option<&[i64]> {
        self.strides_bytes.as_deref()
    }

    /// The byte of the buffer where element (0, …, 0) lies.
    pub fn offset_bytes(&self) -> i64 {
        self.offset_bytes
    }

    /// Bytes from the lowest that the array reaches to the highest.
    pub fn span_bytes(&self) -> i64 {
        self.span_bytes
    }
}

impl ArrayShape {
    /// The byte strides of this array, as NumPy states them: distances along each logical dimension.
    ///
    /// ```
    /// use relayout::ArrayShape;
    /// let columns: ArrayShape = "f32[2,3]{0,1}".parse()?;
    /// assert_eq!(columns.strides_bytes()?, [4, 8]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InteropError::NotExpressible`] for tiles and for slots that share bytes, [`InteropError::Layout`] where the shape
    /// is invalid or has no size.
    pub fn strides_bytes(&self) -> Result<Vec<i64>, InteropError> {
        let layout = self.layout();
        self.byte_size()?;
        let not = |field| InteropError::NotExpressible { field, target: "byte strides" };
        if !layout.tiles().is_empty() {
            return Err(not("tiles"));
        }
        let mut stride = match layout.element_size_in_bits() {
            0 => self.element_type().byte_width().map_or(0, i64::from),
            bits if bits % 8 == 0 => bits / 8,
            _ => return Err(not("element_size_in_bits")),
        };
        let (bounds, padded) = (self.bounds()?, layout.padded_dimensions());
        let mut strides = vec![0; self.rank()];
        for &dimension in layout.minor_to_major() {
            let dimension = dimension as usize; // the shape is valid
            strides[dimension] = stride;
            let size = *padded.get(dimension).unwrap_or(&bounds[dimension]);
            // As NumPy has it: an empty dimension leaves the strides of the others as one of 1 would.
            let overflow = InteropError::Overflow { what: "a stride" };
            stride = stride.checked_mul(size.max(1)).ok_or(overflow)?;
        }
        Ok(strides)
    }
}

/// The lowest byte that the array reaches, and the one behind the highest, counted from element (0, …, 0).
fn reach(element_type: PrimitiveType, shape: &[i64], strides: &[i64]) -> Result<(i64, i64), InteropError> {
    let element = element_type.byte_width().ok_or(InteropError::NoElement { element_type })?;
    if shape.len() != strides.len() {
        return Err(InteropError::Length { what: "strides", expected: shape.len(), found: strides.len() });
    }
    if let Some(dimension) = shape.iter().position(|&size| size < 0) {
        return Err(InteropError::NegativeSize { dimension, size: shape[dimension] });
    }
    let (mut low, mut high) = (0i64, i64::from(element));
    if shape.contains(&0) {
        return Ok((0, 0));
    }
    let overflow = || InteropError::Overflow { what: "the span of the array" };
    for (&size, &stride) in shape.iter().zip(strides) {
        let span = stride.checked_mul(size - 1).ok_or_else(overflow)?;
        low = low.checked_add(span.min(0)).ok_or_else(overflow)?;
        high = high.checked_add(span.max(0)).ok_or_else(overflow)?;
    }
    Ok((low, high))
}

//! XLA's `IndexUtil`, which knows the order of the dimensions and nothing of tiles.

use std::cmp::Ordering;

use super::{check_index, checked_product, major_to_minor, sizes_in_physical_order, valid_bounds};
use crate::{ArrayShape, LayoutError, PrimitiveType};

/// Elements between neighbours along each logical dimension, tiles ignored.
pub(crate) fn untiled_strides(shape: &ArrayShape) -> Result<Vec<i64>, LayoutError> {
    let bounds = valid_bounds(shape)?;
    let sizes = sizes_in_physical_order(shape, &bounds);
    let mut strides = vec![1; bounds.len()];
    for (position, dimension) in major_to_minor(shape).enumerate() {
        strides[dimension] = checked_product("a dimension's stride", &sizes[position + 1..])?;
    }
    Ok(strides)
}

/// Elements between neighbours along logical dimension `dimension`, which may be negative as in Python; tiles are
/// ignored.
///
/// # Errors
/// As [`linear_index_to_multidimensional_index`], and [`LayoutError::NoSuchDimension`].
pub fn dimension_stride(shape: &ArrayShape, dimension: i64) -> Result<i64, LayoutError> {
    Ok(untiled_strides(shape)?[shape.dimension_number(dimension)?])
}

/// The linear index of an element in the order of the dimensions, tiles ignored. XLA's function checks nothing; this
/// one does.
///
/// ```
/// use relayout::{ArrayShape, Layout, PrimitiveType, index};
/// let shape = ArrayShape::new(PrimitiveType::F32, [2, 3]).with_layout(Layout::column_major(2));
/// assert_eq!(index::multidimensional_index_to_linear_index(&shape, &[1, 2])?, 5);
/// assert_eq!(index::linear_index_to_multidimensional_index(&shape, 3)?, [1, 1]);
/// # Ok::<(), relayout::LayoutError>(())
/// ```
///
/// # Errors
/// What makes the shape invalid or unbounded, [`LayoutError::IndexLength`], and [`LayoutError::IndexOutOfBounds`],
/// also for negative entries.
pub fn multidimensional_index_to_linear_index(shape: &ArrayShape, index: &[i64]) -> Result<i64, LayoutError> {
    check_index(&valid_bounds(shape)?, index)?;
    let strides = untiled_strides(shape)?;
    let terms = index.iter().zip(&strides).map(|(entry, stride)| entry.checked_mul(*stride));
    let sum = terms.into_iter().try_fold(0i64, |sum, term| sum.checked_add(term?));
    sum.ok_or(LayoutError::Overflow { what: "the linear index" })
}

/// The element at a linear index in the order of the dimensions, tiles ignored.
///
/// # Errors
/// What makes the shape invalid or unbounded, [`LayoutError::LinearIndexOutOfBounds`], and
/// [`LayoutError::IndexOutOfBounds`] where the place is legacy padding.
pub fn linear_index_to_multidimensional_index(
    shape: &ArrayShape,
    linear: i64,
) -> Result<Vec<i64>, LayoutError> {
    let bounds = valid_bounds(shape)?;
    let sizes = sizes_in_physical_order(shape, &bounds);
    let slots = checked_product("the size", &sizes)?;
    if !(0..slots).contains(&linear) {
        return Err(LayoutError::LinearIndexOutOfBounds { linear, slots });
    }
    let mut index = vec![0; bounds.len()];
    for (dimension, entry) in major_to_minor(shape).zip(super::row_major_index(&sizes, linear)) {
        index[dimension] = entry;
    }
    check_index(&bounds, &index)?;
    Ok(index)
}

/// True where `index` names an element: one entry per dimension, each from 0 to below the size. XLA's function lets
/// negative entries pass.
///
/// # Errors
/// [`LayoutError::UnboundedDimension`].
pub fn index_in_bounds(shape: &ArrayShape, index: &[i64]) -> Result<bool, LayoutError> {
    Ok(check_index(&shape.bounds()?, index).is_ok())
}

/// Steps to the next index in logical row-major order (the last dimension fastest), whatever the layout.
///
/// Returns false, and leaves `index` alone, where there is none.
///
/// ```
/// use relayout::{ArrayShape, PrimitiveType, index};
/// let shape = ArrayShape::new(PrimitiveType::F32, [2, 3]);
/// let mut index = [0, 2];
/// assert!(index::bump_indices(&shape, &mut index)?);
/// assert_eq!(index, [1, 0]);
/// # Ok::<(), relayout::LayoutError>(())
/// ```
///
/// # Errors
/// [`LayoutError::UnboundedDimension`], [`LayoutError::IndexLength`] and [`LayoutError::IndexOutOfBounds`].
pub fn bump_indices(shape: &ArrayShape, index: &mut [i64]) -> Result<bool, LayoutError> {
    let bounds = shape.bounds()?;
    check_index(&bounds, index)?;
    Ok(bump(&bounds, index))
}

/// [`bump_indices`] of an index that is known to lie within `bounds`.
pub(crate) fn bump(bounds: &[i64], index: &mut [i64]) -> bool {
    let last_with_room = (0..index.len()).rev().find(|&dimension| index[dimension] + 1 < bounds[dimension]);
    let Some(dimension) = last_with_room else { return false };
    index[dimension] += 1;
    index[dimension + 1..].fill(0);
    true
}

/// Compares two multi-indices in logical row-major order. XLA's function says -1 for [`Ordering::Less`].
pub fn compare_indices(left: &[i64], right: &[i64]) -> Ordering {
    left.cmp(right)
}

/// True where `byte_strides` are those of a dense array of `dimensions` with dimension 0 the most major. Every stride
/// counts, also that of a dimension of size 1.
///
/// ```
/// use relayout::{PrimitiveType, index::byte_strides_is_major_to_minor};
/// assert!(byte_strides_is_major_to_minor(&[12, 4], &[1, 3], PrimitiveType::F32));
/// assert!(!byte_strides_is_major_to_minor(&[4, 4], &[1, 3], PrimitiveType::F32));
/// ```
pub fn byte_strides_is_major_to_minor(
    byte_strides: &[i64],
    dimensions: &[i64],
    element_type: PrimitiveType,
) -> bool {
    let Some(width) = element_type.byte_width() else { return false };
    let mut expected = Some(i64::from(width));
    let fits = |(stride, size): (&i64, &i64)| {
        let fits = Some(*stride) == expected;
        expected = expected.and_then(|expected| expected.checked_mul(*size));
        fits
    };
    byte_strides.len() == dimensions.len() && byte_strides.iter().zip(dimensions).rev().all(fits)
}

//! Where an element lies: logical multi-indices, and linear indices into an array's memory.
//!
//! A **multi-index** has one entry per logical dimension. A **linear index** counts element slots from the start of
//! the array's memory; it never counts bytes or bits, and slots that hold no element (padding) count too.
//!
//! [`linear_index`], [`multi_index`] and [`Indexer`] honour everything that a layout says: every tile, tiles that
//! reach across the tile counts of earlier ones, tiles longer than the rank, `*`, and legacy padding. XLA's own
//! `LayoutUtil::LinearIndex` looks at the first tile only, and at none in one dimension. The functions with the names
//! of XLA's `IndexUtil` ignore tiles, as those do.
//!
//! ```
//! use relayout::{ArrayShape, Layout, PrimitiveType, Tile, index};
//! let layout = Layout::row_major(2).with_tiles([Tile::from([2, 2])]);
//! let shape = ArrayShape::new(PrimitiveType::F32, [3, 5]).with_layout(layout);
//! assert_eq!(index::linear_index(&shape, &[2, 3])?, 17);
//! assert_eq!(index::multi_index(&shape, 17)?, Some(vec![2, 3]));
//! assert_eq!(index::multi_index(&shape, 18)?, None); // row 3 does not exist: padding
//! # Ok::<(), relayout::LayoutError>(())
//! ```

mod indexer;
mod sizes;
mod tiling;
mod untiled;

pub use indexer::{Indexer, linear_index, multi_index};
pub(crate) use sizes::{Sizes, physical_sizes, slot_count};
pub(crate) use untiled::{bump, untiled_strides};
pub use untiled::{
    bump_indices, byte_strides_is_major_to_minor, compare_indices, dimension_stride, index_in_bounds,
    linear_index_to_multidimensional_index, multidimensional_index_to_linear_index,
};

use smallvec::{SmallVec, smallvec};

use crate::{ArrayShape, LayoutError};

/// An index on its way through the tiles, of which there is one for every element: on the stack but for the longest.
pub(crate) type Index = SmallVec<[i64; 12]>;

/// The sizes that memory is laid out for, of a shape that is valid and has no dimension without a bound.
pub(crate) fn valid_bounds(shape: &ArrayShape) -> Result<Vec<i64>, LayoutError> {
    shape.validate()?;
    shape.bounds()
}

/// The sizes of the dimensions before any tile, most major first: legacy padding counted, `bounds` elsewhere.
pub(crate) fn sizes_in_physical_order(shape: &ArrayShape, bounds: &[i64]) -> Vec<i64> {
    let padded = shape.layout().padded_dimensions();
    let sizes = if padded.is_empty() { bounds } else { padded };
    major_to_minor(shape).map(|dimension| sizes[dimension]).collect()
}

/// The logical dimensions of a valid shape, most major first.
fn major_to_minor(shape: &ArrayShape) -> impl Iterator<Item = usize> {
    shape.layout().minor_to_major().iter().rev().map(|&dimension| dimension as usize)
}

/// The product of `sizes`; 0 where one of them is, however large the others are.
pub(crate) fn checked_product(what: &'static str, sizes: &[i64]) -> Result<i64, LayoutError> {
    if sizes.contains(&0) {
        return Ok(0);
    }
    let product = sizes.iter().try_fold(1i64, |product, &size| product.checked_mul(size));
    product.ok_or(LayoutError::Overflow { what })
}

/// Refuses a multi-index of another rank or outside `bounds`; negative entries are outside.
fn check_index(bounds: &[i64], index: &[i64]) -> Result<(), LayoutError> {
    if index.len() != bounds.len() {
        return Err(LayoutError::IndexLength { entries: index.len(), rank: bounds.len() });
    }
    let outside = |dimension: &usize| !(0..bounds[*dimension]).contains(&index[*dimension]);
    match (0..index.len()).find(outside) {
        Some(dimension) => {
            Err(LayoutError::IndexOutOfBounds { dimension, index: index[dimension], size: bounds[dimension] })
        }
        None => Ok(()),
    }
}

/// The number of an index in an array of `sizes`, the last entry fastest.
pub(crate) fn row_major(sizes: &[i64], index: &[i64]) -> i64 {
    sizes.iter().zip(index).fold(0, |linear, (size, entry)| linear * size + entry)
}

/// The inverse of [`row_major`]; `linear` lies below the product of `sizes`.
pub(crate) fn row_major_index(sizes: &[i64], mut linear: i64) -> Index {
    let mut index: Index = smallvec![0; sizes.len()];
    for (entry, size) in index.iter_mut().zip(sizes).rev() {
        *entry = linear % size;
        linear /= size;
    }
    index
}

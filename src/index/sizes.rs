//! Sizes of tiled memory alone: what an [`Indexer`](super::Indexer) knows of them, without its cost.

use smallvec::SmallVec;

use super::{checked_product, major_to_minor};
use crate::{ArrayShape, LayoutError, Tile, TileDimension};

/// Sizes of physical dimensions, inline for ordinary ranks and tiles.
pub(crate) type Sizes = SmallVec<[i64; 16]>;

/// Puts the dimensions after all tiles, most major first, of a valid shape into `sizes`, which is empty.
pub(crate) fn physical_sizes(shape: &ArrayShape, sizes: &mut Sizes) -> Result<(), LayoutError> {
    let (layout, dimensions) = (shape.layout(), shape.dimensions());
    if let Some(dimension) = dimensions.iter().position(|size| size.bound().is_none()) {
        return Err(LayoutError::UnboundedDimension { dimension });
    }
    for dimension in major_to_minor(shape) {
        let padded = layout.padded_dimensions().get(dimension).copied();
        sizes.push(padded.or(dimensions[dimension].bound()).unwrap_or(0));
    }
    layout.tiles().iter().enumerate().try_for_each(|(number, tile)| apply(sizes, tile, number))
}

/// The slots of a valid shape's memory, from its physical sizes: their product, and what `L` adds.
pub(crate) fn slot_count(shape: &ArrayShape, sizes: &[i64]) -> Result<i64, LayoutError> {
    let filled = checked_product("the padded size", sizes)?;
    round_up(filled, shape.layout().tail_padding_alignment_in_elements())
}

/// Replaces the dimensions under tile number `number` by counts of tiles, with the tile's sizes behind them.
fn apply(sizes: &mut Sizes, tile: &Tile, number: usize) -> Result<(), LayoutError> {
    let entries = tile.dimensions();
    if entries.last() == Some(&TileDimension::Combine) {
        return Err(LayoutError::TrailingCombine { tile: number });
    }
    let missing = entries.len().saturating_sub(sizes.len());
    if missing > 0 {
        sizes.insert_many(0, std::iter::repeat_n(1, missing));
    }
    let first = sizes.len() - entries.len();
    let mut counts = first;
    let mut merged = Some(1);
    for (position, entry) in entries.iter().enumerate() {
        merged = merge(merged, sizes[first + position]);
        if let TileDimension::Size(length) = *entry {
            let size = merged.ok_or(LayoutError::Overflow { what: "a dimension merged by *" })?;
            sizes[counts] = size / length + i64::from(size % length != 0);
            counts += 1;
            merged = Some(1);
        }
    }
    sizes.truncate(counts);
    for entry in entries {
        if let TileDimension::Size(length) = *entry {
            sizes.push(length);
        }
    }
    Ok(())
}

/// A product with one more factor; a 0 makes it 0, however large the others are.
fn merge(product: Option<i64>, size: i64) -> Option<i64> {
    if size == 0 || product == Some(0) { Some(0) } else { product?.checked_mul(size) }
}

/// `slots` rounded up to a multiple of `alignment`, which is 1 or more in a valid layout.
pub(super) fn round_up(slots: i64, alignment: i64) -> Result<i64, LayoutError> {
    if alignment == 1 {
        return Ok(slots);
    }
    let missing = (alignment - slots % alignment) % alignment;
    slots.checked_add(missing).ok_or(LayoutError::Overflow { what: "the size with its tail alignment (L)" })
}

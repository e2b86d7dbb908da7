//! One tile applied to a shape and to an index: the step that layouts repeat for every tile.

use super::{Index, checked_product, row_major, row_major_index};
use crate::{LayoutError, Tile, TileDimension};

/// A tile, and the shape that it is applied to.
///
/// The definition is an induction over the tiles. Each tile acts on the last dimensions of the shape that the tiles
/// before it made, and makes a longer one:
///
/// 1. A tile longer than the shape sees size-1 dimensions in front of it.
/// 2. `*` merges its dimension with the next more minor one, row major, and leaves the tile.
/// 3. Each dimension under the tile becomes a count of tiles (rounded up) and, behind all counts, the place inside
///    the tile. An index becomes quotients and remainders.
#[derive(Clone, Debug)]
pub(super) struct TileStep {
    /// Dimensions that the tile leaves alone.
    untouched: usize,
    /// Size-1 dimensions put in front of the shape.
    prepended: usize,
    /// The dimensions under the tile, with those in front, cut into the runs that merge into one.
    groups: Vec<Vec<i64>>,
    /// The sizes of the merged dimensions.
    merged: Vec<i64>,
    /// The sizes of the tile, without `*`; one for each merged dimension.
    tile: Vec<i64>,
}

impl TileStep {
    /// Tile number `number` over a shape of `sizes`, most major first.
    pub(super) fn new(sizes: &[i64], tile: &Tile, number: usize) -> Result<TileStep, LayoutError> {
        let entries = tile.dimensions();
        let untouched = sizes.len().saturating_sub(entries.len());
        let prepended = entries.len().saturating_sub(sizes.len());

        let mut groups = Vec::new();
        let mut tile = Vec::new();
        let mut group = Vec::new();
        for (size, entry) in prepend(1, prepended, &sizes[untouched..]).zip(entries) {
            group.push(size);
            if let TileDimension::Size(length) = *entry {
                groups.push(std::mem::take(&mut group));
                tile.push(length);
            }
        }
        if !group.is_empty() {
            return Err(LayoutError::TrailingCombine { tile: number });
        }
        let product = |group: &Vec<i64>| checked_product("a dimension merged by *", group);
        let merged = groups.iter().map(product).collect::<Result<_, _>>()?;
        Ok(TileStep { untouched, prepended, groups, merged, tile })
    }

    /// The longer shape that the tile makes of the shape that it was made for.
    pub(super) fn sizes(&self, mut shorter: Vec<i64>) -> Vec<i64> {
        shorter.truncate(self.untouched);
        shorter.extend(self.merged.iter().zip(&self.tile).map(|(&size, &tile)| div_ceil(size, tile)));
        shorter.extend(&self.tile);
        shorter
    }

    /// The index of an element in the longer shape, from its index in the shorter one.
    pub(super) fn apply(&self, mut index: Index) -> Index {
        let tiled: Index = prepend(0, self.prepended, &index[self.untouched..]).collect();
        let mut entries = tiled.as_slice();
        let merge = |group: &Vec<i64>| {
            let (these, rest) = entries.split_at(group.len());
            entries = rest;
            row_major(group, these)
        };
        let merged: Index = self.groups.iter().map(merge).collect();

        index.truncate(self.untouched);
        index.extend(merged.iter().zip(&self.tile).map(|(entry, tile)| entry / tile));
        index.extend(merged.iter().zip(&self.tile).map(|(entry, tile)| entry % tile));
        index
    }

    /// The inverse of [`TileStep::apply`]; `None` where the place is padding that this tile made.
    pub(super) fn undo(&self, mut index: Index) -> Option<Index> {
        let (quotients, remainders) = index[self.untouched..].split_at(self.tile.len());
        let places = quotients.iter().zip(remainders).zip(&self.tile);
        let places = places.map(|((quotient, remainder), tile)| quotient * tile + remainder);
        let merged: Index = places.collect();
        if merged.iter().zip(&self.merged).any(|(entry, size)| entry >= size) {
            return None;
        }
        let split = |(group, &entry): (&Vec<i64>, &i64)| row_major_index(group, entry);
        index.truncate(self.untouched);
        index.extend(self.groups.iter().zip(&merged).flat_map(split).skip(self.prepended));
        Some(index)
    }
}

/// `count` times `number`, and behind them `list`.
fn prepend(number: i64, count: usize, list: &[i64]) -> impl Iterator<Item = i64> {
    std::iter::repeat_n(number, count).chain(list.iter().copied())
}

/// `size / tile`, rounded up; written so that it cannot overflow.
fn div_ceil(size: i64, tile: i64) -> i64 {
    size / tile + i64::from(size % tile != 0)
}

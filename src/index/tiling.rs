//! One tile applied to a shape and to an index: the step that layouts repeat for every tile.

use super::{checked_product, row_major, row_major_index};
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
    /// Size-1 dimensions put in front of the shape.
    prepended: usize,
    /// The shape with those in front, cut into the runs of dimensions that merge into one.
    groups: Vec<Vec<i64>>,
    /// The sizes of the merged dimensions.
    merged: Vec<i64>,
    /// The sizes of the tile, without `*`; they act on the last merged dimensions.
    tile: Vec<i64>,
}

impl TileStep {
    /// Tile number `number` over a shape of `sizes`, most major first.
    pub(super) fn new(sizes: &[i64], tile: &Tile, number: usize) -> Result<TileStep, LayoutError> {
        let entries = tile.dimensions();
        let prepended = entries.len().saturating_sub(sizes.len());
        let sizes = [&vec![1; prepended], sizes].concat();
        let (untouched, tiled) = sizes.split_at(sizes.len() - entries.len());

        let mut groups: Vec<Vec<i64>> = untouched.iter().map(|&size| vec![size]).collect();
        let mut tile = Vec::new();
        let mut group = Vec::new();
        for (&size, entry) in tiled.iter().zip(entries) {
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
        Ok(TileStep { prepended, groups, merged, tile })
    }

    /// Dimensions that the tile leaves alone.
    fn untouched(&self) -> usize {
        self.merged.len() - self.tile.len()
    }

    /// The longer shape that the tile makes.
    pub(super) fn sizes(&self) -> Vec<i64> {
        let (untouched, tiled) = self.merged.split_at(self.untouched());
        let counts: Vec<i64> =
            tiled.iter().zip(&self.tile).map(|(&size, &tile)| div_ceil(size, tile)).collect();
        [untouched, &counts, &self.tile].concat()
    }

    /// The index of an element in the longer shape, from its index in the shorter one.
    pub(super) fn apply(&self, index: &[i64]) -> Vec<i64> {
        let index = [&vec![0; self.prepended], index].concat();
        let mut entries = index.as_slice();
        let merge = |group: &Vec<i64>| {
            let (these, rest) = entries.split_at(group.len());
            entries = rest;
            row_major(group, these)
        };
        let merged: Vec<i64> = self.groups.iter().map(merge).collect();

        let (untouched, tiled) = merged.split_at(self.untouched());
        let quotients = tiled.iter().zip(&self.tile).map(|(entry, tile)| entry / tile);
        let remainders = tiled.iter().zip(&self.tile).map(|(entry, tile)| entry % tile);
        untouched.iter().copied().chain(quotients).chain(remainders).collect()
    }

    /// The inverse of [`TileStep::apply`]; `None` where the place is padding that this tile made.
    pub(super) fn undo(&self, index: &[i64]) -> Option<Vec<i64>> {
        let (untouched, tiled) = index.split_at(self.untouched());
        let (quotients, remainders) = tiled.split_at(self.tile.len());
        let places = quotients.iter().zip(remainders).zip(&self.tile);
        let places = places.map(|((quotient, remainder), tile)| quotient * tile + remainder);
        let merged: Vec<i64> = untouched.iter().copied().chain(places).collect();
        if merged.iter().zip(&self.merged).any(|(entry, size)| entry >= size) {
            return None;
        }
        let split = |(group, &entry): (&Vec<i64>, &i64)| row_major_index(group, entry);
        Some(self.groups.iter().zip(&merged).flat_map(split).skip(self.prepended).collect())
    }
}

/// `size / tile`, rounded up; written so that it cannot overflow.
fn div_ceil(size: i64, tile: i64) -> i64 {
    size / tile + i64::from(size % tile != 0)
}

//! The tiles that a picture draws lines between: those of the layout's first tile.

use relayout::index::Indexer;
use relayout::{ArrayShape, TileDimension};

/// The first tile of a layout over the dimensions of one array; nothing where the array is untiled.
pub(super) struct FirstTile {
    /// Physical dimensions in runs that `*` merges, most major first, each with the size that it is cut into.
    groups: Vec<Group>,
    /// Slots of one tile where every tile is one run of memory.
    block: Option<i64>,
    /// Legacy padded sizes, or nothing.
    padded: Vec<i64>,
}

struct Group {
    /// (logical dimension, size), most major first.
    dimensions: Vec<(usize, i64)>,
    /// Elements of the merged dimension that one tile holds; `None` before the dimensions that the tile reaches.
    tile: Option<i64>,
}

impl Group {
    fn tiles(&self) -> i64 {
        let size: i64 = self.dimensions.iter().map(|dimension| dimension.1).product();
        let tile = self.tile.unwrap_or(1);
        size / tile + i64::from(size % tile != 0)
    }
}

impl FirstTile {
    pub(super) fn new(shape: &ArrayShape, bounds: &[i64], indexer: &Indexer) -> FirstTile {
        let layout = shape.layout();
        let padded = layout.padded_dimensions().to_vec();
        let Some(first) = layout.tiles().first() else {
            return FirstTile { groups: vec![], block: None, padded };
        };
        let entries = first.dimensions();
        // A tile longer than the rank sees size-1 dimensions in front, which are always at 0.
        let entries = &entries[entries.len().saturating_sub(bounds.len())..];
        let mut groups: Vec<Group> = Vec::new();
        let mut merging = Vec::new();
        let untouched = bounds.len() - entries.len();
        for (position, &dimension) in layout.minor_to_major().iter().rev().enumerate() {
            merging.push((dimension as usize, bounds[dimension as usize]));
            let tile = match position.checked_sub(untouched).map(|entry| entries[entry]) {
                Some(TileDimension::Combine) => continue,
                Some(TileDimension::Size(size)) => Some(size),
                None => None,
            };
            groups.push(Group { dimensions: std::mem::take(&mut merging), tile });
        }
        let mut tile = FirstTile { groups, block: None, padded };
        tile.block = tile.find_block(shape, indexer);
        tile
    }

    /// Every tile is one run of memory unless a later tile reaches over the tile counts.
    fn find_block(&self, shape: &ArrayShape, indexer: &Indexer) -> Option<i64> {
        let mut tiles = shape.layout().tiles().iter().map(|tile| tile.dimensions());
        let sizes = |entries: &[TileDimension]| {
            entries.iter().filter(|&&entry| entry != TileDimension::Combine).count()
        };
        let mut inside = sizes(tiles.next()?);
        for entries in tiles {
            inside = inside.checked_sub(entries.len())? + 2 * sizes(entries);
        }
        if indexer.slots() == 0 {
            return None;
        }
        let filled: i64 = indexer.physical_dimensions().iter().product();
        let tiles: i64 = self.groups.iter().map(Group::tiles).product();
        filled.checked_div(tiles)
    }

    /// The number of the tile that an index lies in, in the order of memory; also of an index in the padding.
    pub(super) fn number(&self, index: &[i64]) -> Option<i64> {
        if self.groups.is_empty() {
            return None;
        }
        Some(self.groups.iter().fold(0, |number, group| {
            let merged = group.dimensions.iter().fold(0, |merged, &(d, size)| merged * size + index[d]);
            number * group.tiles() + merged / group.tile.unwrap_or(1)
        }))
    }

    /// Slots of one tile, where every tile is one run of memory.
    pub(super) fn block(&self) -> Option<i64> {
        self.block
    }

    /// What `dimension` is cut into, where it is cut by itself.
    pub(super) fn size(&self, dimension: usize) -> Option<i64> {
        self.groups.iter().find_map(|group| match group.dimensions[..] {
            [(only, _)] if only == dimension => group.tile,
            _ => None,
        })
    }

    /// The size of `dimension` with the padding up to the end of its last tile.
    pub(super) fn padded(&self, dimension: usize, bound: i64) -> i64 {
        let bound = self.padded.get(dimension).copied().unwrap_or(bound);
        let tile = self.size(dimension).unwrap_or(1);
        // Where the sum does not fit the array is cropped anyway.
        bound.checked_add((tile - bound % tile) % tile).unwrap_or(bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tile(text: &str) -> (FirstTile, Indexer) {
        let shape: ArrayShape = text.parse().unwrap();
        let indexer = Indexer::new(&shape).unwrap();
        (FirstTile::new(&shape, &shape.bounds().unwrap(), &indexer), indexer)
    }

    #[test]
    fn tiles_are_numbered_as_memory_holds_them() {
        for text in [
            "f32[3,5]{1,0:T(2,2)}",
            "f32[3,5]{0,1:T(2,2)(2,1)}",
            "f32[4,3,5]{1,2,0:T(3)}",
            "f32[7]{0:T(2,4)}",
            "f32[3,4,5]{2,1,0:T(*,6)}",
        ] {
            let (tile, indexer) = tile(text);
            let block = tile.block().unwrap();
            for linear in 0..indexer.slots() {
                if let Some(index) = indexer.multi(linear) {
                    assert_eq!(tile.number(&index), Some(linear / block), "{text} {index:?}");
                }
            }
        }
    }

    #[test]
    fn tiles_that_interleave_others_have_no_block() {
        assert_eq!(tile("bf16[32,256]{1,0:T(8,128)(2,1,1,1)}").0.block(), None);
        assert_eq!(tile("bf16[32,256]{1,0:T(8,128)(2,1)}").0.block(), Some(1024));
        assert_eq!(tile("bf16[32,256]").0.number(&[3, 4]), None);
    }
}

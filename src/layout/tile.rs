//! Tiles: the blocks that the most minor physical dimensions are cut into.

/// One entry of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TileDimension {
    /// Cut the dimension into pieces of this many elements.
    Size(i64),
    /// Merge the dimension with the next more minor one before the tile is applied (`*`).
    Combine,
}

impl From<i64> for TileDimension {
    fn from(size: i64) -> TileDimension {
        TileDimension::Size(size)
    }
}

/// A tile: sizes for the last physical dimensions, most major first, as in `T(8,128)`.
///
/// It cuts each of these dimensions into pieces, the last of which may be partly padding, and puts the insides of one
/// tile together in memory. A further tile cuts what results: the counts of tiles, then the inside of the tile. See
/// XLA's document on [tiled layouts](https://openxla.org/xla/tiled_layout).
///
/// ```
/// use relayout::{Tile, TileDimension};
/// assert_eq!(Tile::from([8, 128]).to_string(), "(8,128)");
/// assert_eq!(Tile::new([TileDimension::Combine, 8.into()]).to_string(), "(*,8)");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    dimensions: Vec<TileDimension>,
}

impl Tile {
    /// A tile of the given entries, most major first.
    pub fn new(dimensions: impl IntoIterator<Item = TileDimension>) -> Tile {
        Tile { dimensions: dimensions.into_iter().collect() }
    }

    /// The entries, most major first.
    pub fn dimensions(&self) -> &[TileDimension] {
        &self.dimensions
    }
}

impl<const N: usize> From<[i64; N]> for Tile {
    fn from(sizes: [i64; N]) -> Tile {
        Tile::new(sizes.map(TileDimension::Size))
    }
}

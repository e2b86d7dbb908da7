//! PJRT: how runtimes of XLA state the layout of a buffer, in `PJRT_Buffer_MemoryLayout_Tiled`.

use super::InteropError;
use crate::{ArrayShape, Layout, PrimitiveType, Tile, TileDimension};

/// What stands for `*` in a list of tile sizes, in PJRT as in XLA's `Tile`.
pub const COMBINE: i64 = i64::MIN;

/// The fields of `PJRT_Buffer_MemoryLayout_Tiled` as lists.
///
/// ```
/// use relayout::Layout;
/// use relayout::interop::pjrt::TiledLayout;
/// let layout: Layout = "{1,0:T(8,128)(2,1)}".parse()?;
/// let fields = TiledLayout::try_from(&layout)?;
/// assert_eq!(fields.minor_to_major, [1, 0]);
/// assert_eq!(fields.tile_dims, [8, 128, 2, 1]); // of all tiles, one after the other
/// assert_eq!(fields.tile_dim_sizes, [2, 2]); // so many belong to each
/// assert_eq!(Layout::try_from(&fields)?, layout);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct TiledLayout {
    /// Dimension numbers from the fastest to the slowest.
    pub minor_to_major: Vec<i64>,
    /// The sizes of all tiles; [`COMBINE`] stands for `*`.
    pub tile_dims: Vec<i64>,
    /// How many of them belong to each tile.
    pub tile_dim_sizes: Vec<usize>,
}

impl TryFrom<&TiledLayout> for Layout {
    type Error = InteropError;

    /// Errors are [`InteropError::Length`] where the sizes do not add up to `tile_dims`, and [`InteropError::Layout`] for
    /// an order of dimensions that is no permutation and for tiles that are none.
    fn try_from(fields: &TiledLayout) -> Result<Layout, InteropError> {
        let overflow = InteropError::Overflow { what: "the sum of tile_dim_sizes" };
        let expected = fields.tile_dim_sizes.iter().try_fold(0usize, |sum, &size| sum.checked_add(size));
        let (expected, found) = (expected.ok_or(overflow)?, fields.tile_dims.len());
        if expected != found {
            return Err(InteropError::Length { what: "tile_dims", expected, found });
        }
        let mut rest = &fields.tile_dims[..];
        let mut tiles = Vec::with_capacity(fields.tile_dim_sizes.len());
        for &size in &fields.tile_dim_sizes {
            let (tile, behind) = rest.split_at(size); // the sizes add up
            tiles.push(Tile::new(tile.iter().map(|&size| match size {
                COMBINE => TileDimension::Combine,
                size => TileDimension::Size(size),
            })));
            rest = behind;
        }
        let layout = Layout::from_minor_to_major(fields.minor_to_major.iter().copied()).with_tiles(tiles);
        // Any sizes do: what is checked is the layout.
        let sizes = fields.minor_to_major.iter().map(|_| 1);
        ArrayShape::new(PrimitiveType::U8, sizes).with_layout(layout.clone()).validate()?;
        Ok(layout)
    }
}

impl TryFrom<&Layout> for TiledLayout {
    type Error = InteropError;

    /// Notes that do not move elements (`S`, `SC`, `M`) are left out; [`InteropError::NotExpressible`] names one that does
    /// and has no field.
    fn try_from(layout: &Layout) -> Result<TiledLayout, InteropError> {
        let unsaid = [
            ("tail_padding_alignment_in_elements", layout.tail_padding_alignment_in_elements() != 1),
            ("element_size_in_bits", layout.element_size_in_bits() != 0),
            ("padded_dimensions", !layout.padded_dimensions().is_empty()),
            ("index_primitive_type", layout.index_primitive_type().is_some()),
            ("pointer_primitive_type", layout.pointer_primitive_type().is_some()),
            ("physical_shape", layout.physical_shape().is_some()),
        ];
        if let Some(&(field, _)) = unsaid.iter().find(|(_, is_there)| *is_there) {
            return Err(InteropError::NotExpressible { field, target: "PJRT's tiled layout" });
        }
        let size = |entry: &TileDimension| match *entry {
            TileDimension::Size(size) => size,
            TileDimension::Combine => COMBINE,
        };
        Ok(TiledLayout {
            minor_to_major: layout.minor_to_major().to_vec(),
            tile_dims: layout.tiles().iter().flat_map(|tile| tile.dimensions().iter().map(size)).collect(),
            tile_dim_sizes: layout.tiles().iter().map(|tile| tile.dimensions().len()).collect(),
        })
    }
}

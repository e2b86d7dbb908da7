//! Layouts: the order of dimensions in memory, tiles, and the other notes that XLA writes behind the colon.

mod tile;

pub use tile::{Tile, TileDimension};

use std::hash::{Hash, Hasher};

use crate::{PrimitiveType, Shape};

/// Where one physical dimension is cut and spread over several memories (`SC(dimension:index,…)`).
///
/// ```
/// use relayout::SplitConfig;
/// assert_eq!("(0:2,5)".parse(), Ok(SplitConfig { dimension: 0, indices: vec![2, 5] })); // 0..2, 2..5, 5..
/// ```
///
/// The cut changes neither sizes nor indices here: both speak of the whole array.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SplitConfig {
    /// Physical dimension number, 0 = most major.
    pub dimension: i64,
    /// The first index of every piece but the first, ascending.
    pub indices: Vec<i64>,
}

/// What legacy `padded_dimensions` are filled with; the enumerators of XLA's old `PaddingValue`.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum PaddingValue {
    /// Zero of the element type.
    Zero,
    /// One of the element type.
    One,
    /// Minus infinity, or the least value of a type without infinities.
    Lowest,
    /// Plus infinity, or the greatest value of a type without infinities.
    Highest,
    /// Any content; this library writes zeros.
    #[default]
    Unknown,
}

/// How an array's dimensions lie in memory: all fields of XLA's `Layout`, and the two legacy padding fields.
///
/// A layout is the `{…}` behind a shape: `{1,0:T(8,128)(2,1)}`. It orders the dimensions (`minor_to_major`), cuts the
/// fastest of them into [`Tile`]s, and carries notes such as the slot width. The fields mean what XLA's documents on
/// [shapes](https://openxla.org/xla/shapes) and [tiled layouts](https://openxla.org/xla/tiled_layout) say; where XLA's
/// own functions leave a tile out, this library does not.
///
/// Built by naming the order, then adding notes. Nothing is checked until
/// [`ArrayShape::validate`](crate::ArrayShape::validate).
///
/// ```
/// use relayout::{Layout, Tile};
/// let layout = Layout::from_minor_to_major([0, 1]).with_tiles([Tile::from([8, 128])]).with_memory_space(1);
/// assert_eq!(layout.to_string(), "{0,1:T(8,128)S(1)}");
/// assert_eq!("{0,1:T(8,128)S(1)}".parse(), Ok(layout));
/// ```
///
/// Equality follows XLA: every field but the metadata prefix (`M`) takes part.
#[derive(Clone, Debug)]
pub struct Layout {
    minor_to_major: Vec<i64>,
    tiles: Vec<Tile>,
    tail_padding_alignment_in_elements: i64,
    index_primitive_type: Option<PrimitiveType>,
    pointer_primitive_type: Option<PrimitiveType>,
    element_size_in_bits: i64,
    memory_space: i64,
    split_configs: Vec<SplitConfig>,
    physical_shape: Option<Box<Shape>>,
    dynamic_shape_metadata_prefix_bytes: i64,
    padded_dimensions: Vec<i64>,
    padding_value: PaddingValue,
}

impl Layout {
    /// Dimension numbers from the fastest to the slowest, as XLA writes them: `{1,0}` is row major in two dimensions.
    pub fn from_minor_to_major(dimensions: impl IntoIterator<Item = i64>) -> Layout {
        Layout {
            minor_to_major: dimensions.into_iter().collect(),
            tiles: Vec::new(),
            tail_padding_alignment_in_elements: 1,
            index_primitive_type: None,
            pointer_primitive_type: None,
            element_size_in_bits: 0,
            memory_space: 0,
            split_configs: Vec::new(),
            physical_shape: None,
            dynamic_shape_metadata_prefix_bytes: 0,
            padded_dimensions: Vec::new(),
            padding_value: PaddingValue::default(),
        }
    }

    /// Dimension numbers from the slowest to the fastest: the reverse of XLA's text.
    pub fn from_major_to_minor(dimensions: impl IntoIterator<Item = i64>) -> Layout {
        let mut layout = Layout::from_minor_to_major(dimensions);
        layout.minor_to_major.reverse();
        layout
    }

    /// The default layout of `rank` dimensions: dimension 0 is the most major.
    pub fn row_major(rank: usize) -> Layout {
        Layout::from_minor_to_major((0..rank as i64).rev())
    }

    /// Dimension 0 is the most minor.
    pub fn column_major(rank: usize) -> Layout {
        Layout::from_minor_to_major(0..rank as i64)
    }

    /// Dimension numbers from the fastest to the slowest.
    pub fn minor_to_major(&self) -> &[i64] {
        &self.minor_to_major
    }

    /// The tiles (`T`), applied one after the other.
    pub fn tiles(&self) -> &[Tile] {
        &self.tiles
    }

    /// The number of elements that the whole array is padded to a multiple of (`L`); 1 means none.
    pub fn tail_padding_alignment_in_elements(&self) -> i64 {
        self.tail_padding_alignment_in_elements
    }

    /// The type of a sparse array's indices (`#`); never valid on an array that this library moves.
    pub fn index_primitive_type(&self) -> Option<PrimitiveType> {
        self.index_primitive_type
    }

    /// The type of a sparse array's pointers (`*`); never valid on an array that this library moves.
    pub fn pointer_primitive_type(&self) -> Option<PrimitiveType> {
        self.pointer_primitive_type
    }

    /// Bits of one element's slot (`E`); 0 means the element's own unpacked bytes.
    pub fn element_size_in_bits(&self) -> i64 {
        self.element_size_in_bits
    }

    /// The memory space (`S`); 0 is the default memory.
    pub fn memory_space(&self) -> i64 {
        self.memory_space
    }

    /// The cuts of physical dimensions (`SC`).
    pub fn split_configs(&self) -> &[SplitConfig] {
        &self.split_configs
    }

    /// The physical shape of a sparse array (`P`); never valid on an array that this library moves.
    pub fn physical_shape(&self) -> Option<&Shape> {
        self.physical_shape.as_deref()
    }

    /// Bytes of metadata before a dynamic array (`M`); they count in no size.
    pub fn dynamic_shape_metadata_prefix_bytes(&self) -> i64 {
        self.dynamic_shape_metadata_prefix_bytes
    }

    /// Legacy: the padded size of every logical dimension, or nothing.
    pub fn padded_dimensions(&self) -> &[i64] {
        &self.padded_dimensions
    }

    /// Legacy: what `padded_dimensions` are filled with.
    pub fn padding_value(&self) -> PaddingValue {
        self.padding_value
    }

    /// The same notes over another order of the dimensions.
    pub fn with_minor_to_major(mut self, dimensions: impl IntoIterator<Item = i64>) -> Layout {
        self.minor_to_major = dimensions.into_iter().collect();
        self
    }

    /// Replaces the tiles (`T`).
    pub fn with_tiles(mut self, tiles: impl IntoIterator<Item = Tile>) -> Layout {
        self.tiles = tiles.into_iter().collect();
        self
    }

    /// Replaces the tail alignment (`L`), in elements.
    pub fn with_tail_padding_alignment_in_elements(mut self, elements: i64) -> Layout {
        self.tail_padding_alignment_in_elements = elements;
        self
    }

    /// Replaces the sparse index type (`#`).
    pub fn with_index_primitive_type(mut self, index: Option<PrimitiveType>) -> Layout {
        self.index_primitive_type = index;
        self
    }

    /// Replaces the sparse pointer type (`*`).
    pub fn with_pointer_primitive_type(mut self, pointer: Option<PrimitiveType>) -> Layout {
        self.pointer_primitive_type = pointer;
        self
    }

    /// Replaces the slot width (`E`), in bits; 0 means the element's own unpacked bytes.
    pub fn with_element_size_in_bits(mut self, bits: i64) -> Layout {
        self.element_size_in_bits = bits;
        self
    }

    /// Replaces the memory space (`S`).
    pub fn with_memory_space(mut self, space: i64) -> Layout {
        self.memory_space = space;
        self
    }

    /// Replaces the cuts of physical dimensions (`SC`).
    pub fn with_split_configs(mut self, splits: impl IntoIterator<Item = SplitConfig>) -> Layout {
        self.split_configs = splits.into_iter().collect();
        self
    }

    /// Replaces the sparse physical shape (`P`).
    pub fn with_physical_shape(mut self, shape: Option<Shape>) -> Layout {
        self.physical_shape = shape.map(Box::new);
        self
    }

    /// Replaces the metadata prefix (`M`), in bytes.
    pub fn with_dynamic_shape_metadata_prefix_bytes(mut self, bytes: i64) -> Layout {
        self.dynamic_shape_metadata_prefix_bytes = bytes;
        self
    }

    /// Sets the two legacy fields: memory is laid out for `dimensions` (logical numbering), and what lies outside
    /// the array holds `value`. A layout has either these or tiles.
    pub fn with_padded_dimensions(
        mut self,
        dimensions: impl IntoIterator<Item = i64>,
        value: PaddingValue,
    ) -> Layout {
        self.padded_dimensions = dimensions.into_iter().collect();
        self.padding_value = value;
        self
    }

    /// Every field that takes part in equality, in one tuple so that `Eq` and `Hash` cannot disagree.
    #[allow(clippy::type_complexity)]
    fn compared(
        &self,
    ) -> (
        &[i64],
        &[Tile],
        [i64; 3],
        [Option<PrimitiveType>; 2],
        (&[SplitConfig], Option<&Shape>),
        (&[i64], PaddingValue),
    ) {
        (
            &self.minor_to_major,
            &self.tiles,
            [self.tail_padding_alignment_in_elements, self.element_size_in_bits, self.memory_space],
            [self.index_primitive_type, self.pointer_primitive_type],
            (&self.split_configs, self.physical_shape.as_deref()),
            (&self.padded_dimensions, self.padding_value),
        )
    }
}

impl PartialEq for Layout {
    fn eq(&self, other: &Layout) -> bool {
        self.compared() == other.compared()
    }
}

impl Eq for Layout {}

impl Hash for Layout {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.compared().hash(state);
    }
}

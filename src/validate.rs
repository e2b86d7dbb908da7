//! Validation: XLA's rules for shapes and layouts, one function and one error each.

use smallvec::{SmallVec, smallvec};

use crate::{ArrayShape, LayoutError, Shape, SplitConfig, TileDimension};

type Rule = fn(&ArrayShape) -> Result<(), LayoutError>;

/// What holds for an array whatever its layout.
const SHAPE_RULES: [Rule; 3] = [element_type, dimension_sizes, size];

/// What holds for the layout of an array.
const LAYOUT_RULES: [Rule; 10] = [
    minor_to_major_length,
    minor_to_major_range,
    minor_to_major_duplicates,
    tiles,
    element_size_in_bits,
    tail_padding_alignment,
    memory_space,
    sparse_fields,
    split_configs,
    padded_dimensions,
];

impl ArrayShape {
    /// Checks the shape and its layout by the rules of XLA (`ShapeUtil::ValidateShapeWithOptionalLayout`), in its newer
    /// version where versions differ.
    ///
    /// A valid shape need not have a size: dimensions without a bound, tiles that end in `*` and tiles that pad beyond
    /// 64 bits are valid, and the functions that compute sizes and indices refuse them.
    ///
    /// ```
    /// use relayout::{ArrayShape, LayoutError};
    /// let shape: ArrayShape = "f32[2,3]{0,5}".parse()?;
    /// let why = LayoutError::MinorToMajorOutOfRange { minor_to_major: vec![0, 5], value: 5, rank: 2 };
    /// assert_eq!(shape.validate(), Err(why));
    /// # Ok::<(), relayout::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// The first rule that the shape breaks.
    pub fn validate(&self) -> Result<(), LayoutError> {
        SHAPE_RULES.iter().chain(&LAYOUT_RULES).try_for_each(|rule| rule(self))
    }

    /// Every rule that the shape breaks, each with the first place where it does; empty for a valid shape.
    pub fn validation_errors(&self) -> Vec<LayoutError> {
        SHAPE_RULES.iter().chain(&LAYOUT_RULES).filter_map(|rule| rule(self).err()).collect()
    }
}

impl Shape {
    /// Checks every array in the shape, see [`ArrayShape::validate`].
    ///
    /// Of a buffer's array XLA checks type and sizes, not the layout; so does this function.
    ///
    /// # Errors
    /// The first rule that the shape breaks.
    pub fn validate(&self) -> Result<(), LayoutError> {
        match self {
            Shape::Array(array) => array.validate(),
            Shape::Buffer(array) => SHAPE_RULES.iter().try_for_each(|rule| rule(array)),
            Shape::Tuple(elements) => elements.iter().try_for_each(Shape::validate),
            Shape::Token | Shape::Opaque => Ok(()),
        }
    }

    /// Every rule that an array in the shape breaks; empty for a valid shape.
    pub fn validation_errors(&self) -> Vec<LayoutError> {
        match self {
            Shape::Array(array) => array.validation_errors(),
            Shape::Buffer(array) => SHAPE_RULES.iter().filter_map(|rule| rule(array).err()).collect(),
            Shape::Tuple(elements) => elements.iter().flat_map(Shape::validation_errors).collect(),
            Shape::Token | Shape::Opaque => Vec::new(),
        }
    }
}

fn element_type(array: &ArrayShape) -> Result<(), LayoutError> {
    let element_type = array.element_type();
    if element_type.is_array_element() { Ok(()) } else { Err(LayoutError::ElementType { element_type }) }
}

fn dimension_sizes(array: &ArrayShape) -> Result<(), LayoutError> {
    for (dimension, size) in array.dimensions().iter().enumerate() {
        if let Some(size) = size.bound().filter(|size| *size < 0) {
            return Err(LayoutError::NegativeDimension { dimension, size });
        }
    }
    Ok(())
}

/// The dense size in bytes must fit. The factors are taken in the order of the dimensions, so a zero hides an overflow
/// only if it comes early enough; dimensions without a bound are left out.
fn size(array: &ArrayShape) -> Result<(), LayoutError> {
    let mut bounds = array.dimensions().iter().filter_map(|size| size.bound());
    let elements = bounds.try_fold(1, i64::checked_mul);
    let elements = elements.ok_or(LayoutError::Overflow { what: "the number of elements" })?;
    let width = i64::from(array.element_type().byte_width().unwrap_or(0));
    elements.checked_mul(width).ok_or(LayoutError::Overflow { what: "the size in bytes" }).map(|_| ())
}

fn minor_to_major_length(array: &ArrayShape) -> Result<(), LayoutError> {
    let (entries, rank) = (array.layout().minor_to_major().len(), array.rank());
    if entries == rank { Ok(()) } else { Err(LayoutError::MinorToMajorLength { entries, rank }) }
}

/// `number` as a dimension of the array; works for logical and physical numbers.
fn existing(array: &ArrayShape, number: i64) -> Option<usize> {
    usize::try_from(number).ok().filter(|number| *number < array.rank())
}

fn minor_to_major_range(array: &ArrayShape) -> Result<(), LayoutError> {
    let minor_to_major = array.layout().minor_to_major();
    match minor_to_major.iter().find(|entry| existing(array, **entry).is_none()) {
        None => Ok(()),
        Some(&value) => Err(LayoutError::MinorToMajorOutOfRange {
            minor_to_major: minor_to_major.to_vec(),
            value,
            rank: array.rank(),
        }),
    }
}

/// Dimensions that were met, as bits.
struct Seen(SmallVec<[u64; 2]>);

impl Seen {
    fn new(rank: usize) -> Seen {
        Seen(smallvec![0; rank.div_ceil(64)])
    }

    /// Adds a dimension; true where it was there before.
    fn insert(&mut self, dimension: usize) -> bool {
        let (word, bit) = (&mut self.0[dimension / 64], 1 << (dimension % 64));
        let before = *word & bit != 0;
        *word |= bit;
        before
    }
}

fn minor_to_major_duplicates(array: &ArrayShape) -> Result<(), LayoutError> {
    let minor_to_major = array.layout().minor_to_major();
    let mut seen = Seen::new(array.rank());
    for &value in minor_to_major {
        let Some(dimension) = existing(array, value) else { continue };
        if seen.insert(dimension) {
            return Err(LayoutError::DuplicateMinorToMajor {
                minor_to_major: minor_to_major.to_vec(),
                value,
            });
        }
    }
    Ok(())
}

fn tiles(array: &ArrayShape) -> Result<(), LayoutError> {
    for (number, tile) in array.layout().tiles().iter().enumerate() {
        if tile.dimensions().is_empty() {
            return Err(LayoutError::EmptyTile { tile: number });
        }
        for entry in tile.dimensions() {
            if let TileDimension::Size(size) = *entry
                && size < 1
            {
                return Err(LayoutError::TileSize { tile: number, size });
            }
        }
    }
    Ok(())
}

fn element_size_in_bits(array: &ArrayShape) -> Result<(), LayoutError> {
    let bits = array.layout().element_size_in_bits();
    if bits >= 0 { Ok(()) } else { Err(LayoutError::ElementSizeInBits { bits }) }
}

fn tail_padding_alignment(array: &ArrayShape) -> Result<(), LayoutError> {
    let elements = array.layout().tail_padding_alignment_in_elements();
    if elements >= 1 { Ok(()) } else { Err(LayoutError::TailPaddingAlignment { elements }) }
}

/// XLA keeps a memory space in eight bits, so a shape of its own cannot break this rule.
fn memory_space(array: &ArrayShape) -> Result<(), LayoutError> {
    let space = array.layout().memory_space();
    if i8::try_from(space).is_ok() { Ok(()) } else { Err(LayoutError::MemorySpace { space }) }
}

/// No array is sparse since the levels of dimensions are gone.
fn sparse_fields(array: &ArrayShape) -> Result<(), LayoutError> {
    let layout = array.layout();
    let fields = [
        ("index_primitive_type", layout.index_primitive_type().is_some()),
        ("pointer_primitive_type", layout.pointer_primitive_type().is_some()),
        ("physical_shape", layout.physical_shape().is_some()),
    ];
    match fields.into_iter().find(|(_, present)| *present) {
        None => Ok(()),
        Some((field, _)) => Err(LayoutError::SparseField { field }),
    }
}

fn split_configs(array: &ArrayShape) -> Result<(), LayoutError> {
    let mut seen = Seen::new(array.rank());
    for split in array.layout().split_configs() {
        match existing(array, split.dimension) {
            Some(physical) if !seen.insert(physical) => {
                split_indices(array, split, physical)?;
            }
            _ => {
                return Err(LayoutError::SplitDimension { dimension: split.dimension, rank: array.rank() });
            }
        }
    }
    Ok(())
}

/// Indices ascend strictly between 0 and the size of the physical dimension that they cut.
fn split_indices(array: &ArrayShape, split: &SplitConfig, physical: usize) -> Result<(), LayoutError> {
    let from_minor = array.rank() - 1 - physical;
    let logical = array.layout().minor_to_major().get(from_minor).and_then(|entry| existing(array, *entry));
    // Without a dimension to cut, the rules for minor_to_major have the say.
    let Some(dimension) = logical else { return Ok(()) };
    let mut least = 1;
    for &index in &split.indices {
        let size =
            array.dimensions()[dimension].bound().ok_or(LayoutError::UnboundedDimension { dimension })?;
        if index < least || index >= size {
            return Err(LayoutError::SplitIndex { dimension: split.dimension, index, size });
        }
        least = index + 1;
    }
    Ok(())
}

/// Legacy padding: one size per logical dimension, none smaller than the dimension, and no tiles besides.
fn padded_dimensions(array: &ArrayShape) -> Result<(), LayoutError> {
    let padded = array.layout().padded_dimensions();
    if padded.is_empty() {
        return Ok(());
    }
    if padded.len() != array.rank() {
        return Err(LayoutError::PaddedDimensionsLength { entries: padded.len(), rank: array.rank() });
    }
    for (dimension, (&padded, size)) in padded.iter().zip(array.dimensions()).enumerate() {
        if let Some(size) = size.bound().filter(|size| padded < *size) {
            return Err(LayoutError::PaddedDimensionTooSmall { dimension, padded, size });
        }
    }
    if array.layout().tiles().is_empty() { Ok(()) } else { Err(LayoutError::PaddedAndTiled) }
}

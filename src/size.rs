//! Sizes: how many elements an array has, and how much memory its layout takes.
//!
//! They follow the full meaning of a layout: every tile level, the tail alignment `L` with or without tiles, the slot
//! width `E`, and legacy padding. XLA's own `ShapeUtil::ArraySize` looks at the first tile only and at `L` only where
//! there are tiles. Dynamic dimensions count with their bound. Split configurations (`SC`) and the metadata prefix
//! (`M`) change no size here.

use crate::index::{
    Sizes, checked_product, physical_sizes, sizes_in_physical_order, slot_count, untiled_strides,
    valid_bounds,
};
use crate::{ArrayShape, LayoutError, Shape, TileDimension};

/// How much memory an array takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct MemorySize {
    pub(crate) slots: i64,
    pub(crate) bytes: i64,
}

impl ArrayShape {
    /// The number of dimensions whose size is not 1 (XLA's `TrueRank`).
    pub fn true_rank(&self) -> usize {
        self.dimensions().iter().filter(|size| size.bound() != Some(1)).count()
    }

    /// The number of elements; padding does not count.
    ///
    /// # Errors
    /// What makes the shape invalid, and [`LayoutError::UnboundedDimension`].
    pub fn elements(&self) -> Result<i64, LayoutError> {
        checked_product("the number of elements", &valid_bounds(self)?)
    }

    /// The dimensions after all tiles, most major first; row major over them is the order of memory.
    ///
    /// Legacy padding is counted; the tail alignment `L` belongs to no dimension and is not.
    ///
    /// ```
    /// use relayout::{ArrayShape, Layout, PrimitiveType, Tile};
    /// let layout = Layout::row_major(2).with_tiles([Tile::from([2, 2])]);
    /// let shape = ArrayShape::new(PrimitiveType::F32, [3, 5]).with_layout(layout);
    /// assert_eq!(shape.physical_dimensions()?, [2, 3, 2, 2]);
    /// assert_eq!((shape.padded_elements()?, shape.byte_size()?, shape.padding_bytes()?), (24, 96, 36));
    /// # Ok::<(), relayout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Indexer::new`](crate::index::Indexer::new).
    pub fn physical_dimensions(&self) -> Result<Vec<i64>, LayoutError> {
        let mut sizes = Sizes::new();
        self.count_slots(&mut sizes)?;
        Ok(sizes.into_vec())
    }

    /// The number of element slots: elements, the padding of every tile, legacy padding and the tail alignment `L`.
    ///
    /// # Errors
    /// As [`Indexer::new`](crate::index::Indexer::new).
    pub fn padded_elements(&self) -> Result<i64, LayoutError> {
        self.count_slots(&mut Sizes::new())
    }

    /// Bits of one slot: `E`, or the unpacked bytes of the element type.
    ///
    /// # Errors
    /// What makes the shape invalid.
    pub fn element_bits(&self) -> Result<i64, LayoutError> {
        self.validate()?;
        self.slot_bits()
    }

    /// Bytes of memory that the array takes, rounded up to whole bytes at the end.
    ///
    /// ```
    /// use relayout::ArrayShape;
    /// let bytes = |text: &str| text.parse::<ArrayShape>().map(|shape| shape.byte_size());
    /// assert_eq!(bytes("s4[5]")?, Ok(5)); // a byte each
    /// assert_eq!(bytes("s4[5]{0:E(4)}")?, Ok(3)); // two a byte
    /// assert_eq!(bytes("f32[5]{0:L(8)}")?, Ok(32)); // padded to 8 elements
    /// # Ok::<(), relayout::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Indexer::new`](crate::index::Indexer::new).
    pub fn byte_size(&self) -> Result<i64, LayoutError> {
        Ok(self.memory_size()?.bytes)
    }

    /// Slots and bytes at once, found once; the only check of the shape that a plan needs.
    pub(crate) fn memory_size(&self) -> Result<MemorySize, LayoutError> {
        self.memory(|| {
            let slots = self.padded_elements()?;
            Ok(MemorySize { slots, bytes: self.bytes_of(slots)? })
        })
    }

    /// Bytes that the elements alone would take, without tiles, padding or `L`; packed where the layout packs (XLA's
    /// `ByteSizeOf`).
    ///
    /// # Errors
    /// As [`ArrayShape::elements`], and [`LayoutError::Overflow`].
    pub fn dense_byte_size(&self) -> Result<i64, LayoutError> {
        self.bytes_of(self.elements()?)
    }

    /// Bytes that the layout costs beyond the elements: byte size less dense byte size.
    ///
    /// # Errors
    /// As [`Indexer::new`](crate::index::Indexer::new).
    pub fn padding_bytes(&self) -> Result<i64, LayoutError> {
        Ok(self.byte_size()? - self.dense_byte_size()?)
    }

    /// Bytes between neighbours along each logical dimension, tiles ignored; `None` where slots are not whole bytes.
    ///
    /// As in XLA, an `E` of whole bytes is ignored too, and sizes of zero give zero strides towards the major side.
    ///
    /// # Errors
    /// What makes the shape invalid or unbounded, and [`LayoutError::Overflow`].
    pub fn byte_strides(&self) -> Result<Option<Vec<i64>>, LayoutError> {
        if self.element_bits()? % 8 != 0 {
            return Ok(None);
        }
        self.unpacked_byte_strides().map(Some)
    }

    /// As [`ArrayShape::byte_strides`], for an array whose elements take whole bytes each whatever `E` says.
    ///
    /// # Errors
    /// As [`ArrayShape::byte_strides`].
    pub fn unpacked_byte_strides(&self) -> Result<Vec<i64>, LayoutError> {
        let width = self.byte_width()?;
        let overflow = LayoutError::Overflow { what: "a byte stride" };
        let strides = untiled_strides(self)?;
        strides.iter().map(|stride| stride.checked_mul(width).ok_or_else(|| overflow.clone())).collect()
    }

    /// True where the tiles neither move an element nor add padding, so that the layout without them is the same.
    ///
    /// As XLA's `IsUntiledLayout`, it never says so of a tile with `*`.
    ///
    /// # Errors
    /// As [`Indexer::new`](crate::index::Indexer::new).
    pub fn is_untiled(&self) -> Result<bool, LayoutError> {
        self.padded_elements()?;
        let mut sizes = sizes_in_physical_order(self, &self.bounds()?);
        // The distance in untiled memory that a step along each dimension makes.
        let mut strides = row_major_strides(&sizes);
        for tile in self.layout().tiles() {
            // A tile longer than the rank acts on size-1 major dimensions in front.
            let missing = tile.dimensions().len().saturating_sub(sizes.len());
            sizes.splice(0..0, std::iter::repeat_n(1, missing));
            strides.splice(0..0, std::iter::repeat_n(0, missing));
            let under = sizes.len() - tile.dimensions().len();
            for (position, entry) in tile.dimensions().iter().enumerate() {
                let TileDimension::Size(length) = *entry else { return Ok(false) };
                if sizes[under + position] % length != 0 {
                    return Ok(false);
                }
                sizes.push(length);
                strides.push(strides[under + position]);
                sizes[under + position] /= length;
                strides[under + position] = strides[under + position].wrapping_mul(length);
            }
        }
        let expected = row_major_strides(&sizes);
        Ok((0..sizes.len())
            .all(|dimension| sizes[dimension] <= 1 || strides[dimension] == expected[dimension]))
    }

    /// The largest piece of logical dimension `dimension` (negative as in Python) under the layout's split
    /// configurations; the whole size where it is not split.
    ///
    /// # Errors
    /// What makes the shape invalid or unbounded, and [`LayoutError::NoSuchDimension`].
    pub fn max_split_size(&self, dimension: i64) -> Result<i64, LayoutError> {
        let size = valid_bounds(self)?[self.dimension_number(dimension)?];
        let physical = self.physical_dimension_number(dimension)? as i64;
        let splits = self.layout().split_configs().iter();
        let cuts = splits.filter(|split| split.dimension == physical).take(1);
        let mut last = 0;
        let pieces = cuts.flat_map(|split| &split.indices).copied().chain([size]).map(|cut| {
            let piece = cut - last;
            last = cut;
            piece
        });
        Ok(pieces.max().unwrap_or(size))
    }

    /// Bytes of one unpacked element.
    fn byte_width(&self) -> Result<i64, LayoutError> {
        let element_type = self.element_type();
        element_type.byte_width().map(i64::from).ok_or(LayoutError::ElementType { element_type })
    }

    /// Bits of one slot of a valid shape.
    fn slot_bits(&self) -> Result<i64, LayoutError> {
        match self.layout().element_size_in_bits() {
            0 => Ok(self.byte_width()? * 8),
            bits => Ok(bits),
        }
    }

    /// The slots that the physical sizes make, of a shape that is checked here; the sizes are left in `room`.
    fn count_slots(&self, room: &mut Sizes) -> Result<i64, LayoutError> {
        self.validate()?;
        physical_sizes(self, room)?;
        slot_count(self, room)
    }

    fn bytes_of(&self, slots: i64) -> Result<i64, LayoutError> {
        // 64 bits may hold the bytes and not the bits.
        let bytes = (i128::from(slots) * i128::from(self.slot_bits()?) + 7) / 8;
        bytes.try_into().map_err(|_| LayoutError::Overflow { what: "the size in bytes" })
    }
}

impl Shape {
    /// The array that this shape's memory holds: of an array itself, and of a buffer.
    fn stored_array(&self) -> Result<&ArrayShape, LayoutError> {
        match self {
            Shape::Array(array) | Shape::Buffer(array) => Ok(array),
            _ => Err(LayoutError::NotAnArray { found: self.primitive_type() }),
        }
    }

    /// [`ArrayShape::elements`] of an array or a buffer.
    ///
    /// # Errors
    /// [`LayoutError::NotAnArray`], and those of the array's function.
    pub fn elements(&self) -> Result<i64, LayoutError> {
        self.stored_array()?.elements()
    }

    /// [`ArrayShape::physical_dimensions`] of an array or a buffer.
    ///
    /// # Errors
    /// [`LayoutError::NotAnArray`], and those of the array's function.
    pub fn physical_dimensions(&self) -> Result<Vec<i64>, LayoutError> {
        self.stored_array()?.physical_dimensions()
    }

    /// [`ArrayShape::padded_elements`] of an array or a buffer.
    ///
    /// # Errors
    /// [`LayoutError::NotAnArray`], and those of the array's function.
    pub fn padded_elements(&self) -> Result<i64, LayoutError> {
        self.stored_array()?.padded_elements()
    }

    /// [`ArrayShape::element_bits`] of an array or a buffer.
    ///
    /// # Errors
    /// [`LayoutError::NotAnArray`], and those of the array's function.
    pub fn element_bits(&self) -> Result<i64, LayoutError> {
        self.stored_array()?.element_bits()
    }

    /// [`ArrayShape::byte_size`] of an array or a buffer; a token has 0 bytes.
    ///
    /// # Errors
    /// [`LayoutError::NotAnArray`] for tuples and opaque values, whose size depends on that of a pointer (see
    /// [`Shape::byte_size_with_pointers`]), and those of the array's function.
    pub fn byte_size(&self) -> Result<i64, LayoutError> {
        if matches!(self, Shape::Token) { Ok(0) } else { self.stored_array()?.byte_size() }
    }

    /// Bytes of the shape's top level on a machine with pointers of `pointer_bytes`: a tuple is a table of pointers,
    /// an opaque value is one.
    ///
    /// # Errors
    /// Those of [`ArrayShape::byte_size`], and [`LayoutError::Overflow`].
    pub fn byte_size_with_pointers(&self, pointer_bytes: i64) -> Result<i64, LayoutError> {
        match self {
            Shape::Tuple(elements) => {
                checked_product("the size in bytes", &[elements.len() as i64, pointer_bytes])
            }
            Shape::Opaque => Ok(pointer_bytes),
            _ => self.byte_size(),
        }
    }

    /// [`ArrayShape::dense_byte_size`] of an array or a buffer; a token has 0 bytes.
    ///
    /// # Errors
    /// As [`Shape::byte_size`].
    pub fn dense_byte_size(&self) -> Result<i64, LayoutError> {
        if matches!(self, Shape::Token) { Ok(0) } else { self.stored_array()?.dense_byte_size() }
    }

    /// [`ArrayShape::padding_bytes`] of an array or a buffer; a token has 0 bytes.
    ///
    /// # Errors
    /// As [`Shape::byte_size`].
    pub fn padding_bytes(&self) -> Result<i64, LayoutError> {
        if matches!(self, Shape::Token) { Ok(0) } else { self.stored_array()?.padding_bytes() }
    }
}

/// Modulo 2^64: only an array without elements has larger strides, and there they need only be compared.
fn row_major_strides(sizes: &[i64]) -> Vec<i64> {
    let product = |sizes: &[i64]| sizes.iter().fold(1, |product: i64, &size| product.wrapping_mul(size));
    (1..=sizes.len()).map(|next| product(&sizes[next..])).collect()
}

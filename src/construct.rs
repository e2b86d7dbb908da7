//! Shapes made at one stroke, and shapes made from shapes: XLA's `MakeShape…` functions and their relatives.

use crate::{ArrayShape, DimensionSize, Layout, LayoutError, PrimitiveType, Shape, Tile};

impl ArrayShape {
    /// An array without dimensions: one element.
    pub fn scalar(element_type: PrimitiveType) -> ArrayShape {
        ArrayShape::new(element_type, [0i64; 0])
    }

    /// An array in the default layout, checked (XLA's `MakeValidatedShape`).
    ///
    /// ```
    /// use relayout::{ArrayShape, PrimitiveType};
    /// assert!(ArrayShape::make_validated(PrimitiveType::F32, [2, 3]).is_ok());
    /// assert!(ArrayShape::make_validated(PrimitiveType::F32, [2, -3]).is_err());
    /// ```
    ///
    /// # Errors
    /// What [`ArrayShape::validate`] finds.
    pub fn make_validated<D: Into<DimensionSize>>(
        element_type: PrimitiveType,
        dimensions: impl IntoIterator<Item = D>,
    ) -> Result<ArrayShape, LayoutError> {
        ArrayShape::new(element_type, dimensions).validated()
    }

    /// An array with the given order of dimensions and tiles, checked (XLA's `MakeShapeWithDenseLayout`).
    ///
    /// # Errors
    /// What [`ArrayShape::validate`] finds.
    pub fn make_with_dense_layout<D: Into<DimensionSize>>(
        element_type: PrimitiveType,
        dimensions: impl IntoIterator<Item = D>,
        minor_to_major: impl IntoIterator<Item = i64>,
        tiles: impl IntoIterator<Item = Tile>,
    ) -> Result<ArrayShape, LayoutError> {
        let layout = Layout::from_minor_to_major(minor_to_major).with_tiles(tiles);
        ArrayShape::new(element_type, dimensions).with_layout(layout).validated()
    }

    /// This shape, where it is valid.
    ///
    /// # Errors
    /// What [`ArrayShape::validate`] finds.
    pub fn validated(self) -> Result<ArrayShape, LayoutError> {
        self.validate()?;
        Ok(self)
    }

    /// The same dimensions and layout with elements of another type (XLA's `ChangeElementType`).
    pub fn with_element_type(self, element_type: PrimitiveType) -> ArrayShape {
        ArrayShape::new(element_type, self.dimensions().iter().copied()).with_layout(self.layout().clone())
    }

    /// The same array with every dynamic dimension at its bound (XLA's `MakeShapeWithStaticDimensions`).
    ///
    /// # Errors
    /// [`LayoutError::UnboundedDimension`].
    pub fn with_static_dimensions(&self) -> Result<ArrayShape, LayoutError> {
        Ok(ArrayShape::new(self.element_type(), self.bounds()?).with_layout(self.layout().clone()))
    }

    /// Another shape over the same bytes whose dimensions lie in their own order: its logical dimensions are this
    /// shape's physical ones (XLA's `MakeShapeWithDescendingLayoutAndSamePhysicalLayout`).
    ///
    /// Tiles, `L`, `E`, `S` and legacy padding are kept, the other notes dropped.
    ///
    /// ```
    /// use relayout::{ArrayShape, Layout, PrimitiveType, Tile};
    /// let layout = Layout::from_minor_to_major([0, 1]).with_tiles([Tile::from([8, 128])]);
    /// let shape = ArrayShape::new(PrimitiveType::F32, [2, 3]).with_layout(layout);
    /// let descending = shape.with_descending_layout_and_same_physical_layout()?;
    /// assert_eq!(descending.to_string(), "f32[3,2]{1,0:T(8,128)}");
    /// # Ok::<(), relayout::LayoutError>(())
    /// ```
    ///
    /// # Errors
    /// What [`ArrayShape::validate`] finds.
    pub fn with_descending_layout_and_same_physical_layout(&self) -> Result<ArrayShape, LayoutError> {
        self.validate()?;
        let old = self.layout();
        let major_to_minor = || old.minor_to_major().iter().rev().map(|&dimension| dimension as usize);
        let padded = old.padded_dimensions();
        let padded: Vec<i64> =
            major_to_minor().filter_map(|dimension| padded.get(dimension).copied()).collect();
        let layout = Layout::row_major(self.rank())
            .with_tiles(old.tiles().iter().cloned())
            .with_tail_padding_alignment_in_elements(old.tail_padding_alignment_in_elements())
            .with_element_size_in_bits(old.element_size_in_bits())
            .with_memory_space(old.memory_space())
            .with_padded_dimensions(padded, old.padding_value());
        let dimensions = major_to_minor().map(|dimension| self.dimensions()[dimension]);
        Ok(ArrayShape::new(self.element_type(), dimensions).with_layout(layout))
    }

    /// The same array in the default order of dimensions; tiles and all other notes are kept (XLA's
    /// `SetToDefaultLayout`).
    pub fn with_default_layout(self) -> ArrayShape {
        let rank = self.rank();
        let layout = self.layout().clone().with_minor_to_major((0..rank as i64).rev());
        self.with_layout(layout)
    }

    /// The form that a device's array takes on the host: the order of dimensions and split configurations stay, all
    /// other notes go (XLA's `DeviceShapeToHostShape`).
    pub fn to_host_shape(&self) -> ArrayShape {
        let old = self.layout();
        let layout = Layout::from_minor_to_major(old.minor_to_major().iter().copied())
            .with_split_configs(old.split_configs().iter().cloned());
        self.clone().with_layout(layout)
    }

    /// Packs or unpacks: with `pack`, types narrower than a byte, except `pred`, get slots of their own width (`E`); all
    /// other arrays, and every array without `pack`, get slots of whole bytes (XLA's `UpdateElementSizeInBits`).
    ///
    /// ```
    /// use relayout::{ArrayShape, PrimitiveType};
    /// let packed = ArrayShape::new(PrimitiveType::S4, [5]).update_element_size_in_bits(true);
    /// assert_eq!(packed.to_string(), "s4[5]{0:E(4)}");
    /// ```
    pub fn update_element_size_in_bits(self, pack: bool) -> ArrayShape {
        let element_type = self.element_type();
        let width = element_type.bit_width().filter(|_| pack && element_type.is_sub_byte_non_pred());
        let layout = self.layout().clone().with_element_size_in_bits(width.map_or(0, i64::from));
        self.with_layout(layout)
    }
}

impl Shape {
    /// A tuple of `elements`.
    pub fn tuple(elements: impl IntoIterator<Item = Shape>) -> Shape {
        Shape::Tuple(elements.into_iter().collect())
    }

    /// The empty tuple.
    pub fn nil() -> Shape {
        Shape::Tuple(Vec::new())
    }

    /// The only element, or a tuple of several or none (XLA's `MakeMaybeTupleShape`).
    pub fn maybe_tuple(elements: impl IntoIterator<Item = Shape>) -> Shape {
        let mut elements: Vec<Shape> = elements.into_iter().collect();
        match elements.pop() {
            Some(only) if elements.is_empty() => only,
            last => {
                elements.extend(last);
                Shape::Tuple(elements)
            }
        }
    }

    /// This shape, where it is valid.
    ///
    /// # Errors
    /// What [`Shape::validate`] finds.
    pub fn validated(self) -> Result<Shape, LayoutError> {
        self.validate()?;
        Ok(self)
    }

    /// [`ArrayShape::with_default_layout`] of every array in the shape.
    pub fn with_default_layout(self) -> Shape {
        self.map_arrays(&ArrayShape::with_default_layout)
    }

    /// [`ArrayShape::to_host_shape`] of every array in the shape.
    pub fn to_host_shape(&self) -> Shape {
        self.clone().map_arrays(&|array| array.to_host_shape())
    }

    /// [`ArrayShape::update_element_size_in_bits`] of every array in the shape.
    pub fn update_element_size_in_bits(self, pack: bool) -> Shape {
        self.map_arrays(&|array| array.update_element_size_in_bits(pack))
    }

    fn map_arrays(self, change: &impl Fn(ArrayShape) -> ArrayShape) -> Shape {
        match self {
            Shape::Array(array) => Shape::Array(change(array)),
            Shape::Buffer(array) => Shape::Buffer(change(array)),
            Shape::Tuple(elements) => {
                Shape::Tuple(elements.into_iter().map(|element| element.map_arrays(change)).collect())
            }
            other @ (Shape::Token | Shape::Opaque) => other,
        }
    }
}

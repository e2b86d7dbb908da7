//! Shapes: element type, logical dimensions and layout; tuples, buffers, tokens and opaque values.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use crate::size::MemorySize;
use crate::{Layout, LayoutError, PrimitiveType};

/// The size of one logical dimension, as its text says: `8`, `<=8` or `?`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DimensionSize {
    /// Exactly this many elements.
    Static(i64),
    /// A dynamic dimension of at most this many elements (`<=n`); memory is laid out for the bound.
    Bounded(i64),
    /// A dynamic dimension without bound (`?`); sizes that depend on it are undefined.
    Unbounded,
}

impl DimensionSize {
    /// The number of elements that memory is laid out for; `None` where there is no bound.
    pub fn bound(self) -> Option<i64> {
        match self {
            DimensionSize::Static(n) | DimensionSize::Bounded(n) => Some(n),
            DimensionSize::Unbounded => None,
        }
    }

    /// True for bounded and unbounded dynamic dimensions.
    pub fn is_dynamic(self) -> bool {
        !matches!(self, DimensionSize::Static(_))
    }
}

impl From<i64> for DimensionSize {
    fn from(size: i64) -> Self {
        DimensionSize::Static(size)
    }
}

/// An array: element type, logical dimensions, and how they lie in memory.
///
/// Constructors check nothing, as in XLA; [`ArrayShape::validate`] does, and every function that computes a size,
/// an index or a plan validates first. Clones share one description, so that a plan keeps its shapes for nothing.
///
/// ```
/// use relayout::{ArrayShape, Layout, PrimitiveType, Tile};
/// let shape = ArrayShape::new(PrimitiveType::Bf16, [64, 256])
///     .with_layout(Layout::from_minor_to_major([1, 0]).with_tiles([Tile::from([8, 128]), Tile::from([2, 1])]));
/// assert_eq!(shape.to_string(), "bf16[64,256]{1,0:T(8,128)(2,1)}");
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ArrayShape(Arc<Fields>);

/// What an array is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Fields {
    element_type: PrimitiveType,
    dimensions: Vec<DimensionSize>,
    layout: Layout,
    /// How much memory the array takes: checking all rules would be a quarter of a plan's time.
    memory: Found<Result<MemorySize, LayoutError>>,
    /// The array in the bytes by which requests are told apart: writing them would be half of a plan cache's time.
    encoding: Found<Box<[u8]>>,
}

/// What follows from other fields, found when it is first asked for. It makes no difference between arrays, and no copy has it.
struct Found<T>(OnceLock<T>);

impl<T> Default for Found<T> {
    fn default() -> Found<T> {
        Found(OnceLock::new())
    }
}

impl<T> Clone for Found<T> {
    fn clone(&self) -> Found<T> {
        Found::default()
    }
}

impl<T> PartialEq for Found<T> {
    fn eq(&self, _other: &Found<T>) -> bool {
        true
    }
}

impl<T> Eq for Found<T> {}

impl<T> Hash for Found<T> {
    fn hash<H: Hasher>(&self, _state: &mut H) {}
}

impl<T> fmt::Debug for Found<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("_")
    }
}

impl ArrayShape {
    /// An array with the default layout: dimension 0 is the most major (row major).
    pub fn new<D: Into<DimensionSize>>(
        element_type: PrimitiveType,
        dimensions: impl IntoIterator<Item = D>,
    ) -> ArrayShape {
        let dimensions: Vec<DimensionSize> = dimensions.into_iter().map(Into::into).collect();
        let layout = Layout::row_major(dimensions.len());
        let (memory, encoding) = (Found::default(), Found::default());
        ArrayShape(Arc::new(Fields { element_type, dimensions, layout, memory, encoding }))
    }

    /// The same array in another layout.
    pub fn with_layout(mut self, layout: Layout) -> ArrayShape {
        let fields = Arc::make_mut(&mut self.0);
        (fields.layout, fields.memory, fields.encoding) = (layout, Found::default(), Found::default());
        self
    }

    /// How much memory the array takes, which `find` finds the first time.
    pub(crate) fn memory(
        &self,
        find: impl FnOnce() -> Result<MemorySize, LayoutError>,
    ) -> Result<MemorySize, LayoutError> {
        self.0.memory.0.get_or_init(find).clone()
    }

    /// The array as canonical bytes, which `write` writes the first time.
    pub(crate) fn encoding(&self, write: impl FnOnce() -> Box<[u8]>) -> &[u8] {
        self.0.encoding.0.get_or_init(write)
    }

    /// The type of the elements.
    pub fn element_type(&self) -> PrimitiveType {
        self.0.element_type
    }

    /// The logical dimensions, dimension 0 first.
    pub fn dimensions(&self) -> &[DimensionSize] {
        &self.0.dimensions
    }

    /// The number of logical dimensions.
    pub fn rank(&self) -> usize {
        self.0.dimensions.len()
    }

    /// How the dimensions lie in memory.
    pub fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// The sizes that memory is laid out for: dynamic dimensions count with their bound.
    ///
    /// # Errors
    /// [`LayoutError::UnboundedDimension`] where a dimension is `?`.
    pub fn bounds(&self) -> Result<Vec<i64>, LayoutError> {
        self.dimensions()
            .iter()
            .enumerate()
            .map(|(dimension, size)| size.bound().ok_or(LayoutError::UnboundedDimension { dimension }))
            .collect()
    }
}

/// Any XLA shape, as XLA's [document on shapes](https://openxla.org/xla/shapes) describes them.
///
/// Reads and prints XLA's text form; see the [crate documentation](crate) for the notation.
///
/// ```
/// use relayout::Shape;
/// let shape: Shape = "f32[2, 3]".parse()?;
/// assert_eq!(shape.to_string(), "f32[2,3]{1,0}"); // canonical text, default layout written out
/// # Ok::<(), relayout::ParseError>(())
/// ```
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// An array.
    Array(ArrayShape),
    /// A buffer of an array, `b(…)`.
    Buffer(ArrayShape),
    /// A tuple of shapes.
    Tuple(Vec<Shape>),
    /// A token, which orders effects and has no data.
    Token,
    /// A value that XLA knows nothing of; it has the size of a pointer.
    Opaque,
}

impl Shape {
    /// The array, if this is one.
    pub fn as_array(&self) -> Option<&ArrayShape> {
        match self {
            Shape::Array(array) => Some(array),
            _ => None,
        }
    }

    /// The kind of shape as an element type: `Tuple`, `Token`, `Opaque`, `Buffer`, or the type of the elements.
    pub fn primitive_type(&self) -> PrimitiveType {
        match self {
            Shape::Array(array) => array.element_type(),
            Shape::Buffer(_) => PrimitiveType::Buffer,
            Shape::Tuple(_) => PrimitiveType::Tuple,
            Shape::Token => PrimitiveType::Token,
            Shape::Opaque => PrimitiveType::Opaque,
        }
    }
}

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Shape {
        Shape::Array(array)
    }
}

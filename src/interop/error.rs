//! What other libraries say that cannot be.

use thiserror::Error;

use crate::{LayoutError, PrimitiveType};

/// Why a description from another library, or one for it, makes no sense.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InteropError {
    /// Two lists that belong together have different lengths.
    #[error("{what} has {found} entries, expected {expected}")]
    Length {
        /// Which list.
        what: &'static str,
        /// Entries that the other list asks for.
        expected: usize,
        /// Entries that came.
        found: usize,
    },
    /// A dimension with fewer than no elements.
    #[error("dimension {dimension} has size {size}, expected 0 or more")]
    NegativeSize {
        /// Dimension number.
        dimension: usize,
        /// The size that came.
        size: i64,
    },
    /// A number that 64 bits cannot hold.
    #[error("{what} overflows 64 bits")]
    Overflow {
        /// Which number was being computed.
        what: &'static str,
    },
    /// A type of DLPack that has no counterpart.
    #[error("no element type has DLPack's code {code} with {bits} bits")]
    DataType {
        /// DLPack's type code.
        code: u8,
        /// Bits of one lane.
        bits: u8,
    },
    /// An element type that the other library lacks.
    #[error("DLPack has no type for {element_type}")]
    NoDataType {
        /// The type.
        element_type: PrimitiveType,
    },
    /// Vectors of no elements.
    #[error("elements have 0 lanes, expected 1 or more")]
    NoLanes,
    /// Elements that share bytes, and strides that are not those of a compact array.
    #[error(
        "{element_type} elements share bytes, so the array must be compact and row major and start at byte 0"
    )]
    StridesOfPacked {
        /// The type.
        element_type: PrimitiveType,
    },
    /// An order of dimensions or a tile that is none.
    #[error(transparent)]
    Layout(#[from] LayoutError),
    /// A layout with a note that the other library's fields cannot say, though it changes where elements lie.
    #[error("the layout's {field} has no place in {target}")]
    NotExpressible {
        /// The note.
        field: &'static str,
        /// Whose fields.
        target: &'static str,
    },
    /// A type that is no element of an array.
    #[error("{element_type} is no type of array elements")]
    NoElement {
        /// The type.
        element_type: PrimitiveType,
    },
    /// A view that is not a part of the buffer that it is said to be in.
    #[error("the view reaches bytes {low} to {high} of a buffer of {bytes} bytes")]
    OutsideBuffer {
        /// First byte that the view reaches, counted from the buffer's start.
        low: i128,
        /// The byte behind the last one.
        high: i128,
        /// Bytes of the buffer.
        bytes: usize,
    },
}

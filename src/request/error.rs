//! Why a relayout cannot be planned.

use relayout_kernels::LevelError;
use thiserror::Error;

use crate::{LayoutError, PrimitiveType};

/// Source or destination, in errors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum End {
    /// The array that is read.
    Source,
    /// The array that is written.
    Destination,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            End::Source => "source",
            End::Destination => "destination",
        })
    }
}

/// Why a relayout cannot be planned.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum PlanError {
    /// A shape or layout is invalid, or has no size.
    #[error("{end}: {error}")]
    Layout {
        /// Which of the two shapes.
        end: End,
        /// What is wrong with it.
        error: LayoutError,
    },
    /// Elements of the one type cannot become elements of the other.
    #[error("no conversion leads from {src} to {dst}")]
    NoConversion {
        /// Element type of the source.
        src: PrimitiveType,
        /// Element type of the destination.
        dst: PrimitiveType,
    },
    /// A scale between types that take none: it is for real numbers that become real floats or integers.
    #[error("a scale cannot stand between {src} and {dst}")]
    ScaleOfTypes {
        /// Element type of the source.
        src: PrimitiveType,
        /// Element type of the destination.
        dst: PrimitiveType,
    },
    /// A scale along a dimension that the arrays do not have.
    #[error("scale along dimension {dimension} of arrays of {rank} dimensions")]
    ScaleDimension {
        /// The dimension that came.
        dimension: usize,
        /// Dimensions of the arrays.
        rank: usize,
    },
    /// A scale that has more or fewer factors than elements are moved along its dimension.
    #[error("scale along dimension {dimension} has {found} factors, expected {expected}")]
    ScaleLength {
        /// Logical dimension number.
        dimension: usize,
        /// Elements that are moved along it.
        expected: i64,
        /// Factors that came.
        found: usize,
    },
    /// `ef57` between types that are not one `f64` and one `f32`.
    #[error("ef57 stands between f64 and f32, not between {src} and {dst}")]
    Ef57Types {
        /// Element type of the source.
        src: PrimitiveType,
        /// Element type of the destination.
        dst: PrimitiveType,
    },
    /// `ef57` where the last dimension of the `f32` array is not twice that of the `f64` array.
    #[error(
        "ef57 takes {pairs} elements of f64 to twice as many of f32 in the last dimension, found {floats}"
    )]
    Ef57Size {
        /// Size of the last dimension of the `f64` array, 0 where it has none.
        pairs: i64,
        /// Size of the last dimension of the `f32` array, 0 where it has none.
        floats: i64,
    },
    /// `ef57` together with an option that it excludes.
    #[error("ef57 cannot be combined with {option}")]
    Ef57Option {
        /// The option: `a region` or `a scale`.
        option: &'static str,
    },
    /// The shapes, or a shape and a list given beside it, have different numbers of dimensions.
    #[error("{what} has {found} entries, expected {expected}, one per dimension of the source")]
    RanksDiffer {
        /// What has the wrong length.
        what: &'static str,
        /// Dimensions of the source.
        expected: usize,
        /// Entries that came.
        found: usize,
    },
    /// The shapes differ in a dimension, and no region says what to move.
    #[error("dimension {dimension} differs: source has {src} elements, destination {dst}")]
    DimensionsDiffer {
        /// Logical dimension number.
        dimension: usize,
        /// Its size in the source.
        src: i64,
        /// Its size in the destination.
        dst: i64,
    },
    /// A region reaches outside an array.
    #[error(
        "region of {extent} elements from {start} leaves dimension {dimension} of the {end}, which has {size}"
    )]
    RegionOutOfBounds {
        /// Which array it leaves.
        end: End,
        /// Logical dimension number.
        dimension: usize,
        /// First index of the region.
        start: i64,
        /// Elements of the region.
        extent: i64,
        /// Size of the dimension.
        size: i64,
    },
    /// Slots narrower than the type: bits would be lost.
    #[error("{end}: element_size_in_bits (E) is {bits}, narrower than {element_type}")]
    SlotTooNarrow {
        /// Which of the two shapes.
        end: End,
        /// The slot width that came.
        bits: i64,
        /// The type that does not fit.
        element_type: PrimitiveType,
    },
    /// Slots that are neither whole bytes nor 1, 2 or 4 bits.
    #[error("{end}: element_size_in_bits (E) is {bits}, expected 1, 2, 4 or whole bytes")]
    SlotWidth {
        /// Which of the two shapes.
        end: End,
        /// The slot width that came.
        bits: i64,
    },
    /// Byte strides on slots that share bytes.
    #[error("{end}: byte strides need slots of whole bytes, but element_size_in_bits (E) is {bits}")]
    StridesOfPacked {
        /// Which of the two shapes.
        end: End,
        /// The slot width.
        bits: u32,
    },
    /// Byte strides on a tiling whose tile counts have no order of their own.
    #[error("{end}: byte strides cannot be combined with tile {tile}, which reaches beyond the first tile")]
    StridesOfTiling {
        /// Which of the two shapes.
        end: End,
        /// Which tile, the first is 0.
        tile: usize,
    },
    /// An offset without strides: a dense array starts at its first byte.
    #[error("{end}: an offset of {offset_bytes} bytes needs byte strides")]
    OffsetWithoutStrides {
        /// Which of the two shapes.
        end: End,
        /// The offset that came.
        offset_bytes: i64,
    },
    /// Strides that reach below the first byte of the buffer.
    #[error("{end}: strides and offset reach byte {byte}, below the start of the buffer")]
    BelowBuffer {
        /// Which of the two shapes.
        end: End,
        /// The lowest byte that would be reached.
        byte: i64,
    },
    /// Destination strides that may put two elements into one place.
    #[error(
        "destination strides may put two elements into the same bytes: stride {stride} over {extent} elements meets a span of {span} bytes"
    )]
    DestinationOverlaps {
        /// The stride that is too short, in bytes.
        stride: i64,
        /// Elements along it.
        extent: i64,
        /// Bytes that the faster strides and the element span together.
        span: i64,
    },
    /// A forced level that is unknown, or that this machine or this build lacks.
    #[error(transparent)]
    Level(LevelError),
    /// An address that 64 bits cannot hold.
    #[error("{end}: an address overflows 64 bits")]
    AddressOverflow {
        /// Which of the two shapes.
        end: End,
    },
}

//! What can be wrong with a text, a shape, a layout or an index: one variant each, with fields.

use std::fmt;

use thiserror::Error;

use crate::PrimitiveType;

/// A text that is not a shape, a layout or an instruction.
///
/// `Display` prints one line; [`ParseError::caret`] shows the place under the text.
///
/// ```
/// use relayout::Shape;
/// let error = "f32[3,5]{1,0:T(2,2}".parse::<Shape>().unwrap_err();
/// assert_eq!(error.offset, 18);
/// assert_eq!(error.to_string(), "at byte 18: expected `,` or `)`, found `}`");
/// assert_eq!(error.caret(), "f32[3,5]{1,0:T(2,2}\n                  ^");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    /// Where in the text, in bytes from its start.
    pub offset: usize,
    /// What the grammar wants there.
    pub expected: String,
    /// What stands there instead.
    pub found: String,
    text: String,
}

impl ParseError {
    pub(crate) fn new(
        text: &str,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ParseError {
        ParseError { offset, expected: expected.into(), found: found.into(), text: text.to_owned() }
    }

    /// The line of the text that the error is in, with a caret under the place.
    ///
    /// Tabs stay tabs, so that the caret stands right whatever their width; of a long line only the surroundings of
    /// the place are shown.
    pub fn caret(&self) -> String {
        const SHOWN: usize = 60;
        let end = self.offset.min(self.text.len());
        let at = (0..=end).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0);
        let (before, after) = self.text.split_at(at);
        let before = before.rsplit(['\n', '\r']).next().unwrap_or_default();
        let after = after.split(['\n', '\r']).next().unwrap_or_default();

        let mut line = String::new();
        let hidden = before.chars().count().saturating_sub(SHOWN);
        line.extend((hidden > 0).then_some('…'));
        line.extend(before.chars().skip(hidden).map(printable));
        let blank: String = line.chars().map(|c| if c == '\t' { c } else { ' ' }).collect();
        line.extend(after.chars().take(SHOWN).map(printable));
        line.extend(after.chars().nth(SHOWN).map(|_| '…'));
        format!("{line}\n{blank}^")
    }
}

/// Keeps control characters of the text from reaching a terminal.
fn printable(character: char) -> char {
    if character.is_control() && character != '\t' { char::REPLACEMENT_CHARACTER } else { character }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at byte {}: expected {}, found {}", self.offset, self.expected, self.found)
    }
}

impl std::error::Error for ParseError {}

/// A shape or layout that breaks one of XLA's rules, or a size or index that it does not have.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum LayoutError {
    /// Tuples, tokens and the like have no elements in memory of their own.
    #[error("expected an array shape, found {found}")]
    NotAnArray {
        /// The kind of shape that came.
        found: PrimitiveType,
    },
    /// An element type that cannot be stored in an array.
    #[error("element type {element_type} cannot be stored in an array")]
    ElementType {
        /// The type that came.
        element_type: PrimitiveType,
    },
    /// A dimension with a negative size.
    #[error("dimension {dimension} has negative size {size}")]
    NegativeDimension {
        /// Logical dimension number.
        dimension: usize,
        /// Its size.
        size: i64,
    },
    /// A dynamic dimension without bound, where a size is needed.
    #[error("dimension {dimension} is dynamic without a bound, so the size is undefined")]
    UnboundedDimension {
        /// Logical dimension number.
        dimension: usize,
    },
    /// `minor_to_major` has not one entry per dimension.
    #[error("minor_to_major has {entries} entries, but the shape has {rank} dimensions")]
    MinorToMajorLength {
        /// Entries of `minor_to_major`.
        entries: usize,
        /// Dimensions of the shape.
        rank: usize,
    },
    /// `minor_to_major` names a dimension twice.
    #[error("minor_to_major {minor_to_major:?} names dimension {value} twice")]
    DuplicateMinorToMajor {
        /// The whole field.
        minor_to_major: Vec<i64>,
        /// The repeated dimension.
        value: i64,
    },
    /// `minor_to_major` names a dimension that does not exist.
    #[error("minor_to_major {minor_to_major:?} names dimension {value}, but the shape has {rank} dimensions")]
    MinorToMajorOutOfRange {
        /// The whole field.
        minor_to_major: Vec<i64>,
        /// The offending entry.
        value: i64,
        /// Dimensions of the shape.
        rank: usize,
    },
    /// A tile without entries.
    #[error("tile {tile} is empty")]
    EmptyTile {
        /// Which tile, the first is 0.
        tile: usize,
    },
    /// A tile entry that is zero or negative.
    #[error("tile {tile} has size {size}, expected at least 1")]
    TileSize {
        /// Which tile, the first is 0.
        tile: usize,
        /// The offending size.
        size: i64,
    },
    /// `*` as the last entry of a tile, where there is nothing to combine with.
    #[error("tile {tile} ends in *, which combines with nothing")]
    TrailingCombine {
        /// Which tile, the first is 0.
        tile: usize,
    },
    /// A negative slot width.
    #[error("element_size_in_bits (E) is {bits}, expected 0 or more")]
    ElementSizeInBits {
        /// The value that came.
        bits: i64,
    },
    /// A tail alignment below 1.
    #[error("tail_padding_alignment_in_elements (L) is {elements}, expected 1 or more")]
    TailPaddingAlignment {
        /// The value that came.
        elements: i64,
    },
    /// A memory space that XLA cannot store.
    #[error("memory_space (S) is {space}, expected -128 to 127")]
    MemorySpace {
        /// The value that came.
        space: i64,
    },
    /// A field of sparse arrays on an array that is not sparse.
    #[error("layout has {field}, but the array is not sparse")]
    SparseField {
        /// `index_primitive_type`, `pointer_primitive_type` or `physical_shape`.
        field: &'static str,
    },
    /// A split of a dimension that does not exist, or a second split of one.
    #[error("split dimension {dimension} is out of range or repeated; the shape has {rank} dimensions")]
    SplitDimension {
        /// The physical dimension number.
        dimension: i64,
        /// Dimensions of the shape.
        rank: usize,
    },
    /// Split indices that are not strictly ascending inside the dimension.
    #[error("split index {index} of physical dimension {dimension} is not ascending between 1 and {size}")]
    SplitIndex {
        /// The physical dimension number.
        dimension: i64,
        /// The offending index.
        index: i64,
        /// The size of the dimension; indices lie below it.
        size: i64,
    },
    /// Legacy `padded_dimensions` of the wrong length.
    #[error("padded_dimensions has {entries} entries, but the shape has {rank} dimensions")]
    PaddedDimensionsLength {
        /// Entries of `padded_dimensions`.
        entries: usize,
        /// Dimensions of the shape.
        rank: usize,
    },
    /// A legacy padded size below the size of its dimension.
    #[error("dimension {dimension} is padded to {padded}, which is smaller than its size {size}")]
    PaddedDimensionTooSmall {
        /// Logical dimension number.
        dimension: usize,
        /// The padded size.
        padded: i64,
        /// The size of the dimension.
        size: i64,
    },
    /// Legacy padding and tiles in one layout.
    #[error("layout has both padded_dimensions and tiles")]
    PaddedAndTiled,
    /// A product of sizes that 64 bits cannot hold.
    #[error("{what} overflows 64 bits")]
    Overflow {
        /// Which size was being computed.
        what: &'static str,
    },
    /// A multi-index of another rank.
    #[error("index has {entries} entries, but the shape has {rank} dimensions")]
    IndexLength {
        /// Entries of the index.
        entries: usize,
        /// Dimensions of the shape.
        rank: usize,
    },
    /// A multi-index outside the array.
    #[error("index {index} of dimension {dimension} is outside 0..{size}")]
    IndexOutOfBounds {
        /// Logical dimension number.
        dimension: usize,
        /// The offending entry.
        index: i64,
        /// The size of the dimension.
        size: i64,
    },
    /// A linear index outside the array's memory.
    #[error("linear index {linear} is outside 0..{slots}")]
    LinearIndexOutOfBounds {
        /// The offending linear index, in elements.
        linear: i64,
        /// Slots of the array, padding included.
        slots: i64,
    },
    /// A dimension number outside `-rank..rank`.
    #[error("dimension {dimension} does not exist in a shape of {rank} dimensions")]
    NoSuchDimension {
        /// The number that came.
        dimension: i64,
        /// Dimensions of the shape.
        rank: usize,
    },
}

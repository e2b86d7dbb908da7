//! Canonical text: no white space inside an array, defaults dropped, notes in XLA's order.

use std::fmt::{self, Display, Formatter};

use crate::{ArrayShape, DimensionSize, Layout, PrimitiveType, Shape, SplitConfig, Tile, TileDimension};

/// Items with `separator` between them.
fn joined<T: Display>(f: &mut Formatter<'_>, items: &[T], separator: &str) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(separator)?;
        }
        item.fmt(f)?;
    }
    Ok(())
}

impl Display for Shape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Shape::Array(array) => array.fmt(f),
            Shape::Buffer(array) => write!(f, "b({array})"),
            Shape::Tuple(elements) => {
                f.write_str("(")?;
                joined(f, elements, ", ")?;
                f.write_str(")")
            }
            Shape::Token => f.write_str("token[]"),
            Shape::Opaque => f.write_str("opaque[]"),
        }
    }
}

impl Display for ArrayShape {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}[", self.element_type())?;
        joined(f, self.dimensions(), ",")?;
        f.write_str("]")?;
        let layout = self.layout().to_string();
        // The layout of a scalar is worth a word only if it notes something.
        if self.rank() > 0 || layout != "{}" { f.write_str(&layout) } else { Ok(()) }
    }
}

impl Display for DimensionSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DimensionSize::Static(size) => write!(f, "{size}"),
            DimensionSize::Bounded(bound) => write!(f, "<={bound}"),
            DimensionSize::Unbounded => f.write_str("?"),
        }
    }
}

impl Display for Layout {
    /// Prints what XLA's text can say; the legacy `padded_dimensions` and `padding_value` never had a text.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        joined(f, self.minor_to_major(), ",")?;
        let notes = Notes(self).to_string();
        if !notes.is_empty() {
            write!(f, ":{notes}")?;
        }
        f.write_str("}")
    }
}

/// What stands behind the colon.
struct Notes<'a>(&'a Layout);

impl Display for Notes<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let layout = self.0;
        prefixed(f, "T", layout.tiles())?;
        number(f, "L", layout.tail_padding_alignment_in_elements(), 1)?;
        sparse_type(f, "#", layout.index_primitive_type())?;
        sparse_type(f, "*", layout.pointer_primitive_type())?;
        number(f, "E", layout.element_size_in_bits(), 0)?;
        number(f, "S", layout.memory_space(), 0)?;
        prefixed(f, "SC", layout.split_configs())?;
        if let Some(shape) = layout.physical_shape() {
            write!(f, "P({shape})")?;
        }
        number(f, "M", layout.dynamic_shape_metadata_prefix_bytes().max(0), 0)
    }
}

/// Items that bring their own parentheses.
fn prefixed<T: Display>(f: &mut Formatter<'_>, name: &str, items: &[T]) -> fmt::Result {
    if items.is_empty() {
        return Ok(());
    }
    f.write_str(name)?;
    joined(f, items, "")
}

fn number(f: &mut Formatter<'_>, name: &str, value: i64, default: i64) -> fmt::Result {
    if value == default { Ok(()) } else { write!(f, "{name}({value})") }
}

fn sparse_type(f: &mut Formatter<'_>, name: &str, value: Option<PrimitiveType>) -> fmt::Result {
    match value {
        None => Ok(()),
        Some(integer) if integer.is_integral() => write!(f, "{name}({integer})"),
        Some(_) => write!(f, "{name}(invalid)"),
    }
}

impl Display for TileDimension {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TileDimension::Size(size) => write!(f, "{size}"),
            TileDimension::Combine => f.write_str("*"),
        }
    }
}

impl Display for Tile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        joined(f, self.dimensions(), ",")?;
        f.write_str(")")
    }
}

impl Display for SplitConfig {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({}:", self.dimension)?;
        joined(f, &self.indices, ",")?;
        f.write_str(")")
    }
}

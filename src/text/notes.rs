//! The grammar of layouts: `{minor_to_major:notes}`.

use super::lexer::Token;
use super::parser::{Parser, Result};
use crate::{Layout, PrimitiveType, Shape, SplitConfig, Tile, TileDimension};

type Note = (&'static str, fn(&mut Parser<'_>, Layout) -> Result<Layout>);

/// Every note: how it starts, and how the rest of it is read. The order is the only one that XLA reads.
const NOTES: [Note; 9] = [
    ("T", tiles),
    ("L", tail_padding_alignment_in_elements),
    ("#", index_primitive_type),
    ("*", pointer_primitive_type),
    ("E", element_size_in_bits),
    ("S", memory_space),
    ("SC", split_configs),
    ("P", physical_shape),
    ("M", dynamic_shape_metadata_prefix_bytes),
];

impl Parser<'_> {
    /// A layout. Only one that stands `alone` may have a physical shape: XLA reads `P` behind an array too, but then
    /// refuses the array, as none of them is sparse.
    pub(super) fn layout_with(&mut self, alone: bool) -> Result<Layout> {
        self.expect("{")?;
        let mut minor_to_major = Vec::new();
        if !matches!(self.token(), Token::Symbol("}" | ":")) {
            minor_to_major.push(self.integer()?);
            while self.accept(",") {
                minor_to_major.push(self.integer()?);
            }
        }
        let layout = Layout::from_minor_to_major(minor_to_major);
        if self.accept("}") {
            return Ok(layout);
        }
        if !self.accept(":") {
            return Err(self.error("`,`, `:` or `}`"));
        }
        self.notes(layout, alone)
    }

    /// The notes up to and with the closing brace.
    fn notes(&mut self, mut layout: Layout, alone: bool) -> Result<Layout> {
        let mut open = &NOTES[..];
        while !self.accept("}") {
            let (Token::Word(start) | Token::Symbol(start)) = self.token() else {
                return Err(self.error(expected_notes(open)));
            };
            let Some(next) = open.iter().position(|note| note.0 == start) else {
                return Err(self.unknown_note(start, open));
            };
            if start == "P" && !alone {
                return Err(self.error("no `P`: only sparse arrays have a physical shape"));
            }
            self.advance();
            layout = open[next].1(self, layout)?;
            open = &open[next + 1..];
        }
        Ok(layout)
    }

    fn unknown_note(&self, start: &str, open: &[Note]) -> crate::ParseError {
        if start == "D" {
            return self.error("no `D`: dimension level types are obsolete, XLA reads and drops them");
        }
        self.error(expected_notes(open))
    }

    fn in_parentheses<T>(&mut self, item: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.expect("(")?;
        let value = item(self)?;
        self.expect(")")?;
        Ok(value)
    }

    pub(super) fn tile(&mut self) -> Result<Tile> {
        self.expect("(")?;
        let dimensions = self.list(")", |parser| {
            if parser.accept("*") {
                return Ok(TileDimension::Combine);
            }
            parser.integer_within(0..=i64::MAX, "a tile size of 0 or more, or `*`").map(TileDimension::Size)
        })?;
        Ok(Tile::new(dimensions))
    }

    pub(super) fn split_config(&mut self) -> Result<SplitConfig> {
        self.expect("(")?;
        let dimension = self.integer()?;
        self.expect(":")?;
        Ok(SplitConfig { dimension, indices: self.list(")", Self::integer)? })
    }

    /// One or more parenthesised items.
    fn repeated<T>(&mut self, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.token() == Token::Symbol("(") {
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn unsigned_type(&mut self) -> Result<PrimitiveType> {
        self.in_parentheses(|parser| {
            parser.type_where("an unsigned integer type", PrimitiveType::is_unsigned_integral)
        })
    }
}

fn expected_notes(open: &[Note]) -> String {
    match open {
        [] => "`}`".to_owned(),
        _ => {
            let starts: Vec<&str> = open.iter().map(|note| note.0).collect();
            format!("`}}` or one of the notes {}, in this order", starts.join(" "))
        }
    }
}

fn tiles(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    Ok(layout.with_tiles(parser.repeated(Parser::tile)?))
}

fn tail_padding_alignment_in_elements(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    let elements =
        parser.in_parentheses(|parser| parser.integer_within(1..=i64::MAX, "an alignment of 1 or more"))?;
    Ok(layout.with_tail_padding_alignment_in_elements(elements))
}

fn index_primitive_type(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    Ok(layout.with_index_primitive_type(Some(parser.unsigned_type()?)))
}

fn pointer_primitive_type(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    Ok(layout.with_pointer_primitive_type(Some(parser.unsigned_type()?)))
}

fn element_size_in_bits(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    Ok(layout.with_element_size_in_bits(parser.in_parentheses(Parser::integer)?))
}

/// XLA stores eight bits and silently cuts off the others; a number that would change is refused here.
fn memory_space(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    let space =
        parser.in_parentheses(|parser| parser.integer_within(-128..=127, "a memory space of -128 to 127"))?;
    Ok(layout.with_memory_space(space))
}

fn split_configs(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    Ok(layout.with_split_configs(parser.repeated(Parser::split_config)?))
}

fn physical_shape(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    let shape: Shape = parser.in_parentheses(Parser::shape)?;
    Ok(layout.with_physical_shape(Some(shape)))
}

/// XLA reads a negative prefix and forgets it; it is refused here.
fn dynamic_shape_metadata_prefix_bytes(parser: &mut Parser<'_>, layout: Layout) -> Result<Layout> {
    let bytes =
        parser.in_parentheses(|parser| parser.integer_within(0..=i64::MAX, "a prefix of 0 or more bytes"))?;
    Ok(layout.with_dynamic_shape_metadata_prefix_bytes(bytes))
}

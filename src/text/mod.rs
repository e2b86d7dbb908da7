//! XLA's text form of shapes and layouts.
//!
//! Read strictly: what XLA reads by accident (an unclosed note), with a loss (a memory space cut to eight bits) or
//! only to abort is an error here.

mod lexer;
mod notes;
mod parser;
mod print;
mod raw;

pub(crate) use lexer::Token;
pub(crate) use parser::{Parser, Result};

use std::str::FromStr;

use crate::{ArrayShape, DimensionSize, Layout, ParseError, Shape, SplitConfig, Tile};

impl Shape {
    /// How many tuples may lie inside each other in a text.
    ///
    /// Reading, printing, validating and dropping a shape recurse into tuples, so no text can exhaust the stack.
    pub const MAX_NESTING: usize = 64;
}

impl FromStr for Shape {
    type Err = ParseError;

    /// Reads XLA's text form. Elements of a tuple are validated, as in XLA; a shape that stands alone is not.
    fn from_str(text: &str) -> Result<Shape> {
        Parser::whole(text, Parser::shape)
    }
}

impl FromStr for ArrayShape {
    type Err = ParseError;

    /// Reads a [`Shape`], which must be an array.
    fn from_str(text: &str) -> Result<ArrayShape> {
        Parser::whole(text, |parser| {
            let start = parser.start();
            match parser.shape()? {
                Shape::Array(array) => Ok(array),
                other => Err(parser.error_at(
                    start,
                    "an array",
                    format!("a shape of type {}", other.primitive_type()),
                )),
            }
        })
    }
}

impl FromStr for Layout {
    type Err = ParseError;

    /// Reads a layout in its braces, such as `{1,0:T(8,128)}`.
    fn from_str(text: &str) -> Result<Layout> {
        Parser::whole(text, |parser| parser.layout_with(true))
    }
}

impl FromStr for Tile {
    type Err = ParseError;

    /// Reads a tile in its parentheses, such as `(8,128)`.
    fn from_str(text: &str) -> Result<Tile> {
        Parser::whole(text, Parser::tile)
    }
}

impl FromStr for DimensionSize {
    type Err = ParseError;

    /// Reads a size, a bound such as `<=8`, or `?`.
    fn from_str(text: &str) -> Result<DimensionSize> {
        Parser::whole(text, Parser::dimension)
    }
}

impl FromStr for SplitConfig {
    type Err = ParseError;

    /// Reads a cut in its parentheses, such as `(0:2,5)`.
    fn from_str(text: &str) -> Result<SplitConfig> {
        Parser::whole(text, Parser::split_config)
    }
}

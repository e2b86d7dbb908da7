//! The grammar of shapes. Layouts and their notes are in `notes.rs`.

use super::lexer::{Lexed, Lexer, Token};
use crate::{ArrayShape, DimensionSize, ParseError, PrimitiveType, Shape};

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

/// A recursive-descent parser with one token of lookahead.
pub(crate) struct Parser<'a> {
    pub(super) lexer: Lexer<'a>,
    pub(super) current: Lexed<'a>,
    /// Tuples that are open.
    depth: usize,
}

impl<'a> Parser<'a> {
    pub(crate) fn new(text: &'a str) -> Parser<'a> {
        let mut lexer = Lexer { text, at: 0 };
        let current = lexer.next();
        Parser { lexer, current, depth: 0 }
    }

    /// Reads the whole text as one `item`.
    pub(crate) fn whole<T>(text: &'a str, item: impl FnOnce(&mut Parser<'a>) -> Result<T>) -> Result<T> {
        let mut parser = Parser::new(text);
        let value = item(&mut parser)?;
        match parser.token() {
            Token::End => Ok(value),
            _ => Err(parser.error("the end of the text")),
        }
    }

    pub(crate) fn token(&self) -> Token<'a> {
        self.current.token
    }

    /// Where the current token starts.
    pub(crate) fn start(&self) -> usize {
        self.current.start
    }

    pub(crate) fn text(&self) -> &'a str {
        self.lexer.text
    }

    pub(crate) fn advance(&mut self) {
        self.current = self.lexer.next();
    }

    pub(super) fn peek(&self) -> Token<'a> {
        let mut ahead = self.lexer;
        ahead.next().token
    }

    /// The error that the current token is not what the grammar wants.
    pub(crate) fn error(&self, expected: impl Into<String>) -> ParseError {
        self.error_at(self.start(), expected, self.found())
    }

    pub(crate) fn error_at(
        &self,
        offset: usize,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> ParseError {
        ParseError::new(self.text(), offset, expected, found)
    }

    /// The current token in words: short, whatever its length, and without characters that do not show.
    fn found(&self) -> String {
        const SHOWN: usize = 40;
        let text = &self.text()[self.current.start..self.current.end];
        match self.token() {
            Token::End => return "the end of the text".to_owned(),
            Token::BadComment if text.contains('\0') => return "a comment with a NUL byte".to_owned(),
            Token::BadComment => return "a comment that does not end".to_owned(),
            _ => {}
        }
        let mut found = String::from("`");
        for character in text.chars().take(SHOWN) {
            match character {
                '"' | '\'' | '\\' => found.push(character),
                _ => found.extend(character.escape_debug()),
            }
        }
        found + if text.chars().nth(SHOWN).is_some() { "…`" } else { "`" }
    }

    /// Skips `symbol` if it is the current token.
    pub(crate) fn accept(&mut self, symbol: &str) -> bool {
        let here = matches!(self.token(), Token::Symbol(found) if found == symbol);
        if here {
            self.advance();
        }
        here
    }

    pub(crate) fn expect(&mut self, symbol: &str) -> Result<()> {
        if self.accept(symbol) { Ok(()) } else { Err(self.error(format!("`{symbol}`"))) }
    }

    /// Items with commas between them, up to and with the symbol `close`; there may be none.
    pub(crate) fn list<T>(&mut self, close: &str, item: impl Fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut items = Vec::new();
        if self.accept(close) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(close) {
                return Ok(items);
            }
            if !self.accept(",") {
                return Err(self.error(format!("`,` or `{close}`")));
            }
        }
    }

    pub(crate) fn integer(&mut self) -> Result<i64> {
        self.integer_within(i64::MIN..=i64::MAX, "an integer")
    }

    /// An integer that is refused outside `range`; `expected` says what it stands for.
    pub(crate) fn integer_within(
        &mut self,
        range: std::ops::RangeInclusive<i64>,
        expected: &str,
    ) -> Result<i64> {
        match self.token() {
            Token::Integer(value) if range.contains(&value) => {
                self.advance();
                Ok(value)
            }
            Token::TooLarge => Err(self.error("an integer between -2^63 and 2^63 - 1")),
            _ => Err(self.error(expected)),
        }
    }

    pub(crate) fn shape(&mut self) -> Result<Shape> {
        match self.token() {
            Token::Symbol("(") => self.tuple(),
            Token::Word("b") if self.peek() == Token::Symbol("(") => self.buffer(),
            Token::Word("token") => self.without_elements(Shape::Token),
            Token::Word("opaque") => self.without_elements(Shape::Opaque),
            _ => Ok(Shape::Array(self.array()?)),
        }
    }

    fn tuple(&mut self) -> Result<Shape> {
        if self.depth == Shape::MAX_NESTING {
            return Err(self.error(format!("at most {} tuples inside each other", Shape::MAX_NESTING)));
        }
        self.depth += 1;
        self.advance();
        let elements = self.list(")", Self::element)?;
        self.depth -= 1;
        Ok(Shape::Tuple(elements))
    }

    /// An element of a tuple. XLA validates elements as it reads them, though it reads an invalid shape that stands
    /// alone; the elements of an inner tuple have been looked at when that was read.
    fn element(&mut self) -> Result<Shape> {
        let start = self.start();
        let element = self.shape()?;
        match element {
            Shape::Tuple(_) => Ok(element),
            _ => match element.validate() {
                Ok(()) => Ok(element),
                Err(why) => {
                    Err(self.error_at(start, "a valid element of the tuple", format!("one where {why}")))
                }
            },
        }
    }

    /// A buffer holds an array and nothing else, so this does not recurse.
    fn buffer(&mut self) -> Result<Shape> {
        self.advance();
        self.expect("(")?;
        let array = self.array()?;
        self.expect(")")?;
        Ok(Shape::Buffer(array))
    }

    fn without_elements(&mut self, shape: Shape) -> Result<Shape> {
        self.advance();
        self.expect("[")?;
        self.expect("]")?;
        Ok(shape)
    }

    fn array(&mut self) -> Result<ArrayShape> {
        let element_type = self.type_where("an element type", PrimitiveType::is_array_element)?;
        self.expect("[")?;
        let dimensions = self.list("]", Self::dimension)?;
        let rank = dimensions.len();
        let array = ArrayShape::new(element_type, dimensions);
        if !self.at_layout() {
            return Ok(array);
        }
        let start = self.start();
        let layout = self.layout_with(false)?;
        let entries = layout.minor_to_major().len();
        if entries != rank {
            let expected = format!("minor_to_major with one entry for each of {rank} dimensions");
            return Err(self.error_at(start, expected, format!("{entries}")));
        }
        Ok(array.with_layout(layout))
    }

    /// A `{` behind an array belongs to it only if an integer or a colon follows; a computation's body may start
    /// with one too.
    fn at_layout(&self) -> bool {
        self.token() == Token::Symbol("{")
            && matches!(self.peek(), Token::Integer(_) | Token::TooLarge | Token::Symbol(":"))
    }

    /// The name of a type that `fits`.
    pub(super) fn type_where(
        &mut self,
        expected: &str,
        fits: impl Fn(PrimitiveType) -> bool,
    ) -> Result<PrimitiveType> {
        let Token::Word(name) = self.token() else { return Err(self.error(expected)) };
        let Some(found) = PrimitiveType::from_name(name).filter(|found| fits(*found)) else {
            return Err(self.error(expected));
        };
        self.advance();
        Ok(found)
    }

    pub(super) fn dimension(&mut self) -> Result<DimensionSize> {
        if self.accept("?") {
            Ok(DimensionSize::Unbounded)
        } else if self.accept("<=") {
            self.integer_within(0..=i64::MAX, "a bound of 0 or more").map(DimensionSize::Bounded)
        } else {
            self.integer_within(0..=i64::MAX, "a dimension size of 0 or more").map(DimensionSize::Static)
        }
    }
}

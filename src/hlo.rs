//! Instructions of XLA's HLO text, as compilers and profilers print them: one line each.
//!
//! ```
//! use relayout::hlo::Instruction;
//! let line = "ROOT %copy.2 = bf16[8,128]{0,1} copy(bf16[8,128]{1,0} %p.1), metadata={op_name=\"a, b\"}";
//! let copy: Instruction = line.parse()?;
//! assert_eq!((copy.name.as_str(), copy.opcode.as_str()), ("copy.2", "copy"));
//! assert_eq!(copy.shape, "bf16[8,128]{0,1}".parse()?);
//! assert_eq!(copy.operands[0].shape, Some("bf16[8,128]".parse()?));
//! assert_eq!(copy.attribute("metadata"), Some("{op_name=\"a, b\"}"));
//! assert_eq!(copy.to_string(), line);
//! # Ok::<(), relayout::ParseError>(())
//! ```

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use crate::text::{Parser, Result, Token};
use crate::{ParseError, Shape};

/// An instruction: `name = shape opcode(operands), attributes`; see the [module](self) for an example.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instruction {
    /// True for the result of its computation (`ROOT`).
    pub is_root: bool,
    /// True where the text writes `%` before names, as XLA's long form does; all names are printed alike.
    pub percent: bool,
    /// The name, without `%`.
    pub name: String,
    /// The shape of the result.
    pub shape: Shape,
    /// What the instruction does, such as `add` or `all-reduce-start`.
    pub opcode: String,
    /// The instructions whose results it takes.
    pub operands: Vec<Operand>,
    /// What stands in the parentheses of `constant` (its value) and of `parameter` (its number) instead of operands.
    pub literal: Option<String>,
    /// Names and values in the order of the text. A value is the text itself, white space and comments narrowed to one
    /// blank each.
    pub attributes: Vec<(String, String)>,
}

/// An operand: the name of an instruction, and its shape where the text repeats it.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The name, without `%`.
    pub name: String,
    /// The shape, if the text has it.
    pub shape: Option<Shape>,
}

impl Instruction {
    /// The value of the attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|attribute| attribute.0 == name).map(|attribute| attribute.1.as_str())
    }
}

impl FromStr for Instruction {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Instruction> {
        Parser::whole(text, instruction)
    }
}

fn instruction(parser: &mut Parser<'_>) -> Result<Instruction> {
    let is_root = parser.token() == Token::Word("ROOT");
    if is_root {
        parser.advance();
    }
    let mut percent = matches!(parser.token(), Token::Name(_));
    let name = name(parser, "the name of an instruction")?;
    parser.expect("=")?;
    let shape = parser.shape()?;
    let opcode = word(parser, "an opcode")?;
    parser.expect("(")?;
    let mut operands = Vec::new();
    let literal = match opcode.as_str() {
        "constant" => Some(literal(parser)?),
        "parameter" => Some(parameter_number(parser)?),
        _ => {
            let list = parser.list(")", operand)?;
            percent |= list.iter().any(|operand| operand.1);
            operands.extend(list.into_iter().map(|operand| operand.0));
            None
        }
    };
    let attributes = attributes(parser)?;
    Ok(Instruction { is_root, percent, name, shape, opcode, operands, literal, attributes })
}

fn word(parser: &mut Parser<'_>, expected: &str) -> Result<String> {
    let Token::Word(word) = parser.token() else { return Err(parser.error(expected)) };
    parser.advance();
    Ok(word.to_owned())
}

/// A name with or without `%`.
fn name(parser: &mut Parser<'_>, expected: &str) -> Result<String> {
    let Token::Name(name) = parser.token() else { return word(parser, expected) };
    parser.advance();
    Ok(name.to_owned())
}

/// An operand, and whether its name has a `%`.
fn operand(parser: &mut Parser<'_>) -> Result<(Operand, bool)> {
    let shape = if parser.at_shape() { Some(parser.shape()?) } else { None };
    let percent = matches!(parser.token(), Token::Name(_));
    Ok((Operand { name: name(parser, "the name of an operand")?, shape }, percent))
}

fn literal(parser: &mut Parser<'_>) -> Result<String> {
    let literal = parser.raw(b')', "a literal")?;
    parser.expect(")")?;
    Ok(literal)
}

fn parameter_number(parser: &mut Parser<'_>) -> Result<String> {
    let number = parser.integer_within(0..=i64::MAX, "the number of a parameter")?;
    parser.expect(")")?;
    Ok(number.to_string())
}

/// `, name=value` up to the end of the text. As in XLA, no name comes twice.
fn attributes(parser: &mut Parser<'_>) -> Result<Vec<(String, String)>> {
    let mut attributes = Vec::new();
    let mut seen = HashSet::new();
    while parser.token() != Token::End {
        if !parser.accept(",") {
            return Err(parser.error("`,` or the end of the text"));
        }
        let start = parser.start();
        let name = word(parser, "the name of an attribute")?;
        if !seen.insert(name.clone()) {
            return Err(parser.error_at(start, "every attribute once", format!("`{name}` again")));
        }
        parser.expect("=")?;
        attributes.push((name, parser.raw(b',', "the value of an attribute")?));
    }
    Ok(attributes)
}

impl fmt::Display for Instruction {
    /// Prints one line that is read again as the same instruction.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = if self.percent { "%" } else { "" };
        let root = if self.is_root { "ROOT " } else { "" };
        write!(f, "{root}{percent}{} = {} {}(", self.name, self.shape, self.opcode)?;
        f.write_str(self.literal.as_deref().unwrap_or_default())?;
        for (position, operand) in self.operands.iter().enumerate() {
            f.write_str(if position > 0 { ", " } else { "" })?;
            if let Some(shape) = &operand.shape {
                write!(f, "{shape} ")?;
            }
            write!(f, "{percent}{}", operand.name)?;
        }
        f.write_str(")")?;
        self.attributes.iter().try_for_each(|(name, value)| write!(f, ", {name}={value}"))
    }
}

//! The problem line: one line of text that names a relayout.

use std::fmt;
use std::str::FromStr;

use crate::text::{Parser, Result};
use crate::{ParseError, Shape};

/// What is to be moved, and into what: `SRC -> DST`.
///
/// The line is the same everywhere: on the command line, in test failures, in benchmarks and in logs.
///
/// ```
/// use relayout::Problem;
/// let problem: Problem = "f32[8,100] -> bf16[8,100]{1,0:T(8,128)(2,1)}".parse()?;
/// assert_eq!(problem.to_string(), "f32[8,100]{1,0} -> bf16[8,100]{1,0:T(8,128)(2,1)}");
/// # Ok::<(), relayout::ParseError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Problem {
    /// The shape that bytes are read in.
    pub src: Shape,
    /// The shape that bytes are written in.
    pub dst: Shape,
}

impl FromStr for Problem {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Problem> {
        Parser::whole(text, |parser| {
            let src = parser.shape()?;
            parser.expect("->")?;
            Ok(Problem { src, dst: parser.shape()? })
        })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.src, self.dst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_lines_are_read() {
        let problem: Problem = "token[]->(f32[2] /* no layout */, u8[])".parse().expect("a problem");
        assert_eq!(problem.to_string(), "token[] -> (f32[2]{0}, u8[])");
        let error = "f32[2] > f32[2]".parse::<Problem>().unwrap_err();
        assert_eq!((error.offset, error.expected.as_str()), (7, "`->`"));
        assert_eq!("f32[2] -> f32[2] -> f32[2]".parse::<Problem>().unwrap_err().offset, 17);
    }
}

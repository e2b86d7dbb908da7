//! Text that is kept as it is: literals and the values of attributes in instructions.

use super::lexer::{Token, blank_end};
use super::parser::{Parser, Result};

impl<'a> Parser<'a> {
    /// True if a shape can start at the current token, as opposed to a bare name.
    pub(crate) fn at_shape(&self) -> bool {
        match self.token() {
            Token::Symbol("(") => true,
            Token::Word("b") if self.peek() == Token::Symbol("(") => true,
            Token::Word(_) => self.peek() == Token::Symbol("["),
            _ => false,
        }
    }

    /// The text from the current token up to the byte `stop` outside brackets and strings, or up to the end.
    ///
    /// Brackets must be balanced. Outside strings, white space and comments become one blank each, so that the result
    /// is read again as itself, wherever it stands.
    pub(crate) fn raw(&mut self, stop: u8, expected: &str) -> Result<String> {
        let text = self.text();
        let mut at = self.start();
        let mut kept = String::new();
        let mut closers = Vec::new();
        while let Some(&byte) = text.as_bytes().get(at) {
            if byte == stop && closers.is_empty() {
                break;
            }
            let end = self.raw_end(at)?;
            if let Some(closer) = closer(byte) {
                closers.push(closer);
            } else if b")]}".contains(&byte) && closers.pop() != Some(byte) {
                let found = format!("`{}` without its opening bracket", char::from(byte));
                return Err(self.error_at(at, expected, found));
            }
            let blank = blank_end(text, at).is_ok_and(|blank| blank > at);
            kept.push_str(if blank { " " } else { &text[at..end] });
            at = end;
        }
        if let Some(closer) = closers.pop() {
            let wanted = format!("`{}`", char::from(closer));
            return Err(self.error_at(at, wanted, "the end of the text"));
        }
        kept.truncate(kept.trim_end_matches(' ').len());
        if kept.is_empty() {
            return Err(self.error(expected));
        }
        self.lexer.at = at;
        self.advance();
        Ok(kept)
    }

    /// Where the piece ends that starts at byte `at`: a run of blanks, a string, or one character.
    fn raw_end(&self, at: usize) -> Result<usize> {
        let text = self.text();
        let blank = match blank_end(text, at) {
            Ok(blank) => blank,
            Err(comment) => return Err(self.error_at(comment, "a comment that ends", "one that does not")),
        };
        let first = text[at..].chars().next();
        match first {
            _ if blank > at => Ok(blank),
            Some('"') => match string_length(&text[at..]) {
                Some(length) => Ok(at + length),
                None => Err(self.error_at(at, "a string that ends", "one that does not")),
            },
            Some(control) if control.is_ascii_control() => {
                Err(self.error_at(at, "printable text", format!("`{}`", control.escape_debug())))
            }
            _ => Ok(at + first.map_or(0, char::len_utf8)),
        }
    }
}

/// The bracket that closes `opening`, if that is one.
fn closer(opening: u8) -> Option<u8> {
    match opening {
        b'(' => Some(b')'),
        b'[' => Some(b']'),
        b'{' => Some(b'}'),
        _ => None,
    }
}

/// The length of the string at the start of `text`, quotes included; a backslash protects the byte behind it.
fn string_length(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'"' => return Some(at + 1),
            b'\\' => _ = bytes.next(),
            _ => {}
        }
    }
    None
}

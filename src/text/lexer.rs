//! Tokens of XLA's text: words, integers and a few symbols; white space and comments lie between them.

/// What a token is. Symbols and words keep their text, so a parser can match on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token<'a> {
    /// A letter or `_`, then letters, digits, `_`, `.`, `-`.
    Word(&'a str),
    /// A word behind a `%`; the sign is left out.
    Name(&'a str),
    /// An integer of 64 bits with sign.
    Integer(i64),
    /// An integer that does not fit.
    TooLarge,
    /// One of [`SYMBOLS`].
    Symbol(&'a str),
    /// `/*` without `*/`, or a comment with a NUL byte.
    BadComment,
    /// Anything else, a number such as `2x3` or `1.5` included.
    Unknown,
    /// The end of the text.
    End,
}

/// A token and the bytes that it takes in the text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexed<'a> {
    pub(crate) token: Token<'a>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Two-character symbols come first, so that they are never split.
const SYMBOLS: [&str; 13] = ["<=", "->", "(", ")", "[", "]", "{", "}", ",", ":", "?", "*", "#"];

/// Reads tokens one after the other; a copy looks ahead.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    pub(crate) text: &'a str,
    pub(crate) at: usize,
}

impl<'a> Lexer<'a> {
    /// The next token. At the end of the text it is [`Token::End`], however often one asks; its place is right behind
    /// the last token, because that is where something is missing.
    pub(crate) fn next(&mut self) -> Lexed<'a> {
        let before = self.at;
        let start = match blank_end(self.text, before) {
            Ok(start) => start,
            Err(comment) => {
                self.at = self.text.len();
                return Lexed { token: Token::BadComment, start: comment, end: self.at };
            }
        };
        let rest = &self.text[start..];
        if rest.is_empty() {
            return Lexed { token: Token::End, start: before, end: before };
        }
        let (token, length) = token(rest);
        self.at = start + length;
        Lexed { token, start, end: self.at }
    }
}

/// The token at the start of `rest`, which is neither blank nor empty, and its length in bytes.
fn token(rest: &str) -> (Token<'_>, usize) {
    let first = rest.as_bytes()[0];
    if first.is_ascii_alphabetic() || first == b'_' {
        let length = word_length(rest);
        return (Token::Word(&rest[..length]), length);
    }
    if first == b'%' {
        let length = word_length(&rest[1..]);
        return if length == 0 { (Token::Unknown, 1) } else { (Token::Name(&rest[1..=length]), length + 1) };
    }
    if first.is_ascii_digit() || (first == b'-' && rest.as_bytes().get(1).is_some_and(u8::is_ascii_digit)) {
        return number(rest);
    }
    // `=` is no symbol of shapes, but of instructions.
    if let Some(symbol) = SYMBOLS.iter().chain(&["="]).find(|symbol| rest.starts_with(**symbol)) {
        return (Token::Symbol(&rest[..symbol.len()]), symbol.len());
    }
    (Token::Unknown, rest.chars().next().map_or(1, char::len_utf8))
}

/// A number with everything that is stuck to it: `2x3`, `1.5`, `6e1` and `1_2` are one token each, and no integer.
fn number(rest: &str) -> (Token<'_>, usize) {
    let sign = usize::from(rest.starts_with('-'));
    let length =
        sign + prefix_length(&rest[sign..], |byte| byte.is_ascii_alphanumeric() || b"_.".contains(&byte));
    let digits = &rest[sign..length];
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return (Token::Unknown, length);
    }
    (rest[..length].parse().map_or(Token::TooLarge, Token::Integer), length)
}

fn word_length(rest: &str) -> usize {
    prefix_length(rest, |byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

fn prefix_length(rest: &str, belongs: impl Fn(u8) -> bool) -> usize {
    rest.bytes().position(|byte| !belongs(byte)).unwrap_or(rest.len())
}

/// Where white space and comments that begin at byte `at` end.
///
/// # Errors
/// The place of a comment that does not end, or that holds a NUL byte, which XLA reads nowhere.
pub(crate) fn blank_end(text: &str, mut at: usize) -> Result<usize, usize> {
    loop {
        let rest = &text[at..];
        let (length, comment) = if let Some(body) = rest.strip_prefix("/*") {
            (2 + body.find("*/").ok_or(at)? + 2, true)
        } else if rest.starts_with("//") {
            (rest.find(['\n', '\r']).unwrap_or(rest.len()), true)
        } else {
            (prefix_length(rest, |byte| b" \t\n\r".contains(&byte)), false)
        };
        if length == 0 {
            return Ok(at);
        }
        if comment && rest[..length].contains('\0') {
            return Err(at);
        }
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer { text, at: 0 };
        std::iter::from_fn(|| Some(lexer.next().token)).take_while(|token| *token != Token::End).collect()
    }

    #[test]
    fn numbers_take_all_that_is_stuck_to_them() {
        use Token::{Integer, Symbol, TooLarge, Unknown, Word};
        assert_eq!(tokens("007 -0 -8"), [Integer(7), Integer(0), Integer(-8)]);
        assert_eq!(tokens("2x3 1.5 6e1 1_2 0x3 5."), [Unknown; 6]);
        assert_eq!(
            tokens("9223372036854775807 -9223372036854775808"),
            [Integer(i64::MAX), Integer(i64::MIN)]
        );
        assert_eq!(tokens("9223372036854775808 -9223372036854775809"), [TooLarge; 2]);
        assert_eq!(tokens("1->2"), [Integer(1), Symbol("->"), Integer(2)]);
        assert_eq!(tokens("f32->-1"), [Word("f32-"), Unknown, Integer(-1)]);
    }

    #[test]
    fn symbols_of_two_characters_are_never_split() {
        assert_eq!(tokens("<= ->"), [Token::Symbol("<="), Token::Symbol("->")]);
        assert_eq!(tokens("< ="), [Token::Unknown, Token::Symbol("=")]);
    }

    #[test]
    fn comments_are_blank() {
        assert_eq!(tokens("a/* b */c // d\ne"), [Token::Word("a"), Token::Word("c"), Token::Word("e")]);
        assert_eq!(tokens("a//b\rc"), [Token::Word("a"), Token::Word("c")]);
        assert_eq!(tokens("a /*/"), [Token::Word("a"), Token::BadComment]);
        assert_eq!(tokens("/*\0*/"), [Token::BadComment]);
        assert_eq!(tokens("/"), [Token::Unknown]);
    }

    #[test]
    fn the_end_lies_behind_the_last_token() {
        let mut lexer = Lexer { text: "a  // b\n", at: 0 };
        lexer.next();
        let end = lexer.next();
        assert_eq!((end.token, end.start), (Token::End, 1));
        assert_eq!(lexer.next().token, Token::End);
    }
}

//! A number that names a request.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;
use twox_hash::XxHash3_128;

use super::Request;
use super::encoding::Encoding;

/// A number of 128 bits that names what is moved: the same for equal requests on every machine, in every run, and in
/// every release whose plan format is the same.
///
/// It is XXH3 (128 bits, seed 0) of a canonical encoding of the shapes with their whole layouts, the strides and offsets,
/// the region, and the padding with its default resolved. What changes the way and not the result, such as level,
/// threads and streaming, is not part of it; neither is the metadata prefix (`M`), which equality of layouts leaves out
/// too. Requests that are written differently have different fingerprints, even where they move the same.
///
/// Good for naming entries of a store that outlives the process. XXH3 is no cryptographic hash: who wants to can make
/// two requests with one fingerprint.
///
/// ```
/// use relayout::{Fingerprint, Level, Padding, Plan, Shape};
/// let (src, dst): (Shape, Shape) = ("f32[3,5]".parse()?, "f32[3,5]{0,1}".parse()?);
/// let fingerprint = Plan::new(&src, &dst)?.fingerprint();
/// assert_eq!(fingerprint.to_string(), "f9c2a45ceea347c42e92240f518f7612");
/// assert_eq!("f9c2a45ceea347c42e92240f518f7612".parse(), Ok(fingerprint));
///
/// let builder = || Plan::builder(&src, &dst);
/// assert_eq!(builder().level(Level::Scalar).max_threads(1).build()?.fingerprint(), fingerprint);
/// assert_ne!(builder().padding(Padding::Leave).build()?.fingerprint(), fingerprint);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Fingerprint(
    /// The number.
    pub u128,
);

impl fmt::Display for Fingerprint {
    /// 32 hexadecimal digits, lower case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

/// A text that is no fingerprint.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("expected a fingerprint of 32 hexadecimal digits, lower case, found '{found}'")]
pub struct FingerprintError {
    /// The text.
    pub found: String,
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    /// Reads what [`Display`](fmt::Display) prints, and nothing else.
    fn from_str(text: &str) -> Result<Fingerprint, FingerprintError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let number = u128::from_str_radix(text, 16);
        match number {
            Ok(number) if text.len() == 32 && text.bytes().all(is_digit) => Ok(Fingerprint(number)),
            _ => Err(FingerprintError { found: text.to_owned() }),
        }
    }
}

impl Request<'_> {
    /// The number that names this request, which need not be valid.
    pub fn fingerprint(&self) -> Fingerprint {
        Encoding::of(self).fingerprint()
    }
}

impl Encoding {
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint(XxHash3_128::oneshot(self.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_xxh3() {
        // From the hash's own reference.
        let empty = Fingerprint(XxHash3_128::oneshot(b""));
        assert_eq!(empty.to_string(), "99aa06d3014798d86001c324468d497f");
    }

    #[test]
    fn only_the_printed_form_is_read() {
        let fingerprint = Fingerprint(0xabc);
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        let signed = format!("+{}", "0".repeat(31));
        for text in [
            "",
            "abc",
            "0x1",
            &"0".repeat(33),
            &"A".repeat(32),
            &signed,
            "00000000000000000000000000000ab\u{e9}",
        ] {
            assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError { found: text.to_owned() }));
        }
    }
}

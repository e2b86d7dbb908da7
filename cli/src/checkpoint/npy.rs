//! `.npy`: one array, whose header can say row major (C) or column major (Fortran) and nothing else.
//!
//! The header is edited in place of being written anew, so that its version, spacing and byte order survive and a
//! conversion there and back gives the same file.

use std::ops::Range;

use anyhow::{Context, Result, anyhow, bail};
use relayout::ArrayShape;

use super::{Conversion, dtype, relayout, wrong_size};

const MAGIC: &[u8] = b"\x93NUMPY";
/// The data begins at a multiple of this.
const ALIGNMENT: usize = 64;

/// A header, and where in the file its parts stand.
#[derive(PartialEq, Eq, Debug)]
struct Header {
    descr: String,
    fortran_order: bool,
    /// Where the word `True` or `False` stands.
    fortran_order_at: Range<usize>,
    shape: Vec<i64>,
    /// Where the text begins and the data begins.
    text_start: usize,
    data_start: usize,
}

/// Converts the whole of `file`, handing the new file to `write` piece by piece.
pub(super) fn convert(
    file: &[u8],
    conversion: &Conversion,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let header = Header::parse(file)?;
    let element_type = dtype::from_npy(&header.descr)
        .ok_or_else(|| anyhow!("npy dtype '{}' has no XLA type (arrays of numbers only)", header.descr))?;
    let plain = ArrayShape::new(element_type, header.shape.iter().copied());
    let target = conversion.policy.apply(&plain)?;
    if !conversion.policy.applies_to(plain.rank()) {
        bail!("the array has {} dimensions, and the layout is for others", plain.rank());
    }
    let to_fortran = fortran_order(&target, header.fortran_order)?;
    let column_major = plain.layout().clone().with_minor_to_major(0..plain.rank() as i64);
    let source = if header.fortran_order { plain.with_layout(column_major) } else { plain };
    let data = file.get(header.data_start..).unwrap_or_default();
    check_size(&source, &header, data)?;
    write(&header.with_order(file, to_fortran)?)?;
    write(&relayout(&source, &target, data, conversion.threads)?)
}

fn check_size(source: &ArrayShape, header: &Header, data: &[u8]) -> Result<()> {
    let expected = source.byte_size()?;
    if i64::try_from(data.len()) != Ok(expected) {
        return Err(wrong_size(header.data_start, expected.unsigned_abs(), data.len()));
    }
    Ok(())
}

/// How a header says `target`; arrays of less than two dimensions keep what was said.
fn fortran_order(target: &ArrayShape, before: bool) -> Result<bool> {
    let rank = target.rank() as i64;
    let layout = target.layout();
    let untiled = layout.clone().with_minor_to_major([]) == relayout::Layout::from_minor_to_major([]);
    let order = layout.minor_to_major();
    match order {
        _ if !untiled => {}
        [] | [_] => return Ok(before),
        _ if order.iter().copied().eq((0..rank).rev()) => return Ok(false),
        _ if order.iter().copied().eq(0..rank) => return Ok(true),
        _ => {}
    }
    bail!("npy cannot say layout {layout}: convert a .safetensors file, or raw bytes with --from")
}

impl Header {
    fn parse(file: &[u8]) -> Result<Header> {
        if !file.starts_with(MAGIC) {
            bail!("at byte 0: expected the magic of an npy file");
        }
        let (text_start, length) = match file.get(6..12) {
            Some(&[1, _, low, high, ..]) => (10, usize::from(u16::from_le_bytes([low, high]))),
            Some(&[2 | 3, _, a, b, c, d]) => (12, u32::from_le_bytes([a, b, c, d]) as usize),
            Some(&[major, minor, ..]) => bail!("at byte 6: unknown npy version {major}.{minor}"),
            _ => bail!("at byte {}: the npy header is cut off", file.len()),
        };
        let data_start = text_start + length;
        let Some(text) = file.get(text_start..data_start) else {
            bail!("at byte {}: the npy header is cut off, expected {length} bytes", file.len());
        };
        let mut reader = Reader { text, at: 0 };
        let header = reader.dictionary();
        let mut header = header
            .map_err(|wanted| anyhow!("at byte {}: npy header: expected {wanted}", text_start + reader.at))?;
        header.fortran_order_at =
            header.fortran_order_at.start + text_start..header.fortran_order_at.end + text_start;
        Ok(Header { text_start, data_start, ..header })
    }

    /// The bytes before the data, saying `fortran_order`; they keep their length where there is room.
    fn with_order(&self, file: &[u8], fortran_order: bool) -> Result<Vec<u8>> {
        let (before, rest) = file[..self.data_start].split_at(self.fortran_order_at.start);
        let rest = &rest[self.fortran_order_at.len()..];
        let mut header = before.to_vec();
        header.extend_from_slice(if fortran_order { b"True" } else { b"False" });
        header.extend_from_slice(rest.trim_ascii_end());
        let length = if header.len() < self.data_start {
            self.data_start
        } else {
            (header.len() + 1).next_multiple_of(ALIGNMENT)
        };
        header.resize(length - 1, b' ');
        header.push(b'\n');
        self.write_length(&mut header)?;
        Ok(header)
    }

    fn write_length(&self, header: &mut [u8]) -> Result<()> {
        let length = header.len() - self.text_start;
        let field = &mut header[8..self.text_start];
        match field.len() {
            2 => field.copy_from_slice(&u16::try_from(length).context("npy header too long")?.to_le_bytes()),
            _ => field.copy_from_slice(&u32::try_from(length).context("npy header too long")?.to_le_bytes()),
        }
        Ok(())
    }
}

/// Reads the dictionary of a header; a failure says what was expected at `at`.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

type Read<T> = std::result::Result<T, &'static str>;

impl Reader<'_> {
    fn dictionary(&mut self) -> Read<Header> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        self.expect(b'{', "'{'")?;
        while !self.take(b'}') {
            let key = self.string()?;
            self.expect(b':', "':'")?;
            match key.as_str() {
                "descr" => descr = Some(self.string().map_err(|_| "a plain element type such as '<f4'")?),
                "fortran_order" => order = Some(self.boolean()?),
                "shape" => shape = Some(self.shape()?),
                _ => return Err("descr, fortran_order or shape"),
            }
            if !self.take(b',') && !self.peeks(b'}') {
                return Err("',' or '}'");
            }
        }
        self.skip_space();
        if self.at < self.text.len() {
            return Err("spaces up to the data");
        }
        let (fortran_order, fortran_order_at) = order.ok_or("fortran_order")?;
        let descr = descr.ok_or("descr")?;
        let shape = shape.ok_or("shape")?;
        Ok(Header { descr, fortran_order, fortran_order_at, shape, text_start: 0, data_start: 0 })
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn peeks(&mut self, byte: u8) -> bool {
        self.skip_space();
        self.text.get(self.at) == Some(&byte)
    }

    fn take(&mut self, byte: u8) -> bool {
        let found = self.peeks(byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, wanted: &'static str) -> Read<()> {
        if self.take(byte) { Ok(()) } else { Err(wanted) }
    }

    fn string(&mut self) -> Read<String> {
        let quote = if self.peeks(b'"') { b'"' } else { b'\'' };
        self.expect(quote, "a quoted string")?;
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| byte == quote).ok_or("a closing quote")?;
        self.at += length + 1;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn boolean(&mut self) -> Read<(bool, Range<usize>)> {
        self.skip_space();
        let start = self.at;
        for (word, value) in [("True", true), ("False", false)] {
            if self.text[start..].starts_with(word.as_bytes()) {
                self.at += word.len();
                return Ok((value, start..self.at));
            }
        }
        Err("True or False")
    }

    fn shape(&mut self) -> Read<Vec<i64>> {
        let mut sizes = Vec::new();
        self.expect(b'(', "'('")?;
        while !self.take(b')') {
            sizes.push(self.size()?);
            if !self.take(b',') && !self.peeks(b')') {
                return Err("',' or ')'");
            }
        }
        Ok(sizes)
    }

    fn size(&mut self) -> Read<i64> {
        self.skip_space();
        let rest = &self.text[self.at..];
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let text = std::str::from_utf8(&rest[..digits]).map_err(|_| "digits")?;
        let size = text.parse().map_err(|_| "a size of at most 63 bits")?;
        self.at += digits;
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(dictionary: &str, data: &[u8]) -> Vec<u8> {
        let length = (10 + dictionary.len() + 1).next_multiple_of(ALIGNMENT) - 10;
        let mut file = [MAGIC, &[1, 0], &(length as u16).to_le_bytes(), dictionary.as_bytes()].concat();
        file.resize(10 + length - 1, b' ');
        file.push(b'\n');
        file.extend_from_slice(data);
        file
    }

    fn converted(file: &[u8], policy: &str) -> Result<Vec<u8>> {
        let conversion = Conversion { policy: policy.parse()?, threads: None };
        let mut out = Vec::new();
        convert(file, &conversion, &mut |bytes| {
            out.extend_from_slice(bytes);
            Ok(())
        })?;
        Ok(out)
    }

    const SMALL: &str = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }";

    #[test]
    fn column_major_and_back_is_the_same_file() {
        let original = file(SMALL, &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
        let fortran = converted(&original, "column-major").unwrap();
        assert_eq!(fortran, file(&SMALL.replace("False", "True"), &[0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0]));
        assert_eq!(converted(&fortran, "row-major").unwrap(), original);
        assert_eq!(converted(&fortran, "{0,1}").unwrap(), fortran);
    }

    #[test]
    fn a_header_without_room_grows_by_whole_lines() {
        let padding = " ".repeat(128 - 10 - SMALL.len());
        let full = SMALL.replace("False", "True").replace(", }", &format!(", {padding}}}"));
        let original = file(&full, &[0; 12]);
        let grown = converted(&original, "row-major").unwrap();
        assert_eq!(grown.len(), original.len() + ALIGNMENT);
        assert!(!Header::parse(&grown).unwrap().fortran_order);
    }

    #[test]
    fn refusals_name_the_place() {
        for (bytes, expected) in [
            (b"PK".to_vec(), "at byte 0"),
            (MAGIC.to_vec(), "at byte 6"),
            (file(SMALL, &[0; 11]), "expected 12 bytes of data, found 11"),
            (file(&SMALL.replace("(2, 3)", "(2, x)"), &[]), "at byte 64"),
            (file(&SMALL.replace("<u2", "|V2"), &[0; 12]), "'|V2'"),
            (file(&SMALL.replace("2, 3", "4294967296, 4294967296"), &[]), "overflows"),
            (file(&SMALL.replace("'descr'", "'desc'"), &[]), "expected descr"),
        ] {
            let error = format!("{:#}", converted(&bytes, "column-major").unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        let tiled = format!("{:#}", converted(&file(SMALL, &[0; 12]), "T(8,128)").unwrap_err());
        assert!(tiled.contains("safetensors"), "{tiled}");
    }
}

//! The frame of a safetensors file: eight bytes of length, a JSON header, the data.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail};
use safetensors::tensor::{Metadata, TensorInfo};
use serde_json::Value;

use super::wrong_size;

/// Bytes of the length before the header.
const LENGTH_BYTES: usize = 8;
/// Readers refuse longer headers.
const MAX_HEADER_BYTES: usize = 100_000_000;
/// The header's own key among the tensors' names.
const METADATA: &str = "__metadata__";

/// A file taken apart, and checked to be whole.
pub(super) struct Frame<'a> {
    pub(super) header: &'a str,
    pub(super) contents: Contents,
    pub(super) data: &'a [u8],
}

/// What a header says: its notes, and its tensors in the order of their data.
#[derive(Clone, Default)]
pub(super) struct Contents {
    pub(super) metadata: BTreeMap<String, String>,
    pub(super) tensors: Vec<(String, TensorInfo)>,
}

impl<'a> Frame<'a> {
    pub(super) fn parse(file: &'a [u8]) -> Result<Frame<'a>> {
        let Some((length, rest)) = file.split_first_chunk::<LENGTH_BYTES>() else {
            bail!("at byte 0: expected 8 bytes of header length, found a file of {} bytes", file.len());
        };
        let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
        if length > MAX_HEADER_BYTES {
            bail!("at byte 0: header length {length} is above the limit of {MAX_HEADER_BYTES}");
        }
        let Some((header, data)) = rest.split_at_checked(length) else {
            bail!(
                "at byte 8: expected a header of {length} bytes, found {} (is the file cut off?)",
                rest.len()
            );
        };
        let header = std::str::from_utf8(header).map_err(|error| {
            anyhow!("at byte {}: header is not UTF-8", LENGTH_BYTES + error.valid_up_to())
        })?;
        let (contents, data_bytes) = Contents::parse(header)?;
        if data_bytes != data.len() {
            return Err(wrong_size(LENGTH_BYTES + length, data_bytes as u64, data.len()));
        }
        Ok(Frame { header, contents, data })
    }
}

impl Contents {
    /// What a header's text says, and how many bytes of data it speaks of.
    pub(super) fn parse(header: &str) -> Result<(Contents, usize)> {
        let parsed: Metadata = serde_json::from_str(header).map_err(|error| match culprit(header) {
            Some(tensor) => tensor,
            None => anyhow!("header: {error}"),
        })?;
        let metadata =
            parsed.metadata().iter().flatten().map(|(key, note)| (key.clone(), note.clone())).collect();
        let mut tensors: Vec<(String, TensorInfo)> =
            parsed.tensors().into_iter().map(|(name, info)| (name, info.clone())).collect();
        // By name where empty tensors share an offset, so that equal files give equal files.
        tensors.sort_by(|a, b| (a.1.data_offsets, &a.0).cmp(&(b.1.data_offsets, &b.0)));
        Ok((Contents { metadata, tensors }, parsed.data_len()))
    }

    /// The length and the header, padded with spaces so that the data begins at a multiple of eight bytes.
    pub(super) fn compose(&self) -> Result<Vec<u8>> {
        let mut entries = Vec::with_capacity(self.tensors.len() + 1);
        if !self.metadata.is_empty() {
            entries.push(format!("\"{METADATA}\":{}", serde_json::to_string(&self.metadata)?));
        }
        for (name, info) in &self.tensors {
            entries.push(format!("{}:{}", serde_json::to_string(name)?, serde_json::to_string(info)?));
        }
        let mut header = format!("{{{}}}", entries.join(","));
        header.extend(std::iter::repeat_n(' ', header.len().next_multiple_of(LENGTH_BYTES) - header.len()));
        frame(&header)
    }
}

/// `header` as it stands in a file, its length before it.
pub(super) fn frame(header: &str) -> Result<Vec<u8>> {
    if header.len() > MAX_HEADER_BYTES {
        bail!("the new header would have {} bytes, above the limit of {MAX_HEADER_BYTES}", header.len());
    }
    let mut framed = (header.len() as u64).to_le_bytes().to_vec();
    framed.extend_from_slice(header.as_bytes());
    Ok(framed)
}

/// The tensor that makes a header unreadable, which the parser of the whole does not name.
fn culprit(header: &str) -> Option<anyhow::Error> {
    let Value::Object(entries) = serde_json::from_str(header).ok()? else { return None };
    entries.into_iter().filter(|(name, _)| name != METADATA).find_map(|(name, entry)| {
        let checked =
            serde_json::from_value::<TensorInfo>(entry).map_err(anyhow::Error::new).and_then(check_bytes);
        checked.with_context(|| format!("tensor '{name}'")).err()
    })
}

/// One tensor's own arithmetic: its range is as long as its shape and type ask for.
fn check_bytes(info: TensorInfo) -> Result<()> {
    let (start, end) = info.data_offsets;
    let elements = info.shape.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    let bits = elements.and_then(|elements| elements.checked_mul(info.dtype.bitsize()));
    let bits = bits.context("the size overflows 64 bits")?;
    if end.checked_sub(start).and_then(|bytes| bytes.checked_mul(8)) != Some(bits) {
        bail!("data_offsets {start}..{end} do not fit {} {:?}", info.dtype, info.shape);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(file: &[u8]) -> String {
        format!("{:#}", Frame::parse(file).err().unwrap())
    }

    fn file(header: &str, data: usize) -> Vec<u8> {
        let mut file = frame(header).unwrap();
        file.resize(file.len() + data, 0);
        file
    }

    #[test]
    fn broken_frames_are_refused_with_their_place() {
        assert!(refusal(b"abc").contains("at byte 0"));
        assert!(refusal(&u64::MAX.to_le_bytes()).contains("at byte 0"));
        assert!(refusal(&100u64.to_le_bytes()).contains("at byte 8"));
        assert!(refusal(&[&2u64.to_le_bytes()[..], b"{\xff"].concat()).contains("at byte 9"));
        assert!(refusal(&file("{", 0)).contains("header"));
        let whole = r#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        assert!(Frame::parse(&file(whole, 8)).is_ok());
        assert!(refusal(&file(whole, 7)).contains("expected 8 bytes of data, found 7"));
    }

    #[test]
    fn a_broken_entry_is_named() {
        for entry in [
            r#"{"dtype":"F12","shape":[2],"data_offsets":[0,8]}"#,
            r#"{"dtype":"F32","shape":[3],"data_offsets":[0,8]}"#,
            r#"{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}"#,
            r#"{"dtype":"F32","shape":[2],"data_offsets":[8,0]}"#,
        ] {
            let message = refusal(&file(&format!(r#"{{"layer.0":{entry}}}"#), 8));
            assert!(message.contains("'layer.0'"), "{message}");
        }
    }

    #[test]
    fn composed_headers_are_aligned_and_read_back() {
        let header =
            r#"{"__metadata__":{"b":"2","a":"1"},"x\"y":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}"#;
        let contents = Contents::parse(header).unwrap().0;
        let mut composed = contents.compose().unwrap();
        assert_eq!(composed.len() % 8, 0);
        composed.extend([0; 3]);
        let again = Frame::parse(&composed).unwrap().contents;
        assert_eq!(again.metadata, contents.metadata);
        assert_eq!(again.tensors[0].0, "x\"y");
    }
}

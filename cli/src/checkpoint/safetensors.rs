//! `.safetensors`: one tensor after the other, from a mapped file to a growing one.
//!
//! A tensor in another layout than row major is stored as one-dimensional `U8` of its bytes, so that every reader
//! opens the file and none takes a tiled array for a plain one. What it is stands in the file's `__metadata__`:
//!
//! - `relayout.tensors`: a JSON object from the tensor's name to its shape and layout, such as
//!   `bf16[64,256]{1,0:T(8,128)(2,1)}`;
//! - `relayout.header`: the header of the file as it was before any conversion. Converting back to row major
//!   restores it letter by letter.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result, anyhow, bail};
use indicatif::ProgressBar;
use relayout::{ArrayShape, Layout, PrimitiveType};
use safetensors::Dtype;
use safetensors::tensor::TensorInfo;

use super::header::{Contents, Frame, frame};
use super::{Conversion, dtype, relayout};

const TENSORS_KEY: &str = "relayout.tensors";
const HEADER_KEY: &str = "relayout.header";

/// A tensor as its file holds it.
struct Stored {
    name: String,
    /// The array that the bytes are: what the header says, or what an earlier conversion noted.
    shape: ArrayShape,
    range: Range<usize>,
}

/// A tensor on its way.
struct Move {
    stored: Stored,
    target: ArrayShape,
    target_bytes: usize,
}

/// Converts the whole of `file`, handing the new file to `write` piece by piece.
pub(super) fn convert(
    file: &[u8],
    conversion: &Conversion,
    progress: &ProgressBar,
    write: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let frame = Frame::parse(file)?;
    let moves = moves(&frame.contents, conversion)?;
    write(&new_header(&frame, &moves)?)?;
    for step in &moves {
        let name = &step.stored.name;
        progress.set_message(name.clone());
        let bytes = frame.data.get(step.stored.range.clone()).context("data_offsets outside the file")?;
        let moved = relayout(&step.stored.shape, &step.target, bytes, conversion.threads)
            .with_context(|| format!("tensor '{name}'"))?;
        write(&moved)?;
        progress.inc(bytes.len() as u64);
    }
    Ok(())
}

/// What becomes of every tensor, in the order of the data; all sizes are known before anything is written.
fn moves(contents: &Contents, conversion: &Conversion) -> Result<Vec<Move>> {
    let notes = notes(contents)?;
    let mut applied = contents.tensors.is_empty();
    let mut moves = Vec::with_capacity(contents.tensors.len());
    for (name, info) in &contents.tensors {
        let shape = stored_shape(info, notes.get(name)).with_context(|| format!("tensor '{name}'"))?;
        applied |= conversion.policy.applies_to(shape.rank());
        let (target, target_bytes) =
            target(&shape, conversion).with_context(|| format!("tensor '{name}'"))?;
        let range = info.data_offsets.0..info.data_offsets.1;
        moves.push(Move { stored: Stored { name: name.clone(), shape, range }, target, target_bytes });
    }
    if !applied {
        bail!("no tensor has the dimensions that the layout is for");
    }
    Ok(moves)
}

/// The layouts that an earlier conversion noted.
fn notes(contents: &Contents) -> Result<BTreeMap<String, String>> {
    match contents.metadata.get(TENSORS_KEY) {
        Some(json) => serde_json::from_str(json).map_err(|error| anyhow!("metadata {TENSORS_KEY}: {error}")),
        None => Ok(BTreeMap::new()),
    }
}

fn stored_shape(info: &TensorInfo, note: Option<&String>) -> Result<ArrayShape> {
    let Some(note) = note else { return plain_shape(info) };
    let shape: ArrayShape = note.parse().map_err(|error| anyhow!("metadata {TENSORS_KEY}: {error}"))?;
    let expected = shape.byte_size().with_context(|| format!("metadata {TENSORS_KEY}: {note}"))?;
    let found = info.data_offsets.1 - info.data_offsets.0;
    if info.dtype != Dtype::U8 || info.shape.len() != 1 || i64::try_from(found) != Ok(expected) {
        bail!("metadata {TENSORS_KEY}: {note} takes {expected} bytes, found {} {:?}", info.dtype, info.shape);
    }
    Ok(shape)
}

/// The array that a header's entry describes by itself.
fn plain_shape(info: &TensorInfo) -> Result<ArrayShape> {
    let element_type = dtype::from_safetensors(info.dtype)
        .with_context(|| format!("element type {} has no XLA type", info.dtype))?;
    let sizes: Vec<i64> = info
        .shape
        .iter()
        .map(|&size| i64::try_from(size).map_err(|_| anyhow!("dimension {size} is too large")))
        .collect::<Result<_>>()?;
    Ok(plain(&ArrayShape::new(element_type, sizes)))
}

/// `shape` in row-major order, packed where checkpoint files pack.
fn plain(shape: &ArrayShape) -> ArrayShape {
    let bits = if shape.element_type() == PrimitiveType::F4e2m1fn { 4 } else { 0 };
    shape.clone().with_layout(Layout::row_major(shape.rank()).with_element_size_in_bits(bits))
}

fn target(shape: &ArrayShape, conversion: &Conversion) -> Result<(ArrayShape, usize)> {
    let target = conversion.policy.apply(&plain(shape))?;
    let bytes = target.byte_size().with_context(|| format!("layout {}", target.layout()))?;
    Ok((target, usize::try_from(bytes)?))
}

/// The length and header of the new file.
fn new_header(file: &Frame, moves: &[Move]) -> Result<Vec<u8>> {
    let contents = new_contents(file, moves)?;
    match original_header(file) {
        Some(original) if !contents.metadata.contains_key(TENSORS_KEY) && says(&original, &contents) => {
            frame(&original)
        }
        _ => contents.compose(),
    }
}

fn new_contents(file: &Frame, moves: &[Move]) -> Result<Contents> {
    let mut metadata = file.contents.metadata.clone();
    let original = original_header(file);
    metadata.retain(|key, _| key != TENSORS_KEY && key != HEADER_KEY);
    let mut tensors = Vec::with_capacity(moves.len());
    let mut noted = BTreeMap::new();
    let mut start: usize = 0;
    for step in moves {
        let end = start.checked_add(step.target_bytes).context("the size of the new file overflows")?;
        let (dtype, shape) = if step.target == plain(&step.target) {
            logical(&step.target)?
        } else {
            noted.insert(step.stored.name.clone(), step.target.to_string());
            (Dtype::U8, vec![step.target_bytes])
        };
        tensors.push((step.stored.name.clone(), TensorInfo { dtype, shape, data_offsets: (start, end) }));
        start = end;
    }
    if !noted.is_empty() {
        metadata.insert(TENSORS_KEY.into(), serde_json::to_string(&noted)?);
        metadata.extend(original.map(|header| (HEADER_KEY.into(), header.into_owned())));
    }
    Ok(Contents { metadata, tensors })
}

fn logical(shape: &ArrayShape) -> Result<(Dtype, Vec<usize>)> {
    let element_type = shape.element_type();
    let dtype = dtype::to_safetensors(element_type)
        .with_context(|| format!("element type {element_type} has no safetensors type"))?;
    let sizes = shape.bounds()?.into_iter().map(usize::try_from).collect::<Result<_, _>>()?;
    Ok((dtype, sizes))
}

/// The header before any conversion: this file's own, unless it comes from a conversion.
fn original_header<'a>(file: &'a Frame) -> Option<Cow<'a, str>> {
    match file.contents.metadata.contains_key(TENSORS_KEY) {
        true => file.contents.metadata.get(HEADER_KEY).map(|header| Cow::Borrowed(header.as_str())),
        false => Some(Cow::Borrowed(file.header)),
    }
}

/// True where `header` describes exactly `contents`: the file may have been edited since the header was noted.
fn says(header: &str, contents: &Contents) -> bool {
    let Ok((said, _)) = Contents::parse(header) else { return false };
    let same = |a: &(String, TensorInfo), b: &(String, TensorInfo)| {
        a.0 == b.0 && a.1.dtype == b.1.dtype && a.1.shape == b.1.shape && a.1.data_offsets == b.1.data_offsets
    };
    said.metadata == contents.metadata
        && said.tensors.len() == contents.tensors.len()
        && said.tensors.iter().zip(&contents.tensors).all(|(a, b)| same(a, b))
}

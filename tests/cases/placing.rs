//! Where one side of a relayout lies in its buffer: dense, or by strides of either sign, with gaps.

use relayout::{ArrayShape, Tile, TileDimension};

use super::choices::Choices;

/// How one side lies in its buffer.
#[derive(Clone, Default)]
pub(crate) struct Placing {
    pub(crate) strides_bytes: Option<Vec<i64>>,
    pub(crate) offset_bytes: i64,
    /// Bytes from an aligned address to the buffer.
    pub(crate) misalignment: usize,
    /// Bytes that a strided buffer has beyond those that are reached.
    pub(crate) slack: usize,
}

/// Where a side lies, one in `ways` times by strides; true where those may put two elements into one place.
pub(crate) fn placing(choices: &mut Choices<'_>, shape: &ArrayShape, ways: i64) -> (Placing, bool) {
    let mut placing = Placing { misalignment: choices.below(64) as usize, ..Placing::default() };
    if !choices.one_in(ways) || !takes_strides(shape) {
        return (placing, false);
    }
    let (counts, tile_bytes) = tile_counts(shape);
    let apart = choices.below(3) < 2;
    let strides = match apart {
        true => strides_apart(choices, &counts, tile_bytes),
        // Backwards, standing still, with a few elements between.
        false if choices.one_in(2) => {
            counts.iter().map(|_| tile_bytes * choices.pick(&[1, 0, -1, 2, 3, 4, -2])).collect()
        }
        false => counts.iter().map(|_| choices.below(97) - 48).collect(),
    };
    let below: i64 = strides.iter().zip(&counts).map(|(stride, count)| (stride * (count - 1)).min(0)).sum();
    placing.offset_bytes = choices.below(9) - below;
    placing.strides_bytes = Some(strides);
    placing.slack = choices.below(9) as usize;
    (placing, !apart)
}

fn takes_strides(shape: &ArrayShape) -> bool {
    let tiles = shape.layout().tiles();
    let longest = tiles.first().map_or(0, |tile| tile.dimensions().len());
    let inside = |tile: &Tile| tile.dimensions().len() <= longest;
    let combines = |tile: &Tile| tile.dimensions().contains(&TileDimension::Combine);
    shape.element_bits().is_ok_and(|bits| bits % 8 == 0)
        && tiles.iter().all(inside)
        && !tiles.first().is_some_and(combines)
}

/// How many elements, or tiles of the first tile, each logical dimension has, and the bytes of one.
fn tile_counts(shape: &ArrayShape) -> (Vec<i64>, i64) {
    let layout = shape.layout();
    let sizes = shape.bounds().expect("generated shapes have bounds");
    let mut counts: Vec<i64> =
        (0..sizes.len()).map(|d| *layout.padded_dimensions().get(d).unwrap_or(&sizes[d])).collect();
    let mut inside = 1;
    if let Some(first) = layout.tiles().first() {
        let entries = first.dimensions().iter().rev().map(|entry| match *entry {
            TileDimension::Size(size) => size,
            TileDimension::Combine => 1,
        });
        for (&dimension, size) in layout.minor_to_major().iter().zip(entries) {
            let count = &mut counts[dimension as usize];
            *count = (*count + size - 1) / size;
        }
        // Later tiles may pad the first one again; all that is behind the counts is its inside.
        let outer = shape.rank().max(first.dimensions().len());
        inside = shape.physical_dimensions().expect("generated shapes have sizes")[outer..].iter().product();
    }
    let bytes = shape.element_bits().expect("generated shapes are valid") / 8;
    (counts, inside * bytes)
}

/// Strides of both signs, in any order of dimensions and with gaps, that keep all places apart.
fn strides_apart(choices: &mut Choices<'_>, counts: &[i64], bytes: i64) -> Vec<i64> {
    let mut strides = vec![0; counts.len()];
    let mut span = bytes;
    for dimension in choices.permutation(counts.len()) {
        let gap = match choices.below(6) {
            0..4 => 0,
            4 => choices.below(9),
            _ => bytes * choices.below(4),
        };
        let stride = span + gap;
        strides[dimension] = if choices.one_in(3) { -stride } else { stride };
        span += stride * (counts[dimension] - 1).max(0);
    }
    strides
}

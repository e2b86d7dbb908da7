//! Policies: from an array to the layout that it shall have.

use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use relayout::{ArrayShape, Layout, Tile};

/// A rule that gives every array of a checkpoint its layout.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Policy {
    /// The tiles of a TPU's vector memory, by the width of the element and the minor dimensions.
    Tpu,
    /// Dimension 0 is the most major, no tiles: what readers of checkpoints expect.
    RowMajor,
    /// Dimension 0 is the most minor, no tiles.
    ColumnMajor,
    /// These tiles and notes over the row-major order; arrays with fewer dimensions than the first tile keep theirs.
    Tiles(Layout),
    /// This layout for every array with as many dimensions; the others keep row-major order.
    Layout(Layout),
}

impl FromStr for Policy {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Policy> {
        match text {
            "tpu" => Ok(Policy::Tpu),
            "row-major" => Ok(Policy::RowMajor),
            "column-major" => Ok(Policy::ColumnMajor),
            _ if text.starts_with('{') => {
                Ok(Policy::Layout(text.parse().map_err(|error| anyhow!("layout {error}"))?))
            }
            // Notes alone, such as `T(8,128)`, are the layout text of no dimensions.
            _ if text.starts_with(|first: char| first.is_ascii_uppercase()) => {
                let notes = format!("{{:{text}}}").parse().map_err(|error: relayout::ParseError| {
                    let at = error.offset.saturating_sub("{:".len());
                    // The brace behind the text is not the user's.
                    let found = if at == text.len() { "the end of the text" } else { error.found.as_str() };
                    anyhow!("layout at byte {at}: expected {}, found {found}", error.expected)
                })?;
                Ok(Policy::Tiles(notes))
            }
            _ => bail!(
                "'{text}' is no layout policy: expected tpu, row-major, column-major or a layout such as T(8,128)"
            ),
        }
    }
}

impl Policy {
    /// The layout of `plain`, an array in row-major order, as its file holds it.
    pub(crate) fn apply(&self, plain: &ArrayShape) -> Result<ArrayShape> {
        let rank = plain.rank();
        let row_major = plain.layout();
        let layout = match self {
            Policy::Tpu => tpu(plain)?,
            Policy::RowMajor => row_major.clone(),
            Policy::ColumnMajor => row_major.clone().with_minor_to_major(0..rank as i64),
            _ if !self.applies_to(rank) => row_major.clone(),
            Policy::Tiles(notes) => notes.clone().with_minor_to_major(row_major.minor_to_major().to_vec()),
            Policy::Layout(layout) => layout.clone(),
        };
        let layout = match layout.element_size_in_bits() {
            // Packed stays packed unless the policy says otherwise.
            0 => layout.with_element_size_in_bits(row_major.element_size_in_bits()),
            _ => layout,
        };
        Ok(plain.clone().with_layout(layout))
    }

    /// False where an array of so many dimensions keeps its row-major order because the policy's layout is for others.
    pub(crate) fn applies_to(&self, rank: usize) -> bool {
        match self {
            Policy::Tiles(notes) => first_tile(notes) <= rank,
            Policy::Layout(layout) => layout.minor_to_major().len() == rank,
            Policy::Tpu | Policy::RowMajor | Policy::ColumnMajor => true,
        }
    }
}

/// Dimensions that the first tile reaches over; a tile acts on arrays that have them.
fn first_tile(layout: &Layout) -> usize {
    layout.tiles().first().map_or(0, |tile| tile.dimensions().len())
}

/// Elements in the 32 bits of one lane, which the last tile interleaves; none for types that stay untiled.
fn elements_per_lane(element_bits: i64) -> Option<i64> {
    match element_bits {
        4 | 8 | 16 | 32 => Some(32 / element_bits),
        _ => None,
    }
}

fn tpu(plain: &ArrayShape) -> Result<Layout> {
    let row_major = plain.layout().clone();
    let bounds = plain.bounds()?;
    let Some(packing) = elements_per_lane(plain.element_bits()?) else { return Ok(row_major) };
    let mut tiles = match bounds[..] {
        [] => return Ok(row_major),
        [_] if packing == 1 => vec![Tile::from([1024])],
        [_] => vec![Tile::from([1024]), Tile::from([128])],
        [.., second_minor, _] => vec![Tile::from([sublanes(second_minor).max(packing), 128])],
    };
    if packing > 1 {
        tiles.push(Tile::from([packing, 1]));
    }
    Ok(row_major.with_tiles(tiles))
}

/// Rows of a tile: small arrays take small tiles, so that less is padding.
fn sublanes(second_minor: i64) -> i64 {
    match second_minor {
        ..=2 => 2,
        3 | 4 => 4,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(policy: &str, shape: &str) -> String {
        let policy: Policy = policy.parse().unwrap();
        policy.apply(&shape.parse().unwrap()).unwrap().to_string()
    }

    #[test]
    fn tpu_follows_width_and_minor_dimensions() {
        for (shape, expected) in [
            ("f32[16,256]", "f32[16,256]{1,0:T(8,128)}"),
            ("bf16[3,16,256]", "bf16[3,16,256]{2,1,0:T(8,128)(2,1)}"),
            ("s8[16,256]", "s8[16,256]{1,0:T(8,128)(4,1)}"),
            ("f4e2m1fn[16,256]{1,0:E(4)}", "f4e2m1fn[16,256]{1,0:T(8,128)(8,1)E(4)}"),
            ("f32[2,256]", "f32[2,256]{1,0:T(2,128)}"),
            ("bf16[1,256]", "bf16[1,256]{1,0:T(2,128)(2,1)}"),
            ("f16[4,256]", "f16[4,256]{1,0:T(4,128)(2,1)}"),
            ("pred[1,256]", "pred[1,256]{1,0:T(4,128)(4,1)}"),
            ("f32[300]", "f32[300]{0:T(1024)}"),
            ("bf16[300]", "bf16[300]{0:T(1024)(128)(2,1)}"),
            ("u8[300]", "u8[300]{0:T(1024)(128)(4,1)}"),
            ("f64[16,256]", "f64[16,256]{1,0}"),
            ("s64[300]", "s64[300]{0}"),
            ("f32[]", "f32[]"),
        ] {
            assert_eq!(applied("tpu", shape), expected);
        }
    }

    #[test]
    fn other_policies_keep_what_they_cannot_apply_to() {
        assert_eq!(applied("column-major", "f32[2,3]"), "f32[2,3]{0,1}");
        assert_eq!(applied("row-major", "f32[2,3]"), "f32[2,3]{1,0}");
        assert_eq!(applied("T(8,128)", "f32[5,2,3]"), "f32[5,2,3]{2,1,0:T(8,128)}");
        assert_eq!(applied("T(8,128)", "f32[3]"), "f32[3]{0}");
        assert_eq!(applied("{0,1:T(8,128)}", "f32[2,3]"), "f32[2,3]{0,1:T(8,128)}");
        assert_eq!(applied("{0,1:T(8,128)}", "f32[5,2,3]"), "f32[5,2,3]{2,1,0}");
    }

    #[test]
    fn a_bad_policy_names_the_place() {
        assert!("gpu".parse::<Policy>().unwrap_err().to_string().contains("'gpu'"));
        let error = "T(8,128".parse::<Policy>().unwrap_err().to_string();
        assert!(error.contains("at byte 7") && error.contains("found the end of the text"), "{error}");
    }
}

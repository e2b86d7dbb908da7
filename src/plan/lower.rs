//! A pair of layouts becomes strided boxes. The only file that sees both sides.

use smallvec::{SmallVec, smallvec};

use super::digits::Digits;
use super::forest::{Forest, Group, Node, NodeId};
use super::padding::padding;
use super::pieces::{Atom, Cursor, Piece, Pieces, pieces, product};

/// More boxes than this and the offset tables take over: planning and walking them would cost more than tables do.
pub(crate) const MAX_BOXES: usize = 1024;

/// What is moved: elements along each logical dimension, and where they start on both sides.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) extents: SmallVec<[i64; 8]>,
    pub(crate) src_start: SmallVec<[i64; 8]>,
    pub(crate) dst_start: SmallVec<[i64; 8]>,
}

impl Window {
    pub(crate) fn is_empty(&self) -> bool {
        self.extents.contains(&0)
    }
}

/// An index that both sides have in common: a logical dimension, or several that one side merged.
struct Index {
    src: Cursor,
    dst: Cursor,
    count: i64,
}

/// The boxes that move every element of the window, and none twice. `None` where the sides have no common indices, or
/// where there would be more than [`MAX_BOXES`].
pub(crate) fn copies(src: &Digits, dst: &Digits, window: &Window) -> Option<Pieces> {
    let mut forest = Forest::default();
    let (src_groups, dst_groups) = (forest.plant(src)?, forest.plant(dst)?);
    let mut boxes: Pieces = smallvec![Piece::default()];
    for index in common_indices(&mut forest, &src_groups, &dst_groups, src, dst, window)? {
        let cut = pieces(&mut forest, index.src, index.dst, index.count)?;
        boxes = product(&boxes, &cut, MAX_BOXES)?;
    }
    Some(boxes)
}

/// The boxes of one side's padding, places in `dst_offset` and `dst_stride`; at worst one box of everything, which is
/// then to be filled before any element arrives.
pub(crate) fn fills(digits: &Digits, extents: &[i64]) -> Pieces {
    let mut forest = Forest::default();
    let exact = forest.plant(digits).and_then(|groups| {
        let values = |group: &Group| group.dimensions.iter().map(|&d| extents[d]).product();
        padding(&mut forest, &groups, values, MAX_BOXES)
    });
    exact.unwrap_or_else(|| smallvec![every_slot(digits)])
}

/// One box of all slots of a side.
fn every_slot(digits: &Digits) -> Piece {
    let atoms = digits.terms.iter().map(|term| Atom {
        extent: digits.slots[term.register],
        src_stride: term.stride,
        dst_stride: term.stride,
    });
    Piece { src_offset: 0, dst_offset: 0, atoms: atoms.collect() }
}

/// The boxes of one side's elements alone, from which exact bounds of its places follow.
pub(crate) fn elements(digits: &Digits, start: &[i64], extents: &[i64]) -> Option<Vec<Pieces>> {
    let mut forest = Forest::default();
    let groups = forest.plant(digits)?;
    let mut cut = Vec::new();
    for group in &groups {
        let [dimension] = group.dimensions[..] else { continue };
        let cursor = Cursor { tree: group.root, start: start[dimension] };
        cut.push(pieces(&mut forest, cursor, cursor, extents[dimension])?);
    }
    Some(cut)
}

fn common_indices(
    forest: &mut Forest,
    src_groups: &[Group],
    dst_groups: &[Group],
    src: &Digits,
    dst: &Digits,
    window: &Window,
) -> Option<SmallVec<[Index; 6]>> {
    let mut indices = SmallVec::new();
    let mut done: SmallVec<[bool; 16]> = smallvec![false; src.rank];
    for dimension in 0..src.rank {
        if done[dimension] {
            continue;
        }
        let holds = |group: &&Group| group.dimensions.contains(&dimension);
        let (a, b) = (src_groups.iter().find(holds)?, dst_groups.iter().find(holds)?);
        let whole = if a.dimensions.len() >= b.dimensions.len() { &a.dimensions } else { &b.dimensions };
        whole.iter().for_each(|&dimension| done[dimension] = true);
        if whole.len() == 1 {
            indices.push(Index {
                src: Cursor { tree: a.root, start: window.src_start[dimension] },
                dst: Cursor { tree: b.root, start: window.dst_start[dimension] },
                count: window.extents[dimension],
            });
            continue;
        }
        // Merged dimensions are one index only where they are whole on both sides.
        let is_whole = |&d: &usize| src.slots[d] == window.extents[d] && dst.slots[d] == window.extents[d];
        if !whole.iter().all(is_whole) {
            return None;
        }
        indices.push(Index {
            src: Cursor { tree: fold(forest, src_groups, whole, &window.extents)?, start: 0 },
            dst: Cursor { tree: fold(forest, dst_groups, whole, &window.extents)?, start: 0 },
            count: whole.iter().map(|&d| window.extents[d]).product(),
        });
    }
    Some(indices)
}

/// One tree over the merged dimensions `whole` (most major first), from a side that may keep some of them apart.
fn fold(forest: &mut Forest, groups: &[Group], whole: &[usize], extents: &[i64]) -> Option<NodeId> {
    let mut tree: Option<NodeId> = None;
    let (mut end, mut size) = (whole.len(), 1);
    while end > 0 {
        let group = groups.iter().find(|group| group.dimensions.contains(&whole[end - 1]))?;
        let start = end.checked_sub(group.dimensions.len())?;
        if group.dimensions[..] != whole[start..end] {
            return None;
        }
        tree = Some(match tree {
            None => group.root,
            Some(minor) => forest.add(Node::Split { size, quotient: group.root, remainder: minor }),
        });
        size *= group.dimensions.iter().map(|&d| extents[d]).product::<i64>();
        end = start;
    }
    tree
}

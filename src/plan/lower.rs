//! A pair of layouts becomes strided boxes. The only file that sees both sides.

use smallvec::{SmallVec, smallvec};

use super::cut::{Cursor, pieces};
use super::digits::{Digits, Term};
use super::forest::{Forest, Group, Groups, Node, NodeId};
use super::numeral::{NumeralSlots, Numerals, Places};
use super::padding::padding;
use super::pieces::{Atom, Atoms, PartRange, PartRanges, Parts, Piece, Pieces, each_product, products};
use super::tree_slots::TreeSlots;

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

/// A side's layout as a function.
#[derive(Default)]
pub(crate) struct Expanded {
    pub(crate) digits: Digits,
    /// The same by indices, where they were looked for and say what they are.
    places: Option<Places>,
}

impl Expanded {
    /// Sorts the digits by indices; in place, since they are too large to hand around.
    pub(crate) fn find_places(&mut self) {
        if self.places.insert(Places::default()).find(&self.digits).is_none() {
            self.places = None;
        }
    }
}

/// Calls `visit` with the boxes that move every element of the window, and none twice.
///
/// `None` where `visit` gives up; `Some(false)` where the sides have no common indices, or where there would be more than
/// [`MAX_BOXES`], of which none was visited.
pub(crate) fn copies(
    src: &Expanded,
    dst: &Expanded,
    window: &Window,
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<bool> {
    if src.digits.ops.is_empty() && dst.digits.ops.is_empty() {
        visit(&mut untiled(&src.digits, &dst.digits, window))?;
        return Some(true);
    }
    if let (Some(src), Some(dst)) = (&src.places, &dst.places) {
        let mut numerals = Numerals::default();
        if let Some(ranges) = numerals.common(src, dst, window) {
            return boxes(&numerals, &ranges, visit);
        }
    }
    let mut pieces = Pieces::default();
    match common_indices(&src.digits, &dst.digits, window, &mut pieces) {
        Some(ranges) => boxes(&pieces, &ranges, visit),
        None => Some(false),
    }
}

/// All products of the parts of indices, as [`copies`].
fn boxes(
    parts: &impl Parts,
    ranges: &[PartRange],
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<bool> {
    if products(ranges).is_none_or(|count| count > MAX_BOXES) {
        return Some(false);
    }
    each_product(parts, ranges, visit)?;
    Some(true)
}

/// The one box of two sides without tiles: their terms are the dimensions.
fn untiled(src: &Digits, dst: &Digits, window: &Window) -> Piece {
    let mut piece = Piece::default();
    let mut atoms = Atoms::new();
    for &extent in &window.extents {
        atoms.push(Atom { extent, src_stride: 0, dst_stride: 0 });
    }
    for term in &src.terms {
        atoms[term.register].src_stride = term.stride;
        piece.src_offset += term.stride * window.src_start[term.register];
    }
    for term in &dst.terms {
        atoms[term.register].dst_stride = term.stride;
        piece.dst_offset += term.stride * window.dst_start[term.register];
    }
    atoms.iter().for_each(|&atom| piece.add_loop(atom));
    piece
}

/// Calls `visit` with the boxes of one side's padding, places in `dst_offset` and `dst_stride`; at worst with one box of
/// everything, which is then to be filled before any element arrives: false. `None` where `visit` gives up.
pub(crate) fn fills(
    layout: &Expanded,
    extents: &[i64],
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<bool> {
    let mut visited = false;
    let mut noted = |piece: &mut Piece| {
        visited = true;
        visit(piece)
    };
    let mut slots = NumeralSlots::new(extents);
    let exact = match layout.places.as_ref().and_then(|places| slots.add(places)) {
        Some(()) => padding(&mut slots, &mut noted),
        None => TreeSlots::new(&layout.digits, extents).and_then(|mut slots| padding(&mut slots, &mut noted)),
    };
    match exact {
        None if !visited => visit(&mut every_slot(&layout.digits)).map(|()| false),
        result => result.map(|()| true),
    }
}

/// One box of all slots of a side.
fn every_slot(digits: &Digits) -> Piece {
    let mut piece = Piece::default();
    for &Term { register, stride } in &digits.terms {
        piece.add_loop(Atom { extent: digits.slots[register], src_stride: stride, dst_stride: stride });
    }
    piece
}

/// The pieces of every index of one side's elements alone, from which exact bounds of its places follow.
pub(crate) fn elements(digits: &Digits, start: &[i64], extents: &[i64]) -> Option<(Pieces, PartRanges)> {
    let mut forest = Forest::default();
    let mut groups = Groups::new();
    forest.plant(digits, &mut groups)?;
    let (mut out, mut ranges) = (Pieces::default(), PartRanges::new());
    for group in &groups {
        let [dimension] = group.dimensions[..] else { continue };
        let (cursor, first) = (Cursor { tree: group.root, start: start[dimension] }, out.len());
        pieces(&mut forest, cursor, cursor, extents[dimension], &mut out)?;
        ranges.push(first..out.len());
    }
    Some((out, ranges))
}

/// Cuts every index that both sides have in common: a logical dimension, or several that one side merged.
fn common_indices(src: &Digits, dst: &Digits, window: &Window, out: &mut Pieces) -> Option<PartRanges> {
    let mut forest = Forest::default();
    let (mut src_groups, mut dst_groups) = (Groups::new(), Groups::new());
    forest.plant(src, &mut src_groups)?;
    forest.plant(dst, &mut dst_groups)?;
    let mut ranges = PartRanges::new();
    let mut done: SmallVec<[bool; 16]> = smallvec![false; src.rank];
    for dimension in 0..src.rank {
        if done[dimension] {
            continue;
        }
        let holds = |group: &&Group| group.dimensions.contains(&dimension);
        let (a, b) = (src_groups.iter().find(holds)?, dst_groups.iter().find(holds)?);
        let whole = if a.dimensions.len() >= b.dimensions.len() { &a.dimensions } else { &b.dimensions };
        whole.iter().for_each(|&dimension| done[dimension] = true);
        let first = out.len();
        if whole.len() == 1 {
            let src = Cursor { tree: a.root, start: window.src_start[dimension] };
            let dst = Cursor { tree: b.root, start: window.dst_start[dimension] };
            pieces(&mut forest, src, dst, window.extents[dimension], out)?;
            ranges.push(first..out.len());
            continue;
        }
        // Merged dimensions are one index only where they are whole on both sides.
        let is_whole = |&d: &usize| src.slots[d] == window.extents[d] && dst.slots[d] == window.extents[d];
        if !whole.iter().all(is_whole) {
            return None;
        }
        let src = Cursor { tree: fold(&mut forest, &src_groups, whole, &window.extents)?, start: 0 };
        let dst = Cursor { tree: fold(&mut forest, &dst_groups, whole, &window.extents)?, start: 0 };
        let count = whole.iter().map(|&d| window.extents[d]).product();
        pieces(&mut forest, src, dst, count, out)?;
        ranges.push(first..out.len());
    }
    Some(ranges)
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

//! The destination's slots that hold no element, as pieces without a source.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::forest::{Forest, Group, Node, NodeId};
use super::lower::{Lists, MAX_BOXES};
use super::pieces::{Atom, Cursor, Piece, Pieces, each_product, multiply, pieces, products};

/// Calls `visit` with pieces that cover every slot outside the elements, none twice. `values` gives the number of values
/// of each group's index. `None` where there would be more than [`MAX_BOXES`], or where `visit` gives up.
pub(crate) fn padding(
    forest: &mut Forest,
    groups: &[Group],
    values: impl Fn(&Group) -> i64,
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<()> {
    let (mut padded, mut covered, mut whole) = (Lists::default(), Lists::default(), Lists::default());
    for group in groups {
        padded.add(|out| Unused { forest, out }.find(group.root, values(group)))?;
    }
    let is_padded = |&group: &usize| !padded.list(group).is_empty();
    let Some(last) = (0..groups.len()).rev().find(is_padded) else { return Some(()) };
    for group in &groups[..last] {
        covered.add(|out| Unused { forest, out }.elements(group.root, values(group)))?;
    }
    for group in groups {
        whole.add(|out| {
            out.push(everything(forest, group.root));
            Some(())
        })?;
    }
    // Elements of the groups before, padding of this one, anything of the groups behind.
    let lists = |padded_group: usize| {
        let mut lists: SmallVec<[&[Piece]; 8]> = SmallVec::new();
        for group in 0..groups.len() {
            lists.push(match group.cmp(&padded_group) {
                Ordering::Less => covered.list(group),
                Ordering::Equal => padded.list(group),
                Ordering::Greater => whole.list(group),
            });
        }
        lists
    };
    let mut count = 0usize;
    for group in (0..=last).filter(is_padded) {
        count = count.checked_add(products(&lists(group))?)?;
    }
    (count <= MAX_BOXES).then_some(())?;
    (0..=last).filter(is_padded).try_for_each(|group| each_product(&lists(group), visit))
}

/// All slots of a tree.
fn everything(forest: &Forest, tree: NodeId) -> Piece {
    let mut piece = Piece::default();
    add_everything(forest, tree, &mut piece);
    piece
}

fn add_everything(forest: &Forest, tree: NodeId, piece: &mut Piece) {
    match forest.node(tree) {
        Node::Leaf { slots, stride } => add_run(piece, slots, stride),
        Node::Split { quotient, remainder, .. } => {
            add_everything(forest, quotient, piece);
            add_everything(forest, remainder, piece);
        }
    }
}

/// Collects slots of a tree behind those of `out`.
struct Unused<'a> {
    forest: &'a mut Forest,
    out: &'a mut Pieces,
}

impl Unused<'_> {
    /// The slots that the first `count` values of a tree take.
    fn elements(&mut self, tree: NodeId, count: i64) -> Option<()> {
        let cursor = Cursor { tree, start: 0 };
        pieces(self.forest, cursor, cursor, count, self.out)
    }

    /// The slots of a tree that its first `count` values do not take.
    fn find(&mut self, tree: NodeId, count: i64) -> Option<()> {
        let (size, quotient, remainder) = match self.forest.node(tree) {
            Node::Leaf { slots, stride } => {
                if slots > count {
                    let mut piece = Piece::default();
                    piece.shift(count * stride, count * stride);
                    add_run(&mut piece, slots - count, stride);
                    self.out.push(piece);
                }
                return Some(());
            }
            Node::Split { size, quotient, remainder } => (size, quotient, remainder),
        };
        let (full, rest) = (count / size, count % size);
        let first = self.out.len();
        self.find(quotient, full + i64::from(rest > 0))?;
        if self.out.len() > first {
            let inside = everything(self.forest, remainder);
            self.out[first..].iter_mut().for_each(|piece| piece.append(&inside));
        }
        if full > 0 {
            let first = self.out.len();
            self.find(remainder, size)?;
            let middle = self.out.len();
            if middle > first {
                self.elements(quotient, full)?;
                multiply(self.out, first, middle, MAX_BOXES)?;
            }
        }
        if rest > 0 {
            let first = self.out.len();
            self.find(remainder, rest)?;
            let place = self.forest.eval(quotient, full);
            self.out[first..].iter_mut().for_each(|piece| piece.shift(place, place));
        }
        Some(())
    }
}

/// Adds a loop over slots; both sides are set alike, so that pieces of either kind multiply.
fn add_run(piece: &mut Piece, slots: i64, stride: i64) {
    if slots != 1 {
        piece.atoms.push(Atom { extent: slots, src_stride: stride, dst_stride: stride });
    }
}

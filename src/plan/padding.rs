//! The destination's slots that hold no element, as pieces without a source.

use std::cmp::Ordering;

use smallvec::SmallVec;

use super::cut::{Cursor, pieces};
use super::forest::{Forest, Group, Node, NodeId};
use super::lower::MAX_BOXES;
use super::pieces::{Atom, List, Lists, Piece, Pieces, each_product, products};

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
    let padded = &padded;
    let is_padded = |&group: &usize| !padded.list(group).is_empty();
    let Some(last) = (0..groups.len()).rev().find(is_padded) else { return Some(()) };
    for group in &groups[..last] {
        covered.add(|out| Unused { forest, out }.elements(group.root, values(group)))?;
    }
    for group in groups {
        whole.add(|out| {
            add_everything(forest, group.root, out);
            Some(())
        })?;
    }
    // Elements of the groups before, padding of this one, anything of the groups behind.
    let (covered, whole, all) = (&covered, &whole, groups.len());
    let lists = |padded_group: usize| {
        (0..all).map(move |group| match group.cmp(&padded_group) {
            Ordering::Less => covered.list(group),
            Ordering::Equal => padded.list(group),
            Ordering::Greater => whole.list(group),
        })
    };
    let mut count = 0usize;
    for group in (0..=last).filter(is_padded) {
        count = count.checked_add(products(lists(group))?)?;
    }
    (count <= MAX_BOXES).then_some(())?;
    (0..=last).filter(is_padded).try_for_each(|group| {
        let lists: SmallVec<[List<'_>; 8]> = lists(group).collect();
        each_product(&lists, visit)
    })
}

/// Adds a piece of all slots of a tree.
fn add_everything(forest: &Forest, tree: NodeId, out: &mut Pieces) {
    out.push(0, 0);
    add_loops(forest, tree, out);
}

fn add_loops(forest: &Forest, tree: NodeId, out: &mut Pieces) {
    match forest.node(tree) {
        Node::Leaf { slots, stride } => add_run(out, slots, stride),
        Node::Split { quotient, remainder, .. } => {
            add_loops(forest, quotient, out);
            add_loops(forest, remainder, out);
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
                    self.out.push(count * stride, count * stride);
                    add_run(self.out, slots - count, stride);
                }
                return Some(());
            }
            Node::Split { size, quotient, remainder } => (size, quotient, remainder),
        };
        let (full, rest) = (count / size, count % size);
        let first = self.out.len();
        self.find(quotient, full + i64::from(rest > 0))?;
        let middle = self.out.len();
        if middle > first {
            add_everything(self.forest, remainder, self.out);
            self.out.multiply(first, middle, MAX_BOXES)?;
        }
        if full > 0 {
            let first = self.out.len();
            self.find(remainder, size)?;
            let middle = self.out.len();
            if middle > first {
                self.elements(quotient, full)?;
                self.out.multiply(first, middle, MAX_BOXES)?;
            }
        }
        if rest > 0 {
            let first = self.out.len();
            self.find(remainder, rest)?;
            let place = self.forest.eval(quotient, full);
            self.out.shift(first, place, place);
        }
        Some(())
    }
}

/// Adds a loop over slots; both sides are set alike, so that pieces of either kind multiply.
fn add_run(out: &mut Pieces, slots: i64, stride: i64) {
    out.add_loop(Atom { extent: slots, src_stride: stride, dst_stride: stride });
}

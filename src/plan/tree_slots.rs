//! Which slots of a side's trees hold values, and which do not: what `padding` asks of layouts that are no numerals.

use super::cut::{Cursor, pieces};
use super::digits::Digits;
use super::forest::{Forest, Group, Groups, Node, NodeId};
use super::lower::MAX_BOXES;
use super::padding::Slots;
use super::pieces::{Atom, PartRange, Pieces};

/// The slots of one side's trees, of whose indices the first `extents` are taken.
pub(crate) struct TreeSlots<'a> {
    forest: Forest,
    groups: Groups,
    extents: &'a [i64],
    pieces: Pieces,
}

impl<'a> TreeSlots<'a> {
    /// `None` where no trees express the side.
    pub(crate) fn new(side: &Digits, extents: &'a [i64]) -> Option<TreeSlots<'a>> {
        let (mut forest, mut groups) = (Forest::default(), Groups::new());
        forest.plant(side, &mut groups)?;
        Some(TreeSlots { forest, groups, extents, pieces: Pieces::default() })
    }

    fn group(&self, index: usize) -> (NodeId, i64) {
        let Group { dimensions, root } = &self.groups[index];
        (*root, dimensions.iter().map(|&dimension| self.extents[dimension]).product())
    }
}

impl Slots for TreeSlots<'_> {
    type Parts = Pieces;

    fn parts(&self) -> &Pieces {
        &self.pieces
    }

    fn indices(&self) -> usize {
        self.groups.len()
    }

    fn unused(&mut self, index: usize) -> Option<PartRange> {
        let ((tree, values), first) = (self.group(index), self.pieces.len());
        Unused { forest: &mut self.forest, out: &mut self.pieces }.find(tree, values)?;
        Some(first..self.pieces.len())
    }

    fn elements(&mut self, index: usize) -> Option<PartRange> {
        let ((tree, values), first) = (self.group(index), self.pieces.len());
        Unused { forest: &mut self.forest, out: &mut self.pieces }.elements(tree, values)?;
        Some(first..self.pieces.len())
    }

    fn everything(&mut self, index: usize) -> PartRange {
        let first = self.pieces.len();
        add_everything(&self.forest, self.groups[index].root, &mut self.pieces);
        first..self.pieces.len()
    }
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

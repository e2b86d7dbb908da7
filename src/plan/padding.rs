//! The destination's slots that hold no element, as pieces without a source.

use smallvec::smallvec;

use super::forest::{Forest, Group, Node, NodeId};
use super::pieces::{Atom, Cursor, Piece, Pieces, pieces, product};

/// Pieces that cover every slot outside the elements, none twice. `values` gives the number of values of each group's
/// index. `None` where there would be more than `limit`.
pub(crate) fn padding(
    forest: &mut Forest,
    groups: &[Group],
    values: impl Fn(&Group) -> i64,
    limit: usize,
) -> Option<Pieces> {
    let mut found = Pieces::new();
    // Elements of the groups before, padding of this one, anything of the groups behind.
    let mut before: Pieces = smallvec![Piece::default()];
    for (position, group) in groups.iter().enumerate() {
        let count = values(group);
        let mut here = product(&before, &uncovered(forest, group.root, count)?, limit)?;
        for behind in &groups[position + 1..] {
            here = product(&here, &[everything(forest, behind.root)], limit)?;
        }
        found.extend(here);
        if found.len() > limit {
            return None;
        }
        before = product(&before, &covered(forest, group.root, count)?, limit)?;
    }
    Some(found)
}

/// The slots that the first `count` values of a tree take.
fn covered(forest: &mut Forest, tree: NodeId, count: i64) -> Option<Pieces> {
    let cursor = Cursor { tree, start: 0 };
    pieces(forest, cursor, cursor, count)
}

/// All slots of a tree.
fn everything(forest: &Forest, tree: NodeId) -> Piece {
    match forest.node(tree) {
        Node::Leaf { slots, stride } => run(0, slots, stride),
        Node::Split { quotient, remainder, .. } => {
            everything(forest, quotient).times(&everything(forest, remainder))
        }
    }
}

/// The slots of a tree that its first `count` values do not take.
fn uncovered(forest: &mut Forest, tree: NodeId, count: i64) -> Option<Pieces> {
    let (size, quotient, remainder) = match forest.node(tree) {
        Node::Leaf { slots, stride } if slots > count => {
            return Some(smallvec![run(count * stride, slots - count, stride)]);
        }
        Node::Leaf { .. } => return Some(Pieces::new()),
        Node::Split { size, quotient, remainder } => (size, quotient, remainder),
    };
    let (full, rest) = (count / size, count % size);
    let inside = everything(forest, remainder);
    let unused = uncovered(forest, quotient, full + i64::from(rest > 0))?;
    let mut found: Pieces = unused.iter().map(|piece| piece.times(&inside)).collect();
    if full > 0 {
        let holes = uncovered(forest, remainder, size)?;
        if !holes.is_empty() {
            let cells = covered(forest, quotient, full)?;
            found.extend(cells.iter().flat_map(|cell| holes.iter().map(|hole| cell.times(hole))));
        }
    }
    if rest > 0 {
        let last = run(forest.eval(quotient, full), 1, 0);
        found.extend(uncovered(forest, remainder, rest)?.iter().map(|hole| last.times(hole)));
    }
    Some(found)
}

/// `slots` places from `offset`; both sides are set alike, so that pieces of either kind multiply.
fn run(offset: i64, slots: i64, stride: i64) -> Piece {
    let atoms = match slots {
        1 => smallvec![],
        extent => smallvec![Atom { extent, src_stride: stride, dst_stride: stride }],
    };
    Piece { src_offset: offset, dst_offset: offset, atoms }
}

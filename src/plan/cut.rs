//! Two trees over one index: the strided pieces in which both sides advance evenly.

use super::forest::{Forest, Node, NodeId};
use super::pieces::{Atom, Pieces};

/// A tree and the index in it at which a range starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cursor {
    pub(crate) tree: NodeId,
    pub(crate) start: i64,
}

impl Cursor {
    fn at(self, steps: i64) -> Cursor {
        Cursor { start: self.start + steps, ..self }
    }

    /// The same over `count` indices, without splits that change nothing there.
    fn simplify(self, forest: &mut Forest, count: i64) -> Cursor {
        Cursor { tree: forest.simplify(self.tree, self.start + count), ..self }
    }
}

/// How much work may go into one pair of trees before the offset tables are the better answer.
const FUEL: u32 = 4096;

/// Cuts `count` indices into pieces, behind those of `out`; `None` where there would be too many.
pub(crate) fn pieces(
    forest: &mut Forest,
    src: Cursor,
    dst: Cursor,
    count: i64,
    out: &mut Pieces,
) -> Option<()> {
    Cutter { forest, out, fuel: FUEL }.cut_part(src, dst, count)
}

struct Cutter<'a> {
    forest: &'a mut Forest,
    out: &'a mut Pieces,
    fuel: u32,
}

impl Cutter<'_> {
    /// Cuts a part of what trees have values for.
    fn cut_part(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<()> {
        if count == 0 {
            return Some(());
        }
        let simple_src = src.simplify(self.forest, count);
        let simple_dst = if dst == src { simple_src } else { dst.simplify(self.forest, count) };
        self.cut(simple_src, simple_dst, count)
    }

    /// Cuts `count` indices, one or more, of trees that are as simple as they are for these.
    fn cut(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<()> {
        self.fuel = self.fuel.checked_sub(1)?;
        let first = self.out.len();
        let (src_offset, src) = self.settle(src, count);
        let (dst_offset, dst) = self.settle(dst, count);
        match (self.forest.node(src.tree), self.forest.node(dst.tree)) {
            (Node::Leaf { stride: src, .. }, Node::Leaf { stride: dst, .. }) => self.push(count, src, dst),
            _ => {
                if !self.cut_evenly(src, dst, count)? {
                    self.cut_at_boundaries(src, dst, count)?;
                }
            }
        }
        self.out.shift(first, src_offset, dst_offset);
        Some(())
    }

    /// Adds a piece of one loop.
    fn push(&mut self, count: i64, src_stride: i64, dst_stride: i64) {
        self.out.push(0, 0);
        self.out.add_loop(Atom { extent: count, src_stride, dst_stride });
    }

    /// Takes off the splits whose quotient does not change over the range, and the start of a leaf.
    fn settle(&mut self, mut side: Cursor, count: i64) -> (i64, Cursor) {
        let mut offset = 0;
        loop {
            match self.forest.node(side.tree) {
                Node::Leaf { stride, .. } => {
                    return (offset + stride * side.start, Cursor { start: 0, ..side });
                }
                Node::Split { size, quotient, remainder } => {
                    let (above, start) = (side.start / size, side.start % size);
                    if start + count > size {
                        return (offset, side);
                    }
                    offset += self.forest.eval(quotient, above);
                    side = Cursor { tree: remainder, start }.simplify(self.forest, count);
                }
            }
        }
    }

    /// The size at which a tree is split at its top.
    fn top(&self, cursor: Cursor) -> Option<i64> {
        match self.forest.node(cursor.tree) {
            Node::Leaf { .. } => None,
            Node::Split { size, .. } => Some(size),
        }
    }

    /// Cuts at the multiples of a number at which both trees can be split: what is between is a product.
    ///
    /// `None` is the fuel; `false` says that there is no such number.
    fn cut_evenly(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<bool> {
        for m in candidates(self.top(src), self.top(dst)).into_iter().flatten() {
            let heads = [src, dst].map(|side| self.top(side).map(|_| (m - side.start % m) % m));
            let head = match heads {
                [Some(a), Some(b)] if a != b => continue,
                [Some(head), _] | [None, Some(head)] => head,
                [None, None] => continue,
            };
            // A cut must leave a whole cell, and something beside it, or it would never end.
            if count - head < m || count == m {
                continue;
            }
            let (Some(src_trees), Some(dst_trees)) =
                (self.forest.split(src.tree, m), self.forest.split(dst.tree, m))
            else {
                continue;
            };
            let cells = (count - head) / m;
            self.cut_part(src, dst, head)?;
            self.cut_cells((src.at(head), src_trees), (dst.at(head), dst_trees), cells, m)?;
            let done = head + cells * m;
            self.cut_part(src.at(done), dst.at(done), count - done)?;
            return Some(true);
        }
        Some(false)
    }

    /// Cuts whole cells of `m` indices, from trees of the cells and of their insides.
    fn cut_cells(
        &mut self,
        (src, (src_above, src_below)): (Cursor, (NodeId, NodeId)),
        (dst, (dst_above, dst_below)): (Cursor, (NodeId, NodeId)),
        cells: i64,
        m: i64,
    ) -> Option<()> {
        let start = |side: Cursor, tree| Cursor { tree, start: side.start / m };
        let zero = |tree| Cursor { tree, start: 0 };
        let first = self.out.len();
        self.cut(start(src, src_above), start(dst, dst_above), cells)?;
        let middle = self.out.len();
        self.cut(zero(src_below), zero(dst_below), m)?;
        self.out.multiply(first, middle, FUEL as usize)?;
        // A leaf starts anywhere; what is left of its start below a multiple of `m` is a fixed offset.
        let src_loose = self.forest.eval(src_below, src.start % m);
        let dst_loose = self.forest.eval(dst_below, dst.start % m);
        self.out.shift(first, src_loose, dst_loose);
        Some(())
    }

    /// Cuts wherever either tree's top quotient changes: inside a cell both are constant.
    fn cut_at_boundaries(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<()> {
        let mut done = 0;
        while done < count {
            let to_boundary = |side: Cursor, size: Option<i64>| size.map(|t| t - (side.start + done) % t);
            let cells = [to_boundary(src, self.top(src)), to_boundary(dst, self.top(dst))];
            let cell = cells.into_iter().flatten().fold(count - done, i64::min);
            self.cut_part(src.at(done), dst.at(done), cell)?;
            done += cell;
        }
        Some(())
    }
}

/// Numbers at which both trees might be split, largest first.
fn candidates(src: Option<i64>, dst: Option<i64>) -> [Option<i64>; 3] {
    let both = match (src, dst) {
        (Some(a), Some(b)) => (a / gcd(a, b)).checked_mul(b),
        _ => None,
    };
    let (larger, smaller) = (src.max(dst), src.min(dst));
    [both.filter(|_| both != larger), larger, smaller.filter(|_| smaller != larger)]
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

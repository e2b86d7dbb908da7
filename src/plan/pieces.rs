//! Two trees over one index: the strided pieces in which both sides advance evenly.

use smallvec::{SmallVec, smallvec};

use super::forest::{Forest, Node, NodeId};

/// One loop of a piece or box; strides in the units of the sides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Atom {
    pub(crate) extent: i64,
    pub(crate) src_stride: i64,
    pub(crate) dst_stride: i64,
}

/// A part of an index, or of all indices, over which both places are sums of strides.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) src_offset: i64,
    pub(crate) dst_offset: i64,
    pub(crate) atoms: SmallVec<[Atom; 6]>,
}

impl Piece {
    /// Both pieces at once: offsets add up, loops stand one in the other.
    pub(crate) fn times(&self, inner: &Piece) -> Piece {
        Piece {
            src_offset: self.src_offset + inner.src_offset,
            dst_offset: self.dst_offset + inner.dst_offset,
            atoms: self.atoms.iter().chain(&inner.atoms).copied().collect(),
        }
    }
}

/// A list of pieces; most pairs need one or two.
pub(crate) type Pieces = SmallVec<[Piece; 2]>;

/// Every piece of `outer` with every piece of `inner`; `None` where that makes more than `limit`.
pub(crate) fn product(outer: &[Piece], inner: &[Piece], limit: usize) -> Option<Pieces> {
    let count = outer.len().checked_mul(inner.len())?;
    (count <= limit).then(|| outer.iter().flat_map(|o| inner.iter().map(|i| o.times(i))).collect())
}

/// A tree and the index in it at which a range starts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor {
    pub(crate) tree: NodeId,
    pub(crate) start: i64,
}

impl Cursor {
    fn at(self, steps: i64) -> Cursor {
        Cursor { start: self.start + steps, ..self }
    }
}

/// How much work may go into one pair of trees before the offset tables are the better answer.
const FUEL: u32 = 4096;

/// Cuts `count` indices into pieces; `None` where there would be too many.
pub(crate) fn pieces(forest: &mut Forest, src: Cursor, dst: Cursor, count: i64) -> Option<Pieces> {
    Cutter { forest, fuel: FUEL }.cut(src, dst, count)
}

struct Cutter<'a> {
    forest: &'a mut Forest,
    fuel: u32,
}

impl Cutter<'_> {
    fn cut(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<Pieces> {
        self.fuel = self.fuel.checked_sub(1)?;
        if count == 0 {
            return Some(Pieces::new());
        }
        let (src_offset, src) = self.settle(src, count);
        let (dst_offset, dst) = self.settle(dst, count);
        let mut pieces = match (self.forest.node(src.tree), self.forest.node(dst.tree)) {
            (Node::Leaf { stride: src_stride, .. }, Node::Leaf { stride: dst_stride, .. }) => {
                let atom = Atom { extent: count, src_stride, dst_stride };
                let atoms = if count == 1 { smallvec![] } else { smallvec![atom] };
                smallvec![Piece { src_offset: 0, dst_offset: 0, atoms }]
            }
            _ => match self.cut_evenly(src, dst, count)? {
                Some(pieces) => pieces,
                None => self.cut_at_boundaries(src, dst, count)?,
            },
        };
        for piece in &mut pieces {
            piece.src_offset += src_offset;
            piece.dst_offset += dst_offset;
        }
        Some(pieces)
    }

    /// Takes off the splits whose quotient does not change over the range, and the start of a leaf.
    fn settle(&mut self, cursor: Cursor, count: i64) -> (i64, Cursor) {
        let mut offset = 0;
        let Cursor { mut tree, mut start } = cursor;
        loop {
            tree = self.forest.simplify(tree, start + count);
            match self.forest.node(tree) {
                Node::Leaf { stride, .. } => return (offset + stride * start, Cursor { tree, start: 0 }),
                Node::Split { size, quotient, remainder } => {
                    if start / size != (start + count - 1) / size {
                        return (offset, Cursor { tree, start });
                    }
                    offset += self.forest.eval(quotient, start / size);
                    (tree, start) = (remainder, start % size);
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
    /// The outer option is the fuel; the inner one is `None` where there is no such number.
    fn cut_evenly(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<Option<Pieces>> {
        for m in candidates(self.top(src), self.top(dst)) {
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
            let (Some((src_above, src_below)), Some((dst_above, dst_below))) =
                (self.forest.split(src.tree, m), self.forest.split(dst.tree, m))
            else {
                continue;
            };
            let (src_body, dst_body) = (src.at(head), dst.at(head));
            let cells = (count - head) / m;
            let body = {
                let start = |side: Cursor, tree| Cursor { tree, start: side.start / m };
                let zero = |tree| Cursor { tree, start: 0 };
                // A leaf starts anywhere; what is left of its start below a multiple of `m` is a fixed offset.
                let loose = |forest: &Forest, side: Cursor, below| forest.eval(below, side.start % m);
                let src_loose = loose(self.forest, src_body, src_below);
                let dst_loose = loose(self.forest, dst_body, dst_below);
                let above = self.cut(start(src_body, src_above), start(dst_body, dst_above), cells)?;
                let below = self.cut(zero(src_below), zero(dst_below), m)?;
                let fixed = Piece { src_offset: src_loose, dst_offset: dst_loose, atoms: smallvec![] };
                let below: Pieces = below.iter().map(|piece| fixed.times(piece)).collect();
                product(&above, &below, FUEL as usize)?
            };
            let mut pieces = self.cut(src, dst, head)?;
            pieces.extend(body);
            let done = head + cells * m;
            pieces.extend(self.cut(src.at(done), dst.at(done), count - done)?);
            return Some(Some(pieces));
        }
        Some(None)
    }

    /// Cuts wherever either tree's top quotient changes: inside a cell both are constant.
    fn cut_at_boundaries(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<Pieces> {
        let mut pieces = Pieces::new();
        let mut done = 0;
        while done < count {
            let to_boundary = |side: Cursor, size: Option<i64>| size.map(|t| t - (side.start + done) % t);
            let cells = [to_boundary(src, self.top(src)), to_boundary(dst, self.top(dst))];
            let cell = cells.into_iter().flatten().fold(count - done, i64::min);
            pieces.extend(self.cut(src.at(done), dst.at(done), cell)?);
            done += cell;
        }
        Some(pieces)
    }
}

/// Numbers at which both trees might be split, largest first.
fn candidates(src: Option<i64>, dst: Option<i64>) -> SmallVec<[i64; 3]> {
    let both = match (src, dst) {
        (Some(a), Some(b)) => (a / gcd(a, b)).checked_mul(b),
        _ => None,
    };
    let mut sizes: SmallVec<[i64; 3]> = [both, src, dst].into_iter().flatten().filter(|&m| m > 1).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    sizes
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

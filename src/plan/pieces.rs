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

/// The loops of a piece, inline for six dimensions under two levels of tiles.
pub(crate) type Atoms = SmallVec<[Atom; 10]>;

/// A part of an index, or of all indices, over which both places are sums of strides.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) src_offset: i64,
    pub(crate) dst_offset: i64,
    pub(crate) atoms: Atoms,
}

impl Piece {
    /// Both pieces at once: offsets add up, loops stand one in the other.
    pub(crate) fn append(&mut self, inner: &Piece) {
        self.shift(inner.src_offset, inner.dst_offset);
        self.atoms.extend_from_slice(&inner.atoms);
    }

    pub(crate) fn shift(&mut self, src: i64, dst: i64) {
        self.src_offset += src;
        self.dst_offset += dst;
    }
}

/// A list of pieces; most indices need one or two, and two ragged ones six.
pub(crate) type Pieces = SmallVec<[Piece; 8]>;

/// Puts in place of the pieces from `first` on every piece before `middle` with every piece behind it.
///
/// `None` where that makes more than `limit`.
pub(crate) fn multiply(pieces: &mut Pieces, first: usize, middle: usize, limit: usize) -> Option<()> {
    let end = pieces.len();
    (middle - first).checked_mul(end - middle).filter(|&count| count <= limit)?;
    if let (outers, [inner]) = pieces[first..].split_at_mut(middle - first) {
        outers.iter_mut().for_each(|outer| outer.append(inner));
        pieces.pop();
        return Some(());
    }
    for outer in first..middle {
        for inner in middle..end {
            let mut both = pieces[outer].clone();
            both.append(&pieces[inner]);
            pieces.push(both);
        }
    }
    pieces.drain(first..end);
    Some(())
}

/// Calls `visit` with every way to take one piece of each list, the last list fastest.
pub(crate) fn each_product(
    lists: &[&[Piece]],
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<()> {
    if lists.iter().any(|list| list.is_empty()) {
        return Some(());
    }
    let mut at: SmallVec<[usize; 8]> = smallvec![0; lists.len()];
    loop {
        let mut piece = Piece::default();
        lists.iter().zip(&at).for_each(|(list, &number)| piece.append(&list[number]));
        visit(&mut piece)?;
        let Some(next) = (0..lists.len()).rev().find(|&l| at[l] + 1 < lists[l].len()) else {
            return Some(());
        };
        at[next] += 1;
        at[next + 1..].fill(0);
    }
}

/// How many products [`each_product`] visits; `None` where that overflows.
pub(crate) fn products(lists: &[&[Piece]]) -> Option<usize> {
    lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len()))
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

/// Cuts `count` indices into pieces, behind those of `out`; `None` where there would be too many.
pub(crate) fn pieces(
    forest: &mut Forest,
    src: Cursor,
    dst: Cursor,
    count: i64,
    out: &mut Pieces,
) -> Option<()> {
    Cutter { forest, out, fuel: FUEL }.cut(src, dst, count)
}

/// The side beside a tree that is walked.
#[derive(Clone, Copy)]
enum Other {
    /// A source of this stride.
    Source(i64),
    /// A destination of this stride.
    Destination(i64),
    /// The same tree.
    Same,
}

impl Other {
    /// Steps of `count` indices in place of one; `None` where that overflows.
    fn times(self, count: i64) -> Option<Other> {
        Some(match self {
            Other::Source(stride) => Other::Source(stride.checked_mul(count)?),
            Other::Destination(stride) => Other::Destination(stride.checked_mul(count)?),
            Other::Same => Other::Same,
        })
    }

    /// The distances that the source and the destination go over `steps` indices, where the tree goes `tree`.
    fn beside(self, tree: i64, steps: i64) -> Option<(i64, i64)> {
        Some(match self {
            Other::Source(stride) => (stride.checked_mul(steps)?, tree),
            Other::Destination(stride) => (tree, stride.checked_mul(steps)?),
            Other::Same => (tree, tree),
        })
    }
}

struct Cutter<'a> {
    forest: &'a mut Forest,
    out: &'a mut Pieces,
    fuel: u32,
}

impl Cutter<'_> {
    fn cut(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<()> {
        self.fuel = self.fuel.checked_sub(1)?;
        if count == 0 {
            return Some(());
        }
        let first = self.out.len();
        let (src_offset, src) = self.settle(src, count);
        let (dst_offset, dst) = self.settle(dst, count);
        match (self.forest.node(src.tree), self.forest.node(dst.tree)) {
            (Node::Leaf { stride: src, .. }, Node::Leaf { stride: dst, .. }) => self.push(count, src, dst),
            (_, Node::Leaf { stride, .. }) if src.start == 0 => {
                self.walk(src.tree, count, Other::Destination(stride))?;
            }
            (Node::Leaf { stride, .. }, _) if dst.start == 0 => {
                self.walk(dst.tree, count, Other::Source(stride))?;
            }
            _ if src.tree == dst.tree && src.start == 0 && dst.start == 0 => {
                self.walk(src.tree, count, Other::Same)?;
            }
            _ => {
                if !self.cut_evenly(src, dst, count)? {
                    self.cut_at_boundaries(src, dst, count)?;
                }
            }
        }
        self.out[first..].iter_mut().for_each(|piece| piece.shift(src_offset, dst_offset));
        Some(())
    }

    /// Adds a piece of one loop.
    fn push(&mut self, count: i64, src_stride: i64, dst_stride: i64) {
        let mut piece = Piece::default();
        if count > 1 {
            piece.atoms.push(Atom { extent: count, src_stride, dst_stride });
        }
        self.out.push(piece);
    }

    /// Cuts the first `count` indices where one side alone has a tree: at that tree's own splits.
    fn walk(&mut self, tree: NodeId, count: i64, other: Other) -> Option<()> {
        self.fuel = self.fuel.checked_sub(1)?;
        let (size, quotient, remainder) = match self.forest.node(tree) {
            Node::Leaf { stride, .. } => {
                let (src, dst) = other.beside(stride, 1)?;
                self.push(count, src, dst);
                return Some(());
            }
            Node::Split { size, quotient, remainder } => (size, quotient, remainder),
        };
        let (full, rest) = (count / size, count % size);
        let first = self.out.len();
        self.walk(quotient, full, other.times(size)?)?;
        let middle = self.out.len();
        self.walk(remainder, size, other)?;
        multiply(self.out, first, middle, FUEL as usize)?;
        if rest > 0 {
            let first = self.out.len();
            let inside = self.forest.simplify(remainder, rest);
            self.walk(inside, rest, other)?;
            let (src, dst) = other.beside(self.forest.eval(quotient, full), full * size)?;
            self.out[first..].iter_mut().for_each(|piece| piece.shift(src, dst));
        }
        Some(())
    }

    /// Takes off the splits whose quotient does not change over the range, and the start of a leaf.
    fn settle(&mut self, cursor: Cursor, count: i64) -> (i64, Cursor) {
        let mut offset = 0;
        let Cursor { mut tree, mut start } = cursor;
        if let Node::Leaf { stride, .. } = self.forest.node(tree) {
            return (stride * start, Cursor { tree, start: 0 });
        }
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
    /// `None` is the fuel; `false` says that there is no such number.
    fn cut_evenly(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<bool> {
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
            let (Some(src_trees), Some(dst_trees)) =
                (self.forest.split(src.tree, m), self.forest.split(dst.tree, m))
            else {
                continue;
            };
            let cells = (count - head) / m;
            self.cut(src, dst, head)?;
            self.cut_cells((src.at(head), src_trees), (dst.at(head), dst_trees), cells, m)?;
            let done = head + cells * m;
            self.cut(src.at(done), dst.at(done), count - done)?;
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
        multiply(self.out, first, middle, FUEL as usize)?;
        // A leaf starts anywhere; what is left of its start below a multiple of `m` is a fixed offset.
        let src_loose = self.forest.eval(src_below, src.start % m);
        let dst_loose = self.forest.eval(dst_below, dst.start % m);
        self.out[first..].iter_mut().for_each(|piece| piece.shift(src_loose, dst_loose));
        Some(())
    }

    /// Cuts wherever either tree's top quotient changes: inside a cell both are constant.
    fn cut_at_boundaries(&mut self, src: Cursor, dst: Cursor, count: i64) -> Option<()> {
        let mut done = 0;
        while done < count {
            let to_boundary = |side: Cursor, size: Option<i64>| size.map(|t| t - (side.start + done) % t);
            let cells = [to_boundary(src, self.top(src)), to_boundary(dst, self.top(dst))];
            let cell = cells.into_iter().flatten().fold(count - done, i64::min);
            self.cut(src.at(done), dst.at(done), cell)?;
            done += cell;
        }
        Some(())
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

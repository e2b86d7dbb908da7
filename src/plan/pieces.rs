//! Pieces of an index, and of all indices together: loops and where they start on both sides.

use smallvec::{SmallVec, smallvec};

/// One loop of a piece or box; strides in the units of the sides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Atom {
    pub(crate) extent: i64,
    pub(crate) src_stride: i64,
    pub(crate) dst_stride: i64,
}

/// The loops of a piece, inline for six dimensions under two levels of tiles.
pub(crate) type Atoms = SmallVec<[Atom; 10]>;

/// A part of all indices over which both places are sums of strides: a box.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Piece {
    pub(crate) src_offset: i64,
    pub(crate) dst_offset: i64,
    pub(crate) atoms: Atoms,
}

impl Piece {
    pub(crate) fn shift(&mut self, src: i64, dst: i64) {
        self.src_offset += src;
        self.dst_offset += dst;
    }
}

/// A piece without its loops, which lie among those of all.
#[derive(Clone, Copy, Debug)]
struct Head {
    src_offset: i64,
    dst_offset: i64,
    start: usize,
    end: usize,
}

/// Parts of single indices, inline for two ragged ones under two levels of tiles on both sides.
#[derive(Default, Debug)]
pub(crate) struct Pieces {
    heads: SmallVec<[Head; 16]>,
    /// The loops of all pieces, and of some that are no more.
    atoms: SmallVec<[Atom; 40]>,
}

impl Pieces {
    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    /// Adds a piece without loops.
    pub(crate) fn push(&mut self, src_offset: i64, dst_offset: i64) {
        let end = self.atoms.len();
        self.heads.push(Head { src_offset, dst_offset, start: end, end });
    }

    /// Adds a loop to the last piece, unless it runs once.
    pub(crate) fn add_loop(&mut self, atom: Atom) {
        if let Some(head) = self.heads.last_mut()
            && atom.extent != 1
        {
            self.atoms.push(atom);
            head.end += 1;
        }
    }

    /// Moves the pieces from `first` on.
    pub(crate) fn shift(&mut self, first: usize, src: i64, dst: i64) {
        for head in &mut self.heads[first..] {
            head.src_offset += src;
            head.dst_offset += dst;
        }
    }

    /// Puts in place of the pieces from `first` on every piece before `middle` with every piece behind it: offsets add up,
    /// loops stand one in the other.
    ///
    /// `None` where that makes more than `limit`.
    pub(crate) fn multiply(&mut self, first: usize, middle: usize, limit: usize) -> Option<()> {
        let end = self.heads.len();
        (middle - first).checked_mul(end - middle).filter(|&count| count <= limit)?;
        if let ([.., outer], [inner]) = self.heads.split_at_mut(middle)
            && (middle, outer.end) == (first + 1, inner.start)
        {
            outer.src_offset += inner.src_offset;
            outer.dst_offset += inner.dst_offset;
            outer.end = inner.end;
            self.heads.pop();
            return Some(());
        }
        for outer in first..middle {
            for inner in middle..end {
                let (outer, inner) = (self.heads[outer], self.heads[inner]);
                self.push(outer.src_offset + inner.src_offset, outer.dst_offset + inner.dst_offset);
                for position in (outer.start..outer.end).chain(inner.start..inner.end) {
                    self.add_loop(self.atoms[position]);
                }
            }
        }
        self.heads.drain(first..end);
        Some(())
    }
}

/// Several lists of pieces in one: a list per index.
#[derive(Default)]
pub(crate) struct Lists {
    pieces: Pieces,
    ends: SmallVec<[usize; 8]>,
}

impl Lists {
    /// Adds a list, which `fill` puts behind those that are there.
    pub(crate) fn add(&mut self, fill: impl FnOnce(&mut Pieces) -> Option<()>) -> Option<()> {
        fill(&mut self.pieces)?;
        self.ends.push(self.pieces.len());
        Some(())
    }

    pub(crate) fn list(&self, number: usize) -> List<'_> {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        List { heads: &self.pieces.heads[start..self.ends[number]], atoms: &self.pieces.atoms }
    }

    pub(crate) fn all(&self) -> SmallVec<[List<'_>; 8]> {
        (0..self.ends.len()).map(|number| self.list(number)).collect()
    }
}

/// One list of [`Lists`].
#[derive(Clone, Copy)]
pub(crate) struct List<'a> {
    heads: &'a [Head],
    atoms: &'a [Atom],
}

impl<'a> List<'a> {
    pub(crate) fn is_empty(self) -> bool {
        self.heads.is_empty()
    }

    /// The destination offsets and the loops of the pieces.
    pub(crate) fn destinations(self) -> impl Iterator<Item = (i64, &'a [Atom])> {
        self.heads.iter().map(move |head| (head.dst_offset, &self.atoms[head.start..head.end]))
    }

    /// Sets one of the pieces into a box, inside of what is there.
    fn append(self, number: usize, piece: &mut Piece) {
        let head = &self.heads[number];
        piece.shift(head.src_offset, head.dst_offset);
        for &atom in &self.atoms[head.start..head.end] {
            piece.add_loop(atom);
        }
    }
}

/// Calls `visit` with every way to take one piece of each list, the last list fastest.
pub(crate) fn each_product(
    lists: &[List<'_>],
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<()> {
    if lists.iter().any(|list| list.is_empty()) {
        return Some(());
    }
    let mut at: SmallVec<[usize; 8]> = smallvec![0; lists.len()];
    loop {
        let mut piece = Piece::default();
        lists.iter().zip(&at).for_each(|(list, &number)| list.append(number, &mut piece));
        visit(&mut piece)?;
        let Some(next) = (0..lists.len()).rev().find(|&l| at[l] + 1 < lists[l].heads.len()) else {
            return Some(());
        };
        at[next] += 1;
        at[next + 1..].fill(0);
    }
}

/// How many products [`each_product`] visits; `None` where that overflows.
pub(crate) fn products<'a>(lists: impl IntoIterator<Item = List<'a>>) -> Option<usize> {
    lists.into_iter().try_fold(1usize, |count, list| count.checked_mul(list.heads.len()))
}

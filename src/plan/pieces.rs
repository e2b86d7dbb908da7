//! Pieces of an index, and of all indices together: loops and where they start on both sides.

use std::ops::Range;

use smallvec::SmallVec;

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

/// Parts of single indices, and how they make a box.
pub(crate) trait Parts {
    type Part: Copy;

    /// All parts; those of one index lie together.
    fn parts(&self) -> &[Self::Part];

    /// Makes one part of each index an empty box.
    fn assemble(&self, parts: &[Self::Part], piece: &mut Piece);
}

/// A part without its loops, which lie among those of all.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    src_offset: i64,
    dst_offset: i64,
    start: usize,
    end: usize,
}

/// Parts with loops of their own, inline for two ragged indices under two levels of tiles on both sides.
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

    /// The destination offsets and the loops of some pieces.
    pub(crate) fn destinations(&self, range: PartRange) -> impl Iterator<Item = (i64, &[Atom])> {
        self.heads[range].iter().map(|head| (head.dst_offset, &self.atoms[head.start..head.end]))
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

impl Parts for Pieces {
    type Part = Head;

    fn parts(&self) -> &[Head] {
        &self.heads
    }

    fn assemble(&self, parts: &[Head], piece: &mut Piece) {
        for head in parts {
            piece.shift(head.src_offset, head.dst_offset);
            piece.atoms.extend(self.atoms[head.start..head.end].iter().copied());
        }
    }
}

/// Which of all parts are those of an index.
pub(crate) type PartRange = Range<usize>;

/// The parts of every index.
pub(crate) type PartRanges = SmallVec<[PartRange; 8]>;

/// Calls `visit` with every way to take one part of each index, the last index fastest.
pub(crate) fn each_product<P: Parts>(
    all: &P,
    ranges: &[PartRange],
    visit: &mut impl FnMut(&mut Piece) -> Option<()>,
) -> Option<()> {
    if ranges.iter().any(|range| range.is_empty()) {
        return Some(());
    }
    let parts = all.parts();
    let mut at: SmallVec<[usize; 8]> = ranges.iter().map(|range| range.start).collect();
    let mut taken: SmallVec<[P::Part; 8]> = at.iter().map(|&part| parts[part]).collect();
    loop {
        let mut piece = Piece::default();
        all.assemble(&taken, &mut piece);
        visit(&mut piece)?;
        let Some(next) = (0..ranges.len()).rev().find(|&index| at[index] + 1 < ranges[index].end) else {
            return Some(());
        };
        at[next] += 1;
        for index in next..ranges.len() {
            if index > next {
                at[index] = ranges[index].start;
            }
            taken[index] = parts[at[index]];
        }
    }
}

/// How many products [`each_product`] visits; `None` where that overflows.
pub(crate) fn products(ranges: &[PartRange]) -> Option<usize> {
    ranges.iter().try_fold(1usize, |count, range| count.checked_mul(range.len()))
}

/// Bytes of as many elements as the loops have places.
pub(super) fn bytes_of(atoms: &[Atom], bytes: usize) -> i64 {
    atoms.iter().fold(bytes as i64, |bytes, atom| bytes.saturating_mul(atom.extent))
}

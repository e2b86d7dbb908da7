//! Loop nests in their simplest form: small total functions, each of which keeps the set of moves as it is.

use smallvec::SmallVec;

use super::pieces::{Atom, Piece};

/// The simplest form of a box: no loop that runs once, destination strides positive and descending, neighbours that
/// continue one another made one.
pub(crate) fn normalize(piece: &Piece) -> Piece {
    let mut piece = piece.clone();
    remove_trivial(&mut piece.atoms);
    flip_backward(&mut piece);
    sort_by_destination(&mut piece.atoms);
    coalesce(&mut piece.atoms);
    piece
}

/// Drops loops that run once.
fn remove_trivial(atoms: &mut SmallVec<[Atom; 6]>) {
    atoms.retain(|atom| atom.extent != 1);
}

/// Walks loops whose destination goes backward from their other end.
fn flip_backward(piece: &mut Piece) {
    for atom in piece.atoms.iter_mut().filter(|atom| atom.dst_stride < 0) {
        piece.src_offset += atom.src_stride * (atom.extent - 1);
        piece.dst_offset += atom.dst_stride * (atom.extent - 1);
        atom.src_stride = -atom.src_stride;
        atom.dst_stride = -atom.dst_stride;
    }
}

/// Slowest destination first; among equals (which only broadcasts have) the slowest source first.
fn sort_by_destination(atoms: &mut SmallVec<[Atom; 6]>) {
    atoms.sort_by_key(|atom| {
        std::cmp::Reverse((atom.dst_stride.unsigned_abs(), atom.src_stride.unsigned_abs()))
    });
}

/// Joins an outer loop with the inner one that it continues on both sides.
fn coalesce(atoms: &mut SmallVec<[Atom; 6]>) {
    let mut joined: SmallVec<[Atom; 6]> = SmallVec::new();
    for &inner in atoms.iter() {
        let continues = |outer: &Atom| {
            let steps = |stride: i64| stride.checked_mul(inner.extent);
            Some(outer.src_stride) == steps(inner.src_stride)
                && Some(outer.dst_stride) == steps(inner.dst_stride)
        };
        match joined.last_mut() {
            Some(outer) if continues(outer) => *outer = Atom { extent: outer.extent * inner.extent, ..inner },
            _ => joined.push(inner),
        }
    }
    *atoms = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(extent: i64, src_stride: i64, dst_stride: i64) -> Atom {
        Atom { extent, src_stride, dst_stride }
    }

    fn normal(atoms: &[Atom]) -> Piece {
        normalize(&Piece { src_offset: 0, dst_offset: 0, atoms: atoms.iter().copied().collect() })
    }

    #[test]
    fn dense_loops_become_one() {
        assert_eq!(
            normal(&[atom(2, 60, 60), atom(1, 7, 7), atom(3, 20, 20), atom(5, 4, 4)]).atoms[..],
            [atom(30, 4, 4)]
        );
    }

    #[test]
    fn loops_are_sorted_by_destination() {
        assert_eq!(normal(&[atom(3, 4, 8), atom(2, 12, 4)]).atoms.len(), 2);
        assert_eq!(normal(&[atom(2, 12, 4), atom(3, 4, 8)]).atoms[..], [atom(3, 4, 8), atom(2, 12, 4)]);
    }

    #[test]
    fn backward_destinations_are_walked_forward() {
        let piece = normal(&[atom(3, 4, -4)]);
        assert_eq!((piece.src_offset, piece.dst_offset, &piece.atoms[..]), (8, -8, &[atom(3, -4, 4)][..]));
    }
}

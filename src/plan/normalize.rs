//! Loop nests in their simplest form: small total functions, each of which keeps the set of moves as it is.

use super::pieces::{Atom, Piece};

/// The simplest form of a box: no loop that runs once, destination strides positive and descending, neighbours that
/// continue one another made one.
pub(crate) fn normalize(piece: &mut Piece) {
    remove_trivial(piece);
    flip_backward(piece);
    sort_by_destination(piece);
    coalesce(piece);
}

/// Drops loops that run once.
fn remove_trivial(piece: &mut Piece) {
    piece.atoms.retain(|atom| atom.extent != 1);
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
fn sort_by_destination(piece: &mut Piece) {
    piece.atoms.sort_by_key(|atom| {
        std::cmp::Reverse((atom.dst_stride.unsigned_abs(), atom.src_stride.unsigned_abs()))
    });
}

/// Joins an outer loop with the inner one that it continues on both sides.
fn coalesce(piece: &mut Piece) {
    let atoms = &mut piece.atoms;
    let mut kept = 0;
    for next in 0..atoms.len() {
        let inner = atoms[next];
        let steps = |stride: i64| stride.checked_mul(inner.extent);
        let continues = |outer: &Atom| {
            Some(outer.src_stride) == steps(inner.src_stride)
                && Some(outer.dst_stride) == steps(inner.dst_stride)
        };
        if kept > 0 && continues(&atoms[kept - 1]) {
            atoms[kept - 1] = Atom { extent: atoms[kept - 1].extent * inner.extent, ..inner };
        } else {
            atoms[kept] = inner;
            kept += 1;
        }
    }
    atoms.truncate(kept);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(extent: i64, src_stride: i64, dst_stride: i64) -> Atom {
        Atom { extent, src_stride, dst_stride }
    }

    fn normal(atoms: &[Atom]) -> Piece {
        let mut piece = Piece { src_offset: 0, dst_offset: 0, atoms: atoms.iter().copied().collect() };
        normalize(&mut piece);
        piece
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

//! Loop nests in their simplest form: small total functions, each of which keeps the set of moves as it is.

use super::pieces::{Atom, Piece};

impl Piece {
    /// Adds a loop, unless it runs once.
    pub(crate) fn add_loop(&mut self, atom: Atom) {
        if atom.extent != 1 {
            self.atoms.push(atom);
        }
    }

    /// Puts the loops where they belong: the destination goes forward, and the slowest there comes first; among equals (which
    /// only broadcasts have) the slowest source. Neighbours that continue one another on both sides become one.
    pub(crate) fn normalize(&mut self) {
        let atoms = &mut self.atoms[..];
        for atom in atoms.iter_mut().filter(|atom| atom.dst_stride < 0) {
            // From its other end.
            self.src_offset += atom.src_stride * (atom.extent - 1);
            self.dst_offset += atom.dst_stride * (atom.extent - 1);
            *atom = Atom { src_stride: -atom.src_stride, dst_stride: -atom.dst_stride, ..*atom };
        }
        for position in 1..atoms.len() {
            let mut place = position;
            while place > 0 && is_slower(&atoms[place], &atoms[place - 1]) {
                atoms.swap(place, place - 1);
                place -= 1;
            }
        }
        self.atoms.dedup_by(|inner, outer| {
            let is_one = continues(outer, inner);
            if is_one {
                *outer = Atom { extent: outer.extent * inner.extent, ..*inner };
            }
            is_one
        });
    }
}

fn is_slower(a: &Atom, b: &Atom) -> bool {
    a.dst_stride > b.dst_stride
        || a.dst_stride == b.dst_stride && a.src_stride.unsigned_abs() > b.src_stride.unsigned_abs()
}

/// True where a step of the outer loop goes as far as all of the inner one.
fn continues(outer: &Atom, inner: &Atom) -> bool {
    inner.dst_stride.checked_mul(inner.extent) == Some(outer.dst_stride)
        && inner.src_stride.checked_mul(inner.extent) == Some(outer.src_stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(extent: i64, src_stride: i64, dst_stride: i64) -> Atom {
        Atom { extent, src_stride, dst_stride }
    }

    fn normal(atoms: &[Atom]) -> Piece {
        let mut piece = Piece::default();
        atoms.iter().for_each(|&atom| piece.add_loop(atom));
        piece.normalize();
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

//! Loop nests in their simplest form: small total functions, each of which keeps the set of moves as it is.

use super::pieces::{Atom, Piece};

impl Piece {
    /// Adds a loop where it belongs: no loop runs once, the destination goes forward, and the slowest there comes first;
    /// among equals (which only broadcasts have) the slowest source.
    pub(crate) fn add_loop(&mut self, atom: Atom) {
        if atom.extent == 1 {
            return;
        }
        let atom = if atom.dst_stride < 0 { self.flip(atom) } else { atom };
        let slower = self.atoms.iter().rposition(|other| !is_slower(&atom, other));
        self.atoms.insert(slower.map_or(0, |last| last + 1), atom);
    }

    /// Walks a loop from its other end.
    fn flip(&mut self, atom: Atom) -> Atom {
        self.src_offset += atom.src_stride * (atom.extent - 1);
        self.dst_offset += atom.dst_stride * (atom.extent - 1);
        Atom { src_stride: -atom.src_stride, dst_stride: -atom.dst_stride, ..atom }
    }

    /// Makes neighbours that continue one another on both sides one loop.
    pub(crate) fn coalesce(&mut self) {
        let atoms = &mut self.atoms[..];
        let mut last = 0;
        for next in 1..atoms.len() {
            let (outer, inner) = (atoms[last], atoms[next]);
            if continues(&outer, &inner) {
                atoms[last] = Atom { extent: outer.extent * inner.extent, ..inner };
            } else {
                last += 1;
                atoms[last] = inner;
            }
        }
        self.atoms.truncate(last + 1);
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
        piece.coalesce();
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

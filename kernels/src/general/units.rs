//! Elements that stay together on both sides, in another order on either: moved as one, and put in order inside of a lane.

use crate::lanes::LANE;
use crate::loops::Loops;

/// A nest of such units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// The loops over them.
    pub(crate) loops: Loops,
    /// Bytes of one.
    pub(crate) bytes: usize,
    /// Which byte of a lane of the source goes where, unless all stay where they are.
    pub(crate) order: Option<[u8; LANE]>,
}

impl Units {
    /// The largest units of a nest: its elements, where none is larger.
    pub(crate) fn new(loops: &Loops, element: usize) -> Units {
        let mut units = Units { loops: *loops, bytes: element, order: None };
        if !matches!(element, 1 | 2 | 4) {
            return units;
        }
        // Loops that continue one another in the source, and make up as much of the destination.
        let (mut rest, mut inner, mut bytes) = (*loops, Loops::default(), element);
        while let Some(next) = rest.take(|l| l.src_stride == bytes as isize && bytes * l.extent <= LANE) {
            inner.push(next);
            bytes *= next.extent;
            if bytes.is_power_of_two() && fills(&inner, element, bytes) {
                let order = Some(order(&inner, element, bytes)).filter(|order| !order.is_sorted());
                units = Units { loops: rest, bytes, order };
            }
        }
        units
    }
}

/// True where the loops reach all of so many bytes of the destination.
fn fills(loops: &Loops, element: usize, bytes: usize) -> bool {
    let (mut rest, mut span) = (*loops, element);
    while let Some(next) = rest.take(|l| l.dst_stride == span as isize) {
        span *= next.extent;
    }
    span == bytes
}

/// Where the bytes of a lane go, unit by unit.
fn order(loops: &Loops, element: usize, bytes: usize) -> [u8; LANE] {
    let mut order = [0; LANE];
    for unit in (0..LANE).step_by(bytes) {
        for number in 0..bytes / element {
            let (mut rest, mut src, mut dst) = (number, unit, unit);
            for l in loops.as_slice() {
                let step = rest % l.extent;
                rest /= l.extent;
                src += step * l.src_stride.unsigned_abs();
                dst += step * l.dst_stride.unsigned_abs();
            }
            for byte in 0..element {
                order[dst + byte] = (src + byte) as u8;
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nest::Loop;

    fn a_loop(extent: usize, src_stride: isize, dst_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride }
    }

    #[test]
    fn words_of_tiles_are_transposed() {
        // Pairs of rows of 16 bits, and of columns.
        let outer = a_loop(64, 8, 512);
        let units = Units::new(&Loops::of(&[outer, a_loop(2, 2, 4), a_loop(2, 4, 2)]), 2);
        let wanted = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];
        assert_eq!((units.loops.as_slice(), units.bytes, units.order), (&[outer][..], 8, Some(wanted)));
        // Fours of bytes.
        let units = Units::new(&Loops::of(&[a_loop(4, 4, 1), outer, a_loop(4, 1, 4)]), 1);
        let wanted = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        assert_eq!((units.loops.as_slice(), units.bytes, units.order), (&[outer][..], 16, Some(wanted)));
        // What does not stay together is left as it is.
        let apart = [a_loop(2, 2, 4), a_loop(2, 4, 64)];
        assert_eq!(Units::new(&Loops::of(&apart), 2).order, None);
    }
}

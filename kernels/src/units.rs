//! Elements that stay together on both sides, in another order on either: moved as one, and put in order inside of a lane.

use crate::lanes::LANE;
use crate::loops::Loops;
use crate::nest::Loop;

/// A nest of such units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Units {
    /// The loops over them.
    pub(crate) loops: Loops,
    /// Those over the elements of one.
    pub(crate) inner: Loops,
    /// How many these are.
    pub(crate) count: usize,
    /// Which byte of a lane goes where, the elements being those of the destination as the source has them, unless all stay where they
    /// are.
    pub(crate) order: Option<[u8; LANE]>,
}

/// A side of a loop.
type Stride = fn(&Loop) -> isize;

impl Units {
    /// The largest units of a nest that a lane has room for, where elements follow one another in so many bytes, or slots, of either
    /// side, and have `bytes` bytes in the destination: single elements, where none is larger.
    pub(crate) fn new(loops: &Loops, [src_unit, dst_unit]: [isize; 2], bytes: usize) -> Units {
        let mut units = Units { loops: *loops, inner: Loops::default(), count: 1, order: None };
        if !bytes.is_power_of_two() {
            return units;
        }
        // Loops that continue one another in the source, and make up as much of the destination.
        let (mut rest, mut inner, mut count) = (*loops, Loops::default(), 1);
        let next = |rest: &mut Loops, unit: isize, stride: Stride, count: usize| {
            rest.take(|l| {
                stride(l) == unit * count as isize && (2..=LANE / bytes / count).contains(&l.extent)
            })
        };
        while let Some(l) = next(&mut rest, src_unit, |l| l.src_stride, count) {
            inner.push(l);
            count *= l.extent;
            let (mut others, mut span) = (inner, 1);
            while let Some(l) = next(&mut others, dst_unit, |l| l.dst_stride, span) {
                span *= l.extent;
            }
            if count.is_power_of_two() && span == count {
                let order = order(&inner, dst_unit, bytes, count);
                units = Units {
                    loops: rest,
                    inner,
                    count,
                    order: Some(order).filter(|order| !order.is_sorted()),
                };
            }
        }
        units
    }
}

/// Where the bytes of a lane go, unit by unit.
fn order(loops: &Loops, unit: isize, bytes: usize, count: usize) -> [u8; LANE] {
    let mut order = [0; LANE];
    for first in (0..LANE / bytes).step_by(count) {
        for number in 0..count {
            let (mut rest, mut place) = (number, first);
            for l in loops.as_slice() {
                place += rest % l.extent * (l.dst_stride / unit).unsigned_abs();
                rest /= l.extent;
            }
            for byte in 0..bytes {
                order[place * bytes + byte] = ((first + number) * bytes + byte) as u8;
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_loop(extent: usize, src_stride: isize, dst_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride }
    }

    #[test]
    fn words_of_tiles_are_transposed() {
        // Pairs of rows of 16 bits, and of columns.
        let outer = a_loop(64, 8, 512);
        let units = Units::new(&Loops::of(&[outer, a_loop(2, 2, 4), a_loop(2, 4, 2)]), [2; 2], 2);
        let wanted = [0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15];
        assert_eq!((units.loops.as_slice(), units.count, units.order), (&[outer][..], 4, Some(wanted)));
        // Fours of bytes.
        let units = Units::new(&Loops::of(&[a_loop(4, 4, 1), outer, a_loop(4, 1, 4)]), [1; 2], 1);
        let wanted = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        assert_eq!((units.loops.as_slice(), units.count, units.order), (&[outer][..], 16, Some(wanted)));
        // Pairs of 16 bits that become fours of bytes.
        let outer = a_loop(32, 16, 512);
        let units = Units::new(&Loops::of(&[a_loop(2, 2, 4), a_loop(4, 4, 1), outer]), [2, 1], 1);
        let wanted = [0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15];
        assert_eq!((units.loops.as_slice(), units.count, units.order), (&[outer][..], 8, Some(wanted)));
        // What has an order already.
        let units = Units::new(&Loops::of(&[a_loop(2, 2, 4), a_loop(9, 4, 8)]), [2, 4], 4);
        assert_eq!((units.loops.as_slice(), units.count, units.order), (&[a_loop(9, 4, 8)][..], 2, None));
        // What does not stay together is left as it is.
        let apart = [a_loop(2, 2, 4), a_loop(2, 4, 64)];
        assert_eq!(Units::new(&Loops::of(&apart), [2; 2], 2).count, 1);
    }
}

//! Words of a few elements whose parts change places between as many rows: tiles with pairs of rows, such as those of `(2,1)`, that
//! become tiles with pairs along another dimension.
//!
//! Element `i` of a word of row `j` becomes element `j` of the same word of row `i`.

use crate::interleave::Orders;
use crate::lanes::{LANE, LINE, Lanes};
use crate::loops::Loops;
use crate::nest::Loop;
use crate::stage::starts_lines;
use crate::transpose::block::network;
use crate::walk::{Point, each_point};

/// A nest of such words.
pub(crate) struct Exchange {
    outer: Loops,
    /// Elements of a word, and their bytes.
    ways: usize,
    element: usize,
    /// Bytes of a row.
    row: usize,
    /// From row to row, in the source and in the destination.
    steps: [isize; 2],
}

impl Exchange {
    /// The nest as words that exchange their elements; none where it has no such words, or rows that are shorter than a line.
    pub(crate) fn new(loops: &[Loop], element: usize) -> Option<Exchange> {
        if !matches!(element, 1 | 2) {
            return None;
        }
        let unit = element as isize;
        let mut outer = Loops::of_few(loops)?;
        let from = outer.take(|l| l.src_stride == unit && matches!(l.extent, 2 | 4))?;
        let to = outer.take(|l| l.dst_stride == unit && l.extent == from.extent)?;
        let word = unit * from.extent as isize;
        let along = outer.take(|l| l.src_stride == word && l.dst_stride == word)?;
        let row = along.extent * word.unsigned_abs();
        let steps = [to.src_stride, from.dst_stride];
        // Whole tiles of the source one after the other: in the order of the destination a part of each would be read at a time.
        outer.sort_by_key(|l| std::cmp::Reverse(l.src_stride.unsigned_abs()));
        (row >= LINE).then_some(Exchange { outer, ways: from.extent, element, row, steps })
    }

    /// Moves the nest, past the cache where that is wanted and rows are whole lines.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, (src, dst): (*const u8, *mut u8), stream: bool) {
        let &Exchange { ref outer, row, steps, .. } = self;
        let rows = Loop { extent: self.ways, src_stride: steps[0], dst_stride: steps[1] };
        let past = stream
            && L::STREAMS
            && row.is_multiple_of(LINE)
            && starts_lines(outer.as_slice().iter().chain([&rows]), dst);
        macro_rules! run {
            ($($e:literal $k:literal)*) => {
                match (self.element, self.ways) {
                    // SAFETY: the caller's promise.
                    $(($e, $k) => unsafe {
                        each_point(lanes, outer.as_slice(), src, dst, Words::<$e, $k> { row, steps, past });
                    },)*
                    _ => unreachable!("words have 2 or 4 elements of 1 or 2 bytes"),
                }
            };
        }
        run!(1 2 1 4 2 2 2 4);
    }
}

/// `K` rows of words of as many elements of `E` bytes.
#[derive(Clone, Copy)]
struct Words<const E: usize, const K: usize> {
    row: usize,
    steps: [isize; 2],
    past: bool,
}

impl<const E: usize, const K: usize> Words<E, K> {
    /// The reverse of [`Orders::GROUP`].
    const UNGROUP: [u8; LANE] = {
        let mut order = [0; LANE];
        let mut at = 0;
        while at < LANE {
            order[Orders::<E, K>::GROUP[at] as usize] = at as u8;
            at += 1;
        }
        order
    };

    /// A register of each row.
    ///
    /// # Safety
    /// A register must be readable, and writable, at each of `K` places; past the cache they start parts of lines.
    #[inline(always)]
    unsafe fn block<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, past: bool) {
        let mut rows = [lanes.zero(); K];
        // SAFETY: the caller's promise.
        unsafe {
            let mut row = 0;
            while row < K {
                let from = src.wrapping_offset(row as isize * self.steps[0]);
                if past {
                    lanes.prefetch(from.wrapping_add(AHEAD));
                }
                rows[row] = lanes.shuffle(lanes.load(from), Orders::<E, K>::GROUP);
                row += 1;
            }
            match LANE / K {
                8 => network::<L, 8, K>(lanes, &mut rows),
                _ => network::<L, 4, K>(lanes, &mut rows),
            }
            let mut row = 0;
            while row < K {
                let to = dst.wrapping_offset(row as isize * self.steps[1]);
                let made = lanes.shuffle(rows[row], Self::UNGROUP);
                match past {
                    true => lanes.stream(to, made),
                    false => lanes.store(to, made),
                }
                row += 1;
            }
        }
    }
}

/// How far ahead of its loads a row is asked for, in bytes.
const AHEAD: usize = 1024;

impl<const E: usize, const K: usize> Point for Words<E, K> {
    /// # Safety
    /// `row` bytes, a line at least, must be readable, and writable, at each of `K` places, without overlap; past the cache those of the
    /// destination are whole lines.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut at = 0;
        // SAFETY: registers of the rows; the last one steps back rather than step outside.
        unsafe {
            while at + L::BYTES <= self.row {
                self.block(lanes, src.add(at), dst.add(at), self.past);
                at += L::BYTES;
            }
            if at < self.row {
                let at = self.row - L::BYTES;
                self.block(lanes, src.add(at), dst.add(at), false);
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.past
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_pairs_exchange_them() {
        // Tiles of 8 x 128 elements of 16 bits, whose pairs are those of another dimension in the destination.
        let of = |extent, src_stride, dst_stride| Loop { extent, src_stride, dst_stride };
        let loops = [of(64, 8192, 2048), of(2, 2, 65536), of(2, 16384, 2), of(128, 4, 4)];
        let found = Exchange::new(&loops, 2).unwrap();
        assert_eq!((found.ways, found.row, found.steps), (2, 512, [16384, 65536]));
        assert_eq!(found.outer.as_slice(), &loops[..1]);
        // Words of other elements, rows that do not follow one another, and those of less than a line.
        assert!(Exchange::new(&loops, 4).is_none());
        assert!(Exchange::new(&[loops[1], loops[2], of(128, 8, 4)], 2).is_none());
        assert!(Exchange::new(&[loops[1], loops[2], of(15, 4, 4)], 2).is_none());
    }
}

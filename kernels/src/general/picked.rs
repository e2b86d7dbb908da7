//! Some rows of a stream that has more of them in turn: those of ragged tiles, whose other rows are padding.

use core::mem::MaybeUninit;

use crate::deinterleave::load_unzipped;
use crate::lanes::{Held, LINE, Lanes};
use crate::loops::{Loops, ONCE};
use crate::nest::Loop;
use crate::rows::copy_short;
use crate::stage::starts_lines;
use crate::tuning::stream_ahead;
use crate::walk::{Point, each_point};

/// A nest of such rows, each of which starts a line.
pub(crate) struct Picked {
    outer: Loops,
    along: Loop,
    across: Loop,
    /// Rows of the stream.
    ways: usize,
    element: usize,
}

impl Picked {
    /// The nest as such rows; none where it takes all of the stream, or rows that start no lines, or are shorter than one.
    pub(crate) fn new(loops: &[Loop], element: usize, dst: *mut u8) -> Option<Picked> {
        let unit = element as isize;
        let ways = |l: &Loop| [2, 4, 8].into_iter().find(|&ways| l.src_stride == unit * ways as isize);
        let is_along = |l: &Loop| l.dst_stride == unit && l.extent * element >= LINE && ways(l).is_some();
        let mut outer = Loops::of_few(loops).filter(|_| matches!(element, 1 | 2 | 4))?;
        let along = outer.take(is_along)?;
        let across = outer.take(|l| l.src_stride == unit && l.extent > 1).unwrap_or(ONCE);
        let ways = ways(&along).filter(|&ways| across.extent < ways)?;
        let starts = starts_lines(outer.as_slice().iter().chain([&across]), dst);
        starts.then_some(Picked { outer, along, across, ways, element })
    }

    /// Moves the rows past the cache.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let Picked { ref outer, along, across, .. } = *self;
        let (count, present, step, ahead) = (along.extent, across.extent, across.dst_stride, stream_ahead());
        macro_rules! run {
            ($($e:literal: $($k:literal)*;)*) => {
                match (self.element, self.ways) {
                    // SAFETY: the caller's promise; every row starts a line.
                    $($(($e, $k) => unsafe {
                        let kernel = PickRows::<$e, $k> { count, present, step, ahead };
                        each_point(lanes, outer.as_slice(), src, dst, kernel);
                    })*)*
                    _ => unreachable!("streams have 2, 4 or 8 rows of elements of 1, 2 or 4 bytes"),
                }
            };
        }
        run!(1: 2 4 8; 2: 2 4 8; 4: 2 4 8;);
    }
}

/// Takes the first `present` of `K` rows from a stream of elements of `E` bytes.
#[derive(Clone, Copy)]
struct PickRows<const E: usize, const K: usize> {
    /// Elements of a row.
    count: usize,
    present: usize,
    /// From row to row of the destination.
    step: isize,
    /// How far ahead of its loads the stream is asked for, in bytes.
    ahead: usize,
}

impl<const E: usize, const K: usize> Point for PickRows<E, K> {
    const IS_STREAM: bool = true;

    /// # Safety
    /// The elements of the rows that are present must be readable, and writable, without overlap; rows start lines.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let line = LINE / E;
        let mut at = 0;
        // SAFETY: behind whatever another element follows, the other rows' elements lie between the two; the last ones are copied, as
        // far as they are the nest's, to where there is room for all.
        unsafe {
            while at + line < self.count {
                self.line(lanes, src.add(at * K * E), dst.add(at * E), line);
                at += line;
            }
            let rest = self.count - at;
            let mut room = MaybeUninit::<Held<K>>::zeroed();
            let room = (&raw mut (*room.as_mut_ptr()).0).cast::<u8>();
            core::ptr::copy_nonoverlapping(src.add(at * K * E), room, ((rest - 1) * K + self.present) * E);
            self.line(lanes, room, dst.add(at * E), rest);
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const K: usize> PickRows<E, K> {
    /// A line of every row, or so many elements of one.
    ///
    /// # Safety
    /// `K` lines must be readable at `src`, and so many elements, a line at most, writable in every row, which starts a line.
    #[inline(always)]
    unsafe fn line<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, count: usize) {
        let parts = LINE / L::BYTES;
        let mut rows = [[lanes.zero(); K]; 4];
        // SAFETY: the caller's promise.
        unsafe {
            let mut part = 0;
            while part < parts {
                rows[part] = load_unzipped::<L, E, K>(lanes, src.add(part * K * L::BYTES));
                part += 1;
            }
            let mut row = 0;
            while row < K {
                lanes.prefetch(src.wrapping_add(self.ahead + row * LINE));
                if row < self.present {
                    let to = dst.wrapping_offset(row as isize * self.step);
                    let mut made = Held([[0; LINE]; 1]);
                    let made = made.0.as_mut_ptr().cast::<u8>();
                    let mut part = 0;
                    while part < parts {
                        match count * E == LINE {
                            true => lanes.stream(to.add(part * L::BYTES), rows[part][row]),
                            false => lanes.store(made.add(part * L::BYTES), rows[part][row]),
                        }
                        part += 1;
                    }
                    if count * E < LINE {
                        copy_short(made, to, count * E);
                    }
                }
                row += 1;
            }
        }
    }
}

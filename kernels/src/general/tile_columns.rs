//! Tiles whose columns become rows, past the cache: in the strips of a streamed transpose, each of some rows of tiles one below the
//! other.
//!
//! What lies in a tile is read in the order of memory, and whole, and then the next tile, along a few rows of them. From strip to strip of
//! as many rows as a tile has columns these streams were as short as a tile, which takes a third longer.
//! Elements that stay together on both sides, in another order, are one here, and are put in order as they are read.

use crate::lanes::{LANE, LINE, Lanes, Order};
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::nest::Loop;
use crate::stage::starts_lines;
use crate::transpose::ahead::{Ahead, Ask, lie_together};
use crate::transpose::columns::{Columns, Places};
use crate::transpose::continues;
use crate::transpose::plane::CarriedPlane;
use crate::transpose::stream::{CARRY_BYTES, StreamTranspose, strip};
use crate::tuning::is_amd;
use crate::units::Units;
use crate::walk::each_point;

/// Columns of tiles that become rows.
pub(crate) struct TileColumns {
    /// Bytes of what is moved as one, and the order of its elements.
    element: usize,
    order: Option<[u8; LANE]>,
    outer: Loops,
    rows: Loop,
    /// What continues the rows in the source.
    beyond: Loop,
    /// From tile to tile.
    along: Loop,
    /// Those of a tile, and what continues them in the destination.
    columns: Loop,
    further: Loop,
}

impl TileColumns {
    /// Finds both in a nest; none where columns are not those of tiles, or where strips have no whole number of them.
    pub(crate) fn new(loops: &[Loop], element: usize) -> Option<TileColumns> {
        if loops.len() > MAX_LOOPS || is_amd() {
            return None;
        }
        let units = Units::new(&Loops::of(loops), [element as isize; 2], element);
        let (mut outer, element) = (units.loops, units.count * element);
        let unit = element as isize;
        let rows = outer.take(|l| l.src_stride == unit)?;
        let columns = outer.take(|l| l.dst_stride == unit)?;
        let further = outer.take(|l| l.dst_stride == unit * columns.extent as isize)?;
        let beyond = outer.take(|l| continues(rows, *l, element, false)).unwrap_or(ONCE);
        let width = strip(element) / element;
        let all_rows = Loop { extent: rows.extent * beyond.extent, ..rows };
        let fits = columns.extent < width
            && matches!(element, 1 | 2 | 4 | 8 | 16)
            && width.is_multiple_of(columns.extent)
            && further.extent >= width / columns.extent
            && lie_together(all_rows, columns);
        let tile = columns.src_stride * columns.extent as isize;
        let along = outer.take(|l| l.src_stride == tile).unwrap_or(ONCE);
        // What comes next in the source is walked next.
        if let Some(next) = outer.take(|l| l.src_stride == further.src_stride * further.extent as isize) {
            outer.push(next);
        }
        fits.then_some(TileColumns {
            element,
            order: units.order,
            outer,
            rows,
            beyond,
            along,
            columns,
            further,
        })
    }

    /// Steps of the loop of tiles that make up a strip.
    fn steps(&self) -> usize {
        strip(self.element) / self.element / self.columns.extent
    }

    /// Those that make up strips.
    fn whole(&self) -> usize {
        self.further.extent / self.steps() * self.steps()
    }

    /// What strips leave of the nest, and how far both its places are from the nest's.
    pub(crate) fn rest(&self, loops: &[Loop]) -> Option<(Loops, [isize; 2])> {
        let (whole, mut rest) = (self.whole(), Loops::of(loops));
        let further = rest.take(|l| *l == self.further)?;
        rest.push(Loop { extent: further.extent - whole, ..further });
        let places = [further.src_stride, further.dst_stride].map(|stride| whole as isize * stride);
        (whole < further.extent).then_some((rest, places))
    }

    /// Moves whole strips.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let Self { outer, rows, beyond, along, columns, further, .. } = *self;
        let aligned = starts_lines(outer.as_slice().iter().chain([&rows, &beyond, &along]), dst);
        let mut carry = vec![0u8; if aligned { 0 } else { CARRY_BYTES + LINE }];
        let carry = match aligned {
            true => std::ptr::null_mut(),
            false => carry.as_mut_ptr().wrapping_add(carry.as_ptr().align_offset(LINE)),
        };
        let (together, apart) = (columns.extent, further.src_stride);
        let columns = Loop { extent: self.whole() * together, ..columns };
        let plane = CarriedPlane { columns, rows, beyond, along, carry };
        macro_rules! run {
            ($($e:literal: $n:literal;)*) => {
                match (self.element, self.order) {
                    // SAFETY: the caller's promise; the carries live until the end of this function.
                    $(($e, None) => unsafe {
                        let source = Grouped { together, apart, order: () };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _> { source, plane });
                    },
                    // SAFETY: the same.
                    ($e, Some(order)) if $e >= 4 => unsafe {
                        let source = Grouped { together, apart, order };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _> { source, plane });
                    },)*
                    _ => unreachable!("units have 1 to 16 bytes"),
                }
            };
        }
        run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
    }
}

/// Columns of which so many are at even distances, and others so far from the first of these.
#[derive(Clone, Copy)]
struct Grouped<O> {
    together: usize,
    apart: isize,
    order: O,
}

impl<O> Grouped<O> {
    #[inline(always)]
    fn places(&self, step: isize) -> Places {
        Places { step, together: self.together, apart: self.apart }
    }
}

impl<O: Order> Columns for Grouped<O> {
    const ARE_THE_SOURCES: bool = false;

    #[inline(always)]
    fn asks(&self, _step: isize, len: usize, count: usize) -> Ask {
        Ask::of_groups(self.apart, len, count, self.together)
    }

    #[inline(always)]
    fn strip_at(&self, from: *const u8, column: usize, step: isize) -> *const u8 {
        from.wrapping_offset(self.places(step).place(column))
    }

    #[inline(always)]
    fn within_strip(&self, from: *const u8, column: usize, step: isize) -> *const u8 {
        from.wrapping_offset(self.places(step).place(column))
    }

    #[inline(always)]
    unsafe fn turn<L: Lanes, const N: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        len: usize,
        turned: *mut u8,
        ahead: Option<(Ahead, usize)>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.places(step).turn::<L, N>(lanes, from, len, turned, (ahead, self.order)) }
    }
}

//! Tiles whose columns become rows, past the cache: in the strips of a streamed transpose, each of some rows of tiles one below the
//! other.
//!
//! What lies in a tile is read in the order of memory, and whole, and then the next tile, along a few rows of them. From strip to strip of
//! as many rows as a tile has columns these streams were as short as a tile, which takes a third longer.
//! Elements that stay together on both sides, in another order, are one here, and are put in order as they are read; columns of such also
//! where they lie in no tiles.

use crate::lanes::{LANE, LINE, Lanes, Order};
use crate::loops::{Loops, ONCE};
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
    /// Finds both in a nest; none where columns are neither those of tiles nor put in an order, or where they make up no strips.
    pub(crate) fn new(loops: &[Loop], element: usize) -> Option<TileColumns> {
        let few = Loops::of_few(loops).filter(|_| !is_amd())?;
        let units = Units::new(&few, [element as isize; 2], element);
        let (mut outer, element) = (units.loops, units.count * element);
        let unit = element as isize;
        let rows = outer.take(|l| l.src_stride == unit)?;
        let columns = outer.take(|l| l.dst_stride == unit)?;
        let beyond = outer.take(|l| continues(rows, *l, element, false)).unwrap_or(ONCE);
        let width = strip(element) / element;
        let all_rows = Loop { extent: rows.extent * beyond.extent, ..rows };
        let are_of_tiles = columns.extent <= width
            && width.is_multiple_of(columns.extent)
            && lie_together(all_rows, columns);
        // Columns of no tiles go on by themselves, and are here for their order.
        let (further, along) = match are_of_tiles {
            true => {
                let tile = columns.src_stride * columns.extent as isize;
                let further = outer.take(|l| l.dst_stride == unit * columns.extent as isize)?;
                (further, outer.take(|l| l.src_stride == tile).unwrap_or(ONCE))
            }
            false => (ONCE, ONCE),
        };
        let goes_on = columns.src_stride.wrapping_mul(columns.extent as isize);
        let goes_on = if are_of_tiles { further.src_stride * further.extent as isize } else { goes_on };
        // What comes next in the source is walked next.
        if let Some(next) = outer.take(|l| l.src_stride == goes_on) {
            outer.push(next);
        }
        let fits = matches!(element, 1 | 2 | 4 | 8 | 16)
            && columns.extent * further.extent >= width
            && all_rows.extent * element >= LINE
            && (are_of_tiles || units.order.is_some());
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

    /// Columns that make up strips.
    fn whole(&self) -> usize {
        let width = strip(self.element) / self.element;
        self.columns.extent * self.further.extent / width * width
    }

    /// What strips leave of the nest, and how far both its places are from the nest's.
    pub(crate) fn rest(&self, loops: &[Loop]) -> Option<(Loops, [isize; 2])> {
        let (whole, mut rest) = (self.whole(), Loops::of(loops));
        let (cut, steps) = match self.further.extent {
            1 => (self.columns, whole),
            _ => (self.further, whole / self.columns.extent),
        };
        let cut = rest.take(|l| *l == cut)?;
        rest.push(Loop { extent: cut.extent - steps, ..cut });
        let places = [cut.src_stride, cut.dst_stride].map(|stride| steps as isize * stride);
        (steps < cut.extent).then_some((rest, places))
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
        let places = match further.extent {
            1 => Places::even(columns.src_stride),
            _ => Places { step: columns.src_stride, together: columns.extent, apart: further.src_stride },
        };
        let columns = Loop { extent: self.whole(), ..columns };
        let plane = CarriedPlane { columns, rows, beyond, along, carry };
        macro_rules! run {
            ($($e:literal: $n:literal;)*) => {
                match (self.element, self.order) {
                    // SAFETY: the caller's promise; the carries live until the end of this function.
                    $(($e, None) => unsafe {
                        let source = Grouped { places, order: () };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _> { source, plane });
                    },
                    // SAFETY: the same.
                    ($e, Some(order)) if $e >= 4 => unsafe {
                        let source = Grouped { places, order };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _> { source, plane });
                    },)*
                    _ => unreachable!("units have 1 to 16 bytes"),
                }
            };
        }
        run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
    }
}

/// Columns that lie somewhere, whose elements are put in an order.
#[derive(Clone, Copy)]
struct Grouped<O> {
    places: Places,
    order: O,
}

impl<O: Order> Columns for Grouped<O> {
    const ARE_THE_SOURCES: bool = false;

    #[inline(always)]
    fn asks(&self, step: isize, len: usize, count: usize) -> Ask {
        match self.places.together <= count {
            true => Ask::of_groups(self.places.apart, len, count, self.places.together),
            false => Ask::new(step, len, count, Self::STRETCH),
        }
    }

    #[inline(always)]
    fn strip_at(&self, from: *const u8, column: usize, _step: isize) -> *const u8 {
        from.wrapping_offset(self.places.place(column))
    }

    #[inline(always)]
    fn within_strip(&self, from: *const u8, column: usize, _step: isize) -> *const u8 {
        from.wrapping_offset(self.places.place(column))
    }

    #[inline(always)]
    unsafe fn turn<L: Lanes, const N: usize>(
        &self,
        lanes: L,
        (from, _step): (*const u8, isize),
        len: usize,
        turned: *mut u8,
        ahead: Option<(Ahead, usize)>,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.places.turn::<L, N>(lanes, from, len, turned, (ahead, self.order)) }
    }
}

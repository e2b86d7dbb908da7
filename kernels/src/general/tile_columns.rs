//! Tiles whose columns become rows, past the cache: in the strips of a streamed transpose, each of some rows of tiles one below the
//! other.
//!
//! What lies in a tile is read in the order of memory, and whole, and then the next tile, along a few rows of them. From strip to strip of
//! as many rows as a tile has columns these streams were as short as a tile, which takes a third longer.
//! Elements that stay together on both sides, in another order, are one here, and are put in order as they are read; columns of such also
//! where they lie in no tiles.
//! AMD's fourth Zen goes so only where there are words, or units are put in order, and is else faster by sets of loops.
//!
//! In strips go also elements of words that are far from one another on the other side: they are columns at two distances, or rows at
//! two, in registers of a line, which ask for lines with the rows that leave.

use crate::lanes::{LANE, LINE, Lanes, Order, next_line};
use crate::loops::Loops;
use crate::nest::Loop;
use crate::processor::is_fourth_zen;
use crate::stage::starts_lines;
use crate::transpose::block::{AsIs, Places};
use crate::transpose::columns::Columns;
use crate::transpose::plane::CarriedPlane;
use crate::transpose::split::{GoOn, Split};
use crate::transpose::stream::{CARRY_BYTES, StreamTranspose, strip};
use crate::tuning::{ASKED_WITH_ROWS, Stretches};
use crate::units::Units;
use crate::walk::each_point;

/// Columns of tiles, or of words, that become rows; or columns that become rows of words.
pub(crate) struct TileColumns {
    /// Bytes of what is moved as one, and the order of its elements.
    element: usize,
    order: Option<[u8; LANE]>,
    split: Split,
}

impl TileColumns {
    /// The nest in strips; none where neither columns nor rows are those of tiles or of words, and nothing is put in an order, or where
    /// columns make up no strips.
    pub(crate) fn new<L: Lanes>(loops: &[Loop], element: usize) -> Option<TileColumns> {
        let few = Loops::of_few(loops)?;
        let units = Units::new(&few, [element as isize; 2], element);
        let element = units.count * element;
        // Words are asked for with rows. Units in another order have columns that know of no words.
        let asks = L::BYTES == LINE && element < ASKED_WITH_ROWS;
        let go_on = if asks && units.order.is_none() { GoOn::Words } else { GoOn::Tiles };
        let split = Split::new(&units, [element as isize; 2], (element, element), go_on)?;
        let split = split.in_strips(strip(element) / element);
        let fits = split.whole[0] > 0
            && split.all_rows() * element >= LINE
            && (split.goes_on() || split.rows_straddle || units.order.is_some());
        let are_words = split.places().are_ways || split.rows_straddle;
        let gains = !is_fourth_zen() || are_words || units.order.is_some();
        (fits && gains).then_some(TileColumns { element, order: units.order, split })
    }

    /// What strips leave of the nest, and how far both its places are from the nest's.
    pub(crate) fn edges(&self) -> impl Iterator<Item = (Loops, [isize; 2])> {
        self.split.edges()
    }

    /// Moves whole strips.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let Split { outer, rows, beyond, along, columns, whole, .. } = self.split;
        let aligned = starts_lines(outer.as_slice().iter().chain([&rows, &beyond, &along]), dst);
        let mut carry = vec![0u8; if aligned { 0 } else { CARRY_BYTES + LINE }];
        let carry = match aligned {
            true => std::ptr::null_mut(),
            false => next_line(carry.as_mut_ptr()),
        };
        let (places, columns) = (self.split.places(), Loop { extent: whole[0], ..columns });
        let plane = CarriedPlane { columns, rows, beyond, along, carry, stretches: Stretches::here() };
        let are_words = L::BYTES == LINE && (places.are_ways || self.split.rows_straddle);
        debug_assert!(
            are_words && self.order.is_none() || !self.split.rows_straddle,
            "others know of no words"
        );
        macro_rules! run {
            ($($e:literal: $n:literal;)*) => {
                match (self.element, self.order) {
                    // SAFETY: the caller's promise; the carries live until the end of this function.
                    $(($e, None) if $e < ASKED_WITH_ROWS && L::BYTES == LINE && are_words => unsafe {
                        let source = ColumnsOfWords { places };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
                    },
                    // SAFETY: the same.
                    ($e, None) => unsafe {
                        let source = Grouped { places, order: () };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
                    },
                    // SAFETY: the same.
                    ($e, Some(order)) if $e >= 4 => unsafe {
                        let source = Grouped { places, order };
                        each_point(lanes, outer.as_slice(), src, dst, StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
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
    type Order = O;

    const ARE_THE_SOURCES: bool = false;

    #[inline(always)]
    fn places(&self, _step: isize) -> Places {
        self.places
    }

    #[inline(always)]
    fn byte_order(&self) -> O {
        self.order
    }
}

/// Columns of words, or of which rows make words; registers are lines.
#[derive(Clone, Copy)]
struct ColumnsOfWords {
    places: Places,
}

impl Columns for ColumnsOfWords {
    type Order = ();

    const ARE_THE_SOURCES: bool = false;

    const ARE_OF_WORDS: bool = true;

    #[inline(always)]
    fn places(&self, _step: isize) -> Places {
        self.places
    }

    #[inline(always)]
    fn byte_order(&self) {}

    #[inline(always)]
    fn asked_with_rows<L: Lanes>(&self, element: usize) -> usize {
        self.strip(element) / LINE
    }
}

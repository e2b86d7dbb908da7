//! What a streamed transpose takes for the columns of a strip: those of the source, or what is made of them.

use core::marker::PhantomData;

use crate::lanes::{LANE, LINE, Lanes, Order};
use crate::transpose::ahead::{Ahead, Ask};
use crate::transpose::block::{Leave, MOST_TILES, Places, Turned};
use crate::transpose::stream::strip;
use crate::tuning::{ASKED_WITH_ROWS, Stretches};

/// The columns of a strip, some rows at a time. What is said here holds for the source's own; others say what is otherwise.
pub(crate) trait Columns: Copy {
    /// An order of the bytes of a lane, in which those of its elements are written.
    type Order: Order;

    /// True where they are the source's own; unless they are, there are whole strips only.
    const ARE_THE_SOURCES: bool = true;

    /// True where columns, or rows, are elements of words: columns take turns by which lines are asked for, or a lane has rows of several
    /// words. Registers are lines there.
    const ARE_OF_WORDS: bool = false;

    /// What one row needs of the carry buffer where registers are less than a line: the line before, and a strip.
    const ROW_BUFFER: usize = LINE + strip(2);

    /// Bytes of a strip in every destination row, as they are read, for elements of so many bytes: one line or two, or up to four of
    /// which fewer leave.
    #[inline(always)]
    fn strip(&self, element: usize) -> usize {
        strip(element)
    }

    /// Rows that are made ready together, where a register has so many.
    #[inline(always)]
    fn rows(&self, register: usize) -> usize {
        register
    }

    /// Rows of the destination that each row becomes, which are its parts.
    #[inline(always)]
    fn parts(&self) -> usize {
        1
    }

    /// How far the first row of a part is from the first one's, where rows are so far from those of the next element.
    #[inline(always)]
    fn part_at(&self, part: usize, step: isize) -> isize {
        part as isize * (step / self.parts() as isize)
    }

    /// From column to column of the source, and how many there are, where those of a strip are so many with this step.
    #[inline(always)]
    fn of_source(&self, step: isize, count: usize) -> (isize, usize) {
        (step, count)
    }

    /// True where lines of the columns are asked for at all.
    #[inline(always)]
    fn are_asked_for(&self) -> bool {
        true
    }

    /// Lines that are asked for with each row of a strip that is written; none where those of the columns are asked for as they
    /// are read.
    #[inline(always)]
    fn asked_with_rows<L: Lanes>(&self, _element: usize) -> usize {
        0
    }

    /// Lines of a column of the source that are asked for together, a power of two, where so many usually are.
    #[inline(always)]
    fn stretch(&self, usual: usize) -> usize {
        usual
    }

    /// In which order lines of the columns are asked for, which have `len` bytes each and of which a strip has so many.
    #[inline(always)]
    fn asks(&self, step: isize, len: usize, count: usize, stretches: Stretches) -> Ask {
        let places @ Places { together, apart, .. } = self.places(step);
        let stretch = self.stretch(stretches.of(len));
        let ask = match places.ways().count {
            1 if together <= count => Ask::of_groups(apart, len, count, together),
            1 => Ask::new(step, len, count, stretch),
            ways => Ask::new(apart, len, count / ways, stretch),
        };
        ask.to_first_level(stretches.to_first_level)
    }

    /// Where columns of the source lie, whose nest has so many bytes from one to the next.
    #[inline(always)]
    fn places(&self, step: isize) -> Places {
        Places::even(step)
    }

    /// The first column of a strip that is so many columns behind the one at `from`.
    #[inline(always)]
    fn strip_at(&self, from: *const u8, column: usize, step: isize) -> *const u8 {
        from.wrapping_offset(self.places(step).place(column))
    }

    /// In which order the parts of an element are written.
    fn byte_order(&self) -> Self::Order;

    /// Where the rows of a part that stand `before` bytes behind the first ones of those made ready at `from` lie.
    #[inline(always)]
    fn place(from: *const u8, _part: usize, before: usize) -> *const u8 {
        from.wrapping_add(before)
    }

    /// Makes `rows` rows of a strip ready: where its columns of `E` bytes an element then lie; and what is yet to be asked for ahead,
    /// if anything is.
    ///
    /// # Safety
    /// So many elements must be readable at each column of a strip, from the place given and with its step.
    #[inline(always)]
    unsafe fn ready<L: Lanes, const E: usize>(
        &self,
        _lanes: L,
        (from, step): (*const u8, isize),
        _rows: usize,
        ahead: Ahead,
    ) -> ((*const u8, Places), Option<Ahead>) {
        ((from, self.places(step)), self.are_asked_for().then_some(ahead))
    }
}

/// The source's own.
#[derive(Clone, Copy, Default)]
pub(crate) struct SourceColumns {
    pub(crate) asks: Asks,
}

/// With what lines of columns are asked for.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Asks {
    /// Not at all: the hardware follows all of them.
    Never,
    /// With those that are read.
    #[default]
    WithReads,
    /// With the rows that are written, if registers are lines.
    WithRows,
}

impl Columns for SourceColumns {
    type Order = ();

    #[inline(always)]
    fn byte_order(&self) {}

    #[inline(always)]
    fn asked_with_rows<L: Lanes>(&self, element: usize) -> usize {
        let asks = self.asks == Asks::WithRows && element < ASKED_WITH_ROWS && L::BYTES == LINE;
        if asks { self.strip(element) / LINE } else { 0 }
    }

    #[inline(always)]
    fn are_asked_for(&self) -> bool {
        self.asks != Asks::Never
    }
}

/// Columns of a strip of elements of `src` bytes that become `dst` as they leave: two lines of every row, or one where these are of
/// bytes, or take more registers than a row may have.
#[inline(always)]
pub(crate) const fn leaving_columns(src: usize, dst: usize) -> usize {
    let most = MOST_TILES * LINE / src;
    if strip(dst) / dst <= most { strip(dst) / dst } else { most }
}

/// Those of elements that are converted as they leave, in registers of a line.
#[derive(Clone, Copy)]
pub(crate) struct LeavingColumns<W, const WORDS: bool> {
    pub(crate) places: Places,
    pub(crate) leave: PhantomData<W>,
}

impl<W: Leave, const WORDS: bool> Columns for LeavingColumns<W, WORDS> {
    type Order = ();

    const ARE_OF_WORDS: bool = WORDS;

    #[inline(always)]
    fn byte_order(&self) {}

    #[inline(always)]
    fn strip(&self, element: usize) -> usize {
        leaving_columns(element, 2 * element / W::TILES) * element
    }

    #[inline(always)]
    fn places(&self, _step: isize) -> Places {
        Places { are_ways: WORDS && self.places.are_ways, ..self.places }
    }

    #[inline(always)]
    fn asked_with_rows<L: Lanes>(&self, element: usize) -> usize {
        self.strip(element) / LINE
    }
}

/// As [`SourceColumns`], of which there are fewer rows than make a line, for registers that are less than one: of so short columns
/// many make a strip, so that some lines of a row are written together.
#[derive(Clone, Copy)]
pub(crate) struct ShortColumns;

impl ShortColumns {
    /// Columns of a strip: as many as its buffer takes registers.
    pub(crate) const COUNT: usize = size_of::<Turned>() / (LINE / 2);
}

impl Columns for ShortColumns {
    type Order = ();

    #[inline(always)]
    fn byte_order(&self) {}

    const ROW_BUFFER: usize = LINE + ShortColumns::COUNT * LANE / 2;

    #[inline(always)]
    fn strip(&self, element: usize) -> usize {
        ShortColumns::COUNT * element
    }
}

/// The columns of a strip that are read by turns, some whole lines of each, and of which blocks are made: lanes of `N` rows, one
/// behind the other, as [`Lanes::turn`] leaves them.
pub(crate) trait Turns: Columns {
    /// True where lines are asked for once for some rows: where it takes longer to say which than the memory gains from having
    /// them one by one.
    const ASKS_FOR_ROWS: bool = false;

    /// Bytes of a strip in every destination row, of so many that are left, and of so many at most: whole lines.
    fn width(&self, most: usize, left: usize) -> usize;

    /// Lines of each column that a turn reads, where so many would be best, of columns with so many lines.
    fn lines(&self, depth: usize, lines: usize) -> usize;

    /// In which order a turn of so many lines asks for those so many bytes behind the next one's, of columns with `len` bytes each, of
    /// which a strip has so many.
    fn order(&self, step: isize, len: usize, count: usize, lines: usize, beyond: usize) -> Ask;

    /// Asks for as many lines as are read for `count` lines of the destination, the first of which has this number.
    fn ask<L: Lanes>(&self, lanes: L, ahead: Ahead, first: usize, count: usize);

    /// Makes the blocks of a turn: those of all parts of the first line of each column, then those of the next one.
    ///
    /// # Safety
    /// So many lines must be readable at each column of a strip, from the place given and with its step; there must be room for as
    /// many blocks.
    unsafe fn fill<L: Lanes, const E: usize, const N: usize>(
        &self,
        lanes: L,
        from: (*const u8, isize),
        count: (usize, usize),
        turn: *mut u8,
    );
}

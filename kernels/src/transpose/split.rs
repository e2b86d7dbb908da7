//! Nests as planes of rows and columns, of which strips are made.

use crate::loops::{Loops, ONCE};
use crate::nest::Loop;
use crate::transpose::ahead::lie_together;
use crate::transpose::block::Places;
use crate::transpose::continues;
use crate::transpose::stream::strip;
use crate::units::Units;

/// Loops over a part of a nest, and how far both places of the part are from those of the nest.
type Part = (Loops, [isize; 2]);

/// Which columns may go on in a further loop of the destination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum GoOn {
    /// None.
    Never,
    /// Those of tiles in the tiles below, which are then read in the order of memory, along rows of tiles.
    Tiles,
    /// These, and elements of a few rows that are woven to words, which lie anywhere; and rows may do so, too, of which a lane has several.
    Words,
}

/// The most elements of a word.
const WORD: usize = 8;

/// A nest as planes, and how much of them strips take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Split {
    pub(crate) outer: Loops,
    /// Those over the elements of what stays together on both sides.
    pub(crate) unit: Loops,
    /// Contiguous in the source, what continues them there, and where all of them are found again.
    pub(crate) rows: Loop,
    pub(crate) beyond: Loop,
    pub(crate) along: Loop,
    /// Contiguous in the destination, and what continues them there.
    pub(crate) columns: Loop,
    pub(crate) further: Loop,
    /// True where a lane of rows straddles what continues them: rows are elements of words.
    pub(crate) rows_straddle: bool,
    /// Columns that make up strips, and rows that make up bytes.
    pub(crate) whole: [usize; 2],
}

/// True where steps are those from element to element of a word.
fn is_word(l: Loop) -> bool {
    l.extent.is_power_of_two() && l.extent <= WORD
}

impl Split {
    /// The plane of a nest of units, which are an element of so many bytes in the destination, and follow one another in so many bytes
    /// of either side, and of which no `lane` of elements of so many bytes straddles what continues the rows, unless they are those of
    /// words; none without rows and columns, or where no kernel has such elements. Columns go on in a further loop of the destination as they may.
    pub(crate) fn new(
        units: &Units,
        [src_unit, dst_unit]: [isize; 2],
        (element, lane): (usize, usize),
        may_go_on: GoOn,
    ) -> Option<Split> {
        if !matches!(element, 1 | 2 | 4 | 8 | 16) {
            return None;
        }
        let mut outer = units.loops;
        let rows = outer.take(|l| l.src_stride == src_unit)?;
        let columns = outer.take(|l| l.dst_stride == dst_unit)?;
        let unit = units.inner;
        let alone = Split {
            outer,
            unit,
            rows,
            beyond: ONCE,
            along: ONCE,
            columns,
            further: ONCE,
            rows_straddle: false,
            whole: [0; 2],
        };
        let mut split = alone;
        split.take_beyond(lane, may_go_on);
        let width = strip(element) / element;
        let fits = columns.extent <= width && width.is_multiple_of(columns.extent);
        if may_go_on >= GoOn::Tiles && fits && split.are_tiles() {
            split.go_on();
        } else if may_go_on >= GoOn::Words && fits && is_word(columns) {
            // What comes next in the destination before what does in the source: the columns of a strip are more then.
            let mut words = alone;
            if let Some(further) = words.take_further() {
                words.further = further;
                words.take_beyond(lane, may_go_on);
                return Some(words);
            }
        }
        Some(split)
    }

    /// Takes the loops by which columns go on in the tiles below, and where these are found again in the next tiles.
    fn go_on(&mut self) {
        let tile = self.columns.src_stride * self.columns.extent as isize;
        let Some(further) = self.take_further() else { return };
        self.further = further;
        self.along = self.outer.take(|l| l.src_stride == tile).unwrap_or(ONCE);
        // What comes next in the source is walked next.
        let next = further.src_stride * further.extent as isize;
        if let Some(next) = self.outer.take(|l| l.src_stride == next) {
            self.outer.push(next);
        }
    }

    /// True where columns lie together in the source, as those of tiles do.
    fn are_tiles(&self) -> bool {
        lie_together(Loop { extent: self.all_rows(), ..self.rows }, self.columns)
    }

    /// Takes the loop by which rows go on in the source, if one does; a lane of elements of so many bytes straddles both only where rows
    /// are those of words.
    fn take_beyond(&mut self, lane: usize, may_go_on: GoOn) {
        let rows = self.rows;
        let may_straddle = may_go_on >= GoOn::Words && is_word(rows);
        if let Some(beyond) = self.outer.take(|l| continues(rows, *l, lane, may_straddle)) {
            self.beyond = beyond;
            self.rows_straddle = !continues(rows, beyond, lane, false);
        }
    }

    /// Takes the loop by which columns go on in the destination, if one does.
    fn take_further(&mut self) -> Option<Loop> {
        let behind = self.columns.dst_stride * self.columns.extent as isize;
        self.outer.take(|l| l.dst_stride == behind && l.extent > 1)
    }

    /// The same with strips of so many columns.
    pub(crate) fn in_strips(self, width: usize) -> Split {
        let columns = self.columns.extent * self.further.extent;
        Split { whole: [columns / width * width, self.rows.extent], ..self }
    }

    /// True where columns go on in the destination, in tiles below or in words.
    pub(crate) fn goes_on(&self) -> bool {
        self.further.extent > 1
    }

    /// Rows that lie one behind the other in the source.
    pub(crate) fn all_rows(&self) -> usize {
        self.rows.extent * self.beyond.extent
    }

    /// Where columns lie in the source.
    pub(crate) fn places(&self) -> Places {
        let step = self.columns.src_stride;
        match self.goes_on() {
            true => Places {
                step,
                together: self.columns.extent,
                apart: self.further.src_stride,
                are_ways: !self.are_tiles(),
            },
            false => Places::even(step),
        }
    }

    /// What is left beside the strips: columns, and of packed slots rows.
    pub(crate) fn edges(&self) -> impl Iterator<Item = Part> {
        let [columns, rows] = self.whole;
        let part = |rows: Loop, [columns, further]: [Loop; 2]| {
            // Those of one step might be too many.
            let loops = [self.along, further, self.beyond, rows, columns];
            let mut part = self.outer;
            let loops = loops.iter().chain(self.unit.as_slice());
            loops.filter(|l| l.extent > 1).for_each(|&l| part.push(l));
            part
        };
        let behind = |l: Loop, count: usize| {
            let places = [l.src_stride, l.dst_stride].map(|stride| count as isize * stride);
            (Loop { extent: l.extent - count, ..l }, places)
        };
        let once = |columns: Loop| [columns, ONCE];
        // Of columns that go on, whole loops of them are left.
        let (left, behind_columns, whole) = match self.goes_on() {
            false => {
                let (left, places) = behind(self.columns, columns);
                (once(left), places, once(Loop { extent: columns, ..self.columns }))
            }
            true => {
                let steps = columns / self.columns.extent;
                let (left, places) = behind(self.further, steps);
                let whole = [self.columns, Loop { extent: steps, ..self.further }];
                ([self.columns, left], places, whole)
            }
        };
        let (rows_left, behind_rows) = behind(self.rows, rows);
        let are_left = left.iter().all(|l| l.extent > 0);
        let right = are_left.then(|| (part(self.rows, left), behind_columns));
        let below = (rows_left.extent > 0).then(|| (part(rows_left, whole), behind_rows));
        right.into_iter().chain(below)
    }
}

//! Nests as planes of rows and columns, of which strips are made.

use crate::loops::{Loops, ONCE};
use crate::nest::Loop;

/// Loops over a part of a nest, and how far both places of the part are from those of the nest.
type Part = (Loops, [isize; 2]);

/// A nest as planes, and how much of them strips take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    pub(super) outer: Loops,
    /// Those over the elements of what stays together on both sides.
    pub(super) unit: Loops,
    /// Contiguous in the source, what continues them there, and where all of them are found again.
    pub(super) rows: Loop,
    pub(super) beyond: Loop,
    pub(super) along: Loop,
    /// Contiguous in the destination, and what continues them there.
    pub(super) columns: Loop,
    pub(super) further: Loop,
    /// Columns that make up strips, and rows that make up bytes.
    pub(super) whole: [usize; 2],
}

impl Split {
    /// What is left beside the strips: columns, and of packed slots rows.
    pub(super) fn edges(&self) -> impl Iterator<Item = Part> {
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
        let (left, behind_columns, whole) = match self.further.extent {
            1 => {
                let (left, places) = behind(self.columns, columns);
                (once(left), places, once(Loop { extent: columns, ..self.columns }))
            }
            _ => {
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

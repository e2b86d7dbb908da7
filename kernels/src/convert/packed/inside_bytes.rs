//! Transposes of packed slots to long rows that start inside bytes, past the cache: the whole bytes of rows go straight from strips to
//! lines, and what is before and behind them by way of blocks.

use crate::convert::converter::{Work, each_place};
use crate::convert::packed::blocks::{PackedBlocks, Part};
use crate::convert::packed::strips::PackedStrips;
use crate::convert::rows::Place;
use crate::loops::Loops;

/// Slots of a byte: those of others are no faster so.
const SLOTS: usize = 2;

/// A nest whose rows start inside bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InsideBytes {
    /// Whole bytes.
    strips: PackedStrips,
    /// All of it, of which parts are moved.
    blocks: PackedBlocks,
}

impl InsideBytes {
    /// The nest, where its rows are long.
    pub(crate) fn new(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<InsideBytes> {
        let strips = PackedStrips::inside_bytes(work, loops, places)?;
        let blocks = PackedBlocks::new(work, loops, places)?;
        // Of a destination whose slots are written more than once, blocks may take other loops.
        let are_alike = blocks.begins_with(strips.split.rows, strips.split.columns);
        are_alike.then_some(InsideBytes { strips, blocks })
    }

    /// Moves all of the nest.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run(&self, src: Place, dst: Place) {
        let mut room = self.blocks.room::<SLOTS>();
        each_place(self.strips.split.outer.as_slice(), src, dst, &mut |src, dst| {
            // SAFETY: a plane of the nest. Bytes of which a row has a part are written by way of blocks only.
            unsafe {
                self.strips.run_inside_bytes::<SLOTS>(src, dst, room.made.start());
                for part in self.left() {
                    self.blocks.part::<SLOTS>(part, src, dst, &mut room);
                }
            }
        });
    }

    /// Rows and columns that strips leave: the slots before the first whole bytes, those behind the last ones, and rows that are too few
    /// for a part.
    fn left(&self) -> [(Part, Part); 3] {
        let split = &self.strips.split;
        let [columns, rows] = split.whole;
        let all = Part { first: 0, count: split.columns.extent };
        let strips = Part { first: 0, count: rows };
        [
            (strips, Part { first: 0, count: SLOTS }),
            (strips, Part { first: columns, count: all.count - columns }),
            (Part { first: rows, count: split.rows.extent - rows }, all),
        ]
    }
}

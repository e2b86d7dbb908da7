//! Elements that become narrower, converted block by block in the order of the source and moved from there past the cache: what moves
//! elements has ways of its own to transpose them in lines, and a block is as much as the second-level cache keeps.

use super::converter::Work;
use super::flush::{Buffer, streams};
use super::permutation::{Permutation, Permutations};
use super::rows::{Form, Place};
use super::tile::{Cut, Pass, each_tile, part};
use crate::loops::{Loops, MAX_LOOPS};
use crate::mover::Mover;
use crate::nest::Loop;
use crate::tuning::{CONVERTED_BLOCK, CONVERTED_RUN};

/// A nest that goes block by block.
pub(super) struct ConvertedBlocks<'a> {
    work: Work<'a>,
    loops: &'a [Loop],
    cut: Cut,
}

impl<'a> ConvertedBlocks<'a> {
    /// Where elements become narrower, runs of either side are long, and no few steps permute elements in the first-level cache.
    pub(super) fn new(
        work: Work<'a>,
        loops: &'a [Loop],
        [src, dst]: [Place; 2],
    ) -> Option<ConvertedBlocks<'a>> {
        let units @ [src_unit, dst_unit] = work.units();
        let narrows = src.bits.is_none() && dst.bits.is_none() && dst_unit < src_unit;
        if !narrows || !work.stream || !streams(work.level) {
            return None;
        }
        let wanted = units.map(|unit| CONVERTED_RUN / unit.unsigned_abs());
        let cut = Cut::with_runs(loops, units, wanted, (wanted[1], 0));
        let is_long = cut.runs.iter().zip(wanted).all(|(&run, wanted)| 2 * run >= wanted);
        let fits = cut.room * dst_unit.unsigned_abs() <= CONVERTED_BLOCK;
        let blocks = ConvertedBlocks { work, loops, cut };
        let goes_at_once = || {
            let moves = blocks.moves(&cut.chunks, dst_unit);
            Permutations::new(moves.as_slice(), dst_unit.unsigned_abs()).as_slice().len() == 1
        };
        (is_long && fits && goes_at_once()).then_some(blocks)
    }

    /// From where the elements of a block of these extents are in the room to their places.
    fn moves(&self, extents: &[usize; MAX_LOOPS], unit: isize) -> Loops {
        part(self.loops, extents, |i| [self.cut.src_order[i] * unit, self.loops[i].dst_stride])
    }

    /// The rows of the source that a block is made of, in the order of memory.
    fn rows(&self, extents: &[usize; MAX_LOOPS], [src_unit, dst_unit]: [isize; 2]) -> Pass {
        let strides = |i: usize| [self.loops[i].src_stride, self.cut.src_order[i] * dst_unit];
        let mut rows: Loops = part(self.loops, extents, strides);
        rows.sort_by_key(|l| core::cmp::Reverse(l.src_stride.unsigned_abs()));
        Pass::new(rows.as_slice(), [src_unit, dst_unit])
    }

    /// Converts all of them.
    ///
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap. A fence is then due.
    pub(super) unsafe fn run(&self, src: Place, dst: Place) {
        let (work, units @ [_, unit]) = (self.work, self.work.units());
        let mut room = Buffer::unwritten(self.cut.room * unit.unsigned_abs());
        let room = Place::near(room.start());
        each_tile(self.loops, &self.cut, [src, dst], |extents, [src, dst], next| {
            let rows = self.rows(extents, units);
            let moves = self.moves(extents, unit);
            let Permutation { family, bytes, loops } =
                Permutation::new(moves.as_slice(), unit.unsigned_abs());
            let mover = Mover { family, element_bytes: bytes, level: work.level, stream: work.stream };
            // SAFETY: the places of a block are places of the nest, and there is room for its elements.
            unsafe {
                work.convert(&work.conversion, &rows, Form::Plain, [src, room], next);
                mover.dispatch(loops.as_slice(), room.byte_of(0).cast_const(), dst.byte_of(0));
            }
        });
    }
}

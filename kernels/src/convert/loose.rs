//! Nests without rows on either side: elements are gathered, converted as one row, and scattered.

use core::cmp::Reverse;
use core::mem::MaybeUninit;

use super::converter::Work;
use super::parts::Parts;
use super::passes::SHORT;
use super::permutation::Permutation;
use super::rows::{Look, Place};
use super::small::Room;
use super::tile::Cut;
use crate::lanes::LINE;
use crate::loops::Loops;
use crate::mover::Mover;
use crate::nest::Loop;
use crate::tuning::SMALL;

impl Work<'_> {
    /// True where neither side has runs worth a row, nor a line, and elements change, have whole bytes, and none has a factor of its own,
    /// which its place would tell.
    pub(super) fn is_loose(&self, cut: &Cut, src: Place, dst: Place) -> bool {
        let width = self.conversion.src_bytes().max(self.conversion.dst_bytes());
        let is_short = |&run: &usize| run < SHORT && run * width <= LINE;
        let changes = !self.has_factors() && !self.conversion.is_identity();
        cut.runs.iter().all(is_short) && src.bits.is_none() && dst.bits.is_none() && changes
    }

    /// Converts so many elements at a time as there is room for. Not inlined, as that is some pages of the stack.
    ///
    /// # Safety
    /// Every slot that the loops reach from the two places must be valid there, without overlap; slots must have whole bytes.
    #[inline(never)]
    pub(super) unsafe fn loose(&self, loops: &[Loop], src: Place, dst: Place) {
        let most = SMALL / self.conversion.src_bytes().max(self.conversion.dst_bytes());
        let mut order = Loops::of(loops);
        order.sort_by_key(|l| Reverse(l.dst_stride.unsigned_abs()));
        let mut rooms = [const { MaybeUninit::<Room>::uninit() }; 2];
        let rooms = rooms.each_mut().map(|room| Place::near(room.as_mut_ptr().cast()));
        let parts = Parts::new(order.as_slice(), most);
        parts.each(src, dst, &mut |steps, [src, dst]| {
            // SAFETY: a part of the loops, of no more elements than there is room for.
            unsafe { self.by_rooms(&parts.part(steps), src, dst, rooms) };
        });
    }

    /// Gathers the elements of some loops, converts them, and scatters them.
    ///
    /// # Safety
    /// As [`Work::loose`]; each room must have place for all of them.
    unsafe fn by_rooms(&self, loops: &Loops, src: Place, dst: Place, [gathered, converted]: [Place; 2]) {
        let widths @ [from, to] = [self.conversion.src_bytes(), self.conversion.dst_bytes()];
        let [mut gather, mut scatter] = [Loops::default(); 2];
        let mut count = 1;
        for &l in loops.as_slice().iter().rev() {
            let [src_stride, dst_stride] = widths.map(|width| (count * width) as isize);
            gather.push(Loop { dst_stride: src_stride, ..l });
            scatter.push(Loop { src_stride: dst_stride, ..l });
            count *= l.extent;
        }
        let moved = |loops: Loops, width: usize, src: Place, dst: Place| {
            let Permutation { family, bytes, loops } = Permutation::new(loops.as_slice(), width);
            let mover = Mover { family, element_bytes: bytes, level: self.level, stream: false };
            // SAFETY: the caller's promise; a room has place for all elements.
            unsafe { mover.dispatch(loops.as_slice(), src.byte_of(0), dst.byte_of(0)) };
        };
        moved(gather, from, src, gathered);
        // SAFETY: the elements just gathered, and room for what becomes of them.
        unsafe { self.rows(gathered, converted, 1, count, Look::Nowhere) };
        moved(scatter, to, converted, dst);
    }
}

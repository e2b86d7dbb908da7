//! Nests that fit into a part of the first-level cache: one tile, which need not be cut.

use core::mem::MaybeUninit;

use super::converter::Work;
use super::passes::SHORT;
use super::permutation::Permutation;
use super::rows::{Form, Place};
use super::tile::Pass;
use crate::loops::Loops;
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::tuning::{LEAST_ELEMENTS, SMALL};

/// Room for the elements of a nest, or a part of one, where they lie one behind the other.
#[repr(align(64))]
#[allow(dead_code, reason = "reached by its address only")]
pub(super) struct Room([u8; SMALL]);

/// The two passes of a nest, by way of a room: the narrower form of its elements is permuted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    converted: Pass,
    permuted: Permutation,
}

impl Work<'_> {
    /// The passes of a nest of whole bytes that is small, and stays in the cache; none where it is not, or where elements stay as they are,
    /// have factors of their own or do not lie in rows.
    pub(super) fn as_one_tile(&self, loops: &[Loop]) -> Option<Passes> {
        let bytes = |bytes, l: &Loop| l.extent.saturating_mul(bytes);
        let width = self.conversion.src_bytes().min(self.conversion.dst_bytes());
        let is_small = loops.iter().fold(width, bytes) <= SMALL;
        if !is_small || self.has_factors() || self.conversion.is_identity() {
            return None;
        }
        let mut passes = self.passes_of(loops, width);
        let Passes { converted, permuted } = &mut passes;
        // Many elements that no family moves are moved step by step.
        let elements = loops.iter().map(|l| l.extent).product::<usize>();
        let by_steps = permuted.family == Family::Strided && elements >= LEAST_ELEMENTS;
        if converted.run < SHORT || by_steps {
            return None;
        }
        // The last loop is gone through at once.
        converted.rows.sort_by_key(|l| l.extent);
        Some(passes)
    }

    /// Converts and permutes a nest by its passes. Not inlined, as the room is some pages of the stack.
    ///
    /// # Safety
    /// Every slot of the nest that the passes were made for must be valid at the two places, without overlap.
    #[inline(never)]
    pub(super) unsafe fn by_passes(&self, passes: &Passes, src: Place, dst: Place) {
        let Passes { converted, permuted } = passes;
        let mut room = MaybeUninit::<Room>::uninit();
        let between = Place::near(room.as_mut_ptr().cast());
        let mover = Mover {
            family: permuted.family,
            element_bytes: permuted.bytes,
            level: self.level,
            stream: false,
        };
        let permuted = permuted.loops.as_slice();
        // SAFETY: the caller's promise; the room has place for all elements, and one pass writes what the other reads.
        unsafe {
            if self.narrows() {
                self.convert(&self.conversion, converted, Form::Plain, [src, between], None);
                mover.dispatch(permuted, between.base, dst.byte_of(0));
            } else {
                mover.dispatch(permuted, src.byte_of(0), between.base);
                self.convert(&self.conversion, converted, Form::Plain, [between, dst], None);
            }
        }
    }

    fn narrows(&self) -> bool {
        self.conversion.dst_bytes() <= self.conversion.src_bytes()
    }

    /// Elements lie between the passes as the source has them where they narrow, and else as the destination has them.
    fn passes_of(&self, loops: &[Loop], width: usize) -> Passes {
        let narrows = self.narrows();
        let stride = |l: &Loop| if narrows { l.src_stride } else { l.dst_stride };
        let mut order = Loops::of(loops);
        order.sort_by_key(|l| stride(l).unsigned_abs());
        let mut passes = Passes {
            converted: Pass { run: 1, rows: Loops::default() },
            permuted: Permutation { family: Family::Strided, bytes: width, loops: Loops::default() },
        };
        let Passes { converted, permuted } = &mut passes;
        let mut dense = width as isize;
        for &l in order.as_slice() {
            let (into, out) = (Loop { dst_stride: dense, ..l }, Loop { src_stride: dense, ..l });
            converted.rows.push(if narrows { into } else { out });
            permuted.loops.push(if narrows { out } else { into });
            dense *= l.extent as isize;
        }
        converted.lengthen(self.units());
        permuted.choose();
        passes
    }
}

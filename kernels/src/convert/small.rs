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
struct Passes {
    converted: Pass,
    permuted: Permutation,
}

impl Work<'_> {
    /// Converts and permutes a nest that is small; false where it is not, or passes the cache, or where elements are not whole bytes, stay
    /// as they are, have factors of their own or do not lie in rows: nothing was done then. Not inlined, as the room is some pages of the
    /// stack.
    ///
    /// # Safety
    /// Every slot that the loops reach from the two places must be valid there, without overlap.
    #[inline(never)]
    pub(super) unsafe fn as_one_tile(&self, loops: &Loops, src: Place, dst: Place) -> bool {
        let [src_bytes, dst_bytes] = [self.conversion.src_bytes(), self.conversion.dst_bytes()];
        let bytes = |bytes, l: &Loop| l.extent.saturating_mul(bytes);
        let is_small = loops.as_slice().iter().fold(src_bytes.min(dst_bytes), bytes) <= SMALL;
        let is_packed = src.bits.is_some() || dst.bits.is_some();
        if !is_small || is_packed || self.stream || self.has_factors() || self.conversion.is_identity() {
            return false;
        }
        let narrows = dst_bytes <= src_bytes;
        let Passes { mut converted, permuted } = self.passes_of(loops, narrows);
        // Many elements that no family moves are moved step by step.
        let elements = loops.as_slice().iter().map(|l| l.extent).product::<usize>();
        let by_steps = permuted.family == Family::Strided && elements >= LEAST_ELEMENTS;
        if converted.run < SHORT || by_steps {
            return false;
        }
        // The last loop is gone through at once.
        converted.rows.sort_by_key(|l| l.extent);
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
            if narrows {
                self.convert(&self.conversion, &converted, Form::Plain, [src, between], None);
                mover.dispatch(permuted, between.base, dst.byte_of(0));
            } else {
                mover.dispatch(permuted, src.byte_of(0), between.base);
                self.convert(&self.conversion, &converted, Form::Plain, [between, dst], None);
            }
        }
        true
    }

    /// Elements lie between the passes as the source has them where they narrow, and else as the destination has them.
    fn passes_of(&self, loops: &Loops, narrows: bool) -> Passes {
        let width = self.conversion.src_bytes().min(self.conversion.dst_bytes());
        let stride = |l: &Loop| if narrows { l.src_stride } else { l.dst_stride };
        let mut order = *loops;
        order.sort_by_key(|l| stride(l).unsigned_abs());
        let [mut converted, mut permuted] = [Loops::default(); 2];
        let mut dense = width as isize;
        for &l in order.as_slice() {
            let (into, out) = (Loop { dst_stride: dense, ..l }, Loop { src_stride: dense, ..l });
            converted.push(if narrows { into } else { out });
            permuted.push(if narrows { out } else { into });
            dense *= l.extent as isize;
        }
        Passes { converted: Pass::new(converted, self.units()), permuted: Permutation::new(permuted, width) }
    }
}

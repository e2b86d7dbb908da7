//! Transposes of elements that are converted as they leave a turn, in registers.
//!
//! Stores leave a core in order. What is converted before, and stored, waits behind the lines that left; what is computed between
//! two of them costs nothing, as the memory takes longer.

use core::mem::MaybeUninit;

use super::multiply::Find;
use super::words::Means;
use super::words::cast_rows::Cast;
use super::words::casts::{Read, Write};
use crate::lanes::{LINE, Lanes, Task};
use crate::nest::Loop;
use crate::transpose::block::{Leave, MOST_TILES};
use crate::transpose::burst::BurstTranspose;
use crate::transpose::columns::SourceColumns;
use crate::transpose::plane::CarriedPlane;
use crate::walk::Walk;

/// A plane at every point of outer loops, of whole lines of every row, and both places of the first one.
#[derive(Clone, Copy)]
pub(super) struct Turned<'a> {
    pub(super) outer: &'a [Loop],
    /// Elements that stay together.
    pub(super) run: usize,
    pub(super) plane: CarriedPlane,
    pub(super) places: (*const u8, *mut u8),
}

/// Elements through words, a line at a time.
#[derive(Clone, Copy)]
struct Leaving<C>(C);

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Leave for Leaving<Cast<'a, M, R, W, F>> {
    // Of pairs without turns any number.
    const TILES: usize = if Cast::<M, R, W, F>::TURNS { 2 * R::BYTES / W::BYTES } else { 1 };

    #[inline(always)]
    unsafe fn line<L: Lanes, const PAST: bool>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        to: *mut u8,
    ) {
        let mut block = MaybeUninit::<[L::Vector; MOST_TILES]>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        let mut factors = self.0.factors();
        // SAFETY: there is room for the registers, which are the elements of a line.
        unsafe {
            let mut i = 0;
            while i < Self::TILES {
                lanes.store(block.add(i * L::BYTES), registers[i]);
                i += 1;
            }
            match W::BYTES {
                2 => self.0.block::<_, { LINE / 2 }>(&mut factors, block, (0, 0), (to, PAST)),
                4 => self.0.block::<_, { LINE / 4 }>(&mut factors, block, (0, 0), (to, PAST)),
                _ => self.0.block::<_, { LINE / 8 }>(&mut factors, block, (0, 0), (to, PAST)),
            }
        }
    }
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// True where there are such turns, and they pay: of registers of half a line, without factors, to elements of twice as many
    /// bytes, or from eight to four; where AVX-512's registers are better, only between two and four bytes. Others take as long in
    /// strips.
    pub(super) const TURNS: bool = !F::MULTIPLIES
        && !R::IS_ANY
        && 2 * M::Lanes::BYTES == LINE
        && match (M::ONLY_TURNS, R::BYTES, W::BYTES) {
            (true, 2 | 4, 2 | 4) | (false, 2, 4) | (false, 4, 8) | (false, 8, 4) => true,
            (false, 1, 2) => W::IS_EXACT_TOP,
            _ => false,
        };

    /// Transposes; false where there is no way for as many elements that stay together, or for what they are.
    ///
    /// # Safety
    /// All places of all loops must be valid on both sides, without overlap; without a carry buffer every row of the destination
    /// must start a line. A fence is then due.
    #[inline(always)]
    pub(super) unsafe fn turn(self, turned: &Turned<'_>) -> bool {
        // A complex number's parts are no rows.
        if self.rows.conversion.parts() > 1 {
            return false;
        }
        // Pairs are words that become those of tiles of 16 bits; bytes that do are as fast in strips.
        let is_pair = turned.run == 2 && W::BYTES == 2;
        // SAFETY: the caller's promise.
        unsafe {
            match R::BYTES {
                4 if is_pair => self.turn_of::<8, 2>(turned),
                _ if turned.run > 1 => return false,
                1 => self.turn_of::<1, 16>(turned),
                2 => self.turn_of::<2, 8>(turned),
                4 => self.turn_of::<4, 4>(turned),
                _ => self.turn_of::<8, 2>(turned),
            }
        }
        true
    }

    /// # Safety
    /// As [`Cast::turn`], of elements of `E` bytes.
    #[inline(always)]
    unsafe fn turn_of<const E: usize, const N: usize>(self, turned: &Turned<'_>) {
        let Turned { outer, plane, places: (src, dst), .. } = *turned;
        let kernel = BurstTranspose::<E, N, true, _, _> {
            source: SourceColumns::default(),
            leave: Leaving(self),
            plane,
        };
        // Not by way of a region of its own, which would lack what the pair's has.
        // SAFETY: the caller's promise.
        unsafe { Walk { loops: outer, src, dst, kernel, fence: false }.run(self.means.lanes()) };
    }
}

#[cfg(test)]
mod tests;

//! Transposes of elements that are converted as they leave, in registers: a turn, or a strip where registers are a line.
//!
//! Stores leave a core in order. What is converted before, and stored, waits behind the lines that left; what is computed between
//! two of them costs nothing, as the memory takes longer.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use self::factors::FactorsOf;
use super::multiply::{Find, Multiply};
use super::words::Means;
use super::words::cast_rows::Cast;
use super::words::casts::{Read, Write};
use crate::lanes::{LINE, Lanes, Task};
use crate::nest::Loop;
use crate::transpose::block::{Leave, MOST_TILES, Places};
use crate::transpose::burst::BurstTranspose;
use crate::transpose::columns::{LeavingColumns, SourceColumns, leaving_columns};
use crate::transpose::plane::CarriedPlane;
use crate::transpose::stream::StreamTranspose;
use crate::walk::Walk;

/// A plane at every point of outer loops, of whole lines of every row, and both places of the first one.
#[derive(Clone, Copy)]
pub(super) struct Turned<'a> {
    pub(super) outer: &'a [Loop],
    /// Elements that stay together.
    pub(super) run: usize,
    pub(super) plane: CarriedPlane,
    /// Where the columns lie.
    pub(super) columns: Places,
    /// True where columns, or rows, are elements of words.
    pub(super) are_of_words: bool,
    /// True where the plane goes by turns, in place of strips.
    pub(super) by_turns: bool,
    pub(super) places: (*const u8, *mut u8),
    /// Where factors are found.
    pub(super) factors: FactorsOf,
}

/// Bytes of a register of half a line.
const HALF_LINE: usize = LINE / 2;

/// True for elements of so many bytes that leave turns half as wide, as lines that are joined in registers where rows start none.
pub(super) const fn is_joined(src: usize, dst: usize) -> bool {
    src == 2 * dst && dst > 1
}

/// Elements through words, a line at a time.
#[derive(Clone, Copy)]
struct Leaving<C>(C);

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Leave for Leaving<Cast<'a, M, R, W, F>> {
    // Of pairs that do not leave so any number.
    const TILES: usize =
        if Cast::<M, R, W, F>::TURNS || Cast::<M, R, W, F>::LEAVES { 2 * R::BYTES / W::BYTES } else { 2 };

    // Integers are rounded in few instructions.
    const IS_LONG: bool = F::MULTIPLIES && R::BYTES <= 2 && !R::IS_WHOLE;

    type Found = F::Found;

    #[inline(always)]
    fn found(self, from: *const u8) -> F::Found {
        match self.0.rows.turned {
            Some(turned) => {
                let columns = leaving_columns(R::BYTES, W::BYTES);
                F::found(&self.0.rows.scale, turned, (from, R::BYTES), columns)
            }
            None => F::Found::default(),
        }
    }

    #[inline(always)]
    fn made<L: Lanes>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        (found, row, column): (&F::Found, usize, usize),
    ) -> [L::Vector; 2] {
        debug_assert!(L::BYTES == LINE);
        let mut block = MaybeUninit::<[L::Vector; MOST_TILES + 2]>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        let to = block.wrapping_add(MOST_TILES * L::BYTES);
        let mut factors = F::of(found, row, column);
        // SAFETY: there is room for the registers, as many as make a line or one, and for what their elements become: a line, or two.
        unsafe {
            let mut i = 0;
            while i < (Self::TILES / 2).max(1) {
                lanes.store(block.add(i * L::BYTES), registers[i]);
                i += 1;
            }
            let is_made = match R::BYTES.min(W::BYTES) {
                1 => self.block::<_, { LINE }>(&mut factors, block, to),
                2 => self.block::<_, { LINE / 2 }>(&mut factors, block, to),
                _ => self.block::<_, { LINE / 4 }>(&mut factors, block, to),
            };
            if !is_made {
                return self.aside(lanes, registers, (found, row, column));
            }
            [lanes.load(to), lanes.load(to.add(if Self::TILES == 1 { L::BYTES } else { 0 }))]
        }
    }

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

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Leaving<Cast<'a, M, R, W, F>> {
    /// Converts a block; false where the level does not round all of it, and nothing was done.
    ///
    /// # Safety
    /// As [`Cast::block`].
    #[inline(always)]
    unsafe fn block<G: Multiply, const N: usize>(
        self,
        factors: &mut G,
        from: *const u8,
        to: *mut u8,
    ) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            if !Cast::<M, R, W, F>::ROUNDS {
                self.0.block::<G, N>(factors, from, (0, 0), (to, false));
                return true;
            }
            self.0.rounded::<G, N>(factors, from, (0, 0), (to, false))
        }
    }

    /// As [`Leave::made`] for what is left. Nothing here is what [`Leave::made`] has in registers, which would become memory.
    #[inline(always)]
    fn aside<L: Lanes>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        (found, row, column): (&F::Found, usize, usize),
    ) -> [L::Vector; 2] {
        let (mut factors, mut made) = (F::of(found, row, column), [lanes.zero(); 2]);
        let (from, to) = (registers.as_ptr().cast(), ((&raw mut made).cast(), false));
        // SAFETY: as many elements as make a line, or one of whose registers that is, and room for two lines.
        unsafe {
            match R::BYTES.min(W::BYTES) {
                1 => self.0.aside::<_, { LINE }>(&mut factors, from, (0, 0), to),
                2 => self.0.aside::<_, { LINE / 2 }>(&mut factors, from, (0, 0), to),
                _ => self.0.aside::<_, { LINE / 4 }>(&mut factors, from, (0, 0), to),
            }
        }
        made
    }
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// True where there are such turns, and they pay: of registers of half a line, without factors, to elements of twice as many
    /// bytes, or from eight to four; where AVX-512's registers are better, only between two and four bytes. Registers of a line join
    /// those that become half as wide where rows start no lines. Others take as long in strips.
    pub(super) const TURNS: bool = !F::MULTIPLIES
        && !R::IS_ANY
        && match (M::Lanes::BYTES, M::ONLY_TURNS, R::BYTES, W::BYTES) {
            (LINE, _, read, write) => is_joined(read, write),
            (HALF_LINE, true, 2 | 4, 2 | 4) => true,
            (HALF_LINE, false, 2, 4) | (HALF_LINE, false, 4, 8) | (HALF_LINE, false, 8, 4) => true,
            (HALF_LINE, false, 1, 2) => W::IS_EXACT_TOP,
            _ => false,
        };

    /// True where strips of elements leave so, in registers of a line. Narrow ones whose products are rounded do only by the
    /// instruction for it: else what a line takes to be rounded takes as long as the line.
    pub(super) const LEAVES: bool = !R::IS_ANY
        && M::Lanes::BYTES == LINE
        && match (R::BYTES, W::BYTES) {
            _ if Self::IS_ROUNDED && !M::ROUNDS => R::BYTES == 4,
            (1, 2) => W::IS_EXACT_TOP || Self::IS_ROUNDED,
            // Floats of a byte have a way of their own.
            (2 | 4, 1) => !W::IS_BYTE_FLOAT,
            (8, 8) => false,
            (read, write) => read > 1 && read <= 4 * write && write <= 2 * read,
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
        let (lanes, leave) = (self.means.lanes(), Leaving(self));
        // Pairs are words that become those of tiles of 16 bits; bytes that do are as fast in strips. Rows of tiles start lines, and
        // need no registers of a line.
        let is_pair = turned.run == 2 && W::BYTES == 2 && M::Lanes::BYTES < LINE;
        // SAFETY: the caller's promise.
        unsafe {
            match R::BYTES {
                4 if is_pair => turning::<_, 8, 2, _>(lanes, turned, leave),
                _ if turned.run > 1 => return false,
                1 => turning::<_, 1, 16, _>(lanes, turned, leave),
                2 => turning::<_, 2, 8, _>(lanes, turned, leave),
                4 => turning::<_, 4, 4, _>(lanes, turned, leave),
                _ => turning::<_, 8, 2, _>(lanes, turned, leave),
            }
        }
        true
    }

    /// Transposes in strips, as [`Cast::turn`] does by turns.
    ///
    /// # Safety
    /// As [`Cast::turn`], and there must be whole strips.
    #[inline(always)]
    pub(super) unsafe fn leave(self, turned: &Turned<'_>) -> bool {
        if self.rows.conversion.parts() > 1 {
            return false;
        }
        let (lanes, leave) = (self.means.lanes(), Leaving(self));
        // Pairs are words of tiles of upper halves of `f32`, which become it or come of it.
        let is_pair = turned.run == 2 && (R::IS_TOP && W::BYTES == 4 || W::IS_TOP && R::BYTES == 4);
        // SAFETY: the caller's promise.
        unsafe {
            match R::BYTES {
                4 if is_pair => leaving::<_, 8, 2, _>(lanes, turned, leave),
                2 if is_pair => leaving::<_, 4, 4, _>(lanes, turned, leave),
                _ if turned.run > 1 => return false,
                1 => leaving::<_, 1, 16, _>(lanes, turned, leave),
                2 => leaving::<_, 2, 8, _>(lanes, turned, leave),
                4 => leaving::<_, 4, 4, _>(lanes, turned, leave),
                _ => leaving::<_, 8, 2, _>(lanes, turned, leave),
            }
        }
        true
    }
}

/// Transposes elements of `E` bytes by turns, converted as they leave; a fence is then due. Not by way of a region of its own, which
/// would lack what the caller's has.
///
/// # Safety
/// As [`Cast::turn`].
#[inline(always)]
pub(super) unsafe fn turning<L: Lanes, const E: usize, const N: usize, W: Leave>(
    lanes: L,
    turned: &Turned<'_>,
    leave: W,
) {
    let Turned { outer, plane, places: (src, dst), .. } = *turned;
    let source = SourceColumns::default();
    let kernel = BurstTranspose::<E, N, true, _, _> { source, leave, plane, meet_deep: false };
    // SAFETY: the caller's promise.
    unsafe { Walk::new(outer, (src, dst), kernel, false).run(lanes) };
}

/// The same in strips.
///
/// # Safety
/// As [`Cast::leave`].
#[inline(always)]
pub(super) unsafe fn leaving<L: Lanes, const E: usize, const N: usize, W: Leave>(
    lanes: L,
    turned: &Turned<'_>,
    leave: W,
) {
    let Turned { outer, plane, columns: places, places: (src, dst), .. } = *turned;
    macro_rules! run {
        ($words:literal) => {{
            let source = LeavingColumns::<_, $words> { places, leave: PhantomData::<W> };
            let kernel = StreamTranspose::<E, N, _, _> { source, leave, plane };
            // SAFETY: the caller's promise.
            unsafe { Walk::new(outer, (src, dst), kernel, false).run(lanes) };
        }};
    }
    // What has no words had better not look for them.
    if turned.are_of_words { run!(true) } else { run!(false) }
}

pub(super) mod factors;
#[cfg(all(test, one_test_program))]
mod tests;

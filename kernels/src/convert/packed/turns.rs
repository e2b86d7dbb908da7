//! Columns of slots that share bytes, read by turns: slots are exchanged in registers whose lanes are transposed already, so that
//! nothing is stored before it is bytes of rows.

use crate::convert::packed::columns::{PackedColumns, PackedSides, lowest};
use crate::lanes::{LANE, LINE, Lanes};
use crate::transpose::ahead::{Ahead, Ask, meets};
use crate::transpose::block::AsIs;
use crate::transpose::burst::{BurstTranspose, TURN};
use crate::transpose::columns::{Columns, Turns};
use crate::transpose::plane::CarriedPlane;
use crate::tuning::MEETING_DEPTH;
use crate::walk::Point;

/// A transpose by turns, past the cache or in it.
#[derive(Clone, Copy)]
pub(crate) struct ByTurns<const SLOTS: usize, const PAST: bool> {
    pub(crate) source: PackedColumns<SLOTS>,
    pub(crate) plane: CarriedPlane,
}

impl<const SLOTS: usize, const PAST: bool> Point for ByTurns<SLOTS, PAST> {
    const BY_HALF_LINES: bool = true;

    /// # Safety
    /// As that of [`BurstTranspose`].
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let ByTurns { source, plane } = *self;
        // No other registers are asked for, and need not be compiled for.
        if 2 * L::BYTES == LINE {
            let kernel =
                BurstTranspose::<1, LANE, PAST, _, _> { source, leave: AsIs, plane, meet_deep: false };
            // SAFETY: the caller's promise.
            unsafe { kernel.point(lanes, src, dst) };
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        PAST
    }
}

/// Lines of a turn are one or as many as are read together, also of the last turn.
const _: () = assert!(MEETING_DEPTH == 2);

impl<const SLOTS: usize> Turns for PackedColumns<SLOTS> {
    const ASKS_FOR_ROWS: bool = true;

    #[inline(always)]
    fn width(&self, _most: usize, _left: usize) -> usize {
        self.width
    }

    #[inline(always)]
    fn lines(&self, _depth: usize, lines: usize) -> usize {
        let room = TURN / LINE / self.parts() / self.width;
        self.depth().min(room).min(1 << lines.max(1).ilog2())
    }

    #[inline(always)]
    fn order(&self, step: isize, _len: usize, count: usize, lines: usize, beyond: usize) -> Ask {
        let (step, count) = self.of_source(step, count);
        Ask::of_stretches(step, count, lines, beyond)
    }

    #[inline(always)]
    fn ask<L: Lanes>(&self, lanes: L, ahead: Ahead, first: usize, count: usize) {
        let (mut number, end, step) = match self.packed {
            PackedSides::Both => (first, first + count, self.step_bits()),
            PackedSides::Source => (first.div_ceil(SLOTS), (first + count).div_ceil(SLOTS), self.step_bits()),
            PackedSides::Destination if self.depth() > 1 => {
                return ahead.ask_lines(lanes, SLOTS * first, SLOTS * count);
            }
            PackedSides::Destination => (SLOTS * first, SLOTS * (first + count), 8 * self.step),
        };
        while number < end {
            // Where the first column starts inside a byte, it may be the one before.
            lanes.prefetch(ahead.first().wrapping_offset((number as isize * step) >> 3));
            number += 1;
        }
    }

    #[inline(always)]
    unsafe fn fill<L: Lanes, const E: usize, const N: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        (columns, lines): (usize, usize),
        turn: *mut u8,
    ) {
        // SAFETY: the caller's promise; only of columns that are joined is more than a line read.
        unsafe {
            match self.packed {
                PackedSides::Both => self.turned::<L, N>(lanes, (from, step), columns, turn),
                PackedSides::Source => self.parted::<L, N>(lanes, (from, step), columns, turn),
                // Told apart, as loops of as few steps as one line has are written out.
                PackedSides::Destination if lines == 1 => {
                    self.joined::<L, N, 1>(lanes, (from, step), columns, turn);
                }
                PackedSides::Destination => {
                    self.joined::<L, N, MEETING_DEPTH>(lanes, (from, step), columns, turn);
                }
            }
        }
    }
}

impl<const SLOTS: usize> PackedColumns<SLOTS> {
    /// Bytes of the widest strip of a turn, of as many columns of the source as the turn has room for lines.
    pub(crate) fn widest_turn(&self) -> usize {
        (TURN / LINE / SLOTS / self.depth()).max(LINE)
    }

    /// Lines of every column that a turn had better read: of columns that are joined there are many, of which lines are few bytes.
    fn depth(&self) -> usize {
        if self.packed == PackedSides::Destination && meets(self.step) { MEETING_DEPTH } else { 1 }
    }

    /// From column to column of packed ones, in bits.
    #[inline(always)]
    fn step_bits(&self) -> isize {
        self.step * (8 / SLOTS as isize)
    }

    /// Exchanges slots of a strip's columns, `SLOTS` of each of as many.
    ///
    /// # Safety
    /// As [`Turns::fill`].
    #[inline(always)]
    unsafe fn turned<L: Lanes, const N: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        columns: usize,
        turn: *mut u8,
    ) {
        let (mut starts, mut shifts) = ([0; SLOTS], [0; SLOTS]);
        let mut slot = 0;
        while slot < SLOTS {
            (starts[slot], shifts[slot]) = self.column(slot);
            slot += 1;
        }
        let start_bytes = shifts == [0; SLOTS];
        let mut column = 0;
        while column < columns {
            let mut i = 0;
            while i < N {
                let group = Group {
                    from: from.wrapping_offset((column + i) as isize * step),
                    apart: N as isize * step,
                    to: turn.wrapping_add((column + i) * L::BYTES),
                    columns,
                };
                // SAFETY: the caller's promise.
                unsafe {
                    match start_bytes {
                        true => group.turned::<L, N, SLOTS, true>(lanes, &starts, &shifts),
                        false => group.turned::<L, N, SLOTS, false>(lanes, &starts, &shifts),
                    }
                }
                i += 1;
            }
            column += N * L::LANES;
        }
    }

    /// Parts the slots of a strip's columns.
    ///
    /// # Safety
    /// As [`Turns::fill`].
    #[inline(always)]
    unsafe fn parted<L: Lanes, const N: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        columns: usize,
        turn: *mut u8,
    ) {
        let mut column = 0;
        while column < columns {
            let mut i = 0;
            while i < N {
                let (start, shift) = self.column(column + i);
                let group = Group {
                    from: from.wrapping_offset(start),
                    // So many columns have as many bytes between them.
                    apart: (N / SLOTS) as isize * step,
                    to: turn.wrapping_add((column + i) * L::BYTES),
                    columns,
                };
                // SAFETY: the caller's promise.
                unsafe {
                    match shift {
                        0 => group.parted::<L, N, SLOTS, true>(lanes, shift),
                        _ => group.parted::<L, N, SLOTS, false>(lanes, shift),
                    }
                }
                i += 1;
            }
            column += N * L::LANES;
        }
    }

    /// Joins the low bits of as many of a strip's columns as bytes have slots.
    ///
    /// # Safety
    /// As [`Turns::fill`].
    #[inline(always)]
    unsafe fn joined<L: Lanes, const N: usize, const LINES: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        columns: usize,
        turn: *mut u8,
    ) {
        let mut column = 0;
        while column < columns {
            let mut i = 0;
            while i < N {
                let group = Group {
                    from: from.wrapping_offset((column + i) as isize * step),
                    apart: N as isize * step,
                    to: turn.wrapping_add((column + i) * L::BYTES),
                    columns,
                };
                // SAFETY: the caller's promise.
                unsafe { group.joined::<L, N, SLOTS, LINES>(lanes, self.step) };
                i += 1;
            }
            column += N * L::LANES;
        }
    }
}

/// A line of some columns that are `N` apart, one for each lane of a register, and their places in a turn.
#[derive(Clone, Copy)]
struct Group {
    from: *const u8,
    /// From one to the next.
    apart: isize,
    to: *mut u8,
    /// Columns of a strip.
    columns: usize,
}

impl Group {
    /// Where a lane of all of these columns belongs in the block of a part, as [`Lanes::turn`] would leave it.
    #[inline(always)]
    fn place<L: Lanes, const N: usize>(self, lane: usize, part: usize) -> *mut u8 {
        let half = lane / L::LANES * (self.columns * L::BYTES);
        self.to.wrapping_add(part * self.columns * LINE + half + lane % L::LANES * (N * L::BYTES))
    }

    /// Exchanges the slots of columns that start at these places.
    ///
    /// # Safety
    /// As [`Turns::fill`].
    #[inline(always)]
    unsafe fn turned<L: Lanes, const N: usize, const SLOTS: usize, const START_BYTES: bool>(
        self,
        lanes: L,
        starts: &[isize; SLOTS],
        shifts: &[u32; SLOTS],
    ) {
        let mut lane = 0;
        while lane < LINE / LANE {
            let mut registers = [lanes.zero(); SLOTS];
            let mut slot = 0;
            // SAFETY: the caller's promise, and there is room for blocks of all parts.
            unsafe {
                while slot < SLOTS {
                    let from = self.from.wrapping_offset(starts[slot]).wrapping_add(lane * LANE);
                    registers[slot] = lanes_at::<L, START_BYTES>(lanes, from, self.apart, shifts[slot]);
                    slot += 1;
                }
                turn_registers(lanes, &mut registers);
                let mut part = 0;
                while part < SLOTS {
                    lanes.store(self.place::<L, N>(lane, part), registers[part]);
                    part += 1;
                }
            }
            lane += 1;
        }
    }

    /// Parts slots.
    ///
    /// # Safety
    /// As [`Turns::fill`].
    #[inline(always)]
    unsafe fn parted<L: Lanes, const N: usize, const SLOTS: usize, const START_BYTES: bool>(
        self,
        lanes: L,
        shift: u32,
    ) {
        let mask = of_bytes(lanes, lowest::<SLOTS>() as u8);
        let mut lane = 0;
        while lane < LINE / LANE {
            let from = self.from.wrapping_add(lane * LANE);
            // SAFETY: the caller's promise, and there is room for blocks of all parts.
            unsafe {
                let whole = lanes_at::<L, START_BYTES>(lanes, from, self.apart, shift);
                let mut part = 0;
                while part < SLOTS {
                    let slots = lanes.and(lanes.shift_down(whole, (8 / SLOTS * part) as u32), mask);
                    lanes.store(self.place::<L, N>(lane, part), slots);
                    part += 1;
                }
            }
            lane += 1;
        }
    }

    /// Joins the low bits of columns that lie so many bytes apart, `LINES` of each one after the other.
    ///
    /// # Safety
    /// As [`Turns::fill`].
    #[inline(always)]
    unsafe fn joined<L: Lanes, const N: usize, const SLOTS: usize, const LINES: usize>(
        self,
        lanes: L,
        step: isize,
    ) {
        let mask = of_bytes(lanes, lowest::<SLOTS>() as u8);
        let mut lane = 0;
        while lane < LINES * (LINE / LANE) {
            let mut joined = lanes.zero();
            let mut slot = 0;
            // SAFETY: the caller's promise, and there is room for a block of each line.
            unsafe {
                while slot < SLOTS {
                    let from = self.from.wrapping_offset(slot as isize * step).wrapping_add(lane * LANE);
                    let low = lanes.and(lanes.load_lanes(from, self.apart), mask);
                    joined = lanes.or(joined, lanes.shift_up(low, (8 / SLOTS * slot) as u32));
                    slot += 1;
                }
                lanes.store(self.place::<L, N>(lane, 0), joined);
            }
            lane += 1;
        }
    }
}

/// Reads one lane from each of `LANES` places that start so many bits behind the first of a byte; none if they are known to
/// `START_BYTES`.
///
/// # Safety
/// The bytes of these bits must be readable at each place.
#[inline(always)]
unsafe fn lanes_at<L: Lanes, const START_BYTES: bool>(
    lanes: L,
    from: *const u8,
    step: isize,
    shift: u32,
) -> L::Vector {
    // SAFETY: the caller's promise. Of bits that start inside a byte the last ones are in the byte behind.
    unsafe {
        let low = lanes.load_lanes(from, step);
        // Of others, too, some may start bytes, and nothing be there behind their last ones.
        if START_BYTES || shift == 0 {
            return low;
        }
        // What words that are a byte apart say alike where they meet.
        let high = lanes.load_lanes(from.wrapping_add(1), step);
        lanes.or(lanes.shift_down(low, shift), lanes.shift_up(high, 8 - shift))
    }
}

/// A register of the same byte.
#[inline(always)]
fn of_bytes<L: Lanes>(lanes: L, byte: u8) -> L::Vector {
    lanes.look_up([byte; LANE], lanes.zero())
}

/// Transposes the slots of as many bytes, in every place of the registers: slot `j` of register `i` becomes slot `i` of register
/// `j`. Each step exchanges one bit of the two numbers.
#[inline(always)]
fn turn_registers<L: Lanes, const SLOTS: usize>(lanes: L, registers: &mut [L::Vector; SLOTS]) {
    if SLOTS >= 8 {
        exchange::<L, SLOTS, 4>(lanes, registers);
    }
    if SLOTS >= 4 {
        exchange::<L, SLOTS, 2>(lanes, registers);
    }
    exchange::<L, SLOTS, 1>(lanes, registers);
}

/// Exchanges the bit `APART` of the numbers of slots and registers.
#[inline(always)]
fn exchange<L: Lanes, const SLOTS: usize, const APART: usize>(lanes: L, registers: &mut [L::Vector; SLOTS]) {
    let bits = (8 / SLOTS * APART) as u32;
    // The slots whose number lacks the bit.
    let mask = of_bytes(lanes, [0x55, 0x33, 0x0f][bits.ilog2() as usize]);
    let mut first = 0;
    while first < SLOTS {
        if first & APART == 0 {
            let (low, high) = (registers[first], registers[first + APART]);
            let differ = lanes.and(lanes.xor(lanes.shift_down(low, bits), high), mask);
            registers[first + APART] = lanes.xor(high, differ);
            registers[first] = lanes.xor(low, lanes.shift_up(differ, bits));
        }
        first += 1;
    }
}

#[cfg(test)]
mod tests;

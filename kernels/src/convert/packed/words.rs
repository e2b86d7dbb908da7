//! Words of eight half bytes that become words of as many others: tiles such as those of `(8,1)`, whose words are columns of eight rows,
//! and become rows of eight columns.
//!
//! Eight words that follow one another are a *unit*: on either side it is the same 32 bytes, of which slot `i` of word `j` becomes slot
//! `j` of word `i`. Units are moved as elements are, and put in order on the way.

use crate::convert::converter::Work;
use crate::convert::flush::{Buffer, flush, streams, walk_at_level};
use crate::convert::packed::columns::PackedSides;
use crate::convert::rows::Place;
use crate::convert::tile::{Cut, Pass, each_tile, part};
use crate::lanes::{LANE, LINE, Lanes};
use crate::level::Level;
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::nest::Loop;
use crate::slots::Bits;
use crate::tuning::TILE_IN_STEPS;
use crate::walk::Point;

/// Slots of a word, and words of a unit.
pub(crate) const WAYS: usize = 8;

/// Slots of a byte.
const SLOTS: isize = 2;

/// Bytes of a unit.
const UNIT: usize = 2 * LANE;

/// How far ahead of its loads a unit is asked for, in bytes: tiles follow one another along the source.
const AHEAD: usize = 1024;

/// A nest of units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedWords {
    level: Level,
    /// Past the cache.
    stream: bool,
    /// The loops over units, in bytes.
    loops: Loops,
    /// Their tiles.
    cut: Cut,
}

impl PackedWords {
    /// The nest as units; none where it has no such, or they start inside bytes.
    pub(crate) fn new(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<PackedWords> {
        let mut outer = *loops;
        let (slot, word) = (1, WAYS as isize);
        outer.take(|l| *l == Loop { extent: WAYS, src_stride: slot, dst_stride: word })?;
        outer.take(|l| *l == Loop { extent: WAYS, src_stride: word, dst_stride: slot })?;
        let units = in_bytes(work, &outer, places)?;
        let cut = Cut::new(units.as_slice(), [UNIT as isize; 2], [8 * UNIT; 2], true);
        // Units that do not follow one another span more than there is room for.
        let stream = work.stream && streams(work.level) && cut.room * UNIT <= TILE_IN_STEPS;
        Some(PackedWords { level: work.level, stream, loops: units, cut })
    }

    /// Moves all of the nest.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run(&self, src: Place, dst: Place) {
        let bytes = |place: Place| Place { bits: None, base: place.byte_of(0), first: 0, pitch: 0, ..place };
        let (loops, cut, unit) = (self.loops.as_slice(), &self.cut, UNIT as isize);
        let mut made = Buffer::new(if self.stream { cut.room * UNIT } else { 0 });
        let made = made.start();
        each_tile(loops, cut, [bytes(src), bytes(dst)], |extents, [src, dst], _| {
            let (src, dst) = (src.byte_of(0).cast_const(), dst.byte_of(0));
            // SAFETY: a part of the nest, for which there is room.
            unsafe {
                if !self.stream {
                    return self.units(extents, |i| loops[i].dst_stride, src, dst);
                }
                let room = |i: usize| cut.dst_order[i] * unit;
                self.units(extents, room, src, made);
                let rows = part(loops, extents, |i| [room(i), loops[i].dst_stride]);
                let pass = Pass::new(rows.as_slice(), [unit; 2]);
                flush(self.level, pass.rows.as_slice(), made, dst, pass.run * UNIT);
            }
        });
    }

    /// Moves the units of a tile to places with these steps.
    ///
    /// # Safety
    /// All places of the tile must be valid at the two places, without overlap.
    unsafe fn units(
        &self,
        extents: &[usize; MAX_LOOPS],
        steps: impl Fn(usize) -> isize,
        src: *const u8,
        dst: *mut u8,
    ) {
        let loops = self.loops.as_slice();
        let mut outer = part(loops, extents, |i| [loops[i].src_stride, steps(i)]);
        let along = outer.take(|l| l.src_stride == UNIT as isize).unwrap_or(ONCE);
        let kernel = Units { count: along.extent, step: along.dst_stride, ahead: self.stream };
        // SAFETY: the caller's promise.
        let is_done = unsafe { walk_at_level(self.level, outer.as_slice(), (src, dst), kernel) };
        debug_assert!(is_done, "the level is there, and has registers");
    }
}

/// Loops over words of half bytes, from bytes to bytes; none where slots are others or start inside bytes.
pub(crate) fn in_bytes(work: &Work<'_>, slots: &Loops, places: [Place; 2]) -> Option<Loops> {
    let are_half_bytes = PackedSides::of(work, places)? == (Bits::Four, PackedSides::Both);
    let starts_byte = |place: isize| place % SLOTS == 0;
    let start_bytes = |l: &Loop| starts_byte(l.src_stride) && starts_byte(l.dst_stride);
    let all_do =
        places.iter().all(|place| starts_byte(place.first)) && slots.as_slice().iter().all(start_bytes);
    let mut bytes = Loops::default();
    for l in slots.as_slice() {
        bytes.push(Loop { src_stride: l.src_stride / SLOTS, dst_stride: l.dst_stride / SLOTS, ..*l });
    }
    (are_half_bytes && all_do).then_some(bytes)
}

/// Units that follow one another in the source.
#[derive(Clone, Copy)]
struct Units {
    count: usize,
    /// From one to the next in the destination, in bytes.
    step: isize,
    /// Asks for what comes next in the source.
    ahead: bool,
}

impl Units {
    /// As many units as registers have lanes.
    ///
    /// # Safety
    /// So many units must be readable from `src`, one behind the other, and writable at `dst`, `step` apart.
    #[inline(always)]
    unsafe fn some<L: Lanes>(self, lanes: L, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            let (first, second) = lanes.load_lane_pairs(src, UNIT as isize);
            let (first, second) = turn(lanes, first, second);
            lanes.store_lanes(dst, self.step, first);
            lanes.store_lanes(dst.wrapping_add(LANE), self.step, second);
        }
    }
}

/// In each half of a unit, the bytes of its words of even numbers, byte by byte, and then those of the others.
const APART: [u8; LANE] = {
    let mut order = [0; LANE];
    let mut at = 0;
    while at < LANE {
        let (odd, byte, word) = (at / 8, at % 8 / 2, at % 2);
        order[at] = ((2 * word + odd) * 4 + byte) as u8;
        at += 1;
    }
    order
};

/// Puts the slots of units in order, whose halves are the same lane of two registers.
#[inline(always)]
pub(crate) fn turn<L: Lanes>(lanes: L, first: L::Vector, second: L::Vector) -> (L::Vector, L::Vector) {
    let (first, second) = (lanes.shuffle(first, APART), lanes.shuffle(second, APART));
    // Byte `4 * b + k` is byte `b` of word `2 * k`, or of the word behind that.
    let (even, odd) = lanes.zip::<2>(first, second);
    let (even_low, even_high) = lanes.halves(even);
    let (odd_low, odd_high) = lanes.halves(odd);
    let low = lanes.or(even_low, lanes.shift_up(odd_low, 4));
    let high = lanes.or(even_high, lanes.shift_up(odd_high, 4));
    lanes.zip::<4>(low, high)
}

impl Point for Units {
    /// # Safety
    /// `count` units must be readable from `src`, and writable at `dst`, `step` apart, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let (mut from, mut to, mut left) = (src, dst, self.count);
        // SAFETY: units of the row.
        unsafe {
            while left >= L::LANES {
                let mut line = 0;
                while self.ahead && line < L::LANES * UNIT {
                    lanes.prefetch(from.wrapping_add(AHEAD + line));
                    line += LINE;
                }
                self.some(lanes, from, to);
                from = from.wrapping_add(L::LANES * UNIT);
                to = to.wrapping_offset(L::LANES as isize * self.step);
                left -= L::LANES;
            }
            while left > 0 {
                self.some(lanes.narrow().narrow(), from, to);
                from = from.wrapping_add(UNIT);
                to = to.wrapping_offset(self.step);
                left -= 1;
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

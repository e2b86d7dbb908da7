//! Elements of at most four bits by a table of what becomes of each of the 16, in registers: whatever the conversion, it costs
//! the same, and factors cost nothing as long as they stay the same.

use pulp::NullaryFnOnce;

use crate::convert::hop::{Hop, NO_FACTORS, apply};
use crate::convert::packed::pack::unpack;
use crate::convert::program::Conversion;
use crate::convert::rows::{ConvertRows, Place, STEP};
use crate::convert::scale::Scale;
use crate::convert::tables::stretches::Stretches;
use crate::convert::words::{BLOCK, Means, put_zips};
use crate::lanes::{LANE, LINE, Lanes, put};
use crate::level::Level;
use crate::slots::{Bits, SlotWidth};
use crate::tuning::FACTOR_TABLE;

/// Most bits of an element.
const BITS: u32 = 4;

/// Patterns for which results are made at once: all there are, twice, as many as a hop takes in vectors.
const PATTERNS: usize = 2 * LANE;

/// What becomes of every pattern: byte by byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallTable {
    bytes: [[u8; LANE]; 4],
}

impl Stretches for SmallTable {
    const LEAST: usize = BLOCK;

    const PAYS: usize = FACTOR_TABLE;

    fn new(conversion: &Conversion, factor: f32, level: Level) -> Option<SmallTable> {
        let all: [u8; PATTERNS] = core::array::from_fn(|i| (i % LANE) as u8);
        let mut results = [0; 4 * PATTERNS];
        let places = [all.as_ptr().cast_mut(), results.as_mut_ptr()].map(Place::near);
        let rows = ConvertRows::new(conversion, places, Scale::All(factor));
        let task = ConvertRows { rows: 1, count: PATTERNS, ..rows };
        // SAFETY: every pattern there is, and room for as many results of at most four bytes.
        unsafe { task.at_level(level) };
        let width = conversion.dst_bytes();
        let byte = |number: usize, pattern: usize| results[pattern * width + number.min(width - 1)];
        Some(SmallTable { bytes: [0, 1, 2, 3].map(|number| core::array::from_fn(|i| byte(number, i))) })
    }

    unsafe fn convert<M: Means>(&self, rows: &ConvertRows<'_>, means: M) {
        means.vectorize(Stretch { table: self, rows, means });
    }
}

/// True for conversions from slots of a width of which there may be a table.
pub(crate) fn fits(conversion: &Conversion, src: SlotWidth) -> bool {
    let bits = match src {
        SlotWidth::Bits(bits) => bits as u32,
        SlotWidth::Bytes(_) => conversion.src_bits(),
    };
    let has_width = conversion.parts() == 1 && matches!(conversion.dst_bytes(), 1 | 2 | 4);
    bits <= BITS && has_width && !conversion.is_identity()
}

/// A part of a row whose elements have the same factor.
struct Stretch<'r, 'a, M> {
    table: &'r SmallTable,
    rows: &'r ConvertRows<'a>,
    means: M,
}

/// Elements with a byte each, and room for those before and behind them in their bytes.
#[repr(align(64))]
struct Bytes([u8; STEP + 16]);

/// Elements of a block of half bytes: a line of them.
const HALVES: usize = 2 * LINE;

impl<M: Means> NullaryFnOnce for Stretch<'_, '_, M> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: entered by `SmallTable::convert`, whose caller keeps the contract.
        unsafe {
            match self.rows.conversion.dst_bytes() {
                1 => self.blocks::<1>(),
                2 => self.blocks::<2>(),
                _ => self.blocks::<4>(),
            }
        }
        true
    }
}

impl<M: Means> Stretch<'_, '_, M> {
    /// # Safety
    /// As [`Stretches::convert`], for at least a block.
    #[inline(always)]
    unsafe fn blocks<const WIDTH: usize>(self) {
        let mut room = Bytes([0; STEP + 16]);
        let room = room.0.as_mut_ptr();
        // SAFETY: the caller's promise, and the room.
        unsafe {
            match self.rows.src.bits {
                Some(Bits::Four) if self.rows.count >= HALVES => self.walk::<WIDTH, HALVES>(room),
                _ => self.walk::<WIDTH, BLOCK>(room),
            }
        }
    }

    /// Block by block. The first one need not start a line; from the second one on all do, but for the last, which steps back.
    ///
    /// # Safety
    /// As [`Stretch::blocks`], for at least `N` elements, which are half bytes if these are [`HALVES`]; `room` must have room
    /// for the bytes of a block.
    #[inline(always)]
    unsafe fn walk<const WIDTH: usize, const N: usize>(self, room: *mut u8) {
        let (src, dst, count) = (self.rows.src, self.rows.dst, self.rows.count);
        let streams = self.rows.form.is_lines();
        let first = (dst.byte(dst.first).addr().wrapping_neg() % LINE).div_ceil(WIDTH);
        let per_byte = src.bits.map_or(1, |bits| 8 / bits as usize);
        let mut done = 0;
        while done < count {
            let at = done.min(count - N);
            let bytes = src.byte_of(at as isize).cast_const();
            self.rows.look_ahead(self.means.lanes(), bytes, N / per_byte);
            let to = dst.byte(dst.first + (at * WIDTH) as isize);
            let to = (to, streams && to.addr().is_multiple_of(LINE));
            let slot = (src.first + at as isize) as usize;
            // SAFETY: a block of the row, of which there is room for all bytes.
            unsafe {
                match src.bits {
                    Some(Bits::Four) if N == HALVES => self.half_bytes::<WIDTH>(bytes, slot % 2 == 1, to),
                    Some(bits) => {
                        let before = unpack(bits, src.base, slot, room, N);
                        self.bytes::<WIDTH>(room.add(before), to);
                    }
                    None => {
                        apply(&Hop::Mask { bits: BITS, signed: false }, bytes, room, N, NO_FACTORS);
                        self.bytes::<WIDTH>(room, to);
                    }
                }
            }
            done = if done == 0 && first > 0 { first } else { at + N };
        }
    }

    /// Looks a line of half bytes up, the first of which is the high one of its byte if `is_odd`.
    ///
    /// # Safety
    /// Their bytes must be readable from `from` on, and results writable as [`Stretch::bytes`] wants it.
    #[inline(always)]
    unsafe fn half_bytes<const WIDTH: usize>(
        &self,
        from: *const u8,
        is_odd: bool,
        (to, stream): (*mut u8, bool),
    ) {
        let (means, lanes, bytes) = (self.means, self.means.lanes(), <M::Lanes as Lanes>::BYTES);
        // Of three zips the last two are made for themselves.
        let zips = if WIDTH == 2 { 2 } else { 1 };
        let mut at = 0;
        while at < LINE {
            // SAFETY: a register of the half bytes, and the next byte where they end there; twice as many results.
            unsafe {
                let (mut low, mut high) = lanes.halves(means.ordered(zips, lanes.load(from.add(at))));
                if is_odd {
                    let next = means.ordered(zips, lanes.load(from.add(at + 1)));
                    (low, high) = (high, lanes.halves(next).0);
                }
                let (a, b) = lanes.zip::<1>(low, high);
                let to = to.wrapping_add(2 * at * WIDTH);
                self.register::<WIDTH>(a, to, stream);
                self.register::<WIDTH>(b, to.wrapping_add(bytes * WIDTH), stream);
            }
            at += bytes;
        }
    }

    /// Looks a block of patterns of a byte each up.
    ///
    /// # Safety
    /// A block must be readable at `from`, and of results writable at `to`, which starts a line if `stream`.
    #[inline(always)]
    unsafe fn bytes<const WIDTH: usize>(&self, from: *const u8, (to, stream): (*mut u8, bool)) {
        let bytes = <M::Lanes as Lanes>::BYTES;
        let mut at = 0;
        while at < BLOCK {
            // SAFETY: a register of the block, and as many as its results are.
            unsafe {
                let patterns = self.means.lanes().load(from.add(at));
                let patterns = if WIDTH == 2 { self.means.ordered(1, patterns) } else { patterns };
                self.register::<WIDTH>(patterns, to.add(at * WIDTH), stream);
            }
            at += bytes;
        }
    }

    /// Looks a register of patterns up, ordered for one zip where results have two bytes.
    ///
    /// # Safety
    /// Registers of all results must be writable at `to`, which starts a line if `stream`.
    #[inline(always)]
    unsafe fn register<const WIDTH: usize>(
        &self,
        patterns: <M::Lanes as Lanes>::Vector,
        to: *mut u8,
        stream: bool,
    ) {
        let (lanes, table) = (self.means.lanes(), &self.table.bytes);
        // SAFETY: the caller's promise.
        unsafe {
            match WIDTH {
                1 => put(lanes, to, lanes.look_up(table[0], patterns), stream),
                2 => {
                    let (low, high) = (lanes.look_up(table[0], patterns), lanes.look_up(table[1], patterns));
                    let (a, b) = lanes.zip::<1>(low, high);
                    put(lanes, to, a, stream);
                    put(lanes, to.add(<M::Lanes as Lanes>::BYTES), b, stream);
                }
                _ => {
                    let patterns = self.means.ordered(2, patterns);
                    let (low, high) = (lanes.look_up(table[0], patterns), lanes.look_up(table[1], patterns));
                    let (a, b) = lanes.zip::<1>(low, high);
                    let (low, high) = (lanes.look_up(table[2], patterns), lanes.look_up(table[3], patterns));
                    let (c, d) = lanes.zip::<1>(low, high);
                    put_zips(lanes, to, [(a, c), (b, d)], stream);
                }
            }
        }
    }
}

//! Transposes of elements of a byte that are looked up in a table as they leave a turn or a strip.

use core::arch::x86_64::{__m256i, __m512i};

use pulp::x86::V4;

use crate::convert::leave::{Turned, leaving, turning};
use crate::convert::tables::table::{Registers, Table};
use crate::convert::words::Means;
use crate::convert::words::means_avx512::Avx512;
use crate::lanes::{LINE, Lanes, put};
use crate::transpose::block::{Leave, MOST_TILES};

impl Table {
    /// Transposes by turns; false where there are none for these elements, and nothing was done.
    ///
    /// # Safety
    /// As [`Cast::turn`](crate::convert::words::cast_rows::Cast::turn).
    pub(in crate::convert) unsafe fn turn(&self, turned: &Turned<'_>) -> bool {
        self.vectorize(Enter::<false> { table: Registers::new(self), lanes: self.lanes(), turned })
    }

    /// The same in strips.
    ///
    /// # Safety
    /// As [`Cast::leave`](crate::convert::words::cast_rows::Cast::leave).
    pub(in crate::convert) unsafe fn leave(&self, turned: &Turned<'_>) -> bool {
        self.vectorize(Enter::<true> { table: Registers::new(self), lanes: self.lanes(), turned })
    }
}

/// A transpose as pulp wants it: in `STRIPS` or by turns.
struct Enter<'a, const STRIPS: bool> {
    table: Registers,
    lanes: V4,
    turned: &'a Turned<'a>,
}

impl<const STRIPS: bool> pulp::NullaryFnOnce for Enter<'_, STRIPS> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: entered by `Table::turn` or `Table::leave`, whose callers keep the contract.
        unsafe {
            match (self.table.bytes, self.turned.run) {
                (1, 1) => self.transpose::<1, 16, 1>(),
                (1, 4) => self.transpose::<4, 4, 1>(),
                (2, 1) => self.transpose::<1, 16, 2>(),
                (2, 2) => self.transpose::<2, 8, 2>(),
                _ => return false,
            }
        }
        true
    }
}

impl<const STRIPS: bool> Enter<'_, STRIPS> {
    /// # Safety
    /// As [`Table::turn`] or [`Table::leave`], of `E` bytes that stay together, each of which becomes `BYTES`.
    #[inline(always)]
    unsafe fn transpose<const E: usize, const N: usize, const BYTES: usize>(self) {
        let leave = Found::<BYTES> { table: self.table, lanes: self.lanes };
        // SAFETY: the caller's promise, for both.
        unsafe {
            match STRIPS {
                true => leaving::<_, E, N, _>(self.lanes, self.turned, leave),
                false => turning::<_, E, N, _>(self.lanes.narrow(), self.turned, leave),
            }
        }
    }
}

/// Bytes that become `BYTES` each.
#[derive(Clone, Copy)]
struct Found<const BYTES: usize> {
    table: Registers,
    lanes: V4,
}

/// The quadwords of two rows in turn, which a zip of each lane's halves takes apart again.
const IN_TURN: [u64; 8] = [0, 8, 1, 9, 2, 10, 3, 11];

/// The quadwords of two registers of half a line, one behind the other.
const JOINED: [u64; 8] = [0, 1, 2, 3, 8, 9, 10, 11];

impl<const BYTES: usize> Leave for Found<BYTES> {
    const TILES: usize = 2 / BYTES;

    type Found = ();

    #[inline(always)]
    fn made<L: Lanes>(
        self,
        _lanes: L,
        registers: [L::Vector; MOST_TILES],
        _place: (&(), usize, usize),
    ) -> [L::Vector; 2] {
        debug_assert!(L::BYTES == LINE);
        let mut whole = [registers[0]; 2];
        let place = (&raw mut whole).cast::<u8>();
        // SAFETY: registers of either kind are a line.
        unsafe {
            let line = self.lanes.load(place);
            if BYTES == 1 {
                self.lanes.store(place, self.table.low(self.lanes, line));
                return whole;
            }
            let line = Avx512::alone(self.lanes).ordered(1, line);
            let (low, high) = (self.table.low(self.lanes, line), self.table.high(self.lanes, line));
            let (first, second) = self.lanes.zip::<1>(low, high);
            self.lanes.store(place, first);
            self.lanes.store(place.add(LINE), second);
        }
        whole
    }

    // Registers are looked up whole, which those of two rows fill.
    const PAIRS: bool = BYTES == 2;

    #[inline(always)]
    unsafe fn line<L: Lanes, const PAST: bool>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        to: *mut u8,
    ) {
        let line = match BYTES {
            1 => self.table.low(self.lanes, self.both(lanes, [registers[0], registers[1]], JOINED)),
            _ => self.lines(lanes, [registers[0]; 2])[0],
        };
        // SAFETY: the caller's promise.
        unsafe { put(self.lanes, to, line, PAST) };
    }

    #[inline(always)]
    unsafe fn pair<L: Lanes, const PAST: bool>(
        self,
        lanes: L,
        registers: [[L::Vector; MOST_TILES]; 2],
        to: [*mut u8; 2],
    ) {
        let [first, second] = self.lines(lanes, [registers[0][0], registers[1][0]]);
        // SAFETY: the caller's promise.
        unsafe {
            put(self.lanes, to[0], first, PAST);
            put(self.lanes, to[1], second, PAST);
        }
    }
}

impl<const BYTES: usize> Found<BYTES> {
    /// Two registers of half a line as one, their quadwords in an order.
    #[inline(always)]
    fn both<L: Lanes>(self, lanes: L, registers: [L::Vector; 2], order: [u64; 8]) -> __m512i {
        debug_assert!(2 * L::BYTES == LINE);
        let mut halves: [__m256i; 2] = [self.lanes.narrow().zero(); 2];
        let mut i = 0;
        while i < 2 {
            // SAFETY: registers of either kind are half a line.
            unsafe { lanes.store((&raw mut halves[i]).cast(), registers[i]) };
            i += 1;
        }
        let s = self.lanes.avx512f;
        let [first, second] = halves;
        let (first, second) = (s._mm512_castsi256_si512(first), s._mm512_castsi256_si512(second));
        s._mm512_permutex2var_epi64(first, pulp::cast(order), second)
    }

    /// The lines of two rows, of two bytes for each.
    #[inline(always)]
    fn lines<L: Lanes>(self, lanes: L, registers: [L::Vector; 2]) -> [__m512i; 2] {
        let both = self.both(lanes, registers, IN_TURN);
        let (low, high) = (self.table.low(self.lanes, both), self.table.high(self.lanes, both));
        let (first, second) = self.lanes.zip::<1>(low, high);
        [first, second]
    }
}

//! Elements of a byte by a table of what becomes of each of the 256, in registers: whatever the conversion, it costs the
//! same.

use core::arch::x86_64::{__m512i, _mm512_permutex2var_epi8, _mm512_permutexvar_epi8};

use pulp::NullaryFnOnce;
use pulp::x86::V4;

use crate::convert::rows::{ConvertRows, Form};
use crate::convert::words::means_avx512::{Avx512, avx512_with};
use crate::convert::words::{BLOCK, Means, put_bytes};
use crate::lanes::{LINE, Lanes, apart, put};

avx512_with! {
    /// The instructions of the level `avx512vbmi`.
    Vbmi, avx512vbmi: "avx512vbmi"
}

/// Values that a byte has.
pub(crate) const ENTRIES: usize = 256;

/// What becomes of every byte: one byte, two, or four of which the lower two are zero.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    /// The low bytes of all results, and the high ones.
    low: [u8; ENTRIES],
    high: [u8; ENTRIES],
    bytes: usize,
    vbmi: Vbmi,
    lanes: V4,
}

impl Table {
    /// The table of results of 1, 2 or 4 bytes each, one after the other, which there is if the machine has the level.
    pub(crate) fn new(results: &[u8], bytes: usize) -> Option<Table> {
        let (vbmi, lanes) = (Vbmi::try_new()?, V4::try_new()?);
        let mut table = Table { low: [0; ENTRIES], high: [0; ENTRIES], bytes, vbmi, lanes };
        for (entry, result) in results.chunks_exact(bytes).enumerate().take(ENTRIES) {
            match *result {
                [low] => table.low[entry] = low,
                [low, high] | [0, 0, low, high] => (table.low[entry], table.high[entry]) = (low, high),
                _ => return None,
            }
        }
        Some(table)
    }

    /// True for rows that it has a way for.
    pub(in crate::convert) fn takes(&self, rows: &ConvertRows<'_>) -> bool {
        let form = match rows.form {
            Form::Plain | Form::Lines | Form::Unzip { ways: 4, .. } => true,
            Form::Zip { ways, .. } => ways * self.bytes == 4,
            Form::Unzip { .. } | Form::ZipPairs { .. } | Form::UnzipPairs { .. } => false,
        };
        form && rows.count >= BLOCK && rows.src.bits.is_none() && rows.dst.bits.is_none()
    }

    /// The registers of the level.
    pub(crate) fn lanes(&self) -> V4 {
        self.lanes
    }

    /// Runs a task where the level's instructions are.
    pub(crate) fn vectorize<T: NullaryFnOnce>(&self, task: T) -> T::Output {
        self.vbmi.vectorize(task)
    }

    /// Converts rows that it takes.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`].
    pub(in crate::convert) unsafe fn run(&self, rows: &ConvertRows<'_>) {
        self.vectorize(Enter(ByTable { table: Registers::new(self), rows, lanes: self.lanes }));
    }
}

/// Rows as pulp wants them.
struct Enter<'a>(ByTable<'a>);

impl NullaryFnOnce for Enter<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // SAFETY: entered by `Table::run`, whose caller keeps the contract.
        unsafe {
            match (self.0.rows.form, self.0.table.bytes) {
                (Form::Unzip { step, lines, .. }, 1) => self.0.unzip::<1>(step, lines.are_whole()),
                (Form::Unzip { step, lines, .. }, 2) => self.0.unzip::<2>(step, lines.are_whole()),
                (Form::Unzip { step, lines, .. }, _) => self.0.unzip::<4>(step, lines.are_whole()),
                (Form::Zip { step, stream, .. }, 1) => self.0.zip::<1>(step, stream),
                (Form::Zip { step, stream, .. }, _) => self.0.zip::<2>(step, stream),
                (form, 1) => self.0.straight::<1>(form.is_lines()),
                (form, 2) => self.0.straight::<2>(form.is_lines()),
                (form, _) => self.0.straight::<4>(form.is_lines()),
            }
        }
    }
}

/// A table in registers, which only a table makes: its instructions are there.
#[derive(Clone, Copy)]
pub(crate) struct Registers {
    low: [__m512i; 4],
    high: [__m512i; 4],
    pub(crate) bytes: usize,
}

impl Registers {
    pub(crate) fn new(table: &Table) -> Registers {
        Registers { low: pulp::cast(table.low), high: pulp::cast(table.high), bytes: table.bytes }
    }

    /// The low bytes of what the bytes of a line become.
    #[inline(always)]
    pub(crate) fn low(&self, lanes: V4, line: __m512i) -> __m512i {
        found(lanes, line, self.low)
    }

    /// The high ones.
    #[inline(always)]
    pub(crate) fn high(&self, lanes: V4, line: __m512i) -> __m512i {
        found(lanes, line, self.high)
    }
}

/// The entries of a table that the bytes of a line name.
#[inline(always)]
fn found(lanes: V4, line: __m512i, table: [__m512i; 4]) -> __m512i {
    let is_high = lanes.avx512bw._mm512_movepi8_mask(line);
    // SAFETY: there is a table, which proves the instruction.
    let (low, high) = unsafe {
        (
            _mm512_permutex2var_epi8(table[0], line, table[1]),
            _mm512_permutex2var_epi8(table[2], line, table[3]),
        )
    };
    lanes.avx512bw._mm512_mask_blend_epi8(is_high, low, high)
}

/// Rows by a table.
#[derive(Clone, Copy)]
struct ByTable<'a> {
    table: Registers,
    rows: &'a ConvertRows<'a>,
    lanes: V4,
}

/// Bytes of a lane in turn from each of four places: in a lane each.
const BY_WAY: [u8; LINE] = {
    let mut order = [0; LINE];
    let mut i = 0;
    while i < LINE {
        order[i] = (4 * (i % 16) + i / 16) as u8;
        i += 1;
    }
    order
};

/// The first half of a register, and the second one, in the upper halves of words.
const UPPER: [[u16; 32]; 2] = {
    let mut order = [[0; 32]; 2];
    let mut i = 0;
    while i < 16 {
        order[0][2 * i + 1] = i as u16;
        order[1][2 * i + 1] = 16 + i as u16;
        i += 1;
    }
    order
};

impl ByTable<'_> {
    /// Row by row; the last block of a row steps back.
    ///
    /// # Safety
    /// As [`Table::run`]; rows are whole lines if `stream`.
    #[inline(always)]
    unsafe fn straight<const BYTES: usize>(self, stream: bool) {
        let streamed = apart(stream, BLOCK, self.rows.count);
        let mut row = 0;
        while row < self.rows.rows as isize {
            let (src, dst) = self.rows.starts(row);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - BLOCK);
                self.rows.look_ahead_of(self.lanes, row, src, at, LINE);
                // SAFETY: a block of the row on either side.
                unsafe {
                    let line = self.lanes.load(src.add(at));
                    self.put::<BYTES>(line, dst.add(BYTES * at), done < streamed);
                }
                done = at + BLOCK;
            }
            row += 1;
        }
    }

    /// Four rows `step` apart with results of one byte, or two with results of two, become a stream of words.
    ///
    /// # Safety
    /// As [`Table::run`]; the stream starts a line if `stream`.
    #[inline(always)]
    unsafe fn zip<const BYTES: usize>(self, step: isize, stream: bool) {
        let streamed = apart(stream, BLOCK, self.rows.count);
        for row in self.rows.each_row() {
            let (src, dst) = self.rows.woven_starts(row);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - BLOCK);
                let mut woven = [self.lanes.zero(); 4];
                let mut way = 0;
                while way < 4 / BYTES {
                    let from = src.wrapping_add(at).wrapping_offset(way as isize * step);
                    self.rows.look_ahead(self.lanes, from, LINE);
                    // SAFETY: a block of a row of the source.
                    let line = Avx512::alone(self.lanes).ordered(2, unsafe { self.lanes.load(from) });
                    woven[way * BYTES] = self.table.low(self.lanes, line);
                    if BYTES == 2 {
                        woven[way * BYTES + 1] = self.table.high(self.lanes, line);
                    }
                    way += 1;
                }
                // SAFETY: as many words of the stream.
                unsafe { put_bytes(self.lanes, dst.add(4 * at), woven, done < streamed) };
                done = at + BLOCK;
            }
        }
    }

    /// One stream becomes four rows, `step` apart.
    ///
    /// # Safety
    /// As [`Table::run`]; the rows start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip<const BYTES: usize>(self, step: isize, stream: bool) {
        let streamed = apart(stream, BLOCK, self.rows.count);
        let s = self.lanes.avx512f;
        for row in self.rows.each_row() {
            let (src, dst) = self.rows.woven_starts(row);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - BLOCK);
                let from = src.wrapping_add(4 * at);
                self.rows.look_ahead(self.lanes, from, 4 * LINE);
                // SAFETY: four lines of the stream.
                let [a, b, c, d] = unsafe {
                    [self.way(from), self.way(from.add(64)), self.way(from.add(128)), self.way(from.add(192))]
                };
                let (low, high) =
                    (s._mm512_shuffle_i32x4::<0x44>(a, b), s._mm512_shuffle_i32x4::<0xee>(a, b));
                let (low_2, high_2) =
                    (s._mm512_shuffle_i32x4::<0x44>(c, d), s._mm512_shuffle_i32x4::<0xee>(c, d));
                let rows = [
                    s._mm512_shuffle_i32x4::<0x88>(low, low_2),
                    s._mm512_shuffle_i32x4::<0xdd>(low, low_2),
                    s._mm512_shuffle_i32x4::<0x88>(high, high_2),
                    s._mm512_shuffle_i32x4::<0xdd>(high, high_2),
                ];
                let mut way = 0;
                while way < 4 {
                    let to = dst.wrapping_offset(way as isize * step).wrapping_add(BYTES * at);
                    // SAFETY: a block of a row of the destination.
                    unsafe { self.put::<BYTES>(rows[way], to, done < streamed) };
                    way += 1;
                }
                done = at + BLOCK;
            }
        }
    }

    /// A line of a stream, its ways apart.
    ///
    /// # Safety
    /// It must be readable.
    #[inline(always)]
    unsafe fn way(self, from: *const u8) -> __m512i {
        // SAFETY: the caller's promise; `Table::run` proved the instruction.
        unsafe { _mm512_permutexvar_epi8(pulp::cast(BY_WAY), self.lanes.load(from)) }
    }

    /// Writes what becomes of a line.
    ///
    /// # Safety
    /// A block of results must be writable at `to`, which starts a line if `stream`.
    #[inline(always)]
    unsafe fn put<const BYTES: usize>(self, line: __m512i, to: *mut u8, stream: bool) {
        if BYTES == 1 {
            // SAFETY: the caller's promise.
            return unsafe { put(self.lanes, to, self.table.low(self.lanes, line), stream) };
        }
        let line = Avx512::alone(self.lanes).ordered(1, line);
        let (low, high) = (self.table.low(self.lanes, line), self.table.high(self.lanes, line));
        let (first, second) = self.lanes.zip::<1>(low, high);
        let mut part = 0;
        while part < BYTES {
            let half = if part * 2 < BYTES { first } else { second };
            let line = match BYTES {
                2 => half,
                _ => self.lanes.avx512bw._mm512_maskz_permutexvar_epi16(
                    0xaaaa_aaaa,
                    pulp::cast(UPPER[part % 2]),
                    half,
                ),
            };
            // SAFETY: the caller's promise, for a line of it.
            unsafe { put(self.lanes, to.add(part * LINE), line, stream) };
            part += 1;
        }
    }
}

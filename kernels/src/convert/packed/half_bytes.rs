//! Rows of half bytes that are woven eight at a time: a word takes a slot of each.

use crate::convert::hop::{Hop, NO_FACTORS, apply};
use crate::convert::packed::bit_runs::{Line, line_at, move_bits, stream_bits};
use crate::convert::packed::rows::Packed;
use crate::convert::rows::{Form, Lines, Place};
use crate::deinterleave::unzip_rows;
use crate::interleave::zip_rows;
use crate::lanes::{Held, LINE, Lanes, apart, copy_line, stream_line};
use crate::slots::Bits;

/// Rows of half bytes of which a word takes one slot each.
pub(crate) const HALF_BYTES: usize = 8;

/// Half bytes of a line.
pub(crate) const COLUMNS: usize = 2 * LINE;

/// Lines of each of eight rows that are moved together.
const TOGETHER: usize = 8;

/// True where rows of half bytes start bytes.
fn starts_bytes(rows: Place) -> bool {
    rows.bits == Some(Bits::Four) && rows.first % 2 == 0 && rows.pitch % 2 == 0
}

impl<L: Lanes> Packed<'_, L> {
    /// Weaves rows for which there is a way here; false where there is none, and nothing was done.
    ///
    /// # Safety
    /// As [`packed`](crate::convert::packed::rows::packed).
    #[inline(always)]
    pub(crate) unsafe fn weave(self) -> bool {
        let Packed { rows, .. } = self;
        // SAFETY: the caller's promise, for all of them.
        unsafe {
            match (rows.form, rows.src.bits, rows.dst.bits) {
                (Form::Zip { ways: HALF_BYTES, step, stream }, src, Some(Bits::Four))
                    if starts_bytes(rows.dst) =>
                {
                    let is_even = starts_bytes(rows.src) && step % 2 == 0 && rows.count.is_multiple_of(2);
                    match src {
                        Some(Bits::Four) if rows.count >= COLUMNS => self.zip_packed(step, stream),
                        Some(Bits::Four) if is_even => self.zip(step, stream),
                        None => self.zip(step, stream),
                        Some(_) => return false,
                    }
                }
                (Form::Unzip { ways: HALF_BYTES, step, lines }, Some(Bits::Four), Some(Bits::Four)) => {
                    self.unzip_packed(step, matches!(lines, Lines::Within));
                }
                (Form::Unzip { ways: HALF_BYTES, step, lines }, Some(Bits::Four), None)
                    if starts_bytes(rows.src) =>
                {
                    self.unzip(step, lines.are_whole());
                }
                _ => return false,
            }
        }
        true
    }

    /// Eight rows become one stream: two at a time the bytes of four, which are interleaved.
    ///
    /// # Safety
    /// As [`packed`](crate::convert::packed::rows::packed), for rows that start bytes; the stream starts a line if `stream`.
    #[inline(always)]
    unsafe fn zip(self, step: isize, stream: bool) {
        let streamed = apart(stream, LINE, self.rows.count);
        let mut row = 0;
        while row < self.rows.rows as isize {
            let src = self.rows.src.at(row * self.rows.src.pitch);
            let to = self.rows.dst.at(row * self.rows.dst.pitch).byte_of(0);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - LINE);
                let mut rows = Held([[0; LINE]; HALF_BYTES]);
                let mut way = 0;
                while way < HALF_BYTES {
                    let from = src.at(way as isize * step + at as isize);
                    // SAFETY: a line of slots of a row.
                    unsafe { self.line(from.byte_of(0), from.bits.is_some(), &mut rows.0[way]) };
                    way += 1;
                }
                let pairs = joined(&rows);
                // SAFETY: as many slots of the stream, half a byte each.
                unsafe {
                    let (from, to) = (pairs.0.as_ptr().cast::<u8>(), to.add(4 * at));
                    let past = (done < streamed).then_some(0);
                    zip_rows::<L, 1, 4>(self.lanes, LINE, LINE as isize, from, to, past);
                }
                done = at + LINE;
            }
            row += 1;
        }
    }

    /// The same for a line of packed slots of each row at a time, without taking them apart: a half of a byte of one row and
    /// one of the next make a byte of the stream.
    ///
    /// # Safety
    /// As [`packed`](crate::convert::packed::rows::packed), for packed rows of at least [`COLUMNS`] slots, which start anywhere; the stream starts a byte, and a line
    /// if `stream`.
    #[inline(always)]
    unsafe fn zip_packed(self, step: isize, stream: bool) {
        let streamed = apart(stream, COLUMNS, self.rows.count);
        let mut row = 0;
        while row < self.rows.rows as isize {
            let src = self.rows.src.at(row * self.rows.src.pitch);
            let to = self.rows.dst.at(row * self.rows.dst.pitch).byte_of(0);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - COLUMNS);
                let mut halves = Held([[0; LINE]; HALF_BYTES]);
                let mut pair = 0;
                while pair < HALF_BYTES / 2 {
                    let slot = src.first + at as isize + 2 * pair as isize * step;
                    let low = &raw mut halves.0[pair];
                    let high = &raw mut halves.0[HALF_BYTES / 2 + pair];
                    // SAFETY: a line of two rows.
                    unsafe {
                        let lines = [self.line_of(slot), self.line_of(slot + step)];
                        exchange_halves(self.lanes, [lines[0].as_ptr(), lines[1].as_ptr()], [low, high]);
                    }
                    pair += 1;
                }
                // SAFETY: as many slots of the stream, half a byte each.
                unsafe {
                    let (from, to) = (halves.0.as_ptr().cast::<u8>(), to.add(4 * at));
                    let past = (done < streamed).then_some(0);
                    zip_rows::<L, 1, HALF_BYTES>(self.lanes, LINE, LINE as isize, from, to, past);
                }
                done = at + COLUMNS;
            }
            row += 1;
        }
    }

    /// A line of packed half bytes from a slot of the source on.
    ///
    /// # Safety
    /// These slots must be readable.
    #[inline(always)]
    unsafe fn line_of(self, slot: isize) -> Line {
        let from = self.rows.src.base.wrapping_offset(slot / 2).cast_const();
        self.rows.look_ahead(self.lanes, from, LINE);
        // SAFETY: the caller's promise.
        unsafe { line_at(from, slot as u32 % 2 * 4, LINE) }
    }

    /// A line of slots of a row, a byte each.
    ///
    /// # Safety
    /// They must be readable at `from`.
    #[inline(always)]
    unsafe fn line(self, from: *const u8, is_packed: bool, line: &mut [u8; LINE]) {
        self.rows.look_ahead(self.lanes, from, if is_packed { LINE / 2 } else { LINE });
        // SAFETY: the caller's promise; arrays of bytes ask for no alignment.
        unsafe {
            match is_packed {
                true => apply(&Hop::Unpack(Bits::Four), from, line.as_mut_ptr(), LINE / 2, NO_FACTORS),
                false => *line = from.cast::<[u8; LINE]>().read(),
            }
        }
    }

    /// One stream becomes eight rows of bytes: the reverse.
    ///
    /// # Safety
    /// As [`packed`](crate::convert::packed::rows::packed), for rows that start bytes; the rows start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip(self, step: isize, stream: bool) {
        let streamed = apart(stream, LINE, self.rows.count);
        let mut row = 0;
        while row < self.rows.rows as isize {
            let from = self.rows.src.at(row * self.rows.src.pitch).byte_of(0).cast_const();
            let dst = self.rows.dst.at(row * self.rows.dst.pitch);
            let mut done = 0;
            while done < self.rows.count {
                let at = done.min(self.rows.count - LINE);
                self.rows.look_ahead(self.lanes, from.wrapping_add(4 * at), 4 * LINE);
                let mut pairs = Held([[0; LINE]; HALF_BYTES / 2]);
                let room = pairs.0.as_mut_ptr().cast::<u8>();
                // SAFETY: as many slots of the stream, half a byte each.
                unsafe {
                    unzip_rows::<L, 1, 4>(self.lanes, LINE, LINE as isize, from.add(4 * at), room, None);
                }
                let rows = split(&pairs);
                let mut way = 0;
                while way < HALF_BYTES {
                    let to = dst.at(way as isize * step + at as isize).byte_of(0);
                    let line = rows.0[way].as_ptr();
                    // SAFETY: a line of a row.
                    unsafe {
                        match done < streamed {
                            true => stream_line(self.lanes, line, to),
                            false => copy_line(self.lanes, line, to),
                        }
                    }
                    way += 1;
                }
                done = at + LINE;
            }
            row += 1;
        }
    }

    /// The same without taking half bytes apart: some lines of each row at a time, which are moved to where they start.
    ///
    /// # Safety
    /// As [`packed`](crate::convert::packed::rows::packed), for rows of at least [`COLUMNS`] slots, which start anywhere; the stream starts a byte.
    #[inline(always)]
    unsafe fn unzip_packed(self, step: isize, stream: bool) {
        let mut rows = Held([[0; LINE]; HALF_BYTES * TOGETHER]);
        let mut row = 0;
        while row < self.rows.rows as isize {
            let from = self.rows.src.at(row * self.rows.src.pitch).byte_of(0).cast_const();
            let dst = self.rows.dst.at(row * self.rows.dst.pitch);
            let mut done = 0;
            while done < self.rows.count {
                // The last line steps back.
                let at = done.min(self.rows.count - COLUMNS);
                let lines = ((self.rows.count - at) / COLUMNS).min(TOGETHER);
                self.ask_ends(dst.at((at + lines * COLUMNS) as isize), step);
                let mut line = 0;
                while line < lines {
                    let from = from.wrapping_add(HALF_BYTES / 2 * (at + line * COLUMNS));
                    self.rows.look_ahead(self.lanes, from, HALF_BYTES * LINE);
                    // SAFETY: a line of each row.
                    unsafe { self.unzip_line(from, &mut rows, line) };
                    line += 1;
                }
                let mut way = 0;
                while way < HALF_BYTES {
                    let to_bit = 4 * (dst.first + way as isize * step + at as isize) as usize;
                    let (lines_of_row, count) = (&rows.0[way * TOGETHER], 8 * LINE * lines);
                    let from = lines_of_row.as_ptr();
                    // SAFETY: some lines of a row.
                    unsafe {
                        match stream {
                            true => stream_bits(self.lanes, (from, 0), (dst.base, to_bit), count),
                            false => move_bits(from, 0, dst.base, to_bit, count),
                        }
                    }
                    way += 1;
                }
                done = at + lines * COLUMNS;
            }
            row += 1;
        }
    }

    /// Asks for the lines where pieces of eight rows end, which are read before they are written.
    #[inline(always)]
    fn ask_ends(self, end: Place, step: isize) {
        let mut way = 0;
        while way < HALF_BYTES {
            self.lanes.prefetch_near(end.at(way as isize * step).byte_of(0));
            way += 1;
        }
    }

    /// A line of each of the rows, the one of this number.
    ///
    /// # Safety
    /// As many lines of the stream as there are rows must be readable at `from`.
    #[inline(always)]
    unsafe fn unzip_line(self, from: *const u8, rows: &mut Held<{ HALF_BYTES * TOGETHER }>, line: usize) {
        let mut halves = Held([[0; LINE]; HALF_BYTES]);
        let room = halves.0.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's promise.
        unsafe { unzip_rows::<L, 1, HALF_BYTES>(self.lanes, LINE, LINE as isize, from, room, None) };
        let mut pair = 0;
        while pair < HALF_BYTES / 2 {
            let lines = [&raw const halves.0[pair], &raw const halves.0[HALF_BYTES / 2 + pair]];
            let first = &raw mut rows.0[2 * pair * TOGETHER + line];
            let pair_of_rows = [first, &raw mut rows.0[(2 * pair + 1) * TOGETHER + line]];
            // SAFETY: lines of the buffers.
            unsafe { exchange_halves(self.lanes, lines, pair_of_rows) };
            pair += 1;
        }
    }
}

/// Makes a line of the low halves of the bytes of two lines, as halves of bytes, and one of the high ones; its own reverse.
/// Written with registers: what compilers make of words in their place is stored in parts, and loads of the whole wait for these.
///
/// # Safety
/// A line must be readable at both places, and writable at the other two, of which none is among the first.
#[inline(always)]
unsafe fn exchange_halves<L: Lanes, T, U>(lanes: L, from: [*const T; 2], to: [*mut U; 2]) {
    let mut part = 0;
    while part < LINE {
        // SAFETY: registers of the lines.
        unsafe {
            let first = lanes.halves(lanes.load(from[0].cast::<u8>().add(part)));
            let second = lanes.halves(lanes.load(from[1].cast::<u8>().add(part)));
            lanes.store(to[0].cast::<u8>().add(part), lanes.or(first.0, lanes.shift_up(second.0, 4)));
            lanes.store(to[1].cast::<u8>().add(part), lanes.or(first.1, lanes.shift_up(second.1, 4)));
        }
        part += L::BYTES;
    }
}

/// The slots of two rows at a time as halves of a byte.
#[inline(always)]
fn joined(rows: &Held<HALF_BYTES>) -> Held<{ HALF_BYTES / 2 }> {
    let mut pairs = Held([[0; LINE]; HALF_BYTES / 2]);
    let mut pair = 0;
    while pair < HALF_BYTES / 2 {
        let mut i = 0;
        while i < LINE {
            pairs.0[pair][i] = rows.0[2 * pair][i] & 0x0f | rows.0[2 * pair + 1][i] << 4;
            i += 1;
        }
        pair += 1;
    }
    pairs
}

/// The halves of every byte as slots of two rows.
#[inline(always)]
fn split(pairs: &Held<{ HALF_BYTES / 2 }>) -> Held<HALF_BYTES> {
    let mut rows = Held([[0; LINE]; HALF_BYTES]);
    let mut pair = 0;
    while pair < HALF_BYTES / 2 {
        let mut i = 0;
        while i < LINE {
            rows.0[2 * pair][i] = pairs.0[pair][i] & 0x0f;
            rows.0[2 * pair + 1][i] = pairs.0[pair][i] >> 4;
            i += 1;
        }
        pair += 1;
    }
    rows
}

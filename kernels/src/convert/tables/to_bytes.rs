//! Floats that become floats of a byte: register by register, by halves of words.

use pulp::NullaryFnOnce;

use crate::convert::each_row::Row;
use crate::convert::float::Lean;
use crate::convert::multiply::{Unscaled, Walk};
use crate::convert::one_factor::Kept;
use crate::convert::rows::{ConvertRows, Form, Lines};
use crate::convert::tables::halves::{Blocks, ByWords, Halves, MOST_REGISTERS, Source};
use crate::convert::tables::narrowing::{From, Narrowing};
use crate::convert::tables::narrows::Narrows;
use crate::convert::words::casts::{HalfFrom, LoudTop, Plain};
use crate::convert::words::{BLOCK, Vector, put_bytes};
use crate::lanes::{LINE, Lanes, apart, put};
use crate::tuning::ROWS_OF_FACTORS;

/// Low bytes of halves.
const LOW_BYTES: [[u8; 2]; LINE / 2] = [[u8::MAX, 0]; LINE / 2];

impl Narrowing {
    /// Converts rows of at least [`BLOCK`] elements, `N` of them at a time, as many as a register has bytes; false where there is no way,
    /// and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], which means what it offers.
    pub(in crate::convert) unsafe fn run<M: Narrows, const N: usize>(
        &self,
        rows: &ConvertRows<'_>,
        means: M,
    ) -> bool {
        const { assert!(N == M::Lanes::BYTES && BLOCK / N <= MOST_REGISTERS) };
        let is_scaled = rows.conversion.is_scaled();
        let has_way = match rows.form {
            Form::Plain | Form::Lines => true,
            Form::Zip { ways, .. } => ways == 4,
            Form::Unzip { ways, lines, .. } => {
                let are_halves = ways == 2 && rows.conversion.src_bytes() == 2;
                are_halves && !is_scaled && matches!(lines, Lines::Stored | Lines::Whole)
            }
            Form::ZipPairs { .. } | Form::UnzipPairs { .. } => false,
        };
        if !has_way || rows.count < BLOCK || rows.has_packed() || rows.turned.is_some() {
            return false;
        }
        match (self.from, is_scaled) {
            // Which is made for registers of a line only.
            (From::Plain, false) if N < BLOCK => return false,
            (From::Plain, false) => self.enter::<ByWords<_, Unscaled>, M, N>(rows, means, Plain::<4>),
            (From::Top | From::Half(_), false) => self.enter::<Halves, M, N>(rows, means, ()),
            (From::Plain, true) => self.enter::<ByWords<_, Walk<'_>>, M, N>(rows, means, Plain::<4>),
            (From::Top, true) => self.enter::<ByWords<_, Walk<'_>>, M, N>(rows, means, LoudTop),
            (From::Half(decode), true) => {
                self.enter::<ByWords<_, Walk<'_>>, M, N>(rows, means, HalfFrom(decode));
            }
        }
        true
    }

    /// Enters a region for a source and a kind of floats.
    fn enter<'a, S: Source<'a>, M: Narrows, const N: usize>(
        &self,
        rows: &ConvertRows<'a>,
        means: M,
        from: S::From,
    ) {
        let narrowing = self;
        match self.kind {
            Lean::NAN_IS_NEXT => {
                means.vectorize(Enter::<S, M, { Lean::NAN_IS_NEXT }, N> { rows, means, narrowing, from })
            }
            Lean::PLAIN_ZERO => {
                means.vectorize(Enter::<S, M, { Lean::PLAIN_ZERO }, N> { rows, means, narrowing, from })
            }
            _ => means.vectorize(Enter::<S, M, { Lean::OTHER }, N> { rows, means, narrowing, from }),
        };
    }
}

/// Rows in a level's region.
struct Enter<'r, 'a, S: Source<'a>, M, const KIND: u32, const N: usize> {
    rows: &'r ConvertRows<'a>,
    means: M,
    narrowing: &'r Narrowing,
    from: S::From,
}

impl<'a, S: Source<'a>, M: Narrows, const KIND: u32, const N: usize> NullaryFnOnce
    for Enter<'_, 'a, S, M, KIND, N>
{
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let Enter { rows, means, narrowing, from } = self;
        // Copies, which no store may change: what registers are filled with is read once.
        let rows = *rows;
        let source = S::new(from, rows.scale);
        let narrow = Narrow::<M, KIND, N> { rows: &rows, means, narrowing: *narrowing };
        // SAFETY: entered by `Narrowing::run`, whose caller keeps the contract.
        unsafe {
            match rows.form {
                Form::Plain | Form::Lines => narrow.straight(source),
                Form::Zip { step, stream, .. } => narrow.zip(source, step, stream),
                Form::Unzip { step, lines, .. } => narrow.unzip(source, step, lines.are_whole()),
                Form::ZipPairs { .. } | Form::UnzipPairs { .. } => return false,
            }
        }
        true
    }
}

/// Rows, and what their elements are narrowed by to floats of a kind, so many at a time.
struct Narrow<'r, 'a, M, const KIND: u32, const N: usize> {
    rows: &'r ConvertRows<'a>,
    means: M,
    narrowing: Narrowing,
}

impl<'a, M: Narrows, const KIND: u32, const N: usize> Narrow<'_, 'a, M, KIND, N> {
    /// Reads a block of elements of a way, which become registers of packed bytes.
    ///
    /// # Safety
    /// They must be readable at `from`.
    #[inline(always)]
    unsafe fn load(
        &self,
        blocks: &mut impl Blocks,
        from: *const u8,
        place: isize,
        way: usize,
    ) -> [Vector<M>; MOST_REGISTERS] {
        let mut bytes = [self.means.lanes().zero(); MOST_REGISTERS];
        // SAFETY: the caller's promise.
        let halves = unsafe { blocks.halves::<M, N>((self.means, &self.narrowing), from, place, way) };
        let mut part = 0;
        while part < BLOCK / N {
            bytes[part] = self.means.narrowed::<KIND>(halves[part], &self.narrowing);
            part += 1;
        }
        bytes
    }

    /// Puts what was packed so often in order, and writes a line of it, one register right after the other.
    ///
    /// # Safety
    /// As [`put`], for a line.
    #[inline(always)]
    unsafe fn put(&self, packs: usize, bytes: [Vector<M>; MOST_REGISTERS], to: *mut u8, stream: bool) {
        let (means, mut line) = (self.means, bytes);
        let mut part = 0;
        while part < BLOCK / N {
            line[part] = means.unpacked(packs, 0, bytes[part]);
            part += 1;
        }
        let mut part = 0;
        while part < BLOCK / N {
            // SAFETY: a part of the line.
            unsafe { put(means.lanes(), to.add(part * N), line[part], stream) };
            part += 1;
        }
    }

    /// Row by row, block by block; the last block of a row steps back.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements.
    #[inline(always)]
    unsafe fn straight<S: Source<'a>>(&self, mut source: S) {
        let rows = self.rows;
        let streamed = apart(rows.form.is_lines(), BLOCK, rows.count);
        if rows.take_turns() {
            // SAFETY: the caller's promise.
            return unsafe { self.by_turns(source, streamed) };
        }
        let (pitch, mut of_rows) = (rows.pitch_of_factors(), [0.0; BLOCK]);
        let are_found = rows.factors_of_rows(&mut of_rows);
        for row in 0..rows.rows as isize {
            if are_found {
                source.set(of_rows[row as usize]);
            }
            let first = rows.src.first + row * pitch;
            // SAFETY: the caller's promise.
            unsafe {
                match source.all() {
                    Some(mut one) => self.row(&mut one, row, first, streamed),
                    None => self.row(&mut source, row, first, streamed),
                }
            }
        }
    }

    /// One of them, of which the first element finds its factor at a place.
    ///
    /// # Safety
    /// As [`Narrow::straight`].
    #[inline(always)]
    unsafe fn row<B: Blocks>(&self, blocks: &mut B, row: isize, first: isize, streamed: usize) {
        let (rows, means) = (self.rows, self.means);
        let (src, dst) = rows.starts(row);
        let mut done = 0;
        while done < rows.count {
            let at = done.min(rows.count - BLOCK);
            let before = B::BYTES * at;
            rows.look_ahead_of(means.lanes(), row, src, before, B::BYTES * BLOCK);
            // SAFETY: a block of the row.
            unsafe {
                let bytes = self.load(blocks, src.add(before), first + before as isize, 0);
                self.put(1, bytes, dst.add(at), done < streamed);
            }
            done = at + BLOCK;
        }
    }

    /// Rows that share their factors, block by block a few of them in turn.
    ///
    /// # Safety
    /// As [`Narrow::straight`].
    #[inline(always)]
    unsafe fn by_turns<S: Source<'a>>(&self, mut source: S, streamed: usize) {
        let (rows, means) = (self.rows, self.means);
        let all = rows.rows as isize;
        for first in (0..all).step_by(ROWS_OF_FACTORS as usize) {
            let mut done = 0;
            while done < rows.count {
                let at = done.min(rows.count - BLOCK);
                let place = rows.src.first + (S::BYTES * at) as isize;
                for row in first..all.min(first + ROWS_OF_FACTORS) {
                    let (src, dst) = rows.starts(row);
                    let from = src.wrapping_add(S::BYTES * at);
                    rows.look_ahead(means.lanes(), from, S::BYTES * BLOCK);
                    // SAFETY: a block of the row.
                    unsafe {
                        let bytes = self.load(&mut source, from, place, 0);
                        self.put(1, bytes, dst.add(at), done < streamed);
                    }
                }
                done = at + BLOCK;
            }
        }
    }

    /// Four rows `step` apart each become a stream of words.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements; streams start lines if `stream`.
    #[inline(always)]
    unsafe fn zip<S: Source<'a>>(&self, mut source: S, step: isize, stream: bool) {
        let mut kept = Kept::new(self.rows.beyond.extent > 1);
        let before = [0, step, 2 * step, 3 * step];
        for row in self.rows.each_row() {
            // SAFETY: the caller's promise.
            unsafe {
                match source.ones(self.rows, &mut kept, row, before) {
                    Some(mut ones) => self.zip_row(&mut ones, row, step, stream),
                    None => self.zip_row(&mut source, row, step, stream),
                }
            }
        }
    }

    /// A row of the stream.
    ///
    /// # Safety
    /// As [`Narrow::zip`].
    #[inline(always)]
    unsafe fn zip_row<B: Blocks>(&self, blocks: &mut B, row: Row, step: isize, stream: bool) {
        let (rows, means, lanes) = (self.rows, self.means, self.means.lanes());
        let streamed = apart(stream, BLOCK, rows.count);
        let (src, dst) = rows.woven_starts(row);
        let first = rows.places(row).0.first;
        let mut done = 0;
        while done < rows.count {
            let at = done.min(rows.count - BLOCK);
            let mut ways = [[lanes.zero(); 4]; MOST_REGISTERS];
            let mut way = 0;
            while way < 4 {
                let before = way as isize * step + (B::BYTES * at) as isize;
                let (from, place) = (src.wrapping_offset(before), first + before);
                rows.look_ahead(lanes, from, B::BYTES * BLOCK);
                // SAFETY: a block of a row of the source.
                let bytes = unsafe { self.load(blocks, from, place, way) };
                let mut part = 0;
                while part < BLOCK / N {
                    ways[part][way] = means.unpacked(1, 2, bytes[part]);
                    part += 1;
                }
                way += 1;
            }
            let mut part = 0;
            while part < BLOCK / N {
                // SAFETY: as many words of the stream.
                unsafe { put_bytes(lanes, dst.add(4 * (at + part * N)), ways[part], done < streamed) };
                part += 1;
            }
            done = at + BLOCK;
        }
    }

    /// A stream of words becomes two rows `step` apart, without factors.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least [`BLOCK`] elements, which start lines if `stream`.
    #[inline(always)]
    unsafe fn unzip<S: Source<'a>>(&self, mut source: S, step: isize, stream: bool) {
        let (rows, means, lanes) = (self.rows, self.means, self.means.lanes());
        let streamed = apart(stream, BLOCK, rows.count);
        // SAFETY: a register that is all there.
        let mask = unsafe { lanes.load(LOW_BYTES.as_ptr().cast()) };
        for row in rows.each_row() {
            let (src, dst) = rows.woven_starts(row);
            let mut done = 0;
            while done < rows.count {
                let at = done.min(rows.count - BLOCK);
                let from = src.wrapping_add(4 * at);
                rows.look_ahead(lanes, from, 4 * BLOCK);
                let (to, stream) = (dst.wrapping_add(at), done < streamed);
                // SAFETY: as many words of the stream: two blocks of halves, which become a line of every row.
                let [first, second] = unsafe {
                    [self.load(&mut source, from, 0, 0), self.load(&mut source, from.add(2 * BLOCK), 0, 0)]
                };
                let (mut even, mut odd) = (first, second);
                let mut part = 0;
                while part < BLOCK / N {
                    let [a, b] = match BLOCK / N {
                        1 => [first[0], second[0]],
                        _ if part == 0 => first,
                        _ => second,
                    };
                    even[part] = means.packed([lanes.and(a, mask), lanes.and(b, mask)]);
                    let (a, b) = (lanes.shift_down(a, 8), lanes.shift_down(b, 8));
                    odd[part] = means.packed([lanes.and(a, mask), lanes.and(b, mask)]);
                    part += 1;
                }
                // SAFETY: a block of either row of the destination.
                unsafe {
                    self.put(2, even, to, stream);
                    self.put(2, odd, to.wrapping_offset(step), stream);
                }
                done = at + BLOCK;
            }
        }
    }
}

//! One stream that becomes a few rows, and rows made of pieces, written past the cache where rows start anywhere.
//!
//! A piece of a row seldom starts or ends a line, but the next piece goes on where it ended: every row carries the bytes
//! behind its last whole line over to its next piece, so that each line is written once and whole.

use crate::deinterleave::{AHEAD_IN_STREAM, load_unzipped, unzip_rows};
use crate::interleave::walk_plane;
use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::pieces::{Pieces, pieces};
use crate::rows::{Rows, copy_short, stream_run};
use crate::stage::starts_lines;
use crate::walk::{Point, each_point};

/// Takes pieces of `K` rows from a stream of elements of `E` bytes; with `K` = 1 the piece is copied.
#[derive(Clone, Copy)]
pub(crate) struct StreamRows<const E: usize, const K: usize> {
    /// From one piece of a row to the next; continues `along` in the destination.
    pub(crate) next: Loop,
    /// From `K` rows to the next `K`.
    pub(crate) more: Loop,
    /// From row to row; consecutive elements of the source.
    pub(crate) across: Loop,
    /// Along a piece, of whole lines and at least a register.
    pub(crate) along: Loop,
    /// Elements of a row behind its last piece, fewer than a piece.
    pub(crate) rest: usize,
    /// [`carry_bytes`] bytes at the start of a line.
    pub(crate) carry: *mut u8,
}

/// Bytes of carry buffer for so many rows of pieces of `piece` bytes.
pub(crate) fn carry_bytes(rows: usize, piece: usize) -> usize {
    rows * (LINE + piece)
}

/// Copies runs of `run` bytes past the cache, those that continue one another in rows that do not start lines by pieces.
///
/// # Safety
/// At every point of `loops`, so many bytes must be valid on both sides, without overlap.
#[allow(dead_code)] // portable targets have no lanes
#[inline(never)]
pub(crate) unsafe fn rows_past_cache<L: Lanes>(
    lanes: L,
    loops: &[Loop],
    run: usize,
    src: *const u8,
    dst: *mut u8,
) {
    let aligned = starts_lines(loops, dst) && run.is_multiple_of(LINE);
    let along = Loop { extent: run, src_stride: 1, dst_stride: 1 };
    match if aligned { None } else { pieces::<L>(loops, along, 1) } {
        Some(Pieces { before, next, more, along, rest }) => {
            let across = Loop { extent: 1, src_stride: 0, dst_stride: 0 };
            let mut carry = vec![0u8; carry_bytes(more.extent, run) + LINE];
            let carry = carry.as_mut_ptr().wrapping_add(carry.as_ptr().align_offset(LINE));
            let kernel = StreamRows::<1, 1> { next, more, across, along, rest, carry };
            // SAFETY: the caller's promise; the carry buffer lives until the end of this block.
            unsafe { each_point(lanes, before, src, dst, kernel) }
        }
        // SAFETY: the caller's promise.
        None => unsafe { each_point(lanes, loops, src, dst, Rows::new(loops, run, true)) },
    }
}

impl<const E: usize, const K: usize> Point for StreamRows<E, K> {
    /// # Safety
    /// All places of the four loops, and the rest of each row, must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // Single rows, whose pieces are longer, were slower for it.
        if K > 1 {
            self.ask_for_ends(lanes, dst);
        }
        let mut step = 0;
        while step <= self.next.extent {
            let from = src.wrapping_offset(step as isize * self.next.src_stride);
            let to = dst.wrapping_offset(step as isize * self.next.dst_stride);
            let mut group = 0;
            while group < self.more.extent {
                let from = from.wrapping_offset(group as isize * self.more.src_stride);
                let to = to.wrapping_offset(group as isize * self.more.dst_stride);
                let carry = self.carry.wrapping_add(group * K * self.pitch());
                // SAFETY: `K` pieces of rows, or what is behind them; there are buffers for `K` rows of every group.
                unsafe {
                    if step == self.next.extent {
                        self.end(lanes, from, to, carry);
                    } else if L::BYTES == LINE {
                        self.join_lines(lanes, from, to, carry, step == 0);
                    } else {
                        self.join_pieces(lanes, from, to, carry, step == 0);
                    }
                }
                group += 1;
            }
            step += 1;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const K: usize> StreamRows<E, K> {
    /// Bytes of a piece.
    #[inline(always)]
    fn piece(&self) -> usize {
        self.along.extent * E
    }

    /// Bytes from the carry of one row to that of the next.
    #[inline(always)]
    fn pitch(&self) -> usize {
        LINE + self.piece()
    }

    /// Asks for the lines in which the rows end, and the next ones begin if they lie behind these: lines that are written in
    /// part come from memory first, and stores past the cache wait behind them.
    #[inline(always)]
    fn ask_for_ends<L: Lanes>(&self, lanes: L, dst: *mut u8) {
        let mut group = 0;
        while group < self.more.extent as isize {
            let to = dst.wrapping_offset(group * self.more.dst_stride);
            let mut row = 0;
            while row < K {
                let start = self.row_place(to, row);
                let pieces = self.next.extent as isize * self.next.dst_stride;
                lanes.prefetch_near(start.wrapping_offset(pieces));
                lanes.prefetch_near(start.wrapping_offset(self.more.extent as isize * self.more.dst_stride));
                row += 1;
            }
            group += 1;
        }
    }

    /// The place of a row.
    #[inline(always)]
    fn row_place(&self, dst: *mut u8, row: usize) -> *mut u8 {
        dst.wrapping_offset(row as isize * self.across.dst_stride)
    }

    /// A piece of `K` rows, line by line: each is joined from the end of one register and the start of the next.
    ///
    /// # Safety
    /// As [`Point::point`], for one piece of `K` rows, whose carries are behind `carry`; a register is a line.
    #[inline(always)]
    unsafe fn join_lines<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        carry: *mut u8,
        is_first: bool,
    ) {
        let mut carried = [lanes.zero(); K];
        let mut row = 0;
        // SAFETY: each row has a line of carry, of which the end belongs before the piece unless the piece is the first;
        // then what belongs to the first line is written by itself.
        unsafe {
            while row < K {
                carried[row] = lanes.load(carry.add(row * self.pitch()));
                row += 1;
            }
            let mut at = 0;
            while at < self.piece() {
                let rows = load_unzipped::<L, E, K>(lanes, src.add(at * K));
                let mut row = 0;
                while row < K {
                    lanes.prefetch(src.wrapping_add(AHEAD_IN_STREAM + at * K + row * LINE));
                    let to = self.row_place(dst, row).wrapping_add(at);
                    if is_first && at == 0 {
                        begin_row(lanes, rows[row], to, carry.add(row * self.pitch()));
                    } else {
                        let before = to.addr() % LINE;
                        let line = lanes.join(carried[row], rows[row], LINE - before);
                        lanes.stream(to.wrapping_sub(before), line);
                    }
                    carried[row] = rows[row];
                    row += 1;
                }
                at += LINE;
            }
            let mut row = 0;
            while row < K {
                lanes.store(carry.add(row * self.pitch()), carried[row]);
                row += 1;
            }
        }
    }

    /// A piece of `K` rows by way of a buffer behind each row's carry.
    ///
    /// # Safety
    /// As [`Point::point`], for one piece of `K` rows, whose buffers begin at `carry`.
    #[inline(always)]
    unsafe fn join_pieces<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        dst: *mut u8,
        carry: *mut u8,
        is_first: bool,
    ) {
        let (piece, pitch) = (self.piece(), self.pitch());
        let mut line = 0;
        while line < K * piece {
            lanes.prefetch(src.wrapping_add(AHEAD_IN_STREAM + line));
            line += LINE;
        }
        // SAFETY: buffers have room for a piece of each row behind its carry.
        unsafe {
            unzip_rows::<L, E, K>(lanes, self.along.extent, pitch as isize, src, carry.add(LINE), false);
            let mut row = 0;
            while row < K {
                emit(lanes, carry.add(row * pitch), self.row_place(dst, row), piece, is_first);
                row += 1;
            }
        }
    }

    /// What `K` rows still carry, and the rest of each.
    ///
    /// # Safety
    /// As [`Point::point`], for what is behind the last piece of `K` rows, whose buffers begin at `carry`.
    #[inline(always)]
    unsafe fn end<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, carry: *mut u8) {
        let pitch = self.pitch();
        // SAFETY: buffers have room for the rest of each row behind its carry, which ends with what belongs before it.
        unsafe {
            if self.rest * E >= L::BYTES {
                unzip_rows::<L, E, K>(lanes, self.rest, pitch as isize, src, carry.add(LINE), false);
            } else if self.rest > 0 {
                let across = Loop { dst_stride: pitch as isize, ..self.across };
                walk_plane::<E>(across, Loop { extent: self.rest, ..self.along }, src, carry.add(LINE));
            }
            let mut row = 0;
            while row < K {
                let to = self.row_place(dst, row);
                let before = to.addr() % LINE;
                let from = carry.add(row * pitch + LINE - before);
                stream_run(lanes, from, to.wrapping_sub(before), before + self.rest * E);
                row += 1;
            }
        }
    }
}

/// Writes the whole lines that one row's buffer holds, and carries the rest.
///
/// # Safety
/// `buffer` must hold a line, of which the end is carried unless `is_first`, and behind it `len` bytes, whole lines, that
/// belong at `to`.
#[inline(always)]
pub(crate) unsafe fn emit<L: Lanes>(lanes: L, buffer: *mut u8, to: *mut u8, len: usize, is_first: bool) {
    let before = to.addr() % LINE;
    let line = to.wrapping_sub(before);
    // SAFETY: the buffer's first line ends with the `before` bytes in front of `to`; with them the piece is whole lines
    // and `before` bytes more, which go to the end of the first line for the next piece.
    unsafe {
        let mut at = 0;
        if is_first && before > 0 {
            copy_short(buffer.add(LINE), to, LINE - before);
            at = LINE;
        }
        while at < len {
            let mut part = 0;
            while part < LINE {
                let vector = lanes.load(buffer.add(LINE - before + at + part));
                lanes.stream(line.wrapping_add(at + part), vector);
                part += L::BYTES;
            }
            at += LINE;
        }
        let mut part = 0;
        while part < LINE {
            lanes.store(buffer.add(part), lanes.load(buffer.add(len + part)));
            part += L::BYTES;
        }
    }
}

/// Writes what a row still carries in front of its end.
///
/// # Safety
/// `carry` must be a line that ends with the bytes that belong before `end`, back to the start of `end`'s line.
#[inline(always)]
pub(crate) unsafe fn flush(carry: *const u8, end: *mut u8) {
    let rest = end.addr() % LINE;
    // SAFETY: the caller's promise.
    unsafe { copy_short(carry.add(LINE - rest), end.wrapping_sub(rest), rest) };
}

/// Writes as much of a row's first register as belongs to the row's first line, by way of `buffer` where that is a part.
///
/// # Safety
/// A register must be writable at `buffer` and at `to`; a register is a line.
#[inline(always)]
pub(crate) unsafe fn begin_row<L: Lanes>(lanes: L, first: L::Vector, to: *mut u8, buffer: *mut u8) {
    let before = to.addr() % LINE;
    // SAFETY: the caller's promise; a place that begins a line may be streamed.
    unsafe {
        if before == 0 {
            lanes.stream(to, first);
        } else {
            lanes.store(buffer, first);
            copy_short(buffer, to, LINE - before);
        }
    }
}

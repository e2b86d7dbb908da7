//! Short rows that lie one behind the other in the destination, one or a few of them at a time out of a stream: together they leave
//! as streams of whole lines.
//!
//! Rows seldom start or end lines. They are put together in a buffer, and what is whole of it is written past the cache now and
//! then; the bytes behind the last whole line stay for what follows. Rows that are read one after the other may belong to a few such
//! streams, as those of heads do, each of which has a buffer.

use core::cell::Cell;

use crate::deinterleave::{unzip_part, unzip_rows};
use crate::lanes::{LINE, Lanes, copy_line, next_line, stream_line};
use crate::loops::{Loops, ONCE};
use crate::nest::Loop;
use crate::rows::{copy_registers, copy_short};
use crate::tuning::{DENSE_ROWS, DENSE_STREAMS, ragged_ahead};
use crate::walk::{Point, each_point};

/// Moves `across.extent` rows at every point, past the cache; false, and nothing is moved, where they do not lie one behind the other,
/// where they are long, or where there is no kernel for them.
///
/// # Safety
/// All places of the loops must be valid on both sides, without overlap; `across` must be consecutive elements of the source, which
/// `along` advances by all of them, and `along` consecutive in the destination.
#[allow(dead_code)] // portable targets have no lanes
#[inline(never)]
pub(crate) unsafe fn dense_rows<L: Lanes>(
    lanes: L,
    outer: &[Loop],
    (across, along): (Loop, Loop),
    element: usize,
    (src, dst): (*const u8, *mut u8),
) -> bool {
    let Some(order) = DenseOrder::new(outer, (across, along), element).filter(|_| L::STREAMS) else {
        return false;
    };
    let (row, room) = (along.extent * element, order.room());
    let mut rooms = vec![0u8; LINE + order.streams() * room];
    let buffer = next_line(rooms.as_mut_ptr());
    let stream = |number: usize| Stream {
        buffer: buffer.wrapping_add(number * room),
        to: Cell::new(dst),
        filled: Cell::new(0),
    };
    let streams: Vec<Stream> = (0..order.streams()).map(stream).collect();
    let mut apart = vec![0u8; if order.ways > 1 { row * across.extent + LINE } else { 0 }];
    macro_rules! run {
        ($($e:literal: $($k:literal)*;)*) => {
            match (element, across.extent) {
                // SAFETY: the caller's promise; the buffers live until the end of this function.
                $($(($e, $k) => unsafe {
                    let DenseOrder { before, next, more, ways, .. } = order;
                    let (count, apart, streams) = (along.extent, apart.as_mut_ptr(), &streams[..]);
                    let (ahead, is_along) = (order.ahead(), order.is_along());
                    let kernel = DenseRows::<$e, $k> { next, more, across, row, count, ways, ahead, is_along, apart, streams };
                    each_point(lanes, before.as_slice(), src, dst, kernel);
                    streams.iter().for_each(|stream| stream.end());
                })*)*
                _ => return false,
            }
        };
    }
    run!(1: 1 2 3 4 5 6 7 8; 2: 2 3 4 5 6 7 8; 4: 2 3 4 5 6 7 8; 8: 2 3 4;);
    true
}

/// In which order short rows are taken that lie one behind the other.
pub(crate) struct DenseOrder {
    before: Loops,
    /// From some rows to those behind them.
    next: Loop,
    /// From stream to stream, in each step of it.
    more: Loop,
    /// Streams of the rows that are taken at once.
    ways: usize,
    /// Bytes that a step of `next` puts to each stream.
    unit: usize,
    /// Bytes of the rows that are taken at once.
    taken: usize,
}

impl DenseOrder {
    /// Of a few short rows; none where they do not lie one behind the other, at once or in steps of one of the loops.
    #[allow(dead_code)] // portable targets have no lanes
    pub(crate) fn new(outer: &[Loop], (across, along): (Loop, Loop), element: usize) -> Option<DenseOrder> {
        if !matches!((element, across.extent), (1, 1..=8) | (2 | 4, 2..=8) | (8, 2..=4)) {
            return None; // no kernel
        }
        let row = along.extent * element;
        let follows = |stride: isize, bytes: usize| usize::try_from(stride) == Ok(bytes);
        let (ways, unit) = match across.extent == 1 || follows(across.dst_stride, row) {
            true => (1, row * across.extent),
            false => (across.extent, row),
        };
        let position = outer.iter().rposition(|l| l.extent > 1 && follows(l.dst_stride, unit))?;
        let mut before = Loops::of_few(outer)?;
        let next = before.remove(position);
        let order = DenseOrder { before, next, more: ONCE, ways, unit, taken: row * across.extent };
        let run = next.extent * unit;
        let goes_on = run >= LEAST_RUN || before.as_slice().iter().any(|l| follows(l.dst_stride, run));
        if row * across.extent > DENSE_ROWS || order.bytes() > DENSE_STREAMS || !goes_on {
            return None;
        }
        // What is inside stays there, in the order in which it is read, if there is a buffer for each step.
        if let [more] = outer[position + 1..] {
            let mut before = before;
            before.remove(position);
            let inside = DenseOrder { before, more, ..order };
            if inside.bytes() <= DENSE_STREAMS {
                return Some(inside);
            }
        }
        Some(order)
    }

    fn streams(&self) -> usize {
        self.more.extent * self.ways
    }

    /// Bytes of the source that a step of `next` reads one behind the other.
    fn read(&self) -> usize {
        let is_run = self.more.extent == 1 || self.more.src_stride == self.taken as isize;
        if is_run { self.taken * self.more.extent } else { self.taken }
    }

    /// True where steps continue one another in the source.
    fn is_along(&self) -> bool {
        self.next.src_stride == self.read() as isize
    }

    /// How far ahead of its loads the source is asked for: as many bytes along it, or as many steps elsewhere as read so many.
    fn ahead(&self) -> isize {
        let ahead = ragged_ahead();
        match self.is_along() {
            true => ahead as isize,
            false => self.next.src_stride * (ahead / self.read()).max(1) as isize,
        }
    }

    fn room(&self) -> usize {
        room(self.unit)
    }

    /// Bytes of all buffers.
    fn bytes(&self) -> usize {
        self.streams().saturating_mul(self.room())
    }
}

/// Bytes of a buffer that so many are put into at a time: what it is filled up to before it is written, these, and a register; whole
/// lines.
pub(crate) fn room(unit: usize) -> usize {
    (LINE + LEAST_FILLED + unit + 2 * LINE).next_multiple_of(LINE)
}

/// What was put together and is not yet written.
struct Stream {
    /// At the start of a line; what is in it starts as far behind as in the destination.
    buffer: *mut u8,
    /// Where its first byte belongs.
    to: Cell<*mut u8>,
    filled: Cell<usize>,
}

impl Stream {
    /// Where what belongs at `dst` is to be put.
    ///
    /// # Safety
    /// What is in the buffer must be writable where it belongs.
    #[inline(always)]
    unsafe fn place(&self, dst: *mut u8) -> *mut u8 {
        if self.to.get().wrapping_add(self.filled.get()) != dst {
            // SAFETY: the caller's promise.
            unsafe { self.end() };
            self.to.set(dst);
        }
        self.buffer.wrapping_add(self.start() + self.filled.get())
    }

    /// How far behind the start of a line the first byte belongs.
    #[inline(always)]
    fn start(&self) -> usize {
        self.to.get().addr() % LINE
    }

    /// So many bytes more were put in. Writes whole lines once there are many, and asks for a line of the source with each, if it is said
    /// from where on.
    ///
    /// # Safety
    /// What is in the buffer must be writable where it belongs.
    #[inline(always)]
    unsafe fn filled<L: Lanes>(&self, lanes: L, bytes: usize, ahead: Option<*const u8>) {
        self.filled.set(self.filled.get() + bytes);
        if self.filled.get() < LEAST_FILLED {
            return;
        }
        let (start, mut to) = (self.start(), self.to.get());
        let end = start + self.filled.get();
        let mut at = 0;
        // SAFETY: the caller's promise; behind the bytes in front of the first whole line the destination starts lines.
        unsafe {
            if start > 0 {
                copy_short(self.buffer.add(start), to, LINE - start);
                at = LINE;
                to = to.wrapping_add(LINE - start);
            }
            let first = at;
            while at + LINE <= end {
                if let Some(ahead) = ahead {
                    lanes.prefetch(ahead.wrapping_add(at - first));
                }
                stream_line(lanes, self.buffer.add(at), to);
                to = to.wrapping_add(LINE);
                at += LINE;
            }
            copy_line(lanes, self.buffer.add(at), self.buffer);
        }
        self.to.set(to);
        self.filled.set(end - at);
    }

    /// Writes all that is left.
    ///
    /// # Safety
    /// As [`Stream::filled`].
    #[inline(always)]
    unsafe fn end(&self) {
        // SAFETY: the caller's promise.
        unsafe {
            core::ptr::copy_nonoverlapping(self.buffer.add(self.start()), self.to.get(), self.filled.get());
        }
        self.filled.set(0);
    }
}

/// Fewer bytes that lie one behind the other are hardly more than what is left of them.
const LEAST_RUN: usize = 4 * LEAST_FILLED;

/// Bytes that are put together before their lines are written: some lines, so that reading and writing take turns.
const LEAST_FILLED: usize = 512;

/// Takes `K` rows of so many bytes from a stream of elements of `E` bytes; with `K` = 1 the row is copied.
#[derive(Clone, Copy)]
struct DenseRows<'a, const E: usize, const K: usize> {
    next: Loop,
    more: Loop,
    across: Loop,
    row: usize,
    /// Elements of a row.
    count: usize,
    /// Streams of the `K` rows: one or `K`.
    ways: usize,
    /// How far ahead of its loads the source is asked for, in bytes, and whether that is along it.
    ahead: isize,
    is_along: bool,
    /// Room for `K` rows that do not lie one behind the other.
    apart: *mut u8,
    /// Of each step of `more`, for each way.
    streams: &'a [Stream],
}

impl<const E: usize, const K: usize> Point for DenseRows<'_, E, K> {
    /// # Safety
    /// `K` rows must be readable, and writable, in every step of both loops, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut step = 0;
        while step < self.next.extent {
            let from = src.wrapping_offset(step as isize * self.next.src_stride);
            let to = dst.wrapping_offset(step as isize * self.next.dst_stride);
            let mut group = 0;
            while group < self.more.extent {
                let from = from.wrapping_offset(group as isize * self.more.src_stride);
                let to = to.wrapping_offset(group as isize * self.more.dst_stride);
                // SAFETY: the caller's promise.
                unsafe {
                    match self.ways {
                        1 => self.rows(lanes, from, to, &self.streams[group]),
                        _ => self.rows_apart(lanes, from, to, &self.streams[group * K..]),
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

impl<const E: usize, const K: usize> DenseRows<'_, E, K> {
    /// Rows that lie one behind the other.
    ///
    /// # Safety
    /// `K` rows must be readable from `src` on, and writable from `dst` on, without overlap.
    #[inline(always)]
    unsafe fn rows<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, stream: &Stream) {
        // A single stream that is read along leaves so often that all is asked for as it does.
        let ahead = src.wrapping_offset(self.ahead);
        let is_alone = self.streams.len() == 1 && self.is_along;
        if !is_alone {
            self.ask(lanes, ahead);
        }
        // SAFETY: the caller's promise; the buffer has room for what it is filled up to before it is written, all the rows, and a
        // register.
        unsafe {
            self.take(lanes, src, stream.place(dst));
            stream.filled(lanes, K * self.row, is_alone.then_some(ahead));
        }
    }

    /// Rows each of which has a stream of its own.
    ///
    /// # Safety
    /// As [`DenseRows::rows`]; there must be `K` streams.
    #[inline(always)]
    unsafe fn rows_apart<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, streams: &[Stream]) {
        self.ask(lanes, src.wrapping_offset(self.ahead));
        // SAFETY: the same, and room for all rows and a register.
        unsafe {
            self.take(lanes, src, self.apart);
            let mut way = 0;
            while way < K {
                let to = streams[way].place(dst.wrapping_offset(way as isize * self.across.dst_stride));
                copy_registers::<L, false>(lanes, self.apart.add(way * self.row), to, self.row, (0, 0));
                streams[way].filled(lanes, self.row, None);
                way += 1;
            }
        }
    }

    /// Puts all rows one behind the other.
    ///
    /// # Safety
    /// `K` rows must be readable at `src`, and writable at `to`, with a register behind them.
    #[inline(always)]
    unsafe fn take<L: Lanes>(&self, lanes: L, src: *const u8, to: *mut u8) {
        let (row, count) = (self.row, self.count);
        // SAFETY: the caller's promise.
        unsafe {
            if K == 1 {
                copy_registers::<L, false>(lanes, src, to, row, (0, 0));
            } else if row >= L::BYTES {
                unzip_rows::<L, E, K>(lanes, count, row as isize, src, to, None);
            } else {
                unzip_part::<L, E, K>(lanes, count, row as isize, src, to);
            }
        }
    }

    /// Asks for the lines that start in as many bytes as are read, from a place on.
    #[inline(always)]
    fn ask<L: Lanes>(&self, lanes: L, from: *const u8) {
        let mut line = from.addr().wrapping_neg() % LINE;
        while line < K * self.row {
            lanes.prefetch(from.wrapping_add(line));
            line += LINE;
        }
    }
}

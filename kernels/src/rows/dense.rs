//! Short rows that lie one behind the other in the destination, one or a few of them at a time out of a stream: together they leave
//! as one stream of whole lines.
//!
//! Rows seldom start or end lines. They are put together in a buffer, and what is whole of it is written past the cache now and
//! then; the bytes behind the last whole line stay for what follows.

use core::cell::Cell;

use crate::deinterleave::{unzip_part, unzip_rows};
use crate::lanes::{LINE, Lanes, copy_line, stream_line};
use crate::nest::Loop;
use crate::rows::{copy_run, copy_short};
use crate::tuning::{DENSE_ROWS, ragged_ahead};
use crate::walk::{Point, each_point};

/// Moves `across.extent` rows at every point, all of which lie one behind the other, past the cache; false, and nothing is moved,
/// where they do not, where they are long, or where there is no kernel for them.
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
    if !L::STREAMS || !are_dense(outer, (across, along), element) {
        return false;
    }
    let row = along.extent * element;
    let mut room = vec![0u8; LINE + 2 * DENSE_ROWS + 2 * LINE];
    let buffer = room.as_mut_ptr().wrapping_add(room.as_ptr().align_offset(LINE));
    let stream = Stream { buffer, to: Cell::new(dst), filled: Cell::new(0) };
    macro_rules! run {
        ($($e:literal: $($k:literal)*;)*) => {
            match (element, across.extent) {
                // SAFETY: the caller's promise; the buffer lives until the end of this function.
                $($(($e, $k) => unsafe {
                    let kernel = DenseRows::<$e, $k> { row, count: along.extent, ahead: ragged_ahead(), stream: &stream };
                    each_point(lanes, outer, src, dst, kernel);
                    stream.end();
                })*)*
                _ => return false,
            }
        };
    }
    run!(1: 1 2 3 4 5 6 7 8; 2: 2 3 4 5 6 7 8; 4: 2 3 4 5 6 7 8; 8: 2 3 4;);
    true
}

/// True for a few short rows that lie one behind the other.
#[allow(dead_code)] // portable targets have no lanes
pub(crate) fn are_dense(outer: &[Loop], (across, along): (Loop, Loop), element: usize) -> bool {
    let row = along.extent * element;
    let all = row * across.extent;
    let follows = |stride: isize, bytes: usize| usize::try_from(stride) == Ok(bytes);
    (across.extent == 1 || follows(across.dst_stride, row))
        && outer.last().is_some_and(|l| follows(l.dst_stride, all))
        && all <= DENSE_ROWS
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

    /// So many bytes more were put in. Writes whole lines once there are many, and asks for a line of the source with each.
    ///
    /// # Safety
    /// What is in the buffer must be writable where it belongs.
    #[inline(always)]
    unsafe fn filled<L: Lanes>(&self, lanes: L, bytes: usize, ahead: *const u8) {
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
                lanes.prefetch(ahead.wrapping_add(at - first));
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

/// Bytes that are put together before their lines are written: some lines, so that reading and writing take turns.
const LEAST_FILLED: usize = 512;

/// Takes `K` rows of so many bytes from a stream of elements of `E` bytes; with `K` = 1 the row is copied.
#[derive(Clone, Copy)]
struct DenseRows<'a, const E: usize, const K: usize> {
    row: usize,
    /// Elements of a row.
    count: usize,
    /// How far ahead of its loads the source is asked for, in bytes.
    ahead: usize,
    stream: &'a Stream,
}

impl<const E: usize, const K: usize> Point for DenseRows<'_, E, K> {
    /// # Safety
    /// `K` rows must be readable from `src` on, and writable from `dst` on, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let (row, count) = (self.row, self.count);
        // SAFETY: the caller's promise; the buffer has room for what it is filled up to before it is written, all the rows, and a
        // register.
        unsafe {
            let to = self.stream.place(dst);
            if K == 1 {
                copy_run(lanes, src, to, row, (0, 0));
            } else if row >= L::BYTES {
                unzip_rows::<L, E, K>(lanes, count, row as isize, src, to, None);
            } else {
                unzip_part::<L, E, K>(lanes, count, row as isize, src, to);
            }
            self.stream.filled(lanes, K * row, src.wrapping_add(self.ahead));
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

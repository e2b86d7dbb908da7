//! A few rows become one stream: sub-tiles such as `(2,1)` and `(4,1)`, and channels.

use core::mem::MaybeUninit;

use crate::lanes::{Held, LANE, LINE, Lanes};
use crate::nest::Loop;
use crate::rows::stream_run;
use crate::strided::walk;
use crate::walk::Point;

/// How far ahead of its stores a stream asks for the lines that it will write, in bytes: a store that has to wait for its
/// line holds up those behind it.
const AHEAD: usize = 512;

/// Interleaves `K` rows of elements of `E` bytes: `along` is contiguous in the source and advances `K` elements in the
/// destination, `across` leads from row to row in the source and to the next element in the destination.
#[derive(Clone, Copy)]
pub(crate) struct Interleave<const E: usize, const K: usize> {
    pub(crate) along: Loop,
    pub(crate) across: Loop,
    /// Where the stream goes past the cache, how far ahead of its loads each row is asked for, in bytes; it is not if 0.
    pub(crate) past: Option<usize>,
    /// How far ahead all rows are asked for, one after the other before they are read; they are not if 0.
    pub(crate) whole_rows: usize,
}

impl<const E: usize, const K: usize> Interleave<E, K> {
    /// Asks for what the rows have so far ahead.
    #[inline(always)]
    fn ask_for_rows<L: Lanes>(&self, lanes: L, src: *const u8) {
        let ahead = src.wrapping_add(self.whole_rows);
        let mut row = 0;
        while row < K {
            let from = ahead.wrapping_offset(row as isize * self.across.src_stride);
            let mut at = 0;
            while at < self.along.extent * E {
                lanes.prefetch_near(from.wrapping_add(at));
                at += LINE;
            }
            row += 1;
        }
    }
}

impl<const E: usize, const K: usize> Point for Interleave<E, K> {
    const APART: usize = 8 / K;

    /// # Safety
    /// `K` rows of `along.extent` elements must be readable from `src` and as many elements writable at `dst`, without
    /// overlap; where streaming, `dst` starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let (along, across) = (self.along, self.across);
        let (count, step) = (along.extent, across.src_stride);
        if self.whole_rows > 0 {
            self.ask_for_rows(lanes, src);
        }
        // SAFETY: the caller's promise.
        unsafe {
            if K.is_power_of_two() && count * E >= LANE {
                zip_run::<L, E, K>(lanes, count, step, src, dst, self.past);
            } else if count * E < LANE {
                walk_plane::<E>(along, across, src, dst);
            } else {
                mix_run::<L, E, K>(lanes, count, step, src, dst, self.past.is_some());
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.past.is_some()
    }
}

/// Rows of less than a lane.
///
/// # Safety
/// All places of the two loops must be valid on both sides, without overlap.
#[inline(never)]
pub(crate) unsafe fn walk_plane<const E: usize>(outer: Loop, inner: Loop, src: *const u8, dst: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe { walk::<[u8; E]>(&[outer, inner], src, dst) }
}

/// Rows of at least a lane, which are zipped by registers that they fill.
///
/// # Safety
/// As [`zip_rows`], of a lane's elements and more.
#[inline(always)]
unsafe fn zip_run<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    past: Option<usize>,
) {
    let row = count * E;
    // SAFETY: the caller's promise, and registers that rows fill.
    unsafe {
        if row >= L::BYTES || past.is_some() {
            zip_rows::<L, E, K>(lanes, count, row_step, src, dst, past);
        } else if row >= L::Narrow::BYTES {
            zip_rows::<L::Narrow, E, K>(lanes.narrow(), count, row_step, src, dst, None);
        } else {
            zip_rows::<_, E, K>(lanes.narrow().narrow(), count, row_step, src, dst, None);
        }
    }
}

/// # Safety
/// `count` elements, of which there are `BYTES / E` unless they go past the cache, must be readable in each of `K` rows, `row_step` apart,
/// and `K * count` writable at `dst`, which starts a line if it goes `past` the cache.
#[inline(always)]
pub(crate) unsafe fn zip_rows<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    past: Option<usize>,
) {
    let rest = count % (L::BYTES / E);
    let whole = count - rest;
    // SAFETY: the caller's promise; the last block steps back rather than step outside.
    unsafe {
        if let Some(ahead) = past {
            zip_blocks::<L, E, K, true>(lanes, whole, row_step, src, dst, ahead);
            if rest > 0 {
                zip_rest::<L, E, K>(lanes, rest, row_step, src.add(whole * E), dst.add(whole * K * E));
            }
        } else {
            zip_blocks::<L, E, K, false>(lanes, whole, row_step, src, dst, 0);
            if rest > 0 {
                let last = count - L::BYTES / E;
                zip_block::<L, E, K, false>(lanes, src.add(last * E), row_step, dst.add(last * K * E), 0);
            }
        }
    }
}

/// Whole registers of each row, told apart by where they go before the loop rather than in it.
///
/// # Safety
/// As [`zip_rows`], of a multiple of a register's elements.
#[inline(always)]
pub(crate) unsafe fn zip_blocks<L: Lanes, const E: usize, const K: usize, const PAST: bool>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    ahead: usize,
) {
    let mut at = 0;
    while at < count {
        // SAFETY: a register of elements from `at` on exists in every row.
        unsafe { zip_block::<L, E, K, PAST>(lanes, src.add(at * E), row_step, dst.add(at * K * E), ahead) };
        at += L::BYTES / E;
    }
}

/// Fewer elements than a register of each row, past the cache as far as they are whole lines. There a block must not step
/// back: lines that were written past the cache just before would have to come back from memory.
///
/// # Safety
/// `count < BYTES / E` elements must be readable in each of `K` rows, `row_step` apart, and `K * count` writable at `dst`.
#[inline(always)]
unsafe fn zip_rest<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
) {
    let mut room = Held([[0; LINE]; K]);
    let room = room.0.as_mut_ptr().cast::<u8>();
    let mut rows = [lanes.zero(); K];
    // SAFETY: the caller's promise; there is room for as many registers as there are rows.
    unsafe {
        let mut row = 0;
        while row < K {
            let from = src.wrapping_offset(row as isize * row_step);
            rows[row] = lanes.load_part(from, count * E, lanes.zero());
            row += 1;
        }
        full_zips::<L, E, K>(lanes, &mut rows);
        let mut part = 0;
        while part < K {
            lanes.store(room.add(part * L::BYTES), rows[part]);
            part += 1;
        }
        stream_run(lanes, room, dst, K * count * E, 0);
    }
}

/// A register of each row: if `PAST` past the cache, asking for each row so many bytes `ahead` unless that is 0.
///
/// # Safety
/// `BYTES` bytes must be readable in each of `K` rows and `K * BYTES` writable at `dst`, which is a multiple of `BYTES` if
/// `PAST`.
#[inline(always)]
pub(crate) unsafe fn zip_block<L: Lanes, const E: usize, const K: usize, const PAST: bool>(
    lanes: L,
    src: *const u8,
    row_step: isize,
    dst: *mut u8,
    ahead: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows = load_rows::<L, K>(lanes, src, row_step);
        full_zips::<L, E, K>(lanes, &mut rows);
        let mut part = 0;
        while part < K {
            let to = dst.add(part * L::BYTES);
            if PAST {
                if ahead > 0 {
                    let row = src.wrapping_offset(part as isize * row_step);
                    lanes.prefetch(row.wrapping_add(ahead));
                }
                lanes.stream(to, rows[part])
            } else {
                lanes.prefetch_near(to.wrapping_add(AHEAD));
                lanes.store(to, rows[part])
            }
            part += 1;
        }
    }
}

/// A register of each of `K` rows.
///
/// # Safety
/// `BYTES` bytes must be readable at each of `K` places, `row_step` apart.
#[inline(always)]
unsafe fn load_rows<L: Lanes, const K: usize>(lanes: L, src: *const u8, row_step: isize) -> [L::Vector; K] {
    let mut rows = [lanes.zero(); K];
    let mut row = 0;
    while row < K {
        // SAFETY: the caller's promise.
        rows[row] = unsafe { lanes.load(src.wrapping_offset(row as isize * row_step)) };
        row += 1;
    }
    rows
}

/// Interleaves `K` whole registers: as the transposing network, with zips that cross lanes.
#[inline(always)]
pub(crate) fn full_zips<L: Lanes, const UNIT: usize, const K: usize>(lanes: L, rows: &mut [L::Vector; K]) {
    let mut step = 1;
    while step < K {
        let from = *rows;
        let mut i = 0;
        while i < K / 2 {
            let (low, high) = lanes.zip::<UNIT>(from[i], from[i + K / 2]);
            (rows[2 * i], rows[2 * i + 1]) = lanes.zip_lanes(low, high);
            i += 1;
        }
        step *= 2;
    }
}

/// Byte orders between `K` rows of a lane each and `K` lanes of a stream, for elements of `E` bytes.
pub(crate) struct Orders<const E: usize, const K: usize>;

impl<const E: usize, const K: usize> Orders<E, K> {
    /// `MIX[row][part]`: which byte of the row goes to each byte of the part, 0x80 where none does.
    const MIX: [[[u8; LANE]; K]; K] = Self::orders(true);

    /// `PICK[row][part]`: which byte of the part goes to each byte of the row, 0x80 where none does.
    pub(crate) const PICK: [[[u8; LANE]; K]; K] = Self::orders(false);

    /// Elements of one lane of a stream, those of row 0 first.
    pub(crate) const GROUP: [u8; LANE] = {
        let mut order = [0; LANE];
        let per_row = LANE / K;
        let mut at = 0;
        while at < LANE {
            let (row, byte) = (at / per_row, at % per_row);
            order[at] = ((byte / E * K + row) * E + byte % E) as u8;
            at += 1;
        }
        order
    };

    const fn orders(mix: bool) -> [[[u8; LANE]; K]; K] {
        let mut orders = [[[0x80; LANE]; K]; K];
        let mut byte = 0;
        while byte < K * LANE {
            // Byte `byte` of the stream is byte `at` of row `row`.
            let element = byte / E;
            let (row, at) = (element % K, element / K * E + byte % E);
            let (part, place) = (byte / LANE, byte % LANE);
            if mix {
                orders[row][part][place] = at as u8;
            } else {
                orders[row][part][at] = place as u8;
            }
            byte += 1;
        }
        orders
    }
}

/// Rows of at least a lane, by registers that they fill.
///
/// # Safety
/// As [`zip_rows`], of a lane's elements and more.
#[inline(always)]
unsafe fn mix_run<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    stream: bool,
) {
    // SAFETY: the caller's promise, and registers that rows fill.
    unsafe {
        if count * E >= L::BYTES {
            mix_rows::<L, E, K>(lanes, count, row_step, src, dst, stream);
        } else if count * E >= L::Narrow::BYTES {
            mix_rows::<L::Narrow, E, K>(lanes.narrow(), count, row_step, src, dst, stream);
        } else {
            mix_rows::<_, E, K>(lanes.narrow().narrow(), count, row_step, src, dst, stream);
        }
    }
}

/// As [`zip_rows`] for any `K`, by byte shuffles of every row into every part of the stream.
///
/// Parts come out lane by lane, which is no whole line; where streaming, some blocks are gathered first and then written
/// in lines.
///
/// # Safety
/// As [`zip_rows`].
#[inline(always)]
unsafe fn mix_rows<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    stream: bool,
) {
    let block = L::BYTES / E;
    let mut at = 0;
    // SAFETY: `block` elements from `at` exist in every row; gathered blocks are whole lines, at multiples of a line.
    unsafe {
        if stream {
            let mut gathered = MaybeUninit::<Gathered>::uninit();
            let buffer = (&raw mut (*gathered.as_mut_ptr()).0).cast::<u8>();
            while at + GATHERED * block <= count {
                let mut i = 0;
                while i < GATHERED {
                    let from = src.add((at + i * block) * E);
                    mix_block::<L, E, K>(lanes, from, row_step, buffer.add(i * K * L::BYTES));
                    i += 1;
                }
                let mut byte = 0;
                while byte < GATHERED * K * L::BYTES {
                    lanes.stream(dst.add(at * K * E + byte), lanes.load(buffer.add(byte)));
                    byte += L::BYTES;
                }
                at += GATHERED * block;
            }
            if at < count {
                mix_rest::<L, E, K>(lanes, (at, count), row_step, src, dst, buffer);
            }
            return;
        }
        while at + block <= count {
            mix_block::<L, E, K>(lanes, src.add(at * E), row_step, dst.add(at * K * E));
            at += block;
        }
        if at < count {
            let at = count - block; // the last block steps back rather than step outside
            mix_block::<L, E, K>(lanes, src.add(at * E), row_step, dst.add(at * K * E));
        }
    }
}

/// The elements from `at` on, fewer than are gathered, by way of a buffer: the last block of them steps back in it, so that
/// no line is met twice.
///
/// # Safety
/// As [`mix_rows`]; `buffer` must have room for what is gathered.
#[inline(always)]
unsafe fn mix_rest<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    (at, count): (usize, usize),
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    buffer: *mut u8,
) {
    let block = L::BYTES / E;
    let first = at.min(count - block);
    // SAFETY: `block` elements from `next` exist in every row, and there is room for those from `first` on.
    unsafe {
        let mut done = first;
        while done < count {
            let next = done.min(count - block);
            mix_block::<L, E, K>(lanes, src.add(next * E), row_step, buffer.add((next - first) * K * E));
            done = next + block;
        }
        let from = buffer.add((at - first) * K * E);
        stream_run(lanes, from, dst.add(at * K * E), (count - at) * K * E, 0);
    }
}

/// Blocks that are gathered before they are streamed: so many that stores are done when their lines are read.
const GATHERED: usize = 8;

/// Room for the gathered blocks of the widest registers and most rows.
#[repr(align(64))]
struct Gathered([u8; GATHERED * 8 * 64]);

/// # Safety
/// `BYTES` bytes must be readable in each of `K` rows, `row_step` apart, and `K * BYTES` writable at `dst`.
#[inline(always)]
unsafe fn mix_block<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    src: *const u8,
    row_step: isize,
    dst: *mut u8,
) {
    // SAFETY: the caller's promise; lane `l` of part `p` is lane `l * K + p` of the stream.
    unsafe {
        let rows = load_rows::<L, K>(lanes, src, row_step);
        let mut part = 0;
        while part < K {
            let mut mixed = lanes.shuffle(rows[0], Orders::<E, K>::MIX[0][part]);
            let mut row = 1;
            while row < K {
                mixed = lanes.or(mixed, lanes.shuffle(rows[row], Orders::<E, K>::MIX[row][part]));
                row += 1;
            }
            lanes.prefetch_near(dst.wrapping_add(part * L::BYTES + AHEAD));
            lanes.store_lanes(dst.add(part * LANE), (K * LANE) as isize, mixed);
            part += 1;
        }
    }
}

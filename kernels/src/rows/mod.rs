//! Runs of bytes that are contiguous on both sides.

pub(crate) mod across;
pub(crate) mod along;
pub(crate) mod border;
pub(crate) mod carry;
pub(crate) mod dense;
pub(crate) mod padded;
pub(crate) mod pieces;
pub(crate) mod ragged;
pub(crate) mod stream;

use crate::lanes::{LANE, LINE, Lanes, stream_line};
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::rows::across::rows_across;
use crate::rows::along::AlongSource;
use crate::rows::border::Border;
use crate::rows::dense::dense_rows;
use crate::rows::pieces::pieces;
use crate::rows::stream::stream_rows;
use crate::stage::starts_lines;
use crate::transpose::ahead::Ahead;
use crate::tuning::{
    APART_AHEAD, IN_FIRST_LEVEL, NEXT_ROWS, ROW_PIECE, RUNS_AHEAD, are_short_rows, joins_rows, run_ahead,
};
use crate::walk::{Point, each_point};

/// From this many bytes on the library's memory copy is at least as good as a loop of vectors.
const LONG_RUN: usize = 2048;

/// Copies `run` bytes at every point.
#[derive(Clone, Copy)]
pub(crate) struct Rows {
    run: usize,
    /// From one run to the next on either side, as far as that is known: what is asked for ahead.
    next: (isize, isize),
}

impl Rows {
    /// Runs of `run` bytes under `loops`.
    #[allow(dead_code)] // portable targets have no lanes
    pub(crate) fn new(loops: &[Loop], run: usize) -> Rows {
        Rows { run, next: loops.last().map_or((0, 0), |l| (l.src_stride, l.dst_stride)) }
    }
}

/// Copies `run` bytes at every point, past the cache.
#[derive(Clone, Copy)]
pub(crate) struct StreamedRows {
    run: usize,
    /// How far ahead of its loads a run asks for lines; for none if 0.
    ahead: usize,
}

impl StreamedRows {
    /// Runs of `run` bytes under `loops`.
    #[allow(dead_code)] // portable targets have no lanes
    pub(crate) fn new(loops: &[Loop], run: usize) -> StreamedRows {
        StreamedRows { run, ahead: ahead(loops, run) }
    }
}

/// How far ahead of its loads a run under these loops asks for lines, if any: those of the rows that come next where they are short;
/// else not as far where the source is one stream, being a long run or runs that the second loop continues soon.
fn ahead(loops: &[Loop], run: usize) -> usize {
    let is_stream = match loops {
        [.., outer, inner] => {
            outer.src_stride == run as isize && inner.extent.saturating_mul(run) <= RUNS_AHEAD
        }
        [next] => next.src_stride == run as isize,
        [] => true,
    };
    let turns = taking_turns(loops);
    match next_rows(loops, (1, turns.src_stride), run) {
        Some(next) => next,
        None if is_stream || run >= LONG_RUN => run_ahead(turns.extent),
        None => APART_AHEAD,
    }
}

/// The loop whose rows take turns: the innermost that is one.
pub(crate) fn taking_turns(loops: &[Loop]) -> Loop {
    loops.iter().rev().copied().find(|l| l.extent > 1).unwrap_or(ONCE)
}

/// How far the rows lie, in bytes, that come after those that take turns under these loops, by so many together, with a step from one to
/// the next and runs of so many bytes, where rows are short: what is asked for along one of them would be the next one, which is there
/// already.
pub(crate) fn next_rows(loops: &[Loop], (ways, step): (usize, isize), run: usize) -> Option<usize> {
    let together = step.checked_mul(ways as isize).filter(|_| are_short_rows(ways, step))?;
    let is_along = |stride: isize| stride == run as isize || stride == together;
    let next = loops.iter().rev().find(|l| l.extent > 1 && !is_along(l.src_stride))?.src_stride;
    (together + 1..=NEXT_ROWS as isize).contains(&next).then_some(next.unsigned_abs())
}

/// Copies `N` lines at every point: no count and no choice.
#[derive(Clone, Copy)]
pub(crate) struct Lines<const N: usize, const AHEAD: bool> {
    /// As in [`Rows`]; asked for if `AHEAD`.
    pub(crate) next: (isize, isize),
}

impl<const N: usize, const AHEAD: bool> Point for Lines<N, AHEAD> {
    /// # Safety
    /// `N` lines must be readable at `src` and writable at `dst`, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut at = 0;
        while at < N * LINE {
            if AHEAD {
                lanes.prefetch_near(src.wrapping_offset(self.next.0).wrapping_add(at));
                lanes.prefetch_near(dst.wrapping_offset(self.next.1).wrapping_add(at));
            }
            let mut part = 0;
            while part < LINE {
                // SAFETY: a register of the lines.
                unsafe { lanes.store(dst.add(at + part), lanes.load(src.add(at + part))) };
                part += L::BYTES;
            }
            at += LINE;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

/// Copies runs of `run` bytes with ordinary stores.
///
/// # Safety
/// At every point of `loops`, so many bytes must be valid on both sides, without overlap.
#[allow(dead_code)] // portable targets have no lanes
#[inline(always)]
pub(crate) unsafe fn rows_in_cache<L: Lanes>(
    lanes: L,
    loops: &[Loop],
    run: usize,
    src: *const u8,
    dst: *mut u8,
) {
    let next = Rows::new(loops, run).next;
    let bytes = loops.iter().fold(run, |bytes, l| bytes.saturating_mul(l.extent));
    macro_rules! lines {
        ($($bytes:literal)*) => {
            match run {
                // SAFETY: the caller's promise.
                $($bytes if bytes <= IN_FIRST_LEVEL => unsafe {
                    each_point(lanes, loops, src, dst, Lines::<{ $bytes / LINE }, false> { next });
                },
                // SAFETY: the same.
                $bytes => unsafe {
                    each_point(lanes, loops, src, dst, Lines::<{ $bytes / LINE }, true> { next });
                },)*
                // SAFETY: the same.
                _ if bytes <= IN_FIRST_LEVEL && run < LONG_RUN => unsafe {
                    each_point(lanes, loops, src, dst, NearRows { run });
                },
                // SAFETY: the same.
                _ => unsafe { each_point(lanes, loops, src, dst, Rows::new(loops, run)) },
            }
        };
    }
    lines!(64 128 256 512);
}

/// Copies runs of `run` bytes past the cache, those that continue one another in rows that do not start lines by pieces.
///
/// # Safety
/// As [`rows_in_cache`].
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
    let (along, joins) = (Loop { extent: run, src_stride: 1, dst_stride: 1 }, joins_rows(run));
    // SAFETY: the caller's promise.
    unsafe {
        match if aligned || joins && run > ROW_PIECE { None } else { pieces::<L>(loops, along, 1) } {
            _ if rows_across(lanes, loops, (run, aligned), src, dst) => {}
            Some(pieces) if stream_rows(lanes, 1, ONCE, pieces, src, dst) => {}
            _ if !aligned && !joins && dense_rows(lanes, loops, (ONCE, along), 1, (src, dst)) => {}
            _ => {
                let along = if aligned { AlongSource::of_runs(loops, run) } else { None };
                let (loops, rows) = match &along {
                    Some(AlongSource { order, ahead }) => {
                        (order.as_slice(), StreamedRows { run, ahead: *ahead })
                    }
                    None => (loops, StreamedRows::new(loops, run)),
                };
                if aligned || run < 2 * LINE {
                    return each_point(lanes, loops, src, dst, rows);
                }
                let border = Border::new();
                each_point(lanes, loops, src, dst, JoinedRows { rows, border: &border });
                border.finish();
            }
        }
    }
}

impl Point for Rows {
    /// # Safety
    /// `run` bytes must be readable at `src` and writable at `dst`, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { copy_run(lanes, src, dst, self.run, self.next) };
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

impl Point for StreamedRows {
    const IS_STREAM: bool = true;
    const APART: usize = 4;

    /// # Safety
    /// As [`Rows`].
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { stream_run(lanes, src, dst, self.run, self.ahead) };
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

/// The same with the line in which a row ends and the next one begins, where it does, written whole.
#[derive(Clone, Copy)]
struct JoinedRows<'a> {
    rows: StreamedRows,
    border: &'a Border,
}

impl Point for JoinedRows<'_> {
    const IS_STREAM: bool = true;

    /// # Safety
    /// As [`Rows`], for runs of at least two lines.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let StreamedRows { run, ahead } = self.rows;
        let (head, rest) = (dst.addr().wrapping_neg() % LINE, dst.wrapping_add(run).addr() % LINE);
        // SAFETY: the caller's promise; the run has a line at its beginning and at its end, and lines of the destination between.
        unsafe {
            if head > 0 {
                self.border.begin(lanes, src, dst);
            }
            stream_run(lanes, src.add(head), dst.wrapping_add(head), run - head - rest, ahead);
            if rest > 0 {
                self.border.end(lanes, src.add(run - LINE), dst.wrapping_add(run));
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

/// Copies `run` bytes at every point, all of them in the first-level cache, and asks for nothing.
#[derive(Clone, Copy)]
struct NearRows {
    run: usize,
}

impl Point for NearRows {
    /// # Safety
    /// As [`Rows`].
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { copy_registers::<L, false>(lanes, src, dst, self.run, (0, 0)) };
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

/// Copies a run with ordinary stores, and asks for the run that is `next` bytes behind it on either side.
///
/// # Safety
/// `len` bytes must be readable at `src` and writable at `dst`, without overlap.
#[inline(always)]
pub(crate) unsafe fn copy_run<L: Lanes>(
    lanes: L,
    src: *const u8,
    dst: *mut u8,
    len: usize,
    next: (isize, isize),
) {
    // SAFETY: the caller's promise.
    unsafe {
        match len {
            LONG_RUN.. => std::ptr::copy_nonoverlapping(src, dst, len),
            _ => copy_registers::<L, true>(lanes, src, dst, len, next),
        }
    }
}

/// As [`copy_run`], always by registers; asks for nothing unless `AHEAD`.
///
/// # Safety
/// The same.
#[inline(always)]
pub(crate) unsafe fn copy_registers<L: Lanes, const AHEAD: bool>(
    lanes: L,
    src: *const u8,
    dst: *mut u8,
    len: usize,
    next: (isize, isize),
) {
    // SAFETY: every access below lies in the `len` bytes: whole registers while they fit, and the last one ends at the
    // end.
    unsafe {
        if len < L::BYTES {
            return copy_short(src, dst, len);
        }
        let last = len - L::BYTES;
        let mut at = 0;
        while at < last {
            if AHEAD {
                lanes.prefetch_near(src.wrapping_offset(next.0).wrapping_add(at));
                lanes.prefetch_near(dst.wrapping_offset(next.1).wrapping_add(at));
            }
            lanes.store(dst.add(at), lanes.load(src.add(at)));
            at += L::BYTES;
        }
        lanes.store(dst.add(last), lanes.load(src.add(last)));
    }
}

/// Copies a run past the cache: whole aligned lines streamed, what is before and behind them stored; the source's lines are
/// asked for so far ahead, or not if 0.
///
/// # Safety
/// As [`copy_run`]; the caller fences.
#[inline(always)]
pub(crate) unsafe fn stream_run<L: Lanes>(lanes: L, src: *const u8, dst: *mut u8, len: usize, ahead: usize) {
    let asks = Ahead::of_lines(src.wrapping_add(ahead), LINE as isize, 1);
    // SAFETY: the same demands.
    unsafe { stream_asking(lanes, src, dst, len, (ahead > 0).then_some(asks)) }
}

/// As [`stream_run`], asking for a line of these, if any, with each that is streamed.
///
/// # Safety
/// As there.
#[inline(always)]
pub(crate) unsafe fn stream_asking<L: Lanes>(
    lanes: L,
    src: *const u8,
    dst: *mut u8,
    len: usize,
    ahead: Option<Ahead>,
) {
    if !L::STREAMS {
        // SAFETY: the same demands.
        return unsafe { copy_run(lanes, src, dst, len, (0, 0)) };
    }
    let head = dst.addr().wrapping_neg() % LINE;
    // SAFETY: head, lines and tail are disjoint parts of the `len` bytes; `dst + head` is a multiple of a line, so every
    // streamed register is aligned.
    unsafe {
        if head >= len {
            return copy_short(src, dst, len);
        }
        copy_short(src, dst, head);
        let (src, dst, len) = (src.add(head), dst.add(head), len - head);
        let lines = len / LINE;
        let mut line = 0;
        while line < lines {
            if let Some(ahead) = ahead {
                ahead.ask_lines(lanes, line, 1);
            }
            stream_line(lanes, src.add(line * LINE), dst.add(line * LINE));
            line += 1;
        }
        let done = lines * LINE;
        copy_short(src.add(done), dst.add(done), len - done);
    }
}

/// Copies fewer than 64 bytes: two overlapping moves of the largest power of two that fits, or four of 16.
///
/// # Safety
/// As [`copy_run`].
#[inline(always)]
pub(crate) unsafe fn copy_short(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: in each arm both moves lie inside the `len` bytes; unaligned access asks for no alignment.
    unsafe {
        match len {
            0 => {}
            1 => dst.write(src.read()),
            2..4 => both_ends::<u16>(src, dst, len),
            4..8 => both_ends::<u32>(src, dst, len),
            8..16 => both_ends::<u64>(src, dst, len),
            16..33 => both_ends::<[u8; LANE]>(src, dst, len),
            _ => both_ends::<[u8; 2 * LANE]>(src, dst, len),
        }
    }
}

/// # Safety
/// As [`copy_run`], and `len` must be at least the size of `T` and at most twice that.
#[inline(always)]
unsafe fn both_ends<T: Copy>(src: *const u8, dst: *mut u8, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: the caller promises that `T` fits into `len` bytes from either end.
    unsafe {
        let (first, second) = (src.cast::<T>().read_unaligned(), src.add(last).cast::<T>().read_unaligned());
        dst.cast::<T>().write_unaligned(first);
        dst.add(last).cast::<T>().write_unaligned(second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::AlignedBuffer;
    use crate::{Family, Level, Mover, Nest};

    /// Moves rows of so many bytes past the cache at every level, a plane of five after the other, and compares the whole.
    fn check(run: usize, [row, plane]: [isize; 2], first: usize) {
        let a_loop = |extent, src_stride, dst_stride| Loop { extent, src_stride, dst_stride };
        let bytes = run as isize;
        // Rows of a plane lie apart in the source, and those of the next one between them.
        let loops = [a_loop(4, bytes, plane), a_loop(5, 4 * bytes, row), a_loop(run, 1, 1)];
        let nest = Nest { src_offset: 0, dst_offset: first as isize, loops: &loops };
        let src: Vec<u8> = (0..20 * run).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let mut dst = AlignedBuffer::zeroed(40 * run + 16 * LINE).unwrap();
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        let mover = |level, stream| Mover { family: Family::Rows, element_bytes: 1, level, stream };
        mover(Level::Scalar, false).run(&src, &mut wanted, nest).unwrap();
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            dst.fill(0xA5);
            mover(level, true).run(&src, &mut dst, nest).unwrap();
            assert!(dst[..] == wanted[..], "{level}: {run} bytes, {row} and {plane} apart, from {first} on");
        }
    }

    #[test]
    fn rows_share_lines_with_those_before_and_behind_them() {
        for run in [128, 200, 1000, 1472, 5000] {
            let bytes = run as isize;
            for first in [0, 1, 16, 63] {
                // One behind the other; backwards; with gaps.
                check(run, [bytes, 5 * bytes], first);
                check(run, [-bytes, 5 * bytes], first + 4 * run);
                check(run, [bytes + 40, 5 * bytes + 200], first);
            }
        }
    }
}

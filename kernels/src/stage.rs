//! Tiles made in a scratch buffer and then written in whole lines: for destinations whose lines no register covers.
//!
//! A *tile* is a part of the nest: of every loop a chunk. Chunks are chosen so that what a tile reads and what it writes
//! are both long runs. The kernel writes the tile into the scratch buffer, where it stays in the cache, and the runs go
//! from there past the cache.

use crate::lanes::{LINE, Lanes, next_line};
use crate::loops::next_tile;
use crate::nest::Loop;
use crate::rows::StreamedRows;
use crate::tuning::{Reach, STAGE_BYTES};
use crate::walk::each_point;

/// Loops that a staged nest may have; deeper ones run directly.
pub(crate) const MAX_LOOPS: usize = 32;

/// How a nest is cut into tiles, and where a tile's elements lie in the scratch buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stage {
    /// Steps of each loop that a tile takes.
    chunks: [usize; MAX_LOOPS],
    /// Scratch stride of each loop, in bytes.
    strides: [isize; MAX_LOOPS],
    /// True for the loops that make up a run.
    in_run: [bool; MAX_LOOPS],
    /// Bytes of the scratch buffer.
    bytes: usize,
}

impl Stage {
    /// Cuts a nest whose elements have `element` bytes. `None` where the destination has no run worth staging.
    pub(crate) fn new(loops: &[Loop], element: usize, reach: Reach) -> Option<Stage> {
        if loops.len() > MAX_LOOPS {
            return None;
        }
        let mut stage =
            Stage { chunks: [1; MAX_LOOPS], strides: [0; MAX_LOOPS], in_run: [false; MAX_LOOPS], bytes: 0 };
        if stage.take_chain(loops, element, reach.dst, |l| l.dst_stride, true) < LINE {
            return None;
        }
        stage.take_chain(loops, element, reach.src, |l| l.src_stride, false);
        let in_run = (0..loops.len()).filter(|&i| stage.in_run[i]);
        let run = element * in_run.map(|i| stage.chunks[i]).product::<usize>();
        stage.lay_out(loops, run);
        (stage.bytes <= STAGE_BYTES).then_some(stage)
    }

    /// Takes the loops that continue one another on one side, from the fastest on, until they span `wanted` bytes; those
    /// of a run go upwards, since it is written from its first byte on.
    fn take_chain(
        &mut self,
        loops: &[Loop],
        element: usize,
        wanted: usize,
        stride: fn(&Loop) -> isize,
        is_run: bool,
    ) -> usize {
        let mut span = element;
        while span < wanted {
            let continues =
                |l: &Loop| stride(l).unsigned_abs() == span && l.extent > 1 && (stride(l) > 0 || !is_run);
            let Some(position) = loops.iter().position(continues) else { break };
            let extent = loops[position].extent;
            let steps = extent.min(wanted.div_ceil(span));
            self.chunks[position] = self.chunks[position].max(steps);
            self.in_run[position] |= is_run;
            span *= steps;
            if steps < extent {
                break;
            }
        }
        span
    }

    /// Lays a tile out: the run without gaps, then rows at a pitch of an odd number of lines, so that rows do not meet in
    /// one set of the cache.
    fn lay_out(&mut self, loops: &[Loop], run: usize) {
        let mut order = [0; MAX_LOOPS];
        (0..loops.len()).for_each(|i| order[i] = i);
        let order = &mut order[..loops.len()];
        order.sort_unstable_by_key(|&i| loops[i].dst_stride.unsigned_abs());
        let mut span = run.next_multiple_of(LINE) | LINE;
        for &i in order.iter() {
            if self.in_run[i] {
                self.strides[i] = loops[i].dst_stride;
            } else if self.chunks[i] > 1 {
                self.strides[i] = span as isize;
                span *= self.chunks[i];
            }
        }
        self.bytes = span + LINE;
    }

    /// Bytes of scratch that [`Stage::each_tile`] wants, a line for alignment among them.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Runs `kernel` on every tile with the scratch buffer as its destination, and writes the tile's runs.
    ///
    /// # Safety
    /// All places of `loops`, and `element` bytes behind each, must be valid on both sides, without overlap; `scratch`
    /// must have [`Stage::bytes`] bytes. `kernel` gets loops whose places are valid in the source and in the scratch
    /// buffer.
    pub(crate) unsafe fn each_tile<L: Lanes>(
        &self,
        lanes: L,
        loops: &[Loop],
        (src, dst): (*const u8, *mut u8),
        scratch: &mut [u8],
        element: usize,
        mut kernel: impl FnMut(&[Loop], *const u8, *mut u8),
    ) {
        let scratch = scratch.as_mut_ptr();
        let scratch = next_line(scratch);
        let order = self.tile_order(loops);
        let mut origin = [0usize; MAX_LOOPS];
        loop {
            let mut tile = [Loop::default(); MAX_LOOPS];
            let (mut from, mut to) = (src, dst);
            for (i, l) in loops.iter().enumerate() {
                let extent = self.chunks[i].min(l.extent - origin[i]);
                tile[i] = Loop { extent, src_stride: l.src_stride, dst_stride: self.strides[i] };
                from = from.wrapping_offset(origin[i] as isize * l.src_stride);
                to = to.wrapping_offset(origin[i] as isize * l.dst_stride);
            }
            let tile = &tile[..loops.len()];
            kernel(tile, from, scratch);
            // SAFETY: the tile's places in the destination are places of the nest, and its runs in the scratch buffer are
            // what the kernel wrote.
            unsafe { self.flush(lanes, loops, tile, scratch, to, element) };
            if !next_tile(loops, &self.chunks, &order[..loops.len()], &mut origin) {
                return;
            }
        }
    }

    /// Writes one tile's runs.
    ///
    /// # Safety
    /// As [`Stage::each_tile`], for the tile that starts at `to`.
    unsafe fn flush<L: Lanes>(
        &self,
        lanes: L,
        loops: &[Loop],
        tile: &[Loop],
        scratch: *const u8,
        to: *mut u8,
        element: usize,
    ) {
        let mut rows = [Loop::default(); MAX_LOOPS];
        let (mut count, mut run) = (0, element);
        for (i, part) in tile.iter().enumerate() {
            if self.in_run[i] {
                run *= part.extent;
            } else if part.extent > 1 {
                rows[count] = Loop {
                    extent: part.extent,
                    src_stride: self.strides[i],
                    dst_stride: loops[i].dst_stride,
                };
                count += 1;
            }
        }
        // SAFETY: every run lies in the scratch buffer and in the destination.
        unsafe { each_point(lanes, &rows[..count], scratch, to, StreamedRows::new(&rows[..count], run)) };
    }

    /// The order in which tiles follow one another, outermost loop first: along the source.
    fn tile_order(&self, loops: &[Loop]) -> [usize; MAX_LOOPS] {
        let mut order = [0; MAX_LOOPS];
        (0..loops.len()).for_each(|i| order[i] = i);
        order[..loops.len()].sort_by_key(|&i| std::cmp::Reverse(loops[i].src_stride.unsigned_abs()));
        order
    }
}

/// True where every point of `loops` starts a line of the destination.
#[inline(always)]
pub(crate) fn starts_lines<'a>(loops: impl IntoIterator<Item = &'a Loop>, dst: *mut u8) -> bool {
    let whole = |l: &Loop| l.dst_stride.unsigned_abs().is_multiple_of(LINE);
    dst.addr().is_multiple_of(LINE) && loops.into_iter().all(whole)
}

/// True where every point of `loops` is as many elements of so many bytes behind the start of a line of the destination.
pub(crate) fn start_alike<'a>(
    loops: impl IntoIterator<Item = &'a Loop>,
    element: usize,
    dst: *mut u8,
) -> bool {
    let behind = dst.addr() % LINE;
    behind.is_multiple_of(element) && starts_lines(loops, dst.wrapping_sub(behind))
}

//! One entry for every family: checks the nest, then runs the family's body at a level.

use crate::deinterleave::{Deinterleave, Past, unzips};
use crate::general::general;
use crate::interleave::Interleave;
use crate::lanes::{LANE, LINE, Lanes};
#[cfg(target_arch = "x86_64")]
use crate::level::HAS_AVX512;
use crate::level::Level;
use crate::nest::{Loop, Nest, OutOfBounds};
use crate::rows::along::AlongSource;
use crate::rows::dense::{DenseOrder, dense_rows};
use crate::rows::pieces::row_pieces;
use crate::rows::stream::stream_rows;
use crate::rows::{next_rows, rows_in_cache, rows_past_cache};
use crate::stage::{Stage, starts_lines};
use crate::strided::{contiguous_run, walk, walk_runs};
use crate::transpose::seams::Seams;
use crate::transpose::{How, transpose};
use crate::tuning::{
    ROWS_REACH, STREAM_REACH, TILE_REACH, goes_by_pieces, rows_ahead, stream_ahead, whole_rows_ahead,
};
use crate::walk::each_point;

/// How elements of whole bytes are moved; which loops a family wants innermost, and with which strides.
///
/// A nest that does not keep to it is still moved exactly, by [`Family::Strided`].
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// The innermost loops are contiguous on both sides.
    Rows,
    /// `[.., rows, columns]`: rows are contiguous in the source, columns in the destination.
    Transpose,
    /// `[.., along, across]`: along is contiguous in the source, across (2 to 8 steps) in the destination, where along
    /// advances by all of across.
    Interleave,
    /// `[.., across, along]`: across (2 to 8 steps) is contiguous in the source, where along advances by all of it; along
    /// is contiguous in the destination.
    Deinterleave,
    /// Any loops.
    Strided,
}

impl Family {
    /// The name in kernel names.
    pub fn name(self) -> &'static str {
        match self {
            Family::Rows => "rows",
            Family::Transpose => "transpose",
            Family::Interleave => "interleave",
            Family::Deinterleave => "deinterleave",
            Family::Strided => "strided",
        }
    }
}

/// A family, the width of its elements, and how it may run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mover {
    /// The family.
    pub family: Family,
    /// Bytes of an element.
    pub element_bytes: usize,
    /// The instructions to use; one that the machine or the build lacks counts as a lower one.
    pub level: Level,
    /// Write whole lines past the cache.
    pub stream: bool,
}

impl Mover {
    /// Moves one element for every point of `nest`, whose offsets and strides are in bytes.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some element lies outside its slice; nothing was moved then.
    ///
    /// ```
    /// use relayout_kernels::{Family, Level, Loop, Mover, Nest};
    /// let src: Vec<u8> = (0..64).collect(); // two rows of 32
    /// let mut dst = [0; 64];
    /// let loops = [
    ///     Loop { extent: 32, src_stride: 1, dst_stride: 2 },
    ///     Loop { extent: 2, src_stride: 32, dst_stride: 1 },
    /// ];
    /// let mover = Mover { family: Family::Interleave, element_bytes: 1, level: Level::detect(), stream: false };
    /// mover.run(&src, &mut dst, Nest { src_offset: 0, dst_offset: 0, loops: &loops })?;
    /// assert_eq!(dst[..4], [0, 32, 1, 33]);
    /// # Ok::<(), relayout_kernels::OutOfBounds>(())
    /// ```
    pub fn run(&self, src: &[u8], dst: &mut [u8], nest: Nest<'_>) -> Result<(), OutOfBounds> {
        let element = self.element_bytes;
        if nest.is_empty() || element == 0 {
            return Ok(());
        }
        nest.check(src.len(), element, dst.len(), element)?;
        // In bounds by the check above, so the first places are too.
        let from = src[nest.src_offset.unsigned_abs()..].as_ptr();
        let to = dst[nest.dst_offset.unsigned_abs()..].as_mut_ptr();
        // SAFETY:
        // - every address that the nest reaches from `from` and `to`, and the element behind it, lies inside `src` and
        //   `dst`: `check` proved it;
        // - `src` and `dst` do not overlap, being a shared and an exclusive borrow.
        unsafe { self.dispatch(nest.loops, from, to) };
        Ok(())
    }

    /// # Safety
    /// All places of `loops`, and an element behind each, must be valid on both sides, without overlap.
    #[cfg(target_arch = "x86_64")]
    pub(crate) unsafe fn dispatch(&self, loops: &[Loop], src: *const u8, dst: *mut u8) {
        use crate::transpose::{for_turns, registers};
        use pulp::x86::{V3, V4};

        if let Some(order) = for_turns(self, loops, dst) {
            // SAFETY: the caller's promise; the same loops in another order.
            return unsafe {
                Mover { family: Family::Transpose, ..*self }.dispatch(order.as_slice(), src, dst)
            };
        }
        let level = registers(self, loops, dst);
        if HAS_AVX512
            && level >= Level::Avx512
            && let Some(lanes) = V4::try_new()
        {
            // SAFETY: the caller's promise.
            unsafe { self.go(lanes, loops, src, dst) }
        } else if let (true, Some(lanes)) = (level >= Level::Avx2, V3::try_new()) {
            // SAFETY: the caller's promise.
            unsafe { self.go(lanes, loops, src, dst) }
        } else {
            // SAFETY: the caller's promise.
            unsafe { scalar(loops, src, dst, self.element_bytes) }
        }
    }

    /// # Safety
    /// As on x86-64.
    #[cfg(target_arch = "aarch64")]
    pub(crate) unsafe fn dispatch(&self, loops: &[Loop], src: *const u8, dst: *mut u8) {
        match pulp::aarch64::Neon::try_new() {
            // SAFETY: the caller's promise.
            Some(lanes) if self.level >= Level::Neon => unsafe { self.go(lanes, loops, src, dst) },
            // SAFETY: the caller's promise.
            _ => unsafe { scalar(loops, src, dst, self.element_bytes) },
        }
    }

    /// # Safety
    /// As on x86-64.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub(crate) unsafe fn dispatch(&self, loops: &[Loop], src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { scalar(loops, src, dst, self.element_bytes) }
    }

    /// Runs the body of the family, past the cache where the nest streams.
    ///
    /// Inlined, as what it calls up to the level's region: what is handed over there by way of memory costs as much as
    /// moving some lines.
    ///
    /// # Safety
    /// As [`Mover::dispatch`].
    #[allow(dead_code)] // portable targets have no lanes
    #[inline(always)]
    pub(crate) unsafe fn go<L: Lanes>(&self, lanes: L, loops: &[Loop], src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.stream && L::STREAMS {
                true => self.past_cache(lanes, loops, src, dst),
                false => Mover { stream: false, ..*self }.body(lanes, loops, src, dst),
            }
        }
    }

    /// Stages the nest where no kernel of the level writes whole lines of the destination itself.
    ///
    /// # Safety
    /// As [`Mover::dispatch`].
    #[allow(dead_code)] // portable targets have no lanes
    #[inline(never)]
    unsafe fn past_cache<L: Lanes>(&self, lanes: L, loops: &[Loop], src: *const u8, dst: *mut u8) {
        let element = self.element_bytes;
        if let Some(seams) = Seams::new::<L>(self, loops, dst) {
            // SAFETY: the caller's promise.
            return unsafe { seams.run(lanes, self, src, dst) };
        }
        let writes_lines = match (self.family, loops) {
            (Family::Rows | Family::Strided, _) => true,
            (Family::Interleave, [outer @ .., _, _]) => starts_lines(outer, dst),
            (Family::Deinterleave, [rows @ .., _]) if starts_lines(rows, dst) => true,
            (Family::Deinterleave, [outer @ .., across, along]) => {
                row_pieces::<L>(outer, *across, *along, element).is_some()
                    || unzips(*across, *along, element)
                        && DenseOrder::new(outer, (*across, *along), element).is_some()
            }
            (Family::Transpose, [outer @ .., rows, columns]) => {
                How::new::<L>((outer, *rows, *columns), element, dst) != How::Store
            }
            _ => false,
        };
        let direct = |stream| Mover { stream, ..*self };
        let reach = match self.family {
            Family::Interleave => STREAM_REACH,
            Family::Deinterleave => ROWS_REACH,
            _ => TILE_REACH,
        };
        let stage = if writes_lines { None } else { Stage::new(loops, element, reach) };
        match stage {
            Some(stage) => {
                let mut scratch = vec![0; stage.bytes()];
                let mover = direct(false);
                // SAFETY: the caller's promise; the kernel gets the loops of a tile.
                unsafe {
                    stage.each_tile(lanes, loops, (src, dst), &mut scratch, element, |loops, src, dst| {
                        mover.body(lanes, loops, src, dst);
                    });
                }
            }
            // SAFETY: the caller's promise.
            None => unsafe { direct(writes_lines).body(lanes, loops, src, dst) },
        }
    }

    /// # Safety
    /// As [`Mover::dispatch`].
    #[allow(dead_code)] // portable targets have no lanes
    #[inline(always)]
    unsafe fn body<L: Lanes>(&self, lanes: L, loops: &[Loop], src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise; each arm has checked that the loops are what its family wants.
        unsafe {
            match (self.family, loops) {
                (Family::Rows, _) => self.rows(lanes, loops, src, dst),
                (Family::Transpose, [outer @ .., rows, columns]) => {
                    transpose(self, lanes, loops, (outer, *rows, *columns), src, dst);
                }
                (Family::Interleave, [outer @ .., along, across]) => {
                    self.interleave(lanes, loops, (outer, *along, *across), src, dst);
                }
                (Family::Deinterleave, [outer @ .., across, along]) => {
                    self.deinterleave(lanes, loops, (outer, *across, *along), src, dst);
                }
                _ => general(lanes, loops, (src, dst), self.element_bytes, self.stream),
            }
        }
    }

    /// # Safety
    /// As [`Mover::dispatch`].
    #[allow(dead_code)] // portable targets have no lanes
    #[inline(always)]
    unsafe fn rows<L: Lanes>(&self, lanes: L, loops: &[Loop], src: *const u8, dst: *mut u8) {
        let (loops, run) = contiguous_run(loops, self.element_bytes);
        // Short runs are put together, where they make up longer ones.
        if run < if self.stream { LINE } else { LANE } {
            // SAFETY: the caller's promise.
            return unsafe { general(lanes, loops, (src, dst), run, self.stream) };
        }
        // SAFETY: the caller's promise.
        unsafe {
            match self.stream {
                true => rows_past_cache(lanes, loops, run, src, dst),
                false => rows_in_cache(lanes, loops, run, src, dst),
            }
        }
    }

    /// # Safety
    /// As [`Mover::dispatch`].
    #[allow(dead_code)] // portable targets have no lanes
    #[inline(always)]
    unsafe fn interleave<L: Lanes>(
        &self,
        lanes: L,
        loops: &[Loop],
        (outer, along, across): (&[Loop], Loop, Loop),
        src: *const u8,
        dst: *mut u8,
    ) {
        let element = self.element_bytes as isize;
        let fits = along.src_stride == element
            && across.dst_stride == element
            && along.dst_stride == element * across.extent as isize;
        let (rows, run) = ((across.extent, across.src_stride), along.extent * self.element_bytes);
        let along_source = if self.stream { AlongSource::of_woven(outer, rows, run) } else { None };
        let (outer, whole_rows, ahead) = match &along_source {
            // Of two rows, both are asked for before they are read.
            Some(AlongSource { order, ahead }) if across.extent == 2 => (order.as_slice(), *ahead, 0),
            Some(AlongSource { order, ahead }) => (order.as_slice(), 0, *ahead),
            None if !self.stream => (outer, 0, 0),
            None => match (next_rows(outer, rows, run), whole_rows_ahead(rows, run)) {
                (Some(next), _) => (outer, 0, next),
                (None, 0) => (outer, 0, rows_ahead(L::BYTES < LINE, rows)),
                (None, whole_rows) => (outer, whole_rows, 0),
            },
        };
        let past = self.stream.then_some(ahead);
        macro_rules! run {
            ($($e:literal: $($k:literal)*;)*) => {
                match (self.element_bytes, across.extent) {
                    // SAFETY: the caller's promise, and the strides that the family wants.
                    $($(($e, $k) if fits => unsafe {
                        each_point(lanes, outer, src, dst, Interleave::<$e, $k> { along, across, past, whole_rows });
                    })*)*
                    // SAFETY: the caller's promise.
                    _ => unsafe { general(lanes, loops, (src, dst), self.element_bytes, self.stream) },
                }
            };
        }
        run!(1: 2 3 4 5 6 7 8; 2: 2 3 4 5 6 7 8; 4: 2 3 4 5 6 7 8; 8: 2 3 4;);
    }

    /// # Safety
    /// As [`Mover::dispatch`].
    #[allow(dead_code)] // portable targets have no lanes
    #[inline(always)]
    unsafe fn deinterleave<L: Lanes>(
        &self,
        lanes: L,
        loops: &[Loop],
        (outer, across, along): (&[Loop], Loop, Loop),
        src: *const u8,
        dst: *mut u8,
    ) {
        let fits = unzips(across, along, self.element_bytes);
        let in_lines = starts_lines(outer.iter().chain([&across]), dst);
        // Rows that do not start lines, and two that meet: pieces of them carry what is behind their last line.
        let by_pieces = !in_lines || goes_by_pieces((across.extent, across.dst_stride));
        let pieces = match self.stream && fits && by_pieces {
            true => row_pieces::<L>(outer, across, along, self.element_bytes),
            false => None,
        };
        if let Some(pieces) = pieces
            // SAFETY: the caller's promise, and the strides that the family wants.
            && unsafe { stream_rows(lanes, self.element_bytes, across, pieces, src, dst) }
        {
            return;
        }
        if self.stream
            && fits
            && !in_lines
            // SAFETY: the same.
            && unsafe { dense_rows(lanes, outer, (across, along), self.element_bytes, (src, dst)) }
        {
            return;
        }
        let past = self.stream.then(|| Past::new(stream_ahead(), across));
        macro_rules! run {
            ($($e:literal: $($k:literal)*;)*) => {
                match (self.element_bytes, across.extent) {
                    // SAFETY: the caller's promise, and the strides that the family wants.
                    $($(($e, $k) if fits => unsafe {
                        each_point(lanes, outer, src, dst, Deinterleave::<$e, $k> { along, across, past });
                    })*)*
                    // SAFETY: the caller's promise.
                    _ => unsafe { general(lanes, loops, (src, dst), self.element_bytes, self.stream) },
                }
            };
        }
        run!(1: 2 3 4 5 6 7 8; 2: 2 3 4 5 6 7 8; 4: 2 3 4 5 6 7 8; 8: 2 3 4;);
    }
}

/// Moves a nest with portable code.
///
/// # Safety
/// All places of `loops`, and `element` bytes behind each, must be valid on both sides, without overlap.
pub(crate) unsafe fn scalar(loops: &[Loop], src: *const u8, dst: *mut u8, element: usize) {
    let (loops, run) = contiguous_run(loops, element);
    // SAFETY: the caller's promise; a run is made of the innermost loops.
    unsafe {
        match run {
            1 => walk::<[u8; 1]>(loops, src, dst),
            2 => walk::<[u8; 2]>(loops, src, dst),
            4 => walk::<[u8; 4]>(loops, src, dst),
            8 => walk::<[u8; 8]>(loops, src, dst),
            16 => walk::<[u8; 16]>(loops, src, dst),
            _ => walk_runs(loops, src, dst, run),
        }
    }
}

//! Rows of pieces with a rest: those of ragged tiles, whose last pieces are shorter than the others and so a nest of their
//! own.

use crate::deinterleave::unzips;
use crate::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use crate::level::HAS_AVX512;
use crate::level::Level;
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::mover::{Family, Mover};
use crate::nest::{Loop, Nest, OutOfBounds};
use crate::rows::pieces::{Pieces, pieces};
use crate::rows::stream::stream_rows;
use crate::stage::starts_lines;

impl Mover {
    /// Moves rows and what is behind their last pieces together, so that lines in which a row ends and the next one begins
    /// are written once, past the cache. Returns false, and moves nothing, unless `rest` has the loops of `nest` without
    /// the one that leads from piece to piece of each row, and begins where that would go on; or where no kernel moves
    /// the two together. Each is then to be moved by itself.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some element of either lies outside its slice; nothing was moved then.
    ///
    /// ```
    /// use relayout_kernels::{Family, Level, Loop, Mover, Nest};
    /// // Two rows of 3 pieces of 64 bytes, which are apart in the source, and of 5 bytes more.
    /// let next = Loop { extent: 3, src_stride: 128, dst_stride: 64 };
    /// let rows = Loop { extent: 2, src_stride: 64, dst_stride: 197 };
    /// let bytes = |extent| Loop { extent, src_stride: 1, dst_stride: 1 };
    /// let (nest, rest) = ([next, rows, bytes(64)], [rows, bytes(5)]);
    /// let nest = Nest { src_offset: 0, dst_offset: 0, loops: &nest };
    /// let rest = Nest { src_offset: 384, dst_offset: 192, loops: &rest };
    ///
    /// let (src, mut dst) = ([7; 512], [0; 394]);
    /// let mover = Mover { family: Family::Rows, element_bytes: 1, level: Level::detect(), stream: true };
    /// if !mover.run_rows(&src, &mut dst, nest, rest)? {
    ///     mover.run(&src, &mut dst, nest)?;
    ///     mover.run(&src, &mut dst, rest)?;
    /// }
    /// assert_eq!(dst, [7; 394]);
    /// # Ok::<(), relayout_kernels::OutOfBounds>(())
    /// ```
    pub fn run_rows(
        &self,
        src: &[u8],
        dst: &mut [u8],
        nest: Nest<'_>,
        rest: Nest<'_>,
    ) -> Result<bool, OutOfBounds> {
        let element = self.element_bytes;
        if nest.is_empty() || rest.is_empty() || element == 0 {
            return Ok(false);
        }
        nest.check(src.len(), element, dst.len(), element)?;
        rest.check(src.len(), element, dst.len(), element)?;
        let inner = if self.family == Family::Deinterleave { 2 } else { 1 };
        let ragged = Ragged::new(&nest, &rest, inner).filter(|ragged| self.stream && ragged.is_shorter());
        let Some(ragged) = ragged else { return Ok(false) };
        let from = src[nest.src_offset.unsigned_abs()..].as_ptr();
        let to = dst[nest.dst_offset.unsigned_abs()..].as_mut_ptr();
        // SAFETY:
        // - every address that either nest reaches, and the element behind it, lies inside `src` and `dst`: `check` proved it;
        // - the rest is where `nest` would go on from its first place: `Ragged` made sure of it;
        // - `src` and `dst` do not overlap, being a shared and an exclusive borrow.
        Ok(unsafe { self.run_ragged(&ragged, from, to) })
    }

    /// # Safety
    /// All places of the rows and of their rest, and an element behind each, must be valid on both sides, without overlap.
    unsafe fn run_ragged(&self, ragged: &Ragged, src: *const u8, dst: *mut u8) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use pulp::x86::{V3, V4};
            if HAS_AVX512
                && self.level >= Level::Avx512
                && let Some(lanes) = V4::try_new()
            {
                // SAFETY: the caller's promise.
                return unsafe { self.ragged(lanes, ragged, src, dst) };
            }
            if let (true, Some(lanes)) = (self.level >= Level::Avx2, V3::try_new()) {
                // SAFETY: the caller's promise.
                return unsafe { self.ragged(lanes, ragged, src, dst) };
            }
        }
        let _ = (ragged, src, dst, Level::Scalar); // no other level writes past the cache
        false
    }

    /// Moves rows that do not start lines, and their rest, past the cache; false, and nothing is moved, where no kernel does.
    ///
    /// # Safety
    /// As [`Mover::run_ragged`].
    #[allow(dead_code)] // portable targets have no lanes
    pub(crate) unsafe fn ragged<L: Lanes>(
        &self,
        lanes: L,
        ragged: &Ragged,
        src: *const u8,
        dst: *mut u8,
    ) -> bool {
        let width = self.element_bytes;
        let (outer, across, along, element, rest) = match (self.family, ragged.loops.as_slice()) {
            // However wide, elements of rows are bytes.
            (Family::Rows, &[ref outer @ .., run]) if unzips(ONCE, run, width) => {
                let bytes = Loop { extent: run.extent * width, src_stride: 1, dst_stride: 1 };
                (outer, ONCE, bytes, 1, ragged.rest * width)
            }
            (Family::Deinterleave, &[ref outer @ .., across, along]) if unzips(across, along, width) => {
                (outer, across, along, width, ragged.rest)
            }
            _ => return false,
        };
        let found = pieces::<L>(outer, along, element).filter(|found| found.next == ragged.next);
        let Some(found) = found.filter(|_| !starts_lines(ragged.loops.as_slice(), dst)) else { return false };
        // SAFETY: the caller's promise; the rest lies behind the last piece that the pieces' loop leads to.
        unsafe { stream_rows(lanes, element, across, Pieces { rest, ..found }, src, dst) }
    }
}

/// A nest whose rows have a rest behind their last pieces.
pub(crate) struct Ragged {
    pub(crate) loops: Loops,
    /// The loop that leads from piece to piece, behind whose last step the rest lies.
    pub(crate) next: Loop,
    /// Steps of the innermost loop there.
    rest: usize,
}

impl Ragged {
    /// Rows and their rest, where the second nest is one. Of a single piece a row there is no loop: it is put in, behind which
    /// there are so many, those of one piece of a few rows.
    pub(crate) fn new(nest: &Nest<'_>, rest: &Nest<'_>, inner: usize) -> Option<Ragged> {
        let ([all @ .., along], [others @ .., last]) = (nest.loops, rest.loops) else { return None };
        let differs = (0..all.len()).find(|&i| others.get(i) != Some(&all[i]));
        let away = [(nest.src_offset, rest.src_offset), (nest.dst_offset, rest.dst_offset)]
            .map(|(first, behind)| behind.wrapping_sub(first));
        let (loops, next) = match differs {
            Some(position) => {
                let next = all[position];
                let behind = |stride: isize| stride.checked_mul(next.extent.try_into().ok()?);
                let is_rest = all[position + 1..] == others[position..]
                    && [next.src_stride, next.dst_stride].map(behind) == away.map(Some);
                (Loops::of_few(nest.loops).filter(|_| is_rest)?, next)
            }
            None if all.len() < others.len() => return None,
            None => {
                let next = Loop { extent: 1, src_stride: away[0], dst_stride: away[1] };
                let (before, behind) = nest.loops.split_at_checked(nest.loops.len().checked_sub(inner)?)?;
                let mut loops = Loops::of_few(before).filter(|_| nest.loops.len() < MAX_LOOPS)?;
                loops.push(next);
                behind.iter().for_each(|&l| loops.push(l));
                (loops, next)
            }
        };
        let goes_along = Loop { extent: along.extent, ..*last } == *along;
        goes_along.then_some(Ragged { loops, next, rest: last.extent })
    }

    /// True where the rest is shorter than a piece.
    fn is_shorter(&self) -> bool {
        self.loops.as_slice().last().is_some_and(|along| self.rest < along.extent)
    }
}

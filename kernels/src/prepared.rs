//! Nests that are run again and again, and checked once.

use crate::mover::Mover;
use crate::nest::{Loop, Nest, OutOfBounds, Side};

/// Loops that are kept; ordinary nests have no more, and each costs what it takes to copy it.
const LOOPS: usize = 5;

/// A nest that lies inside all slices of certain lengths, and the [`Mover`] that moves it.
///
/// To see that takes as long as to move some lines. Made by [`Mover::prepare`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Prepared {
    mover: Mover,
    src_offset: usize,
    dst_offset: usize,
    /// The least bytes that the slices must have.
    src_len: usize,
    dst_len: usize,
    loops: [Loop; LOOPS],
    /// How many of the loops there are.
    count: usize,
}

impl Mover {
    /// Checks a nest for all slices of so many bytes or more. `None` where [`Mover::run`] had better be asked: where the
    /// nest leaves such slices, moves nothing, or has more than five loops.
    ///
    /// ```
    /// use relayout_kernels::{Family, Level, Loop, Mover, Nest};
    /// let mover = Mover { family: Family::Strided, element_bytes: 1, level: Level::detect(), stream: false };
    /// let loops = [Loop { extent: 3, src_stride: -1, dst_stride: 1 }];
    /// let nest = Nest { src_offset: 2, dst_offset: 0, loops: &loops };
    /// assert_eq!(mover.prepare(nest, 2, 3), None);
    /// let backward = mover.prepare(nest, 3, 3).expect("a nest inside");
    /// let mut dst = [0; 3];
    /// backward.run(&[1, 2, 3], &mut dst)?;
    /// assert_eq!(dst, [3, 2, 1]);
    /// assert!(backward.run(&[1, 2], &mut dst).is_err());
    /// # Ok::<(), relayout_kernels::OutOfBounds>(())
    /// ```
    pub fn prepare(&self, nest: Nest<'_>, src_len: usize, dst_len: usize) -> Option<Prepared> {
        let (element, count) = (self.element_bytes, nest.loops.len());
        if nest.is_empty() || element == 0 || count > LOOPS {
            return None;
        }
        nest.check(src_len, element, dst_len, element).ok()?;
        let mut loops = [Loop::default(); LOOPS];
        loops[..count].copy_from_slice(nest.loops);
        // Not negative, since the first places lie inside the slices.
        let (src_offset, dst_offset) = (nest.src_offset.unsigned_abs(), nest.dst_offset.unsigned_abs());
        Some(Prepared { mover: *self, src_offset, dst_offset, src_len, dst_len, loops, count })
    }
}

impl Prepared {
    /// Moves one element for every point of the nest.
    ///
    /// # Errors
    /// [`OutOfBounds`] where a slice is shorter than those that the nest was prepared for; nothing was moved then.
    #[inline]
    pub fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), OutOfBounds> {
        if src.len() < self.src_len {
            return Err(OutOfBounds { side: Side::Source, len: src.len() });
        }
        if dst.len() < self.dst_len {
            return Err(OutOfBounds { side: Side::Destination, len: dst.len() });
        }
        let (from, to) = (src[self.src_offset..].as_ptr(), dst[self.dst_offset..].as_mut_ptr());
        // SAFETY:
        // - every address that the nest reaches from `from` and `to`, and the element behind it, lies inside `src` and
        //   `dst`: `prepare` proved it for slices of `src_len` and `dst_len` bytes, nobody else makes or changes a
        //   `Prepared`, and these slices are no shorter;
        // - `src` and `dst` do not overlap, being a shared and an exclusive borrow.
        unsafe { self.mover.dispatch(&self.loops[..self.count], from, to) };
        Ok(())
    }
}

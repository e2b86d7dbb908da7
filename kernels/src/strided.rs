//! Elements of whole bytes under a loop nest.

use crate::level::Level;
use crate::mover::{Family, Mover};
use crate::nest::{Loop, Nest, OutOfBounds};

/// Elements of one side of a cache block: 32 rows of 32 elements of 16 bytes are 16 KiB, half of a first-level cache.
const BLOCK: usize = 32;

/// Copies one element of `element_bytes` for every point of `nest`, whose offsets and strides are in bytes.
///
/// Where the innermost loop is contiguous on both sides it becomes one run; otherwise the two innermost loops are
/// walked in square blocks, so that lines fetched for the slower side are used before they are gone.
///
/// # Errors
/// [`OutOfBounds`] where some element lies outside its slice; nothing was moved then.
///
/// ```
/// use relayout_kernels::{Loop, Nest, copy_nest};
/// let src = [0, 1, 2, 3, 4, 5]; // two rows of three
/// let mut dst = [0; 6];
/// let loops =
///     [Loop { extent: 3, src_stride: 1, dst_stride: 2 }, Loop { extent: 2, src_stride: 3, dst_stride: 1 }];
/// copy_nest(&src, &mut dst, Nest { src_offset: 0, dst_offset: 0, loops: &loops }, 1)?;
/// assert_eq!(dst, [0, 3, 1, 4, 2, 5]);
/// # Ok::<(), relayout_kernels::OutOfBounds>(())
/// ```
pub fn copy_nest(
    src: &[u8],
    dst: &mut [u8],
    nest: Nest<'_>,
    element_bytes: usize,
) -> Result<(), OutOfBounds> {
    Mover { family: Family::Strided, element_bytes, level: Level::Scalar, stream: false }.run(src, dst, nest)
}

/// Takes the innermost loops that are contiguous on both sides off the nest; returns the rest and the bytes of a run.
pub(crate) fn contiguous_run(mut loops: &[Loop], element_bytes: usize) -> (&[Loop], usize) {
    let mut run = element_bytes;
    while let [outer @ .., inner] = loops {
        let step =
            Some(inner.src_stride) == isize::try_from(run).ok() && inner.dst_stride == inner.src_stride;
        if inner.extent > 1 && !step {
            break;
        }
        run *= inner.extent; // cannot overflow: the run lies inside a slice
        loops = outer;
    }
    (loops, run)
}

/// # Safety
/// Every place that `loops` reach from `src` and `dst`, and one `T` behind it, must be valid for reads and for writes,
/// and the two must not overlap.
pub(crate) unsafe fn walk<T: Copy>(loops: &[Loop], src: *const u8, dst: *mut u8) {
    match loops {
        // SAFETY: the caller promises one valid element here.
        [] => unsafe { copy_element::<T>(src, dst) },
        // SAFETY: the caller promises every place of these loops.
        [inner] => unsafe { walk_block::<T>(&Loop { extent: 1, ..Loop::default() }, inner, src, dst) },
        // SAFETY: as above.
        [outer, inner] => unsafe { walk_blocks::<T>(outer, inner, src, dst) },
        [outer, rest @ ..] => {
            for i in 0..outer.extent {
                // SAFETY: step `i` of `outer` is a place of the nest, so the rest is valid from there.
                unsafe {
                    walk::<T>(rest, step(src, i, outer.src_stride), step_mut(dst, i, outer.dst_stride))
                };
            }
        }
    }
}

/// # Safety
/// As [`walk`], for the two loops given.
unsafe fn walk_blocks<T: Copy>(outer: &Loop, inner: &Loop, src: *const u8, dst: *mut u8) {
    for i in (0..outer.extent).step_by(BLOCK) {
        let rows = Loop { extent: BLOCK.min(outer.extent - i), ..*outer };
        for j in (0..inner.extent).step_by(BLOCK) {
            let columns = Loop { extent: BLOCK.min(inner.extent - j), ..*inner };
            // SAFETY: (i, j) is a point of the nest, and the block's extents end where the loops end.
            unsafe {
                let src = step(step(src, i, outer.src_stride), j, inner.src_stride);
                let dst = step_mut(step_mut(dst, i, outer.dst_stride), j, inner.dst_stride);
                walk_block::<T>(&rows, &columns, src, dst);
            }
        }
    }
}

/// # Safety
/// As [`walk`], for the two loops given.
#[inline(always)]
unsafe fn walk_block<T: Copy>(outer: &Loop, inner: &Loop, src: *const u8, dst: *mut u8) {
    for i in 0..outer.extent {
        for j in 0..inner.extent {
            // SAFETY: (i, j) is a point of the nest.
            unsafe {
                let src = step(step(src, i, outer.src_stride), j, inner.src_stride);
                let dst = step_mut(step_mut(dst, i, outer.dst_stride), j, inner.dst_stride);
                copy_element::<T>(src, dst);
            }
        }
    }
}

/// # Safety
/// As [`walk`], with runs of `run` bytes in place of elements.
pub(crate) unsafe fn walk_runs(loops: &[Loop], src: *const u8, dst: *mut u8, run: usize) {
    match loops {
        // SAFETY: the caller promises `run` valid bytes on both sides, without overlap.
        [] => unsafe { std::ptr::copy_nonoverlapping(src, dst, run) },
        [outer, rest @ ..] => {
            for i in 0..outer.extent {
                // SAFETY: step `i` of `outer` is a place of the nest, so the rest is valid from there.
                unsafe {
                    walk_runs(rest, step(src, i, outer.src_stride), step_mut(dst, i, outer.dst_stride), run)
                };
            }
        }
    }
}

/// # Safety
/// One `T` must be readable at `src` and writable at `dst`; no alignment is asked for.
#[inline(always)]
unsafe fn copy_element<T: Copy>(src: *const u8, dst: *mut u8) {
    // SAFETY: the caller promises both places; unaligned access asks for no alignment.
    unsafe { dst.cast::<T>().write_unaligned(src.cast::<T>().read_unaligned()) };
}

/// # Safety
/// `index` steps of `stride` bytes from `pointer` must stay inside the slice that it points into.
#[inline(always)]
unsafe fn step(pointer: *const u8, index: usize, stride: isize) -> *const u8 {
    // SAFETY: the caller promises that the place lies in the same slice, so the product cannot overflow either.
    unsafe { pointer.offset(index as isize * stride) }
}

/// # Safety
/// As [`step`].
#[inline(always)]
unsafe fn step_mut(pointer: *mut u8, index: usize, stride: isize) -> *mut u8 {
    // SAFETY: as in `step`.
    unsafe { pointer.offset(index as isize * stride) }
}

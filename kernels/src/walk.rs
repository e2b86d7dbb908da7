//! Walking the outer loops of a nest.

use crate::lanes::{Lanes, Task};
use crate::loops::ONCE;
use crate::nest::Loop;

/// Loops that are walked by counters; of nests of more, which are rare, the outermost are walked one by one outside the
/// level's region.
pub(crate) const FLAT: usize = 12;

/// What a kernel does at one point of the outer loops.
///
/// Not a closure: closures cannot be forced inline, and one that is not loses the level's instructions.
pub(crate) trait Point: Copy {
    /// True where registers of half a line are best at levels that have whole ones, with the instructions of these.
    #[allow(dead_code)] // only x86-64 has both
    const BY_HALF_LINES: bool = false;

    /// Moves what lies inside the outer loops.
    ///
    /// # Safety
    /// As the implementation says of `src` and `dst`.
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8);

    /// True where the kernel streams, so that a fence is due.
    fn streams(&self) -> bool;
}

/// Runs a kernel at every point of at most [`FLAT`] loops.
pub(crate) struct Walk<'a, P> {
    pub(crate) loops: &'a [Loop],
    pub(crate) src: *const u8,
    pub(crate) dst: *mut u8,
    pub(crate) kernel: P,
    /// A kernel that streams is fenced when it is done.
    pub(crate) fence: bool,
}

impl<P: Point> Task for Walk<'_, P> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self, lanes: L) {
        let Walk { loops, mut src, mut dst, kernel, fence } = self;
        let (inner, outer) = loops.split_last().unwrap_or((&ONCE, &[]));
        let mut counters = [0usize; FLAT];
        'points: loop {
            let (mut from, mut to) = (src, dst);
            for _ in 0..inner.extent {
                // SAFETY: a point of the nest; the maker of the task promised what the kernel asks of all of them.
                unsafe { kernel.point(lanes, from, to) };
                from = from.wrapping_offset(inner.src_stride);
                to = to.wrapping_offset(inner.dst_stride);
            }
            for (counter, l) in counters.iter_mut().zip(outer).take(outer.len()).rev() {
                *counter += 1;
                src = src.wrapping_offset(l.src_stride);
                dst = dst.wrapping_offset(l.dst_stride);
                if *counter < l.extent {
                    continue 'points;
                }
                *counter = 0;
                src = src.wrapping_offset(l.src_stride.wrapping_neg().wrapping_mul(l.extent as isize));
                dst = dst.wrapping_offset(l.dst_stride.wrapping_neg().wrapping_mul(l.extent as isize));
            }
            break;
        }
        if fence && kernel.streams() {
            lanes.fence();
        }
    }
}

/// Runs a kernel at every point of any number of loops, none of which may be empty.
///
/// # Safety
/// Every point must be what the kernel asks for.
#[inline(always)]
pub(crate) unsafe fn each_point<L: Lanes, P: Point>(
    lanes: L,
    loops: &[Loop],
    src: *const u8,
    dst: *mut u8,
    kernel: P,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match loops.len() {
            ..=FLAT => lanes.vectorize(Walk { loops, src, dst, kernel, fence: true }),
            _ => each_step(lanes, loops, src, dst, kernel),
        }
    }
}

/// The outermost loop of too many, step by step.
///
/// # Safety
/// As [`each_point`].
#[inline(never)]
unsafe fn each_step<L: Lanes, P: Point>(lanes: L, loops: &[Loop], src: *const u8, dst: *mut u8, kernel: P) {
    let [first, rest @ ..] = loops else { return };
    for i in 0..first.extent as isize {
        let (from, to) =
            (src.wrapping_offset(i * first.src_stride), dst.wrapping_offset(i * first.dst_stride));
        // SAFETY: points of the rest from here are points of the nest.
        unsafe { each_point(lanes, rest, from, to, kernel) };
    }
}

//! Walking the outer loops of a nest.

use crate::lanes::{LINE, Lanes, Task};
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::tuning::asked_gap;

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

    /// Points that follow one another and are each moved by instructions of their own, up to four: what the first of them reads is one
    /// stream, and so on, and some processors follow streams by the address of the instruction that reads them.
    const APART: usize = 1;

    /// True where points may read one behind the other, so that the source is one stream but for gaps between some of them.
    const IS_STREAM: bool = false;

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
    loops: &'a [Loop],
    src: *const u8,
    dst: *mut u8,
    kernel: P,
    /// A kernel that streams is fenced when it is done.
    fence: bool,
    /// The most bytes that a stream leaves out and which are asked for all the same.
    gap: usize,
}

impl<'a, P: Point> Walk<'a, P> {
    /// From two first places on; whoever takes it without a fence sees to that.
    #[inline(always)]
    pub(crate) fn new(
        loops: &'a [Loop],
        (src, dst): (*const u8, *mut u8),
        kernel: P,
        fence: bool,
    ) -> Walk<'a, P> {
        let gap = match loops {
            [.., inner] if P::IS_STREAM && kernel.streams() => {
                asked_gap(inner.extent.saturating_mul(inner.src_stride.unsigned_abs()))
            }
            _ => 0,
        };
        Walk { loops, src, dst, kernel, fence, gap }
    }
}

impl<P: Point> Task for Walk<'_, P> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self, lanes: L) {
        let Walk { loops, mut src, mut dst, kernel, fence, gap } = self;
        let (inner, outer) = loops.split_last().unwrap_or((&ONCE, &[]));
        let mut counters = [0usize; FLAT];
        'points: loop {
            let (mut from, mut to) = (src, dst);
            let mut left = inner.extent;
            // SAFETY: points of the nest; the maker of the task promised what the kernel asks of all of them.
            unsafe {
                while P::APART >= 2 && left >= 2 {
                    two_apart(lanes, kernel, inner, (from, to));
                    (from, to) = step(inner, 2, (from, to));
                    left -= 2;
                    if P::APART >= 4 && left >= 2 {
                        two_apart(lanes, kernel, inner, (from, to));
                        (from, to) = step(inner, 2, (from, to));
                        left -= 2;
                    }
                }
                while left > 0 {
                    kernel.point(lanes, from, to);
                    (from, to) = step(inner, 1, (from, to));
                    left -= 1;
                }
            }
            let mut number = outer.len().min(FLAT);
            while number > 0 {
                number -= 1;
                let (counter, l) = (&mut counters[number], &outer[number]);
                *counter += 1;
                src = src.wrapping_offset(l.src_stride);
                dst = dst.wrapping_offset(l.dst_stride);
                if *counter < l.extent {
                    if P::IS_STREAM && gap > 0 {
                        ask_between(lanes, from, src, gap);
                    }
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

/// Asks for what lies between two places, if the second is at most so many bytes behind the first.
#[inline(always)]
fn ask_between<L: Lanes>(lanes: L, from: *const u8, to: *const u8, most: usize) {
    let gap = to.addr().wrapping_sub(from.addr());
    let mut at = 0;
    while gap <= most && at < gap {
        lanes.prefetch_near(from.wrapping_add(at));
        at += LINE;
    }
}

/// So many steps further in a loop.
#[inline(always)]
fn step(inner: &Loop, steps: isize, (src, dst): (*const u8, *mut u8)) -> (*const u8, *mut u8) {
    (src.wrapping_offset(steps * inner.src_stride), dst.wrapping_offset(steps * inner.dst_stride))
}

/// A point, and the next one of a loop, by instructions of its own.
///
/// # Safety
/// Both must be what the kernel asks for.
#[inline(always)]
unsafe fn two_apart<L: Lanes, P: Point>(lanes: L, kernel: P, inner: &Loop, places: (*const u8, *mut u8)) {
    let next = step(inner, 1, places);
    // SAFETY: the caller's promise.
    unsafe {
        kernel.point(lanes, places.0, places.1);
        kernel.point(lanes, next.0, next.1);
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
            ..=FLAT => lanes.vectorize(Walk::new(loops, (src, dst), kernel, true)),
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

//! Short rows that lie one behind the other in the destination but not in the source, where other rows lie between them: some of these
//! are taken along, to streams of their own, so that the source is read in longer runs.

use crate::lanes::{LINE, Lanes};
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::nest::Loop;
use crate::rows::StreamedRows;
use crate::rows::dense::{dense_rows, room};
use crate::tuning::{DENSE_STREAMS, joins_rows};
use crate::walk::each_point;

/// Bytes of the source that are read together, of rows of less than two lines, and of others: with more, there are more streams than
/// reading longer runs makes up for.
const READ_TOGETHER: [usize; 2] = [1024, 4096];

/// Rows of whole lines that are as long go straight to their places, pairs of lines as fast as a copy.
const LONG_LINES: usize = 2 * LINE;

/// Longer rows of the source are long runs as they are.
const LONG: usize = 2048;

/// Moves short rows past the cache, those that lie side by side in the source in turn; false, and nothing is moved, where they do not
/// lie so, or are long.
///
/// # Safety
/// At every point of `loops`, `run` bytes must be valid on both sides, without overlap.
#[allow(dead_code)] // portable targets have no lanes
#[inline(never)]
pub(crate) unsafe fn rows_across<L: Lanes>(
    lanes: L,
    loops: &[Loop],
    (run, are_lines): (usize, bool),
    src: *const u8,
    dst: *mut u8,
) -> bool {
    let is_long = run > LONG || if are_lines { run >= LONG_LINES } else { joins_rows(run) };
    let Some(across) = Across::new(loops, (run, are_lines)).filter(|_| !is_long) else { return false };
    let along = Loop { extent: run, src_stride: 1, dst_stride: 1 };
    let (all, together) = (across.beside.extent, across.together(run));
    let whole = all / together * together;
    for (first, count) in [(0, together), (whole, all - whole)] {
        let parts = if first == 0 { all / together } else { 1 };
        let (part, [from, to]) = across.part(first, count, parts);
        let places = (src.wrapping_offset(from), dst.wrapping_offset(to));
        // SAFETY: the caller's promise, for some of the rows.
        unsafe {
            if count == 0 || dense_rows(lanes, part.as_slice(), (ONCE, along), 1, places) {
                continue;
            }
            if first == 0 {
                return false;
            }
            each_point(lanes, part.as_slice(), places.0, places.1, StreamedRows::new(part.as_slice(), run));
        }
    }
    true
}

/// Rows that follow one another in the destination, and those that do in the source.
struct Across {
    outer: Loops,
    next: Loop,
    beside: Loop,
}

impl Across {
    /// Of runs of so many bytes; none where they do not lie so.
    fn new(loops: &[Loop], (run, are_lines): (usize, bool)) -> Option<Across> {
        let follows = |stride: isize| usize::try_from(stride) == Ok(run);
        // A loop more is made of one.
        let mut outer = Loops::of_few(loops).filter(|loops| loops.as_slice().len() < MAX_LOOPS)?;
        let next = outer.take(|l| l.extent > 1 && follows(l.dst_stride))?;
        let beside = outer.take(|l| l.extent > 1 && follows(l.src_stride))?;
        // All of them at once are taken in turn as they are, or go straight to their lines.
        let is_inside = loops.last().is_some_and(|l| l.src_stride == beside.src_stride);
        let fits = are_lines || beside.extent.saturating_mul(room(run)) <= DENSE_STREAMS;
        (!is_inside || !fits).then_some(Across { outer, next, beside })
    }

    /// How many rows of so many bytes are read together.
    fn together(&self, run: usize) -> usize {
        let read = READ_TOGETHER[usize::from(run >= 2 * LINE)];
        (read / run).min(DENSE_STREAMS / room(run)).clamp(2, self.beside.extent)
    }

    /// The loops with rows of the source from one on, so many together, and so many times as many; and how far the first of them lie.
    fn part(&self, first: usize, count: usize, parts: usize) -> (Loops, [isize; 2]) {
        let Across { mut outer, next, beside } = *self;
        let strides = [beside.src_stride, beside.dst_stride];
        let [src_stride, dst_stride] = strides.map(|stride| stride * count as isize);
        outer.push(Loop { extent: parts, src_stride, dst_stride });
        outer.push(next);
        outer.push(Loop { extent: count, ..beside });
        (outer, strides.map(|stride| stride * first as isize))
    }
}

//! Chooses among the kernels that transpose.

pub(crate) mod ahead;
mod bands;
pub(crate) mod block;
mod buffered;
pub(crate) mod burst;
pub(crate) mod columns;
pub(crate) mod dense;
pub(crate) mod lines;
pub(crate) mod plane;
pub(crate) mod rows;
pub(crate) mod seams;
pub(crate) mod small;
pub(crate) mod split;
pub(crate) mod stored;
pub(crate) mod stream;

use crate::general::{general, sets_in_lines};
use crate::lanes::{LANE, LINE, Lanes, next_line};
use crate::level::Level;
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::processor::{is_early_amd, is_fifth_zen, is_older_amd};
use crate::rows::border::Border;
use crate::stage::starts_lines;
use crate::transpose::ahead::{follow, meets, meets_far};
use crate::transpose::bands::{Bands, each_plane};
use crate::transpose::block::AsIs;
use crate::transpose::burst::{BURST_CARRY, BurstTranspose, is_near};
use crate::transpose::columns::{Asks, ShortColumns, SourceColumns};
use crate::transpose::dense::{Blocks, StreamDense, is_dense};
use crate::transpose::plane::CarriedPlane;
use crate::transpose::small::{SmallTranspose, is_small};
use crate::transpose::stored::Transpose;
use crate::transpose::stream::{CARRY_BYTES, StreamTranspose};
use crate::tuning::{
    Stretches, WIDEST_TURNS, asks_with_rows, follows_columns, lanes_in_general, short_columns,
    short_in_general,
};
use crate::walk::each_point;

/// How a transpose writes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// With ordinary stores.
    Store,
    /// Past the cache, a strip of lines of every row at a time.
    Strips,
    /// The same, of many columns, which are short.
    WideStrips,
    /// Past the cache, by turns of a line of each of a strip's columns: on AMD's older processors, and where narrow ones meet on its
    /// fifth Zen.
    Bursts,
    /// Past the cache, some whole rows at a time.
    Dense,
    /// Past the cache, as a nest of any loops is moved: long rows of elements that fill a lane, and short ones that go on, on AMD's fourth
    /// Zen.
    General,
}

impl How {
    /// How a plane is best streamed at this level, to this place; [`How::Store`] where no kernel writes its lines.
    pub(crate) fn new<L: Lanes>(
        (outer, rows, columns): (&[Loop], Loop, Loop),
        element: usize,
        dst: *mut u8,
    ) -> How {
        let turns_pay = turns_pay::<L>(rows, columns, element);
        let all_rows = |may_straddle| rows.extent * beyond_rows(outer, rows, element, may_straddle);
        let row = columns.extent * element;
        if !L::STREAMS {
            How::Store
        } else if is_dense(rows, columns, element, dst) && rows.extent * row >= LINE {
            How::Dense
        } else if in_general((outer, rows, columns), element, dst) {
            How::General
        } else if row >= 2 * LINE
            && all_rows(turns_pay) * element >= LINE
            && turns_pay
            && !are_short_columns(rows, columns, element)
        {
            How::Bursts
        } else if columns.extent >= LEAST_SHORT
            && 2 * all_rows(false) * element > LANE
            && 2 * L::BYTES == LINE
            && turns_pay
        {
            How::WideStrips
        } else if row >= 2 * LINE && 2 * all_rows(false) * element > LANE {
            How::Strips
        } else {
            How::Store
        }
    }
}

/// Short columns of which strips are wide: some strips.
const LEAST_SHORT: usize = 4 * ShortColumns::COUNT;

/// True where whole lines of elements of so many bytes are better read and written by turns, of registers of at least half a line: on
/// processors of AMD, but since their fifth Zen only where narrow ones meet in few sets of the caches. Intel's were slower with that.
fn turns_pay<L: Lanes>(rows: Loop, columns: Loop, element: usize) -> bool {
    let meet = || [columns.src_stride, rows.dst_stride].iter().any(|&step| meets_far(step));
    2 * L::BYTES >= LINE
        && element < LANE
        && (is_older_amd() || is_fifth_zen() && element <= WIDEST_TURNS && meet())
}

/// True where a plane is better moved as a nest of any loops is, with registers of half a line: elements that fill a lane, and rows that go
/// on in the next loop, with which they are longer, where all start lines, or as far behind one.
pub(crate) fn in_general(
    (outer, rows, columns): (&[Loop], Loop, Loop),
    element: usize,
    dst: *mut u8,
) -> bool {
    let row = columns.extent * element;
    let goes_on = |l: &Loop| Ok(row) == usize::try_from(l.dst_stride);
    match element {
        LANE => rows.dst_stride.unsigned_abs().is_multiple_of(LINE) && lanes_in_general(row),
        2 | 4 | 8 => {
            short_in_general(row)
                && rows.extent * element >= LINE
                && outer.iter().any(goes_on)
                && goes_in_lines((outer, rows, columns), element, dst)
        }
        _ => false,
    }
}

/// True where all rows start lines, or sets of the loops have rows so long that only their first and last lines are shared.
fn goes_in_lines((outer, rows, columns): (&[Loop], Loop, Loop), element: usize, dst: *mut u8) -> bool {
    if dst.addr().is_multiple_of(LINE) {
        return starts_lines(outer.iter().chain([&rows]), dst);
    }
    let few = Loops::of_few(outer).filter(|_| outer.len() + 2 <= MAX_LOOPS);
    few.is_some_and(|mut loops| {
        [rows, columns].into_iter().for_each(|l| loops.push(l));
        sets_in_lines(loops.as_slice(), element, dst).is_some()
    })
}

/// True where columns are a line or a little more, and one stream, of which strips are wide.
fn are_short_columns(rows: Loop, columns: Loop, element: usize) -> bool {
    let column = rows.extent * element;
    (LINE..=short_columns()).contains(&column)
        && follow(columns.src_stride, column)
        && columns.extent >= LEAST_SHORT
}

/// The level of registers of half a line, by which turns go where they pay and this level could be used.
pub(crate) fn with_turns(level: Level, pays: bool) -> Option<Level> {
    (level >= Level::Avx2 && pays).then_some(Level::Avx2)
}

/// The level whose registers a nest is moved with. Turns of registers of a whole line are faster than those of half of one where
/// much is near, and where rows start no lines, which they join; and slower elsewhere.
#[allow(dead_code)] // portable targets have one level
#[inline(always)]
pub(crate) fn registers(mover: &Mover, loops: &[Loop], dst: *mut u8) -> Level {
    let element = mover.element_bytes;
    match loops {
        [outer @ .., rows, columns]
            if mover.stream
                && mover.family == Family::Transpose
                && (element < LANE || in_general((outer, *rows, *columns), element, dst))
                && rows.src_stride == element as isize =>
        {
            let is_short = rows.extent * beyond_rows(outer, *rows, element, is_older_amd()) * element < LINE
                || are_short_columns(*rows, *columns, element)
                || in_general((outer, *rows, *columns), element, dst);
            let is_near = is_near(columns.src_stride, rows.dst_stride) && !is_short;
            let starts_lines = rows.dst_stride.unsigned_abs().is_multiple_of(LINE);
            let pays = is_older_amd() && !is_near && (starts_lines || is_short);
            with_turns(mover.level, pays).unwrap_or(mover.level)
        }
        _ => mover.level,
    }
}

/// True where `beyond` continues `rows` in the source, and no lane of rows straddles the two, unless they may.
pub(crate) fn continues(rows: Loop, beyond: Loop, element: usize, may_straddle: bool) -> bool {
    beyond.src_stride == rows.src_stride * rows.extent as isize
        && (may_straddle || (rows.extent * element).is_multiple_of(LANE))
}

/// How many times the last of the outer loops continues the rows, if at all.
fn beyond_rows(outer: &[Loop], rows: Loop, element: usize, may_straddle: bool) -> usize {
    let beyond = outer.last().filter(|beyond| continues(rows, **beyond, element, may_straddle));
    beyond.map_or(1, |beyond| beyond.extent)
}

/// A strided nest as turns want it: what continues the rows, the rows and the columns innermost; none where they are too short, or
/// turns do not pay. Rows of less than a lane are no plane for the other kernels, and are one with those of the next loop here.
#[allow(dead_code)] // portable targets have no levels
pub(crate) fn for_turns(mover: &Mover, loops: &[Loop], dst: *mut u8) -> Option<Loops> {
    let element = mover.element_bytes;
    let wanted = mover.stream && mover.family == Family::Strided && matches!(element, 1 | 2 | 4 | 8);
    if !wanted || loops.len() > MAX_LOOPS || with_turns(mover.level, is_older_amd()).is_none() {
        return None;
    }
    let (unit, mut order) = (element as isize, Loops::of(loops));
    let columns = order.take(|l| l.dst_stride == unit && l.extent * element >= 2 * LINE)?;
    let rows = order.take(|l| l.src_stride == unit)?;
    let beyond = order.take(|l| continues(rows, *l, element, true))?;
    [beyond, rows, columns].into_iter().for_each(|l| order.push(l));
    let is_long = rows.extent * beyond.extent * element >= LINE && !is_dense(rows, columns, element, dst);
    is_long.then_some(order)
}

/// Moves the two innermost loops, `rows` and `columns`, under the outer ones.
///
/// # Safety
/// All places of the loops, and an element behind each, must be valid on both sides, without overlap.
#[allow(dead_code)] // portable targets have no lanes
#[inline(always)]
pub(crate) unsafe fn transpose<L: Lanes>(
    mover: &Mover,
    lanes: L,
    loops: &[Loop],
    (outer, rows, columns): (&[Loop], Loop, Loop),
    src: *const u8,
    dst: *mut u8,
) {
    let element = mover.element_bytes as isize;
    let fits = rows.src_stride == element && columns.dst_stride == element;
    let how = match mover.stream && fits {
        true => How::new::<L>((outer, rows, columns), mover.element_bytes, dst),
        false => How::Store,
    };
    if how == How::Store && fits {
        // SAFETY: the caller's promise, and the strides that the family wants.
        return unsafe { in_cache(lanes, mover, loops, (outer, rows, columns), src, dst) };
    }
    let blocks = match how {
        How::Dense => Blocks::new(columns.extent, mover.element_bytes),
        _ => Blocks::NONE,
    };
    let room = match how {
        How::Strips | How::WideStrips => CARRY_BYTES + LINE,
        How::Bursts => BURST_CARRY + LINE,
        How::Dense => blocks.bytes() + LINE,
        How::Store | How::General => 0,
    };
    let is_needed = how == How::Dense || !starts_lines(outer.iter().chain([&rows]), dst);
    let mut carry = vec![0u8; if is_needed { room } else { 0 }];
    let carry = match carry.len() {
        0 => std::ptr::null_mut(),
        _ => next_line(carry.as_mut_ptr()),
    };
    // Rows that go on in the next loop, as those of a tile do in the next tile, are walked as one.
    let (before, beyond) = match outer {
        [before @ .., beyond]
            if !matches!(how, How::Store | How::Dense | How::General)
                && continues(rows, *beyond, mover.element_bytes, how == How::Bursts) =>
        {
            (before, *beyond)
        }
        _ => (outer, ONCE),
    };
    let plane = CarriedPlane { columns, rows, beyond, along: ONCE, carry, stretches: Stretches::here() };
    // What is one stream is read as one, whatever is written; and columns that meet lose by it.
    let step = columns.src_stride;
    let is_stream = follow(step, plane.all_rows() * mover.element_bytes);
    let asks = match () {
        () if follows_columns(mover.element_bytes) && !is_stream => Asks::Never,
        () if asks_with_rows() && !is_stream && !meets(step) => Asks::WithRows,
        () => Asks::WithReads,
    };
    let source = SourceColumns { asks };
    let meet_deep = is_early_amd() || is_fifth_zen() && element > 1;
    let bands = match how {
        How::Dense => Bands::new(outer, rows, columns, mover.element_bytes),
        How::Bursts if beyond == ONCE => Bands::of_single_planes(outer, rows, columns, mover.element_bytes),
        _ => None,
    };
    let border = Border::new();
    macro_rules! run {
        ($($e:literal: $n:literal;)*) => {
            match (mover.element_bytes, how) {
                // SAFETY: the caller's promise, and the strides that the family wants; the carry buffer lives until
                // the end of this function, and is there unless every row starts a line.
                $(($e, How::Strips) => unsafe {
                    each_point(lanes, before, src, dst, StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
                },
                // SAFETY: the same; the rows are less than a line's.
                ($e, How::WideStrips) if 2 * L::BYTES == LINE && $e < LANE => unsafe {
                    let source = ShortColumns;
                    each_point(lanes, before, src, dst, StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
                },
                // SAFETY: the same; the rows are at least a line's.
                ($e, How::Bursts) if 2 * L::BYTES >= LINE && $e < LANE => unsafe {
                    let kernel = BurstTranspose::<$e, $n, true, _, _> { source, leave: AsIs, plane, meet_deep };
                    each_plane(lanes, (before, bands), (src, dst), kernel);
                },
                // SAFETY: the same; the buffer has room for a block.
                ($e, How::Dense) => unsafe {
                    let kernel = StreamDense::<$e, $n> { columns, rows, blocks, buffer: carry, border: &border };
                    each_plane(lanes, (outer, bands), (src, dst), kernel);
                    border.finish();
                },)*
                // SAFETY: the caller's promise.
                _ => unsafe { general(lanes, loops, (src, dst), mover.element_bytes, mover.stream) },
            }
        };
    }
    run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
}

/// [`transpose`] with ordinary stores, nothing made ready that only streams need.
///
/// # Safety
/// As [`transpose`], and `rows` must be contiguous in the source, `columns` in the destination.
#[allow(dead_code)] // portable targets have no lanes
#[inline(always)]
unsafe fn in_cache<L: Lanes>(
    lanes: L,
    mover: &Mover,
    loops: &[Loop],
    (outer, rows, columns): (&[Loop], Loop, Loop),
    src: *const u8,
    dst: *mut u8,
) {
    let small = is_small(outer, rows, columns, mover.element_bytes);
    macro_rules! run {
        ($($e:literal: $n:literal;)*) => {
            match mover.element_bytes {
                // SAFETY: the caller's promise.
                $($e if small => unsafe {
                    each_point(lanes, outer, src, dst, SmallTranspose::<$e, $n> { columns, rows });
                },
                // SAFETY: the same.
                $e => unsafe {
                    each_point(lanes, outer, src, dst, Transpose::<$e, $n> { columns, rows });
                },)*
                // SAFETY: the same.
                _ => unsafe { general(lanes, loops, (src, dst), mover.element_bytes, mover.stream) },
            }
        };
    }
    run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
}

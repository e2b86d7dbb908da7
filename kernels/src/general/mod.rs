//! Nests that no special family takes: in sets of loops where both sides have one, element by element where not.

pub(crate) mod blocks;
pub(crate) mod composite;
mod exchange;
mod groups;
mod picked;
pub(crate) mod program;
mod staged;
mod tile_columns;
mod woven;

use core::ops::Range;

use crate::convert::in_steps::moved_in_steps;
use crate::general::blocks::{Blocks, Room, Write, carry_bytes};
use crate::general::composite::{MAX_LOOPS, Sets, steps};
use crate::general::exchange::Exchange;
use crate::general::groups::Groups;
use crate::general::picked::Picked;
use crate::general::program::{Program, Programmed, Runs};
use crate::general::tile_columns::TileColumns;
use crate::general::woven::Woven;
use crate::lanes::{LANE, LINE, Lanes, next_line};
use crate::mover::scalar;
use crate::nest::Loop;
use crate::rows::Rows;
use crate::stage::{Stage, start_alike, starts_lines};
use crate::tuning::{
    LANE_STEP, LEAST_CARRY, LEAST_ELEMENTS, LEAST_RUNS, LONG_ALIKE, LONG_CARRY, RUN_REACH, SET_ROWS,
    STORED_ROWS, STORED_RUN, STREAMED_RUN, TILE_REACH, long_strip,
};
use crate::walk::each_point;

/// Bytes of a word.
const WORD: usize = 4;

/// Moves any nest.
///
/// # Safety
/// All places of `loops`, and `element` bytes behind each, must be valid on both sides, without overlap.
#[allow(dead_code)] // portable targets have no lanes
pub(crate) unsafe fn general<L: Lanes>(
    lanes: L,
    loops: &[Loop],
    (src, dst): (*const u8, *mut u8),
    element: usize,
    stream: bool,
) {
    let stream = stream && L::STREAMS;
    let elements = loops.iter().fold(1usize, |elements, l| elements.saturating_mul(l.extent));
    if is_simple(loops, element) || elements < LEAST_ELEMENTS && !stream {
        // SAFETY: the caller's promise.
        return unsafe { alone(lanes, loops, src, dst, element) };
    }
    if let Some(words) = Exchange::new(loops, element) {
        // SAFETY: the caller's promise.
        return unsafe { words.run(lanes, (src, dst), stream) };
    }
    if stream && let Some(rows) = Picked::new(loops, element, dst) {
        // SAFETY: the caller's promise; rows start lines.
        return unsafe { rows.run(lanes, src, dst) };
    }
    if let Some(words) = Woven::new(loops, element) {
        // SAFETY: the caller's promise.
        return unsafe { words.run(lanes, (src, dst), stream) };
    }
    if stream && let Some(tiles) = TileColumns::new::<L>(loops, element) {
        // SAFETY: the caller's promise, for parts of the nest.
        unsafe {
            tiles.run(lanes, src, dst);
            for (edge, [from, to]) in tiles.edges() {
                let places = (src.wrapping_offset(from), dst.wrapping_offset(to));
                general(lanes, edge.as_slice(), places, element, stream);
            }
        }
        return;
    }
    if let Some(groups) = Groups::new::<L>(loops, element, dst, stream) {
        // SAFETY: the caller's promise.
        return unsafe { groups.run(lanes, (src, dst), stream) };
    }
    let sets = sets_of(loops, element, stream, dst).filter(|sets| fills_lanes(sets, element));
    let has_lines = sets.as_ref().is_some_and(|sets| lines(sets, element, dst).is_some());
    let in_steps = !has_lines && (stream || sets.is_none()) || is_of_words(loops, element);
    // SAFETY: the caller's promise; the lanes are those of their level.
    if in_steps && unsafe { moved_in_steps(L::LEVEL, loops, (src, dst), element, stream) } {
        return;
    }
    // SAFETY: the caller's promise, for every way.
    unsafe {
        let Some(sets) = sets else { return programmed(lanes, loops, (src, dst), element, stream) };
        let write = if stream { lines(&sets, element, dst) } else { Some(Write::Store) };
        match write {
            Some(write) => run_sets(lanes, sets.whole(), (src, dst), element, write),
            None => staged(lanes, loops, (src, dst), element),
        }
    }
}

/// The nest in sets; of longest rows where these go past the cache, start no line, and become lines only so.
fn sets_of(loops: &[Loop], element: usize, stream: bool, dst: *mut u8) -> Option<Sets> {
    match stream && !dst.addr().is_multiple_of(LINE) {
        true => sets_in_lines(loops, element, dst).or_else(|| Sets::new(loops, element)),
        false => Sets::new(loops, element),
    }
}

/// The nest in sets of longest rows, where these are whole lines but for the first and the last ones.
pub(crate) fn sets_in_lines(loops: &[Loop], element: usize, dst: *mut u8) -> Option<Sets> {
    let have_lines = |sets: &Sets| lines(sets, element, dst) == Some(Write::Lines);
    Sets::of_longest_rows(loops, element).filter(have_lines)
}

/// True where one side is words of a few elements each, as tiles have that weave rows, and the other rows of less than a line.
fn is_of_words(loops: &[Loop], element: usize) -> bool {
    let run = |stride: fn(&Loop) -> isize| {
        let first = loops.iter().find(|l| Ok(element) == usize::try_from(stride(l)));
        first.map_or(LINE, |l| l.extent * element)
    };
    let (src, dst) = (run(|l| l.src_stride), run(|l| l.dst_stride));
    let is_word = |run: usize| run <= WORD && run.is_power_of_two();
    is_word(dst) && src < LINE || is_word(src) && dst < LINE
}

/// True where nothing is as fast as one element after the other: a single loop, unless lanes of the source have many elements for
/// a run of the destination.
fn is_simple(loops: &[Loop], element: usize) -> bool {
    match loops {
        [] => true,
        [l] => {
            element > 2
                || Ok(element) != usize::try_from(l.dst_stride)
                || l.src_stride.unsigned_abs() > LANE_STEP
        }
        _ => false,
    }
}

/// Runs of the destination by a program; element by element where there are no runs, or too few.
///
/// # Safety
/// As [`general`].
unsafe fn programmed<L: Lanes>(
    lanes: L,
    loops: &[Loop],
    (src, dst): (*const u8, *mut u8),
    element: usize,
    stream: bool,
) {
    let (wanted, unit) = if stream { (STREAMED_RUN, LINE) } else { (STORED_RUN, LANE) };
    let runs = Runs::new(loops, element, wanted, unit);
    let Some(mut runs) = runs.filter(|runs| steps(runs.outer()) >= LEAST_RUNS) else {
        // SAFETY: the caller's promise.
        return unsafe { alone(lanes, loops, src, dst, element) };
    };
    let program = Program::new(&runs, element);
    // What is near in the source comes together, so that every line is read once.
    runs.outer_mut().sort_by_key(|l| std::cmp::Reverse(l.src_stride.unsigned_abs()));
    let kernel = Programmed { program: &program, stream: stream && program.has_lines() };
    // SAFETY: the caller's promise; the last steps of the loop that was cut are a nest of their own.
    unsafe {
        each_point(lanes, runs.outer(), src, dst, kernel);
        if let Some((cut, last)) = runs.rest {
            let first = (cut.extent - last) as isize;
            let (src, dst) =
                (src.wrapping_offset(first * cut.src_stride), dst.wrapping_offset(first * cut.dst_stride));
            let mut rest = [Loop::default(); MAX_LOOPS];
            let rest = &mut rest[..loops.len()];
            rest.copy_from_slice(loops);
            rest.iter_mut().find(|l| **l == cut).into_iter().for_each(|l| l.extent = last);
            programmed(lanes, rest, (src, dst), element, stream);
        }
    }
}

/// Every element for itself.
///
/// # Safety
/// As [`general`].
unsafe fn alone<L: Lanes>(lanes: L, loops: &[Loop], src: *const u8, dst: *mut u8, element: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match element {
            0..=LANE => scalar(loops, src, dst, element),
            run => each_point(lanes, loops, src, dst, Rows::new(loops, run)),
        }
    }
}

/// True where blocks of both sets are worth a register's transpose.
fn fills_lanes(sets: &Sets, element: usize) -> bool {
    let (rows, columns) = (steps(sets.rows()) * element, steps(sets.columns()) * element);
    matches!(element, 1 | 2 | 4 | 8 | 16) && 2 * rows >= LANE && columns >= LANE
}

/// How the rows go past the cache; `None` where they are better put together first.
fn lines(sets: &Sets, element: usize, dst: *mut u8) -> Option<Write> {
    let row = steps(sets.columns()) * element;
    if !fills_lanes(sets, element) || row < LINE {
        return None;
    }
    // Rows that lie one behind the other are longer together.
    let go_on = sets.rows().iter().any(|l| Ok(row) == usize::try_from(l.dst_stride));
    match starts_lines(sets.outer().iter().chain(sets.rows()), dst) {
        true => Some(Write::Lines),
        false if row >= LONG_ALIKE && start_alike(sets.outer().iter().chain(sets.rows()), element, dst) => {
            Some(Write::Lines)
        }
        false if row >= if go_on { LONG_CARRY } else { LEAST_CARRY } => Some(Write::Carried),
        false => None,
    }
}

/// In tiles that are put together in a scratch buffer; directly where there is nothing to put together.
///
/// # Safety
/// As [`general`].
unsafe fn staged<L: Lanes>(lanes: L, loops: &[Loop], (src, dst): (*const u8, *mut u8), element: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match Stage::new(loops, element, RUN_REACH).or_else(|| Stage::new(loops, element, TILE_REACH)) {
            Some(stage) => {
                let mut scratch = vec![0; stage.bytes()];
                stage.each_tile(lanes, loops, (src, dst), &mut scratch, element, |loops, src, dst| {
                    match Sets::new(loops, element).filter(|sets| fills_lanes(sets, element)) {
                        Some(sets) => run_sets(lanes, sets.whole(), (src, dst), element, Write::Store),
                        None => alone(lanes, loops, src, dst, element),
                    }
                });
            }
            None => programmed(lanes, loops, (src, dst), element, true),
        }
    }
}

/// Both sets' blocks, of some of the columns, at every point of the loops outside; `dst` is where the first of these belongs.
///
/// # Safety
/// As [`general`]; with [`Write::Lines`] every row must start a line, or all as far behind one.
pub(crate) unsafe fn run_sets<L: Lanes>(
    lanes: L,
    (sets, numbers): (&Sets, Range<usize>),
    (src, dst): (*const u8, *mut u8),
    element: usize,
    write: Write,
) {
    let mut room = Room::EMPTY;
    let (mut few, mut many) = ([0; STORED_ROWS], Vec::new());
    let places = match write {
        Write::Store => &mut few[..],
        _ => {
            many.resize(SET_ROWS, 0);
            &mut many[..]
        }
    };
    let mut carry = vec![0u8; if write == Write::Carried { carry_bytes(SET_ROWS) + LINE } else { 0 }];
    let carry = next_line(carry.as_mut_ptr());
    let (panel, places) = (places.len(), places.as_mut_ptr());
    let next = sets.outer().last().map_or(0, |l| l.src_stride);
    let (rows, columns, room) = (sets.rows(), sets.columns(), &raw mut room);
    let (first, count, long) = (numbers.start, numbers.len(), long_strip(element));
    macro_rules! run {
        ($($e:literal: $n:literal;)*) => {
            match element {
                // SAFETY: the caller's promise; the buffers live until the end of this function.
                $($e => unsafe {
                    let kernel = Blocks::<$e, $n> { rows, columns, first, count, write, room, places, panel, next, carry, long };
                    each_point(lanes, sets.outer(), src, dst, kernel);
                },)*
                _ => {}
            }
        };
    }
    run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
}

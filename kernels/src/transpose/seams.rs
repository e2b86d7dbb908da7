//! Rows that all start as far behind the start of a line, as they do in a destination that starts none: most of their lines are whole, and
//! moved as those of rows that start lines are.
//!
//! What is left of a row are the bytes before its first whole line and behind its last one. Where the next row goes on from it, in a line
//! that both share, these *seams* are columns of a transpose themselves: the last ones of a row and the first ones of the next.

use core::ops::Range;

use crate::general::blocks::Write;
use crate::general::composite::Sets;
use crate::general::run_sets;
use crate::lanes::{LINE, Lanes};
use crate::loops::{Loops, MAX_LOOPS};
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::stage::start_alike;
use crate::transpose::{How, in_general};
use crate::tuning::{LEAST_WOVEN, least_parted};

/// Fewer rows that go on from one another have more lines at their ends than are worth their seams.
const LEAST_ROWS: usize = 16;

/// A nest whose rows start as far behind a line.
pub(crate) struct Seams {
    loops: Loops,
    /// The loop along the rows, and its steps before their first whole line, in whole lines, and behind them.
    along: usize,
    steps: [usize; 3],
    /// The loop that goes on with the next row, where there is one.
    on: Option<usize>,
}

impl Seams {
    /// The nest as such rows, if it is one that had better be moved so.
    pub(crate) fn new<L: Lanes>(mover: &Mover, nest: &[Loop], dst: *mut u8) -> Option<Seams> {
        if dst.addr().is_multiple_of(LINE) || nest.len() > MAX_LOOPS {
            return None;
        }
        match (mover.family, nest) {
            (Family::Transpose, [outer @ .., rows, columns]) => {
                Seams::of_columns::<L>(mover.element_bytes, nest, (outer, *rows, *columns), dst)
            }
            (Family::Interleave, [outer @ .., along, across]) => {
                Seams::of_woven(mover.element_bytes, nest, (outer, *along, *across), dst)
            }
            _ => None,
        }
    }

    fn of_columns<L: Lanes>(
        element: usize,
        nest: &[Loop],
        (outer, rows, columns): (&[Loop], Loop, Loop),
        dst: *mut u8,
    ) -> Option<Seams> {
        let row = columns.extent * element;
        let is_plane = matches!(element, 1 | 2 | 4 | 8 | 16)
            && [columns.dst_stride, rows.src_stride] == [element as isize; 2];
        // Where few rows go on, most of what is left of rows is no seam.
        let goes_on = |l: &Loop| l.extent >= LEAST_ROWS && Ok(row) == usize::try_from(l.dst_stride);
        let on = nest.iter().position(goes_on);
        let line = dst.wrapping_sub(dst.addr() % LINE);
        let pays = is_plane
            && row >= least_parted(on.is_some())
            && start_alike(outer.iter().chain([&rows]), element, dst)
            && !in_general((outer, rows, columns), element, dst)
            && How::new::<L>((outer, rows, columns), element, line) != How::Store;
        let first = dst.addr().wrapping_neg() % LINE / element;
        let lines = (columns.extent - first.min(columns.extent)) * element / LINE * LINE / element;
        let steps = [first, lines, columns.extent.checked_sub(first + lines)?];
        pays.then(|| Seams { loops: Loops::of(nest), along: nest.len() - 1, steps, on })
    }

    fn of_woven(
        element: usize,
        nest: &[Loop],
        (outer, along, across): (&[Loop], Loop, Loop),
        dst: *mut u8,
    ) -> Option<Seams> {
        let unit = across.extent * element;
        let pays = [along.src_stride, across.dst_stride] == [element as isize; 2]
            && usize::try_from(along.dst_stride) == Ok(unit)
            && along.extent * unit >= LEAST_WOVEN
            && start_alike(outer, 1, dst);
        let first = (1..=LINE).find(|first| (dst.addr() + first * unit).is_multiple_of(LINE))?;
        let steps = [first, along.extent.checked_sub(first)?, 0];
        pays.then(|| Seams { loops: Loops::of(nest), along: nest.len() - 2, steps, on: None })
    }

    /// Moves all parts of the rows.
    ///
    /// # Safety
    /// As [`Mover::go`], with the mover and the destination that these were made for.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, mover: &Mover, src: *const u8, dst: *mut u8) {
        let [first, lines, last] = self.steps;
        let stored = Mover { stream: false, ..*mover };
        let ends = [(0, first), (first + lines, last)];
        // SAFETY: parts of the nest, each by itself.
        unsafe {
            self.part(lanes, mover, (first, lines), None, (src, dst));
            let Some(on) = self.on else {
                return ends.into_iter().for_each(|end| self.part(lanes, &stored, end, None, (src, dst)));
            };
            let steps = self.loops.as_slice()[on].extent;
            self.part(lanes, &stored, ends[0], Some(0..1), (src, dst));
            self.part(lanes, &stored, ends[1], Some(steps - 1..steps), (src, dst));
            self.seams(lanes, mover.element_bytes, on, (src, dst));
        }
    }

    /// Moves so many steps along the rows from one on, of all steps of the loop that goes on with the next row or of some.
    ///
    /// # Safety
    /// As [`Seams::run`].
    #[inline(never)]
    unsafe fn part<L: Lanes>(
        &self,
        lanes: L,
        mover: &Mover,
        (from, count): (usize, usize),
        on: Option<Range<usize>>,
        (src, dst): (*const u8, *mut u8),
    ) {
        let mut loops = self.loops;
        let [mut src, mut dst] = [src, dst.cast_const()];
        let mut cut = |at: usize, first: usize, count: usize| {
            let l = &mut loops.as_mut_slice()[at];
            src = src.wrapping_offset(first as isize * l.src_stride);
            dst = dst.wrapping_offset(first as isize * l.dst_stride);
            l.extent = count;
        };
        cut(self.along, from, count);
        if let (Some(at), Some(steps)) = (self.on, on) {
            cut(at, steps.start, steps.len());
        }
        if count > 0 {
            // SAFETY: the caller's promise, for a part of the nest that is not empty.
            unsafe { mover.go(lanes, loops.as_slice(), src, dst.cast_mut()) };
        }
    }

    /// Moves the lines in which a row ends and the next one begins.
    ///
    /// # Safety
    /// As [`Seams::run`], for rows of elements of so many bytes, with the loop that goes on with the next one.
    unsafe fn seams<L: Lanes>(&self, lanes: L, element: usize, on: usize, (src, dst): (*const u8, *mut u8)) {
        let [first, lines, _] = self.steps;
        let mut loops = self.loops;
        let next = Loop { extent: 2, ..loops.as_slice()[on] };
        loops.as_mut_slice()[on].extent -= 1;
        let (Some(columns), Some(rows)) = (loops.pop(), loops.pop()) else { return };
        let sets = Sets::of_chains(loops.as_slice(), &[rows], &[columns, next]);
        let numbers = first + lines..first + lines + LINE / element;
        let dst = dst.wrapping_add(numbers.start * element);
        // SAFETY: the caller's promise; the columns that follow one another in a line, of all rows but the last, and all of these lines
        // start some.
        unsafe { run_sets(lanes, (&sets, numbers), (src, dst), element, Write::Lines) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::AlignedBuffer;
    use crate::{Level, Nest};

    fn a_loop(extent: usize, src_stride: usize, dst_stride: usize) -> Loop {
        Loop { extent, src_stride: src_stride as isize, dst_stride: dst_stride as isize }
    }

    /// Moves a nest past the cache at every level to places so many bytes behind a line, and compares the whole.
    fn check(family: Family, element_bytes: usize, loops: &[Loop], behind: usize) {
        let reach = |of: fn(&Loop) -> isize| {
            loops.iter().map(|l| of(l) as usize * (l.extent - 1)).sum::<usize>() + element_bytes
        };
        let src: Vec<u8> =
            (0..reach(|l| l.src_stride)).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let mut dst = AlignedBuffer::zeroed(behind + reach(|l| l.dst_stride) + LINE).unwrap();
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        let nest = Nest { src_offset: 0, dst_offset: behind as isize, loops };
        let mover = |level, stream| Mover { family, element_bytes, level, stream };
        mover(Level::Scalar, false).run(&src, &mut wanted, nest).unwrap();
        let levels = [Level::Avx2, Level::Avx512, Level::Avx512Vbmi, Level::Neon];
        for level in levels.into_iter().filter(|level| level.is_available()) {
            dst.fill(0xA5);
            mover(level, true).run(&src, &mut dst, nest).unwrap();
            assert!(
                dst[..] == wanted[..],
                "{level}: {family:?} of {element_bytes} bytes, {loops:?}, {behind}"
            );
        }
    }

    /// Planes of so many columns, whose rows go on in another loop or are apart, by so many lines.
    fn check_planes(element: usize, [planes, rows, columns]: [usize; 3], apart: usize) {
        let row = columns * element + apart * LINE;
        let of = |src: usize, dst: usize, extent| a_loop(extent, src * element, dst);
        let [column, plane] = [rows, rows * columns];
        // In the order of the source, and the planes' rows in turn.
        for (next, turn) in [(rows * row, row), (row, planes * row)] {
            let loops = [of(plane, next, planes), of(1, turn, rows), of(column, element, columns)];
            (0..LINE).step_by(16).for_each(|behind| check(Family::Transpose, element, &loops, behind));
        }
    }

    #[test]
    fn rows_of_a_transpose_are_whole_however_far_they_start_behind_a_line() {
        for apart in [0, 1] {
            check_planes(1, [2, 70, 4096 + 128], apart);
            check_planes(2, [17, 33, 2048 + 64], apart);
            check_planes(4, [3, 18, 1024 + 16], apart);
            check_planes(8, [2, 19, 512 + 8], apart);
            check_planes(16, [16, 9, 256 + 4], apart);
        }
        check_planes(4, [2, 40, 1040], 0);
        check_planes(4, [1, 1, 1040], 0);
    }

    #[test]
    fn rows_that_are_woven_are_whole_however_far_they_start_behind_a_line() {
        for (element, ways) in [(1, 3), (2, 3), (4, 3), (1, 2), (2, 4), (4, 2), (8, 3)] {
            let (count, unit): (usize, usize) = (1000, element * ways);
            let pitch = (count * unit).next_multiple_of(LINE);
            let loops = [
                a_loop(3, count * unit, pitch),
                a_loop(count, element, unit),
                a_loop(ways, count * element, element),
            ];
            (0..LINE).step_by(8).for_each(|behind| check(Family::Interleave, element, &loops, behind));
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn whole_lines_and_what_is_left_of_a_row_are_told_apart() {
        let mut buffer = AlignedBuffer::zeroed(2 * LINE).unwrap();
        let dst = buffer.as_mut_ptr().wrapping_add(16);
        let loops = [a_loop(16, 4, 8192), a_loop(2048, 64, 4)];
        let mover =
            Mover { family: Family::Transpose, element_bytes: 4, level: Level::detect(), stream: true };
        let seams = |dst| Seams::new::<pulp::x86::V3>(&mover, &loops, dst);
        let found = seams(dst).map(|seams| (seams.steps, seams.on));
        assert_eq!(found, Some(([12, 2032, 4], Some(0))));
        // At the start of a line, and inside of an element.
        assert!([-16, 1].iter().all(|&by| seams(dst.wrapping_offset(by)).is_none()));
    }
}

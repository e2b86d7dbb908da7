//! Where a plan's destination is cut into parts that may be written in any order, by anybody.

use std::ops::Range;

use relayout_kernels::Family;
use smallvec::SmallVec;

use super::cuts::Cuts;
use super::ends::hull;
use super::restrict::{dst_span, src_span, src_units_per_byte, units, units_per_byte, written};
use crate::plan::Plan;
use crate::plan::digits::Term;
use crate::plan::step::{Kernel, Step};
use crate::plan::tables::Tables;

/// Bytes that one translation, and bytes that one cache line covers: what two threads had better not share.
const PAGE: usize = 4096;
pub(super) const LINE: usize = 64;

/// Parts differ by at most one grain, so a grain is at most this share of a part.
const GRAINS_PER_PART: usize = 4;

/// A thread's share of the destination is cut into so many parts, so that a slow one does not hold up the end.
const PARTS_PER_THREAD: usize = 4;

/// Into fewer where parts would read shorter runs of the source, in bytes: a run that is no longer than a page lies on
/// two, so that threads would read most pages twice.
const LEAST_RUN: usize = PAGE + PAGE / 2;

/// More rows than this are not cut alike: what is written row by row would take too long.
const MOST_ROWS: usize = 4096;

/// How a destination is shared out, see [`Panel`](relayout_kernels::Panel).
#[derive(Debug)]
pub(super) struct Parts {
    /// Bytes of a row: those of the destination where parts are pieces of it.
    pub(super) period: usize,
    /// Where rows are cut.
    pub(super) cuts: Vec<usize>,
}

/// Where the destination may be cut.
pub(super) struct Grid {
    /// Bytes of the destination.
    len: usize,
    /// The bytes between the first and the last that the plan writes.
    written: Range<usize>,
    /// Where the largest box begins.
    origin: usize,
    /// Its loops, or the digits of the destination.
    strides: SmallVec<[Stride; 16]>,
    /// How many of the loops, from the outermost, the kernel of the largest box walks point by point; `None` where it does
    /// not write all rows of a panel at once.
    outer: Option<usize>,
    /// Bytes of an element of the largest box.
    element: usize,
}

/// What one step of a loop advances, in whole bytes.
#[derive(Clone, Copy)]
struct Stride {
    extent: usize,
    /// In the source; 0 where that is not known.
    src: usize,
    dst: usize,
}

impl Grid {
    /// The grid of a plan whose destination has `len` bytes.
    pub(super) fn new(plan: &Plan, len: usize) -> Grid {
        match (&plan.tables, &plan.ef57) {
            (Some(tables), _) => Grid::of_tables(plan, tables, len),
            (None, Some(_)) => Grid::of_pairs(plan, len),
            (None, None) => Grid::of_boxes(plan, len),
        }
    }

    fn of_tables(plan: &Plan, tables: &Tables, len: usize) -> Grid {
        let digit = |term: &Term| {
            let stride = usize::try_from(term.stride.unsigned_abs()).unwrap_or(usize::MAX);
            let dst = whole_bytes(stride, units(plan.element.dst));
            Stride { extent: tables.dst.slots[term.register] as usize, src: 0, dst }
        };
        Grid {
            len,
            written: 0..plan.dst_byte_size(),
            origin: usize::try_from(plan.table_base[1]).unwrap_or(0),
            strides: tables.dst.terms.iter().map(digit).collect(),
            outer: None,
            element: 1,
        }
    }

    /// Pairs of numbers are placed one by one, anywhere.
    fn of_pairs(plan: &Plan, len: usize) -> Grid {
        Grid { written: 0..plan.dst_byte_size(), ..Grid::nothing(len) }
    }

    fn nothing(len: usize) -> Grid {
        Grid { len, written: 0..0, origin: 0, strides: SmallVec::new(), outer: None, element: 1 }
    }

    /// The grid of a plan's source: `dst` says what a loop advances there, and `written` what is read.
    pub(super) fn of_source(plan: &Plan) -> Grid {
        let len = plan.src_byte_size();
        let read = plan.steps.iter().map(|step| src_span(&step)).fold(None, hull);
        let mut grid = Grid { written: read.unwrap_or(0..0), ..Grid::nothing(len) };
        if let Some(largest) = largest(plan, |step| !step.kernel.is_fill()) {
            grid.origin = src_span(&largest).map_or(0, |span| span.start);
            grid.strides = strides(&largest)
                .map(|Stride { extent, src, dst }| Stride { extent, src: dst, dst: src })
                .collect();
        }
        grid
    }

    fn of_boxes(plan: &Plan, len: usize) -> Grid {
        let written = plan.steps.iter().map(|step| Some(dst_span(&step))).fold(None, hull);
        let mut grid = Grid { written: written.unwrap_or(0..0), ..Grid::nothing(len) };
        if let Some(largest) = largest(plan, |_| true) {
            grid.origin = dst_span(&largest).start;
            grid.strides = strides(&largest).collect();
            if let Kernel::Move { family, element_bytes } = largest.kernel {
                let inner = if family == Family::Rows { 1 } else { 2 };
                grid.outer = Some(grid.strides.len().saturating_sub(inner));
                grid.element = element_bytes;
            }
        }
        grid
    }

    /// Parts for so many threads, of at least `least` bytes; `None` where one part is best.
    ///
    /// Pieces of the destination are best, as many as still read long runs of the source; where there are none, a loop
    /// is shared out for all rows of the destination.
    pub(super) fn parts_for(&self, threads: usize, least: usize) -> Option<Parts> {
        let most = self.written.len() / least.max(1);
        // As many parts for every thread.
        let counts = || {
            let all = (1..=PARTS_PER_THREAD).rev().map(|count| threads.saturating_mul(count));
            all.filter(|&count| count <= most).chain([threads.min(most)])
        };
        let pieces = counts().find(|&count| self.source_run(count) >= LEAST_RUN);
        let parts = match pieces {
            Some(count) => self.pieces(count),
            None => {
                let panels = counts().find_map(|count| self.panels(count));
                panels.unwrap_or_else(|| self.pieces(threads.min(most)))
            }
        };
        (!parts.cuts.is_empty()).then_some(parts)
    }

    /// So many parts that share out a loop outside the kernel of the largest box, the slowest that is long enough: so
    /// every part walks source and destination as the whole would. Else one inside, of which every part still reads long
    /// runs.
    fn panels(&self, count: usize) -> Option<Parts> {
        if count < 2 {
            return None;
        }
        let (outside, inside) = self.strides.split_at(self.outer?);
        let reads_runs = |stride: &&Stride| stride.extent / count * stride.src >= LEAST_RUN;
        let long = |strides: &mut dyn Iterator<Item = &Stride>| -> Option<Stride> {
            strides.filter(|stride| stride.extent >= count).max_by_key(|stride| stride.dst).copied()
        };
        let shared = |cut| self.panels_of(count, cut);
        long(&mut outside.iter())
            .and_then(shared)
            .or_else(|| long(&mut inside.iter().filter(reads_runs)).and_then(shared))
    }

    /// So many parts that share out a loop, cut at pages or lines where its steps are shorter; `None` where the other loops
    /// leave the rows that it goes along.
    fn panels_of(&self, count: usize, cut: Stride) -> Option<Parts> {
        let slower = || self.strides.iter().map(|stride| stride.dst).filter(|&dst| dst > cut.dst);
        let period = slower().min().unwrap_or(self.len);
        let inside = self.strides.iter().filter(|stride| !stride.dst.is_multiple_of(period));
        let reach: usize = inside.map(|stride| stride.dst * (stride.extent - 1)).sum();
        let first = self.origin % period;
        let fits = slower().all(|dst| dst.is_multiple_of(period))
            && first + reach + self.element <= period
            && self.len.div_ceil(period) <= MOST_ROWS;
        let grain = aligned(cut.dst, cut.dst.saturating_mul(cut.extent / count)) / cut.dst.max(1);
        let place = |part: usize| {
            let place = (cut.extent as u128 * part as u128 / count as u128) as usize;
            place / grain.max(1) * grain.max(1)
        };
        let cuts = (1..count).map(|part| first + place(part) * cut.dst);
        fits.then(|| Parts { period, cuts: cuts.collect() })
    }

    /// The shortest run that each of so many parts reads at a time, of those that are cut.
    fn source_run(&self, parts: usize) -> usize {
        let part = self.written.len() / parts.max(1);
        let grain = self.grain(part).dst;
        let cut = |stride: &Stride| {
            // What a grain holds all of stays together; of the rest a part begins and ends anywhere.
            let is_cut = stride.dst.saturating_mul(stride.extent) > grain;
            let share = (part / stride.dst.max(1)).min(stride.extent / 2).max(1);
            (is_cut && (1..LEAST_RUN).contains(&stride.src)).then(|| share.saturating_mul(stride.src))
        };
        self.strides.iter().filter_map(cut).min().unwrap_or(usize::MAX)
    }

    /// At most so many consecutive pieces of the destination, which share out equally what is written, as far as whole
    /// tiles, rows, pages and lines allow.
    fn pieces(&self, parts: usize) -> Parts {
        let cuts = self.cuts(parts);
        Parts { period: self.len, cuts: (1..cuts.parts()).map(|part| cuts.start(part)).collect() }
    }

    /// At most so many consecutive pieces, as [`Grid::pieces`].
    pub(super) fn cuts(&self, parts: usize) -> Cuts {
        let part = self.written.len() / parts.max(1);
        let grain = aligned(self.grain(part).dst, part);
        Cuts::equal(self.written.clone(), self.origin, grain, parts)
    }

    /// Consecutive pieces of at most so many bytes, of whole tiles, rows, pages or lines where those are smaller.
    pub(super) fn cuts_of_bytes(&self, most: usize) -> Cuts {
        let most = most.max(1);
        let small = |&grain: &usize| grain <= most;
        let grains = [aligned(self.grain(most).dst, most), LINE];
        let grain = grains.into_iter().find(small).unwrap_or(1);
        Cuts::of_bytes(self.written.clone(), self.origin, grain, most / grain * grain)
    }

    /// The largest stride that is a small enough share of a part or makes it up, else the smallest of all.
    fn grain(&self, part: usize) -> Stride {
        let positive = || self.strides.iter().copied().filter(|stride| stride.dst > 0);
        let small = positive().filter(|stride| {
            stride.dst <= part / GRAINS_PER_PART || (part > 0 && part.is_multiple_of(stride.dst))
        });
        let grain = small.max_by_key(|stride| stride.dst).or(positive().min_by_key(|stride| stride.dst));
        grain.unwrap_or(Stride { extent: 1, src: 0, dst: 1 })
    }
}

/// The box that writes most, of those that count.
fn largest(plan: &Plan, counts: impl Fn(&Step<'_>) -> bool) -> Option<Step<'_>> {
    plan.steps.iter().filter(counts).max_by_key(|step| written(step) / units_per_byte(step))
}

/// The loops of a box.
fn strides<'a>(step: &Step<'a>) -> impl Iterator<Item = Stride> + use<'a> {
    let (src_units, dst_units) = (src_units_per_byte(&step.kernel), units_per_byte(step));
    step.nest.loops.iter().map(move |l| Stride {
        extent: l.extent,
        src: whole_bytes(l.src_stride.unsigned_abs(), src_units),
        dst: whole_bytes(l.dst_stride.unsigned_abs(), dst_units),
    })
}

/// The grain, made a multiple of pages, or else of lines, where it stays a small enough share of a part.
fn aligned(grain: usize, part: usize) -> usize {
    let rounded = [PAGE, LINE].into_iter().filter_map(|size| least_common_multiple(grain, size));
    rounded.into_iter().find(|&size| size <= part / GRAINS_PER_PART).unwrap_or(grain)
}

/// The fewest whole bytes that are a multiple of `stride` units.
fn whole_bytes(stride: usize, units_per_byte: usize) -> usize {
    least_common_multiple(stride, units_per_byte).map_or(stride, |units| units / units_per_byte)
}

/// `None` where it overflows, or where both numbers are 0.
fn least_common_multiple(a: usize, b: usize) -> Option<usize> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (x != 0).then(|| (a / x).checked_mul(b)).flatten()
}

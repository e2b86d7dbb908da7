//! Transposes by turns, past the cache, of registers of half a line or a whole one: on AMD's processors before the fifth Zen, where
//! those of packed columns go so in the cache, too, since then those of narrow elements that meet, and on others those of most packed
//! columns.
//!
//! A core of AMD's older processors keeps few stores in flight, and those that go past the cache hold up all that is stored behind
//! them. So work goes by turns: a line of each of a strip's columns is transposed into a buffer in the first-level cache,
//! then whole lines leave from there, as many as the buffer holds. Lines of the columns are asked for among the stores, one
//! for each that is written or some for as many, so that the memory reads and writes at the same time, as it does for a copy.
//!
//! Columns whose lines are in the same few sets of the caches push each other out, and where they start no lines, a line that
//! is read in part with this turn is gone before the next one. There a turn reads two lines of every column, or four of fewer.

use core::ops::Range;

use crate::lanes::{LANE, LINE, Lanes};
use crate::rows::carry::flush;
use crate::transpose::ahead::{Ahead, Ask};
use crate::transpose::block::Leave;
use crate::transpose::columns::{SourceColumns, Turns};
use crate::transpose::plane::CarriedPlane;
use crate::tuning::{BURST_COLUMNS, BURST_NEAR, DEEP_DEPTH, MEETING_DEPTH, STRIP_ROWS};
use crate::walk::Point;

use steps::Steps;
pub(crate) use steps::is_near;

/// Bytes of carry buffer that [`BurstTranspose`] wants: a line of every row of a panel.
pub(crate) const BURST_CARRY: usize = STRIP_ROWS * LINE;

/// Bytes of the lines of a strip's columns that a turn reads, or of what is made of them.
pub(crate) const TURN: usize = MEETING_DEPTH * BURST_COLUMNS * LINE;

const _: () = assert!(DEEP_DEPTH * BURST_NEAR.next_multiple_of(LINE) * LINE <= TURN);

/// Room for a turn.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
struct Turn([u8; TURN]);

/// As [`StreamTranspose`](crate::transpose::stream::StreamTranspose), also with ordinary stores unless it goes `PAST` the cache. The
/// rows are at least a line's.
#[derive(Clone, Copy)]
pub(crate) struct BurstTranspose<const E: usize, const N: usize, const PAST: bool, C, W> {
    /// What a strip's columns are; unless they are the source's own and leave as they are, there are whole strips only.
    pub(crate) source: C,
    /// What becomes of the rows.
    pub(crate) leave: W,
    /// With [`BURST_CARRY`] bytes of carry.
    pub(crate) plane: CarriedPlane,
    /// True where turns of columns that meet in few sets of the caches are deep, which only columns that leave as they are were measured
    /// with.
    pub(crate) meet_deep: bool,
}

/// Some columns of the rows of a panel.
#[derive(Clone, Copy)]
struct Strip {
    /// Where row 0 lies in the source, and in the destination.
    from: *const u8,
    to: *mut u8,
    /// Bytes of every row: whole lines.
    width: usize,
    /// The first row of the panel.
    first: usize,
    /// True where nothing of the rows is written yet.
    is_first: bool,
}

impl<const E: usize, const N: usize, const PAST: bool, C: Turns, W: Leave> Point
    for BurstTranspose<E, N, PAST, C, W>
{
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap; without a carry buffer every row of the
    /// destination starts a line, or is stored.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let all_rows = self.plane.all_rows();
        let whole = self.plane.columns.extent / (LINE / Self::OUT) * (LINE / Self::OUT);
        // SAFETY: parts of the plane: the columns that are whole lines, and those behind them.
        unsafe {
            // No more rows than there are carries for.
            let parts = if self.plane.carry.is_null() { 1 } else { self.source.parts() };
            let mut first = 0;
            while first < all_rows {
                let end = all_rows.min(first + STRIP_ROWS / parts);
                self.panel(lanes, whole, first..end, src, dst);
                first = end;
            }
            if C::ARE_THE_SOURCES && W::AS_THEY_ARE {
                self.plane.behind::<L, E, N>(lanes, whole, (src, dst));
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        PAST
    }
}

impl<const E: usize, const N: usize, const PAST: bool, C: Turns, W: Leave> BurstTranspose<E, N, PAST, C, W> {
    /// Rows of a block: those of a line of a column.
    const ROWS: usize = LINE / E;

    /// Bytes of an element as it leaves.
    pub(super) const OUT: usize = 2 * E / W::TILES;

    /// Bytes of the next strip in every row, of so many that are left. No more than [`Joined`](lines::Joined) has room for, and no more than
    /// the strips behind it, as each asks for what the next one reads.
    #[inline(always)]
    fn width<L: Lanes>(&self, left: usize) -> usize {
        let most = (self.steps::<L>(Self::OUT).columns() * Self::OUT).next_multiple_of(LINE);
        self.source.width(left.div_ceil(left.div_ceil(most)).next_multiple_of(LINE), left)
    }

    /// True where lines of rows that start anywhere are joined in registers.
    #[inline(always)]
    fn joins<L: Lanes>(&self) -> bool {
        !self.plane.carry.is_null() && L::BYTES == LINE
    }

    /// What a turn depends on, for elements of so many bytes.
    #[inline(always)]
    fn steps<L: Lanes>(&self, element: usize) -> Steps {
        let CarriedPlane { columns, rows, .. } = self.plane;
        let (column_step, row_step) = (columns.src_stride, rows.dst_stride);
        Steps { element, column_step, row_step, are_joined: self.joins::<L>(), meet_deep: self.meet_deep }
    }

    /// The rows of a panel, strip by strip.
    ///
    /// # Safety
    /// As [`Point::point`], for the first `columns`, which fill lines, and the `rows` given.
    #[inline(always)]
    unsafe fn panel<L: Lanes>(
        &self,
        lanes: L,
        columns: usize,
        rows: Range<usize>,
        src: *const u8,
        dst: *mut u8,
    ) {
        let step = self.plane.columns.src_stride;
        let mut column = 0;
        while column < columns {
            let strip = Strip {
                from: self.source.strip_at(src, column, step),
                to: dst.wrapping_add(column * Self::OUT),
                width: self.width::<L>((columns - column) * Self::OUT),
                first: rows.start,
                is_first: column == 0,
            };
            // SAFETY: some of the columns.
            unsafe { self.turns(lanes, strip, rows.clone()) };
            column += strip.width / Self::OUT;
        }
        if !self.plane.carry.is_null() && columns > 0 {
            // SAFETY: the rows' strips are written.
            unsafe { self.flush_rows(columns, rows, dst) };
        }
    }

    /// Writes what is left of the rows of a panel, behind the columns given.
    ///
    /// # Safety
    /// As [`Point::point`]; the rows' carries must end with what belongs there.
    #[inline(always)]
    unsafe fn flush_rows(&self, columns: usize, rows: Range<usize>, dst: *mut u8) {
        let mut part = 0;
        while part < self.source.parts() {
            let (kernel, to) = self.of_part(part, dst);
            for row in rows.clone() {
                let end = kernel.plane.row_place(to, row).wrapping_add(columns * Self::OUT);
                // SAFETY: the row's carry ends with what belongs before `end`.
                unsafe { flush(kernel.plane.carry.wrapping_add((row - rows.start) * LINE), end) };
            }
            part += 1;
        }
    }

    /// The kernel of a part's rows, which have carries of their own, and where they start.
    #[inline(always)]
    fn of_part(&self, part: usize, to: *mut u8) -> (Self, *mut u8) {
        let plane = self.plane.of_part((part, self.source.parts()), BURST_CARRY);
        let at = self.source.part_at(part, self.plane.rows.dst_stride);
        (BurstTranspose { plane, ..*self }, to.wrapping_offset(at))
    }

    /// The rows of a strip, turn by turn.
    ///
    /// # Safety
    /// As [`BurstTranspose::panel`], for the strip's columns.
    #[inline(always)]
    unsafe fn turns<L: Lanes>(&self, lanes: L, strip: Strip, rows: Range<usize>) {
        let (step, unit) = (self.plane.columns.src_stride, self.plane.rows.src_stride.unsigned_abs());
        let (columns, parts) = (strip.width / Self::OUT, self.source.parts());
        let steps = self.steps::<L>(E);
        let lines = self.source.lines(steps.depth(), rows.len() / Self::ROWS);
        let ask = self.source.order(step, self.plane.all_rows() * unit, columns, lines, steps.ahead(lines));
        let mut turn = core::mem::MaybeUninit::<Turn>::uninit();
        let turn = turn.as_mut_ptr().cast::<u8>();
        let mut row = rows.start;
        while row < rows.end {
            let end = rows.end.min(row + lines * Self::ROWS);
            // Rows that are no whole blocks are read together with some before them, of which there are enough.
            let lines = (end - row).div_ceil(Self::ROWS);
            let top = end - lines * Self::ROWS;
            // SAFETY: lines of the columns, of which the buffer has the blocks one behind the other.
            unsafe {
                let from = strip.from.wrapping_add(top * unit);
                self.source.fill::<L, E, N>(lanes, (from, step), (columns, lines), turn);
                let mut block = 0;
                while block < lines * parts {
                    let (line, part) = (block / parts, block % parts);
                    let (kernel, to) = self.of_part(part, strip.to);
                    let of_block = row.max(top + line * Self::ROWS)..top + (line + 1) * Self::ROWS;
                    let ahead =
                        ask.ahead(strip.from, rows.start * unit..rows.end * unit, of_block.start * unit);
                    let asked = part * of_block.len() * (strip.width / LINE);
                    let turned = turn.add(block * columns * LINE);
                    kernel.block(lanes, turned, Strip { to, ..strip }, of_block, (ahead, asked));
                    block += 1;
                }
            }
            row = end;
        }
    }

    /// Some rows of a strip, at most those of a block; so many lines were asked for before.
    ///
    /// # Safety
    /// As [`BurstTranspose::panel`], for these rows; `block` must be a filled one, whose last row is the last one of these.
    #[inline(always)]
    unsafe fn block<L: Lanes>(
        &self,
        lanes: L,
        block: *const u8,
        strip: Strip,
        rows: Range<usize>,
        asked: (Ahead, usize),
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if !self.plane.carry.is_null() && !self.joins::<L>() {
                return self.carried_lines(lanes, block, strip, rows, asked);
            }
            let mut part = Self::first_part(&rows);
            while part < LINE / LANE {
                let some = Self::part(&rows, part);
                match self.plane.carry.is_null() {
                    true => self.whole_lines(lanes, block, strip, some, asked),
                    false => self.joined_lines(lanes, block, strip, some, asked),
                }
                part += 1;
            }
        }
    }
}

impl Turns for SourceColumns {
    #[inline(always)]
    fn width(&self, most: usize, left: usize) -> usize {
        most.min(left)
    }

    #[inline(always)]
    fn lines(&self, depth: usize, lines: usize) -> usize {
        // A power of two, as lines are asked for.
        depth.min(1 << lines.max(1).ilog2())
    }

    #[inline(always)]
    fn order(&self, step: isize, len: usize, count: usize, lines: usize, beyond: usize) -> Ask {
        Ask::of_bursts(step, len, count, lines, beyond)
    }

    #[inline(always)]
    fn ask<L: Lanes>(&self, lanes: L, ahead: Ahead, first: usize, count: usize) {
        ahead.ask_lines(lanes, first, count);
    }

    #[inline(always)]
    unsafe fn fill<L: Lanes, const E: usize, const N: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        (columns, lines): (usize, usize),
        turn: *mut u8,
    ) {
        let mut column = 0;
        while column < columns {
            let mut i = 0;
            while i < N {
                let from = from.wrapping_offset((column + i) as isize * step);
                let mut half = 0;
                while half < lines * (LINE / L::BYTES) {
                    // SAFETY: a register of each of these columns, and the places of their lanes.
                    unsafe {
                        let to = turn.add((half * columns + column + i) * L::BYTES);
                        let apart = N as isize * step;
                        let from = from.wrapping_add(half * L::BYTES);
                        lanes.turn(from, [apart, 2 * apart], (to, N * L::BYTES), ());
                    }
                    half += 1;
                }
                i += 1;
            }
            column += N * L::LANES;
        }
    }
}

mod joined;
mod lines;
mod steps;
#[cfg(test)]
mod tests;

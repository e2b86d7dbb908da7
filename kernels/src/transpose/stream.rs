//! Transposes whose destination goes past the cache in whole lines.
//!
//! A strip of as many columns as fill two lines of every destination row is walked along the rows: the source is read in
//! a few long streams, one a column, and every row gets a pair of lines at a time. Where rows do not start lines, each
//! row carries the bytes behind its last whole line over to the next strip, so that every line is still written once and
//! whole.

use crate::lanes::{LINE, Lanes};
use crate::rows::carry::flush;
use crate::transpose::ahead::{Ahead, WithRows};
use crate::transpose::block::{Leave, Places, Turned};
use crate::transpose::columns::{Columns, SourceColumns};
use crate::transpose::plane::CarriedPlane;
use crate::tuning::STRIP_ROWS;
use crate::walk::Point;

/// Bytes of a strip in every destination row. A pair of lines, because single lines at strides near a power of two fill
/// only a part of the memory's rows; one line for bytes, whose strips would otherwise have more columns than the
/// first-level cache has room for.
pub(crate) const fn strip(element: usize) -> usize {
    if element == 1 { LINE } else { 2 * LINE }
}

/// What one row needs of the carry buffer: a line where a strip goes from register to register, which are lines.
pub(crate) const fn row_buffer<L: Lanes, C: Columns>() -> usize {
    if L::BYTES == LINE { LINE } else { C::ROW_BUFFER }
}

/// Bytes of carry buffer that [`StreamTranspose`] wants, in all its parts: those of a panel of registers that are lines, and
/// of half of one where they are not.
pub(crate) const CARRY_BYTES: usize = STRIP_ROWS / 2 * SourceColumns::ROW_BUFFER;

/// As [`Transpose`](crate::transpose::stored::Transpose), streaming.
#[derive(Clone, Copy)]
pub(crate) struct StreamTranspose<const E: usize, const N: usize, C, W> {
    /// What a strip's columns are; unless they are the source's own and leave as they are, there are whole strips only.
    pub(crate) source: C,
    /// What becomes of the rows; if they do not leave as they are, registers are lines.
    pub(crate) leave: W,
    /// With [`CARRY_BYTES`] bytes of carry.
    pub(crate) plane: CarriedPlane,
}

impl<const E: usize, const N: usize, C: Columns, W: Leave> Point for StreamTranspose<E, N, C, W> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap; without a carry buffer every row of the
    /// destination starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let all_rows = self.plane.all_rows();
        let full_columns =
            self.plane.columns.extent / (self.source.strip(E) / E) * (self.source.strip(E) / E);
        // SAFETY: parts of the plane: the strips, and the columns behind them.
        unsafe {
            let (mut first, most) = (0, self.panel_rows::<L>());
            let steps = self.row_steps();
            while first < all_rows {
                let count = most.min(all_rows - first);
                self.panel(lanes, (full_columns, &steps), first..first + count, src, dst);
                first += count;
            }
            if C::ARE_THE_SOURCES && W::AS_THEY_ARE {
                self.plane.behind::<L, E, N>(lanes, full_columns, (src, dst));
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const N: usize, C: Columns, W: Leave> StreamTranspose<E, N, C, W> {
    /// Bytes of an element as it leaves.
    pub(super) const OUT: usize = 2 * E / W::TILES;

    /// How far the rows of a group are from its first one, where that is to be looked up.
    #[inline(always)]
    fn row_steps(&self) -> RowSteps {
        let mut steps = [0; 16];
        if C::ARE_OF_WORDS {
            let places = self.plane.row_steps();
            let mut row = 0;
            while row < N {
                steps[row] = places.place(row);
                row += 1;
            }
        }
        steps
    }

    /// Bytes of a strip in every row.
    #[inline(always)]
    pub(super) fn width(&self) -> usize {
        self.source.strip(E) / E * Self::OUT
    }

    /// The most rows of a panel: no more than there are carries for.
    #[inline(always)]
    fn panel_rows<L: Lanes>(&self) -> usize {
        if self.plane.carry.is_null() {
            return STRIP_ROWS;
        }
        let carries = CARRY_BYTES / self.source.parts() / row_buffer::<L, C>();
        STRIP_ROWS.min(1 << carries.ilog2())
    }

    /// Whole strips of the rows of a panel.
    ///
    /// # Safety
    /// As [`Point::point`], for the first `columns` and the `rows` given.
    #[inline(always)]
    unsafe fn panel<L: Lanes>(
        &self,
        lanes: L,
        (columns, steps): (usize, &RowSteps),
        rows: core::ops::Range<usize>,
        src: *const u8,
        dst: *mut u8,
    ) {
        let (step, unit) = (self.plane.columns.src_stride, self.plane.rows.src_stride.unsigned_abs());
        let (columns_step, count) = self.source.of_source(step, self.source.strip(E) / E);
        let len = self.plane.rows_of_tile() * unit;
        let ask = self.source.asks(columns_step, len, count, self.plane.stretches);
        let mut column = 0;
        while column < columns {
            let top = self.source.strip_at(src, column, step);
            let to = dst.wrapping_add(column * Self::OUT);
            let here = Strip { to, first: rows.start, is_first: column == 0, steps };
            let mut row = rows.start;
            while row < rows.end {
                let count = self.source.rows(L::BYTES / E).min(rows.end - row);
                let (from, count) = self.plane.rows_at(top, row, unit, count);
                let ahead = ask.ahead(top, rows.start * unit..rows.end * unit, row * unit);
                // SAFETY: a strip's columns, and so many rows of them.
                unsafe {
                    let made = self.source.ready::<L, E>(lanes, (from, step), count, ahead);
                    self.groups(lanes, made, row..row + count, here);
                }
                row += count;
            }
            column += self.source.strip(E) / E;
        }
        if !self.plane.carry.is_null() && columns > 0 {
            // SAFETY: the rows' strips are written.
            unsafe { self.flush_rows::<L>(columns, rows, dst) };
        }
    }

    /// Writes what is left of the rows of a panel, behind the columns given.
    ///
    /// # Safety
    /// As [`Point::point`]; the rows' carries must end with what belongs there.
    #[inline(always)]
    unsafe fn flush_rows<L: Lanes>(&self, columns: usize, rows: core::ops::Range<usize>, dst: *mut u8) {
        let mut part = 0;
        while part < self.source.parts() {
            let (kernel, to) = self.of_part(part, dst);
            for row in rows.clone() {
                let end = self.plane.row_place(to, row).wrapping_add(columns * Self::OUT);
                // SAFETY: the row's carry ends with what belongs before `end`.
                unsafe {
                    flush(kernel.plane.carry.wrapping_add((row - rows.start) * row_buffer::<L, C>()), end)
                };
            }
            part += 1;
        }
    }

    /// The kernel of a part's rows, which have carries of their own, and where they start.
    #[inline(always)]
    fn of_part(&self, part: usize, to: *mut u8) -> (Self, *mut u8) {
        let plane = self.plane.of_part((part, self.source.parts()), CARRY_BYTES);
        let at = self.source.part_at(part, self.plane.rows.dst_stride);
        (StreamTranspose { plane, ..*self }, to.wrapping_offset(at))
    }

    /// Some rows of a strip, made ready from `from` on: a register of them at a time, in all
    /// their parts.
    ///
    /// # Safety
    /// As [`Point::point`], for these places of the strip.
    #[inline(always)]
    unsafe fn groups<L: Lanes>(
        &self,
        lanes: L,
        ((from, places), ahead): ((*const u8, Places), Option<Ahead>),
        rows: core::ops::Range<usize>,
        here: Strip<'_>,
    ) {
        let whole = L::BYTES / E;
        let ways = self.source.places(self.plane.columns.src_stride).ways();
        let mut done = 0;
        while done < self.source.rows(whole) && rows.start + done < rows.end {
            let row = rows.start + done;
            let asks = WithRows::new(ahead, (self.source.asked_with_rows::<L>(E), ways), done);
            let (count, first) = (whole.min(rows.end - row), here.first);
            let group = Group { row, count, first, number: 0, asks, rows: here.steps };
            let ahead = if asks.is_none() { ahead } else { None };
            let mut part = 0;
            while part < self.source.parts() {
                let (kernel, to) = self.of_part(part, here.to);
                let from = (C::place(from, part, done * E), places);
                // SAFETY: the caller's promise.
                unsafe {
                    // What is converted as it leaves is long, and not made twice.
                    if W::AS_THEY_ARE && group.count == whole {
                        kernel.group::<L, true>(lanes, from, ahead, to, group, here.is_first);
                    } else {
                        kernel.group::<L, false>(lanes, from, ahead, to, group, here.is_first);
                    }
                }
                part += 1;
            }
            done += whole;
        }
    }

    /// A register of rows of a strip, or fewer unless `WHOLE`.
    ///
    /// # Safety
    /// As [`StreamTranspose::groups`], for these rows, and to `to`, which is the place of row 0.
    #[inline(always)]
    unsafe fn group<L: Lanes, const WHOLE: bool>(
        &self,
        lanes: L,
        from: (*const u8, Places),
        ahead: Option<Ahead>,
        to: *mut u8,
        group: Group<'_>,
        is_first: bool,
    ) {
        let mut turned = core::mem::MaybeUninit::<Turned>::uninit();
        let turned = turned.as_mut_ptr().cast::<u8>();
        let len = if WHOLE { L::BYTES } else { group.count * E };
        let found = self.leave.found(from.0);
        // SAFETY: the strip's registers take `BYTES` bytes of the buffer for each of its columns, and are written before they
        // are read; rows of the group only are written to.
        unsafe {
            turn_strip::<L, C, E, N>(lanes, self.source, from, len, turned, ahead);
            let mut lane = 0;
            while lane * N < group.count {
                let turned = turned.add(lane * N * L::BYTES);
                let part = Group {
                    row: group.row + lane * N,
                    count: if WHOLE { N } else { group.count - lane * N },
                    number: lane * N,
                    asks: WithRows::behind(group.asks, lane * N),
                    ..group
                };
                if self.plane.carry.is_null() {
                    self.whole_lines::<L, WHOLE>(lanes, turned, to, part, &found);
                } else if L::BYTES == LINE {
                    self.joined_lines::<L, WHOLE>(lanes, turned, to, (part, is_first), &found);
                } else {
                    self.carried_lines::<L, WHOLE>(lanes, turned, to, part, is_first);
                }
                lane += 1;
            }
        }
    }
}

/// How far so many rows are from the first one: no group has more.
pub(crate) type RowSteps = [isize; 16];

/// A strip of a panel.
#[derive(Clone, Copy)]
struct Strip<'a> {
    /// Row 0 of its first column in the destination.
    to: *mut u8,
    /// The first row of the panel.
    first: usize,
    /// True where nothing of the rows is written yet.
    is_first: bool,
    steps: &'a RowSteps,
}

/// Rows of a panel whose first row is `first`.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) row: usize,
    pub(crate) count: usize,
    pub(crate) first: usize,
    /// How many are before them of those that something was found for.
    pub(crate) number: usize,
    /// What is asked for with each.
    pub(crate) asks: Option<WithRows>,
    pub(crate) rows: &'a RowSteps,
}

/// Reads `len` bytes, a register or less, of each of a strip's columns, and asks for lines in between; the blocks of columns
/// lie behind one another in `turned`.
///
/// # Safety
/// `len` bytes must be readable at each of a strip's columns, and a register for each writable at `turned`.
#[inline(always)]
unsafe fn turn_strip<L: Lanes, C: Columns, const E: usize, const N: usize>(
    lanes: L,
    source: C,
    (from, places): (*const u8, Places),
    len: usize,
    turned: *mut u8,
    ahead: Option<Ahead>,
) {
    let block = L::BYTES / E;
    let mut column = 0;
    while column < source.strip(E) / E {
        let from = from.wrapping_offset(places.place(column));
        // SAFETY: the caller's promise, for a block of the strip's columns.
        unsafe {
            let turned = turned.add(column * L::BYTES);
            let ahead = ahead.map(|ahead| (ahead, column / L::LANES));
            places.turn::<L, N>(lanes, from, len, turned, (ahead, source.byte_order()));
        }
        column += block;
    }
}

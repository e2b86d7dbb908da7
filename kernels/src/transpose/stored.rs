//! The loop that is contiguous in the source is another than the one that is contiguous in the destination.
//!
//! A *column* here is one step of the destination's contiguous loop, a *row* one of the source's. A block is a register of
//! rows by as many columns: whole registers are read from the columns, lanes are transposed among them and elements inside
//! lanes, and whole registers are written to the rows. With registers of a line, every line of either side is touched once.

use crate::lanes::{LANE, LINE, Lanes};
use crate::nest::Loop;
use crate::rows::copy_short;
use crate::stage::starts_lines;
use crate::strided::walk;
use crate::transpose::block::{Places, Turned, block, load_tile, network};
use crate::transpose::rows::{is_row_by_row, row_by_row};
use crate::tuning::{PANEL, SET_LINES, SET_STRIDE};
use crate::walk::Point;

/// Transposes a plane of `rows` and `columns` of elements of `E` bytes, `N` to a lane: `columns` has that destination
/// stride, `rows` that source stride.
#[derive(Clone, Copy)]
pub(crate) struct Transpose<const E: usize, const N: usize> {
    pub(crate) columns: Loop,
    pub(crate) rows: Loop,
}

impl<const E: usize, const N: usize> Point for Transpose<E, N> {
    /// # Safety
    /// All places of the two loops must be valid on both sides, without overlap.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe { plane::<L, E, N>(lanes, self.columns, self.rows, src, dst) }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        false
    }
}

/// Transposes a plane by the widest registers that it fills.
///
/// # Safety
/// All places of the two loops must be valid on both sides, without overlap.
#[inline(always)]
pub(crate) unsafe fn plane<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    columns: Loop,
    rows: Loop,
    src: *const u8,
    dst: *mut u8,
) {
    let plane = Plane::<E, N> { columns, rows, src, dst };
    let bytes = columns.extent.min(rows.extent) * E;
    // SAFETY: the caller's promise; each arm has checked that the plane holds a block, or one of fewer rows.
    unsafe {
        if is_row_by_row(columns, rows, E, dst) {
            row_by_row(lanes, columns, rows, src, dst)
        } else if bytes >= L::BYTES {
            plane.panels(lanes)
        } else if columns.extent * E >= L::BYTES {
            plane.few_rows(lanes)
        } else if bytes >= L::Narrow::BYTES {
            plane.panels(lanes.narrow())
        } else if bytes >= <L::Narrow as Lanes>::Narrow::BYTES {
            plane.panels(lanes.narrow().narrow())
        } else if plane.is_narrow() && rows.extent * E >= L::BYTES {
            plane.few_columns(lanes)
        } else if plane.is_narrow() && rows.extent * E >= LANE {
            plane.few_columns(lanes.narrow().narrow())
        } else {
            small_plane::<E>(columns, rows, src, dst)
        }
    }
}

/// Planes of fewer columns than a lane holds.
///
/// # Safety
/// As [`plane`].
#[inline(always)]
unsafe fn small_plane<const E: usize>(columns: Loop, rows: Loop, src: *const u8, dst: *mut u8) {
    // SAFETY: the same places.
    unsafe { walk::<[u8; E]>(&[rows, columns], src, dst) }
}

/// What is transposed.
#[derive(Clone, Copy)]
pub(super) struct Plane<const E: usize, const N: usize> {
    pub(super) columns: Loop,
    pub(super) rows: Loop,
    pub(super) src: *const u8,
    pub(super) dst: *mut u8,
}

impl<const E: usize, const N: usize> Plane<E, N> {
    /// Where a block of the source starts.
    #[inline(always)]
    pub(super) fn from(&self, row: usize, column: usize) -> *const u8 {
        self.src.wrapping_offset(column as isize * self.columns.src_stride).wrapping_add(row * E)
    }

    /// Where a block of the destination starts.
    #[inline(always)]
    pub(super) fn to(&self, row: usize, column: usize) -> *mut u8 {
        self.dst.wrapping_offset(row as isize * self.rows.dst_stride).wrapping_add(column * E)
    }

    /// # Safety
    /// All places of the plane must be valid on both sides, without overlap, and the plane at least a block in either
    /// direction.
    #[inline(always)]
    unsafe fn panels<L: Lanes>(&self, lanes: L) {
        let (rows, columns) = (self.rows.extent, self.columns.extent);
        let line = LINE / E;
        // SAFETY: the squares of each arm are no larger than the plane.
        unsafe {
            let is_few = rows * E <= LINE;
            if self.meets_in_sets::<L>() && (matches!(E, 2 | 4) || is_few) {
                return self.set_by_set(lanes);
            }
            let diagonal = self.is_diagonal();
            if let Some(gathered) = self.gathered(diagonal) {
                return self.by_buffer(lanes, gathered);
            }
            if rows < line || columns < line {
                self.rows_of_squares::<L, false>(lanes, (0, rows), (0, columns));
                return;
            }
            let mut top = 0;
            while top < rows {
                let bottom = (top + PANEL * line).min(rows);
                let mut left = 0;
                while left < columns {
                    let right = (left + PANEL * line).min(columns);
                    if diagonal {
                        self.diagonals(lanes, (top, bottom), (left, right));
                    } else {
                        self.rows_of_squares::<L, true>(lanes, (top, bottom), (left, right));
                    }
                    left = right;
                }
                top = bottom;
            }
        }
    }

    /// True for rows whose places meet in one set of the first-level cache, which keeps no more lines than a block writes, where a line is
    /// two registers.
    #[inline(always)]
    fn meets_in_sets<L: Lanes>(&self) -> bool {
        let meet = self.rows.dst_stride.unsigned_abs().is_multiple_of(SET_STRIDE);
        meet && 2 * L::BYTES == LINE && self.rows.extent >= SET_LINES
    }

    /// As many rows at a time as a set keeps until their lines are whole, a panel of columns after the other. The source's lines are read
    /// in parts, which pays where these are few.
    ///
    /// # Safety
    /// As [`Plane::panels`].
    #[inline(always)]
    unsafe fn set_by_set<L: Lanes>(&self, lanes: L) {
        let (rows, columns, size) = (self.rows.extent, self.columns.extent, L::BYTES / E);
        let mut left = 0;
        while left < columns {
            let right = (left + PANEL * LINE / E).min(columns);
            let left_of = left.min(right - size);
            // SAFETY: a panel is as wide as a block, and a part of the plane.
            unsafe {
                if size <= SET_LINES {
                    self.rows_of_squares::<L, false>(lanes, (0, rows), (left_of, right));
                } else {
                    self.few_by_few(lanes, (left_of, right));
                }
            }
            left = right;
        }
    }

    /// The columns of a panel in parts of fewer rows than a register holds.
    ///
    /// # Safety
    /// As [`Plane::panels`]; the columns must be as many as a register holds.
    #[inline(always)]
    unsafe fn few_by_few<L: Lanes>(&self, lanes: L, (left, right): (usize, usize)) {
        let columns = Loop { extent: right - left, ..self.columns };
        let mut top = 0;
        while top < self.rows.extent {
            let rows = Loop { extent: SET_LINES.min(self.rows.extent - top), ..self.rows };
            let part = Plane::<E, N> { columns, rows, src: self.from(top, left), dst: self.to(top, left) };
            // SAFETY: a part of the plane.
            unsafe { part.few_rows(lanes) };
            top += SET_LINES;
        }
    }

    /// Fewer rows than a register holds: whole registers of columns all the same, since what is written in parts would often
    /// be gone from the cache before its next part.
    ///
    /// # Safety
    /// As [`Plane::panels`], but for the number of rows.
    #[inline(always)]
    unsafe fn few_rows<L: Lanes>(&self, lanes: L) {
        let size = L::BYTES / E;
        let mut turned = core::mem::MaybeUninit::<Turned>::uninit();
        let turned = turned.as_mut_ptr().cast::<u8>();
        let mut column = 0;
        while column < self.columns.extent {
            let at = column.min(self.columns.extent - size);
            // SAFETY: `size` columns from `at`, and their rows; the buffer has room for a block, and is written before it is
            // read.
            unsafe {
                let len = self.rows.extent * E;
                let step = self.columns.src_stride;
                Places::even(step).turn::<L, N>(lanes, self.from(0, at), len, turned, (None, ()));
                let mut lane = 0;
                while lane * N < self.rows.extent {
                    let tile = load_tile::<L, E, N>(lanes, turned.add(lane * N * L::BYTES));
                    let mut row = 0;
                    while row < N {
                        if lane * N + row < self.rows.extent {
                            lanes.store(self.to(lane * N + row, at), tile[row]);
                        }
                        row += 1;
                    }
                    lane += 1;
                }
            }
            column += size;
        }
    }

    /// True where rows follow one another, each of more than half of a lane but less than one.
    #[inline(always)]
    fn is_narrow(&self) -> bool {
        let row = self.columns.extent * E;
        2 * row > LANE && row < LANE && Ok(row) == usize::try_from(self.rows.dst_stride)
    }

    /// Fewer columns than a lane holds: rows are written a lane each, of which the end belongs to the next row, which is
    /// written next.
    ///
    /// # Safety
    /// As [`Plane::panels`], but for the number of columns; [`Plane::is_narrow`] must be true of the plane, and its rows fill
    /// a register.
    #[inline(always)]
    unsafe fn few_columns<L: Lanes>(&self, lanes: L) {
        let size = L::BYTES / E;
        let mut turned = core::mem::MaybeUninit::<Turned>::uninit();
        let turned = turned.as_mut_ptr().cast::<u8>();
        let mut first = 0;
        while first < self.rows.extent {
            let at = first.min(self.rows.extent - size);
            let mut tile = [lanes.zero(); N];
            // SAFETY: a register of rows of each column that there is; the buffer has room for the tile. A lane from a row's
            // start ends inside the next row, and of the last row only its own bytes are written.
            unsafe {
                let mut column = 0;
                while column < N {
                    if column < self.columns.extent {
                        tile[column] = lanes.load(self.from(at, column));
                    }
                    column += 1;
                }
                network::<L, E, N>(lanes, &mut tile);
                let mut row = 0;
                while row < N {
                    lanes.store(turned.add(row * L::BYTES), tile[row]);
                    row += 1;
                }
                let mut row = 0;
                while row < size {
                    let from = turned.add(row % N * L::BYTES + row / N * LANE);
                    let to = self.to(at + row, 0);
                    if at + row + 1 < self.rows.extent {
                        to.cast::<[u8; LANE]>().write_unaligned(from.cast::<[u8; LANE]>().read());
                    } else {
                        copy_short(from, to, self.columns.extent * E);
                    }
                    row += 1;
                }
            }
            first += size;
        }
    }

    /// True where squares are walked diagonally: in a row or a column of them, places a kibibyte apart would meet in a few
    /// sets of the first-level cache. Rows that do not start lines share lines with their neighbours, which should follow.
    #[inline(always)]
    fn is_diagonal(&self) -> bool {
        let far = self.columns.src_stride.trailing_zeros().max(self.rows.dst_stride.trailing_zeros());
        let whole = self.rows.extent.is_multiple_of(LINE / E) && self.columns.extent.is_multiple_of(LINE / E);
        far >= 10 && whole && starts_lines([&self.rows], self.dst)
    }

    /// Squares of a line (or, unless `LINES`, of a register) along the destination; the last of each direction steps back
    /// and moves some elements again rather than step outside.
    ///
    /// # Safety
    /// As [`Plane::panels`]; rows and columns are those of the plane from the first up to the second, which has a square
    /// before it.
    #[inline(always)]
    pub(super) unsafe fn rows_of_squares<L: Lanes, const LINES: bool>(
        &self,
        lanes: L,
        (top, bottom): (usize, usize),
        (left, right): (usize, usize),
    ) {
        let side = if LINES { LINE / E } else { L::BYTES / E };
        let (last_row, last_column) = (bottom - side, right - side);
        let mut row = top.min(last_row);
        loop {
            let mut column = left.min(last_column);
            let (mut from, mut to) = (self.from(row, column), self.to(row, column));
            loop {
                // SAFETY: a square of the plane.
                unsafe { self.square::<L, LINES>(lanes, from, to, to.wrapping_add(2 * LINE - 1)) };
                if column == last_column {
                    break;
                }
                let step = side.min(last_column - column);
                column += step;
                from = from.wrapping_offset(step as isize * self.columns.src_stride);
                to = to.wrapping_add(step * E);
            }
            if row == last_row {
                break;
            }
            row += side.min(last_row - row);
        }
    }

    /// Squares of a line along the diagonals of a panel.
    ///
    /// # Safety
    /// As [`Plane::rows_of_squares`], and the panel must be whole squares.
    #[inline(always)]
    unsafe fn diagonals<L: Lanes>(
        &self,
        lanes: L,
        (top, bottom): (usize, usize),
        (left, right): (usize, usize),
    ) {
        let line = LINE / E;
        let column_step = line as isize * self.columns.src_stride;
        let row_step = line as isize * self.rows.dst_stride;
        let mut start = top;
        while start < bottom {
            let (mut row, mut column) = (start, left);
            let (mut from, mut to) = (self.from(row, column), self.to(row, column));
            while column < right {
                let (mut next_from, mut next) = (from.wrapping_add(LINE), to.wrapping_offset(row_step));
                row += line;
                if row == bottom {
                    row = top;
                    (next_from, next) = (self.from(top, column), self.to(top, column));
                }
                next = next.wrapping_add(LINE);
                // SAFETY: a square of the plane.
                unsafe { self.square::<L, true>(lanes, from, to, next) };
                column += line;
                (from, to) = (next_from.wrapping_offset(column_step), next);
            }
            start += line;
        }
    }

    /// A line of rows by a line of columns, or a block; asks for the line at `next` and at those below it.
    ///
    /// # Safety
    /// `from` and `to` must be the places of a square of the plane.
    #[inline(always)]
    unsafe fn square<L: Lanes, const LINES: bool>(
        &self,
        lanes: L,
        from: *const u8,
        to: *mut u8,
        next: *mut u8,
    ) {
        let blocks = if LINES { LINE / L::BYTES } else { 1 };
        let (column_step, row_step) = (self.columns.src_stride, self.rows.dst_stride);
        let size = (L::BYTES / E) as isize;
        let mut i = 0;
        while i < blocks * blocks {
            let (down, across) = (i / blocks, i % blocks);
            let below = down as isize * size * row_step;
            // SAFETY: one of the square's blocks.
            unsafe {
                block::<L, E, N>(
                    lanes,
                    from.wrapping_offset(across as isize * size * column_step).wrapping_add(down * L::BYTES),
                    column_step,
                    to.wrapping_offset(below).wrapping_add(across * L::BYTES),
                    row_step,
                    next.wrapping_offset(below),
                );
            }
            i += 1;
        }
    }
}

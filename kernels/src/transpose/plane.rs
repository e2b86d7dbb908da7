//! The plane of a transpose that is walked in panels of rows, and what its rows carry from strip to strip: what the kernels that
//! go along rows share, and nothing of how they read or write.

use crate::lanes::Lanes;
use crate::nest::Loop;
use crate::transpose::block::Places;
use crate::transpose::stored::plane;
use crate::tuning::Stretches;

/// Columns of the source that become a part of every row of the destination.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarriedPlane {
    pub(crate) columns: Loop,
    /// One row goes on from another in the source, whose elements may have another width.
    pub(crate) rows: Loop,
    /// What continues the rows in the source, each step with all rows again.
    pub(crate) beyond: Loop,
    /// Where all of these are found again, in the next tile: for kernels that read column by column.
    pub(crate) along: Loop,
    /// As many bytes as a kernel wants, at the start of a line; unused, and perhaps null, where every row starts a line
    /// or is stored.
    pub(crate) carry: *mut u8,
    pub(crate) stretches: Stretches,
}

impl CarriedPlane {
    /// The rows of all steps.
    #[inline(always)]
    pub(crate) fn all_rows(&self) -> usize {
        self.rows_of_tile() * self.along.extent
    }

    /// Those that lie one behind the other in the source.
    #[inline(always)]
    pub(crate) fn rows_of_tile(&self) -> usize {
        self.rows.extent * self.beyond.extent
    }

    /// Where a row of elements of so many bytes lies in a column that starts at `top`, and how many of so many rows are at hand there.
    #[inline(always)]
    pub(crate) fn rows_at(
        &self,
        top: *const u8,
        row: usize,
        element: usize,
        count: usize,
    ) -> (*const u8, usize) {
        if self.along.extent == 1 {
            return (top.wrapping_add(row * element), count);
        }
        let (tile, inside) = (row / self.rows_of_tile(), row % self.rows_of_tile());
        let from = top.wrapping_offset(tile as isize * self.along.src_stride).wrapping_add(inside * element);
        (from, count.min(self.rows_of_tile() - inside))
    }

    /// The place of a row in the destination.
    #[inline(always)]
    pub(crate) fn row_place(&self, dst: *mut u8, row: usize) -> *mut u8 {
        let (dst, row) = match self.along.extent {
            1 => (dst, row),
            _ => {
                let tile = (row / self.rows_of_tile()) as isize;
                (dst.wrapping_offset(tile * self.along.dst_stride), row % self.rows_of_tile())
            }
        };
        let (above, inside) = match self.beyond.extent {
            1 => (0, row),
            _ => (row / self.rows.extent, row % self.rows.extent),
        };
        dst.wrapping_offset(above as isize * self.beyond.dst_stride + inside as isize * self.rows.dst_stride)
    }

    /// How far rows of a group are from its first one, which so many of them precede as a group has, or a multiple. Only rows of words, of
    /// which there are a power of two, go on inside a group; others are at even distances.
    #[inline(always)]
    pub(crate) fn row_steps(&self) -> Places {
        let rows = self.rows;
        match self.beyond.extent > 1 && rows.extent.is_power_of_two() {
            true => Places {
                step: rows.dst_stride,
                together: rows.extent,
                apart: self.beyond.dst_stride,
                are_ways: false,
            },
            false => Places::even(rows.dst_stride),
        }
    }

    /// How many of so many rows from one on, a lane of rows or the last ones of one, are at even distances.
    #[inline(always)]
    pub(crate) fn even_rows<const N: usize>(&self, row: usize, count: usize) -> usize {
        match self.beyond.extent == 1 || self.rows.extent.is_multiple_of(N) {
            true => count,
            false => count.min(self.rows.extent - row % self.rows.extent),
        }
    }

    /// The rows of one of so many parts, which have as much of `carry` bytes to themselves.
    #[inline(always)]
    pub(crate) fn of_part(&self, (part, parts): (usize, usize), carry: usize) -> Self {
        let before = if self.carry.is_null() { 0 } else { part * (carry / parts) };
        CarriedPlane { carry: self.carry.wrapping_add(before), ..*self }
    }

    /// Moves the columns behind the first `whole` ones, with ordinary stores: at least a block, stepping back over columns that
    /// are then moved twice.
    ///
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap.
    #[inline(always)]
    pub(crate) unsafe fn behind<L: Lanes, const E: usize, const N: usize>(
        &self,
        lanes: L,
        whole: usize,
        (src, dst): (*const u8, *mut u8),
    ) {
        debug_assert_eq!(self.along.extent, 1, "columns of tiles are strips");
        if whole == self.columns.extent {
            return;
        }
        let width = (self.columns.extent - whole).max(N * L::LANES).min(self.columns.extent);
        let at = self.columns.extent - width;
        let columns = Loop { extent: width, ..self.columns };
        let src = src.wrapping_offset(at as isize * columns.src_stride);
        let mut step = 0;
        while step < self.beyond.extent {
            let row = step * self.rows.extent;
            let (from, to) = (src.wrapping_add(row * E), self.row_place(dst, row).wrapping_add(at * E));
            // SAFETY: some columns of the rows of one step.
            unsafe { plane::<L, E, N>(lanes, columns, self.rows, from, to) };
            step += 1;
        }
    }
}

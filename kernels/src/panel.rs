//! A slice shared out between threads by the columns of its rows.

use std::marker::PhantomData;
use std::ops::Range;

use crate::mover::Mover;
use crate::nest::{Loop, Nest, OutOfBounds, Side, stays_inside};

/// The same bytes of every row of a slice: a part that nobody else writes.
///
/// A slice is seen as rows of `period` bytes, the last of which may be shorter, and the rows are cut alike. With a period
/// as long as the slice the panels are its consecutive pieces.
///
/// ```
/// use relayout_kernels::Panel;
/// let mut rows = [0, 1, 2, 10, 11, 12];
/// let mut panels = Panel::split(&mut rows, 3, &[1]);
/// assert_eq!(panels[1].row(1), (4, &mut [11, 12][..]));
/// panels[0].row(1).1[0] = 7;
/// assert_eq!(rows, [0, 1, 2, 7, 11, 12]);
/// ```
#[derive(Debug)]
pub struct Panel<'a> {
    slice: *mut u8,
    len: usize,
    period: usize,
    columns: Range<usize>,
    life: PhantomData<&'a mut [u8]>,
}

// SAFETY: a panel is an exclusive borrow of bytes, as `&mut [u8]` is; no other panel of the slice has any of them.
unsafe impl Send for Panel<'_> {}

impl<'a> Panel<'a> {
    /// Cuts every row at `cuts`, of which only those count that ascend and lie inside a row.
    pub fn split(slice: &'a mut [u8], period: usize, cuts: &[usize]) -> Vec<Panel<'a>> {
        let period = period.max(1);
        let (len, slice) = (slice.len(), slice.as_mut_ptr());
        let mut panels = Vec::with_capacity(cuts.len() + 1);
        let mut start = 0;
        for &cut in cuts.iter().chain([&period]) {
            if cut > start && cut <= period {
                panels.push(Panel { slice, len, period, columns: start..cut, life: PhantomData });
                start = cut;
            }
        }
        panels
    }

    /// Bytes between the starts of rows.
    pub fn period(&self) -> usize {
        self.period
    }

    /// Which bytes of a row are the panel's.
    pub fn columns(&self) -> Range<usize> {
        self.columns.clone()
    }

    /// Rows of the slice.
    pub fn rows(&self) -> usize {
        self.len.div_ceil(self.period)
    }

    /// The panel's bytes of a row, empty outside the slice, and the place of the first in the slice.
    pub fn row(&mut self, row: usize) -> (usize, &mut [u8]) {
        let place = |column: usize| row.saturating_mul(self.period).saturating_add(column).min(self.len);
        let (start, end) = (place(self.columns.start), place(self.columns.end));
        // SAFETY: `start <= end <= len`, so the bytes lie inside the slice, which is borrowed as long as the panel lives;
        // columns of different panels do not overlap, nor do rows, and the result borrows this panel exclusively.
        let bytes = unsafe { std::slice::from_raw_parts_mut(self.slice.add(start), end - start) };
        (start, bytes)
    }

    /// True where every element of the nest lies in the panel.
    fn holds(&self, nest: Nest<'_>, element: usize) -> bool {
        let step = |l: &Loop| (l.extent, l.dst_stride);
        let Ok(offset) = usize::try_from(nest.dst_offset) else { return false };
        // Loops that go from row to row keep their column; the others must stay in the columns of the first row.
        let across = |l: &&Loop| !l.dst_stride.unsigned_abs().is_multiple_of(self.period);
        let column = offset % self.period;
        stays_inside(nest.dst_offset, nest.loops.iter().map(step), element, self.len)
            && column >= self.columns.start
            && stays_inside(
                (column - self.columns.start) as isize,
                nest.loops.iter().filter(across).map(step),
                element,
                self.columns.len(),
            )
    }
}

impl Mover {
    /// [`Mover::run`] into a panel; the nest's places are those of the whole slice.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some element lies outside the source or the panel; nothing was moved then.
    ///
    /// ```
    /// use relayout_kernels::{Family, Level, Loop, Mover, Nest, Panel};
    /// let mut rows = [0; 6];
    /// let mut panels = Panel::split(&mut rows, 3, &[1]);
    /// let loops = [Loop { extent: 2, src_stride: 1, dst_stride: 3 }];
    /// let mover = Mover { family: Family::Strided, element_bytes: 1, level: Level::Scalar, stream: false };
    /// mover.run_panel(&[8, 9], &mut panels[1], Nest { src_offset: 0, dst_offset: 2, loops: &loops })?;
    /// assert!(mover.run_panel(&[8, 9], &mut panels[0], Nest { src_offset: 0, dst_offset: 2, loops: &loops }).is_err());
    /// assert_eq!(rows, [0, 0, 8, 0, 0, 9]);
    /// # Ok::<(), relayout_kernels::OutOfBounds>(())
    /// ```
    pub fn run_panel(&self, src: &[u8], panel: &mut Panel<'_>, nest: Nest<'_>) -> Result<(), OutOfBounds> {
        let element = self.element_bytes;
        if nest.is_empty() || element == 0 {
            return Ok(());
        }
        let steps = nest.loops.iter().map(|l| (l.extent, l.src_stride));
        if !stays_inside(nest.src_offset, steps, element, src.len()) {
            return Err(OutOfBounds { side: Side::Source, len: src.len() });
        }
        if !panel.holds(nest, element) {
            return Err(OutOfBounds { side: Side::Destination, len: panel.len });
        }
        let from = src[nest.src_offset.unsigned_abs()..].as_ptr();
        // SAFETY: the first place lies inside the slice: `holds` proved it.
        let to = unsafe { panel.slice.add(nest.dst_offset.unsigned_abs()) };
        // SAFETY:
        // - every place of the source, and the element behind it, lies inside `src`, as was checked;
        // - every place of the destination, and the element behind it, lies in the panel: in the slice, and in the
        //   panel's columns, since loops that go by whole rows change no column; nobody else has those bytes;
        // - the panel is an exclusive borrow, so `src` does not overlap it.
        unsafe { self.dispatch(nest.loops, from, to) };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_share_out_every_byte_once() {
        for (len, period) in [(0, 1), (10, 10), (10, 3), (12, 4), (5, 9), (7, 1)] {
            let mut slice = vec![0u8; len];
            for panel in &mut Panel::split(&mut slice, period, &[1, 1, 3, 2, 40]) {
                for row in 0..panel.rows() {
                    panel.row(row).1.iter_mut().for_each(|byte| *byte += 1);
                }
                assert!(panel.row(panel.rows()).1.is_empty());
            }
            assert!(slice.iter().all(|&byte| byte == 1), "{len} bytes in rows of {period}: {slice:?}");
        }
    }
}

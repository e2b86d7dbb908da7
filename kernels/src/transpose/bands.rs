//! Planes without gaps that are read once in the order of memory before they are transposed, some of them together: what a transpose reads
//! of each column is too short to be followed.

use crate::lanes::Lanes;
use crate::near::bring_near;
use crate::nest::Loop;
use crate::tuning::{
    BAND_OF_PLANES, PLANES_IN_BANDS, SINGLE_PLANES, reads_in_order_first, reads_single_planes,
};
use crate::walk::{Point, each_point};

/// Planes of which some are without gaps in the source: one behind the other, taking turns along it, or each by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Bands<'a> {
    /// Loops that are outside of the planes'.
    before: &'a [Loop],
    planes: Loop,
    /// Planes of a band.
    count: usize,
    /// Bytes of a plane.
    bytes: usize,
}

impl<'a> Bands<'a> {
    /// Bands of the planes of rows and columns under these loops; none where planes have gaps, within or between them, or are too short
    /// or too long, or the processor does not gain by them.
    pub(crate) fn new(outer: &'a [Loop], rows: Loop, columns: Loop, element: usize) -> Option<Bands<'a>> {
        if !reads_in_order_first() {
            return None;
        }
        let of_some = Bands::of(outer, rows, columns, element);
        of_some.or_else(|| Bands::of_single_planes(outer, rows, columns, element))
    }

    /// Bands of one plane each, or of some that take turns, where the next ones are elsewhere in the source.
    pub(crate) fn of_single_planes(
        outer: &'a [Loop],
        rows: Loop,
        columns: Loop,
        element: usize,
    ) -> Option<Bands<'a>> {
        if !reads_single_planes() { None } else { Bands::single(outer, rows, columns, element) }
    }

    /// The same on any processor.
    fn single(outer: &'a [Loop], rows: Loop, columns: Loop, element: usize) -> Option<Bands<'a>> {
        let column = rows.extent * element;
        let bytes = column * columns.extent;
        let [before @ .., planes] = outer else { return None };
        let is_plane = columns.src_stride == column as isize && planes.src_stride != bytes as isize;
        let take_turns = planes.src_stride == column as isize
            && columns.src_stride == planes.src_stride.wrapping_mul(planes.extent as isize);
        let count = if take_turns { planes.extent } else { 1 };
        let fits = rows.src_stride == element as isize
            && (is_plane || take_turns)
            && SINGLE_PLANES.contains(&bytes.saturating_mul(count));
        fits.then_some(Bands { before, planes: *planes, count, bytes })
    }

    /// Those of planes one behind the other on any processor.
    fn of(outer: &'a [Loop], rows: Loop, columns: Loop, element: usize) -> Option<Bands<'a>> {
        let column = rows.extent * element;
        let bytes = column * columns.extent;
        let is_plane = rows.src_stride == element as isize && columns.src_stride == column as isize;
        if !is_plane || !PLANES_IN_BANDS.contains(&bytes) {
            return None;
        }
        match outer {
            [before @ .., planes] if planes.src_stride == bytes as isize => {
                Some(Bands { before, planes: *planes, count: (BAND_OF_PLANES / bytes).max(1), bytes })
            }
            _ => None,
        }
    }

    /// Runs a kernel on every plane.
    ///
    /// # Safety
    /// As [`each_point`], with the loops that the bands were made of; and all elements of every plane must be readable.
    pub(crate) unsafe fn each_plane<L: Lanes, P: Point>(
        self,
        lanes: L,
        (src, dst): (*const u8, *mut u8),
        kernel: P,
    ) {
        let step = |l: Loop, i: usize| {
            let i = i as isize;
            (src.wrapping_offset(i * l.src_stride), dst.wrapping_offset(i * l.dst_stride))
        };
        if let [first, before @ ..] = self.before {
            for i in 0..first.extent {
                // SAFETY: every step of a loop starts a nest of the rest.
                unsafe { Bands { before, ..self }.each_plane(lanes, step(*first, i), kernel) };
            }
            return;
        }
        for first in (0..self.planes.extent).step_by(self.count) {
            let planes = Loop { extent: self.count.min(self.planes.extent - first), ..self.planes };
            let (from, to) = step(planes, first);
            // SAFETY: planes that have no gaps together, all of whose elements are readable.
            unsafe {
                bring_near(std::slice::from_raw_parts(from, planes.extent * self.bytes));
                each_point(lanes, &[planes], from, to, kernel);
            }
        }
    }
}

/// Runs a kernel on every plane under these loops, in bands if there are any.
///
/// # Safety
/// As [`Bands::each_plane`].
#[inline(always)]
pub(crate) unsafe fn each_plane<L: Lanes, P: Point>(
    lanes: L,
    (outer, bands): (&[Loop], Option<Bands<'_>>),
    (src, dst): (*const u8, *mut u8),
    kernel: P,
) {
    // SAFETY: the caller's promise.
    unsafe {
        match bands {
            Some(bands) => bands.each_plane(lanes, (src, dst), kernel),
            None => each_point(lanes, outer, src, dst, kernel),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: Loop = Loop { extent: 197, src_stride: 2, dst_stride: 128 };
    const COLUMNS: Loop = Loop { extent: 64, src_stride: 394, dst_stride: 2 };
    const PLANE: isize = 394 * 64;

    fn planes(extent: usize, src_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride: PLANE }
    }

    #[test]
    fn planes_without_gaps_are_bands() {
        fn of(outer: &[Loop]) -> Option<(usize, Loop)> {
            Bands::of(outer, ROWS, COLUMNS, 2).map(|found| (found.before.len(), found.planes))
        }
        let (outer, follow, apart) = (planes(3, 1 << 30), planes(99, PLANE), planes(99, 2 * PLANE));
        assert_eq!(of(&[outer, follow]), Some((1, follow)));
        assert_eq!([of(&[outer, apart]), of(&[])], [None, None]);
        let gaps = Loop { src_stride: 400, ..COLUMNS };
        assert_eq!(Bands::of(&[follow], ROWS, gaps, 2), None);
        let few = Loop { extent: 2, ..COLUMNS };
        assert_eq!(Bands::of(&[follow], ROWS, few, 2), None);
    }

    #[test]
    fn planes_by_themselves_are_bands_too() {
        fn single(outer: &[Loop], columns: Loop) -> Option<(usize, usize)> {
            Bands::single(outer, ROWS, columns, 2).map(|found| (found.before.len(), found.count))
        }
        let (outer, apart) = (planes(3, 1 << 30), planes(99, 3 * PLANE));
        assert_eq!(single(&[outer, apart], COLUMNS), Some((1, 1)));
        // Those that follow are bands of several.
        assert_eq!([single(&[outer, planes(99, PLANE)], COLUMNS), single(&[], COLUMNS)], [None, None]);
        let take_turns = Loop { src_stride: 4 * 394, ..COLUMNS };
        assert_eq!(single(&[outer, planes(4, 394)], take_turns), Some((1, 4)));
        assert_eq!(single(&[outer, planes(3, 394)], take_turns), None);
        assert_eq!(single(&[outer, planes(99, 394)], Loop { src_stride: 99 * 394, ..COLUMNS }), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn every_plane_is_moved_once() {
        /// Counts the planes at its place.
        #[derive(Clone, Copy)]
        struct Count;

        impl Point for Count {
            #[inline(always)]
            unsafe fn point<L: Lanes>(&self, _: L, src: *const u8, dst: *mut u8) {
                // SAFETY: both places are bytes of the buffers.
                unsafe { *dst = 1 + *dst + *src }
            }

            #[inline(always)]
            fn streams(&self) -> bool {
                false
            }
        }

        let Some(lanes) = pulp::x86::V3::try_new() else { return };
        let plane = PLANE.unsigned_abs();
        let src = vec![0; 50 * plane];
        let outer =
            [planes(2, 25 * PLANE), planes(25, PLANE)].map(|l| Loop { dst_stride: l.src_stride, ..l });
        let mut dst = vec![0; 50 * plane];
        let bands = Bands::of(&outer, ROWS, COLUMNS, 2).expect("planes without gaps");
        // SAFETY: all planes lie inside the buffers.
        unsafe { bands.each_plane(lanes, (src.as_ptr(), dst.as_mut_ptr()), Count) };
        assert!((0..dst.len()).all(|place| dst[place] == u8::from(place.is_multiple_of(plane))));
    }
}

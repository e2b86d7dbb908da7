//! Loops of which a few elements go at a time.

use super::converter::each_place;
use super::rows::Place;
use crate::loops::{Loops, ONCE};
use crate::nest::Loop;

/// Loops that are cut so that a part has no more than so many elements.
pub(super) struct Parts<'a> {
    outer: &'a [Loop],
    /// The loop that is cut, and how many of its steps a part takes.
    cut: Loop,
    chunk: usize,
    inner: &'a [Loop],
}

impl<'a> Parts<'a> {
    /// Of at most so many elements; the innermost loops stay whole as far as that goes.
    pub(super) fn new(loops: &'a [Loop], most: usize) -> Parts<'a> {
        let (mut inner, mut elements) = (loops.len(), 1);
        while let Some(l) = inner.checked_sub(1).map(|last| loops[last])
            && let Some(more) = l.extent.checked_mul(elements).filter(|&more| more <= most)
        {
            (inner, elements) = (inner - 1, more);
        }
        let (outer, inner) = loops.split_at(inner);
        let (outer, cut) = outer.split_last().map_or((outer, ONCE), |(cut, outer)| (outer, *cut));
        // As even as may be: a last part of a few steps would be a nest of another kind.
        let parts = cut.extent.div_ceil((most / elements).max(1));
        Parts { outer, cut, chunk: cut.extent.div_ceil(parts.max(1)), inner }
    }

    /// Steps of the loop that is cut in a whole part, and in the last one.
    pub(super) fn chunks(&self) -> [usize; 2] {
        let left = self.cut.extent % self.chunk;
        [self.chunk, if left == 0 { self.chunk } else { left }]
    }

    /// The loops of a part of so many steps, but those that run once.
    pub(super) fn part(&self, steps: usize) -> Loops {
        let mut part = Loops::default();
        // Where nothing is cut, there may be as many loops as there is room for.
        let cut = [Loop { extent: steps, ..self.cut }];
        cut.iter().chain(self.inner).filter(|l| l.extent > 1).for_each(|&l| part.push(l));
        part
    }

    /// Calls `visit` with the steps of every part, and its places.
    pub(super) fn each(&self, src: Place, dst: Place, visit: &mut impl FnMut(usize, [Place; 2])) {
        let cut = self.cut;
        each_place(self.outer, src, dst, &mut |src, dst| {
            for first in (0..cut.extent).step_by(self.chunk) {
                let at = |place: Place, stride: isize| place.at(first as isize * stride);
                let places = [at(src, cut.src_stride), at(dst, cut.dst_stride)];
                visit(self.chunk.min(cut.extent - first), places);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first steps of parts of at most so many elements, and the loops of the whole ones and the last.
    fn parts(loops: &[Loop], most: usize) -> (Vec<[isize; 2]>, [Vec<usize>; 2]) {
        let parts = Parts::new(loops, most);
        let place = Place::near(core::ptr::null_mut());
        let mut firsts = Vec::new();
        parts.each(place, place, &mut |_, [src, dst]| firsts.push([src.first, dst.first]));
        let extents = |steps: usize| parts.part(steps).as_slice().iter().map(|l| l.extent).collect();
        (firsts, parts.chunks().map(extents))
    }

    #[test]
    fn the_outermost_loop_that_has_to_be_is_cut() {
        let of = |extent, src_stride, dst_stride| Loop { extent, src_stride, dst_stride };
        let loops = [of(2, 700, 1000), of(7, 100, 10), of(5, 1, 2)];
        assert_eq!(parts(&loops, 70), (vec![[0, 0]], [vec![2, 7, 5], vec![2, 7, 5]]));
        // Every step alone: the loop has no part.
        assert_eq!(parts(&loops, 36), (vec![[0, 0], [700, 1000]], [vec![7, 5], vec![7, 5]]));
        let firsts = vec![[0, 0], [300, 30], [600, 60], [700, 1000], [1000, 1030], [1300, 1060]];
        assert_eq!(parts(&loops, 15), (firsts, [vec![3, 5], vec![5]]));
        assert_eq!(parts(&loops[2..], 2), (vec![[0, 0], [2, 4], [4, 8]], [vec![2], vec![]]));
    }
}

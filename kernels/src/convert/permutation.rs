//! What a tile's permutation is moved by: one family of kernels, or a few one after the other.
//!
//! Tiles whose words are of other rows on either side, or of as many as the other's are not, are taken apart to rows, transposed where
//! another dimension is the fastest, and woven to words again: each is fast alone, and all of it stays in the first-level cache.

use crate::lanes::{LANE, LINE};
use crate::loops::Loops;
use crate::mover::Family;
use crate::nest::Loop;

/// A pass that permutes, and the family of kernels for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutation {
    pub(super) family: Family,
    /// Bytes of what is moved as one: elements that stay together.
    pub(super) bytes: usize,
    pub(super) loops: Loops,
}

impl Permutation {
    /// For elements of `bytes` bytes.
    pub(super) fn new(loops: &[Loop], bytes: usize) -> Permutation {
        let mut permutation = Permutation { family: Family::Strided, bytes, loops: Loops::of(loops) };
        permutation.choose();
        permutation
    }

    /// Chooses a family for loops over elements.
    pub(super) fn choose(&mut self) {
        let Permutation { bytes, loops, .. } = self;
        loops.join();
        let width = *bytes;
        let together = |l: &Loop| l.src_stride == width as isize && l.dst_stride == width as isize;
        let is_wide = |l: &Loop| matches!(l.extent * width, 2 | 4 | 8 | 16);
        *bytes *= loops.take(|l| together(l) && is_wide(l)).map_or(1, |l| l.extent);
        let unit = *bytes as isize;
        let src = loops.as_slice().iter().position(|l| l.src_stride == unit);
        let dst = loops.as_slice().iter().position(|l| l.dst_stride == unit);
        self.family = match (src, dst) {
            (Some(src), Some(dst)) if src != dst => {
                let (along, across) = (loops.as_slice()[src], loops.as_slice()[dst]);
                let (inner, family) = family(along, across, unit);
                loops.remove(src.max(dst));
                loops.remove(src.min(dst));
                inner.into_iter().for_each(|l| loops.push(l));
                family
            }
            (Some(_), Some(_)) => Family::Rows,
            _ => Family::Strided,
        };
    }
}

/// The two innermost loops in the order that their family wants: `along` is contiguous in the source, `across` in the
/// destination.
fn family(along: Loop, across: Loop, unit: isize) -> ([Loop; 2], Family) {
    let lane = 16 / unit.unsigned_abs();
    let few = |l: Loop| (2..=8).contains(&l.extent);
    // Rows of less than a lane are written one over the end of the other.
    let follow = along.dst_stride == unit * across.extent as isize;
    let is_narrow = follow && 2 * across.extent > lane;
    if few(across) && along.extent >= lane && follow {
        ([along, across], Family::Interleave)
    } else if few(along) && across.extent >= lane && across.src_stride == unit * along.extent as isize {
        ([along, across], Family::Deinterleave)
    } else if along.extent >= lane && (across.extent >= lane || is_narrow) {
        ([along, across], Family::Transpose)
    } else {
        ([along, across], Family::Strided)
    }
}

/// The most permutations one after the other.
const MOST: usize = 4;

/// Permutations that are done one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Permutations {
    steps: [Permutation; MOST],
    len: usize,
}

impl Permutations {
    /// For elements of `bytes` bytes: step by step, where no family does all of it.
    pub(super) fn new(loops: &[Loop], bytes: usize) -> Permutations {
        let whole = Permutation::new(loops, bytes);
        let mut found = Permutations { steps: [whole; MOST], len: 1 };
        while found.steps[found.len - 1].family == Family::Strided {
            let bytes = found.steps[found.len - 1].bytes;
            let step = Step::new(&found.steps[found.len - 1]).filter(|_| found.len < MOST);
            let Some(Step { first, rest }) = step else {
                return Permutations { steps: [whole; MOST], len: 1 };
            };
            found.steps[found.len - 1] = first;
            found.steps[found.len] = Permutation::new(rest.as_slice(), bytes);
            found.len += 1;
        }
        found
    }

    pub(super) fn as_slice(&self) -> &[Permutation] {
        &self.steps[..self.len]
    }
}

/// What one family does of a permutation, and what is left of it.
struct Step {
    first: Permutation,
    rest: Loops,
}

impl Step {
    /// Words are taken apart to rows, or become columns of words where rows lie across them; rows are woven to words, which are then
    /// moved as one: the fewer elements there are to transpose the better.
    fn new(whole: &Permutation) -> Option<Step> {
        let (unit, loops) = (whole.bytes as isize, whole.loops);
        let find = |stride: fn(&Loop) -> isize, wanted: isize| {
            loops.as_slice().iter().copied().find(|l| stride(l) == wanted)
        };
        let (few, long) = (|l: &Loop| (2..=8).contains(&l.extent), |l: &Loop| l.extent * whole.bytes >= LANE);
        // Few elements that are moved as one, where rows of them are long.
        let are_words = |few: &Loop, rows: &Loop| {
            matches!(few.extent * whole.bytes, 2 | 4 | 8 | 16) && rows.extent * whole.bytes >= LINE
        };
        if !matches!(unit, 1 | 2 | 4) {
            return None;
        }
        let src = find(|l| l.src_stride, unit)?;
        if few(&src) {
            let along = find(|l| l.src_stride, unit * src.extent as isize).filter(long)?;
            let across = find(|l| l.dst_stride, unit).filter(|across| long(across) && *across != along);
            return Some(match across {
                Some(across) if are_words(&src, &across) => Step::of_words(whole, src, [along, across]),
                _ => Step::of(whole, Family::Deinterleave, [src, along], &[along]),
            });
        }
        let dst = find(|l| l.dst_stride, unit).filter(|dst| few(dst) && *dst != src)?;
        let along = find(|l| l.dst_stride, unit * dst.extent as isize).filter(long)?;
        (long(&src) && along != src).then(|| match are_words(&dst, &src) {
            true => Step::of(whole, Family::Interleave, [src, dst], &[dst, src]),
            // What goes on behind a row of the source stays there, so that it is transposed as one.
            false => {
                Step::of(whole, Family::Transpose, [src, along], Step::row(whole, src, along).as_slice())
            }
        })
    }

    /// A loop that becomes the fastest, and behind it those that make up a row of the source.
    fn row(whole: &Permutation, first: Loop, fastest: Loop) -> Loops {
        let mut row = Loops::of(&[fastest, first]);
        let mut others = whole.loops;
        others.take(|l| *l == fastest);
        let mut span = whole.bytes as isize * first.extent as isize;
        while let Some(next) = others.take(|l| l.src_stride == span) {
            row.push(next);
            span *= next.extent as isize;
        }
        row
    }

    /// A transpose of words that stay together.
    fn of_words(whole: &Permutation, word: Loop, inner: [Loop; 2]) -> Step {
        let mut step = Step::of(whole, Family::Transpose, inner, &[word, inner[1]]);
        step.first.bytes *= word.extent;
        step.first.loops.take(|l| l.src_stride == word.src_stride);
        step
    }

    /// By a family that wants two loops innermost, with some loops the fastest of what is made, and the others in the order of the
    /// destination.
    fn of(whole: &Permutation, family: Family, inner: [Loop; 2], fastest: &[Loop]) -> Step {
        let mut order = whole.loops;
        let number = |l: &Loop| fastest.iter().position(|other| other == l).unwrap_or(fastest.len());
        order.sort_by_key(|l| (number(l), l.dst_stride.unsigned_abs()));
        let (mut outer, mut last, mut rest) = (Loops::default(), inner, Loops::default());
        let mut span = whole.bytes as isize;
        for l in order.as_slice() {
            let made = Loop { dst_stride: span, ..*l };
            match inner.iter().position(|other| other == l) {
                Some(position) => last[position] = made,
                None => outer.push(made),
            }
            rest.push(Loop { src_stride: span, ..*l });
            span *= l.extent as isize;
        }
        let [along, _] = &mut last;
        while let Some(next) = outer.take(|l| continues(along, l)) {
            along.extent *= next.extent;
        }
        last.into_iter().for_each(|l| outer.push(l));
        Step { first: Permutation { family, bytes: whole.bytes, loops: outer }, rest }
    }
}

/// True where a loop goes on, on both sides, where another ends.
fn continues(inner: &Loop, outer: &Loop) -> bool {
    let end = |stride: isize| stride * inner.extent as isize;
    outer.src_stride == end(inner.src_stride) && outer.dst_stride == end(inner.dst_stride)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(extent: usize, src_stride: isize, dst_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride }
    }

    #[test]
    fn words_of_other_rows_are_taken_apart_and_woven() {
        // Pairs of rows become fours of others.
        let loops = [of(4, 512, 1), of(2, 1, 1024), of(128, 2, 4)];
        let found = Permutations::new(&loops, 1);
        let [apart, woven] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((apart.family, woven.family), (Family::Deinterleave, Family::Interleave));
        assert_eq!(apart.loops.as_slice(), [of(4, 512, 128), of(2, 1, 512), of(128, 2, 1)]);
        assert_eq!(woven.loops.as_slice(), [of(2, 512, 1024), of(128, 1, 4), of(4, 128, 1)]);
        // Columns become rows besides.
        let loops = [of(4, 4096, 1), of(2, 1, 1 << 20), of(128, 2, 8192), of(64, 8192, 4)];
        let families = |loops: &[Loop]| -> Vec<Family> {
            Permutations::new(loops, 1).as_slice().iter().map(|step| step.family).collect()
        };
        assert_eq!(families(&loops), [Family::Deinterleave, Family::Transpose]);
        // What was apart in the source is one row of the destination.
        let loops = [of(4, 65536, 1), of(2, 1, 4), of(128, 2, 8192), of(4, 512, 8), of(16, 4096, 32)];
        assert_eq!(families(&loops), [Family::Deinterleave, Family::Transpose]);
        assert_eq!(families(&[of(5, 7, 1), of(9, 70, 11)]), [Family::Strided]);
        assert_eq!(families(&[of(64, 64, 1), of(64, 1, 64)]), [Family::Transpose]);
        // Narrow rows, which must follow one another.
        assert_eq!(families(&[of(12, 64, 1), of(64, 1, 12)]), [Family::Transpose]);
        assert_eq!(families(&[of(12, 64, 1), of(64, 1, 16)]), [Family::Strided]);
    }
}

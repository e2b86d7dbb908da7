//! How rows and padding are found in the loops of two nests.

use super::Padded;
use crate::lanes::LINE;
use crate::loops::{Loops, ONCE};
use crate::nest::{Loop, Nest};
use crate::rows::ragged::Ragged;

/// Rows whose elements follow one another in so many bytes of either side.
pub(super) struct Woven<'a> {
    pub(super) outer: &'a [Loop],
    pub(super) across: Loop,
    pub(super) count: usize,
    /// Rows that are woven, the loops around their padding, and bytes of it at each of their points.
    pub(super) ways: usize,
    pub(super) others: &'a [Loop],
    pub(super) run: usize,
}

/// A few rows that are woven, or a run, with padding behind them, which is what is given.
pub(super) fn whole<'a>(
    loops: &'a [Loop],
    (others, run): (&'a [Loop], usize),
    [src, dst]: [usize; 2],
) -> Option<Woven<'a>> {
    let is = |stride: isize, bytes: usize| usize::try_from(stride) == Ok(bytes);
    let across = *loops.last()?;
    let is_across = is(across.dst_stride, dst) && !is(across.src_stride, src) && across.extent > 1;
    let ways = across.extent;
    match loops {
        [outer @ .., along, _]
            if is_across && is(along.src_stride, src) && is(along.dst_stride, dst.checked_mul(ways)?) =>
        {
            Some(Woven { outer, across, count: along.extent, ways, others, run })
        }
        [outer @ .., _] if is_across => Some(Woven { outer, across, count: 1, ways, others, run }),
        _ => {
            let (mut outer, mut count) = (loops, 1);
            while let [before @ .., l] = outer
                && (l.extent == 1 || is(l.src_stride, src * count) && is(l.dst_stride, dst * count))
            {
                (outer, count) = (before, count * l.extent); // cannot overflow: the run lies inside a slice
            }
            Some(Woven { outer, across: ONCE, count, ways: 1, others, run })
        }
    }
}

/// Fewer rows than are woven: padding, which is what is given, takes the places of the others.
pub(super) fn gapped<'a>(
    loops: &'a [Loop],
    (pad, gap): (&'a [Loop], usize),
    [src, dst]: [usize; 2],
) -> Option<Woven<'a>> {
    let is = |stride: isize, bytes: usize| usize::try_from(stride) == Ok(bytes);
    let (outer, along, across) = match loops {
        [outer @ .., along, across] if is(across.dst_stride, dst) && across.extent > 1 => {
            (outer, along, *across)
        }
        [outer @ .., along] => (outer, along, ONCE),
        [] => return None,
    };
    let [others @ .., gaps] = pad else { return None };
    let group = across.extent.checked_mul(dst)?.checked_add(gap)?;
    let fits = is(along.src_stride, src)
        && is(along.dst_stride, group)
        && (gaps.extent, gaps.dst_stride) == (along.extent, along.dst_stride)
        && group.is_multiple_of(dst);
    let (count, run) = (along.extent, gap * along.extent);
    fits.then_some(Woven { outer, across, count, ways: group / dst, others, run })
}

/// The places of the destination that loops lead to, in one way only.
pub(super) fn places(loops: &[Loop]) -> Option<Loops> {
    let mut places = Loops::default();
    for l in Loops::of_few(loops)?.as_slice().iter().filter(|l| l.extent > 1) {
        places.push(Loop { src_stride: l.dst_stride, ..*l });
    }
    places.join();
    Some(places)
}

/// Pieces of rows: elements of each, and the loop that leads from one to the next, behind whose last step the rest of a row is.
pub(super) type Pieces = (usize, Loop);

/// The pieces that are all of a nest, and go on with rows that start at another, if it is so: they become whole lines.
pub(super) fn pieces(
    before: &Nest<'_>,
    behind: &Nest<'_>,
    rows: &Padded,
    [src, dst]: [usize; 2],
) -> Option<Pieces> {
    let is = |stride: isize, bytes: usize| usize::try_from(stride) == Ok(bytes);
    // Both without what leads across rows that are woven.
    let along = |nest: &Nest<'_>| {
        let mut loops = Loops::of_few(nest.loops)?;
        if rows.across.extent > 1 {
            loops.take(|l| *l == rows.across)?;
        }
        Some(loops)
    };
    let [all, rest] = [along(before)?, along(behind)?];
    let [all, rest] =
        [(before, &all), (behind, &rest)].map(|(nest, l)| Nest { loops: l.as_slice(), ..*nest });
    let Ragged { loops, next, .. } = Ragged::new(&all, &rest, 1)?;
    let piece = loops.as_slice().last()?;
    let unit = dst * rows.ways;
    let goes_on =
        is(piece.src_stride, src) && is(piece.dst_stride, unit) && is(next.src_stride, src * piece.extent);
    let are_lines = (unit * piece.extent).is_multiple_of(LINE) && next.dst_stride % LINE as isize == 0;
    let is_whole = rows.ways == rows.across.extent;
    (is_whole && goes_on && are_lines).then_some((piece.extent, next))
}

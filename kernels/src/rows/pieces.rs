//! Rows that go past the cache in pieces: which loops lead from piece to piece of a row, and which to more rows.

use crate::lanes::{LINE, Lanes};
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::tuning::{ROW_PIECE, STAGE_BYTES};

/// Outer loops, of which one continues the pieces of rows and one leads to more rows.
#[derive(Clone, Copy)]
pub(crate) struct Pieces<'a> {
    pub(crate) before: &'a [Loop],
    pub(crate) next: Loop,
    pub(crate) more: Loop,
    pub(crate) along: Loop,
    /// Elements of a row behind its last piece.
    pub(crate) rest: usize,
}

/// The outer loops as pieces of rows, where the pieces are whole lines and one of the last two loops continues them.
#[allow(dead_code)] // portable targets have no lanes
pub(crate) fn pieces<L: Lanes>(outer: &[Loop], along: Loop, element: usize) -> Option<Pieces<'_>> {
    let piece = along.extent * element;
    let continues = |l: &Loop| l.dst_stride.unsigned_abs() == piece && l.dst_stride > 0;
    let (before, next, more) = match outer {
        [before @ .., next, more] if continues(next) => (before, *next, *more),
        [before @ .., more, next] if continues(next) => (before, *next, *more),
        [next] if continues(next) => (&[][..], *next, ONCE),
        _ => return None,
    };
    let fits = piece.is_multiple_of(LINE) && piece >= L::BYTES && L::STREAMS;
    (fits && more.extent * piece <= STAGE_BYTES / 8).then_some(Pieces { before, next, more, along, rest: 0 })
}

/// The pieces of rows that are taken from a stream; long rows are cut into some.
#[allow(dead_code)] // portable targets have no lanes
pub(crate) fn row_pieces<L: Lanes>(
    outer: &[Loop],
    across: Loop,
    along: Loop,
    element: usize,
) -> Option<Pieces<'_>> {
    let long = || {
        let extent = ROW_PIECE / element;
        let ways = (across.extent * element) as isize;
        let next = Loop {
            extent: along.extent / extent,
            src_stride: extent as isize * ways,
            dst_stride: (extent * element) as isize,
        };
        let (rest, along) = (along.extent % extent, Loop { extent, ..along });
        let cut = L::STREAMS && ROW_PIECE.is_multiple_of(element) && next.extent > 1;
        cut.then_some(Pieces { before: outer, next, more: ONCE, along, rest })
    };
    pieces::<L>(outer, along, element).or_else(long)
}

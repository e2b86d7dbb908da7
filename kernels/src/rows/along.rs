//! Rows past the cache in the order of the source, whatever that makes of the destination.

use crate::loops::Loops;
use crate::nest::Loop;
use crate::rows::taking_turns;
use crate::tuning::{
    ALONG_SOURCE, MANY_STREAMS, WHOLE_ROWS, along_source_ahead, goes_along_source, next_woven,
};

/// The loops over rows, those that are the slowest in the source first, and how far ahead these are asked for, in bytes.
pub(crate) struct AlongSource {
    pub(crate) order: Loops,
    pub(crate) ahead: usize,
}

impl AlongSource {
    /// For runs of so many bytes; none where the order of the destination is better, or the same.
    pub(crate) fn of_runs(loops: &[Loop], run: usize) -> Option<AlongSource> {
        let are_many = run >= ALONG_SOURCE && taking_turns(loops).extent >= MANY_STREAMS;
        if !are_many || !goes_along_source() || loops.is_sorted_by_key(slowest_first) {
            return None;
        }
        let order = in_source_order(Loops::of_few(loops)?);
        let step = order.as_slice().last().map_or(0, |l| l.dst_stride.unsigned_abs());
        Some(AlongSource { order, ahead: along_source_ahead(run, step) })
    }

    /// The same for so many rows with a step from one to the next, which are woven, of so many bytes at a time. None for those that are
    /// read from their beginning to their end before others anyway, as where a tile has no more rows: they are followed for long enough.
    pub(crate) fn of_woven(loops: &[Loop], rows: (usize, isize), run: usize) -> Option<AlongSource> {
        let ahead = next_woven(rows)?;
        let goes_along = run > WHOLE_ROWS || loops.last().is_some_and(|l| l.src_stride == run as isize);
        let order = if goes_along { None } else { Loops::of_few(loops) }?;
        Some(AlongSource { order: in_source_order(order), ahead })
    }
}

fn in_source_order(mut loops: Loops) -> Loops {
    loops.sort_by_key(slowest_first);
    loops
}

fn slowest_first(l: &Loop) -> core::cmp::Reverse<usize> {
    core::cmp::Reverse(l.src_stride.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_of_the_source_come_first() {
        let of = |src_stride, dst_stride| Loop { extent: 3, src_stride, dst_stride };
        // Rows of tiles: the next tile, and the rows inside.
        let order = in_source_order(Loops::of(&[of(512, 4096), of(-16384, 512), of(0, 1 << 20)]));
        assert_eq!(order.as_slice(), [of(-16384, 512), of(512, 4096), of(0, 1 << 20)]);
    }

    #[test]
    fn rows_that_are_read_to_their_end_stay() {
        let of = |src_stride, dst_stride| Loop { extent: 64, src_stride, dst_stride };
        let [pairs, tiles] = [of(32768, 131072), of(256, 512)];
        assert!(AlongSource::of_woven(&[pairs, tiles], (2, 16384), 256).is_none());
        let along = AlongSource::of_woven(&[tiles, pairs], (2, 16384), 256);
        assert!(along.is_none_or(|along| along.order.as_slice() == [pairs, tiles] && along.ahead == 32768));
        // Not where rows, or all that are read together, are the same ones again.
        assert!(AlongSource::of_woven(&[tiles, pairs], (2, 0), 256).is_none());
    }
}

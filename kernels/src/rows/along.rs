//! Rows past the cache in the order of the source, whatever that makes of the destination.

use crate::loops::Loops;
use crate::nest::Loop;
use crate::tuning::{ALONG_SOURCE, along_source_ahead, goes_along_source, next_woven};

/// The loops over rows, those that are the slowest in the source first, and how far ahead these are asked for, in bytes.
pub(crate) struct AlongSource {
    pub(crate) order: Loops,
    pub(crate) ahead: usize,
}

impl AlongSource {
    /// For runs of so many bytes; none where the order of the destination is better.
    pub(crate) fn of_runs(loops: &[Loop], run: usize) -> Option<AlongSource> {
        if run < ALONG_SOURCE || !goes_along_source() {
            return None;
        }
        let order = in_source_order(loops)?;
        let step = order.as_slice().last().map_or(0, |l| l.dst_stride.unsigned_abs());
        Some(AlongSource { order, ahead: along_source_ahead(run, step) })
    }

    /// The same for so many rows with a step from one to the next, which are woven.
    pub(crate) fn of_woven(loops: &[Loop], rows: (usize, isize)) -> Option<AlongSource> {
        let ahead = next_woven(rows)?;
        Some(AlongSource { order: in_source_order(loops)?, ahead })
    }
}

fn in_source_order(loops: &[Loop]) -> Option<Loops> {
    let mut order = Loops::of_few(loops)?;
    order.sort_by_key(|l| core::cmp::Reverse(l.src_stride.unsigned_abs()));
    Some(order)
}

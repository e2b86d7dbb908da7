//! What is read once more than needed, in the order of memory, so that it is near when it is read in another.

use crate::lanes::LINE;
#[cfg(target_arch = "x86_64")]
use crate::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use crate::tuning::near_ahead;

/// Reads bytes of a source a line (64 bytes) apart, so that it comes from the second-level cache when kernels read it in another order: it
/// had better be a part of that cache. Changes nothing, and pays where
/// [`reads_in_order_first`](crate::reads_in_order_first) says so, for rows that go on in the source only where
/// [`reads_all_in_order_first`](crate::reads_all_in_order_first) does.
///
/// ```
/// use relayout_kernels::{bring_near, reads_in_order_first};
/// // Columns of 100 bytes, which are then read across.
/// let src: Vec<u8> = (0..100).cycle().take(6400).collect();
/// if reads_in_order_first() {
///     bring_near(&src);
/// }
/// let rows: Vec<u8> = (0..100).flat_map(|row| src[row..].iter().step_by(100).copied()).collect();
/// assert_eq!(rows[64..128], [1; 64]);
/// ```
pub fn bring_near(bytes: &[u8]) {
    // Loads, since what is only asked for is not waited for, and is lost where there is much of it.
    let lines = bytes.iter().step_by(LINE);
    #[cfg(target_arch = "x86_64")]
    if let (ahead @ 1.., Some(lanes)) = (near_ahead(), pulp::x86::V3::try_new()) {
        let read = |all: u8, byte: &u8| {
            lanes.prefetch((&raw const *byte).wrapping_add(ahead));
            all ^ byte
        };
        std::hint::black_box(lines.fold(0, read));
        return;
    }
    std::hint::black_box(lines.fold(0, |all, byte| all ^ byte));
}

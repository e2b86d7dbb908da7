//! What is read once more than needed, in the order of memory, so that it is near when it is read in another.

use crate::lanes::LINE;
use crate::tuning::reads_in_order_first;

/// Reads a byte of every line of some bytes that kernels will read in another order, where this processor gains by that, so that they
/// come from its second-level cache then; they had better be a part of it. Changes nothing.
///
/// ```
/// relayout_kernels::bring_near(&[0; 1000]);
/// ```
pub fn bring_near(bytes: &[u8]) {
    if reads_in_order_first() {
        read(bytes);
    }
}

/// Reads a byte of every line. Loads, since what is only asked for is not waited for, and is lost where there is much of it.
fn read(bytes: &[u8]) {
    std::hint::black_box(bytes.iter().step_by(LINE).fold(0, |all, byte| all ^ byte));
}

/// [`bring_near`] of so many bytes from a place on.
///
/// # Safety
/// They must be readable.
#[allow(dead_code)] // portable targets have no lanes
pub(crate) unsafe fn bring_from(src: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    read(unsafe { std::slice::from_raw_parts(src, len) });
}

//! The x86-64 levels.

mod avx2;
mod avx512;
mod one_lane;
mod part;

use pulp::NullaryFnOnce;

use crate::lanes::{Lanes, Task};

/// A task as pulp wants it.
pub(crate) struct Enter<L, T>(pub(crate) L, pub(crate) T);

impl<L: Lanes, T: Task> NullaryFnOnce for Enter<L, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // SAFETY: `vectorize` was called by somebody who keeps the task's contract.
        unsafe { self.1.run(self.0) }
    }
}

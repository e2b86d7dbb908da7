//! The one place that knows of rayon: its current pool as a scheduler.

use super::Scheduler;

/// The threads of the current rayon pool; without the feature `rayon` the caller's alone.
pub(super) struct CurrentPool;

impl Scheduler for CurrentPool {
    fn threads(&self) -> usize {
        #[cfg(feature = "rayon")]
        return rayon::current_num_threads();
        #[cfg(not(feature = "rayon"))]
        1
    }

    fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        #[cfg(feature = "rayon")]
        rayon::scope(|scope| {
            for index in 1..count {
                scope.spawn(move |_| work(index));
            }
            work(0);
        });
        #[cfg(not(feature = "rayon"))]
        (0..count).for_each(work);
    }
}

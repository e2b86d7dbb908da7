//! The one place that knows of threads: ranges of the destination, handed to the current rayon pool.

/// Threads of the current pool.
pub(super) fn threads() -> usize {
    #[cfg(feature = "rayon")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "rayon"))]
    1
}

/// Runs `work` on every part, on at most `threads` threads, the caller's among them; the first error wins.
///
/// Each part is an exclusive piece of the destination, so nothing is shared that is written.
pub(super) fn for_each<T: Send, E: Send>(
    parts: Vec<T>,
    threads: usize,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    #[cfg(feature = "rayon")]
    if threads > 1 {
        use std::sync::Mutex;
        use std::sync::PoisonError;
        let parts = Mutex::new(parts.into_iter());
        let failure = Mutex::new(None);
        let drain = || {
            while let Some(part) = { parts.lock().unwrap_or_else(PoisonError::into_inner).next() } {
                if let Err(error) = work(part) {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                }
            }
        };
        rayon::scope(|scope| {
            for _ in 1..threads {
                scope.spawn(|_| drain());
            }
            drain();
        });
        return failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err);
    }
    let _ = threads;
    parts.into_iter().try_for_each(work)
}

//! The caller's threads.

use std::sync::{Mutex, PoisonError};

use relayout_kernels::Panel;

use super::ends::Source;
use super::parts::{Grid, Parts};
use super::{ExecuteError, check_length};
use crate::{End, Plan};

/// Threads that run a plan's work for [`Plan::execute_with`].
///
/// The trait is object safe, and [`Plan::execute_with`] keeps no thread and no state behind.
///
/// ```
/// use relayout::{Plan, Scheduler, Shape};
///
/// /// New threads for every plan.
/// struct Scoped(usize);
///
/// impl Scheduler for Scoped {
///     fn threads(&self) -> usize {
///         self.0
///     }
///
///     fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
///         std::thread::scope(|scope| {
///             for index in 0..count {
///                 scope.spawn(move || work(index));
///             }
///         });
///     }
/// }
///
/// let (src, dst): (Shape, Shape) = ("f32[512,512]".parse()?, "f32[512,512]{0,1}".parse()?);
/// let plan = Plan::new(&src, &dst)?;
/// let mut columns = vec![0; plan.dst_byte_size()];
/// plan.execute_with(&Scoped(2), &vec![7; plan.src_byte_size()], &mut columns)?;
/// assert!(columns.iter().all(|&byte| byte == 7));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Scheduler {
    /// How many calls of `work` may run at the same time: the threads that are there, the caller's among them if it works
    /// too. 0 counts as 1.
    fn threads(&self) -> usize;

    /// Calls `work` with every number from 0 to `count`, without `count`, in any order, on any threads, and returns when
    /// all calls have.
    ///
    /// `count` is never more than [`threads`](Scheduler::threads). Each call works on until nothing is left to do, so it
    /// is no error to run the calls one after the other, nor to leave some out: what nobody did, the caller's thread does
    /// at the end.
    fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync));
}

/// Below this many bytes, both buffers together, the caller's thread alone is faster than waking others.
const PARALLEL_BYTES: usize = 512 * 1024;

/// No part is smaller than this, in bytes: handing one over costs some microseconds.
const LEAST_PART: usize = 256 * 1024;

/// Nor than this where it is streamed: a kernel that carries the ends of lines has more to begin and to end.
const LEAST_STREAMED: usize = 1024 * 1024;

impl Plan {
    /// As [`execute`](Plan::execute), on the threads of a scheduler in place of the rayon pool.
    ///
    /// Small arrays stay on the caller's thread; of the others [`max_threads`](crate::PlanBuilder::max_threads) limits the
    /// threads too.
    ///
    /// # Errors
    /// As [`execute`](Plan::execute).
    pub fn execute_with(
        &self,
        scheduler: &dyn Scheduler,
        src: &[u8],
        dst: &mut [u8],
    ) -> Result<(), ExecuteError> {
        check_length(End::Source, self.src_len, src.len())?;
        check_length(End::Destination, self.dst_len, dst.len())?;
        if self.prepared.len() > 0 {
            return self.run_prepared(src, dst);
        }
        let (stream, src) = (self.streams(), Source::whole(src));
        if self.stays_alone() {
            return self.run_whole(src, dst, stream);
        }
        self.share(scheduler, src, dst, stream)
    }

    /// Runs the plan on the threads of a scheduler, as far as they are worth it.
    #[inline(never)] // small plans shall not make room for what they do not do
    fn share(
        &self,
        scheduler: &dyn Scheduler,
        src: Source<'_>,
        dst: &mut [u8],
        stream: bool,
    ) -> Result<(), ExecuteError> {
        let threads = self.max_threads.unwrap_or(usize::MAX).min(scheduler.threads());
        let least = if stream { LEAST_STREAMED } else { LEAST_PART };
        let parts = (threads > 1).then(|| Grid::new(self, dst.len()).parts_for(threads, least)).flatten();
        let Some(Parts { period, cuts }) = parts else { return self.run_whole(src, dst, stream) };
        let panels = Panel::split(dst, period, &cuts);
        drain(scheduler, threads, panels, |panel| self.run_panel(src, panel, stream))
    }

    /// True where other threads are not wanted, or not worth waking.
    fn stays_alone(&self) -> bool {
        let small = self.src_byte_size() + self.dst_byte_size() < PARALLEL_BYTES;
        small || self.max_threads == Some(1) || self.ef57.is_some()
    }
}

/// Runs `work` on every part, on at most `threads` threads; the first error wins.
///
/// Each part is an exclusive piece of the destination, so nothing is shared that is written.
fn drain<T: Send, E: Send>(
    scheduler: &dyn Scheduler,
    threads: usize,
    parts: Vec<T>,
    work: impl Fn(T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let threads = threads.min(parts.len());
    let parts = Mutex::new(parts.into_iter());
    let failure = Mutex::new(None);
    let drain = |_| {
        while let Some(part) = { parts.lock().unwrap_or_else(PoisonError::into_inner).next() } {
            if let Err(error) = work(part) {
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    };
    scheduler.parallel_for(threads, &drain);
    drain(threads);
    failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

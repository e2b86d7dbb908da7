//! Plans that are kept for the next time.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use twox_hash::XxHash3_64;

use crate::plan::Way;
use crate::request::{Encoding, Writer};
use crate::{Plan, PlanBuilder, PlanError};

/// A bounded store of plans, shared between threads; the one that was used longest ago makes room.
///
/// Plans are told apart by everything that changes the result (shapes with their layouts, strides, offsets, region,
/// padding, conversion) and by what changes the way (level, threads, streaming), byte for byte: two requests never get each other's
/// plan.
///
/// ```
/// use relayout::{Plan, PlanCache, Shape};
/// let cache = PlanCache::new(100);
/// let (src, dst): (Shape, Shape) = ("f32[64,64]".parse()?, "f32[64,64]{0,1}".parse()?);
/// let first = cache.get_or_build(Plan::builder(&src, &dst))?;
/// let second = cache.get_or_build(Plan::builder(&src, &dst))?;
/// assert!(std::sync::Arc::ptr_eq(&first, &second));
/// assert_eq!((cache.stats().hits, cache.stats().misses), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Performance
/// A plan that is there costs less than a tenth of a microsecond, if its shapes have been asked for before. Planning
/// happens outside the lock: threads that miss the same plan at the same time may both make it, and get one of the two.
#[derive(Debug)]
pub struct PlanCache {
    capacity: usize,
    state: Mutex<State>,
}

/// What happened to a [`PlanCache`] so far.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CacheStats {
    /// Requests whose plan was there.
    pub hits: u64,
    /// Requests that were planned, those that failed among them.
    pub misses: u64,
    /// Plans that made room for others.
    pub evictions: u64,
}

#[derive(Debug, Default)]
struct State {
    /// By the hash of the key. Of two keys with one hash only the later is kept.
    entries: HashMap<u64, Entry, BuildHasherDefault<PassThrough>>,
    /// Counts uses.
    clock: u64,
    stats: CacheStats,
}

#[derive(Debug)]
struct Entry {
    key: Box<[u8]>,
    plan: Arc<Plan>,
    /// The clock when it was last used.
    used: u64,
}

/// The hash of a number that is a hash already.
#[derive(Default)]
struct PassThrough(u64);

impl Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0 = XxHash3_64::oneshot(bytes);
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl PlanCache {
    /// A store of at most `capacity` plans. One of none keeps nothing: every request is planned.
    pub fn new(capacity: usize) -> PlanCache {
        PlanCache { capacity, state: Mutex::default() }
    }

    /// The plan that `builder` asks for, from the store or made and stored.
    ///
    /// # Errors
    /// What [`PlanBuilder::build`] finds; errors are not stored.
    pub fn get_or_build(&self, builder: PlanBuilder<'_>) -> Result<Arc<Plan>, PlanError> {
        let (parts, way) = (builder.parts()?, builder.way());
        let mut key = Encoding::empty();
        key.write(|writer| write_way(writer.request(parts), way));
        let hash = XxHash3_64::oneshot(key.bytes());
        match self.lookup(hash, key.bytes()) {
            Some(plan) => Ok(plan),
            None => self.build(hash, key.bytes(), builder),
        }
    }

    #[cold]
    fn build(&self, hash: u64, key: &[u8], builder: PlanBuilder<'_>) -> Result<Arc<Plan>, PlanError> {
        Ok(self.store(hash, key, Arc::new(builder.build()?)))
    }

    /// Plans in the store.
    pub fn len(&self) -> usize {
        self.state().entries.len()
    }

    /// True where the store holds no plan.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The most plans that the store holds.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// What happened so far.
    pub fn stats(&self) -> CacheStats {
        self.state().stats
    }

    /// Forgets all plans; the counts of [`PlanCache::stats`] go on.
    pub fn clear(&self) {
        let forgotten = std::mem::take(&mut self.state().entries);
        drop(forgotten); // outside the lock
    }

    /// No panic can leave the state half changed, so one on another thread is no reason to stop here.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lookup(&self, hash: u64, key: &[u8]) -> Option<Arc<Plan>> {
        let state = &mut *self.state();
        state.clock += 1;
        match state.entries.get_mut(&hash) {
            Some(entry) if *entry.key == *key => {
                entry.used = state.clock;
                state.stats.hits += 1;
                Some(Arc::clone(&entry.plan))
            }
            _ => {
                state.stats.misses += 1;
                None
            }
        }
    }

    /// Keeps a plan, and gives the one that is kept: another thread may have been first.
    fn store(&self, hash: u64, key: &[u8], plan: Arc<Plan>) -> Arc<Plan> {
        if self.capacity == 0 {
            return plan;
        }
        let entry = Entry { key: key.into(), plan: Arc::clone(&plan), used: 0 };
        let (kept, _forgotten) = self.state().insert(hash, entry, self.capacity);
        kept
    }
}

impl State {
    /// The plan that is kept, and the entry that was given up for it, to be dropped outside the lock.
    fn insert(&mut self, hash: u64, mut entry: Entry, capacity: usize) -> (Arc<Plan>, Option<Entry>) {
        entry.used = self.clock;
        let plan = Arc::clone(&entry.plan);
        if let Some(there) = self.entries.get_mut(&hash) {
            if there.key == entry.key {
                return (Arc::clone(&there.plan), Some(entry));
            }
            self.stats.evictions += 1;
            return (plan, Some(std::mem::replace(there, entry)));
        }
        let forgotten = if self.entries.len() >= capacity { self.evict() } else { None };
        self.entries.insert(hash, entry);
        (plan, forgotten)
    }

    /// Looks at every entry, which takes a fraction of the time of the planning that led here.
    fn evict(&mut self) -> Option<Entry> {
        let oldest = self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(&hash, _)| hash)?;
        self.stats.evictions += 1;
        self.entries.remove(&oldest)
    }
}

/// Appends what tells plans of one request apart.
fn write_way<'a>(writer: Writer<'a>, way: Way) -> Writer<'a> {
    let Way { max_threads, level, streaming } = way;
    // More threads than 2⁶³ are as many as there are; none said is kept apart.
    let threads = max_threads.map_or(-1, |threads| i64::try_from(threads).unwrap_or(i64::MAX));
    writer.byte(level.map_or(u8::MAX, |level| level as u8)).byte(streaming as u8).number(threads)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Conversion, Level, Narrowing, Overflow, Padding, Problem, Region, Rounding, Streaming};

    fn problem(line: &str) -> Problem {
        line.parse().expect("a problem")
    }

    fn get(cache: &PlanCache, line: &str) -> Arc<Plan> {
        let problem = problem(line);
        cache.get_or_build(Plan::builder(&problem.src, &problem.dst)).expect("a plan")
    }

    const PAIR: &str = "u8[4,6] -> u8[4,6]{0,1:T(8)}";

    #[test]
    fn whatever_matters_tells_plans_apart() {
        let Problem { src, dst } = problem(PAIR);
        let build = || Plan::builder(&src, &dst);
        let wide: crate::Shape = "u8[4,7]".parse().expect("a shape");
        let floats: crate::Shape = "f32[4,6]".parse().expect("a shape");
        let region = || Region::new([2, 2]);
        let along = |dimension, factors: [f32; 4]| Conversion::new().with_scale_along(dimension, factors);
        let builders = [
            build(),
            Plan::builder(&dst, &src),
            build().max_threads(1),
            build().max_threads(2),
            build().level(Level::Scalar),
            build().streaming(Streaming::Never),
            build().streaming(Streaming::Always),
            build().padding(Padding::Leave),
            build().padding(Padding::Fill(1)),
            build().src_strides_bytes(&[6, 1]),
            build().src_strides_bytes(&[7, 1]),
            build().src_strides_bytes(&[6, 1]).src_offset_bytes(1),
            build().dst_strides_bytes(&[1, 8]),
            build().dst_strides_bytes(&[1, 8]).dst_offset_bytes(1),
            build().region(region()),
            build().region(region().with_src_start([1, 0])),
            build().region(region().with_dst_start([1, 0])),
            Plan::builder(&wide, &dst).region(region()),
            build().conversion(Conversion::new().with_overflow(Overflow::Saturate)),
            build().conversion(Conversion::new().with_narrowing(Narrowing::Saturate)),
            build().conversion(Conversion::new().with_rounding(Rounding::NearestEven)),
            Plan::builder(&src, &floats),
            Plan::builder(&src, &floats).conversion(Conversion::new().with_scale(0.0)),
            Plan::builder(&src, &floats).conversion(Conversion::new().with_scale(-0.0)),
            Plan::builder(&src, &floats).conversion(along(0, [2.0; 4])),
            Plan::builder(&src, &floats).conversion(along(0, [4.0; 4])),
        ];
        let cache = PlanCache::new(builders.len());
        let plans: Vec<Arc<Plan>> =
            builders.iter().map(|builder| cache.get_or_build(builder.clone()).expect("a plan")).collect();
        let stats = |hits, misses| CacheStats { hits, misses, evictions: 0 };
        assert_eq!((cache.stats(), cache.len()), (stats(0, builders.len() as u64), builders.len()));
        for (builder, plan) in builders.iter().zip(&plans) {
            assert!(Arc::ptr_eq(&cache.get_or_build(builder.clone()).expect("a plan"), plan), "{builder:?}");
        }
        assert_eq!(cache.stats(), stats(builders.len() as u64, builders.len() as u64));
    }

    #[test]
    fn the_plan_used_longest_ago_makes_room() {
        let cache = PlanCache::new(2);
        let (first, second, third) = ("u8[1] -> u8[1]", "u8[2] -> u8[2]", "u8[3] -> u8[3]");
        let kept = get(&cache, first);
        get(&cache, second);
        get(&cache, first);
        get(&cache, third); // makes the second go
        assert_eq!(cache.len(), 2);
        assert!(Arc::ptr_eq(&get(&cache, first), &kept));
        assert_eq!(cache.stats(), CacheStats { hits: 2, misses: 3, evictions: 1 });
        get(&cache, second);
        assert_eq!(cache.stats(), CacheStats { hits: 2, misses: 4, evictions: 2 });
    }

    #[test]
    fn an_empty_store_plans_every_time() {
        let cache = PlanCache::new(0);
        let (first, second) = (get(&cache, PAIR), get(&cache, PAIR));
        assert!(!Arc::ptr_eq(&first, &second) && cache.is_empty());
        assert_eq!(cache.stats(), CacheStats { hits: 0, misses: 2, evictions: 0 });
    }

    #[test]
    fn errors_are_not_stored() {
        let cache = PlanCache::new(8);
        let Problem { src, dst } = problem("u8[2] -> u8[3]");
        let differ = PlanError::DimensionsDiffer { dimension: 0, src: 2, dst: 3 };
        for _ in 0..2 {
            assert_eq!(cache.get_or_build(Plan::builder(&src, &dst)).unwrap_err(), differ);
        }
        assert_eq!((cache.len(), cache.stats().misses), (0, 2));
    }

    #[test]
    fn equal_hashes_never_give_a_wrong_plan() {
        let cache = PlanCache::new(8);
        let (one, other) = (get(&cache, "u8[1] -> u8[1]"), get(&cache, "u8[2] -> u8[2]"));
        cache.clear();
        cache.store(7, b"one", Arc::clone(&one));
        assert!(cache.lookup(7, b"other").is_none());
        cache.store(7, b"other", Arc::clone(&other));
        assert!(cache.lookup(7, b"one").is_none());
        assert!(Arc::ptr_eq(&cache.lookup(7, b"other").expect("a plan"), &other));
        assert_eq!(cache.len(), 1);
    }

    #[test]
    fn a_panic_elsewhere_leaves_the_store_usable() {
        let cache = PlanCache::new(1);
        let plan = get(&cache, PAIR);
        let panicked = std::thread::scope(|scope| {
            let holds_the_lock = scope.spawn(|| {
                let _state = cache.state.lock();
                std::panic::resume_unwind(Box::new("poison"));
            });
            holds_the_lock.join().is_err()
        });
        assert!(panicked && cache.state.is_poisoned());
        assert!(Arc::ptr_eq(&get(&cache, PAIR), &plan));
    }

    #[test]
    fn threads_share_one_plan() {
        let cache = PlanCache::new(4);
        let plans: Vec<Arc<Plan>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| get(&cache, PAIR))).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        assert!(plans.iter().all(|plan| Arc::ptr_eq(plan, &plans[0])));
        let stats = cache.stats();
        assert_eq!((cache.len(), stats.hits + stats.misses), (1, 8));
    }
}

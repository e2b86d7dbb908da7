//! A relayout on threads of the caller's choice: new ones, those of a rayon pool of one's own, and those that tokio keeps
//! for blocking work.
//!
//! ```text
//! cargo run --release --example own_threads
//! ```

use std::sync::Arc;

use relayout::{Plan, Scheduler, Shape};

/// New threads for each relayout, gone when it is done.
struct Scoped(usize);

impl Scheduler for Scoped {
    fn threads(&self) -> usize {
        self.0
    }

    fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for index in 1..count {
                scope.spawn(move || work(index));
            }
            work(0); // the caller works too
        });
    }
}

/// A pool of one's own, in place of the current one.
struct Pool(rayon::ThreadPool);

impl Scheduler for Pool {
    fn threads(&self) -> usize {
        self.0.current_num_threads()
    }

    fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        self.0.scope(|scope| (0..count).for_each(|index| scope.spawn(move |_| work(index))));
    }
}

/// A pool whose threads are tokio's: each is a task of `spawn_blocking` as long as the pool lives.
fn on_tokio(runtime: &tokio::runtime::Handle, threads: usize) -> Result<Pool, rayon::ThreadPoolBuildError> {
    let runtime = runtime.clone();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(move |thread| {
        runtime.spawn_blocking(|| thread.run());
        Ok(())
    });
    Ok(Pool(pool.build()?))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain: Shape = "f32[1500,900]".parse()?;
    let turned: Shape = "bf16[1500,900]{0,1:T(8,128)(2,1)}".parse()?;
    let plan = Arc::new(Plan::new(&plain, &turned)?);
    let numbers: Arc<[u8]> = (0..1500 * 900u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut expected = vec![0; plan.dst_byte_size()];
    plan.execute(&numbers, &mut expected)?;

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build()?;
    let own = Pool(rayon::ThreadPoolBuilder::new().num_threads(2).build()?);
    let schedulers: [(&str, &dyn Scheduler); 3] =
        [("scoped threads", &Scoped(2)), ("rayon", &own), ("tokio", &on_tokio(runtime.handle(), 2)?)];
    for (name, scheduler) in schedulers {
        let mut tiles = vec![0; plan.dst_byte_size()];
        plan.execute_with(scheduler, &numbers, &mut tiles)?;
        assert_eq!(tiles, expected);
        println!("{name}: {} bytes", tiles.len());
    }

    // In asynchronous code: chunks as tasks of their own, which share nothing but what they read.
    let parts = runtime.block_on(async {
        let mut tasks = Vec::new();
        for chunk in plan.chunks(8) {
            let (plan, numbers) = (Arc::clone(&plan), Arc::clone(&numbers));
            tasks.push(tokio::task::spawn_blocking(move || {
                let mut part = vec![0; chunk.dst_range().len()];
                plan.execute_chunk_ranges(&chunk, &numbers[chunk.src_span()], &mut part).map(|()| part)
            }));
        }
        let mut parts = Vec::new();
        for task in tasks {
            parts.extend(task.await??);
        }
        Ok::<_, Box<dyn std::error::Error>>(parts)
    })?;
    assert_eq!(parts, expected);
    println!("tasks: {} bytes", parts.len());
    Ok(())
}

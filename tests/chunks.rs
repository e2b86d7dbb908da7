//! Parts of a plan that the caller runs, and the caller's threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use relayout::{Chunk, End, ExecuteError, Padding, Plan, Region, Scheduler, Shape};

fn plan(line: &str) -> Plan {
    let (src, dst) = line.split_once(" -> ").unwrap();
    let (src, dst): (Shape, Shape) = (src.parse().unwrap(), dst.parse().unwrap());
    Plan::builder(&src, &dst).padding(Padding::Fill(0x0123_4567_89ab_cdef)).build().unwrap()
}

fn numbers(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

fn whole(plan: &Plan, src: &[u8]) -> Vec<u8> {
    let mut dst = vec![0xa5; plan.dst_byte_size()];
    plan.execute(src, &mut dst).unwrap();
    dst
}

const LINES: [&str; 12] = [
    "f32[123,1100] -> bf16[123,1100]{1,0:T(8,128)(2,1)}",
    "bf16[123,1100]{1,0:T(8,128)(2,1)} -> bf16[123,1100]",
    "f32[277,301] -> f32[277,301]{0,1}",
    "s4[123,1501] -> s4[123,1501]{1,0:T(8,128)(8,1)E(4)}",
    "s4[123,1500]{1,0:E(4)} -> s4[123,1500]",
    "u8[123,701]{1,0:E(24)} -> u8[123,701]{0,1:T(8,16)E(24)}",
    "f32[101,201]{1,0:T(3,5)} -> f32[101,201]{1,0:T(8,128)}",
    "u8[64,128] -> u8[64,128]",
    "f32[0,7] -> f32[0,7]{0,1:T(2,2)}",
    "f64[] -> f32[]",
    "u16[37,5,11,13]{3,2,1,0} -> u16[37,5,11,13]{0,3,1,2:T(4,8)L(512)}",
    "u1[5003]{0:E(1)} -> u1[5003]{0:L(7)E(1)}",
];

#[test]
fn limits_hold() {
    for line in LINES {
        let plan = plan(line);
        for most in [1, 3, 64, 1000, 100_000, usize::MAX] {
            if plan.dst_byte_size() / most > 5000 {
                continue;
            }
            let chunks = plan.chunks_of_bytes(most);
            let promised = chunks.len();
            let sizes: Vec<usize> = chunks.map(|chunk| chunk.dst_range().len()).collect();
            assert_eq!(sizes.len(), promised, "{line}");
            assert!(sizes.iter().all(|&size| 0 < size && size <= most), "{line} at most {most}: {sizes:?}");
            assert_eq!(sizes.iter().sum::<usize>(), plan.dst_byte_size(), "{line}");
        }
        for count in [0, 1, 2, 5, 16, usize::MAX] {
            assert!(plan.chunks(count).len() <= count.max(1), "{line} in {count}");
        }
    }
}

#[test]
fn destinations_in_pieces_of_every_size() {
    for line in LINES {
        let plan = plan(line);
        let src = numbers(plan.src_byte_size());
        let expected = whole(&plan, &src);
        for end in [End::Destination, End::Source] {
            for count in [1, 2, 3, 10, 64] {
                let mut dst = vec![0xa5; plan.dst_byte_size()];
                for chunk in plan.chunks(count).contiguous(end).collect::<Vec<_>>().iter().rev() {
                    let own = &mut dst[chunk.dst_range()];
                    plan.execute_chunk_ranges(chunk, &src[chunk.src_span()], own).unwrap();
                }
                assert!(dst == expected, "{line} in {count} by the {end}");
            }
        }
    }
}

#[test]
fn spans_are_as_small_as_they_can_be() {
    let plan = plan("f32[64,128] -> f32[64,128]{1,0:T(8,128)}");
    let rows: Vec<_> = plan.chunks(8).map(|chunk| chunk.src_span()).collect();
    assert_eq!(rows[3], 3 * 4096..4 * 4096);
    // Columns of all rows reach over nearly everything.
    let columns = self::plan("f32[64,128] -> f32[64,128]{0,1}");
    let last = columns.chunks(64).last().unwrap();
    assert_eq!((last.src_span(), last.dst_range()), (4 * 126..4 * 64 * 128, 4 * 64 * 126..4 * 64 * 128));
    // From the source's side it is the other way round.
    let last = columns.chunks(64).contiguous(End::Source).last().unwrap();
    assert_eq!((last.src_span(), last.dst_range()), (4 * 128 * 63..4 * 128 * 64, 4 * 63..4 * 64 * 128));
}

#[test]
fn a_region_is_all_that_its_chunks_reach() {
    let shape: Shape = "f32[64,128]".parse().unwrap();
    let region = Region::new([4, 125]).with_src_start([2, 3]).with_dst_start([10, 0]);
    let plan = Plan::builder(&shape, &shape).region(region).build().unwrap();
    let ranges: Vec<_> = plan.chunks(1).map(|chunk| (chunk.src_span(), chunk.dst_range())).collect();
    assert_eq!(ranges, [(4 * (2 * 128 + 3)..4 * 6 * 128, 4 * 10 * 128..4 * (13 * 128 + 125))]);
}

#[test]
fn a_wish_is_kept_where_there_are_boxes() {
    let kept =
        |line: &str| plan(line).chunks(2).contiguous(End::Source).next().map(|chunk| chunk.contiguous());
    assert_eq!(kept("f32[8,8] -> f32[8,8]{0,1:T(2,4)}"), Some(End::Source));
    assert_eq!(kept("f32[1000,700]{1,0:T(3,5)} -> f32[1000,700]{1,0:T(8,128)}"), Some(End::Destination));
    assert_eq!(kept("u8[8,8] -> u8[8,8]{0,1:E(24)}"), Some(End::Destination));
    assert_eq!(kept("f32[0] -> f32[0]"), None);
}

#[test]
fn what_does_not_fit_is_refused() {
    let (plan, other) =
        (plan("f32[64,128] -> f32[64,128]{0,1}"), plan("f32[64,128] -> f32[64,128]{1,0:T(8,128)}"));
    let src = numbers(plan.src_byte_size());
    let mut dst = vec![0xa5; plan.dst_byte_size()];
    let chunk: Chunk = plan.chunks(4).nth(1).unwrap();
    let foreign = ExecuteError::ForeignChunk { expected: other.fingerprint(), found: plan.fingerprint() };
    assert_eq!(other.execute_chunk(&chunk, &src, &mut dst), Err(foreign.clone()));
    assert_eq!(other.execute_chunk_ranges(&chunk, &src, &mut dst), Err(foreign));
    let size = |end, expected, found| ExecuteError::BufferSize { end, expected, found, at_least: false };
    let (reads, writes) = (chunk.src_span(), chunk.dst_range());
    let refused = plan.execute_chunk_ranges(&chunk, &src, &mut dst[writes.clone()]);
    assert_eq!(refused, Err(size(End::Source, reads.len(), src.len())));
    let refused = plan.execute_chunk_ranges(&chunk, &src[reads], &mut dst[1..]);
    assert_eq!(refused, Err(size(End::Destination, writes.len(), src.len() - 1)));
    let refused = plan.execute_chunk(&chunk, &src[1..], &mut dst);
    assert_eq!(refused, Err(size(End::Source, src.len(), src.len() - 1)));
    assert!(dst.iter().all(|&byte| byte == 0xa5));
}

/// A scheduler that calls the given numbers out of as many as it is asked for.
struct Calls<F>(usize, F);

impl<F: Fn(usize) -> Vec<usize>> Scheduler for Calls<F> {
    fn threads(&self) -> usize {
        self.0
    }

    fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (self.1)(count).into_iter().for_each(work);
    }
}

/// New threads for every call, which are counted.
struct Scoped {
    threads: usize,
    started: AtomicUsize,
    names: Mutex<Vec<std::thread::ThreadId>>,
}

impl Scheduler for Scoped {
    fn threads(&self) -> usize {
        self.threads
    }

    fn parallel_for(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for index in 0..count {
                scope.spawn(move || {
                    self.started.fetch_add(1, Ordering::Relaxed);
                    self.names.lock().unwrap().push(std::thread::current().id());
                    work(index);
                });
            }
        });
    }
}

#[test]
fn schedulers_change_nothing() {
    let line = "bf16[1023,1100] -> bf16[1023,1100]{1,0:T(8,128)(2,1)}";
    let plan = plan(line);
    let src = numbers(plan.src_byte_size());
    let expected = whole(&plan, &src);
    let check = |name: &str, scheduler: &dyn Scheduler| {
        let mut dst = vec![0xa5; plan.dst_byte_size()];
        plan.execute_with(scheduler, &src, &mut dst).unwrap();
        assert!(dst == expected, "{name}");
    };
    check("all in order", &Calls(3, |count| (0..count).collect()));
    check("backwards", &Calls(3, |count| (0..count).rev().collect()));
    check("some twice", &Calls(3, |_| vec![1, 1, 0]));
    check("none", &Calls(3, |_| vec![]));
    check("numbers nobody asked for", &Calls(3, |count| vec![count + 7, usize::MAX]));
    check("no threads at all", &Calls(0, |_| panic!("nothing to call")));
    for threads in [2, 5, 1000] {
        let scoped = Scoped { threads, started: AtomicUsize::new(0), names: Mutex::default() };
        check("scoped", &scoped);
        let started = scoped.started.load(Ordering::Relaxed);
        assert!(0 < started && started <= threads, "{started} of {threads}");
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    // From inside a rayon task, in a pool that is busy with other relayouts.
    pool.scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|_| {
                let mut dst = vec![0xa5; plan.dst_byte_size()];
                plan.execute(&src, &mut dst).unwrap();
                assert!(dst == expected);
            });
        }
    });
}

#[test]
fn threads_are_limited_and_small_arrays_start_none() {
    let (src, dst): (Shape, Shape) =
        ("f32[1023,1100]".parse().unwrap(), "f32[1023,1100]{0,1}".parse().unwrap());
    let started = |plan: &Plan| {
        let scoped = Scoped { threads: 8, started: AtomicUsize::new(0), names: Mutex::default() };
        let bytes = numbers(plan.src_byte_size());
        plan.execute_with(&scoped, &bytes, &mut vec![0; plan.dst_byte_size()]).unwrap();
        scoped.started.into_inner()
    };
    let limited = |threads| started(&Plan::builder(&src, &dst).max_threads(threads).build().unwrap());
    assert_eq!([1, 2, 3].map(limited), [0, 2, 3]);
    assert_eq!(started(&plan("f32[64,128] -> f32[64,128]{0,1}")), 0);
}

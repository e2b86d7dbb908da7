//! Executing plans of the shared table of cases, checked first, beside a plain copy and one past the cache.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use relayout::{ArrayShape, Plan, Problem, Region, Request, Shape, reference};
use relayout_kernels::stream_copy;

/// Lines of `suite | name | problem`.
const CASES: &str = include_str!("cases.txt");

/// Results up to this size are held against the reference whole; of larger ones, which it would take minutes for, samples.
const CHECKED_BYTES: usize = 1 << 20;
const SAMPLES: usize = 2000;

fn check(problem: &Problem, plan: &Plan, src: &[u8], dst: &mut [u8]) {
    plan.execute(src, dst).expect("the buffers have the plan's sizes");
    let (from, to) = (problem.src.as_array().expect("an array"), problem.dst.as_array().expect("an array"));
    if dst.len() <= CHECKED_BYTES {
        let mut wanted = vec![0; dst.len()];
        reference::relayout(&Request::new(from, to), src, &mut wanted).expect("a valid request");
        assert!(dst == wanted, "{problem}: the result is not the reference's");
    } else {
        check_samples(problem, from, to, src, dst);
    }
}

/// Elements all over the array, moved once more by the reference, change nothing.
fn check_samples(problem: &Problem, from: &ArrayShape, to: &ArrayShape, src: &[u8], dst: &[u8]) {
    let bounds = from.bounds().expect("static sizes");
    let mut again = dst.to_vec();
    let mut state = 1u64;
    for _ in 0..SAMPLES {
        let index: Vec<i64> = bounds
            .iter()
            .map(|&bound| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                ((state >> 33) % bound as u64) as i64
            })
            .collect();
        let one = Region::new(bounds.iter().map(|_| 1));
        let region = one.with_src_start(index.iter().copied()).with_dst_start(index.iter().copied());
        let request = Request::new(from, to).with_region(region);
        reference::relayout(&request, src, &mut again).expect("a valid request");
    }
    assert!(again == dst, "{problem}: an element is not what it should be");
}

fn cases(criterion: &mut Criterion) {
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let [suite, case, problem] = line.split(" | ").collect::<Vec<_>>()[..] else { panic!("{line}") };
        let problem: Problem = problem.parse().expect("a problem line");
        let plan = Plan::builder(&problem.src, &problem.dst).max_threads(1).build().expect("a plan");
        let mut src: Vec<u8> =
            (0..plan.src_byte_size()).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
        let mut dst = vec![0; plan.dst_byte_size()];
        check(&problem, &plan, &src, &mut dst);
        let bytes = |shape: &Shape| shape.dense_byte_size().expect("a size") as usize;
        let moved = bytes(&problem.src) + bytes(&problem.dst);
        let mut group = criterion.benchmark_group(format!("{suite}/{case}"));
        group.throughput(Throughput::Bytes(moved as u64));
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(500));
        group.bench_function("relayout", |b| b.iter(|| plan.execute(black_box(&src), black_box(&mut dst))));
        let copied = moved / 2;
        src.resize(src.len().max(copied), 0);
        dst.resize(dst.len().max(copied), 0);
        group.bench_function("memcpy", |b| {
            b.iter(|| black_box(&mut dst[..copied]).copy_from_slice(black_box(&src[..copied])));
        });
        group.bench_function("stream copy", |b| {
            b.iter(|| stream_copy(black_box(&src[..copied]), black_box(&mut dst[..copied])));
        });
        group.finish();
    }
}

criterion_group!(benches, cases);
criterion_main!(benches);

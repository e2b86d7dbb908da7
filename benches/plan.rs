//! Planning times of everyday pairs, and executing where the array is so small that nothing else counts.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use relayout::{ArrayShape, Plan, PlanCache, Problem, Request, reference};

/// Everyday pairs: up to six dimensions, up to two levels of tiles.
const PLANNED: &[&str] = &[
    "f32[4096,14336] -> f32[4096,14336]",
    "f32[4096,14336] -> f32[4096,14336]{0,1}",
    "f32[4096,14336] -> f32[4096,14336]{1,0:T(8,128)}",
    "f32[8191,8100] -> f32[8191,8100]{1,0:T(8,128)}",
    "bf16[8191,8100] -> bf16[8191,8100]{1,0:T(8,128)(2,1)}",
    "bf16[8191,8100]{1,0:T(8,128)(2,1)} -> bf16[8191,8100]{0,1:T(8,128)(2,1)}",
    "bf16[8,1,1280,16384] -> bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
    "s4[8192,8192]{1,0:E(4)} -> s4[8192,8192]{1,0:T(8,128)(8,1)E(4)}",
    "bf16[4000] -> bf16[4000]{0:T(1024)(128)(2,1)}",
    "f32[32,32,32,32,32] -> f32[32,32,32,32,32]{0,4,1,3,2}",
    // What is converted is small enough to be prepared.
    "f32[24,28] -> bf16[24,28]{0,1}",
    "f32[32,256] -> bf16[32,256]{1,0:T(8,128)(2,1)}",
    "f32[16,15,14,13,12,11] -> f32[16,15,14,13,12,11]{0,1,2,3,4,5:T(8,128)}",
    // The most boxes that a plan may have, nearly.
    "u8[180,180]{1,0:T(16,15)(5,3)} -> u8[180,180]{1,0:T(8,7)(4,2)}",
];

/// Arrays of a few cache lines.
const EXECUTED: &[&str] = &[
    "f32[16] -> f32[16]",
    "f32[8,8] -> f32[8,8]{0,1}",
    "u8[16,16] -> u8[16,16]{0,1}",
    "f32[3,5] -> f32[3,5]{1,0:T(2,2)}",
    "bf16[16,16] -> bf16[16,16]{1,0:T(8,128)(2,1)}",
    "f32[24,28] -> bf16[24,28]{0,1}",
    "f32[8,128] -> bf16[8,128]{1,0:T(8,128)(2,1)}",
];

fn problem(line: &str) -> Problem {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

fn array(shape: &relayout::Shape) -> &ArrayShape {
    shape.as_array().expect("the pairs are arrays")
}

/// Short measurements: these times scatter little.
fn group<'a>(criterion: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = criterion.benchmark_group(name);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    group
}

fn plan(criterion: &mut Criterion) {
    let mut group = group(criterion, "plan");
    for line in PLANNED {
        let problem = problem(line);
        group.bench_function(*line, |bencher| {
            bencher.iter(|| Plan::new(black_box(&problem.src), black_box(&problem.dst)));
        });
    }
    group.finish();
}

/// Plans that are there already, as a runtime asks for them before every transfer.
fn cache(criterion: &mut Criterion) {
    let mut group = group(criterion, "cache");
    let cache = PlanCache::new(1000);
    for line in PLANNED {
        let problem = problem(line);
        let builder = || Plan::builder(black_box(&problem.src), black_box(&problem.dst));
        group.bench_function(*line, |bencher| {
            bencher.iter(|| cache.get_or_build(builder()));
        });
    }
    let problem = problem("bf16[8191,8100] -> bf16[8191,8100]{1,0:T(8,128)(2,1)}");
    let strided = || Plan::builder(&problem.src, &problem.dst).src_strides_bytes(&[16_384, 2]);
    group.bench_function("strided", |bencher| bencher.iter(|| cache.get_or_build(black_box(strided()))));
    group.finish();
    let stats = cache.stats();
    assert!(stats.misses <= PLANNED.len() as u64 + 1, "{stats:?}");
}

fn execute(criterion: &mut Criterion) {
    let mut group = group(criterion, "execute");
    for line in EXECUTED {
        let problem = problem(line);
        let plan = Plan::new(&problem.src, &problem.dst).unwrap_or_else(|error| panic!("{line}: {error}"));
        let src: Vec<u8> = (0..plan.src_byte_size()).map(|byte| byte as u8).collect();
        let mut dst = vec![0; plan.dst_byte_size()];
        group.bench_function(*line, |bencher| {
            bencher.iter(|| plan.execute(black_box(&src), black_box(&mut dst)));
        });
        // A wrong answer has no speed.
        plan.execute(&src, &mut dst).unwrap_or_else(|error| panic!("{line}: {error}"));
        let mut expected = vec![0; dst.len()];
        let request = Request::new(array(&problem.src), array(&problem.dst));
        reference::relayout(&request, &src, &mut expected).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!(dst, expected, "{line}");
    }
    group.finish();
}

criterion_group!(benches, plan, cache, execute);
criterion_main!(benches);

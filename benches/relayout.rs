//! Executing plans of the shared table of cases, checked first, beside a plain copy and one past the cache.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use relayout::{ArrayShape, Conversion, Plan, Problem, Region, Request, Shape, reference};
use relayout_kernels::stream_copy;

/// Lines of `suite | name | problem`, some with `| factor` or `| factors along` a dimension behind.
const CASES: &str = include_str!("cases.txt");

/// Results up to this size are held against the reference whole; of larger ones, which it would take minutes for, samples.
const CHECKED_BYTES: usize = 1 << 20;
const SAMPLES: usize = 2000;

fn check(problem: &Problem, conversion: &Conversion, plan: &Plan, src: &[u8], dst: &mut [u8]) {
    plan.execute(src, dst).expect("the buffers have the plan's sizes");
    let (from, to) = (problem.src.as_array().expect("an array"), problem.dst.as_array().expect("an array"));
    if dst.len() <= CHECKED_BYTES {
        let mut wanted = vec![0; dst.len()];
        let request = Request::new(from, to).with_conversion(conversion.clone());
        reference::relayout(&request, src, &mut wanted).expect("a valid request");
        assert!(dst == wanted, "{problem}: the result is not the reference's");
    } else {
        check_samples(problem, conversion, [from, to], src, dst);
    }
}

/// Elements all over the array, moved once more by the reference, change nothing.
fn check_samples(
    problem: &Problem,
    conversion: &Conversion,
    [from, to]: [&ArrayShape; 2],
    src: &[u8],
    dst: &[u8],
) {
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
        let request =
            Request::new(from, to).with_region(region).with_conversion(of_index(conversion, &index));
        reference::relayout(&request, src, &mut again).expect("a valid request");
    }
    assert!(again == dst, "{problem}: an element is not what it should be");
}

/// The conversion of the element of an index alone.
fn of_index(conversion: &Conversion, index: &[i64]) -> Conversion {
    match conversion.scale() {
        Some((Some(dimension), factors)) => {
            Conversion::new().with_scale_along(dimension, [factors[index[dimension] as usize]])
        }
        _ => conversion.clone(),
    }
}

/// What elements are multiplied by.
fn conversion(problem: &Problem, factors: Option<&str>) -> Conversion {
    match factors {
        None => Conversion::new(),
        Some("factor") => Conversion::new().with_scale(0.37),
        Some(factors) => {
            let number = factors.strip_prefix("factors along ").expect("a dimension");
            let dimension: usize = number.parse().expect("a number");
            let sizes = problem.src.as_array().expect("an array").bounds().expect("static sizes");
            let factor = |i: i64| 0.5 + i as f32 / sizes[dimension] as f32;
            Conversion::new().with_scale_along(dimension, (0..sizes[dimension]).map(factor))
        }
    }
}

fn cases(criterion: &mut Criterion) {
    for line in CASES.lines().filter(|line| !line.starts_with('#')) {
        let (suite, case, problem, factors) = match line.split(" | ").collect::<Vec<_>>()[..] {
            [suite, case, problem] => (suite, case, problem, None),
            [suite, case, problem, factors] => (suite, case, problem, Some(factors)),
            _ => panic!("{line}"),
        };
        let problem: Problem = problem.parse().expect("a problem line");
        let conversion = conversion(&problem, factors);
        let plan = Plan::builder(&problem.src, &problem.dst).conversion(conversion.clone()).max_threads(1);
        let plan = plan.build().expect("a plan");
        let mut src: Vec<u8> =
            (0..plan.src_byte_size()).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
        let mut dst = vec![0; plan.dst_byte_size()];
        check(&problem, &conversion, &plan, &src, &mut dst);
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

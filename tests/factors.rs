//! A factor for each step of a dimension, against the reference: whatever the layouts, the dimension and the part that runs.

use relayout::{Conversion, Level, Overflow, Plan, Region, Request, Rounding, Shape, Streaming, reference};

/// Bytes of the source: numbers of every size, and what is none.
fn numbers(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

/// Factors of which no two are alike.
fn factors(count: i64) -> Vec<f32> {
    (0..count).map(|i| (i as f32 - 17.0) * 0.37).collect()
}

fn pair(line: &str) -> [Shape; 2] {
    let (src, dst) = line.split_once(" -> ").expect("two shapes");
    [src, dst].map(|text| text.parse().unwrap_or_else(|error| panic!("{text}: {error}")))
}

/// Runs a pair whole and in chunks, at every level, past the cache and not.
fn check([src, dst]: &[Shape; 2], region: Option<&Region>, conversion: &Conversion) {
    let [from, to] = [src, dst].map(|shape| shape.as_array().expect("an array"));
    let mut request = Request::new(from, to).with_conversion(conversion.clone());
    request = region.into_iter().fold(request, |request, region| request.with_region(region.clone()));
    let plan = |level, streaming| {
        let builder =
            Plan::builder(src, dst).conversion(conversion.clone()).level(level).streaming(streaming);
        let builder = region.into_iter().fold(builder, |builder, region| builder.region(region.clone()));
        builder.build().unwrap_or_else(|error| panic!("{src} -> {dst}: {error}"))
    };
    let some = plan(Level::Scalar, Streaming::Never);
    let numbers = numbers(some.src_byte_size());
    let mut wanted = vec![0xa5; some.dst_byte_size()];
    reference::relayout(&request, &numbers, &mut wanted).expect("a request that fits");
    for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
        for streaming in [Streaming::Never, Streaming::Always] {
            let plan = plan(level, streaming);
            let told = || format!("{src} -> {dst} {region:?} at {level}, {streaming:?}");
            let mut found = vec![0xa5; wanted.len()];
            plan.execute(&numbers, &mut found).expect("buffers of the right size");
            assert!(found == wanted, "{}", told());
            let mut parts = vec![0xa5; wanted.len()];
            for chunk in plan.chunks(5) {
                let (span, range) = (chunk.src_span(), chunk.dst_range());
                plan.execute_chunk_ranges(&chunk, &numbers[span], &mut parts[range]).expect("its own ranges");
            }
            assert!(parts == wanted, "in chunks: {}", told());
        }
    }
}

/// Pairs that go every way a conversion may go: long rows, woven rows and the reverse, strips, tiles, tables.
const LINES: [&str; 25] = [
    "f32[70,300] -> bf16[70,300]",
    "f32[70,300] -> bf16[70,300]{1,0:T(8,128)(2,1)}",
    "bf16[70,300]{1,0:T(8,128)(2,1)} -> f32[70,300]",
    "f32[72,384] -> f8e4m3fn[72,384]{1,0:T(8,128)(4,1)}",
    "s8[72,384]{1,0:T(8,128)(4,1)} -> f32[72,384]",
    "s8[72,384]{1,0:T(8,128)(4,1)} -> bf16[72,384]{1,0:T(8,128)(2,1)}",
    "f32[130,260] -> bf16[130,260]{0,1}",
    "f8e5m2[130,256] -> f32[130,256]{0,1}",
    "f32[130,260]{0,1} -> bf16[130,260]{1,0:T(8,128)(2,1)}",
    "s4[64,256]{1,0:T(8,128)(8,1)E(4)} -> bf16[64,256]",
    "f32[64,256] -> f4e2m1fn[64,256]{1,0:T(8,128)(8,1)E(4)}",
    "f64[33,35]{1,0:T(8,4)} -> f16[33,35]{0,1}",
    "u8[20,30,3] -> f32[20,30,3]{1,0,2}",
    "u8[4000,3] -> bf16[4000,3]",
    "f32[6,50,70]{0,2,1} -> f32[6,50,70]{2,1,0:T(8,128)}",
    "bf16[12,40]{1,0:T(*,16)} -> f32[12,40]",
    "f8e5m2[40,50]{1,0:E(16)} -> f32[40,50]",
    "f32[40,50] -> f8e5m2[40,50]{0,1:E(32)}",
    "f32[70,300] -> s8[70,300]",
    "f32[72,384] -> s8[72,384]{1,0:T(8,128)(4,1)}",
    "bf16[130,260] -> u8[130,260]{0,1}",
    "f32[64,256] -> s4[64,256]{1,0:T(8,128)(8,1)E(4)}",
    "f16[70,300] -> u16[70,300]{1,0:T(8,128)(2,1)}",
    "s32[70,300] -> s8[70,300]{0,1:T(8,128)(4,1)}",
    "s32[50,60]{1,0:T(3,5)} -> f32[50,60]{1,0:T(8,7)(4,2)}",
];

#[test]
fn along_every_dimension() {
    for line in LINES {
        let pair = pair(line);
        let dimensions = pair[0].as_array().expect("an array").dimensions();
        for (dimension, size) in dimensions.iter().enumerate() {
            let count = size.bound().expect("a bounded dimension");
            let plain = Conversion::new().with_scale_along(dimension, factors(count));
            check(&pair, None, &plain);
            check(&pair, None, &plain.with_overflow(Overflow::Saturate).with_rounding(Rounding::NearestEven));
        }
    }
}

#[test]
fn along_a_part_of_a_dimension() {
    let region = || Region::new([37, 140]).with_src_start([5, 33]).with_dst_start([2, 1]);
    for line in [
        "f32[70,300] -> bf16[50,150]{1,0:T(8,128)(2,1)}",
        "bf16[70,300]{1,0:T(8,128)(2,1)} -> f32[50,150]",
        "s8[70,300] -> f32[50,150]{0,1}",
    ] {
        for (dimension, count) in [(0, 37), (1, 140)] {
            let conversion = Conversion::new().with_scale_along(dimension, factors(count));
            check(&pair(line), Some(&region()), &conversion);
        }
    }
}

#[test]
fn along_strided_rows() {
    let [src, dst] = pair("f32[40,50] -> bf16[40,50]{0,1:T(8,128)(2,1)}");
    let [from, to] = [&src, &dst].map(|shape| shape.as_array().expect("an array"));
    // Rows with gaps; rows of which the second begins before the first; one row, forty times.
    for (strides, first) in [([260, 4], 0), ([-200, 4], 39 * 200), ([0, 4], 0), ([4, 160], 0), ([4, 164], 0)]
    {
        for (dimension, count) in [(0, 40), (1, 50)] {
            let conversion = Conversion::new().with_scale_along(dimension, factors(count));
            let request = Request::new(from, to).with_conversion(conversion.clone());
            let request = request.with_src_strides_bytes(&strides).with_src_offset_bytes(first);
            let plan = Plan::from_request(&request).expect("a plan");
            let numbers = numbers(plan.src_byte_size());
            let (mut wanted, mut found) = (vec![0; plan.dst_byte_size()], vec![0; plan.dst_byte_size()]);
            reference::relayout(&request, &numbers, &mut wanted).expect("a request that fits");
            plan.execute(&numbers, &mut found).expect("buffers of the right size");
            assert!(found == wanted, "{strides:?} along {dimension}");
        }
    }
}

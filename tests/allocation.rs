//! What planning and executing allocate: little, and nothing that grows with the data.

use relayout::{Plan, Problem, Streaming};

/// The bytes that `work` asks for on this thread, and its result.
fn allocated<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let mut result = None;
    let info = allocation_counter::measure(|| result = Some(work()));
    (info.bytes_total as usize, result.expect("the work ran"))
}

fn planned(line: &str) -> (usize, Plan) {
    planned_streaming(line, Streaming::Auto)
}

fn planned_streaming(line: &str, streaming: Streaming) -> (usize, Plan) {
    let problem: Problem = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    let single = || Plan::builder(&problem.src, &problem.dst).max_threads(1).streaming(streaming).build();
    let (bytes, plan) = allocated(single);
    (bytes, plan.unwrap_or_else(|error| panic!("{line}: {error}")))
}

fn executed(line: &str) -> usize {
    executed_streaming(line, Streaming::Auto)
}

fn executed_streaming(line: &str, streaming: Streaming) -> usize {
    let (_, plan) = planned_streaming(line, streaming);
    let src = vec![1; plan.src_byte_size()];
    let mut dst = vec![0; plan.dst_byte_size()];
    let (bytes, result) = allocated(|| plan.execute(&src, &mut dst));
    result.unwrap_or_else(|error| panic!("{line}: {error}"));
    bytes
}

/// Room for tables of offsets over two blocks of indices, which is all that executing may ask for.
const EXECUTION_BYTES: usize = 512 * 1024;

#[test]
fn executing_allocates_nothing_that_grows() {
    let pairs: &[fn(i64) -> String] = &[
        |n| format!("f32[{n},{n}] -> f32[{n},{n}]{{0,1}}"),
        |n| format!("bf16[{n},{n}] -> bf16[{n},{n}]{{1,0:T(8,128)(2,1)}}"),
        |n| format!("s4[{n},{n}]{{1,0:E(4)}} -> s4[{n},{n}]{{0,1:T(8,128)(8,1)E(4)}}"),
        |n| format!("u8[{n},{n}]{{1,0:T(3,5)}} -> u8[{n},{n}]{{1,0:T(8,128)}}"),
        |n| format!("u8[{n},{n}]{{1,0:T(*,5)}} -> u8[{n},{n}]{{0,1:T(*,7)}}"),
    ];
    for pair in pairs {
        let line = pair(2003);
        let bytes = executed(&line);
        assert!(bytes <= EXECUTION_BYTES, "{line}: {bytes} bytes");
        let boxed = executed(&pair(64));
        assert!(boxed <= EXECUTION_BYTES, "{}: {boxed} bytes", pair(64));
    }
}

/// What a stretch of each of some columns is made into, a block of them, what stands between two steps, and tiles of what is left.
const PACKED_BYTES: u64 = 1024 * 1024;

#[test]
fn transposing_packed_slots_takes_little_room() {
    for (element, bits) in [("u1", 1), ("u2", 2), ("s4", 4)] {
        let line = |n: usize, order: &str, to: &str, packed: &str| {
            format!("{element}[{n},{n}]{{1,0:E({bits})}} -> {to}[{n},{n}]{{{order}{packed}}}")
        };
        let packed = format!(":E({bits})");
        for line in [4003, 6016].map(|n| line(n, "0,1", element, &packed)) {
            takes_little_room(&line);
        }
        // Long rows that start inside bytes.
        takes_little_room(&format!(
            "{element}[7301,2101]{{1,0:E({bits})}} -> {element}[7301,2101]{{0,1:E({bits})}}"
        ));
        // In two steps.
        takes_little_room(&line(4003, "0,1", "f32", ""));
        takes_little_room(&format!("{element}[101,100001]{{1,0:E({bits})}} -> f32[101,100001]{{0,1}}"));
    }
    // Words that become words of others: that follow one another, and others.
    let tiles = |order: &str| format!("{{{order}:T(8,128)(8,1)E(4)}}");
    takes_little_room(&format!("s4[2048,2048]{} -> s4[2048,2048]{}", tiles("0,1"), tiles("1,0")));
    let words = |order: &str| format!("s4[256,256,8,8]{{{order}:E(4)}}");
    takes_little_room(&format!("{} -> {}", words("3,2,1,0"), words("2,3,0,1")));
    takes_little_room(&format!("{} -> {}", words("3,2,0,1"), words("2,3,0,1")));
}

/// Rows whose elements become whole lines together with those of others only.
#[test]
fn tiles_of_short_rows_take_little_room() {
    for line in [
        "s8[640,31,640] -> s16[640,31,640]{1,0,2}",
        "f32[333,197,9] -> bf16[333,197,9]{0,2,1}",
        "bf16[512,256,3,3] -> bf16[512,256,3,3]{0,1,3,2:T(8,128)(2,1)}",
        "bf16[512,256,3,3]{0,1,3,2:T(8,128)(2,1)} -> bf16[512,256,3,3]",
    ] {
        takes_little_room(line);
    }
}

/// Executes past the cache, and looks at the most that it has at a time.
fn takes_little_room(line: &str) {
    let (_, plan) = planned_streaming(line, Streaming::Always);
    let (src, mut dst) = (vec![1; plan.src_byte_size()], vec![0; plan.dst_byte_size()]);
    let info =
        allocation_counter::measure(|| plan.execute(&src, &mut dst).expect("the sizes are the plan's"));
    assert!(info.bytes_max <= PACKED_BYTES, "{line}: {} bytes", info.bytes_max);
}

#[test]
fn converting_with_padding_takes_little_room() {
    for line in [
        "f32[3000001] -> bf16[3000001]{0:T(1024)}",
        "f32[12000,1,256] -> bf16[12000,1,256]{2,1,0:T(2,128)(2,1)}",
        "f32[40,100001] -> bf16[40,100001]{1,0:T(1,128)}",
        "f64[3000,7,100] -> s8[3000,7,100]{1,2,0:T(8,128)(4,1)}",
        "bf16[50000,7,16]{2,1,0:T(8,128)(2,1)} -> f8e4m3fn[50000,7,16]{2,1,0:T(8,128)(4,1)}",
    ] {
        takes_little_room(line);
    }
}

#[test]
fn executing_boxes_in_the_cache_allocates_nothing() {
    for line in [
        "f32[1000,1000] -> f32[1000,1000]",
        "f32[8191,810] -> f32[8191,810]{1,0:T(8,128)}",
        "s4[1000,1000] -> s4[1000,1000]{1,0:E(4)}",
        "f32[24,28] -> bf16[24,28]{0,1}",
        "f32[100,30] -> bf16[100,30]{1,0:T(8,128)(2,1)}",
        "f32[3000,30] -> bf16[3000,30]{1,0:T(8,128)}",
    ] {
        assert_eq!(executed_streaming(line, Streaming::Never), 0, "{line}");
    }
}

#[test]
fn planning_ordinary_pairs_allocates_nothing() {
    for line in [
        "f32[] -> f32[]",
        "f32[4096,14336] -> f32[4096,14336]",
        "f32[2,3,5,7] -> f32[2,3,5,7]{0,2,1,3}",
        "u8[2,3,4,5,6,7] -> u8[2,3,4,5,6,7]{0,1,2,3,4,5}",
        "f32[4096,14336] -> f32[4096,14336]{1,0:T(8,128)}",
        "f32[24,28] -> bf16[24,28]{0,1}",
        "bf16[8,128]{1,0:T(8,128)(2,1)} -> f32[8,128]",
        "f32[8191,8100]{1,0:T(8,128)} -> f32[8191,8100]",
        "bf16[8191,8100] -> bf16[8191,8100]{1,0:T(8,128)(2,1)}",
        "bf16[8191,8100]{1,0:T(8,128)(2,1)} -> bf16[8191,8100]{0,1}",
        "bf16[4000] -> bf16[4000]{0:T(1024)(128)(2,1)}",
        "bf16[8,1,1280,16384] -> bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}",
        "bf16[16,15,14,13,12,11] -> bf16[16,15,14,13,12,11]{0,1,2,3,4,5:T(8,128)(2,1)}",
        "s4[8192,8192]{1,0:E(4)} -> s4[8192,8192]{1,0:T(8,128)(8,1)E(4)}",
    ] {
        let (bytes, _) = planned(line);
        assert_eq!(bytes, 0, "{line}");
    }
}

#[test]
fn planning_strided_views_allocates_nothing() {
    let problem: Problem = "f32[6,7] -> f32[6,7]{1,0:T(2,4)}".parse().expect("a problem");
    let (bytes, plan) = allocated(|| {
        let builder = Plan::builder(&problem.src, &problem.dst).src_strides_bytes(&[-64, 4]);
        builder.src_offset_bytes(320).dst_strides_bytes(&[64, 32]).build()
    });
    assert!(plan.is_ok(), "{plan:?}");
    assert_eq!(bytes, 0);
}

#[test]
fn plans_of_many_boxes_are_small() {
    let (bytes, _) = planned("bf16[8191,8100]{1,0:T(8,128)(2,1)} -> bf16[8191,8100]{0,1:T(8,128)(2,1)}");
    assert!(bytes <= 16 * 1024, "{bytes} bytes");
}

#[test]
fn planning_grows_no_faster_than_the_text() {
    // Ten thousand tiles once took gigabytes, since every tile kept the whole shape before it.
    let line = |tiles: usize| format!("u8[100] -> u8[100]{{0:T{}}}", "(1)".repeat(tiles));
    let (bytes, _) = planned(&line(10_000));
    assert!(bytes <= 64 << 20, "{bytes} bytes");
}

/// Elements of a source that are nowhere beside one another make no room for tiles.
#[test]
fn gaps_in_a_source_make_no_room() {
    let problem: Problem = "u8[256,64,127] -> u8[256,64,127]".parse().expect("a problem");
    let builder = Plan::builder(&problem.src, &problem.dst).src_strides_bytes(&[2, 65536, 512]);
    let plan = builder.max_threads(1).streaming(Streaming::Always).build().expect("a plan");
    let src: Vec<u8> = (0..plan.src_byte_size()).map(|i| (i.wrapping_mul(40_503) >> 5) as u8).collect();
    let mut dst = vec![0; plan.dst_byte_size()];
    let (bytes, result) = allocated(|| plan.execute(&src, &mut dst));
    assert_eq!(result, Ok(()));
    assert!(bytes <= EXECUTION_BYTES, "{bytes} bytes");
    let places = |i: usize| 2 * (i / (64 * 127)) + 65536 * (i / 127 % 64) + 512 * (i % 127);
    assert!(dst.iter().enumerate().all(|(i, &byte)| byte == src[places(i)]));
}

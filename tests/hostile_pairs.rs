//! Pairs that few people ask for: coprime tiles, box counts about the limit, many dimensions, no elements, no dimensions.

mod cases;

use cases::{Case, Outcome, check};
use relayout::{ArrayShape, Layout, Padding, PaddingValue, Plan, PrimitiveType, Region, Shape};

fn outcome(case: &Case) -> Outcome {
    check(case).unwrap_or_else(|why| panic!("{why}"))
}

fn outcome_of_line(line: &str) -> Outcome {
    outcome(&Case::of_line(line))
}

/// A relayout of one array between two layouts.
fn pair(array: &str, src: &str, dst: &str) -> String {
    format!("{array}{src} -> {array}{dst}")
}

#[test]
fn coprime_tiles_go_by_tables() {
    let pairs = [
        ("f32[260,260]", "{1,0:T(3,5)}", "{1,0:T(8,128)}"),
        ("u8[350,350]", "{1,0:T(3,5)}", "{0,1:T(8,128)(4,1)}"),
        ("bf16[240,301]", "{1,0:T(9,11)}", "{1,0:T(10,13)(5,1)}"),
        ("c128[97,101]", "{0,1:T(16,15)(5,3)}", "{1,0:T(8,7)(4,2)(3)}"),
        ("s4[200,200]", "{1,0:T(16,15)(5,3)E(4)}", "{1,0:T(8,7)(4,2)E(4)}"),
        ("u1[301,200]", "{1,0:T(16,15)(5,3)}", "{0,1:T(8,7)(4,2)E(1)}"),
        ("f32[150,200]", "{1,0:T(16,15)(5,3)E(64)}", "{1,0:T(8,7)(4,2)E(40)}"),
        // `*` that merges parts of dimensions, which no tree over whole dimensions expresses.
        ("s16[20,30,40]", "{2,1,0:T(7,9)(*,*,5)}", "{0,1,2:T(*,11,*,3)}"),
    ];
    for (array, src, dst) in pairs {
        let line = pair(array, src, dst);
        assert_eq!(outcome_of_line(&line), Outcome::Tables, "{line}");
    }
}

#[test]
fn tables_of_more_than_one_block() {
    // One dimension has more indices than a block, or two that `*` merges have.
    for (array, src, dst) in [
        ("u8[20011]", "{0:T(101)(17)(7)}", "{0:T(641)(23)(5)}"),
        ("u8[101,97,3]", "{2,1,0:T(*,5,2)}", "{0,1,2:T(*,11,*,3)}"),
    ] {
        let line = pair(array, src, dst);
        assert_eq!(outcome_of_line(&line), Outcome::Tables, "{line}");
    }
}

/// Both tables are cut into blocks: too many elements for the reference, but the way through a plain array goes by boxes.
#[test]
fn tables_of_many_blocks_on_both_sides() {
    let shape = |layout: &str| -> Shape { format!("u8[4101,4099]{layout}").parse().expect("a shape") };
    let (src, dst) = (shape("{1,0:T(3,5)}"), shape("{1,0:T(8,128)}"));
    let moved = |from: &Shape, to: &Shape, bytes: &[u8]| {
        let plan = Plan::new(from, to).expect("a plan");
        let mut moved = vec![0xa5; plan.dst_byte_size()];
        plan.execute(bytes, &mut moved).expect("buffers of the right size");
        (plan.explain().kernels.iter().any(|kernel| kernel.contains("offsets")), moved)
    };
    let plain = shape("{1,0}");
    let bytes: Vec<u8> =
        (0..4101 * 4099u64).map(|n| (n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect();
    let (_, tiled) = moved(&plain, &src, &bytes);
    let (by_tables, found) = moved(&src, &dst, &tiled);
    let (by_boxes, expected) = moved(&plain, &dst, &bytes);
    assert!(by_tables && !by_boxes && found == expected);
}

#[test]
fn tables_of_a_region() {
    let mut case = Case::of_line("s16[270,280]{1,0:T(3,5)} -> s16[300,265]{0,1:T(8,128)(7,11)}");
    case.region = Some(Region::new([265, 251]).with_src_start([4, 29]).with_dst_start([35, 0]));
    assert_eq!(outcome(&case), Outcome::Tables);
}

#[test]
fn box_counts_about_the_limit() {
    let at = |size: i64| {
        let array = format!("u8[{size},{size}]");
        outcome_of_line(&pair(&array, "{1,0:T(16,15)(5,3)}", "{1,0:T(8,7)(4,2)}"))
    };
    assert_eq!(at(180), Outcome::Boxes(1024), "the most that go by boxes");
    let outcomes: Vec<Outcome> = (181..200).map(at).collect();
    assert!(outcomes.contains(&Outcome::Tables), "{outcomes:?}");
    assert!(outcomes.iter().any(|outcome| matches!(outcome, Outcome::Boxes(700..))), "{outcomes:?}");
}

#[test]
fn every_padding_of_hostile_pairs() {
    for padding in [Padding::Leave, Padding::Zero, Padding::Fill(0x0123_4567_89ab_cdef)] {
        for line in [
            "f32[101,99]{1,0:T(7,11)} -> f32[101,99]{0,1:T(8,12)(3,5)L(77)}",
            "u2[61,59]{1,0:E(2)} -> u2[61,59]{0,1:T(5,7)(2,3)L(3)E(2)}",
            "bf16[64,60]{1,0:T(16,15)(5,3)} -> bf16[64,60]{0,1:T(8,7)(4,2)E(24)}",
        ] {
            let mut case = Case::of_line(line);
            case.padding = Some(padding);
            outcome(&case);
        }
    }
}

/// What `*` merges is one index only where all of it is moved.
#[test]
fn regions_of_merged_dimensions() {
    for (line, src_start, dst_start) in [
        ("u8[3,4] -> u8[5,6]{1,0:T(*,7)}", [0, 0], [2, 1]),
        ("u8[5,6]{1,0:T(*,7)} -> u8[3,4]", [1, 2], [0, 0]),
        ("u8[3,4]{1,0:T(*,5)} -> u8[3,6]{1,0:T(*,7)}", [0, 0], [0, 0]),
        ("u8[5,4]{1,0:T(*,5)} -> u8[3,4]{1,0:T(*,7)}", [2, 0], [0, 0]),
    ] {
        let mut case = Case::of_line(line);
        case.region = Some(Region::new([3, 4]).with_src_start(src_start).with_dst_start(dst_start));
        assert_ne!(outcome(&case), Outcome::Refused);
    }
}

/// Rows and planes whose distances are no multiples of an element: where the work is cut for threads, elements and
/// filled padding are cut in two.
#[test]
fn elements_across_the_cuts_between_threads() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("a pool of threads");
    for [size, padded] in [[10, 250], [250, 250]] {
        let layout = Layout::row_major(3).with_padded_dimensions([3, 1000, padded], PaddingValue::Unknown);
        let mut case = Case::of_line(&format!("f32[3,1000,{size}] -> f32[3,1000,{size}]"));
        case.dst = ArrayShape::new(PrimitiveType::F32, [3, 1000, size]).with_layout(layout).into();
        case.dst_placing.strides_bytes = Some(vec![1_001_502, 1001, 4]);
        case.padding = Some(Padding::Fill(0x1234_5678));
        case.max_threads = 4;
        assert_ne!(pool.install(|| outcome(&case)), Outcome::Refused);
    }
}

#[test]
fn thirty_two_dimensions() {
    // Twelve dimensions of 2 among dimensions of 1.
    let sizes: Vec<&str> = (0..32).map(|d| if d % 5 < 2 && d < 30 { "2" } else { "1" }).collect();
    let array = format!("u16[{}]", sizes.join(","));
    let descending = (0..32).rev().map(|d| d.to_string()).collect::<Vec<_>>().join(",");
    let ascending = (0..32).map(|d| d.to_string()).collect::<Vec<_>>().join(",");
    let mixed = (0..32).map(|d| (d * 13 % 32).to_string()).collect::<Vec<_>>().join(",");
    for (src, dst) in [
        (format!("{{{descending}}}"), format!("{{{ascending}}}")),
        (format!("{{{ascending}}}"), format!("{{{mixed}:T(4,2)}}")),
        (format!("{{{mixed}:T(2,2,2)(2,1,4)}}"), format!("{{{descending}:T(*,*,3,2)(2)}}")),
    ] {
        let line = pair(&array, &src, &dst);
        assert_ne!(outcome_of_line(&line), Outcome::Refused, "{line}");
    }
}

#[test]
fn arrays_without_elements() {
    for line in [
        "f32[0] -> f32[0]",
        "f32[3,0,5] -> f32[3,0,5]{0,1,2:T(8,128)}",
        "u1[0,7]{1,0:E(1)} -> u1[0,7]{0,1:T(2,4)E(1)}",
        // Sizes whose product fits 64 bits only because of the zero.
        "u8[0,4611686018427387904,4] -> u8[0,4611686018427387904,4]{0,1,2}",
        // A tile makes slots where there are no elements in another dimension.
        "s8[0]{0:T(4)} -> s8[0]{0:T(3)L(5)}",
    ] {
        outcome_of_line(line);
    }
}

#[test]
fn arrays_without_dimensions() {
    for line in [
        "f32[] -> f32[]",
        "f32[] -> f32[]{:T(8,128)}",
        "c128[]{:T(4)(2)} -> c128[]{:T(*,3)L(5)}",
        "u4[]{:E(4)} -> u4[]{:T(7)E(4)}",
        "s4[]{:E(4)} -> s4[]{:E(16)}",
    ] {
        assert_eq!(outcome_of_line(line), Outcome::Boxes(1), "{line}");
    }
}

#[test]
fn deep_tilings() {
    let deep = "(2)".repeat(300);
    let line = pair("u8[3]", "{0}", &format!("{{0:T{deep}}}"));
    assert_ne!(outcome_of_line(&line), Outcome::Refused);
    let ones = "(1)".repeat(400);
    let line = pair("u8[100]", &format!("{{0:T{ones}}}"), "{0:T(7)}");
    assert_ne!(outcome_of_line(&line), Outcome::Refused);
}

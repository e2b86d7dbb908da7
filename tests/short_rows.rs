//! Arrays whose fastest dimension is short, or ends inside a tile: rows with their padding, rows that start no lines, and both with
//! conversions. Small ones in every way that there is, larger ones by some bands and threads, against the reference.

mod cases;

use cases::{Case, Outcome, check};
use relayout::{Conversion, Overflow, Padding, Plan, Request, Streaming, reference};

/// Pairs of types and tiles, of which the first is a row-major array.
const PAIRS: [(&str, &str, &str); 8] = [
    ("f32", "f32", "T(8,128)"),
    ("bf16", "bf16", "T(8,128)(2,1)"),
    ("s8", "s8", "T(8,128)(4,1)"),
    ("c128", "c128", "T(8,128)"),
    ("f32", "bf16", "T(8,128)(2,1)"),
    ("f32", "s8", "T(8,128)(4,1)"),
    ("s8", "f32", "T(8,128)"),
    ("bf16", "f8e4m3fn", "T(8,128)(4,1)"),
];

/// Rows of so many elements.
const SIZES: [usize; 5] = [1, 64, 100, 130, 197];

/// Both directions of a pair, for arrays of so many rows.
fn lines(rows: &str, size: usize) -> impl Iterator<Item = String> {
    PAIRS.into_iter().flat_map(move |(plain, tiled, tiles)| {
        let order = if rows.contains(',') { "2,1,0" } else { "1,0" };
        let dimensions = format!("[{rows},{size}]");
        let tiled = format!("{tiled}{dimensions}{{{order}:{tiles}}}");
        [format!("{plain}{dimensions} -> {tiled}"), format!("{tiled} -> {plain}{dimensions}")]
    })
}

#[test]
fn small_ones_in_every_way() {
    for size in SIZES {
        for line in lines("19", size).chain(lines("3,16", size)) {
            let mut case = Case::of_line(&line);
            for padding in [None, Some(Padding::Leave), Some(Padding::Fill(0x5a))] {
                case.padding = padding;
                assert!(matches!(check(&case), Ok(Outcome::Boxes(_))), "{line}: {:?}", check(&case));
            }
        }
    }
}

/// Rows that do not fill the last of those that a tile weaves, also where columns end inside a tile, and tiles on both sides.
const WOVEN: [&str; 12] = [
    "bf16[57,7,256] -> bf16[57,7,256]{2,1,0:T(8,128)(2,1)}",
    "s8[57,7,256] -> s8[57,7,256]{2,1,0:T(8,128)(4,1)}",
    "f32[57,7,256] -> bf16[57,7,256]{2,1,0:T(8,128)(2,1)}",
    "bf16[57,6,256] -> f8e4m3fn[57,6,256]{2,1,0:T(8,128)(4,1)}",
    "f32[57,7,300] -> bf16[57,7,300]{2,1,0:T(8,128)(2,1)}",
    "s8[57,9,100] -> bf16[57,9,100]{2,1,0:T(16,128)(2,1)}",
    "f32[11,5,8,256] -> s8[11,5,8,256]{3,1,2,0:T(8,128)(4,1)}",
    "s8[57,7,256]{2,1,0:T(8,128)(4,1)} -> bf16[57,7,256]{2,1,0:T(4,128)(2,1)}",
    "f32[57,7,256] -> bf16[57,7,256]{1,2,0:T(8,128)(2,1)}",
    "f32[96,56,96]{1,0,2:T(8,128)} -> bf16[96,56,96]{2,0,1:T(16,128)(2,1)}",
    "bf16[57,7,256]{2,1,0:T(8,128)(2,1)} -> f32[57,7,256]",
    "s8[57,7,256]{2,1,0:T(8,128)(4,1)} -> bf16[57,7,256]",
];

#[test]
fn rows_that_are_woven_with_padding() {
    for line in WOVEN {
        let mut case = Case::of_line(line);
        for padding in [None, Some(Padding::Leave), Some(Padding::Fill(0x5a))] {
            case.padding = padding;
            assert!(matches!(check(&case), Ok(Outcome::Boxes(_))), "{line}: {:?}", check(&case));
        }
        let [found, parts, wanted] = all(line, &Conversion::new(), 2);
        assert!(found == wanted && parts == wanted, "{line}");
    }
}

/// Rows that are a single one of many elements, those under more loops than are usual, and chunks that end inside of elements.
#[test]
fn rows_with_padding_of_every_length() {
    let many = "s16[2,2,2,2,2,2,2,2,2,2,2,2,1]{0,1,2,3,4,5,6,7,8,9,10,11,12} -> \
        s8[2,2,2,2,2,2,2,2,2,2,2,2,1]{12,11,10,9,8,7,6,5,4,3,2,1,0:T(2,32)(2,1)}";
    for line in [
        many,
        "f32[300001] -> bf16[300001]{0:T(1024)}",
        "f32[1200,1,256] -> bf16[1200,1,256]{2,1,0:T(2,128)(2,1)}",
        "f32[9,30001] -> bf16[9,30001]{1,0:T(1,128)}",
        "s16[4,3,9000] -> s8[4,3,9000]{2,1,0:T(4,128)(4,1)}",
    ] {
        let [found, parts, wanted] = all(line, &Conversion::new(), 1);
        assert!(found == wanted && parts == wanted, "{line}");
    }
    let problem: relayout::Problem =
        "f32[57,1,256] -> bf16[57,1,256]{2,1,0:T(2,128)(2,1)}".parse().expect("a problem");
    let builder = Plan::builder(&problem.src, &problem.dst).max_threads(1);
    let plan = builder.streaming(Streaming::Always).build().expect("a plan");
    let src: Vec<u8> = (0..plan.src_byte_size()).map(|i| (i % 251) as u8).collect();
    let [mut wanted, mut found] = [0x11, 0x22].map(|held| vec![held; plan.dst_byte_size()]);
    plan.execute(&src, &mut wanted).expect("a whole array");
    for most in [3, 5, 61] {
        found.fill(0x22);
        for chunk in plan.chunks_of_bytes(most) {
            plan.execute_chunk(&chunk, &src, &mut found).expect("a chunk");
        }
        assert!(found == wanted, "chunks of {most} bytes");
    }
}

/// Rows of a source that repeats its elements, as views of overlapping windows do.
#[test]
fn windows_that_overlap_are_padded() {
    let problem: relayout::Problem =
        "s16[511,8,4] -> s8[511,8,4]{2,1,0:T(8,8)(8,1)}".parse().expect("a problem");
    let plan = |streaming| {
        let builder = Plan::builder(&problem.src, &problem.dst).src_strides_bytes(&[8, 2048, 2]);
        builder.max_threads(1).streaming(streaming).build().expect("a plan")
    };
    let [plain, past] = [Streaming::Never, Streaming::Always].map(plan);
    let src: Vec<u8> =
        (0..plain.src_byte_size()).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect();
    let [wanted, found] = [plain, past].map(|plan| {
        let mut dst = relayout::AlignedBuffer::zeroed(plan.dst_byte_size()).expect("room");
        plan.execute(&src, &mut dst).expect("a view");
        dst
    });
    assert!(wanted[..] == found[..]);
}

/// Tiles whose words are of other rows, or of as many as the other's are not.
const WORDS: [&str; 10] = [
    "bf16[64,48,256]{2,1,0:T(8,128)(2,1)} -> bf16[64,48,256]{2,0,1:T(8,128)(2,1)}",
    "s8[40,24,256]{2,1,0:T(8,128)(4,1)} -> s8[40,24,256]{2,0,1:T(8,128)(4,1)}",
    "bf16[37,100,300]{2,1,0:T(8,128)(2,1)} -> bf16[37,100,300]{1,0,2:T(16,128)(2,1)}",
    "bf16[100,37,300]{2,1,0:T(4,128)(2,1)} -> bf16[100,37,300]{0,2,1:T(8,128)(2,1)}",
    "s8[37,100,300]{2,1,0:T(8,128)(4,1)} -> s8[37,100,300]{1,0,2:T(32,128)(4,1)}",
    "s8[100,37,300]{2,1,0:T(8,128)(4,1)} -> s8[100,37,300]{0,2,1:T(8,128)(4,1)}",
    "bf16[64,40,256]{2,1,0:T(8,128)(2,1)} -> f8e4m3fn[64,40,256]{2,0,1:T(8,128)(4,1)}",
    "bf16[37,100,300]{2,1,0:T(8,128)(2,1)} -> s8[37,100,300]{1,0,2:T(8,128)(4,1)}",
    "s8[100,37,300]{2,1,0:T(8,128)(4,1)} -> bf16[100,37,300]{0,2,1:T(8,128)(2,1)}",
    "f32[37,100,300]{2,1,0:T(8,128)} -> bf16[37,100,300]{1,0,2:T(8,128)(2,1)}",
];

#[test]
fn tiles_with_words_of_other_rows() {
    WORDS.iter().for_each(|line| in_every_way(line, &[2]));
}

/// Planes in batches whose rows follow one another and start no lines, moved and converted, and some that other loops go on from.
const BATCHES: [&str; 11] = [
    "f32[50,40,33] -> f32[50,40,33]{1,2,0}",
    "u8[300,12,64] -> u8[300,12,64]{1,2,0}",
    "s16[12,4,7,3,192]{4,3,1,0,2} -> s16[12,4,7,3,192]{0,4,2,3,1}",
    "f32[512,16]{0,1:T(4,128)} -> f32[512,16]",
    "f32[3,40,2600] -> bf16[3,40,2600]{1,2,0}",
    "f32[1,40,5200]{1,2,0} -> bf16[1,40,5200]",
    "bf16[7,100,1031] -> f32[7,100,1031]{1,2,0}",
    "u8[4,12,3001] -> bf16[4,12,3001]{1,2,0}",
    "f32[40,3,1024] -> f16[40,3,1024]{1,2,0}",
    "u8[2,9,64,200] -> f32[2,9,64,200]{1,3,2,0}",
    "u8[3,100,2049] -> f32[3,100,2049]{1,2,0}",
];

#[test]
fn planes_in_batches() {
    // In chunks as large as bands, and on two threads, which share the largest.
    BATCHES.iter().for_each(|line| in_every_way(line, &[1, 2]));
}

/// Slots that share bytes: whole bytes of which stay together, and are moved as such; that are transposed in blocks, as what lies together
/// on a side is several dimensions, or rows start inside bytes; that are unpacked and packed in short rows; and that are converted
/// behind a transposition, in bands across their source.
const PACKED: [&str; 17] = [
    "s4[60,70,64]{2,1,0:E(4)} -> s4[60,70,64]{2,0,1:E(4)}",
    "u1[60,70,40]{2,1,0:E(1)} -> u1[60,70,40]{2,0,1:E(1)}",
    "u2[603,704]{0,1:E(2)} -> u2[603,704]{1,0:T(8,128)(4,1)E(2)}",
    "s4[712,1403]{0,1:E(4)} -> s4[712,1403]{1,0:T(8,128)(8,1)E(4)}",
    "s4[320,3,48,16]{0,3,1,2:E(4)} -> s4[320,3,48,16]{1,3,2,0:E(4)}",
    "u1[24,300,96]{0,2,1:E(1)} -> u1[24,300,96]{1,2,0:E(1)}",
    "u1[256,19,304]{0,1,2:E(1)} -> u1[256,19,304]{2,1,0:E(1)}",
    "u2[301,197,57]{2,0,1:E(2)} -> u2[301,197,57]{1,2,0:E(2)}",
    "s4[128,80,32]{2,1,0:T(8,128)(8,1)E(4)} -> s4[128,80,32]{0,1,2}",
    "s4[64,128,50]{0,2,1:E(4)} -> s4[64,128,50]{0,1,2}",
    "u2[100,61,64]{0,1,2:E(2)} -> u2[100,61,64]{0,2,1}",
    "s4[100,61,64]{0,1,2} -> s4[100,61,64]{0,2,1:E(4)}",
    "s4[700,1024]{1,0:E(4)} -> f32[700,1024]{0,1}",
    "s4[640,701]{1,0:E(4)} -> f32[640,701]{0,1:T(8,128)}",
    "s4[64,96,203]{0,2,1:E(4)} -> bf16[64,96,203]{0,1,2}",
    "f4e2m1fn[1024,640]{1,0:T(8,128)(8,1)E(4)} -> bf16[1024,640]{0,1}",
    "pred[1001,703]{1,0:E(1)} -> s16[1001,703]{0,1}",
];

#[test]
fn slots_that_share_bytes() {
    PACKED.iter().for_each(|line| in_every_way(line, &[1, 2]));
}

#[test]
fn packed_slots_that_stay_together_are_moved_as_bytes() {
    let kernels = |line: &str| {
        let problem: relayout::Problem = line.parse().expect("two shapes");
        Plan::new(&problem.src, &problem.dst).expect("a plan").to_string()
    };
    for (line, kernel) in
        [(PACKED[0], "-b8 extents"), (PACKED[3], "-b32 extents"), (PACKED[5], "-convert-b1-b1 extents")]
    {
        assert!(kernels(line).contains(kernel), "{}", kernels(line));
    }
}

/// Sources and destinations in other orders, and slots that are said to be as wide as they are.
const OTHERS: [&str; 8] = [
    "bf16[1403,200]{1,0:T(8,128)(2,1)} -> f32[1403,200]{1,0:T(8,128)}",
    "f32[1403,200]{1,0:T(8,128)} -> bf16[1403,200]{1,0:T(8,128)(2,1)}",
    "bf16[1403,200]{0,1} -> f32[1403,200]{1,0:T(8,128)}",
    "f32[5,160,12,72] -> bf16[5,160,12,72]{3,1,2,0:T(8,128)(2,1)}",
    "bf16[5,160,12,72]{3,1,2,0:T(8,128)(2,1)} -> f32[5,160,12,72]",
    "bf16[5,160,12,72]{3,1,2,0:T(8,128)(2,1)} -> bf16[5,160,12,72]",
    "bf16[1403,197]{1,0:T(8,128)(2,1)} -> f32[1403,197]{1,0:E(32)}",
    "f64[1403,100]{1,0:T(8,128)} -> s8[1403,100]",
];

/// A case in every way that there is, then large enough for bands: on so many threads and in chunks, against the reference.
fn in_every_way(line: &str, threads: &[usize]) {
    let case = Case::of_line(line);
    assert!(matches!(check(&case), Ok(Outcome::Boxes(_))), "{line}: {:?}", check(&case));
    let wanted = by_reference(line, &Conversion::new());
    for &threads in threads {
        let [found, parts] = by_plan(line, &Conversion::new(), threads);
        assert!(found == wanted, "{line} on {threads} threads");
        assert!(parts == wanted, "{line} in chunks");
    }
}

/// What a plan makes, whole and in chunks that have only their own bytes, and what the reference makes.
fn all(line: &str, conversion: &Conversion, threads: usize) -> [Vec<u8>; 3] {
    let [found, parts] = by_plan(line, conversion, threads);
    [found, parts, by_reference(line, conversion)]
}

/// Two shapes.
fn problem(line: &str) -> relayout::Problem {
    line.parse().unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// So many bytes of a source.
fn source(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i.wrapping_mul(2_654_435_761) >> 11) as u8).collect()
}

fn by_plan(line: &str, conversion: &Conversion, threads: usize) -> [Vec<u8>; 2] {
    let problem = problem(line);
    let builder = Plan::builder(&problem.src, &problem.dst).conversion(conversion.clone());
    let plan = builder.max_threads(threads).streaming(Streaming::Always).build().expect(line);
    let src = source(plan.src_byte_size());
    let [mut found, mut parts] = [0x11, 0x22].map(|held| vec![held; plan.dst_byte_size()]);
    plan.execute(&src, &mut found).expect(line);
    for chunk in plan.chunks_of_bytes([4096, 99_999][threads % 2]) {
        let dst = &mut parts[chunk.dst_range()];
        plan.execute_chunk_ranges(&chunk, &src[chunk.src_span()], dst).expect(line);
    }
    [found, parts]
}

fn by_reference(line: &str, conversion: &Conversion) -> Vec<u8> {
    let problem = problem(line);
    let [src, dst] = [&problem.src, &problem.dst].map(|shape| shape.as_array().expect("arrays"));
    let request = Request::new(src, dst).with_conversion(conversion.clone());
    let bytes = [src, dst].map(|array| array.byte_size().expect(line) as usize);
    let mut wanted = vec![0x33; bytes[1]];
    reference::relayout(&request, &source(bytes[0]), &mut wanted).expect(line);
    wanted
}

#[test]
fn larger_ones_by_bands_and_threads() {
    for line in lines("1403", 100).chain(lines("1403", 197)).chain(OTHERS.map(str::to_owned)) {
        let threads = 1 + line.len() % 2;
        let [found, parts, wanted] = all(&line, &Conversion::new(), threads);
        assert!(found == wanted, "{line} on {threads} threads");
        assert!(parts == wanted, "{line} in chunks");
    }
}

#[test]
fn larger_ones_with_factors_and_saturation() {
    let factors: Vec<f32> = (0..1403).map(|i| 0.5 + i as f32 / 64.0).collect();
    let conversions = [
        Conversion::new().with_scale(0.25),
        Conversion::new().with_scale_along(0, factors),
        Conversion::new().with_overflow(Overflow::Saturate),
    ];
    for conversion in conversions {
        for (plain, tiled, tiles) in &PAIRS[4..] {
            let tiled = format!("{tiled}[1403,197]{{1,0:{tiles}}}");
            for line in [format!("{plain}[1403,197] -> {tiled}"), format!("{tiled} -> {plain}[1403,197]")] {
                let [found, parts, wanted] = all(&line, &conversion, 2);
                assert!(found == wanted && parts == wanted, "{line}, {conversion:?}");
            }
        }
    }
}

/// Rows that lie across their source, with padding beside many of them, or in words of theirs.
const ACROSS: [&str; 9] = [
    "u8[144,12,24,3] -> bf16[144,12,24,3]{0,3,2,1:T(8,128)(2,1)}",
    "f32[144,3,12,24] -> bf16[144,3,12,24]{0,1,3,2:T(8,128)(2,1)}",
    "u8[144,12,24,3] -> u8[144,12,24,3]{0,3,2,1:T(8,128)(4,1)}",
    "bf16[130,300,7] -> bf16[130,300,7]{0,2,1:T(8,128)(2,1)}",
    "f32[2,11,60,61]{2,1,3,0} -> f32[2,11,60,61]{3,1,2,0:T(8,128)}",
    "bf16[31,61,200]{1,2,0} -> bf16[31,61,200]{2,1,0:T(8,128)(2,1)}",
    "s8[31,61,200]{1,2,0} -> s8[31,61,200]{2,1,0:T(8,128)(4,1)}",
    "f32[31,61,200]{1,2,0} -> f8e4m3fn[31,61,200]{2,1,0:T(8,128)(4,1)}",
    "bf16[3,5,128,150] -> bf16[3,5,128,150]{2,1,3,0:T(8,128)(2,1)}",
];

#[test]
fn rows_that_lie_across_their_source() {
    for (line, threads) in ACROSS.into_iter().zip([1, 2].into_iter().cycle()) {
        let [found, parts, wanted] = all(line, &Conversion::new(), threads);
        assert!(found == wanted, "{line} on {threads} threads");
        assert!(parts == wanted, "{line} in chunks");
    }
    let [found, parts, wanted] = all(ACROSS[1], &Conversion::new().with_scale(0.25), 1);
    assert!(found == wanted && parts == wanted);
}

/// What padding becomes by way of another array is what it becomes without.
#[test]
fn padding_is_left_or_filled_across() {
    for (line, padding) in ACROSS.into_iter().zip([Padding::Leave, Padding::Fill(0x4142)].into_iter().cycle())
    {
        let problem: relayout::Problem = line.parse().expect(line);
        let [plain, past] = [Streaming::Never, Streaming::Always].map(|streaming| {
            let builder = Plan::builder(&problem.src, &problem.dst).padding(padding).max_threads(1);
            let plan = builder.streaming(streaming).build().expect(line);
            let src: Vec<u8> =
                (0..plan.src_byte_size()).map(|i| (i.wrapping_mul(40_503) >> 5) as u8).collect();
            let mut dst = vec![0x77; plan.dst_byte_size()];
            plan.execute(&src, &mut dst).expect(line);
            dst
        });
        assert!(plain == past, "{line}, {padding:?}");
    }
}

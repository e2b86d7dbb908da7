//! Conversions at every level against the portable one, under nests of every kind, between sentinels.

mod bytes;
mod few_bits;
mod few_elements;
mod halves;
mod packed_blocks;
mod packed_factors;
mod packed_words;
mod padded;
mod pairs;
mod planes;
mod tile_pairs;
mod tiles;
mod turned_tiles;

use pairs::{BF16, F8_IEEE, F16, FLOATS_OF_A_BYTE, conversions, rare_conversions, scaled_conversions};
use relayout_kernels::{
    Along, Bits, Conversion, Converter, FloatFormat, Level, Loop, Nest, Number, Rules, Scale, SlotWidth,
    Specials, StepDigit,
};

/// Extents, and places of the loops in the order of either side, the fastest last; `ways` of the last but one loop take turns.
fn orders() -> Vec<([usize; 3], [usize; 3], [usize; 3])> {
    vec![
        ([3, 5, 200], [0, 1, 2], [0, 1, 2]),
        ([1, 3, 2048], [0, 1, 2], [0, 1, 2]),
        ([9, 4, 128], [0, 2, 1], [0, 1, 2]),
        ([3, 8, 128], [0, 1, 2], [0, 2, 1]),
        ([2, 8, 330], [0, 1, 2], [0, 2, 1]),
        ([3, 2, 128], [0, 1, 2], [0, 2, 1]),
        ([3, 2, 128], [0, 2, 1], [0, 1, 2]),
        ([2, 4, 100], [0, 1, 2], [0, 2, 1]),
        ([2, 8, 64], [0, 2, 1], [0, 1, 2]),
        ([2, 8, 91], [0, 1, 2], [0, 2, 1]),
        ([2, 70, 67], [0, 1, 2], [0, 2, 1]),
        ([1, 256, 300], [0, 1, 2], [0, 2, 1]),
        ([40, 3, 37], [0, 1, 2], [2, 1, 0]),
        ([2, 2, 700], [0, 1, 2], [0, 2, 1]),
        ([2, 4, 700], [0, 2, 1], [0, 1, 2]),
        // Rows of less than a block, of more bytes than go at a time.
        ([70, 8, 30], [0, 1, 2], [0, 2, 1]),
        ([70, 8, 30], [0, 2, 1], [0, 1, 2]),
        ([100, 4, 44], [0, 1, 2], [1, 0, 2]),
        // Short rows that become long ones, for which there is room in the narrower form only.
        ([150, 2, 20], [0, 1, 2], [2, 1, 0]),
        // Rows for whose factors tables are made.
        ([1, 2, 2300], [0, 1, 2], [0, 1, 2]),
        ([1, 2, 2100], [0, 1, 2], [0, 2, 1]),
    ]
}

/// The levels that the machine has; any other is the portable one.
fn levels() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|level| level.is_available())
}

fn unit(width: SlotWidth) -> isize {
    match width {
        SlotWidth::Bytes(bytes) => bytes as isize,
        SlotWidth::Bits(_) => 1,
    }
}

/// Strides of the loops, dense in an order but for a gap behind each step of the slowest.
fn strides(extents: [usize; 3], order: [usize; 3], unit: isize, gap: isize) -> [isize; 3] {
    let mut strides = [0; 3];
    let mut span = unit;
    for (place, &loop_of) in order.iter().enumerate().rev() {
        if place == 0 {
            span += gap * unit;
        }
        strides[loop_of] = span;
        span *= extents[loop_of] as isize;
    }
    strides
}

fn run(
    converter: &Converter,
    src: &[u8],
    first: isize,
    loops: &[Loop],
    bytes: usize,
    start: usize,
) -> Vec<u8> {
    run_between(converter, src, [first; 2], loops, bytes, start)
}

/// The same from one place to another.
fn run_between(
    converter: &Converter,
    src: &[u8],
    [src_offset, dst_offset]: [isize; 2],
    loops: &[Loop],
    bytes: usize,
    start: usize,
) -> Vec<u8> {
    let mut dst = vec![0xa5; bytes + 192];
    let line = dst.as_ptr().align_offset(64); // where a destination starts a line decides how it is written
    let nest = Nest { src_offset, dst_offset, loops };
    let slice = line + start..line + start + bytes;
    converter.run(src, &mut dst[slice.clone()], nest).expect("a nest inside its slices");
    let written = dst[line..line + bytes + 128].to_vec();
    if let Some(prepared) = converter.prepare(nest, src.len(), bytes) {
        dst.fill(0xa5);
        prepared.run(src, &mut dst[slice]).expect("slices of these lengths");
        assert!(dst[line..line + bytes + 128] == written, "{converter:?} {loops:?}, prepared");
    }
    written
}

/// What the portable loop writes from the destination's first byte on, wherever that lies.
fn portable(converter: &Converter, src: &[u8], first: isize, loops: &[Loop], bytes: usize) -> Vec<u8> {
    let portable = Converter { level: Level::Scalar, stream: false, ..*converter };
    let mut wanted = run(&portable, src, first, loops, bytes, 0);
    wanted.truncate(bytes);
    wanted
}

/// The same where a destination that starts so many bytes behind a line is to be found, as [`run`] returns it.
fn placed(wanted: &[u8], start: usize) -> Vec<u8> {
    let mut whole = vec![0xa5; wanted.len() + 128];
    whole[start..start + wanted.len()].copy_from_slice(wanted);
    whole
}

/// A factor for each step of a loop, in places of a source that begin at `first`.
fn check_factors(
    (conversion, from, to): (Conversion, SlotWidth, SlotWidth),
    src: &[u8],
    loops: &[Loop],
    scale: Scale<'_>,
) {
    let reach: isize = loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1)).sum();
    let bytes = reach as usize + 32;
    for (stream, first, start) in [(false, 1, 63), (true, 0, 64), (true, 3, 5)] {
        let scale = match scale {
            Scale::Along(along) => Scale::Along(Along { first: -first, ..along }),
            all => all,
        };
        let converter = Converter { conversion, src: from, dst: to, scale, level: Level::Scalar, stream };
        let wanted = placed(&portable(&converter, src, first, loops, bytes), start);
        for level in levels() {
            let found = run(&Converter { level, ..converter }, src, first, loops, bytes, start);
            assert!(found == wanted, "{conversion:?} {loops:?} {level} {stream} from {first} at {start}");
        }
    }
}

#[test]
fn factors_are_multiplied_in_at_every_level() {
    let src: Vec<u8> = (0..1u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let mut values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    // Blocks with factors that make new NaN, or products that are denormal, and many without.
    let others = [f32::from_bits(0x7fff_ffff), f32::INFINITY, f32::NEG_INFINITY, 1e-42, -1e-38];
    others.into_iter().enumerate().for_each(|(i, other)| values[90 + 150 * i] = other);
    let number = |n: isize| std::num::NonZeroUsize::new(n.unsigned_abs()).expect("strides are not zero");
    for converted @ (_, from, to) in scaled_conversions() {
        for (extents, src_order, dst_order) in orders() {
            // Digits of a place are told apart where strides are multiples of one another.
            for gap in [0, extents[src_order[1]] * extents[src_order[2]]] {
                let src_strides = strides(extents, src_order, unit(from), gap as isize);
                let dst_strides = strides(extents, dst_order, unit(to), gap as isize % 5);
                let loops: Vec<Loop> = (0..3)
                    .map(|i| Loop {
                        extent: extents[i],
                        src_stride: src_strides[i],
                        dst_stride: dst_strides[i],
                    })
                    .collect();
                check_factors(converted, &src, &loops, Scale::All(-0.37));
                for (place, &along) in src_order.iter().enumerate() {
                    let modulus = match place {
                        0 => std::num::NonZeroUsize::MAX,
                        _ => number(src_strides[src_order[place - 1]]),
                    };
                    let digit = StepDigit { stride: number(src_strides[along]), modulus, unit: 1 };
                    let scale = Along { values: &values, digits: &[digit], first: 0, start: 0 };
                    check_factors(converted, &src, &loops, Scale::Along(scale));
                }
            }
        }
    }
}

#[test]
fn every_level_does_as_the_portable_one() {
    let src: Vec<u8> = (0..1u32 << 20).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let all = conversions().into_iter().chain(rare_conversions());
    for (conversion, from, to) in all {
        for (extents, src_order, dst_order) in orders() {
            for gap in [0, 1, 64] {
                let src_strides = strides(extents, src_order, unit(from), gap);
                let dst_strides = strides(extents, dst_order, unit(to), gap);
                let loops: Vec<Loop> = (0..3)
                    .map(|i| Loop {
                        extent: extents[i],
                        src_stride: src_strides[i],
                        dst_stride: dst_strides[i],
                    })
                    .collect();
                let reach: isize = loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1)).sum();
                let bytes = reach as usize + 32;
                for (first, start, ways) in [(0, 64, &[false, true][..]), (3, 5, &[true]), (1, 63, &[false])]
                {
                    let (scale, level) = (Scale::All(1.0), Level::Scalar);
                    let converter = Converter { conversion, src: from, dst: to, scale, level, stream: false };
                    let wanted = placed(&portable(&converter, &src, first, &loops, bytes), start);
                    for (level, &stream) in
                        levels().flat_map(|level| ways.iter().map(move |way| (level, way)))
                    {
                        let converter = Converter { level, stream, ..converter };
                        let found = run(&converter, &src, first, &loops, bytes, start);
                        assert!(found == wanted, "{converter:?} {loops:?} from {first} at {start}");
                    }
                }
            }
        }
    }
}

/// Ends of ragged tiles: rows that are woven and taken apart, and plain ones, of any length where each starts a line.
#[test]
fn rows_that_start_lines_end_anywhere() {
    let src = noise();
    for (conversion, from, to) in conversions().into_iter().chain(rare_conversions()) {
        let (read, written) = (unit(from), unit(to));
        let line = match to {
            SlotWidth::Bits(bits) => 512 / bits as isize,
            SlotWidth::Bytes(_) => 64,
        };
        for (ways, count) in [2, 4, 8].into_iter().flat_map(|ways| [36, 72, 100, 144].map(|n| (ways, n))) {
            let in_lines = |units: isize| (units + line - 1) / line * line;
            let (stream, row) = (in_lines(ways * count * written), in_lines(count * written));
            let of = |extent: isize, src_stride, dst_stride| Loop {
                extent: extent.unsigned_abs(),
                src_stride,
                dst_stride,
            };
            let [woven, apart, plain] = [
                [
                    of(2, ways * count * read, stream),
                    of(count, read, ways * written),
                    of(ways, count * read, written),
                ],
                [
                    of(2, ways * count * read, ways * row),
                    of(ways, read, row),
                    of(count, ways * read, written),
                ],
                [
                    of(2, ways * count * read, ways * row),
                    of(ways, count * read, row),
                    of(count, read, written),
                ],
            ];
            for loops in [woven, apart, plain] {
                let reach: isize = loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1)).sum();
                let bytes = reach as usize + 32;
                let (scale, level) = (Scale::All(1.0), Level::Scalar);
                let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
                let wanted = placed(&portable(&converter, &src, 0, &loops, bytes), 64);
                for level in levels() {
                    let converter = Converter { level, ..converter };
                    let found = run(&converter, &src, 0, &loops, bytes, 64);
                    assert!(found == wanted, "{converter:?} {loops:?}");
                }
            }
        }
    }
}

/// Every pattern of a byte, in slots whose other bits hold anything; enough for tables of products, and too few for one of all results.
#[test]
fn floats_of_a_byte_are_widened_at_every_level() {
    const COUNT: usize = 3072;
    let src: Vec<u8> = (0..COUNT as u32).map(|i| (i + i / 256) as u8).collect();
    let narrower = [(3, 2, 3), (2, 3, 1), (2, 1, 1)].map(|(exponent_bits, mantissa_bits, bias)| {
        FloatFormat { exponent_bits, mantissa_bits, bias, specials: Specials::FiniteOnly }
    });
    for from in FLOATS_OF_A_BYTE.into_iter().chain(narrower).map(Number::Float) {
        for (to, bytes) in [(FloatFormat::F32, 4), (BF16, 2), (F16, 2), (F8_IEEE, 1)] {
            let factors = [-1.5, 0.37, 1e-36, -3e38, 1e-45, 0.0, f32::INFINITY, f32::NAN].map(Some);
            for factor in [None].into_iter().chain(factors) {
                if factor.is_none() && from == Number::Float(to) {
                    continue;
                }
                let rules = Rules { scale: factor.is_some(), ..Rules::default() };
                let conversion =
                    Conversion::new(from, Number::Float(to), rules).expect("a defined conversion");
                let loops = [Loop { extent: COUNT, src_stride: 1, dst_stride: bytes as isize }];
                let found = Level::ALL.map(|level| {
                    let (src_width, dst_width) = (SlotWidth::Bytes(1), SlotWidth::Bytes(bytes));
                    let (scale, stream) = (Scale::All(factor.unwrap_or(1.0)), false);
                    let converter =
                        Converter { conversion, src: src_width, dst: dst_width, scale, level, stream };
                    run(&converter, &src, 0, &loops, COUNT * bytes, 64)
                });
                assert!(found.iter().all(|bytes| *bytes == found[0]), "{from:?} to {to:?}, {factor:?}");
            }
        }
    }
}

/// Rows made of pieces from a tiled source, `ways` of which take turns in it.
#[test]
fn rows_that_start_no_lines_are_joined_from_pieces() {
    let src: Vec<u8> = (0..1u32 << 16).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let in_bytes = |width| match width {
        SlotWidth::Bytes(bytes) => Some(bytes as isize),
        SlotWidth::Bits(_) => None,
    };
    for (conversion, from, to) in conversions() {
        let (Some(read), Some(written)) = (in_bytes(from), in_bytes(to)) else { continue };
        for (ways, count, pieces, groups, gap) in [
            (2, 128, 3, 4, 4),
            (2, 64, 1, 2, 12),
            (4, 128, 2, 2, 36),
            (4, 64, 5, 1, 60),
            (2, 128, 3, 2, 7),
            (2, 96, 3, 2, 8),
        ] {
            let row = pieces * count * written + gap;
            let group = ways * count * read;
            let of = |extent: isize, src_stride, dst_stride| Loop {
                extent: extent.unsigned_abs(),
                src_stride,
                dst_stride,
            };
            let loops = [
                of(pieces, groups * group, count * written),
                of(groups, group, ways * row),
                of(ways, read, row),
                of(count, ways * read, written),
            ];
            let bytes = (groups * ways * row).unsigned_abs();
            let (scale, level) = (Scale::All(1.0), Level::Scalar);
            let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
            let wanted = portable(&converter, &src, 0, &loops, bytes);
            for (level, start) in levels().flat_map(|level| [0, 4, 20, 61].map(|start| (level, start))) {
                let converter = Converter { level, ..converter };
                let found = run(&converter, &src, 0, &loops, bytes, start);
                assert!(found == placed(&wanted, start), "{converter:?} {loops:?} at {start}");
            }
        }
    }
}

/// Bytes that look like nothing.
fn noise() -> Vec<u8> {
    (0..1u32 << 23).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
}

/// Eight rows of half bytes to one stream and back, from rows that start anywhere.
#[test]
fn half_bytes_are_woven_from_anywhere() {
    let src = noise();
    let (packed, bytes) = (SlotWidth::Bits(Bits::Four), SlotWidth::Bytes(1));
    let of = |extent: isize, stride, other| (extent.unsigned_abs(), stride, other);
    for (from, to) in [(packed, packed), (bytes, packed), (packed, bytes)] {
        for (count, gap) in [(64, 0), (65, 0), (127, 2), (128, 0), (128, 7), (301, 0), (1100, 5), (2049, 0)] {
            let row: isize = count + gap;
            // In slots of the rows, and of the stream.
            let nest = [of(3, 8 * row, 8 * count + 8), of(count, 1, 8), of(8, row, 1)];
            for (is_woven, first) in [(true, 0), (true, 3), (false, 0), (false, 2), (false, 5)] {
                let loops = nest.map(|(extent, of_rows, of_stream)| {
                    let [src, dst] = if is_woven { [of_rows, of_stream] } else { [of_stream, of_rows] };
                    Loop { extent, src_stride: src, dst_stride: dst }
                });
                let last = loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1)).sum::<isize>();
                let bytes = (last + first).unsigned_abs() + 1;
                let bytes = if to == packed { bytes.div_ceil(2) } else { bytes };
                let (conversion, scale) = (Conversion::identity(1), Scale::All(1.0));
                let level = Level::Scalar;
                let converter = Converter { conversion, src: from, dst: to, scale, level, stream: false };
                let wanted = portable(&converter, &src, first, &loops, bytes);
                for (level, stream) in levels().flat_map(|level| [true, false].map(|stream| (level, stream)))
                {
                    let converter = Converter { level, stream, ..converter };
                    for start in [0, 5] {
                        let found = run(&converter, &src, first, &loops, bytes, start);
                        let wanted = placed(&wanted, start);
                        assert!(found == wanted, "{converter:?} {loops:?} from {first} at {start}");
                    }
                }
            }
        }
    }
}

#[test]
fn nests_that_leave_their_slices_are_refused() {
    let converter = Converter {
        conversion: Conversion::identity(1),
        src: SlotWidth::Bytes(1),
        dst: SlotWidth::Bits(Bits::Four),
        scale: Scale::All(1.0),
        level: Level::detect(),
        stream: false,
    };
    let loops = [Loop { extent: 9, src_stride: 1, dst_stride: 1 }];
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &loops };
    let mut dst = [7; 4];
    assert!(
        converter.run(&[1; 9], &mut dst, nest).is_err() && converter.run(&[1; 8], &mut [7; 5], nest).is_err()
    );
    assert_eq!(dst, [7; 4]);
    let mut odd = [0xa5; 5];
    converter.run(&[1; 9], &mut odd, nest).unwrap();
    assert_eq!(odd, [0x11, 0x11, 0x11, 0x11, 0xa1]); // the slot behind the last one stays
}

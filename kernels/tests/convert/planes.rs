//! Planes that are transposed while their elements are converted, packed slots among them.

use std::num::NonZeroUsize;

use relayout_kernels::{
    Along, Bits, Conversion, Converter, FloatFormat, Level, Loop, Number, Rules, Scale, SlotWidth, StepDigit,
};

use super::pairs::{BF16, conversions, scaled_conversions};
use super::{levels, noise, placed, portable, run, unit};

/// So many steps of a plane of so many rows and columns, of elements that stay together, with a gap behind rows and columns.
type Plane = (isize, isize, isize, isize, isize);

/// Transposes planes whose rows start bytes.
fn check_plane(src: &[u8], elements: (Conversion, SlotWidth, SlotWidth), plane: Plane) {
    let (steps, rows, columns, together, gap) = plane;
    let pitches = [steps * rows * together, columns * together]
        .map(|extent: isize| (extent as usize).next_multiple_of(8) as isize + 8 * gap);
    let first = if elements.1 == elements.2 { 8 } else { 0 };
    check_pitches(src, elements, plane, pitches, first);
}

/// Transposes planes of rows so far from one another at every level, and as the portable one does.
fn check_pitches(
    src: &[u8],
    elements: (Conversion, SlotWidth, SlotWidth),
    plane: Plane,
    pitches: [isize; 2],
    first: isize,
) {
    check_factors(src, elements, plane, pitches, (first, Scale::All(1.0)));
}

/// The same of elements that are multiplied by their factors.
fn check_factors(
    src: &[u8],
    (conversion, from, to): (Conversion, SlotWidth, SlotWidth),
    (steps, rows, columns, together, _): Plane,
    [src_pitch, dst_pitch]: [isize; 2],
    (first, scale): (isize, Scale<'_>),
) {
    let of = |extent: isize, src_stride, dst_stride| Loop {
        extent: extent.unsigned_abs(),
        src_stride: src_stride * unit(from),
        dst_stride: dst_stride * unit(to),
    };
    let loops = [
        of(2, columns * src_pitch, steps * rows * dst_pitch),
        of(steps, rows * together, rows * dst_pitch),
        of(rows, together, dst_pitch),
        of(columns, src_pitch, together),
        of(together, 1, 1),
    ];
    let loops = if columns * rows * steps > 1 << 16 { &loops[1..] } else { &loops[..] };
    check_loops(src, (conversion, from, to), loops, (first, scale));
}

/// The same for any loops over elements from `first` on. In the cache, only packed slots have strips of their own.
fn check_loops(
    src: &[u8],
    elements @ (_, _, to): (Conversion, SlotWidth, SlotWidth),
    loops: &[Loop],
    start: (isize, Scale<'_>),
) {
    check_ways(src, elements, loops, start, |level| match to {
        SlotWidth::Bits(_) if level >= Level::Avx2 => &[true, false],
        _ => &[true],
    });
}

/// The same past the cache, or not.
fn check_ways(
    src: &[u8],
    (conversion, from, to): (Conversion, SlotWidth, SlotWidth),
    loops: &[Loop],
    (first, scale): (isize, Scale<'_>),
    ways: impl Fn(Level) -> &'static [bool],
) {
    let bytes = loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1)).sum::<isize>() as usize + 32;
    // Where the first slot starts a line, and where none does.
    let line = match to {
        SlotWidth::Bits(bits) => 64 - first as usize * bits as usize / 8,
        SlotWidth::Bytes(_) => 64 - first as usize,
    };
    let level = Level::Scalar;
    let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
    let wanted = portable(&converter, src, first, loops, bytes);
    let starts = [5, 0, 32, line];
    // Where a line starts decides what passes the cache, which nothing does with Neon. The portable loop is there once more, at another
    // place.
    let of = |level| match level {
        Level::Scalar => &starts[..1],
        Level::Neon => &starts[..2],
        _ => &starts[..],
    };
    for (level, &start) in levels().flat_map(|level| of(level).iter().map(move |start| (level, start))) {
        let wanted = placed(&wanted, start);
        for &stream in ways(level) {
            let converter = Converter { level, stream, ..converter };
            let found = run(&converter, src, first, loops, bytes, start);
            assert!(found == wanted, "{converter:?} {loops:?} at {start}");
        }
    }
}

/// Slots that share bytes.
fn packed() -> [(Conversion, SlotWidth, SlotWidth); 3] {
    [Bits::One, Bits::Two, Bits::Four]
        .map(|bits| (Conversion::identity(1), SlotWidth::Bits(bits), SlotWidth::Bits(bits)))
}

#[test]
fn planes_are_transposed_in_strips() {
    let src = noise();
    for elements in conversions().into_iter().chain(packed()) {
        for plane in [
            (1, 64, 64, 1, 0),
            (1, 515, 523, 1, 0),
            (1, 640, 512, 1, 64),
            (1, 527, 1037, 1, 1),
            (1, 1100, 517, 1, 8),
            (24, 8, 160, 1, 0),
            (17, 4, 128, 2, 0),
            (1, 81, 133, 4, 0),
            (1, 81, 133, 3, 0),
        ] {
            check_plane(&src, elements, plane);
        }
    }
}

/// Planes in the cache, of rows that are converted whole, of longer ones, and with fewer rows and columns behind whole tiles than are
/// converted together; what becomes wider also of more elements than go at once.
#[test]
fn planes_are_converted_in_the_cache() {
    let src = noise();
    for elements @ (_, from, to) in conversions() {
        let planes = [(70, 300, 0), (300, 70, 3), (523, 197, 1), (1031, 90, 0), (64, 512, 8), (1100, 523, 0)];
        let count = if unit(to) > unit(from) { planes.len() } else { planes.len() - 1 };
        for (rows, columns, gap) in planes.into_iter().take(count) {
            let of = |extent: isize, src_stride, dst_stride| Loop {
                extent: extent.unsigned_abs(),
                src_stride: src_stride * unit(from),
                dst_stride: dst_stride * unit(to),
            };
            let loops = [of(rows, 1, columns + gap), of(columns, rows + gap, 1)];
            check_ways(&src, elements, &loops, (0, Scale::All(1.0)), |_| &[false]);
        }
    }
}

/// The same, a factor for each row or column.
#[test]
fn planes_are_multiplied_in_the_cache() {
    let src = noise();
    let values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    for elements @ (_, from, to) in scaled_conversions() {
        for (rows, columns, gap) in [(64, 100, 0), (70, 300, 0), (300, 70, 3), (523, 197, 0)] {
            let of = |extent: isize, src_stride, dst_stride| Loop {
                extent: extent.unsigned_abs(),
                src_stride: src_stride * unit(from),
                dst_stride: dst_stride * unit(to),
            };
            let loops = [of(rows, 1, columns + gap), of(columns, rows + gap, 1)];
            let bytes = |elements: isize| (elements * unit(from)).unsigned_abs();
            for (stride, modulus) in [(1, bytes(rows + gap)), (rows + gap, usize::MAX)] {
                let [stride, modulus] =
                    [bytes(stride), modulus].map(|n| NonZeroUsize::new(n).expect("strides are not zero"));
                let digits = [StepDigit { stride, modulus, unit: 1 }];
                let scale = Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 });
                check_ways(&src, elements, &loops, (0, scale), |_| &[false]);
            }
        }
    }
}

/// Elements beside each other on neither side, or a few: fewer than there is room for at once, and more, with a loop that is cut.
#[test]
fn loose_elements_are_gathered() {
    let src = noise();
    for elements @ (_, from, to) in conversions() {
        for (few, some, many) in [(1, 3, 11), (2, 5, 40), (3, 64, 90), (1, 9, 2100), (15, 30, 17)] {
            let of = |extent: isize, src_stride, dst_stride| Loop {
                extent: extent.unsigned_abs(),
                src_stride: src_stride * unit(from),
                dst_stride: dst_stride * unit(to),
            };
            let loops =
                [of(many, few + 2, some * (few + 1)), of(some, many * (few + 2) + 3, few + 1), of(few, 1, 1)];
            check_ways(&src, elements, &loops, (0, Scale::All(1.0)), |_| &[true, false]);
        }
    }
}

/// As many loops over single elements as a nest may have, one less and one more.
#[test]
fn many_loops_of_loose_elements_are_gathered() {
    let src = noise();
    let [f32, bf16] = [FloatFormat::F32, BF16].map(Number::Float);
    let conversion = Conversion::new(f32, bf16, Rules::default()).expect("a defined conversion");
    let elements = (conversion, SlotWidth::Bytes(4), SlotWidth::Bytes(2));
    for count in [11, 12, 13] {
        let of = |i: u32| Loop { extent: 2, src_stride: 8 << i, dst_stride: 4 << (count - 1 - i) };
        let loops: Vec<_> = (0..count).map(of).collect();
        check_ways(&src, elements, &loops, (0, Scale::All(1.0)), |_| &[false]);
    }
}

/// Tiles of so many rows, some of which stay together, whose columns become rows: a strip has columns of several tiles.
#[test]
fn columns_of_tiles_become_rows() {
    const WIDE: isize = 128;
    let src = noise();
    for elements @ (_, from, to) in conversions() {
        for (high, together) in [(8, 1), (8, 2), (8, 4), (4, 1), (16, 1)] {
            for (down, wide, gap) in [(9, WIDE, 0), (16, WIDE, 8), (12, 100, 0), (5, WIDE, 1)] {
                let (tile, pitch) = (high * WIDE, down * high + gap);
                let of = |extent: isize, src_stride, dst_stride| Loop {
                    extent: extent.unsigned_abs(),
                    src_stride: src_stride * unit(from),
                    dst_stride: dst_stride * unit(to),
                };
                let loops = [
                    of(2, tile, wide * pitch),
                    of(down, 2 * tile, high),
                    of(wide, together, pitch),
                    of(high / together, WIDE * together, together),
                    of(together, 1, 1),
                ];
                check_loops(&src, elements, &loops, (0, Scale::All(1.0)));
            }
        }
    }
}

/// The same, a factor for each column of a tile, for each row, and for each tile.
#[test]
fn columns_of_tiles_are_multiplied_as_they_become_rows() {
    const WIDE: isize = 128;
    const HIGH: isize = 8;
    let src = noise();
    let values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    let number = |n: isize| NonZeroUsize::new(n.unsigned_abs()).expect("strides are not zero");
    for elements @ (_, from, to) in scaled_conversions() {
        for (together, gap) in [(1, 0), (2, 0), (4, 8)] {
            let (tile, pitch) = (HIGH * WIDE, 9 * HIGH + gap);
            let of = |extent: isize, src_stride, dst_stride| Loop {
                extent: extent.unsigned_abs(),
                src_stride: src_stride * unit(from),
                dst_stride: dst_stride * unit(to),
            };
            let loops = [
                of(2, tile, WIDE * pitch),
                of(9, 2 * tile, HIGH),
                of(WIDE, together, pitch),
                of(HIGH / together, WIDE * together, together),
                of(together, 1, 1),
            ];
            let [column, row, tile] = [together, WIDE * together, tile].map(|step| step * unit(from));
            for (stride, modulus) in [(column, number(row)), (row, number(tile)), (tile, NonZeroUsize::MAX)] {
                let digits = [StepDigit { stride: number(stride), modulus, unit: 1 }];
                let scale = Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 });
                check_loops(&src, elements, &loops, (0, scale));
            }
        }
    }
}

/// Rows whose elements are woven to words as they become columns, and taken apart from there; each with a factor for every loop.
#[test]
fn planes_of_words_are_transposed() {
    let src = noise();
    let values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    let number = |n: isize| NonZeroUsize::new(n.unsigned_abs()).expect("strides are not zero");
    let of = |[extents, from, to]: [[isize; 3]; 3], [src_unit, dst_unit]: [isize; 2]| {
        [0, 1, 2].map(|i| Loop {
            extent: extents[i].unsigned_abs(),
            src_stride: from[i] * src_unit,
            dst_stride: to[i] * dst_unit,
        })
    };
    for elements @ (conversion, from, to) in conversions() {
        let is_scaled = scaled_conversions().iter().any(|scaled| scaled.0 == conversion);
        for (ways, words, rows, gap) in
            [(2, 64, 100, 0), (2, 67, 131, 1), (4, 33, 64, 0), (2, 130, 96, 64), (8, 16, 70, 0)]
        {
            let pitch = ways * words + gap;
            let plain = [rows * words, rows, 1];
            let woven = [1, ways, pitch];
            for [source, destination] in [[plain, woven], [woven, plain]] {
                let loops = of([[ways, words, rows], source, destination], [unit(from), unit(to)]);
                check_loops(&src, elements, &loops, (0, Scale::All(1.0)));
                for l in loops.iter().filter(|_| is_scaled && gap == 0) {
                    let further = loops.iter().map(|l| l.src_stride).filter(|&stride| stride > l.src_stride);
                    let modulus = further.min().map_or(NonZeroUsize::MAX, number);
                    let digits = [StepDigit { stride: number(l.src_stride), modulus, unit: 1 }];
                    let scale = Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 });
                    check_loops(&src, elements, &loops, (0, scale));
                }
            }
        }
    }
}

/// As many loops as a nest may have here, with columns left beside the strips.
#[test]
fn planes_lie_under_many_loops() {
    let src = noise();
    let [f32, bf16] = [FloatFormat::F32, BF16].map(Number::Float);
    let conversion = Conversion::new(f32, bf16, Rules::default()).expect("a defined conversion");
    let (rows, columns, pitch) = (64, 67, 72);
    let mut loops: Vec<_> = (0..10)
        .map(|i| Loop {
            extent: 2,
            src_stride: 4 * (i % 3) * rows,
            dst_stride: (2 * rows * pitch) << (9 - i),
        })
        .collect();
    loops.push(Loop { extent: 64, src_stride: 4, dst_stride: 2 * pitch });
    loops.push(Loop { extent: columns, src_stride: 4 * rows, dst_stride: 2 });
    let elements = (conversion, SlotWidth::Bytes(4), SlotWidth::Bytes(2));
    check_loops(&src, elements, &loops, (0, Scale::All(1.0)));
}

/// Complex numbers, whose parts stay together.
#[test]
fn planes_of_complex_numbers_are_transposed() {
    let src = noise();
    let [c64, c128] = [FloatFormat::F32, FloatFormat::F64].map(Number::Complex);
    let of = |from, to| Conversion::new(from, to, Rules::default()).expect("a defined conversion");
    for elements in [
        (of(c128, c64), SlotWidth::Bytes(16), SlotWidth::Bytes(8)),
        (of(c64, c128), SlotWidth::Bytes(8), SlotWidth::Bytes(16)),
    ] {
        for plane in [(1, 64, 64, 1, 0), (1, 321, 523, 1, 0), (1, 320, 512, 1, 64), (17, 4, 128, 2, 0)] {
            check_plane(&src, elements, plane);
        }
    }
}

/// A factor for all elements, for each row, for each column, and for each few of these.
#[test]
fn planes_are_multiplied_while_they_are_transposed() {
    let src = noise();
    let values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    let number = |n: isize| NonZeroUsize::new(n.unsigned_abs()).expect("strides are not zero");
    for elements @ (_, from, _) in scaled_conversions() {
        for (rows, columns) in [(64, 64), (515, 523), (640, 512)] {
            let pitches =
                [rows, columns].map(|extent: isize| extent.unsigned_abs().next_multiple_of(8) as isize);
            let (row, column) = (unit(from), pitches[0] * unit(from));
            let digits = [
                (row, number(column)),
                (8 * row, number(column)),
                (column, NonZeroUsize::MAX),
                (4 * column, NonZeroUsize::MAX),
            ];
            let plane = (1, rows, columns, 1, 0);
            check_factors(&src, elements, plane, pitches, (0, Scale::All(-0.37)));
            for (stride, modulus) in digits {
                let digits = [StepDigit { stride: number(stride), modulus, unit: 1 }];
                let along = Along { values: &values, digits: &digits, first: 0, start: 0 };
                check_factors(&src, elements, plane, pitches, (0, Scale::Along(along)));
            }
        }
    }
}

/// More packed rows than are made ready together, in bytes that end with a line and in others.
#[test]
fn packed_planes_are_transposed_stretch_by_stretch() {
    let src = noise();
    for elements in packed() {
        for rows in [4096, 4808, 8704] {
            check_plane(&src, elements, (1, rows, 520, 1, 1));
        }
    }
}

/// A strip of two lines of every row, one of a single line where bytes have eight slots, and columns that fill none; rows that
/// start lines, and rows that do not.
#[test]
fn packed_planes_are_transposed_in_strips_of_two_lines() {
    let src = noise();
    for elements in packed() {
        for (columns, gap) in [(1608, 1), (1536, 0), (1792, 0)] {
            check_plane(&src, elements, (1, 2312, columns, 1, gap));
        }
    }
}

/// Columns and rows that start bytes on one side, or on none.
#[test]
fn packed_planes_start_anywhere() {
    let src = noise();
    let apart = [Bits::One, Bits::Two, Bits::Four].into_iter().flat_map(|bits| {
        let (packed, bytes) = (SlotWidth::Bits(bits), SlotWidth::Bytes(1));
        [(packed, bytes), (bytes, packed)].map(|(from, to)| (Conversion::identity(1), from, to))
    });
    for elements in packed().into_iter().chain(apart) {
        for (rows, columns) in [(129, 131), (160, 512), (517, 1043), (2100, 2071), (2311, 144), (129, 5000)] {
            for (src_gap, dst_gap, first) in [(0, 0, 0), (0, 0, 3), (1, 7, 1), (8, 3, 0), (5, 8, 5)] {
                let odd = |extent: isize, gap: isize| match gap {
                    8 => (extent as usize).next_multiple_of(8) as isize + 64,
                    _ => extent | (1 + 2 * gap),
                };
                let pitches = [odd(rows, src_gap), odd(columns, dst_gap)];
                check_pitches(&src, elements, (1, rows, columns, 1, 0), pitches, first);
            }
        }
    }
}

//! Rows that become tiles of words, tiles that become rows, and rows that stay rows, with factors along either dimension: what is
//! rounded, denormal, infinite and NaN among them.

use core::num::NonZeroUsize;

use relayout_kernels::{
    Along, Bits, Conversion, Converter, FloatFormat, Level, Loop, Number, Rules, Scale, SlotWidth, StepDigit,
};

use super::halves::patterns;
use super::pairs::{self, BF16};
use super::{levels, placed, portable, run};

/// Rows and columns of tiles.
const TILES: [usize; 2] = [4, 3];
const TILE: [usize; 2] = [8, 128];

const ROW: usize = TILES[1] * TILE[1];

/// Strides of the loops over rows of tiles, tiles, words of a tile's rows, the elements of a word, and columns.
type Strides = [usize; 5];

/// Of elements of a width in rows.
fn row_major(ways: usize, width: usize) -> Strides {
    [TILE[0] * ROW, TILE[1], ways * ROW, ROW, 1].map(|stride| stride * width)
}

/// Of elements in tiles, so many rows of which take turns.
fn tiled(ways: usize, width: usize) -> Strides {
    let tile = TILE[0] * TILE[1];
    [TILES[1] * tile, tile, ways * TILE[1], 1, ways].map(|stride| stride * width)
}

/// Loops over so many columns of every tile.
fn loops(ways: usize, columns: usize, [src, dst]: [Strides; 2]) -> Vec<Loop> {
    let extents = [TILES[0], TILES[1], TILE[0] / ways, ways, columns];
    let of = |i: usize| Loop { extent: extents[i], src_stride: src[i] as isize, dst_stride: dst[i] as isize };
    (0..extents.len()).map(of).collect()
}

/// The digits of a row's or a column's number in places of the source: of each loop that has a part of it, the slowest first.
fn digits(ways: usize, src: Strides, dimension: usize) -> Vec<StepDigit> {
    let parts: &[(usize, usize)] = match dimension {
        0 => &[(0, TILE[0]), (2, ways), (3, 1)],
        _ => &[(1, TILE[1]), (4, 1)],
    };
    let number = |n| NonZeroUsize::new(n).expect("strides are none of them zero");
    let part = |&(of, unit): &(usize, usize)| {
        // A digit begins anew where the next slower loop counts on.
        let modulus =
            src.iter().copied().filter(|&stride| stride > src[of]).min().map_or(NonZeroUsize::MAX, number);
        StepDigit { stride: number(src[of]), modulus, unit }
    };
    parts.iter().map(part).collect()
}

/// At every level, past the cache and in it.
fn check(
    conversion: Conversion,
    [src_width, dst_width]: [SlotWidth; 2],
    ways: usize,
    scale_along: Option<usize>,
    forms: [Strides; 2],
) {
    let values = [1.0, -0.37, 3.0, 1e-30, 2.0, -1e30, 1e-42, f32::INFINITY, 0.5, 0.0, f32::NAN];
    let values: Vec<f32> = values.into_iter().cycle().take(ROW).collect();
    let digits = scale_along.map(|dimension| digits(ways, forms[0], dimension));
    let scale = match &digits {
        Some(digits) => Scale::Along(Along { values: &values, digits, first: 0, start: 0 }),
        None => Scale::All(3.0),
    };
    let src = patterns(super::unit(src_width) as usize);
    let bytes = bytes_of(TILES[0] * TILE[0] * ROW, dst_width);
    for (stream, columns) in [(false, TILE[1]), (true, TILE[1]), (true, 36)] {
        let (level, loops) = (Level::Scalar, loops(ways, columns, forms));
        let converter = Converter { conversion, src: src_width, dst: dst_width, scale, level, stream };
        let wanted = portable(&converter, &src, 0, &loops, bytes);
        for (level, start) in levels().flat_map(|level| [0, 61].map(|start| (level, start))) {
            let found = run(&Converter { level, ..converter }, &src, 0, &loops, bytes, start);
            assert!(found == placed(&wanted, start), "{conversion:?} {scale:?} {loops:?} {level} {stream}");
        }
    }
}

/// Between rows and tiles, with factors and without.
fn check_forms([from, to]: [Number; 2], widths: [SlotWidth; 2], ways: [usize; 2]) {
    for scale in [false, true] {
        let Some(conversion) = Conversion::new(from, to, Rules { scale, ..Rules::default() }) else {
            continue;
        };
        let along: &[_] = if scale { &[None, Some(0), Some(1)] } else { &[None] };
        for (ways, &along) in ways.into_iter().flat_map(|ways| along.iter().map(move |along| (ways, along))) {
            let of = |strides: fn(usize, usize) -> Strides| {
                widths.map(|width| strides(ways, super::unit(width) as usize))
            };
            let (rows, tiles) = (of(row_major), of(tiled));
            for forms in [[rows[0], tiles[1]], [tiles[0], rows[1]], rows, tiles] {
                check(conversion, widths, ways, along, forms);
            }
        }
    }
}

/// Bytes of so many slots.
fn bytes_of(elements: usize, width: SlotWidth) -> usize {
    match width {
        SlotWidth::Bytes(bytes) => elements * bytes,
        SlotWidth::Bits(bits) => elements * bits as usize / 8,
    }
}

/// Types, and how many bytes an element has.
const F32: (Number, usize) = (Number::Float(FloatFormat::F32), 4);
const HALF: (Number, usize) = (Number::Float(BF16), 2);
const S8: (Number, usize) = (pairs::S8, 1);
const U8: (Number, usize) = (pairs::U8, 1);
const F8: (Number, usize) = (Number::Float(pairs::F8), 1);

#[test]
fn tiles_are_multiplied_at_every_level() {
    let pairs = [
        (F32, HALF),
        (S8, HALF),
        (U8, HALF),
        (HALF, HALF),
        (F8, HALF),
        (F32, S8),
        (HALF, F8),
        (HALF, F32),
        (S8, F32),
        (F32, F8),
        (F8, F32),
        (F32, F32),
    ];
    for ((from, src), (to, dst)) in pairs {
        check_forms([from, to], [src, dst].map(SlotWidth::Bytes), [2, 4]);
    }
}

/// Rows and tiles of packed slots, and of as many rows as take a step of their own to be woven.
#[test]
fn tiles_are_packed_at_every_level() {
    use SlotWidth::{Bits as Packed, Bytes};
    let u2 = Number::Integer { bits: 2, signed: false };
    let pairs = [
        (HALF.0, Bytes(2), pairs::S4, Packed(Bits::Four)),
        (F32.0, Bytes(4), pairs::S4, Packed(Bits::Four)),
        (S8.0, Bytes(1), pairs::S4, Packed(Bits::Four)),
        (HALF.0, Bytes(2), u2, Packed(Bits::Two)),
        (F8.0, Bytes(1), Number::Truth, Packed(Bits::One)),
        (HALF.0, Bytes(2), S8.0, Bytes(1)),
        (pairs::S4, Packed(Bits::Four), HALF.0, Bytes(2)),
        (pairs::S4, Packed(Bits::Four), F32.0, Bytes(4)),
        (pairs::S4, Packed(Bits::Four), S8.0, Bytes(1)),
        (u2, Packed(Bits::Two), F8.0, Bytes(1)),
        (pairs::S4, Packed(Bits::Four), u2, Packed(Bits::Two)),
    ];
    for (from, src, to, dst) in pairs {
        check_forms([from, to], [src, dst], [2, 8]);
    }
}

/// Rows too long to be woven, or packed, at once, of which the last part is of any length.
#[test]
fn long_rows_are_woven_at_every_level() {
    use SlotWidth::{Bits as Packed, Bytes};
    let half_bytes = Packed(Bits::Four);
    let pairs = [
        (F32.0, Bytes(4), S8.0, Bytes(1)),
        (F32.0, Bytes(4), HALF.0, Bytes(2)),
        (F32.0, Bytes(4), pairs::S4, half_bytes),
        (HALF.0, Bytes(2), Number::Truth, Packed(Bits::One)),
        (U8.0, Bytes(1), F32.0, Bytes(4)),
        (pairs::S4, half_bytes, HALF.0, Bytes(2)),
    ];
    for (from, src, to, dst) in pairs {
        let conversion = Conversion::new(from, to, Rules::default()).expect("a defined conversion");
        let [src_unit, dst_unit] = [src, dst].map(super::unit);
        let values = patterns(src_unit as usize).repeat(8);
        for count in [513, 1025, 1100, 2049, 4097, 4159, 5000, 8256] {
            for ways in [1, 2, 4, 8] {
                // Rows apart by whole lines of either side.
                let apart = (count + 511) / 512 * 512;
                let of = |extent, src: isize, dst: isize| Loop {
                    extent: extent as usize,
                    src_stride: src * src_unit,
                    dst_stride: dst * dst_unit,
                };
                let zipped = vec![of(ways, apart, 1), of(count, 1, ways)];
                let unzipped = vec![of(ways, 1, apart), of(count, ways, 1)];
                let plain = vec![of(ways, apart, apart), of(count, 1, 1)];
                for loops in [zipped, unzipped, plain] {
                    let (scale, level) = (Scale::All(1.0), Level::Scalar);
                    let converter = Converter { conversion, src, dst, scale, level, stream: false };
                    let bytes = bytes_of((8 * apart) as usize, dst);
                    let wanted = portable(&converter, &values, 0, &loops, bytes);
                    for (level, stream) in
                        levels().flat_map(|level| [false, true].map(|stream| (level, stream)))
                    {
                        let found =
                            run(&Converter { level, stream, ..converter }, &values, 0, &loops, bytes, 64);
                        assert!(found == placed(&wanted, 64), "{conversion:?} {loops:?} {level} {stream}");
                    }
                }
            }
        }
    }
}

/// Tiles whose words have other numbers of rows, and which hold rows in place of columns.
#[test]
fn tiles_become_other_tiles_at_every_level() {
    // What loops of this order advance: tiles, rows by fours, by twos, by one, columns by fours, by one.
    let extents = [6, 2, 2, 2, 32, 4];
    let pairs = [1024, 512, 256, 1, 8, 2];
    let fours = [1024, 512, 2, 1, 16, 4];
    let turned = [1024, 4, 2, 1, 32, 8];
    let packed = SlotWidth::Bits(Bits::Four);
    for (from, src, to, dst) in [
        (HALF.0, SlotWidth::Bytes(2), S8.0, SlotWidth::Bytes(1)),
        (S8.0, SlotWidth::Bytes(1), HALF.0, SlotWidth::Bytes(2)),
        (HALF.0, SlotWidth::Bytes(2), F32.0, SlotWidth::Bytes(4)),
        (HALF.0, SlotWidth::Bytes(2), pairs::S4, packed),
        (pairs::S4, packed, HALF.0, SlotWidth::Bytes(2)),
    ] {
        let conversion = Conversion::new(from, to, Rules::default()).expect("a defined conversion");
        let (values, bytes) = (patterns(super::unit(src) as usize), bytes_of(6 * 1024, dst));
        for [first, second] in [[pairs, fours], [fours, pairs], [pairs, turned], [turned, fours]] {
            let loops: Vec<_> = (0..extents.len())
                .map(|i| Loop {
                    extent: extents[i],
                    src_stride: first[i] as isize * super::unit(src),
                    dst_stride: second[i] as isize * super::unit(dst),
                })
                .collect();
            let (scale, level) = (Scale::All(1.0), Level::Scalar);
            let converter = Converter { conversion, src, dst, scale, level, stream: false };
            let wanted = portable(&converter, &values, 0, &loops, bytes);
            for (level, stream) in levels().flat_map(|level| [false, true].map(|stream| (level, stream))) {
                let found = run(&Converter { level, stream, ..converter }, &values, 0, &loops, bytes, 64);
                assert!(found == placed(&wanted, 64), "{conversion:?} {loops:?} {level} {stream}");
            }
        }
    }
}

/// Rows so long that the factors of their columns do not stay in the cache, one behind the other and apart.
#[test]
fn long_rows_share_factors() {
    const ROWS: usize = 7;
    const COLUMNS: usize = 4160;
    let values: Vec<f32> = (0..COLUMNS).map(|i| (i as f32 - 2000.0) * 0.37).collect();
    let number = |n| NonZeroUsize::new(n).expect("strides are none of them zero");
    for ((from, src), (to, dst)) in [(F32, HALF), (HALF, F32), (F32, F8), (HALF, F8), (F32, S8), (S8, HALF)] {
        let conversion = Conversion::new(from, to, Rules { scale: true, ..Rules::default() });
        let conversion = conversion.expect("a defined conversion");
        for (gap, columns, start) in
            [(0, COLUMNS, 0), (0, COLUMNS, 64), (0, COLUMNS, 7), (64, COLUMNS, 0), (3, COLUMNS - 5, 0)]
        {
            let pitch = COLUMNS + gap;
            let digits = [StepDigit { stride: number(src), modulus: number(pitch * src), unit: 1 }];
            let scale = Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 });
            let of = |extent, step: usize| Loop {
                extent,
                src_stride: (step * src) as isize,
                dst_stride: (step * dst) as isize,
            };
            let loops = match gap {
                0 => vec![of(ROWS * columns, 1)],
                _ => vec![of(ROWS, pitch), of(columns, 1)],
            };
            let [src_width, dst_width] = [src, dst].map(SlotWidth::Bytes);
            let level = Level::Scalar;
            let converter =
                Converter { conversion, src: src_width, dst: dst_width, scale, level, stream: true };
            let bytes = patterns(src);
            let wanted = portable(&converter, &bytes, 0, &loops, ROWS * pitch * dst);
            for level in levels() {
                let found =
                    run(&Converter { level, ..converter }, &bytes, 0, &loops, ROWS * pitch * dst, start);
                assert!(found == placed(&wanted, start), "{conversion:?} {loops:?} {level}");
            }
        }
    }
}

/// Rows that start anywhere, also between elements, or inside of what has the same factor.
#[test]
fn rows_start_between_factors() {
    let values: Vec<f32> = (0..1 << 12).map(|i| i as f32 - 700.5).collect();
    let number = |n| NonZeroUsize::new(n).expect("strides are none of them zero");
    let digit = |stride, modulus, unit| StepDigit { stride: number(stride), modulus, unit };
    let of = |(extent, src_stride, dst_stride)| Loop { extent, src_stride, dst_stride };
    let halves = [(2, 258, 4096), (2, 0, 2048), (2, 2, 1024), (64, 4, 4)];
    let bytes = [(2, 2056, 8192), (4, 257, 2048), (4, 1, 512), (64, 4, 4)];
    let backwards = [(3, -6, 2048), (2, 12, 1024), (2, 2, 512), (64, 4, 4)];
    let cases: [(_, [_; 4], Vec<StepDigit>); 5] = [
        (HALF, halves, vec![digit(256, NonZeroUsize::MAX, 1)]),
        (HALF, halves, vec![digit(2, number(4), 1), digit(4096, NonZeroUsize::MAX, 2)]),
        (HALF, backwards, vec![digit(2, number(4), 1), digit(4096, NonZeroUsize::MAX, 2)]),
        (S8, bytes, vec![digit(1024, NonZeroUsize::MAX, 1)]),
        (S8, bytes, vec![digit(1, number(4), 1), digit(1028, NonZeroUsize::MAX, 4)]),
    ];
    for ((from, width), loops, digits) in cases {
        let rules = Rules { scale: true, ..Rules::default() };
        let conversion = Conversion::new(from, F32.0, rules).expect("a defined conversion");
        let (loops, src) = (loops.map(of), patterns(width));
        let scale = Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 });
        let [from, to] = [width, F32.1].map(SlotWidth::Bytes);
        let converter =
            Converter { conversion, src: from, dst: to, scale, level: Level::Scalar, stream: false };
        let wanted = portable(&converter, &src, 64, &loops, 1 << 15);
        for (level, stream) in levels().flat_map(|level| [false, true].map(|stream| (level, stream))) {
            let found = run(&Converter { level, stream, ..converter }, &src, 64, &loops, 1 << 15, 0);
            assert!(found == placed(&wanted, 0), "{conversion:?} {digits:?} {loops:?} {level} {stream}");
        }
    }
}

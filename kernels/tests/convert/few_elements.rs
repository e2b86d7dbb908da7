//! Nests of few elements, against their elements one at a time.

use relayout_kernels::{Bits, Conversion, Converter, Level, Loop, Nest, Offsets, Scale, SlotWidth};

use super::pairs::{conversions, rare_conversions};
use super::{levels, noise, run, strides, unit};

/// Extents around what counts as few, for elements of whole bytes and for slots that share them, and of what is done as one tile.
const EXTENTS: [[usize; 3]; 11] = [
    [1, 1, 1],
    [2, 2, 2],
    [4, 5, 7],
    [3, 1, 42],
    [2, 3, 21],
    [16, 4, 2],
    [2, 2, 64],
    [1, 16, 16],
    [4, 8, 8],
    [1, 16, 17],
    [3, 20, 17],
];

/// Places of the loops in the order of either side, the fastest last.
const ORDERS: [[[usize; 3]; 2]; 5] = [
    [[0, 1, 2], [0, 1, 2]],
    [[0, 1, 2], [2, 1, 0]],
    [[0, 1, 2], [0, 2, 1]],
    [[2, 0, 1], [1, 0, 2]],
    [[1, 2, 0], [1, 2, 0]],
];

/// Every element as a nest of its own.
fn one_by_one(converter: &Converter, src: &[u8], first: isize, loops: &[Loop; 3], bytes: usize) -> Vec<u8> {
    let mut dst = vec![0xa5; bytes + 128];
    let [a, b, c] = loops.map(|l| l.extent as isize);
    for (i, j, k) in (0..a).flat_map(|i| (0..b).flat_map(move |j| (0..c).map(move |k| (i, j, k)))) {
        let place = |stride: fn(&Loop) -> isize| {
            first + i * stride(&loops[0]) + j * stride(&loops[1]) + k * stride(&loops[2])
        };
        let (src_offset, dst_offset) = (place(|l| l.src_stride), place(|l| l.dst_stride));
        let one = Nest { src_offset, dst_offset, loops: &[] };
        converter.run(src, &mut dst[..bytes], one).expect("an element of the nest");
    }
    dst
}

#[test]
fn few_elements_are_as_each_of_them() {
    let src = noise();
    for (conversion, from, to) in conversions().into_iter().chain(rare_conversions()) {
        for (extents, [src_order, dst_order]) in
            EXTENTS.into_iter().flat_map(|extents| ORDERS.map(|orders| (extents, orders)))
        {
            for (gap, first) in [(0, 0), (1, 3), (5, 1)] {
                let src_strides = strides(extents, src_order, unit(from), gap);
                let dst_strides = strides(extents, dst_order, unit(to), gap);
                let loops = [0, 1, 2].map(|i| Loop {
                    extent: extents[i],
                    src_stride: src_strides[i],
                    dst_stride: dst_strides[i],
                });
                let reach: isize = loops.iter().map(|l| l.dst_stride * (l.extent as isize - 1)).sum();
                let bytes = reach as usize + 32;
                let scale = Scale::All(-0.37);
                let converter =
                    Converter { conversion, src: from, dst: to, scale, level: Level::Scalar, stream: false };
                let wanted = one_by_one(&converter, &src, first, &loops, bytes);
                for level in levels() {
                    let found = run(&Converter { level, ..converter }, &src, first, &loops, bytes, 0);
                    assert!(found == wanted, "{converter:?} {loops:?} {level} from {first}");
                }
            }
        }
    }
}

#[test]
fn wide_elements_need_more_room() {
    let src = noise();
    for bytes in [17, 24, 64] {
        for extent in [1, 7, 250, 300] {
            let wide = bytes as isize;
            let loops = [Loop { extent, src_stride: 2 * wide, dst_stride: 3 * wide }];
            let len = (3 * extent - 2) * bytes + 5;
            for level in levels() {
                let (conversion, slot) = (Conversion::identity(bytes), SlotWidth::Bytes(bytes));
                let scale = Scale::All(1.0);
                let converter = Converter { conversion, src: slot, dst: slot, scale, level, stream: false };
                let found = run(&converter, &src, 5, &loops, len, 0);
                let places = |step: isize| (0..extent as i64).map(|i| i * step as i64).collect::<Vec<_>>();
                let tables = [places(2 * wide), places(3 * wide)];
                let [from, to] = [0, 1].map(|side| Offsets { base: 5, outer: &[0], inner: &tables[side] });
                let mut by_tables = vec![0xa5; len + 128];
                converter.run_offsets(&src, &mut by_tables[..len], [from, to], None).expect("places inside");
                assert!(by_tables == found, "{extent} elements of {bytes} bytes by tables, {level}");
                let mut wanted = vec![0xa5; len + 128];
                for i in 0..extent {
                    let (from, to) = (5 + 2 * i * bytes, 5 + 3 * i * bytes);
                    wanted[to..to + bytes].copy_from_slice(&src[from..from + bytes]);
                }
                assert!(found == wanted, "{extent} elements of {bytes} bytes {level}");
            }
        }
    }
}

#[test]
fn wide_elements_do_not_share_bytes() {
    let (wide, bits) = (SlotWidth::Bytes(2), SlotWidth::Bits(Bits::Four));
    for (src, dst) in [(wide, bits), (bits, wide)] {
        let (conversion, level) = (Conversion::identity(2), Level::detect());
        let converter = Converter { conversion, src, dst, scale: Scale::All(1.0), level, stream: false };
        let one = Nest { src_offset: 0, dst_offset: 0, loops: &[] };
        let mut found = [0xa5; 8];
        converter.run(&[0; 8], &mut found, one).expect_err("a slot of half a byte for two bytes");
        let place = Offsets { base: 0, outer: &[0], inner: &[0] };
        converter.run_offsets(&[0; 8], &mut found, [place; 2], None).expect_err("the same by tables");
        assert_eq!(found, [0xa5; 8]);
    }
}

/// Elements of no power of two bytes, and of more than a line, transposed tile by tile.
#[test]
fn elements_of_any_width_are_transposed() {
    for bytes in [3, 12, 72, 200] {
        let (rows, columns, wide) = (40, 33, bytes as isize);
        let (row, column) = (33 * wide, 40 * wide);
        let loops = [
            Loop { extent: columns, src_stride: wide, dst_stride: column },
            Loop { extent: rows, src_stride: row, dst_stride: wide },
        ];
        let src: Vec<u8> = (0..rows * columns * bytes).map(|i| (i * 7 + i / 251) as u8).collect();
        let mut wanted = vec![0; src.len()];
        for (i, element) in src.chunks_exact(bytes).enumerate() {
            let to = (i % columns * rows + i / columns) * bytes;
            wanted[to..to + bytes].copy_from_slice(element);
        }
        for (level, stream) in levels().flat_map(|level| [(level, false), (level, true)]) {
            let (conversion, slot) = (Conversion::identity(bytes), SlotWidth::Bytes(bytes));
            let converter =
                Converter { conversion, src: slot, dst: slot, scale: Scale::All(1.0), level, stream };
            let mut found = vec![0xa5; src.len()];
            let nest = Nest { src_offset: 0, dst_offset: 0, loops: &loops };
            converter.run(&src, &mut found, nest).expect("a nest inside its slices");
            assert!(found == wanted, "{bytes} bytes {level} {stream}");
        }
    }
}

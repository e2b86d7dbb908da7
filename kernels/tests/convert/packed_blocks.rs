//! Transposes of slots that share bytes where what lies together on a side is more than one loop, or rows start inside bytes.

use relayout_kernels::{Bits, Conversion, Converter, Level, Loop, Nest, Scale, SlotWidth};

use super::{levels, noise, run_between, unit};

/// Extents, and the loops in the order of either side, the slowest first; how many slots are left out behind the steps of which loop of
/// the source, and of the destination.
pub(super) type Case = (&'static [usize], &'static [usize], &'static [usize], (usize, isize), (usize, isize));

/// From one loop on each side to chains of several, on both sides of what a block has room for; rows that follow one another, and
/// others; columns that start inside bytes, and others.
const CASES: [Case; 12] = [
    (&[131, 263], &[1, 0], &[0, 1], (0, 0), (1, 0)),
    (&[136, 264], &[1, 0], &[0, 1], (0, 5), (1, 3)),
    (&[2111, 129], &[1, 0], &[0, 1], (0, 3), (1, 0)),
    (&[129, 2077], &[1, 0], &[0, 1], (0, 0), (1, 1)),
    (&[4, 24, 33, 136], &[3, 0, 2, 1], &[0, 1, 2, 3], (2, 0), (0, 0)),
    (&[24, 6, 3, 57], &[3, 2, 1, 0], &[0, 1, 3, 2], (0, 0), (0, 0)),
    (&[24, 23, 3, 57], &[3, 2, 0, 1], &[1, 0, 3, 2], (3, 1), (1, 0)),
    (&[24, 23, 3, 57], &[2, 3, 1, 0], &[1, 0, 2, 3], (3, 0), (1, 7)),
    (&[16, 70, 8, 17], &[3, 2, 1, 0], &[1, 0, 3, 2], (2, 8), (1, 16)),
    (&[3, 200, 2, 136], &[3, 0, 2, 1], &[2, 1, 0, 3], (0, 0), (1, 0)),
    (&[200, 3, 136, 2], &[3, 2, 1, 0], &[1, 0, 3, 2], (1, 0), (2, 0)),
    (&[5, 152, 137], &[0, 2, 1], &[1, 0, 2], (2, 0), (2, 0)),
];

/// Strides of the loops in an order, dense but behind the steps of one.
fn strides(extents: &[usize], order: &[usize], (behind, gap): (usize, isize), unit: isize) -> Vec<isize> {
    let mut strides = vec![0; extents.len()];
    let mut span = unit;
    for &number in order.iter().rev() {
        strides[number] = span;
        span *= extents[number] as isize;
        if number == behind {
            span += gap * unit;
        }
    }
    strides
}

/// A case at every level: from the first slot, and from others, to a slot of destinations that start lines, and others, with a source
/// that ends with the byte of the last slot.
pub(super) fn check(src: &[u8], [from, to]: [SlotWidth; 2], case: Case, dst_first: isize) {
    let (extents, src_order, dst_order, src_gap, dst_gap) = case;
    let src_strides = strides(extents, src_order, src_gap, unit(from));
    let dst_strides = strides(extents, dst_order, dst_gap, unit(to));
    let of = |&i: &usize| Loop { extent: extents[i], src_stride: src_strides[i], dst_stride: dst_strides[i] };
    let loops: Vec<Loop> = dst_order.iter().map(of).collect();
    let reach = |stride: fn(&Loop) -> isize| -> isize {
        loops.iter().map(|l| stride(l) * (l.extent as isize - 1)).sum()
    };
    let per_byte = |width| match width {
        SlotWidth::Bits(bits) => 8 / bits as usize,
        SlotWidth::Bytes(_) => 1,
    };
    let bytes = (reach(|l| l.dst_stride) as usize).div_ceil(per_byte(to)) + 8;
    for (first, start, stream) in [(0, 64, true), (3, 5, true), (1, 63, false)] {
        let last = reach(|l| l.src_stride) + first;
        let src = src[..last as usize / per_byte(from) + 1].to_vec();
        let (conversion, level) = (Conversion::identity(1), Level::Scalar);
        let converter = Converter { conversion, src: from, dst: to, scale: Scale::All(1.0), level, stream };
        // The slowest loop of the destination may go backwards in the source.
        let mut backwards = loops.clone();
        backwards[0].src_stride *= -1;
        let end = first + loops[0].src_stride * (loops[0].extent as isize - 1);
        for (first, loops) in [(first, &loops), (end, &backwards)] {
            let found = |level, stream| {
                let converter = Converter { level, stream, ..converter };
                run_between(&converter, &src, [first, dst_first], loops, bytes, start)
            };
            let wanted = found(Level::Scalar, false);
            for level in levels() {
                assert!(
                    found(level, stream) == wanted,
                    "{from:?} to {to:?}, {loops:?} {level} from {first} at {start}"
                );
            }
        }
        let nest = Nest { src_offset: first, dst_offset: dst_first, loops: &loops };
        let short = converter.run(&src[..src.len() - 1], &mut vec![0; bytes], nest);
        assert!(short.is_err(), "a source without its last byte");
    }
}

#[test]
fn slots_are_transposed_under_any_loops() {
    let src = noise();
    for bits in [Bits::One, Bits::Two, Bits::Four] {
        let (packed, bytes) = (SlotWidth::Bits(bits), SlotWidth::Bytes(1));
        for sides in [[packed, packed], [packed, bytes], [bytes, packed]] {
            CASES.iter().for_each(|&case| check(&src, sides, case, 1));
        }
    }
}

/// Rows of which the whole bytes go straight to their lines: that follow one another, and others, in planes that start at other slots.
#[test]
fn long_rows_start_inside_bytes() {
    let src = noise();
    let cases: [Case; 3] = [
        (&[2, 131, 7430], &[0, 2, 1], &[0, 1, 2], (1, 0), (2, 1)),
        (&[129, 7431], &[1, 0], &[0, 1], (0, 1), (0, 0)),
        (&[539, 7297], &[1, 0], &[0, 1], (0, 0), (1, 0)),
    ];
    for case in cases {
        check(&src, [SlotWidth::Bits(Bits::Four); 2], case, 1);
    }
}

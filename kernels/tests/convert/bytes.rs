//! Bytes that become other bytes, with floats on a side: all of them, at every level, in every form that rows have, with a factor and
//! without.

use relayout_kernels::{
    Conversion, Converter, FloatFormat, Level, Loop, Number, Rules, Scale, SlotWidth, Specials,
};

use super::pairs::{FLOATS_OF_A_BYTE, S8, U8};
use super::{levels, placed, portable, run};

/// Enough for tables of all that they become.
const ELEMENTS: usize = 1 << 13;

/// From rows to rows, from four rows to one by turns, and from one to four.
fn forms(elements: usize) -> [Vec<Loop>; 3] {
    let quarter = elements / 4;
    let of = |extent, src_stride: usize, dst_stride: usize| Loop {
        extent,
        src_stride: src_stride as isize,
        dst_stride: dst_stride as isize,
    };
    [
        vec![of(elements, 1, 1)],
        vec![of(4, quarter, 1), of(quarter, 1, 4)],
        vec![of(4, 1, quarter), of(quarter, 4, 1)],
    ]
}

fn check(conversion: Conversion, scale: Scale<'_>) {
    let src: Vec<u8> = (0..ELEMENTS).map(|i| (i + i / 256) as u8).collect();
    let (width, level) = (SlotWidth::Bytes(1), Level::Scalar);
    let converter = Converter { conversion, src: width, dst: width, scale, level, stream: true };
    for elements in [ELEMENTS, ELEMENTS - 12] {
        for loops in forms(elements) {
            let wanted = portable(&converter, &src, 0, &loops, elements);
            for (level, start) in levels().flat_map(|level| [0, 61].map(|start| (level, start))) {
                let found = run(&Converter { level, ..converter }, &src, 0, &loops, elements, start);
                assert!(found == placed(&wanted, start), "{conversion:?} {scale:?} {loops:?} {level}");
            }
        }
    }
}

#[test]
fn bytes_become_others_at_every_level() {
    let powers =
        FloatFormat { exponent_bits: 8, mantissa_bits: 0, bias: 127, specials: Specials::PowersOfTwo };
    let floats: Vec<Number> = FLOATS_OF_A_BYTE.into_iter().chain([powers]).map(Number::Float).collect();
    let integers = [S8, U8];
    let pairs = |from: &[Number], to: &[Number]| -> Vec<[Number; 2]> {
        from.iter().flat_map(|&from| to.iter().map(move |&to| [from, to])).collect()
    };
    let all = [pairs(&floats, &floats), pairs(&floats, &integers), pairs(&integers, &floats)].concat();
    for [from, to] in all {
        for (factor, saturate_floats) in [(None, false), (None, true), (Some(-0.37), false)] {
            let rules = Rules { scale: factor.is_some(), saturate_floats, ..Rules::default() };
            let conversion = Conversion::new(from, to, rules).expect("a defined conversion");
            check(conversion, Scale::All(factor.unwrap_or(1.0)));
        }
    }
}

//! Floats of 16 bits that become floats of a byte: every pattern, at every level, in every form that rows have.

use relayout_kernels::{
    Conversion, Converter, FloatFormat, Level, Loop, Number, Rules, Scale, SlotWidth, Specials,
};

use super::pairs::{BF16, F16};
use super::{levels, placed, portable, run};

/// Loops over so many elements: from rows to rows, from four rows to one by turns, and from one to two.
fn forms(elements: isize) -> [Vec<Loop>; 3] {
    let of = |extent: isize, src_stride, dst_stride| Loop {
        extent: extent.unsigned_abs(),
        src_stride,
        dst_stride,
    };
    let (quarter, half) = (elements / 4, elements / 2);
    [
        vec![of(elements, 2, 1)],
        vec![of(4, 2 * quarter, 1), of(quarter, 2, 4)],
        vec![of(2, 2, half), of(half, 4, 1)],
    ]
}

#[test]
fn floats_of_16_bits_are_narrowed_at_every_level() {
    use Specials::{Ieee, NanIsNegativeZero, NanOnly};
    let src: Vec<u8> =
        (0..=u16::MAX).flat_map(|pattern| pattern.wrapping_mul(0x8101).to_le_bytes()).collect();
    let formats = [
        (4, 3, 7, Ieee),
        (4, 3, 7, NanOnly),
        (5, 2, 15, Ieee),
        (3, 4, 3, Ieee),
        (4, 3, 11, NanIsNegativeZero),
        (4, 3, 8, NanIsNegativeZero),
        (5, 2, 16, NanIsNegativeZero),
    ];
    let cases = formats.into_iter().flat_map(|format| {
        [BF16, F16].into_iter().flat_map(move |from| [false, true].map(|saturates| (format, from, saturates)))
    });
    for ((exponent_bits, mantissa_bits, bias, specials), from, saturate_floats) in cases {
        let to = FloatFormat { exponent_bits, mantissa_bits, bias, specials };
        let rules = Rules { saturate_floats, ..Rules::default() };
        let conversion = Conversion::new(Number::Float(from), Number::Float(to), rules);
        let converter = Converter {
            conversion: conversion.expect("a defined conversion"),
            src: SlotWidth::Bytes(2),
            dst: SlotWidth::Bytes(1),
            scale: Scale::All(1.0),
            level: Level::Scalar,
            stream: true,
        };
        for elements in [65_536, 65_536 - 12] {
            for loops in forms(elements) {
                let bytes = elements.unsigned_abs();
                let wanted = portable(&converter, &src, 0, &loops, bytes);
                for (level, start) in levels().flat_map(|level| [0, 61].map(|start| (level, start))) {
                    let found = run(&Converter { level, ..converter }, &src, 0, &loops, bytes, start);
                    assert!(
                        found == placed(&wanted, start),
                        "{from:?} to {to:?} {rules:?} {loops:?} {level}"
                    );
                }
            }
        }
    }
}

//! Floats that become floats of a byte: every pattern of 16 bits, and those of 32 about what is rounded, at every level, in every
//! form that rows have, with factors and without.

use core::num::NonZeroUsize;

use relayout_kernels::{
    Along, Conversion, Converter, FloatFormat, Level, Loop, Number, Rules, Scale, SlotWidth, StepDigit,
};

use super::pairs::{BF16, F16, FLOATS_OF_A_BYTE};
use super::{levels, placed, portable, run};

/// Elements of a source.
const ELEMENTS: usize = 1 << 16;

/// Loops over so many elements of a width: from rows to rows, from four rows to one by turns, and from one to two.
fn forms(elements: isize, width: isize) -> [Vec<Loop>; 3] {
    let of = |extent: isize, src_stride, dst_stride| Loop {
        extent: extent.unsigned_abs(),
        src_stride,
        dst_stride,
    };
    let (quarter, half) = (elements / 4, elements / 2);
    [
        vec![of(elements, width, 1)],
        vec![of(4, width * quarter, 1), of(quarter, width, 4)],
        vec![of(2, width, half), of(half, 2 * width, 1)],
    ]
}

/// All patterns of 16 bits, or the upper halves of words whose lower ones are zero, or not quite, or beside the middle.
pub(crate) fn patterns(width: usize) -> Vec<u8> {
    let lower = [0u16, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0];
    let pattern = |i: usize| {
        let upper = (i as u16).wrapping_mul(0x8101).to_le_bytes();
        let lower = lower[i % lower.len()].to_le_bytes();
        [lower[0], lower[1], upper[0], upper[1]]
    };
    (0..ELEMENTS).flat_map(|i| pattern(i).into_iter().skip(4 - width)).collect()
}

/// Formats of a byte, and whether what is too large becomes the greatest number.
fn results() -> impl Iterator<Item = (FloatFormat, bool)> {
    FLOATS_OF_A_BYTE.into_iter().flat_map(|format| [false, true].map(|saturates| (format, saturates)))
}

/// In every form, at every level, with rows that fill blocks and others.
fn check(conversion: Conversion, width: usize, scale: Scale<'_>) {
    let src = patterns(width);
    let (from, to, level) = (SlotWidth::Bytes(width), SlotWidth::Bytes(1), Level::Scalar);
    let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
    for elements in [ELEMENTS, ELEMENTS - 12] {
        for loops in forms(elements as isize, width as isize) {
            let wanted = portable(&converter, &src, 0, &loops, elements);
            for (level, start) in levels().flat_map(|level| [0, 61].map(|start| (level, start))) {
                let found = run(&Converter { level, ..converter }, &src, 0, &loops, elements, start);
                assert!(found == placed(&wanted, start), "{conversion:?} {scale:?} {loops:?} {level}");
            }
        }
    }
}

#[test]
fn floats_are_narrowed_to_a_byte_at_every_level() {
    for (to, saturate_floats) in results() {
        for (from, width) in [(BF16, 2), (F16, 2), (FloatFormat::F32, 4)] {
            let rules = Rules { saturate_floats, ..Rules::default() };
            let conversion = Conversion::new(Number::Float(from), Number::Float(to), rules);
            check(conversion.expect("a defined conversion"), width, Scale::All(1.0));
        }
    }
}

#[test]
fn floats_are_multiplied_before_they_are_narrowed() {
    let values = [-0.37, 3.0, 1e-30, -1e30, f32::INFINITY, 0.0, f32::NAN, 1.0];
    let values: Vec<f32> = values.into_iter().cycle().take(1 << 12).collect();
    let number = |n| NonZeroUsize::new(n).expect("strides are none of them zero");
    for (to, saturate_floats) in results().step_by(3) {
        for (from, width) in [(BF16, 2), (F16, 2), (FloatFormat::F32, 4)] {
            let rules = Rules { saturate_floats, scale: true, ..Rules::default() };
            let conversion = Conversion::new(Number::Float(from), Number::Float(to), rules);
            let conversion = conversion.expect("a defined conversion");
            check(conversion, width, Scale::All(-0.37));
            for stride in [width, 100 * width, ELEMENTS / 8 * width] {
                let (stride, modulus) = (number(stride), number(stride * values.len()));
                let digits = [StepDigit { stride, modulus, unit: 1 }];
                check(
                    conversion,
                    width,
                    Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 }),
                );
            }
        }
    }
}

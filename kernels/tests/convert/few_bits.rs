//! Elements of at most four bits, which are looked up.

use std::num::NonZeroUsize;

use relayout_kernels::{
    Along, Bits, Conversion, Converter, FloatFormat, Level, Loop, Number, Rules, Scale, SlotWidth, Specials,
    StepDigit,
};

use super::pairs::{BF16, F8, F16, S4, S8};
use super::{levels, noise, placed, portable, run};

/// Types of few bits in slots of a width.
fn sources() -> Vec<(Number, SlotWidth)> {
    use SlotWidth::{Bits as Packed, Bytes};
    let unsigned = |bits| Number::Integer { bits, signed: false };
    let f4 = FloatFormat { exponent_bits: 2, mantissa_bits: 1, bias: 1, specials: Specials::FiniteOnly };
    vec![
        (S4, Packed(Bits::Four)),
        (S4, Bytes(1)),
        (Number::Float(f4), Packed(Bits::Four)),
        (Number::Float(f4), Bytes(1)),
        (unsigned(2), Packed(Bits::Two)),
        (unsigned(1), Packed(Bits::One)),
        (Number::Truth, Packed(Bits::One)),
        (Number::Truth, Bytes(1)),
    ]
}

/// Digits by which the elements of a row find their factors: all the same, one for each row, each its own, one for so many.
fn digits(row: usize) -> [StepDigit; 4] {
    let number = |n| NonZeroUsize::new(n).expect("strides are not zero");
    let digit = |stride, modulus| StepDigit { stride: number(stride), modulus, unit: 1 };
    let never = NonZeroUsize::MAX;
    [digit(usize::MAX, never), digit(row, never), digit(1, number(row)), digit(100, never)]
}

/// Rows of so many elements, some of which start anywhere, at every level and in every way of writing.
fn check(src: &[u8], (conversion, from, to): (Conversion, SlotWidth, usize), scale: Scale<'_>, row: usize) {
    let loops = [
        Loop { extent: 3, src_stride: row as isize, dst_stride: ((row + 1) * to) as isize },
        Loop { extent: row, src_stride: 1, dst_stride: to as isize },
    ];
    let bytes = (3 * row + 8) * to;
    for (stream, first, start) in [(false, 0, 64), (true, 1, 64), (true, 4, 60), (false, 3, 63)] {
        let scale = match scale {
            Scale::Along(along) => Scale::Along(Along { first: -first, ..along }),
            all => all,
        };
        let (dst, level) = (SlotWidth::Bytes(to), Level::Scalar);
        let converter = Converter { conversion, src: from, dst, scale, level, stream };
        let wanted = placed(&portable(&converter, src, first, &loops, bytes), start);
        for level in levels() {
            let found = run(&Converter { level, ..converter }, src, first, &loops, bytes, start);
            assert!(found == wanted, "{converter:?} {loops:?} {level} from {first} at {start}");
        }
    }
}

#[test]
fn few_bits_are_looked_up_at_every_level() {
    let src = noise();
    let values: Vec<f32> = (0..2000).map(|i| (i as f32 - 700.0) * 0.37).collect();
    let floats = [FloatFormat::F32, BF16, F16, F8].map(Number::Float);
    for (from, width) in sources() {
        for to in floats.into_iter().chain([S8]) {
            for row in [64, 101, 128, 129, 250, 1100] {
                let of = |scale| {
                    let rules = Rules { scale, round_to_nearest: scale, ..Rules::default() };
                    let conversion = Conversion::new(from, to, rules).expect("a defined conversion");
                    (conversion, width, to.bytes())
                };
                check(&src, of(false), Scale::All(1.0), row);
                check(&src, of(true), Scale::All(-0.37), row);
                for digit in digits(row) {
                    let along = Along { values: &values, digits: &[digit], first: 0, start: 0 };
                    check(&src, of(true), Scale::Along(along), row);
                }
            }
        }
    }
}

//! Packed elements with factors of their own: rows, columns and tiles that become one another, and groups of a row with a factor each.

use std::num::NonZeroUsize;

use relayout_kernels::{
    Along, Bits, Conversion, FloatFormat, Loop, Number, Rules, Scale, SlotWidth, Specials, StepDigit,
};

use super::pairs::{BF16, S4, S8};
use super::{check_factors, unit};

/// How a matrix of rows and columns lies.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Rows,
    Columns,
    /// Tiles of 8 rows and 128 columns, so many rows of which make words.
    Tiles(usize),
}

/// Tiles of rows, words of a tile's rows, rows of a word, tiles of columns, columns of a tile: one loop for each.
const LOOPS: usize = 5;

#[derive(Clone, Copy)]
struct Matrix {
    /// Tiles of rows, and of columns.
    tiles: [usize; 2],
    /// Columns of a tile that have elements.
    lanes: usize,
}

impl Matrix {
    fn extents(self) -> [usize; LOOPS] {
        [self.tiles[0], 4, 2, self.tiles[1], self.lanes]
    }

    /// From one step of each loop to the next, in slots.
    fn strides(self, layout: Layout) -> [usize; LOOPS] {
        let [rows, columns] = [8 * self.tiles[0], 128 * self.tiles[1]];
        match layout {
            Layout::Rows => [8 * columns, 2 * columns, columns, 128, 1],
            Layout::Columns => [8, 2, 1, 128 * rows, rows],
            Layout::Tiles(8) => [8 * columns, 2, 1, 1024, 8],
            Layout::Tiles(_) => [8 * columns, 256, 1, 1024, 2],
        }
    }

    /// The digits of the rows, or the columns.
    fn digits(self, layout: Layout, of_rows: bool, unit: usize) -> Vec<StepDigit> {
        let [rows, columns] = [8 * self.tiles[0], 128 * self.tiles[1]];
        let of = |digits: &[[usize; 3]]| {
            let number = |n: usize| NonZeroUsize::new(n.saturating_mul(unit)).expect("digits have strides");
            let digit = |&[stride, modulus, unit]: &[usize; 3]| StepDigit {
                stride: number(stride),
                modulus: number(modulus),
                unit,
            };
            digits.iter().map(digit).collect()
        };
        let never = usize::MAX;
        match (layout, of_rows) {
            (Layout::Rows, true) => of(&[[columns, never, 1]]),
            (Layout::Rows, false) => of(&[[1, columns, 1]]),
            (Layout::Columns, true) => of(&[[1, rows, 1]]),
            (Layout::Columns, false) => of(&[[rows, never, 1]]),
            (Layout::Tiles(8), true) => of(&[[1, 8, 1], [8 * columns, never, 8]]),
            (Layout::Tiles(8), false) => of(&[[8, 1024, 1], [1024, 8 * columns, 128]]),
            (Layout::Tiles(_), true) => of(&[[1, 2, 1], [256, 1024, 2], [8 * columns, never, 8]]),
            (Layout::Tiles(_), false) => of(&[[2, 256, 1], [1024, 8 * columns, 128]]),
        }
    }
}

fn source() -> Vec<u8> {
    (0..1u32 << 16).map(|i| (i.wrapping_mul(2_654_435_761) >> 9) as u8).collect()
}

fn factors() -> Vec<f32> {
    (0..4000).map(|i| (i as f32 - 1300.0) * 0.37).collect()
}

fn scaled(from: Number, to: Number) -> Conversion {
    let rules = Rules { scale: true, round_to_nearest: true, ..Rules::default() };
    Conversion::new(from, to, rules).expect("a defined conversion")
}

#[test]
fn packed_matrices_find_their_factors() {
    use SlotWidth::{Bits as Packed, Bytes};
    let f4 = FloatFormat { exponent_bits: 2, mantissa_bits: 1, bias: 1, specials: Specials::FiniteOnly };
    let (two, bf16) = (Number::Integer { bits: 2, signed: false }, Number::Float(BF16));
    let pairs = [
        (S4, Packed(Bits::Four), bf16, Bytes(2)),
        (two, Packed(Bits::Two), Number::Float(FloatFormat::F32), Bytes(4)),
        (Number::Float(f4), Packed(Bits::Four), bf16, Bytes(2)),
        (S4, Bytes(1), bf16, Bytes(2)),
        (bf16, Bytes(2), S4, Packed(Bits::Four)),
        (S8, Bytes(1), S4, Packed(Bits::Four)),
        (S4, Packed(Bits::Four), two, Packed(Bits::Two)),
    ];
    let (src, values) = (source(), factors());
    let layouts = [Layout::Rows, Layout::Columns, Layout::Tiles(8), Layout::Tiles(2)];
    for matrix in [Matrix { tiles: [3, 2], lanes: 128 }, Matrix { tiles: [5, 2], lanes: 100 }] {
        for (from, src_width, to, dst_width) in pairs {
            for (a, b) in layouts.iter().flat_map(|&a| layouts.iter().map(move |&b| (a, b))) {
                let [src_unit, dst_unit] = [src_width, dst_width].map(unit);
                let (src_strides, dst_strides) = (matrix.strides(a), matrix.strides(b));
                let of = |i: usize| Loop {
                    extent: matrix.extents()[i],
                    src_stride: src_strides[i] as isize * src_unit,
                    dst_stride: dst_strides[i] as isize * dst_unit,
                };
                let loops: [Loop; LOOPS] = std::array::from_fn(of);
                for of_rows in [true, false] {
                    let digits = matrix.digits(a, of_rows, src_unit.unsigned_abs());
                    let along = Along { values: &values, digits: &digits, first: 0, start: 0 };
                    check_factors(
                        (scaled(from, to), src_width, dst_width),
                        &src,
                        &loops,
                        Scale::Along(along),
                    );
                }
            }
        }
    }
}

/// Rows of one behind the other groups, of which each has its factor.
#[test]
fn groups_of_a_row_find_their_factors() {
    use SlotWidth::{Bits as Packed, Bytes};
    let (src, values) = (source(), factors());
    let types = [
        (S4, Packed(Bits::Four)),
        (S4, Bytes(1)),
        (S8, Bytes(1)),
        (Number::Float(FloatFormat::F32), Bytes(4)),
    ];
    for (from, width) in types {
        for group in [32, 64, 100, 128, 192] {
            let unit = unit(width).unsigned_abs();
            let loops = [Loop { extent: 40 * group + 17, src_stride: unit as isize, dst_stride: 2 }];
            for modulus in [usize::MAX, 20 * group * unit] {
                let number = |n| NonZeroUsize::new(n).expect("groups have elements");
                let digit = StepDigit { stride: number(group * unit), modulus: number(modulus), unit: 1 };
                let along = Along { values: &values, digits: &[digit], first: 0, start: 0 };
                let conversion = (scaled(from, Number::Float(BF16)), width, Bytes(2));
                check_factors(conversion, &src, &loops, Scale::Along(along));
            }
        }
    }
}

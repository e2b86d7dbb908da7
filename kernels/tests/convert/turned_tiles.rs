//! Tiles that become tiles of columns, for every pair of types: words of either side hold elements of several rows.

use core::num::NonZeroUsize;

use relayout_kernels::{Along, Converter, Level, Loop, Scale, SlotWidth, StepDigit};

use super::halves::patterns;
use super::pairs::{conversions, rare_conversions, scaled_conversions};
use super::{levels, placed, portable, run};

/// Rows and columns of a tile, and elements.
const TILE: [usize; 3] = [8, 128, 1024];

/// Tiles beside each other, and as many below as have the rows of one of columns.
const BESIDE: usize = 2;
const BELOW: usize = TILE[1] / TILE[0];

/// Loops over words of the rows, and of the columns of tiles whose words have so many rows, in elements.
fn loops([src_turns, dst_turns]: [usize; 2], [src_unit, dst_unit]: [usize; 2]) -> Vec<Loop> {
    let [rows, columns, tile] = TILE;
    let row = [
        (BELOW, BESIDE * tile, rows * dst_turns),
        (rows / src_turns, columns * src_turns, src_turns * dst_turns),
        (src_turns, 1, dst_turns),
    ];
    let column = [
        (BESIDE, tile, BELOW * tile),
        (BELOW, rows * src_turns, tile),
        (rows / dst_turns, src_turns * dst_turns, columns * dst_turns),
        (dst_turns, src_turns, 1),
    ];
    let all = row.into_iter().chain(column).filter(|(extent, ..)| *extent > 1);
    all.map(|(extent, src, dst)| Loop {
        extent,
        src_stride: (src * src_unit) as isize,
        dst_stride: (dst * dst_unit) as isize,
    })
    .collect()
}

#[test]
fn tiles_become_tiles_of_columns_at_every_level() {
    let values: Vec<f32> = (0..BESIDE * TILE[1]).map(|i| (i as f32 - 99.0) * 0.37).collect();
    let number = |n| NonZeroUsize::new(n).expect("strides are none of them zero");
    let all = conversions().into_iter().chain(rare_conversions()).chain(scaled_conversions());
    for (conversion, from, to) in all {
        let (SlotWidth::Bytes(src_unit @ ..=4), SlotWidth::Bytes(dst_unit @ ..=4)) = (from, to) else {
            continue;
        };
        let turns = [4 / src_unit, 4 / dst_unit];
        let loops = loops(turns, [src_unit, dst_unit]);
        let columns = [(turns[0], TILE[1] * turns[0], 1), (TILE[2], BESIDE * TILE[2], TILE[1])];
        let digits = columns.map(|(stride, modulus, unit)| StepDigit {
            stride: number(stride * src_unit),
            modulus: number(modulus * src_unit),
            unit,
        });
        let src = patterns(src_unit);
        let bytes = BESIDE * BELOW * TILE[2] * dst_unit;
        let of_columns = Scale::Along(Along { values: &values, digits: &digits, first: 0, start: 0 });
        for scale in [Scale::All(-0.37), of_columns] {
            let level = Level::Scalar;
            let converter = Converter { conversion, src: from, dst: to, scale, level, stream: false };
            let wanted = portable(&converter, &src, 0, &loops, bytes);
            for level in levels() {
                for (stream, start) in [(false, 64), (true, 64), (true, 5), (true, 36)] {
                    let found = run(&Converter { level, stream, ..converter }, &src, 0, &loops, bytes, start);
                    assert!(
                        found == placed(&wanted, start),
                        "{conversion:?} {scale:?} {level} {stream} {start}"
                    );
                }
            }
        }
    }
}

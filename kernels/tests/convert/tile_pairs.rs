//! Tiles with two rows to a word that become tiles with four, and the reverse: every pair of types of one and two bytes.

use core::num::NonZeroUsize;

use relayout_kernels::{Along, Conversion, Converter, Level, Loop, Scale, SlotWidth, StepDigit};

use super::halves::patterns;
use super::pairs::{conversions, rare_conversions, scaled_conversions};
use super::{levels, placed, portable, run};

/// Tiles, halves of one, and the two rows of either half that make up words of four with the others.
const TILES: usize = 3;

/// Places of elements, in elements: of tiles, halves of them, both rows of pairs, elements of a pair, and columns.
type Strides = [usize; 5];

const PAIRS: Strides = [1024, 512, 256, 1, 2];
const FOURS: Strides = [1024, 512, 2, 1, 4];

/// At every level, in the cache and past it, where lines start and elsewhere.
fn check(
    (conversion, src_width, dst_width): (Conversion, SlotWidth, SlotWidth),
    loops: &[Loop],
    scale: Scale<'_>,
) {
    let src = patterns(super::unit(src_width) as usize);
    let bytes = TILES * 1024 * super::unit(dst_width) as usize;
    let converter =
        Converter { conversion, src: src_width, dst: dst_width, scale, level: Level::Scalar, stream: false };
    let wanted = portable(&converter, &src, 0, loops, bytes);
    for level in levels() {
        for (stream, start) in [(false, 64), (false, 61), (true, 64), (true, 34)] {
            let found = run(&Converter { level, stream, ..converter }, &src, 0, loops, bytes, start);
            assert!(found == placed(&wanted, start), "{conversion:?} {scale:?} {loops:?} {level} {stream}");
        }
    }
}

#[test]
fn tiles_of_pairs_and_of_fours_become_each_other_at_every_level() {
    let values = [1.0, -0.37, 3.0, 1e-30, 2.0, -1e30, 1e-42, f32::INFINITY, 0.5, 0.0, f32::NAN];
    let values: Vec<f32> = values.into_iter().cycle().take(128).collect();
    let number = |n| NonZeroUsize::new(n).expect("strides are none of them zero");
    let mut kinds = 0;
    let all = conversions().into_iter().chain(rare_conversions()).chain(scaled_conversions());
    for converted @ (_, from, to) in all {
        let (src, dst) = match (from, to) {
            (SlotWidth::Bytes(2), SlotWidth::Bytes(1)) => (PAIRS, FOURS),
            (SlotWidth::Bytes(1), SlotWidth::Bytes(2)) => (FOURS, PAIRS),
            _ => continue,
        };
        kinds += 1;
        let [src_unit, dst_unit] = [from, to].map(|width| super::unit(width) as usize);
        let digit = |stride: usize, modulus: usize, unit| StepDigit {
            stride: number(stride * src_unit),
            modulus: number(modulus * src_unit),
            unit,
        };
        let rows = [digit(1024, usize::MAX / src_unit, 8), digit(512, 1024, 4)];
        let of_tile = match src {
            PAIRS => vec![digit(256, 512, 2), digit(1, 2, 1)],
            _ => vec![digit(1, 4, 1)],
        };
        let rows: Vec<_> = rows.into_iter().chain(of_tile).collect();
        let columns = [digit(src[4], if src == PAIRS { 256 } else { 512 }, 1)];
        let of = |i: usize, extent| Loop {
            extent,
            src_stride: (src[i] * src_unit) as isize,
            dst_stride: (dst[i] * dst_unit) as isize,
        };
        for extent in [128, 100, 64, 48] {
            // Tiles and their halves, and all halves, of all tiles or without the last, as one loop.
            let inner = [of(2, 2), of(3, 2), of(4, extent)];
            for outer in [&[of(0, TILES), of(1, 2)][..], &[of(1, 2 * TILES)], &[of(1, 2 * TILES - 1)]] {
                let loops = [outer, &inner].concat();
                check(converted, &loops, Scale::All(3.0));
                // Conversions without a scale have no factors, whatever is told. Rows have theirs in each tile, or in all of them.
                for digits in [&rows[..], &rows[1..], &columns[..]] {
                    let along = Along { values: &values, digits, first: 0, start: 0 };
                    check(converted, &loops, Scale::Along(along));
                }
            }
        }
    }
    assert!(kinds >= 12, "{kinds} pairs of types have one and two bytes");
}

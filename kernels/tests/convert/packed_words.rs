//! Words of slots that share bytes, which become words of as many others: as tiles have that weave eight rows of half bytes.

use relayout_kernels::{Bits, SlotWidth};

use super::noise;
use super::packed_blocks::{Case, check};

/// Words that follow one another on both sides: as a plane, as planes of several loops, a single row of them, with gaps of whole bytes
/// and of half ones.
const UNITS: [Case; 6] = [
    (&[18, 8, 35, 8], &[0, 2, 3, 1], &[2, 0, 1, 3], (0, 0), (0, 0)),
    (&[64, 8, 70, 8], &[0, 2, 3, 1], &[2, 0, 1, 3], (2, 4), (0, 2)),
    (&[5, 3, 8, 4, 9, 8], &[0, 3, 1, 4, 5, 2], &[3, 4, 0, 1, 2, 5], (0, 0), (4, 0)),
    (&[3, 8, 5, 8], &[2, 0, 3, 1], &[2, 0, 1, 3], (0, 2), (2, 0)),
    (&[18, 8, 35, 8], &[0, 2, 3, 1], &[2, 0, 1, 3], (2, 3), (0, 0)),
    (&[18, 8, 35, 8], &[0, 2, 3, 1], &[2, 0, 1, 3], (0, 0), (0, 1)),
];

/// Words whose slots are those of rows elsewhere: rows of whole lines, and of others, with gaps of whole bytes and of half ones.
const ROWS: [Case; 6] = [
    (&[5, 8, 3, 8, 32], &[0, 1, 2, 4, 3], &[2, 3, 0, 4, 1], (0, 0), (0, 0)),
    (&[5, 8, 3, 8, 37], &[0, 1, 2, 4, 3], &[2, 3, 0, 4, 1], (2, 2), (0, 4)),
    (&[4, 8, 3, 8, 16], &[0, 2, 1, 4, 3], &[0, 2, 3, 4, 1], (1, 128), (3, 128)),
    (&[2, 8, 2, 8, 128], &[0, 1, 2, 4, 3], &[2, 3, 0, 4, 1], (0, 0), (0, 0)),
    (&[5, 8, 3, 8, 32], &[0, 1, 2, 4, 3], &[2, 3, 0, 4, 1], (2, 1), (0, 0)),
    (&[5, 8, 3, 8, 15], &[0, 1, 2, 4, 3], &[2, 3, 0, 4, 1], (0, 0), (0, 0)),
];

#[test]
fn words_become_words_of_others() {
    let src = noise();
    for bits in [Bits::One, Bits::Two, Bits::Four] {
        let sides = [SlotWidth::Bits(bits); 2];
        for first in 0..3 {
            UNITS.iter().chain(&ROWS).for_each(|&case| check(&src, sides, case, first));
        }
    }
}

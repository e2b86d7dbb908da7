//! Rows of pieces and what is behind their last pieces, moved together, at every level of this machine: against a plain loop,
//! with sentinels around and between.

mod nests;

use nests::{Case, check, check_rows, loops};
use relayout_kernels::{Family, Level, Loop, Mover, Nest};

/// A case with the loops that a planner makes for `tiles` rows of tiles, each of `pieces` tiles of `groups` groups of `ways`
/// rows, which have so many elements and `gap` bytes behind them.
fn ragged(element: usize, ways: usize, [tiles, pieces, groups]: [usize; 3], rest: usize, gap: usize) -> Case {
    let (group, row) = (ways * 128 * element, (pieces * 128 + rest) * element + gap);
    let extents = [tiles, pieces, groups, ways, 128];
    let src = [(pieces + 1) * groups * group, groups * group, group, element, ways * element];
    let dst = [groups * ways * row, 128 * element, ways * row, row, element];
    let mut loops = loops(&extents, &src.map(|s| s as isize), &dst.map(|s| s as isize));
    if ways == 1 {
        loops.remove(3);
    }
    Case { family: if ways == 1 { Family::Rows } else { Family::Deinterleave }, element, loops }
}

/// True where the machine has a level that writes past the cache.
fn streams() -> bool {
    [Level::Avx2, Level::Avx512].iter().any(|level| level.is_available())
}

#[test]
fn ragged_tiles() {
    for (element, ways, groups) in
        [(4, 1, 8), (16, 1, 2), (2, 2, 4), (1, 4, 2), (1, 8, 1), (8, 2, 2), (1, 3, 3)]
    {
        for (tiles, pieces) in [(1, 2), (3, 1), (2, 5)] {
            for rest in [1, 2, 17, 36, 64, 127] {
                for gap in [0, 1, 64] {
                    let case = ragged(element, ways, [tiles, pieces, groups], rest, gap);
                    assert_eq!(check_rows(&case, 1, rest), streams(), "{case:?}, {rest}");
                }
            }
        }
    }
}

/// With the loop over the pieces inside of that over the rows; rows that start lines are not for it.
#[test]
fn ragged_rows() {
    for (rest, gap) in [(36, 0), (36, 5), (64, 0)] {
        let mut case = ragged(2, 1, [3, 4, 8], rest, gap);
        case.loops.swap(1, 2);
        assert_eq!(check_rows(&case, 2, rest), streams(), "{case:?}, {rest}");
        check(&case);
    }
}

/// Rows that lie in another order than they are taken, with gaps or without.
#[test]
fn ragged_rows_in_any_order() {
    let case = ragged(2, 2, [3, 2, 4], 36, 0);
    let row = (2 * 128 + 36) * 2;
    for strides in [[8 * row, row, 4 * row], [2 * row, 6 * row, row], [8 * row + 9, 2 * row, row]] {
        let mut case = case.clone();
        for (position, stride) in [0, 2, 3].into_iter().zip(strides) {
            case.loops[position].dst_stride = stride;
        }
        assert_eq!(check_rows(&case, 1, 36), streams(), "{case:?}");
    }
}

#[test]
fn what_is_no_rest_of_the_rows_is_not_moved() {
    let a_loop = |extent, src_stride, dst_stride| Loop { extent, src_stride, dst_stride };
    let loops = [a_loop(2, 1024, 256), a_loop(3, 256, 517), a_loop(256, 1, 1)];
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &loops };
    let (src, mut dst) = ([3; 4096], [0; 2048]);
    let mover = Mover { family: Family::Rows, element_bytes: 1, level: Level::detect(), stream: true };
    let rest = |src_offset, dst_offset, rows, gap: isize, bytes| {
        let loops = [a_loop(rows, 256 + gap, 517), a_loop(bytes, 1, 1)];
        (src_offset, dst_offset, loops)
    };
    for (src_offset, dst_offset, loops) in [
        rest(2047, 512, 3, 0, 5),   // begins elsewhere in the source
        rest(2048, 513, 3, 0, 4),   // begins elsewhere in the destination
        rest(2048, 512, 2, 0, 5),   // of fewer rows
        rest(2048, 512, 3, 1, 5),   // of other rows
        rest(2048, 512, 3, 0, 256), // no shorter than a piece
        rest(2048, 512, 3, 0, 0),   // nothing
    ] {
        let rest = Nest { src_offset, dst_offset, loops: &loops };
        assert_eq!(mover.run_rows(&src, &mut dst, nest, rest), Ok(false), "{rest:?}");
    }
    assert_eq!(dst, [0; 2048]);
}

#[test]
fn rests_outside_of_their_slices_are_not_moved() {
    let case = ragged(2, 2, [2, 2, 2], 36, 0);
    let (nest, mut rest) = (case.loops.clone(), case.loops.clone());
    let next = rest.remove(1);
    rest[3].extent = 36;
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &nest };
    let (src_offset, dst_offset) = (2 * next.src_stride, 2 * next.dst_stride);
    let rest = Nest { src_offset, dst_offset, loops: &rest };
    let (src, mut dst) = (vec![1; 2 * 3 * 1024 - (128 - 36) * 4], vec![0; 8 * 584]);
    let mover = Mover { family: case.family, element_bytes: 2, level: Level::detect(), stream: true };
    let len = src.len();
    assert!(mover.run_rows(&src[..len - 1], &mut dst, nest, rest).is_err());
    assert!(mover.run_rows(&src, &mut dst[1..], nest, rest).is_err());
    assert!(dst.iter().all(|&byte| byte == 0));
    assert_eq!(mover.run_rows(&src, &mut dst, nest, rest), Ok(streams()));
}

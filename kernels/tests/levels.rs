//! Every family at every level of this machine against the plain strided copy: all widths, ragged extents, misaligned
//! buffers, streamed and not, with sentinels around and between.

use relayout_kernels::{Family, Level, Loop, Mover, Nest, copy_nest};

/// A nest and what it needs.
struct Case {
    family: Family,
    element: usize,
    loops: Vec<Loop>,
}

fn dense(extents: &[usize], order: &[usize], element: usize, gap: usize) -> Vec<isize> {
    let mut strides = vec![0; extents.len()];
    let mut stride = element;
    for (position, &i) in order.iter().rev().enumerate() {
        strides[i] = stride as isize;
        stride *= extents[i];
        if position == 0 {
            stride += gap * element;
        }
    }
    strides
}

fn loops(extents: &[usize], src: &[isize], dst: &[isize]) -> Vec<Loop> {
    let zipped = extents.iter().zip(src.iter().zip(dst));
    zipped.map(|(&extent, (&src_stride, &dst_stride))| Loop { extent, src_stride, dst_stride }).collect()
}

fn levels() -> Vec<Level> {
    Level::ALL.into_iter().filter(|level| level.is_available()).collect()
}

/// Bytes from the lowest to the end of the highest element, all strides being positive.
fn span(loops: &[Loop], stride: fn(&Loop) -> isize, element: usize) -> usize {
    loops.iter().map(|l| (l.extent - 1) * stride(l).unsigned_abs()).sum::<usize>() + element
}

fn check(case: &Case) {
    let src_len = span(&case.loops, |l| l.src_stride, case.element);
    let dst_len = span(&case.loops, |l| l.dst_stride, case.element);
    let src: Vec<u8> = (0..src_len + 64).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect();
    for (src_offset, dst_offset) in [(0, 0), (1, 3), (5, 64), (32, 17)] {
        let nest = Nest { src_offset, dst_offset, loops: &case.loops };
        let mut wanted = vec![0xa5u8; dst_len + 160];
        copy_nest(&src, &mut wanted, nest, case.element).unwrap();
        for level in levels() {
            for stream in [false, true] {
                let mover = Mover { family: case.family, element_bytes: case.element, level, stream };
                let mut got = vec![0xa5u8; dst_len + 160];
                mover.run(&src, &mut got, nest).unwrap();
                assert!(got == wanted, "{mover:?} from {src_offset} to {dst_offset}: {:?}", case.loops);
            }
        }
    }
}

const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

#[test]
fn rows() {
    for element in WIDTHS {
        for extent in [1, 2, 3, 7, 8, 15, 16, 17, 33, 63, 64, 65, 127, 200, 700] {
            let extents = [3, extent];
            let src = dense(&extents, &[0, 1], element, 5);
            let dst = dense(&extents, &[0, 1], element, 2);
            check(&Case { family: Family::Rows, element, loops: loops(&extents, &src, &dst) });
        }
    }
}

#[test]
fn transposes() {
    let sizes = [1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65, 100, 257];
    for element in WIDTHS {
        for (i, &rows) in sizes.iter().enumerate() {
            for &columns in sizes.iter().skip(i % 2).step_by(2) {
                for gap in [0, 3] {
                    let extents = [2, rows, columns];
                    let src = dense(&extents, &[0, 2, 1], element, gap);
                    let dst = dense(&extents, &[0, 1, 2], element, gap);
                    check(&Case { family: Family::Transpose, element, loops: loops(&extents, &src, &dst) });
                }
            }
        }
    }
}

#[test]
fn interleaves_and_deinterleaves() {
    for element in [1, 2, 4, 8] {
        for ways in 2..=8 {
            for along in [1, 4, 8, 15, 16, 17, 32, 33, 64, 65, 128, 131, 300] {
                // Outer, along, across: rows of `along` elements become a stream of groups of `ways`.
                let extents = [3, along, ways];
                let apart = dense(&extents, &[0, 2, 1], element, 0);
                let mixed = dense(&extents, &[0, 1, 2], element, 0);
                let case =
                    Case { family: Family::Interleave, element, loops: loops(&extents, &apart, &mixed) };
                check(&case);
                let extents = [3, ways, along];
                let apart = dense(&extents, &[0, 1, 2], element, 0);
                let mixed = dense(&extents, &[0, 2, 1], element, 0);
                let case =
                    Case { family: Family::Deinterleave, element, loops: loops(&extents, &mixed, &apart) };
                check(&case);
            }
        }
    }
}

/// The tile T(8,128)(2,1) of 16-bit elements and its kin, with the loops that a planner makes, in both directions.
#[test]
fn tiles() {
    for (element, ways, rows) in [(2, 2, 8), (1, 4, 8), (2, 2, 2), (4, 1, 8)] {
        for columns in [1, 2, 3] {
            let extents = [2, columns, rows / ways, 128, ways];
            let row = (columns * 128 * element) as isize;
            let plain =
                [rows as isize * row, 128 * element as isize, ways as isize * row, element as isize, row];
            let tiled = dense(&extents, &[0, 1, 2, 3, 4], element, 0);
            let family = if ways == 1 { Family::Rows } else { Family::Interleave };
            let mut into = loops(&extents, &plain, &tiled);
            into.retain(|l| l.extent > 1);
            check(&Case { family, element, loops: into });
            let family = if ways == 1 { Family::Rows } else { Family::Deinterleave };
            let mut back = loops(&extents, &tiled, &plain);
            back.swap(3, 4);
            back.retain(|l| l.extent > 1);
            check(&Case { family, element, loops: back });
        }
    }
}

/// Loops that a family does not want are moved all the same.
#[test]
fn any_family_moves_any_nest() {
    let families =
        [Family::Rows, Family::Transpose, Family::Interleave, Family::Deinterleave, Family::Strided];
    let extents = [2, 3, 4, 5];
    for family in families {
        for element in [1, 2, 3, 4, 8, 12, 16] {
            for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
                let src = dense(&extents, &order, element, 1);
                let dst = dense(&extents, &[0, 1, 2, 3], element, 0);
                check(&Case { family, element, loops: loops(&extents, &src, &dst) });
            }
        }
    }
}

#[test]
fn more_loops_than_are_walked_flat() {
    let extents = [2; 15];
    let mut order: Vec<usize> = (0..15).collect();
    order.rotate_left(4);
    let src = dense(&extents, &order, 1, 0);
    let dst = dense(&extents, &(0..15).collect::<Vec<_>>(), 1, 0);
    check(&Case { family: Family::Strided, element: 1, loops: loops(&extents, &src, &dst) });
    check(&Case { family: Family::Interleave, element: 1, loops: loops(&extents, &src, &dst) });
}

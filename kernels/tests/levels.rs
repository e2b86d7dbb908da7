//! Every family at every level of this machine against a plain loop: all widths, ragged extents, misaligned buffers,
//! streamed and not, with sentinels around and between.

mod nests;

use nests::{Case, check, dense, loops};
use proptest::prelude::*;
use relayout_kernels::Family;

const WIDTHS: [usize; 5] = [1, 2, 4, 8, 16];

const FAMILIES: [Family; 5] =
    [Family::Rows, Family::Transpose, Family::Interleave, Family::Deinterleave, Family::Strided];

#[test]
fn rows() {
    for element in WIDTHS {
        for extent in [1, 2, 3, 7, 8, 15, 16, 17, 33, 63, 64, 65, 127, 200, 700, 2500] {
            let extents = [3, extent];
            let src = dense(&extents, &[0, 1], element, 5 * element);
            let dst = dense(&extents, &[0, 1], element, 2 * element);
            check(&Case { family: Family::Rows, element, loops: loops(&extents, &src, &dst) });
        }
    }
}

/// Rows whose pieces come from tiles, with the loop over the pieces outside and inside of that over the rows.
#[test]
fn rows_of_pieces() {
    for piece in [16, 48, 64, 128, 192, 512] {
        for (rows, pieces) in [(1, 5), (8, 3), (5, 1), (130, 2)] {
            for gap in [0, 1, 37, 64] {
                let (piece, row) = (piece as isize, piece as isize * pieces as isize + gap);
                let extents = [2, pieces, rows, piece as usize];
                let src = dense(&extents, &[0, 1, 2, 3], 1, 0);
                let dst = [row * rows as isize, piece, row, 1];
                let outside = loops(&extents, &src, &dst);
                let mut inside = outside.clone();
                inside.swap(1, 2);
                for loops in [outside, inside] {
                    check(&Case { family: Family::Rows, element: 1, loops });
                }
            }
        }
    }
}

#[test]
fn transposes() {
    let sizes = [1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 64, 65, 100, 257];
    for element in WIDTHS {
        for (i, &rows) in sizes.iter().enumerate() {
            for &columns in sizes.iter().skip(i % 3).step_by(3) {
                for gap in [0, 3 * element] {
                    let extents = [2, rows, columns];
                    let src = dense(&extents, &[0, 2, 1], element, gap);
                    let dst = dense(&extents, &[0, 1, 2], element, gap);
                    check(&Case { family: Family::Transpose, element, loops: loops(&extents, &src, &dst) });
                }
            }
        }
    }
}

/// Destination rows that start lines, all of them or only with the first; columns a power of two apart, or backwards.
#[test]
fn transposes_of_lines() {
    for element in WIDTHS {
        let line = 64 / element;
        for rows in [line, line + 1, 2 * line, 3 * line - 1] {
            for columns in [2 * line, 2 * line + 1, 4 * line + 5, 300] {
                for (column_step, dst_gap) in [(4096, 0), (2048, 1), (-4160, 0), (4099, 40)] {
                    let row = ((columns * element).next_multiple_of(64) + dst_gap) as isize;
                    let loops =
                        loops(&[rows, columns], &[element as isize, column_step], &[row, element as isize]);
                    check(&Case { family: Family::Transpose, element, loops });
                }
            }
        }
    }
}

/// More rows than a streamed transpose walks before its next strip.
#[test]
fn transposes_of_many_rows() {
    for (element, rows, columns, gap) in
        [(1usize, 4200, 130, 0), (1, 8260, 67, 5), (2, 4129, 70, 2), (4, 4097, 40, 0)]
    {
        let row = ((columns * element).next_multiple_of(64) + gap) as isize;
        let (unit, column) = (element as isize, (rows * element + 3) as isize);
        let loops = loops(&[rows, columns], &[unit, column], &[row, unit]);
        check(&Case { family: Family::Transpose, element, loops });
    }
}

/// More squares than are walked before the next part of a plane, in one direction or both, where places meet in the cache
/// and where they do not.
#[test]
fn transposes_of_several_panels() {
    for element in [4usize, 16] {
        let line = 64 / element;
        for (rows, columns) in [(18 * line, 3 * line), (2 * line, 19 * line), (17 * line, 17 * line + 3)] {
            for (src_gap, dst_gap) in [(0, 0), (0, 64), (element, 7)] {
                let up = |bytes: usize, gap: usize| (bytes.next_multiple_of(1024) + gap) as isize;
                let (column, row) = (up(rows * element, src_gap), up(columns * element, dst_gap));
                let unit = element as isize;
                let loops = loops(&[rows, columns], &[unit, column], &[row, unit]);
                check(&Case { family: Family::Transpose, element, loops });
            }
        }
    }
}

/// Rows a multiple of a page apart, which meet in one set of the first-level cache: fewer than it keeps, some more, and many; columns
/// of a part of a panel, and of several.
#[test]
fn transposes_whose_rows_meet() {
    for element in WIDTHS {
        for rows in [8, 9, 16, 23, 65] {
            for columns in [33, 100, 2 * 1024 / element + 5] {
                for (src_gap, backwards) in [(0, 1), (3, -1)] {
                    let (unit, column) = (element as isize, (rows * element + src_gap) as isize);
                    let row = backwards * (columns * element).next_multiple_of(4096) as isize;
                    let loops = loops(&[rows, columns], &[unit, column], &[row, unit]);
                    check(&Case { family: Family::Transpose, element, loops });
                }
            }
        }
    }
}

/// Rows near a multiple of a page apart, or columns: as many as a part of a plane that goes by a buffer, fewer and more, of as many
/// lines as are moved at once, fewer and more.
#[test]
fn transposes_by_a_buffer() {
    for element in WIDTHS {
        let (line, run) = (64 / element, 512 / element);
        for few in [line, line + 1, 2 * line + 3, 131] {
            for many in [line + 2, run, run + 1, 2 * run + line + 3] {
                for gap in [0, element as isize, -64, 3 - 4096 * 3] {
                    let unit = element as isize;
                    let far = ((few.max(many) * element).next_multiple_of(4096) + 4096) as isize + gap;
                    for (rows, columns) in [(few, many), (many, few)] {
                        let near = [rows * element + 5, columns * element + 5].map(|step| step as isize);
                        for (column, row) in [(near[0], far), (far, near[1]), (far, -far)] {
                            if row.unsigned_abs() < columns * element
                                || column.unsigned_abs() < rows * element
                            {
                                continue;
                            }
                            let loops = loops(&[rows, columns], &[unit, column], &[row, unit]);
                            check(&Case { family: Family::Transpose, element, loops });
                        }
                    }
                }
            }
        }
    }
}

/// A few rows of many columns, and many rows of a few columns, with and without gaps on either side.
#[test]
fn skinny_transposes() {
    for element in WIDTHS {
        for few in [1, 2, 3, 4, 6, 7, 8, 9, 13, 15, 16, 17, 24, 31, 33, 40, 65, 96] {
            // Fewer bytes than are taken to lie in the first-level cache, and more.
            for many in [1500 / element + few, 17_000 / element / few + few] {
                for (rows, columns) in [(few, many), (many, few)] {
                    for (src_gap, dst_gap) in [(0, 0), (3, 0), (0, 5)] {
                        let unit = element as isize;
                        let (column, row) = (rows * element + src_gap, columns * element + dst_gap);
                        let loops = loops(&[rows, columns], &[unit, column as isize], &[row as isize, unit]);
                        check(&Case { family: Family::Transpose, element, loops });
                    }
                }
            }
        }
    }
}

/// Fewer rows than make a line, and so many columns that strips of them are wide; rows that start lines, and others.
#[test]
fn transposes_of_short_columns() {
    for element in [1, 2, 4, 8] {
        for rows in [2, 3, 5, 7, 9, 15, 24, 31, 63].into_iter().filter(|rows| rows * element < 64) {
            for (src_gap, dst_gap) in [(0, 0), (3, 0), (0, 5)] {
                let (unit, columns) = (element as isize, 1088);
                let (column, row) = (rows * element + src_gap, columns * element + dst_gap);
                let loops = loops(&[rows, columns], &[unit, column as isize], &[row as isize, unit]);
                check(&Case { family: Family::Transpose, element, loops });
            }
        }
    }
}

/// Rows that go on in the next loop, as from a column-major array into tiles: `column tiles, row tiles, rows, columns`.
#[test]
fn transposes_into_tiles() {
    for element in WIDTHS {
        for (lanes, columns) in [(1, 128), (2, 128), (3, 37), (5, 200)] {
            let rows = lanes * 16 / element;
            for (row_tiles, rest, pad) in [(1, 0, 0), (4, 0, 0), (9, 5, 0), (9, 5, 24)] {
                let (unit, column) = (element as isize, (row_tiles * rows * element + rest) as isize);
                let row = (columns * element + pad) as isize;
                let tile = row * rows as isize;
                let extents = [2, row_tiles, rows, columns];
                let src = [columns as isize * column, rows as isize * unit, unit, column];
                let dst = [tile, 2 * tile, row, unit];
                check(&Case { family: Family::Transpose, element, loops: loops(&extents, &src, &dst) });
            }
        }
    }
}

#[test]
fn interleaves_and_deinterleaves() {
    for element in [1, 2, 4, 8, 16] {
        for ways in 1..=9 {
            for bytes in [1, 8, 15, 16, 17, 32, 33, 63, 64, 65, 128, 192, 300, 640] {
                let along = usize::max(bytes / element, 1);
                for gap in [0, 64, 3] {
                    // Outer, along, across: rows of `along` elements become a stream of groups of `ways`.
                    let extents = [2, along, ways];
                    let apart = dense(&extents, &[0, 2, 1], element, gap);
                    let mixed = dense(&extents, &[0, 1, 2], element, 0);
                    let family = Family::Interleave;
                    check(&Case { family, element, loops: loops(&extents, &apart, &mixed) });
                    let extents = [2, ways, along];
                    let apart = dense(&extents, &[0, 1, 2], element, gap);
                    let mixed = dense(&extents, &[0, 2, 1], element, 0);
                    let family = Family::Deinterleave;
                    check(&Case { family, element, loops: loops(&extents, &mixed, &apart) });
                }
            }
        }
    }
}

/// Ends of ragged tiles, which start lines but end anywhere: a few rows of any length become streams, and the reverse.
#[test]
fn interleaves_and_deinterleaves_ends_of_tiles() {
    for element in [1, 2, 4, 8] {
        for ways in 2..=8 {
            for bytes in [8, 16, 36, 40, 64, 72, 100, 144, 200, 600] {
                let along = usize::max(bytes / element, 1);
                let extents = [3, along, ways];
                let apart = dense(&extents, &[0, 2, 1], element, 5);
                let mut mixed = dense(&extents, &[0, 1, 2], element, 0);
                mixed[0] = (along * ways * element).next_multiple_of(64) as isize;
                check(&Case { family: Family::Interleave, element, loops: loops(&extents, &apart, &mixed) });
                // Rows that start lines.
                let extents = [3, ways, along];
                let row = (along * element).next_multiple_of(64) as isize;
                let apart = [row * ways as isize, row, element as isize];
                let mixed = [mixed[0], element as isize, (ways * element) as isize];
                check(&Case {
                    family: Family::Deinterleave,
                    element,
                    loops: loops(&extents, &mixed, &apart),
                });
            }
        }
    }
}

/// Rows near a multiple of a page apart, which are written one after the other in place of line by line.
#[test]
fn deinterleaves_rows_that_meet() {
    for (element, ways) in [(1, 2), (2, 2), (4, 2), (8, 2), (1, 4), (2, 4), (4, 4), (8, 4), (2, 3)] {
        for lines in [1, 2, 3, 4, 5, 9] {
            for row in [4096, 8128, -4096] {
                let (along, group) = (lines * 64 / element, (ways * element) as isize);
                let mixed = [along as isize * group, element as isize, group];
                let apart = [ways as isize * row, row, element as isize];
                let loops = loops(&[2, ways, along], &mixed, &apart);
                check(&Case { family: Family::Deinterleave, element, loops });
            }
        }
    }
}

/// The tile T(8,128)(2,1) of 16-bit elements and its kin, with the loops that a planner makes, in both directions; plain
/// rows that start lines, and others.
#[test]
fn tiles() {
    for (element, ways, rows) in [(2, 2, 8), (1, 4, 8), (1, 8, 8), (2, 2, 2), (4, 1, 8), (8, 2, 4)] {
        for (columns, gap) in [(1, 0), (2, 0), (3, 0), (3, 2), (2, 200), (17, 6)] {
            let extents = [2, columns, rows / ways, 128, ways];
            let row = (columns * 128 * element + gap) as isize;
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
    let extents = [2, 3, 4, 5];
    for family in FAMILIES {
        for element in [1, 2, 3, 4, 8, 12, 16] {
            for order in [[0, 1, 2, 3], [3, 2, 1, 0], [1, 3, 0, 2]] {
                let src = dense(&extents, &order, element, element);
                let dst = dense(&extents, &[0, 1, 2, 3], element, 0);
                check(&Case { family, element, loops: loops(&extents, &src, &dst) });
            }
        }
    }
}

/// Runs of the destination that are made of several loops, which is what staged tiles are cut from.
#[test]
fn runs_of_several_loops() {
    for family in FAMILIES {
        for element in [1, 2, 4, 12, 16] {
            for extents in [[9, 2, 3, 5, 4], [4, 3, 2, 7, 11], [9, 40, 1, 2, 2]] {
                for order in [[4, 3, 2, 1, 0], [1, 4, 0, 3, 2], [2, 0, 4, 1, 3]] {
                    let src = dense(&extents, &order, element, 1);
                    let dst = dense(&extents, &[0, 1, 2, 3, 4], element, 0);
                    check(&Case { family, element, loops: loops(&extents, &src, &dst) });
                }
            }
        }
    }
}

/// Destinations that go backwards: a staged run would begin in front of the scratch buffer.
#[test]
fn destinations_that_go_backwards() {
    check(&Case { family: Family::Strided, element: 2, loops: loops(&[50, 50], &[2, 100], &[100, -2]) });
}

/// Nests of more loops than are walked by counters, than are staged, and than any family wants.
#[test]
fn many_loops() {
    for outer in [11, 12, 13, 14, 17, 20] {
        for (family, inner, order) in [
            (Family::Rows, [3, 40], [0, 1]),
            (Family::Transpose, [70, 66], [1, 0]),
            (Family::Interleave, [96, 2], [1, 0]),
            (Family::Deinterleave, [2, 96], [1, 0]),
            (Family::Strided, [5, 3], [1, 0]),
        ] {
            let mut extents: Vec<usize> = (0..outer).map(|i| 1 + usize::from(i % 4 == 0)).collect();
            let all: Vec<usize> = (0..outer + 2).collect();
            let mut turned: Vec<usize> = (0..outer).rev().collect();
            turned.extend(order.map(|i| outer + i));
            extents.extend(inner);
            let src = dense(&extents, &turned, 2, 0);
            let dst = dense(&extents, &all, 2, 0);
            check(&Case { family, element: 2, loops: loops(&extents, &src, &dst) });
        }
    }
}

/// Many short loops, in sets that fill lanes and lines, that are apart or share loops.
#[test]
fn short_loops() {
    let nests: [&[usize]; 6] = [
        &[2; 13],
        &[3, 2, 5, 2, 3, 2, 7, 2],
        &[7, 5, 12, 16],
        &[16, 3, 2, 16, 5],
        &[28, 4, 48],
        &[6, 129, 37],
    ];
    for extents in nests {
        let all: Vec<usize> = (0..extents.len()).collect();
        let mut backwards = all.clone();
        backwards.reverse();
        let mut mixed = all.clone();
        (0..mixed.len()).for_each(|i| mixed.swap(i, (7 * i + 3) % all.len()));
        for order in [backwards, mixed] {
            for element in [1, 2, 3, 4, 8, 12, 16, 24] {
                for gap in [0, 5] {
                    let src = dense(extents, &order, element, 0);
                    let dst = dense(extents, &all, element, gap);
                    check(&Case { family: Family::Strided, element, loops: loops(extents, &src, &dst) });
                }
            }
        }
    }
}

/// Backwards, standing still, and with elements between on either side.
#[test]
fn steps_of_every_kind() {
    for element in [1, 2, 3, 4, 6, 8, 16, 20] {
        for extent in [1, 5, 16, 100, 1037] {
            let e = element as isize;
            for step in [-4, -3, -2, -1, 0, 1, 2, 3, 4] {
                for dst_step in [1, 2, 3, 4] {
                    let extents = [18, extent];
                    let row = e * extent as isize;
                    let loops =
                        loops(&extents, &[row * 4 + 3, e * step], &[row * dst_step + 1, e * dst_step]);
                    check(&Case { family: Family::Strided, element, loops });
                }
            }
        }
    }
}

/// Rows of fewer bytes than a lane or a line, moved around.
#[test]
fn short_rows() {
    for run in [2, 3, 6, 7, 12, 15, 16, 24, 40, 63] {
        for extents in [[3, 40, 9, run], [20, 3, 64, run]] {
            for order in [[0, 2, 1, 3], [2, 1, 0, 3]] {
                let src = dense(&extents, &order, 1, 0);
                let dst = dense(&extents, &[0, 1, 2, 3], 1, 0);
                check(&Case { family: Family::Rows, element: 1, loops: loops(&extents, &src, &dst) });
            }
        }
    }
}

/// A loop of a random nest: how often, its gap on either side, whether it goes backwards there, and whether the source
/// stands still.
type RandomLoop = (usize, [usize; 2], [bool; 2], bool);

fn random_loop() -> impl Strategy<Value = RandomLoop> {
    let extent =
        prop_oneof![4 => 1..9usize, 1 => 10..70usize, 1 => prop::sample::select(vec![16, 32, 64, 128])];
    let gap = || prop_oneof![3 => Just(0usize), 1 => 1..70usize];
    let backwards = || prop::bool::weighted(0.2);
    (extent, [gap(), gap()], [backwards(), backwards()], prop::bool::weighted(0.08))
}

/// Nests with strides of every kind, among them those that no planner makes.
fn random_case() -> impl Strategy<Value = Case> {
    let random = prop::collection::vec(random_loop(), 1..6)
        .prop_filter("small nests", |random| random.iter().map(|l| l.0).product::<usize>() <= 20_000);
    let orders = random.prop_flat_map(|random| {
        let order = Just((0..random.len()).collect::<Vec<_>>()).prop_shuffle();
        // The destination's order half of the time that of the loops: otherwise no family would fit.
        (Just(random), order.clone(), prop_oneof![Just(None), order.prop_map(Some)])
    });
    let element = prop::sample::select(vec![1, 2, 3, 4, 8, 12, 16]);
    (prop::sample::select(FAMILIES.to_vec()), element, orders).prop_map(
        |(family, element, (random, src_order, dst_order))| {
            let extents: Vec<usize> = random.iter().map(|l| l.0).collect();
            let dst_order = dst_order.unwrap_or_else(|| (0..random.len()).collect());
            let strides = |side: usize, order: &[usize]| {
                let mut strides = vec![0; random.len()];
                let mut span = element;
                for &i in order.iter().rev() {
                    let (extent, gaps, backwards, stands) = random[i];
                    if side == 0 && stands {
                        continue;
                    }
                    strides[i] = if backwards[side] { -(span as isize) } else { span as isize };
                    span = span * extent + gaps[side];
                }
                strides
            };
            let (src, dst) = (strides(0, &src_order), strides(1, &dst_order));
            Case { family, element, loops: loops(&extents, &src, &dst) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_nest(case in random_case()) {
        check(&case);
    }
}

//! Words of elements that are woven of two dimensions on one side or on both, and of which not all are moved, at every level of this
//! machine against a plain loop.

mod nests;

use nests::{Case, check, dense, loops};
use relayout_kernels::{Family, Loop};

/// A nest whose loops have these extents, from the slowest to the fastest in either order.
fn nest(element: usize, extents: &[usize], src: &[usize], dst: &[usize]) -> Case {
    let strides = [dense(extents, src, element, 0), dense(extents, dst, element, 0)];
    Case { family: Family::Strided, element, loops: loops(extents, &strides[0], &strides[1]) }
}

/// Bytes of elements, and how many of either dimension are woven.
const WORDS: [(usize, usize, usize); 8] =
    [(2, 2, 2), (1, 4, 4), (1, 2, 2), (2, 4, 4), (1, 2, 4), (1, 4, 2), (2, 2, 4), (2, 4, 2)];

/// Elements of a word that change places between rows.
#[test]
fn words_exchange_their_elements() {
    for (element, ways, others) in WORDS {
        for count in [7, 16, 31, 64, 100] {
            // Two loops outside, words of rows of a source, rows of a destination, and along them.
            let extents = [3, 2, ways, others, count];
            for outside in [[0, 1], [1, 0]] {
                let src = [outside[0], outside[1], 3, 4, 2];
                check(&nest(element, &extents, &src, &[0, 1, 2, 4, 3]));
                check(&nest(element, &extents, &src, &[0, 2, 1, 4, 3]));
                check(&nest(element, &extents, &[0, 3, 1, 4, 2], &[outside[0], outside[1], 2, 4, 3]));
            }
        }
    }
}

/// Rows and columns of words, each of which may be two loops.
const SIZES: [[usize; 4]; 4] = [[4, 16, 1, 64], [1, 64, 4, 9], [4, 9, 3, 11], [1, 9, 1, 37]];

/// Elements that are woven, those that are together with them, rows, columns, and a loop outside.
#[test]
fn words_are_woven_and_transposed() {
    for (element, ways, others) in WORDS {
        for [a, b, c, d] in SIZES {
            let extents = [2, ways, others, a, b, c, d];
            check(&nest(element, &extents, &[0, 6, 1, 5, 4, 3, 2], &[0, 3, 4, 5, 6, 2, 1]));
            check(&nest(element, &extents, &[1, 6, 5, 0, 4, 3, 2], &[3, 0, 4, 5, 6, 2, 1]));
        }
    }
}

#[test]
fn words_are_transposed_and_taken_apart() {
    for (element, ways, others) in WORDS {
        for [a, b, c, d] in SIZES {
            let extents = [2, ways, others, a, b, c, d];
            check(&nest(element, &extents, &[0, 6, 5, 4, 3, 2, 1], &[0, 1, 3, 4, 5, 6, 2]));
            check(&nest(element, &extents, &[6, 0, 5, 4, 3, 2, 1], &[1, 3, 4, 0, 5, 6, 2]));
        }
    }
}

/// Rows whose elements are woven to words, transposed with what is fastest in them, and taken apart from there; some in more than a panel.
#[test]
fn words_are_woven_or_taken_apart_as_they_are_transposed() {
    let sizes = [[64, 100], [61, 64], [9, 37], [130, 96]];
    let of_ways = |ways| sizes.into_iter().map(move |[words, rows]| [ways, words, rows]);
    for element in [1, 2, 4, 8] {
        for extents in [2, 3, 4, 8].into_iter().flat_map(of_ways).chain([[2, 32, 4200]]) {
            for plain in [[0, 1, 2], [1, 0, 2]] {
                check(&nest(element, &extents, &plain, &[2, 1, 0]));
                check(&nest(element, &extents, &[2, 1, 0], &plain));
            }
        }
    }
}

/// Groups of a few elements, each of which belongs to a row of its own, where an element of each of some groups makes a word: groups far from
/// one another, and one behind the other, in tiles of some rows.
#[test]
fn groups_are_woven_to_words_and_taken_apart() {
    let sizes =
        [[9, 128, 4, 3], [5, 64, 1, 2], [16, 100, 4, 1], [25, 65, 2, 5], [31, 70, 3, 1], [8, 130, 2, 17]];
    for (element, ways) in [(1, 2), (1, 4), (2, 2), (2, 4)] {
        for [group, width, rows, tiles] in sizes {
            let extents = [tiles, rows, ways, width, group];
            let tiled = [4, 0, 1, 3, 2];
            for plain in [[1, 2, 0, 3, 4], [0, 1, 2, 3, 4], [3, 0, 1, 2, 4]] {
                check(&nest(element, &extents, &plain, &tiled));
                check(&nest(element, &extents, &tiled, &plain));
            }
        }
    }
}

/// Units of several elements, in the same order on both sides and in another one, of which rows or columns make words.
#[test]
fn units_make_words() {
    for element in [1, 2] {
        for ways in [2, 4] {
            let extents = [ways, 32, 64, 2, 2];
            check(&nest(element, &extents, &[2, 1, 0, 3, 4], &[0, 1, 2, 4, 3]));
            check(&nest(element, &extents, &[2, 1, 0, 3, 4], &[0, 1, 2, 3, 4]));
            check(&nest(element, &extents, &[0, 1, 2, 3, 4], &[2, 1, 0, 4, 3]));
            check(&nest(element, &extents, &[0, 1, 2, 3, 4], &[2, 1, 0, 3, 4]));
            check(&nest(element, &[ways, 32, 64, 2], &[2, 1, 0, 3], &[0, 1, 2, 3]));
            check(&nest(element, &[ways, 32, 64, 2], &[0, 1, 2, 3], &[2, 1, 0, 3]));
        }
    }
}

/// Tiles of a few steps of every loop, in steps: words that are made of columns, taken apart to rows of other words, or bytes in other
/// orders; with more elements than are moved run by run.
#[test]
fn tiles_are_moved_in_steps() {
    // Columns and what continues them, elements of a word, rows, and words of these.
    for (element, word, [columns, few, rows]) in
        [(2, 2, [66, 9, 48]), (2, 2, [128, 7, 31]), (1, 4, [65, 9, 33]), (1, 4, [192, 8, 24])]
    {
        let extents = [columns, rows, word, few];
        let (woven, plain) = ([3, 1, 0, 2], [0, 1, 2, 3]);
        check(&nest(element, &extents, &plain, &woven));
        check(&nest(element, &extents, &woven, &plain));
        check(&nest(element, &extents, &[3, 0, 1, 2], &plain));
    }
    for extents in [[24, 50, 16, 12], [5, 96, 17, 12], [3, 129, 8, 33]] {
        check(&nest(1, &extents, &[3, 2, 0, 1], &[2, 3, 1, 0]));
        check(&nest(2, &extents, &[3, 2, 0, 1], &[0, 2, 3, 1]));
        check(&nest(1, &extents, &[1, 3, 0, 2], &[0, 1, 2, 3]));
    }
}

/// Some rows of a stream, whose others are not moved; the last elements have nothing behind them.
#[test]
fn rows_are_picked_from_a_stream() {
    for (element, ways) in
        [1usize, 2, 4].into_iter().flat_map(|element| [2, 4, 8].map(|ways| (element, ways)))
    {
        for (count, present) in [64, 100, 129].into_iter().flat_map(|n| (1..ways).map(move |p| (n, p))) {
            for row in [count * element, (count * element).next_multiple_of(64)] {
                let of = |extent: usize, src: usize, dst: usize| Loop {
                    extent,
                    src_stride: src as isize,
                    dst_stride: dst as isize,
                };
                let group = ways * count * element;
                let mut loops = vec![of(3, group, 2 * ways * row), of(2, 3 * group, ways * row)];
                loops.push(of(count, ways * element, element));
                if present > 1 {
                    loops.push(of(present, element, row));
                }
                check(&Case { family: Family::Strided, element, loops });
            }
        }
    }
}

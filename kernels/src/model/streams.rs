//! What every family streams: whole lines, each once, and how many of them.

use super::{Bounds, Model, RECORD, Record};
use crate::lanes::{LANE, LINE};
use crate::nest::{Loop, Nest};
use crate::rows::ragged::Ragged;
use crate::{Family, Level, Mover, copy_nest};

/// Behind which step of a nest's loops its rows have a rest, and how many elements.
type Rest = Option<(usize, usize)>;

/// Runs a nest, and the rest of its rows, that streams to `misalignment` bytes behind the start of a line, and checks what it
/// wrote; returns how many lines were streamed, and how many the destination has.
fn streamed<const N: usize>(
    mover: &Mover,
    loops: &[Loop],
    rest: Rest,
    misalignment: usize,
) -> (usize, usize) {
    let rest = rest.map(|(next, count)| {
        let mut others = loops.to_vec();
        others.last_mut().unwrap().extent = count;
        (others.remove(next), others)
    });
    let length = |stride: fn(&Loop) -> isize| {
        let span =
            |loops: &[Loop]| loops.iter().map(|l| (l.extent - 1) * stride(l).unsigned_abs()).sum::<usize>();
        let behind =
            |(next, others): &(Loop, Vec<Loop>)| next.extent * stride(next).unsigned_abs() + span(others);
        span(loops).max(rest.as_ref().map_or(0, behind)) + mover.element_bytes
    };
    let (src_len, dst_len) = (length(|l| l.src_stride), length(|l| l.dst_stride));
    let src: Vec<u8> = (0..src_len + 2 * LINE).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect();
    let mut dst = vec![0xa5; dst_len + 4 * LINE];
    let start = LINE + dst[LINE..].as_ptr().align_offset(LINE) + misalignment;
    let nest = Nest { src_offset: LINE as isize, dst_offset: start as isize, loops };
    let rest = rest.as_ref().map(|(next, others)| Nest {
        src_offset: nest.src_offset + next.extent as isize * next.src_stride,
        dst_offset: nest.dst_offset + next.extent as isize * next.dst_stride,
        loops: others,
    });
    let mut wanted = dst.clone();
    for nest in rest.into_iter().chain([nest]) {
        copy_nest(&src, &mut wanted, nest, mover.element_bytes).unwrap();
    }

    let bounds =
        (Bounds::of(&src, &src[LINE..LINE + src_len]), Bounds::of(&dst, &dst[start..start + dst_len]));
    RECORD.set(Record { src: bounds.0, dst: bounds.1, ..Record::default() });
    // SAFETY: `copy_nest` has checked that the nests lie inside both slices, which do not overlap.
    unsafe {
        let (src, dst) = (src.as_ptr().add(LINE), dst.as_mut_ptr().add(start));
        match rest {
            Some(rest) => {
                let ragged = Ragged::new(&nest, &rest, 2).expect("rows and their rest");
                assert!(mover.ragged(Model::<N>, &ragged, src, dst), "{N} lanes, {mover:?}, {loops:?}");
            }
            None => mover.go(Model::<N>, loops, src, dst),
        }
    }
    let record = RECORD.take();
    assert!(dst == wanted, "wrong bytes: {N} lanes, {mover:?}, {loops:?}");
    assert!(!record.fence_is_due, "no fence: {N} lanes, {mover:?}, {loops:?}");
    let whole = record.lines.values().all(|&bytes| bytes == u64::MAX);
    assert!(whole, "parts of lines: {N} lanes, {mover:?}, {loops:?}");
    (record.lines.len(), dst_len / LINE)
}

/// Every number of lanes, at the start of a line and elsewhere; at least so many per cent of the lines are streamed.
fn check(family: Family, element: usize, loops: &[Loop], at_least: [usize; 2]) {
    let mover = Mover { family, element_bytes: element, level: Level::Scalar, stream: true };
    for (misalignment, at_least) in [(0, at_least[0]), (5, at_least[1]), (16, at_least[1]), (63, at_least[1])]
    {
        let all = [
            streamed::<2>(&mover, loops, None, misalignment),
            streamed::<4>(&mover, loops, None, misalignment),
        ];
        for (lanes, (lines, of)) in [2, 4].into_iter().zip(all) {
            let what = format!("{lanes} lanes, {family:?} of {element} bytes at {misalignment}: {loops:?}");
            assert!(lines * 100 >= of * at_least, "only {lines} of {of} lines streamed: {what}");
        }
    }
}

fn a_loop(extent: usize, src_stride: usize, dst_stride: usize) -> Loop {
    Loop { extent, src_stride: src_stride as isize, dst_stride: dst_stride as isize }
}

#[test]
fn rows_stream_every_line() {
    check(Family::Rows, 1, &[a_loop(3, 704, 640), a_loop(640, 1, 1)], [100, 80]);
    // Pieces of rows: each row carries, so that only its ends are stored.
    for (more, pieces, row) in [(5, 4, 4 * 128), (5, 4, 4 * 128 + 9)] {
        let loops = [a_loop(pieces, more * 128, 128), a_loop(more, 128, row), a_loop(128, 1, 1)];
        check(Family::Rows, 1, &loops, [if row % LINE == 0 { 100 } else { 75 }, 75]);
    }
}

#[test]
fn interleaves_stream_every_line() {
    for element in [1, 2, 4, 8] {
        for ways in 2..=if element == 8 { 4 } else { 8 } {
            let along = 1024 / element;
            let loops = [
                a_loop(3, ways * along * element, ways * along * element),
                a_loop(along, element, ways * element),
                a_loop(ways, along * element, element),
            ];
            check(Family::Interleave, element, &loops, [100, 85]);
        }
    }
}

#[test]
fn deinterleaves_stream_every_line() {
    for element in [1, 2, 4, 8] {
        for ways in 2..=if element == 8 { 4 } else { 8 } {
            let (piece, pieces) = (256, 6);
            let row = pieces * piece;
            let across = a_loop(ways, element, row);
            let along = a_loop(piece / element, ways * element, element);
            // Pieces that continue the rows.
            let loops = [a_loop(2, pieces * ways * piece, ways * row), a_loop(pieces, ways * piece, piece)];
            check(Family::Deinterleave, element, &[loops[0], loops[1], across, along], [100, 90]);
            // Whole rows, which are staged where they start anywhere.
            let along = a_loop(row / element, ways * element, element);
            check(Family::Deinterleave, element, &[loops[0], across, along], [80, 80]);
        }
    }
}

/// Rows and their rest, one row behind the other: every line but the first and the last is whole.
#[test]
fn ragged_rows_stream_every_line() {
    for (family, element, ways) in
        [(Family::Rows, 4, 1), (Family::Deinterleave, 2, 2), (Family::Deinterleave, 1, 4)]
    {
        for rest in [1, 31, 36, 127] {
            let (groups, pieces, piece) = (3, 5, ways * 128 * element);
            let row = (pieces * 128 + rest) * element;
            let loops = [
                a_loop(2, (pieces + 1) * groups * piece, groups * ways * row),
                a_loop(pieces, groups * piece, 128 * element),
                a_loop(groups, piece, ways * row),
                a_loop(ways, element, row),
                a_loop(128, ways * element, element),
            ];
            let loops: Vec<Loop> = loops.into_iter().filter(|l| l.extent > 1).collect();
            let mover = Mover { family, element_bytes: element, level: Level::Scalar, stream: true };
            for misalignment in [0, 4, 60] {
                for (lines, of) in [
                    streamed::<2>(&mover, &loops, Some((1, rest)), misalignment),
                    streamed::<4>(&mover, &loops, Some((1, rest)), misalignment),
                ] {
                    assert!(
                        lines + 1 >= of,
                        "only {lines} of {of} lines: {family:?}, {rest} at {misalignment}"
                    );
                }
            }
        }
    }
}

#[test]
fn transposes_stream_every_line() {
    for element in [1, 2, 4, 8, 16] {
        let (rows, columns) = (128 / element, 384 / element);
        for (pad, at_least) in [(0, [85, 50]), (64, [75, 45]), (7, [45, 45])] {
            let row = columns * element + pad;
            let columns = a_loop(columns, 200, element);
            let outer = a_loop(2, columns.extent * 200, rows * (row + LINE));
            check(Family::Transpose, element, &[outer, a_loop(rows, element, row), columns], at_least);
            // The same rows, a lane at a time, with a line between the lanes.
            let lane = LANE / element;
            let beyond = a_loop(rows / lane, LANE, lane * row + LINE);
            let parts = [outer, beyond, a_loop(lane, element, row), columns];
            check(Family::Transpose, element, &parts, at_least);
        }
    }
}

#[test]
fn edges_of_transposes_are_no_parts_of_lines() {
    for element in [1, 2, 4, 8, 16] {
        let line = LINE / element;
        for (rows, columns) in [(line + 1, 3 * line - 1), (2 * line - 1, 2 * line + 1), (line - 1, 200)] {
            for pad in [0, 5] {
                let row = (columns * element).next_multiple_of(LINE) + pad;
                let loops = [a_loop(rows, element, row), a_loop(columns, rows * element + 1, element)];
                check(Family::Transpose, element, &loops, [0, 0]);
            }
        }
    }
}

#[test]
fn skinny_transposes_stream_every_line() {
    for element in [1, 2, 4, 8, 16] {
        // Rows that follow one another are one stream, whole rows or not.
        for columns in [7, 24] {
            let rows = 4096 / element;
            let loops = [a_loop(rows, element, columns * element), a_loop(columns, rows * element, element)];
            check(Family::Transpose, element, &loops, [95, 80]);
        }
        // A few rows, which are no line of the source.
        let (rows, columns) = (24 / element.min(8), 2048 / element);
        for row in [2048, 2053] {
            let loops = [a_loop(rows, element, row), a_loop(columns, rows * element, element)];
            check(Family::Transpose, element, &loops, [if row == 2048 { 95 } else { 85 }, 85]);
        }
    }
}

/// More rows than are walked before the next strip: their carries share the buffer.
#[test]
fn transposes_of_many_rows_stream_every_line() {
    let rows = if cfg!(miri) { 128 } else { 2200 };
    for row in [256, 259] {
        let loops = [a_loop(rows, 1, row), a_loop(256, rows, 1)];
        check(Family::Transpose, 1, &loops, [if row == 256 { 95 } else { 70 }, 70]);
    }
}

#[test]
fn staged_tiles_stream_nearly_every_line() {
    let loops = [
        a_loop(8, 2, 7 * 5 * 9 * 3 * 2),
        a_loop(7, 16 * 3 * 9, 5 * 9 * 3 * 2),
        a_loop(5, 16 * 3 * 9 * 7, 9 * 3 * 2),
        a_loop(9, 16 * 3, 3 * 2),
        a_loop(3, 16, 2),
    ];
    check(Family::Strided, 2, &loops, [50, 50]);
}

/// Sets of short loops that start lines, and rows that start anywhere.
#[test]
fn sets_of_loops_stream_every_line() {
    for element in [1, 2, 4, 8, 16] {
        // Rows of 3 x 5 x 28 lines, a column of 4 x 3 lanes.
        let (lane, line) = (LANE / element, LINE / element);
        let (rows, columns) = (12 * lane, 3 * 5 * 4 * line);
        for (row, at_least) in [(columns * element, [90, 55]), (columns * element + 7, [55, 55])] {
            let loops = [
                a_loop(4, 3 * LANE, 3 * lane * row),
                a_loop(3, LANE, lane * row),
                a_loop(lane, element, row),
                a_loop(3, 5 * 4 * line * rows * element, 5 * 4 * LINE),
                a_loop(4 * line, 5 * rows * element, 5 * element),
                a_loop(5, rows * element, element),
            ];
            check(Family::Strided, element, &loops, at_least);
        }
    }
}

#[test]
fn programs_stream_nearly_every_line() {
    // Groups of 3 x 5 bytes, turned.
    let loops = [a_loop(4000, 15, 15), a_loop(5, 1, 3), a_loop(3, 5, 1)];
    check(Family::Strided, 1, &loops, [95, 80]);
    // Short rows that change places.
    let loops = [a_loop(1000, 24 * 6, 24 * 6), a_loop(6, 12, 24), a_loop(2, 72, 12)];
    check(Family::Strided, 12, &loops, [80, 70]);
}

//! Short rows, at every level of this machine: those that end with padding, or are woven with it, those that lie one behind the other, and those of a single
//! piece and a rest. Against a plain loop, with sentinels around and between.

mod nests;

use nests::{Case, check, check_padded, check_padding, check_single_rows};
use relayout_kernels::{
    Family, Fill, Level, Loop, Mover, Nest, OutOfBounds, Side, SlotWidth, fill_nest, stream_fill_nest,
};

fn a_loop(extent: usize, src_stride: usize, dst_stride: usize) -> Loop {
    Loop { extent, src_stride: src_stride as isize, dst_stride: dst_stride as isize }
}

/// True where the machine has a level that writes past the cache.
fn streams() -> bool {
    [Level::Avx2, Level::Avx512].iter().any(|level| level.is_available())
}

/// `ways` rows of `count` elements become one of `slots` times as many, `rows` times in each of `groups`, between which the destination
/// has `apart` bytes.
fn padded(element: usize, ways: usize, count: usize, slots: usize, apart: usize) -> (Case, Vec<Loop>, usize) {
    let (rows, groups) = (3, 4);
    let (source, row) = (count * element, slots * ways * element);
    let outer = [a_loop(groups, rows * ways * source, rows * row + apart), a_loop(rows, ways * source, row)];
    // Elements as a planner gives them, and padding, whose loops are one where nothing is between groups.
    let joined = if apart == 0 { vec![a_loop(groups * rows, 0, row)] } else { outer.to_vec() };
    let mut loops =
        if ways > 1 && apart == 0 { vec![a_loop(groups * rows, ways * source, row)] } else { outer.to_vec() };
    match (ways, count) {
        (1, _) => loops.push(a_loop(count, element, element)),
        (_, 1) => loops.push(a_loop(ways, source, element)),
        _ => loops.extend([a_loop(count, element, ways * element), a_loop(ways, source, element)]),
    }
    let family = match (ways, count * ways * element) {
        (1, _) => Family::Rows,
        (_, ..64) => Family::Strided,
        _ => Family::Interleave,
    };
    (Case { family, element, loops }, joined, count * ways * element)
}

#[test]
fn rows_that_end_with_padding() {
    for (element, ways) in [(4, 1), (1, 1), (16, 1), (2, 2), (1, 4), (4, 2), (1, 8), (8, 2), (2, 4)] {
        for count in [1, 2, 31, 32, 36, 64, 100, 127] {
            for apart in [0, 512] {
                let (case, outer, row) = padded(element, ways, count, 128, apart);
                let pad = (128 - count) * ways;
                let together = check_padded(&case, &outer, row, pad, 0);
                assert_eq!(together, streams(), "{case:?}, {pad}");
                check_padded(&case, &outer, row, pad, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10);
            }
        }
    }
}

#[test]
fn rows_that_end_elsewhere_are_not_padded() {
    // Not up to the end of a line; widths that no line is made of; and three rows at once.
    let (case, outer, row) = padded(4, 1, 100, 120, 0);
    assert!(!check_padded(&case, &outer, row, 20, 0));
    for element in [12, 17] {
        let (case, outer, row) = padded(element, 1, 24, 64, 0);
        assert!(!check_padded(&case, &outer, row, 40, 0));
    }
    let (case, outer, row) = padded(2, 3, 100, 128, 0);
    assert!(!check_padded(&case, &outer, row, 28 * 3, 7));
    // Behind other rows than those that are moved.
    let (case, outer, row) = padded(4, 1, 100, 128, 512);
    assert!(!check_padded(&case, &outer[1..], row, 28, 0));
}

/// What whole tiles have of rows, and the ragged one behind them: a few rows of tiles, with two rows of words each.
struct Tiles {
    element: usize,
    before: Vec<Loop>,
    behind: Vec<Loop>,
    pad: Vec<Loop>,
    /// Where the ragged tile starts, on either side, and where its padding does.
    first: [usize; 2],
    padding: usize,
    /// Bytes of both sides.
    len: [usize; 2],
}

impl Tiles {
    /// Of `slots` elements each, of which the last one has `count`; so many bytes are between rows of the source.
    fn new(element: usize, ways: usize, (whole, count, slots): (usize, usize, usize), apart: usize) -> Tiles {
        let (groups, rows) = (3, 2);
        let (row, len) = (slots * ways * element, (whole * slots + count) * element + apart);
        let outer =
            [a_loop(groups, rows * ways * len, (whole + 1) * rows * row), a_loop(rows, ways * len, row)];
        let across = (ways > 1).then(|| a_loop(ways, len, element));
        let of = |extent, pieces: &[Loop]| {
            let along = a_loop(extent, element, ways * element);
            outer[..1].iter().chain(pieces).chain(&outer[1..]).copied().chain([along]).chain(across).collect()
        };
        let start = whole * rows * row;
        Tiles {
            element,
            before: of(slots, &[a_loop(whole, slots * element, rows * row)]),
            behind: of(count, &[]),
            pad: [&outer[..], &[a_loop((slots - count) * ways, 0, element)]].concat(),
            first: [whole * slots * element, start],
            padding: start + count * ways * element,
            len: [groups * rows * ways * len, groups * (whole + 1) * rows * row],
        }
    }

    fn nests(&self) -> [Nest<'_>; 3] {
        let [src, dst] = self.first.map(|first| first as isize);
        [
            Nest { src_offset: 0, dst_offset: 0, loops: &self.before },
            Nest { src_offset: src, dst_offset: dst, loops: &self.behind },
            Nest { src_offset: 0, dst_offset: self.padding as isize, loops: &self.pad },
        ]
    }

    /// True where some level wrote all together; whichever did must have written what a portable loop does.
    fn check(&self) -> bool {
        let value = 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10;
        let fill = Fill { value, width: SlotWidth::Bytes(self.element) };
        let [before, behind, pad] = self.nests();
        let src: Vec<u8> = (0..self.len[0]).map(|i| (i * 7 + i / 251) as u8).collect();
        let (len, mut together) = (self.len[1], false);
        let mover = |level| Mover {
            family: Family::Strided,
            element_bytes: self.element,
            level,
            stream: level != Level::Scalar,
        };
        let mut wanted = vec![0xa5; len];
        mover(Level::Scalar).run(&src, &mut wanted, before).unwrap();
        mover(Level::Scalar).run(&src, &mut wanted, behind).unwrap();
        fill_nest(&mut wanted, pad, fill).unwrap();
        for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
            for start in [64, 5] {
                let mut found = vec![0xa5; len + 192];
                let line = found.as_ptr().align_offset(64) + start;
                let part = &mut found[line..line + len];
                let is_done =
                    mover(level).run_padded(&src, part, (Some(before), behind), (pad, fill)).unwrap();
                let expected = if is_done { &wanted } else { &vec![0xa5; len] };
                assert!(part == expected, "{level} at {start}: {:?}", self.before);
                part.fill(0xa5);
                assert!(found.iter().all(|&byte| byte == 0xa5), "beside: {level} at {start}");
                assert!(!is_done || start == 64, "rows start lines: {level}");
                together |= is_done;
            }
        }
        together
    }
}

#[test]
fn rows_that_go_on_from_whole_tiles() {
    for (element, ways) in [(4, 1), (1, 1), (16, 1), (2, 2), (1, 4), (4, 2), (1, 8), (8, 2), (2, 4)] {
        for (whole, count, slots) in [(1, 1, 64), (1, 69, 128), (2, 44, 128), (3, 63, 64), (5, 100, 128)] {
            for apart in [0, 3] {
                let tiles = Tiles::new(element, ways, (whole, count, slots), apart);
                // Long rows go tile by tile.
                let is_short = (whole * slots + count) * ways * element <= 8192;
                assert_eq!(tiles.check(), streams() && is_short, "{:?}", tiles.before);
            }
        }
    }
}

#[test]
fn whole_tiles_outside_of_their_slice_are_an_error() {
    let tiles = Tiles::new(2, 2, (2, 44, 128), 0);
    let [before, behind, pad] = tiles.nests();
    let fill = Fill { value: 0, width: SlotWidth::Bytes(2) };
    let mover = Mover { family: Family::Strided, element_bytes: 2, level: Level::detect(), stream: true };
    let (src, mut dst) = (vec![1; tiles.len[0]], vec![2; tiles.len[1] + 64]);
    let line = dst.as_ptr().align_offset(64);
    let dst = &mut dst[line..line + tiles.len[1]];
    let mut run = |before: Nest<'_>| mover.run_padded(&src, dst, (Some(before), behind), (pad, fill));
    // Elsewhere in the source, and of fewer rows, the two do not go on from each other.
    assert_eq!(run(Nest { src_offset: 2, ..before }), Ok(false));
    assert_eq!(run(Nest { loops: &tiles.before[1..], ..before }), Ok(false));
    let none = [&tiles.before[..], &[a_loop(0, 0, 0)]].concat();
    assert_eq!(run(Nest { loops: &none, ..before }), Ok(false));
    if streams() {
        let outside = Nest { dst_offset: tiles.len[1] as isize, ..before };
        assert_eq!(run(outside), Err(OutOfBounds { side: Side::Destination, len: tiles.len[1] }));
    }
    assert!(dst.iter().all(|&byte| byte == 2));
}

/// Fewer rows than a tile weaves: padding takes the places of the others.
#[test]
fn rows_that_are_woven_with_padding() {
    let sizes = [
        (2, 2, 1),
        (1, 2, 1),
        (1, 4, 1),
        (1, 4, 2),
        (1, 4, 3),
        (4, 2, 1),
        (2, 4, 3),
        (8, 2, 1),
        (1, 8, 5),
        (4, 4, 3),
    ];
    for (element, ways, present) in sizes {
        for (count, apart) in [8, 32, 64, 96, 128].into_iter().flat_map(|count| [(count, 0), (count, 512)]) {
            let (rows, groups, source, row) = (3, 4, count * element, count * ways * element);
            let group = rows * row + apart;
            let along = a_loop(count, element, ways * element);
            let outer = [a_loop(groups, 5 * rows * source, group), a_loop(rows, source, row)];
            let across = a_loop(present, rows * source + 1, element);
            let mut loops = [&outer[..], &[along]].concat();
            if present > 1 {
                loops.push(across);
            }
            let case = Case { family: Family::Strided, element, loops };
            // The padding of all rows as a planner gives it: in as few loops as may be.
            let joined = match apart {
                0 => vec![a_loop(groups * rows, 0, row)],
                _ => vec![a_loop(groups, 0, group), a_loop(rows, 0, row)],
            };
            let along = a_loop(count, 0, ways * element);
            let gaps = [&joined[..], &[along, a_loop(ways - present, 0, element)]].concat();
            let gaps = if ways - present == 1 { &gaps[..gaps.len() - 1] } else { &gaps[..] };
            for value in [0, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10] {
                let together = check_padding(&case, gaps, present * element, value);
                assert_eq!(together, streams() && row % 64 == 0, "{case:?}");
            }
            // Between others of the rows' elements, and of other rows.
            let shorter = a_loop(count - 1, 0, ways * element);
            let others = [&joined[..], &[shorter, a_loop(ways - present, 0, element)]].concat();
            assert!(!check_padding(&case, &others, present * element, 7));
            let before = [&gaps[..joined.len() - 1], &gaps[joined.len()..]].concat();
            assert!(!check_padding(&case, &before, present * element, 7));
        }
    }
}

/// Fills of every kind of run, past the cache as in it: of bytes alike and not, of lines and of parts of them.
#[test]
fn fills_past_the_cache() {
    for (width, value) in [(4, 0), (4, 0x5a5a_5a5a), (4, 1), (1, 7), (16, 0), (17, 0), (2, 0x0303)] {
        for (extents, strides) in
            [([3, 2, 300], [7001, 2000]), ([1, 5, 64], [0, 1337]), ([2, 1, 4], [999, 0])]
        {
            let run = extents[2] * width;
            let loops = [
                a_loop(extents[0], 0, strides[0].max(2 * run * extents[1])),
                a_loop(extents[1], 0, strides[1].max(run)),
                a_loop(extents[2], 0, width),
            ];
            let fill = Fill { value, width: SlotWidth::Bytes(width) };
            for offset in [0, 1, 63, 64] {
                let nest = Nest { src_offset: 0, dst_offset: offset, loops: &loops };
                let end = loops.iter().map(|l| (l.extent - 1) * l.dst_stride.unsigned_abs()).sum::<usize>();
                let len = offset.unsigned_abs() + end + width;
                let mut wanted = vec![0xa5; len + 100];
                fill_nest(&mut wanted, nest, fill).unwrap();
                for level in Level::ALL.into_iter().filter(|level| level.is_available()) {
                    let mut found = vec![0xa5; len + 100];
                    stream_fill_nest(&mut found, nest, fill, level).unwrap();
                    assert!(found == wanted, "{fill:?} at {level}: {nest:?}");
                    assert!(stream_fill_nest(&mut found[..len - 1], nest, fill, level).is_err());
                    assert!(found == wanted);
                }
            }
        }
    }
}

#[test]
fn padding_outside_of_its_slice_is_an_error() {
    let (case, outer, row) = padded(4, 1, 100, 128, 0);
    let mut behind = outer.clone();
    behind.push(a_loop(28, 0, 4));
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &case.loops };
    let pad = Nest { src_offset: 0, dst_offset: row as isize, loops: &behind };
    let fill = Fill { value: 0, width: SlotWidth::Bytes(4) };
    let (src, mut dst) = (vec![1; 12 * 400], vec![2; 12 * 512]);
    let mover = Mover { family: case.family, element_bytes: 4, level: Level::detect(), stream: true };
    let error = mover.run_padded(&src, &mut dst[..12 * 512 - 1], (None, nest), (pad, fill)).unwrap_err();
    assert_eq!(error, OutOfBounds { side: Side::Destination, len: 12 * 512 - 1 });
    assert!(mover.run_padded(&src[1..], &mut dst, (None, nest), (pad, fill)).is_err());
    assert!(dst.iter().all(|&byte| byte == 2));
}

#[test]
fn rows_one_behind_the_other() {
    for (element, ways) in [(4, 1), (1, 1), (2, 2), (1, 4), (1, 3), (8, 2), (2, 8)] {
        for count in [9, 31, 64, 100, 127] {
            let (row, group) = (count * element, ways * 128 * element);
            // Dense; with gaps between groups; and groups in another order.
            let all = ways * row;
            for strides in [[8 * all, all], [8 * all + 5, all], [all, 5 * all]] {
                let mut loops = vec![a_loop(5, 8 * group, strides[0]), a_loop(8, group, strides[1])];
                match ways {
                    1 => loops.push(a_loop(count, element, element)),
                    _ => loops.extend([a_loop(ways, element, row), a_loop(count, ways * element, element)]),
                }
                let family = if ways == 1 { Family::Rows } else { Family::Deinterleave };
                check(&Case { family, element, loops });
            }
        }
    }
}

/// Rows that are read one after the other, each of which belongs to another of a few streams.
#[test]
fn rows_of_a_few_streams() {
    for (element, ways) in [(1, 1), (2, 2), (1, 4), (4, 3)] {
        for (count, streams) in [(9, 2), (72, 16), (100, 3), (300, 40)] {
            let (row, group, steps) = (count * element, ways * 128 * element, 7);
            let stream = steps * row;
            let mut loops = vec![
                a_loop(2, steps * streams * group, streams * ways * stream),
                a_loop(steps, streams * group, row),
                a_loop(streams, group, ways * stream),
            ];
            match ways {
                1 => loops.push(a_loop(count, element, element)),
                _ => loops.extend([a_loop(ways, element, stream), a_loop(count, ways * element, element)]),
            }
            if count > 128 {
                loops[..3].iter_mut().for_each(|l| l.src_stride *= 3);
            }
            let family = if ways == 1 { Family::Rows } else { Family::Deinterleave };
            check(&Case { family, element, loops });
        }
    }
}

/// Rows whose neighbours in the source belong elsewhere: some of which are taken along, and what is left of them; inside the loop of
/// rows that follow one another, and around it; with another loop outside of them, or inside.
#[test]
fn rows_across_the_source() {
    for (row, rows, beside) in
        [(64, 33, 37), (65, 40, 17), (100, 50, 21), (129, 16, 70), (700, 5, 7), (1500, 3, 3)]
    {
        for apart in [0, 3] {
            let (all, line) = (2 * beside * row + apart, rows * row + apart);
            let outer = a_loop(2, beside * row, beside * line);
            let [next, beside] = [a_loop(rows, all, row), a_loop(beside, row, line)];
            for order in [[outer, beside, next], [outer, next, beside], [beside, next, outer]] {
                let loops = [&order[..], &[a_loop(row, 1, 1)]].concat();
                check(&Case { family: Family::Rows, element: 1, loops });
            }
        }
    }
}

/// With the loops that a planner makes for rows of a tile and a part of one.
#[test]
fn rows_of_one_piece_and_a_rest() {
    for (element, ways, groups) in [(4, 1, 8), (2, 2, 4), (1, 4, 2), (1, 3, 3)] {
        for rest in [1, 17, 64, 127] {
            let (group, row) = (ways * 128 * element, (128 + rest) * element);
            let mut loops =
                vec![a_loop(3, 2 * groups * group, groups * ways * row), a_loop(groups, group, ways * row)];
            match ways {
                1 => loops.push(a_loop(128, element, element)),
                _ => loops.extend([a_loop(ways, element, row), a_loop(128, ways * element, element)]),
            }
            let family = if ways == 1 { Family::Rows } else { Family::Deinterleave };
            let case = Case { family, element, loops };
            let away = [groups * group, 128 * element].map(|bytes| bytes as isize);
            assert_eq!(check_single_rows(&case, away, rest), streams(), "{case:?}, {rest}");
            // What begins elsewhere is no rest.
            check_single_rows(&case, [away[0], away[1] + 1], rest.min(16));
        }
    }
}

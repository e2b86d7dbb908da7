//! Nests to try kernels on: made from extents and orders of loops, and checked byte by byte.
#![allow(dead_code)] // every test program uses its own part of this

use relayout_kernels::{Family, Fill, Level, Loop, Mover, Nest, SlotWidth, fill_nest};

/// What a destination holds where nothing may be written.
const SENTINEL: u8 = 0xa5;
/// Bytes on either side of a destination.
const MARGIN: usize = 192;
/// Bytes of a cache line.
const LINE: usize = 64;

/// Bytes from the starts of lines to the first places of both sides. A destination at 0 is the one that whole lines can be
/// streamed to.
const MISALIGNMENTS: [(usize, usize); 6] = [(0, 0), (1, 3), (5, 32), (32, 17), (8, 48), (0, 63)];

/// A nest and what it needs.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) family: Family,
    pub(crate) element: usize,
    pub(crate) loops: Vec<Loop>,
}

/// Strides of an array without gaps but for the fastest dimension, which has `gap` bytes behind it; `order` is from the
/// slowest dimension to the fastest.
pub(crate) fn dense(extents: &[usize], order: &[usize], element: usize, gap: usize) -> Vec<isize> {
    let mut strides = vec![0; extents.len()];
    let mut stride = element;
    for (position, &i) in order.iter().rev().enumerate() {
        strides[i] = stride as isize;
        stride *= extents[i];
        if position == 0 {
            stride += gap;
        }
    }
    strides
}

pub(crate) fn loops(extents: &[usize], src: &[isize], dst: &[isize]) -> Vec<Loop> {
    let zipped = extents.iter().zip(src.iter().zip(dst));
    zipped.map(|(&extent, (&src_stride, &dst_stride))| Loop { extent, src_stride, dst_stride }).collect()
}

/// Bytes from the first element down to the lowest place, and from there to the end of the highest.
fn span(case: &Case, stride: fn(&Loop) -> isize) -> (usize, usize) {
    let reach = |l: &Loop| (l.extent - 1) * stride(l).unsigned_abs();
    let below = case.loops.iter().filter(|l| stride(l) < 0).map(reach).sum();
    (below, case.loops.iter().map(reach).sum::<usize>() + case.element)
}

/// The nest, element by element.
fn plain(case: &Case, loops: &[Loop], src: &[u8], from: isize, dst: &mut [u8], to: isize) {
    let Some((first, rest)) = loops.split_first() else {
        let (from, to) = (from.unsigned_abs(), to.unsigned_abs());
        return dst[to..to + case.element].copy_from_slice(&src[from..from + case.element]);
    };
    for i in 0..first.extent as isize {
        plain(case, rest, src, from + i * first.src_stride, dst, to + i * first.dst_stride);
    }
}

/// Runs a case at every level of this machine, streamed and not, at several alignments.
pub(crate) fn check(case: &Case) {
    let ((src_first, src_len), (dst_first, dst_len)) =
        (span(case, |l| l.src_stride), span(case, |l| l.dst_stride));
    let nest = Nest { src_offset: src_first as isize, dst_offset: dst_first as isize, loops: &case.loops };
    run_everywhere(case, (src_len, dst_len), &[nest], &[false, true], |mover, src, dst| {
        mover.run(src, dst, nest).unwrap();
    });
    run_everywhere(case, (src_len, dst_len), &[nest], &[false], |mover, src, dst| {
        match mover.prepare(nest, src_len, dst_len) {
            Some(prepared) => prepared.run(src, dst).unwrap(),
            None => mover.run(src, dst, nest).unwrap(),
        }
    });
}

/// As [`check`], with `count` elements behind the last step of a loop that leads from piece to piece of rows; strides are
/// positive. True where some level moved both together, of several that stream.
pub(crate) fn check_rows(case: &Case, next: usize, count: usize) -> bool {
    let mut others = case.loops.clone();
    others.last_mut().unwrap().extent = count;
    let next = others.remove(next);
    let behind = |stride: fn(&Loop) -> isize| next.extent * stride(&next).unsigned_abs();
    let others = Case { loops: others, ..case.clone() };
    let len = |stride: fn(&Loop) -> isize| span(case, stride).1.max(behind(stride) + span(&others, stride).1);
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &case.loops };
    let (src_offset, dst_offset) = (behind(|l| l.src_stride) as isize, behind(|l| l.dst_stride) as isize);
    let rest = Nest { src_offset, dst_offset, loops: &others.loops };
    let mut together = false;
    let lens = (len(|l| l.src_stride), len(|l| l.dst_stride));
    run_everywhere(case, lens, &[nest, rest], &[false, true], |mover, src, dst| {
        if mover.run_rows(src, dst, nest, rest).unwrap() {
            together = true;
        } else {
            assert!(dst.iter().all(|&byte| byte == SENTINEL), "{mover:?} has moved something: {nest:?}");
            mover.run(src, dst, nest).unwrap();
            mover.run(src, dst, rest).unwrap();
        }
    });
    together
}

/// As [`check_rows`] without a loop that leads from piece to piece: there is one of each row, and `count` elements so many bytes behind
/// it on either side.
pub(crate) fn check_single_rows(case: &Case, [src_offset, dst_offset]: [isize; 2], count: usize) -> bool {
    let mut others = case.clone();
    others.loops.last_mut().unwrap().extent = count;
    let len = |offset: isize, stride: fn(&Loop) -> isize| {
        span(case, stride).1.max(offset.unsigned_abs() + span(&others, stride).1)
    };
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &case.loops };
    let rest = Nest { src_offset, dst_offset, loops: &others.loops };
    let mut together = false;
    let lens = (len(src_offset, |l| l.src_stride), len(dst_offset, |l| l.dst_stride));
    run_everywhere(case, lens, &[nest, rest], &[false, true], |mover, src, dst| {
        if mover.run_rows(src, dst, nest, rest).unwrap() {
            together = true;
        } else {
            mover.run(src, dst, nest).unwrap();
            mover.run(src, dst, rest).unwrap();
        }
    });
    together
}

/// A case whose rows, which `outer` lead to and which have so many bytes of the destination, have so many elements of padding behind
/// them. True where some level moved both together.
pub(crate) fn check_padded(case: &Case, outer: &[Loop], row: usize, pad: usize, value: u128) -> bool {
    let mut behind = outer.to_vec();
    behind.push(Loop { extent: pad, src_stride: 0, dst_stride: case.element as isize });
    check_padding(case, &behind, row, value)
}

/// A case with padding, whose loops start at an offset of the destination. True where some level moved both together.
pub(crate) fn check_padding(case: &Case, behind: &[Loop], offset: usize, value: u128) -> bool {
    let fill = Fill { value, width: SlotWidth::Bytes(case.element) };
    let nest = Nest { src_offset: 0, dst_offset: 0, loops: &case.loops };
    let padding = Nest { src_offset: 0, dst_offset: offset as isize, loops: behind };
    let padded = Case { loops: behind.to_vec(), ..case.clone() };
    let end = offset + span(&padded, |l| l.dst_stride).1;
    let lens = (span(case, |l| l.src_stride).1, span(case, |l| l.dst_stride).1.max(end));
    let mut together = false;
    // Each place of the padding from the same place of a source that has nothing but it.
    let element: Vec<u8> = value.to_le_bytes().into_iter().chain([0; 16]).take(case.element).collect();
    let values: Vec<u8> =
        element.into_iter().cycle().take(lens.1 / case.element * case.element + case.element).collect();
    let places = |dst: &mut [u8]| plain(&padded, behind, &values, 0, dst, offset as isize);
    run_and_compare(case, lens, &[nest], &[false, true], places, |mover, src, dst| {
        if mover.run_padded(src, dst, (None, nest), (padding, fill)).unwrap() {
            together = true;
        } else {
            assert!(dst.iter().all(|&byte| byte == SENTINEL), "{mover:?} has written something: {nest:?}");
            mover.run(src, dst, nest).unwrap();
            fill_nest(dst, padding, fill).unwrap();
        }
    });
    together
}

/// Checks what `run` writes from a source of so many bytes to a destination of as many, which shall be these nests, streamed or not.
fn run_everywhere(
    case: &Case,
    (src_len, dst_len): (usize, usize),
    nests: &[Nest<'_>],
    streams: &[bool],
    run: impl FnMut(&Mover, &[u8], &mut [u8]),
) {
    run_and_compare(case, (src_len, dst_len), nests, streams, |_| {}, run);
}

/// As [`run_everywhere`], where something else is to be written, too.
fn run_and_compare(
    case: &Case,
    (src_len, dst_len): (usize, usize),
    nests: &[Nest<'_>],
    streams: &[bool],
    also: impl Fn(&mut [u8]),
    mut run: impl FnMut(&Mover, &[u8], &mut [u8]),
) {
    let bytes: Vec<u8> = (0..src_len).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect();
    let mut wanted = vec![SENTINEL; dst_len];
    for nest in nests {
        plain(case, nest.loops, &bytes, nest.src_offset, &mut wanted, nest.dst_offset);
    }
    also(&mut wanted);
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.is_available()).collect();
    for (src_at, dst_at) in MISALIGNMENTS {
        // The source ends where its allocation does, so that an address sanitizer sees what reads on.
        let mut src = vec![0; src_at];
        src.extend_from_slice(&bytes);
        let mut dst = vec![SENTINEL; dst_len + 2 * MARGIN];
        let start = MARGIN - LINE + dst[MARGIN - LINE..].as_ptr().align_offset(LINE) + dst_at;
        for &level in &levels {
            // The portable loop knows nothing of lines.
            let streams = match (level, src_at) {
                (Level::Scalar, 0 | 1) => &streams[..1],
                (Level::Scalar, _) => &[],
                _ => streams,
            };
            for &stream in streams {
                dst.fill(SENTINEL);
                let mover = Mover { family: case.family, element_bytes: case.element, level, stream };
                run(&mover, &src[src_at..], &mut dst[start..start + dst_len]);
                let (before, rest) = dst.split_at(start);
                let (found, behind) = rest.split_at(dst_len);
                let untouched = before.iter().chain(behind).all(|&byte| byte == SENTINEL);
                assert!(
                    untouched && found == wanted,
                    "{mover:?} from {src_at} to {dst_at}: {}, {nests:?}",
                    if untouched { "wrong bytes" } else { "bytes outside" },
                );
            }
        }
    }
}

//! Walking the outer loops of a nest.

use crate::nest::Loop;

/// Loops that are walked without recursion; nests of more are rare, and their outermost loops recurse.
const FLAT: usize = 12;

/// Calls `body` with both places of every point of `loops`, the last loop fastest.
///
/// The places are made by wrapping arithmetic: whether they may be used is the body's own promise.
#[inline(always)]
pub(crate) fn each_point(
    loops: &[Loop],
    src: *const u8,
    dst: *mut u8,
    mut body: impl FnMut(*const u8, *mut u8),
) {
    match loops {
        [] => body(src, dst),
        [only] => {
            for i in 0..only.extent as isize {
                body(src.wrapping_offset(i * only.src_stride), dst.wrapping_offset(i * only.dst_stride));
            }
        }
        _ if loops.len() <= FLAT => flat(loops, src, dst, &mut body),
        _ => deep(loops, src, dst, &mut body),
    }
}

#[inline(always)]
fn flat(loops: &[Loop], mut src: *const u8, mut dst: *mut u8, body: &mut impl FnMut(*const u8, *mut u8)) {
    let mut counters = [0usize; FLAT];
    let Some((inner, outer)) = loops.split_last() else { return };
    loop {
        for i in 0..inner.extent as isize {
            body(src.wrapping_offset(i * inner.src_stride), dst.wrapping_offset(i * inner.dst_stride));
        }
        let mut level = outer.len();
        loop {
            if level == 0 {
                return;
            }
            level -= 1;
            let Loop { extent, src_stride, dst_stride } = outer[level];
            counters[level] += 1;
            src = src.wrapping_offset(src_stride);
            dst = dst.wrapping_offset(dst_stride);
            if counters[level] < extent {
                break;
            }
            counters[level] = 0;
            src = src.wrapping_offset(-src_stride * extent as isize);
            dst = dst.wrapping_offset(-dst_stride * extent as isize);
        }
    }
}

#[inline(never)]
fn deep(loops: &[Loop], src: *const u8, dst: *mut u8, body: &mut dyn FnMut(*const u8, *mut u8)) {
    let (outer, rest) = loops.split_at(loops.len() - FLAT);
    match outer {
        [] => flat(rest, src, dst, &mut |src, dst| body(src, dst)),
        [first, ..] => {
            for i in 0..first.extent as isize {
                let (src, dst) =
                    (src.wrapping_offset(i * first.src_stride), dst.wrapping_offset(i * first.dst_stride));
                deep(&loops[1..], src, dst, body);
            }
        }
    }
}

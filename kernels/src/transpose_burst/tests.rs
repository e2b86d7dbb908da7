//! Against a loop over the elements, on any processor that has the registers.

use super::*;
use crate::Level;
use crate::buffer::AlignedBuffer;
use crate::convert::flush::walk_at_level;

/// Transposes `rows` by `columns` elements to rows that start at `first` and lie `gap` bytes apart, and compares the whole.
fn check<const E: usize, const N: usize>(rows: usize, columns: usize, first: usize, gap: usize) {
    let src: Vec<u8> = (0..rows * columns * E).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
    let pitch = columns * E + gap;
    let mut dst = AlignedBuffer::zeroed(rows * pitch + 2 * LINE).unwrap();
    let dst = &mut dst[..];
    dst.fill(0xA5);
    let mut wanted = dst.to_vec();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let (from, to) = ((column * rows + row) * E, first + row * pitch + column * E);
        wanted[to..to + E].copy_from_slice(&src[from..from + E]);
    }
    let mut carry = AlignedBuffer::zeroed(BURST_CARRY).unwrap();
    let is_carried = !first.is_multiple_of(LINE) || !pitch.is_multiple_of(LINE);
    let kernel = BurstTranspose::<E, N> {
        columns: Loop { extent: columns, src_stride: (rows * E) as isize, dst_stride: E as isize },
        rows: Loop { extent: rows, src_stride: E as isize, dst_stride: pitch as isize },
        beyond: Loop { extent: 1, src_stride: 0, dst_stride: 0 },
        carry: if is_carried { carry.as_mut_ptr() } else { std::ptr::null_mut() },
    };
    let places = (src.as_ptr(), dst[first..].as_mut_ptr());
    // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
    let done = unsafe { walk_at_level(Level::Avx2, &[], places, kernel) };
    assert!(!done || dst == wanted, "{rows} x {columns} of {E} bytes, from {first} on, {gap} apart");
}

/// Panels, blocks and strips that are whole and that are not; rows that start lines, and rows that start anywhere.
#[test]
fn every_row_is_whole_whatever_the_processor() {
    if !Level::Avx2.is_available() {
        return;
    }
    for columns in [128, 131, 257, 600] {
        for rows in [64, 65, 127, if columns == 131 { STRIP_ROWS + 3 } else { 191 }] {
            let aligned = |element: usize| (columns * element).wrapping_neg() % LINE;
            for (first, gap) in [(0, None), (0, Some(0)), (5, Some(7)), (63, Some(1))] {
                check::<1, 16>(rows, columns, first, gap.unwrap_or(aligned(1)));
                check::<2, 8>(rows, columns, first, gap.unwrap_or(aligned(2)));
                check::<4, 4>(rows, columns, first, gap.unwrap_or(aligned(4)));
                check::<8, 2>(rows, columns, first, gap.unwrap_or(aligned(8)));
            }
        }
    }
}

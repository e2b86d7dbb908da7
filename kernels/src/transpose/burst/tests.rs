//! Against a loop over the elements, on any processor that has the registers.

use super::*;
use crate::Level;
use crate::buffer::AlignedBuffer;
use crate::convert::flush::walk_at_level;
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::transpose::block::AsIs;
use crate::transpose::columns::SourceColumns;
use crate::tuning::Stretches;

/// Transposes `columns` of `rows` elements, `step` bytes one from the next, to rows that start at `first` and lie `gap` bytes
/// apart, and compares the whole.
fn check<const E: usize, const N: usize>(
    (rows, columns): (usize, usize),
    step: usize,
    (first, gap): (usize, usize),
) {
    let src: Vec<u8> = (0..step * columns).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
    let pitch = columns * E + gap;
    let mut dst = AlignedBuffer::zeroed(rows * pitch + 2 * LINE).unwrap();
    let dst = &mut dst[..];
    dst.fill(0xA5);
    let mut wanted = dst.to_vec();
    for (row, column) in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let (from, to) = (column * step + row * E, first + row * pitch + column * E);
        wanted[to..to + E].copy_from_slice(&src[from..from + E]);
    }
    let mut carry = AlignedBuffer::zeroed(BURST_CARRY).unwrap();
    let is_carried = !first.is_multiple_of(LINE) || !pitch.is_multiple_of(LINE);
    let plane = CarriedPlane {
        columns: Loop { extent: columns, src_stride: step as isize, dst_stride: E as isize },
        rows: Loop { extent: rows, src_stride: E as isize, dst_stride: pitch as isize },
        beyond: ONCE,
        along: ONCE,
        carry: if is_carried { carry.as_mut_ptr() } else { std::ptr::null_mut() },
        stretches: Stretches::USUAL,
    };
    let levels = [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available());
    for (level, meet_deep) in levels.flat_map(|level| [(level, false), (level, true)]) {
        let source = SourceColumns::default();
        let kernel = BurstTranspose::<E, N, true, _, _> { source, leave: AsIs, plane, meet_deep };
        dst.fill(0xA5);
        let places = (src.as_ptr(), dst[first..].as_mut_ptr());
        // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
        let done = unsafe { walk_at_level(level, &[], places, kernel) };
        assert!(
            done && dst == wanted,
            "{level}, deep {meet_deep}: {rows} x {columns} of {E} bytes, {step} apart, from {first} on, {gap} apart"
        );
    }
}

/// All widths of elements, columns that lie one behind the other, or in few sets of the caches.
fn check_widths(sides: (usize, usize), meets: bool, (first, gap): (usize, Option<usize>)) {
    fn one<const E: usize, const N: usize>(
        sides: (usize, usize),
        meets: bool,
        (first, gap): (usize, Option<usize>),
    ) {
        let step = if meets { (sides.0 * E).next_multiple_of(4096) + 4 } else { sides.0 * E };
        let gap = gap.unwrap_or((sides.1 * E).wrapping_neg() % LINE);
        check::<E, N>(sides, step, (first, gap));
    }
    one::<1, 16>(sides, meets, (first, gap));
    one::<2, 8>(sides, meets, (first, gap));
    one::<4, 4>(sides, meets, (first, gap));
    one::<8, 2>(sides, meets, (first, gap));
}

/// Panels, turns, blocks and strips that are whole and that are not; rows that start lines, and rows that start anywhere.
#[test]
fn every_row_is_whole_whatever_the_processor() {
    if !Level::Avx2.is_available() {
        return;
    }
    for columns in [128, 131, 257, 600] {
        for rows in [64, 65, 127, 191, 250] {
            for (first, gap) in [(0, None), (0, Some(0)), (5, Some(7)), (63, Some(1))] {
                check_widths((rows, columns), false, (first, gap));
                check_widths((rows, columns), true, (first, gap));
            }
        }
    }
    // Rows that are far, too.
    for (first, gap) in [(0, None), (5, Some(7))] {
        check_widths((191, 2100), true, (first, gap));
        check::<1, 16>((447, 4224), 4096 + 4, (first, gap.unwrap_or(0)));
    }
    check_widths((STRIP_ROWS + 3, 131), false, (0, None));
    check_widths((STRIP_ROWS + 3, 131), false, (5, Some(7)));
}

/// What is asked for with a row counts those of its block before it, which are not those of a whole block.
#[test]
fn rows_of_a_block_follow_one_another() {
    type Kernel = BurstTranspose<4, 4, true, SourceColumns, AsIs>;
    for rows in [0..16, 16..24, 5..16, 24..29, 15..16] {
        let parts = (Kernel::first_part(&rows)..LINE / LANE).map(|part| Kernel::part(&rows, part));
        let counted = parts.fold(0, |counted, part| {
            assert_eq!((part.before, part.at + part.skip), (counted, rows.start + counted), "{rows:?}");
            counted + 4 - part.skip
        });
        assert_eq!(counted, rows.len());
    }
}

/// Strips of rows that are near are as long as one another, as far as lines allow.
#[cfg(target_arch = "x86_64")]
#[test]
fn strips_are_even() {
    fn widths(columns: usize) -> Vec<usize> {
        let row = columns * 4;
        let plane = CarriedPlane {
            columns: Loop { extent: columns, src_stride: 384, dst_stride: 4 },
            rows: Loop { extent: 96, src_stride: 4, dst_stride: row as isize },
            beyond: ONCE,
            along: ONCE,
            carry: std::ptr::null_mut(),
            stretches: Stretches::USUAL,
        };
        let source = SourceColumns::default();
        let kernel = BurstTranspose::<4, 4, true, _, _> { source, leave: AsIs, plane, meet_deep: false };
        let mut left = row;
        std::iter::from_fn(|| {
            let width = (left > 0).then(|| kernel.width::<pulp::x86::V3>(left))?;
            left -= width;
            Some(width)
        })
        .collect()
    }
    assert_eq!(widths(64), [256]);
    assert_eq!(widths(96), [192, 192]);
    assert_eq!(widths(112), [256, 192]);
    assert_eq!(widths(160), [192, 192, 128, 128]);
}

//! Against a loop over the slots, on any processor that has the registers.

use super::*;
use crate::Level;
use crate::buffer::AlignedBuffer;
use crate::convert::flush::walk_at_level;
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::transpose::burst::BURST_CARRY;
use crate::transpose::plane::CarriedPlane;
use crate::tuning::{PAGE, Stretches};

/// Transposes columns of `rows` slots a part, of which the first has `first` before it in its byte, to rows that start at `at` and
/// lie `gap` bytes apart, and compares the whole.
fn check<const SLOTS: usize, const PAST: bool>(
    packed: PackedSides,
    rows: usize,
    first: usize,
    (at, gap): (usize, usize),
) {
    // Slots of the source from column to column: any number, and one by which columns meet in few sets of the caches.
    let step = rows * packed.per_byte(SLOTS)[0];
    for step in [step + 5, step.next_multiple_of(PAGE) + 2] {
        for level in [Level::Avx2, Level::Avx512] {
            check_at::<SLOTS, PAST>(level, packed, rows, (first, step), (at, gap));
        }
    }
}

/// The same at a level, with so many slots of the source from column to column.
fn check_at<const SLOTS: usize, const PAST: bool>(
    level: Level,
    packed: PackedSides,
    rows: usize,
    (first, step): (usize, usize),
    (at, gap): (usize, usize),
) {
    let [src_slots, dst_slots] = packed.per_byte(SLOTS);
    let any = PackedColumns {
        packed,
        first: 0,
        step: step as isize,
        width: 0,
        made: std::ptr::null_mut(),
        heads: None,
    };
    let width = PackedColumns::<SLOTS>::widest_turn(&any);
    let (strips, bits) = (2, 8 / SLOTS);
    let first = if src_slots == 1 { 0 } else { first };
    let columns = strips * width * dst_slots;
    // No byte behind that of the last slot, so that a sanitizer sees what is read there.
    let src_bytes = (first + (columns - 1) * step + rows * src_slots).div_ceil(src_slots);
    let src: Box<[u8]> = (0..src_bytes).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
    let pitch = strips * width + gap;
    let mut dst = AlignedBuffer::zeroed(rows * src_slots * pitch + 2 * LINE).unwrap();
    let dst = &mut dst[..];
    dst.fill(0xA5);
    let mut wanted = dst.to_vec();
    for (row, column) in (0..rows * src_slots).flat_map(|row| (0..columns).map(move |column| (row, column))) {
        let place = first + column * step + row;
        let slot = src[place / src_slots] >> (bits * (place % src_slots)) & lowest::<SLOTS>() as u8;
        let to = &mut wanted[at + row * pitch + column / dst_slots];
        *to = if column % dst_slots == 0 { slot } else { *to | slot << (bits * (column % dst_slots)) };
    }
    let apart = (step * SLOTS / src_slots) as isize;
    let source = PackedColumns::<SLOTS> {
        packed,
        first,
        step: step as isize,
        width,
        made: std::ptr::null_mut(),
        heads: None,
    };
    let mut carry = AlignedBuffer::zeroed(BURST_CARRY).unwrap();
    let is_carried = PAST && (!at.is_multiple_of(LINE) || !pitch.is_multiple_of(LINE));
    let plane = CarriedPlane {
        columns: Loop { extent: strips * width, src_stride: apart, dst_stride: 1 },
        rows: Loop { extent: rows, src_stride: 1, dst_stride: (pitch * src_slots) as isize },
        beyond: ONCE,
        along: ONCE,
        carry: if is_carried { carry.as_mut_ptr() } else { std::ptr::null_mut() },
        stretches: Stretches::USUAL,
    };
    let kernel = ByTurns::<SLOTS, PAST> { source, plane };
    let places = (src.as_ptr(), dst[at..].as_mut_ptr());
    // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
    let done = unsafe { walk_at_level(level, &[], places, kernel) };
    assert!(
        !done || dst == wanted,
        "{level:?}, {packed:?}, {SLOTS} slots a byte, {rows} rows, {first} slots before, {step} a column, from {at} on, {gap} apart"
    );
}

/// Whole blocks and parts of them, more rows than carries at once, columns that start at any slot; rows that start lines, and rows
/// that start anywhere.
#[test]
fn every_slot_arrives_whatever_the_processor() {
    if !Level::Avx2.is_available() {
        return;
    }
    for packed in [PackedSides::Both, PackedSides::Source, PackedSides::Destination] {
        for (rows, first) in [(64, 0), (65, 1), (191, 3), (600, 7)] {
            for place in [(0, 0), (0, LINE), (5, 7)] {
                check::<2, true>(packed, rows, first % 2, place);
                check::<2, false>(packed, rows, first % 2, place);
                check::<4, true>(packed, rows, first % 4, place);
                check::<4, false>(packed, rows, first % 4, place);
                check::<8, true>(packed, rows, first, place);
                check::<8, false>(packed, rows, first, place);
            }
        }
    }
}

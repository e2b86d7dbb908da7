//! `f64` and pairs of `f32`, one at a time: places come from the digits, as for pairs without a short list of boxes.

use std::ops::Range;

use relayout_kernels::SlotWidth;

use super::ends::{Source, Target, hull};
use crate::convert::{ef57_join, ef57_split};
use crate::index::bump;
use crate::plan::choose::Element;
use crate::plan::digits::Digits;
use crate::plan::{Ef57, unit};

/// Splits or joins every element that the target holds in whole or in part; the plan has measured the buffers.
pub(super) fn run(plan: &Ef57, base: [i64; 2], element: Element, src: Source<'_>, target: &mut Target<'_>) {
    each_element(plan, base, |double, pair| {
        if plan.splits {
            if pair.iter().any(|&place| touches(&target.places(), place, element.dst)) {
                let parts = ef57_split(u64::from_le_bytes(read(src, double)));
                for (place, part) in pair.into_iter().zip(parts) {
                    write(target, place, &part.to_le_bytes(), element.dst);
                }
            }
        } else if touches(&target.places(), double, element.dst) {
            let bits = ef57_join(pair.map(|place| u32::from_le_bytes(read(src, place))));
            write(target, double, &bits.to_le_bytes(), element.dst);
        }
    });
}

/// The bytes of the source between the first and the last that some bytes of the destination are made from.
pub(super) fn src_span(
    plan: &Ef57,
    base: [i64; 2],
    element: Element,
    range: &Range<usize>,
) -> Option<Range<usize>> {
    let mut span = None;
    let mut add = |start: usize, len: usize| span = hull(span.take(), Some(start..start + len));
    each_element(plan, base, |double, pair| {
        if plan.splits && pair.iter().any(|&place| touches(range, place, element.dst)) {
            add(double, DOUBLE);
        } else if !plan.splits && touches(range, double, element.dst) {
            pair.into_iter().for_each(|place| add(place, FLOAT));
        }
    });
    span
}

/// True where some byte of a slot lies in a range.
fn touches(range: &Range<usize>, place: usize, slot: SlotWidth) -> bool {
    place < range.end && place + unit(slot) as usize > range.start
}

/// Bytes of a value of either type.
const DOUBLE: usize = 8;
const FLOAT: usize = 4;

/// Calls `visit` with the places of every `f64` and of its pair of `f32`.
fn each_element(plan: &Ef57, base: [i64; 2], mut visit: impl FnMut(usize, [usize; 2])) {
    let (doubles, floats) = if plan.splits { (&plan.src, &plan.dst) } else { (&plan.dst, &plan.src) };
    let [double_base, float_base] = if plan.splits { base } else { [base[1], base[0]] };
    let mut registers = Vec::new();
    let mut index = vec![0; plan.extents.len()];
    let mut more = !plan.extents.contains(&0);
    while more {
        let double = (double_base + doubles.place(index.iter().copied(), &mut registers)) as usize;
        let pair = [0, 1].map(|part| (float_base + place_of(floats, &index, part, &mut registers)) as usize);
        visit(double, pair);
        more = bump(&plan.extents, &mut index);
    }
}

/// The place of the first or the second `f32` of an element's pair.
fn place_of(floats: &Digits, index: &[i64], part: i64, registers: &mut Vec<i64>) -> i64 {
    let last = index.len().saturating_sub(1);
    let entry = |(dimension, &entry): (usize, &i64)| if dimension == last { 2 * entry + part } else { entry };
    floats.place(index.iter().enumerate().map(entry), registers)
}

fn read<const N: usize>(src: Source<'_>, place: usize) -> [u8; N] {
    let (mut bytes, start) = ([0; N], place - src.start);
    bytes.copy_from_slice(&src.bytes[start..start + N]);
    bytes
}

/// Writes a value, and zeros above it in a wider slot, as far as they lie in the target.
fn write(target: &mut Target<'_>, place: usize, value: &[u8], slot: SlotWidth) {
    let SlotWidth::Bytes(slot) = slot else { return }; // neither type is packed
    target.write(place, value);
    target.part(place + value.len(), slot - value.len()).1.fill(0);
}

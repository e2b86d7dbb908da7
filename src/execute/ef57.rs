//! `f64` and pairs of `f32`, one at a time: places come from the digits, as for pairs without a short list of boxes.

use relayout_kernels::SlotWidth;

use crate::convert::{ef57_join, ef57_split};
use crate::index::bump;
use crate::plan::Ef57;
use crate::plan::choose::Element;
use crate::plan::digits::Digits;

/// Splits or joins every element; the plan has measured the buffers.
pub(super) fn run(plan: &Ef57, base: [i64; 2], element: Element, src: &[u8], dst: &mut [u8]) {
    let (doubles, floats) = if plan.splits { (&plan.src, &plan.dst) } else { (&plan.dst, &plan.src) };
    let [double_base, float_base] = if plan.splits { base } else { [base[1], base[0]] };
    let mut registers = Vec::new();
    let mut index = vec![0; plan.extents.len()];
    let mut more = !plan.extents.contains(&0);
    while more {
        let double = (double_base + doubles.place(index.iter().copied(), &mut registers)) as usize;
        let pair = [0, 1].map(|part| (float_base + place_of(floats, &index, part, &mut registers)) as usize);
        if plan.splits {
            let bits = u64::from_le_bytes(read(src, double));
            for (place, part) in pair.into_iter().zip(ef57_split(bits)) {
                write(dst, place, &part.to_le_bytes(), element.dst);
            }
        } else {
            let bits = ef57_join(pair.map(|place| u32::from_le_bytes(read(src, place))));
            write(dst, double, &bits.to_le_bytes(), element.dst);
        }
        more = bump(&plan.extents, &mut index);
    }
}

/// The place of the first or the second `f32` of an element's pair.
fn place_of(floats: &Digits, index: &[i64], part: i64, registers: &mut Vec<i64>) -> i64 {
    let last = index.len().saturating_sub(1);
    let entry = |(dimension, &entry): (usize, &i64)| if dimension == last { 2 * entry + part } else { entry };
    floats.place(index.iter().enumerate().map(entry), registers)
}

fn read<const N: usize>(src: &[u8], place: usize) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(&src[place..place + N]);
    bytes
}

/// Writes a value, and zeros above it in a wider slot.
fn write(dst: &mut [u8], place: usize, value: &[u8], slot: SlotWidth) {
    let SlotWidth::Bytes(slot) = slot else { return }; // neither type is packed
    dst[place..place + value.len()].copy_from_slice(value);
    dst[place + value.len()..place + slot].fill(0);
}

//! One value into every place of a loop nest: padding, and the unused bytes of wide slots.

use crate::nest::{Loop, Nest, OutOfBounds, Side, stays_inside};
use crate::slots::{SlotWidth, store_slot};

/// What is written: an element of `bytes` bytes, the value in the low ones (little endian), the rest zero.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fill {
    /// The value's bits.
    pub value: u128,
    /// How wide a place is.
    pub width: SlotWidth,
}

/// Writes `fill` at every place of `nest`, of which only the destination side counts; the unit is bytes, or slots
/// where the width is in bits.
///
/// # Errors
/// [`OutOfBounds`] where some place lies outside `dst`; nothing was written then.
pub fn fill_nest(dst: &mut [u8], nest: Nest<'_>, fill: Fill) -> Result<(), OutOfBounds> {
    if nest.is_empty() {
        return Ok(());
    }
    let (width, len) = match fill.width {
        SlotWidth::Bytes(bytes) => (bytes, dst.len()),
        SlotWidth::Bits(bits) => (1, bits.slots_in(dst.len())),
    };
    let steps = nest.loops.iter().map(|l| (l.extent, l.dst_stride));
    if !stays_inside(nest.dst_offset, steps, width, len) {
        return Err(OutOfBounds { side: Side::Destination, len });
    }
    match fill.width {
        SlotWidth::Bytes(bytes) => {
            let mut pattern = Pattern::new(fill.value, bytes);
            let loops = pattern.take_runs(nest.loops);
            each_place(loops, nest.dst_offset, &mut |place| pattern.write(&mut dst[place.unsigned_abs()..]));
        }
        SlotWidth::Bits(bits) => each_place(nest.loops, nest.dst_offset, &mut |place| {
            store_slot(dst, place.unsigned_abs(), bits, fill.value as u8);
        }),
    }
    Ok(())
}

/// A run of bytes to write: one element, or many where all bytes are the same.
struct Pattern {
    value: [u8; 16],
    bytes: usize,
    uniform: bool,
}

impl Pattern {
    fn new(value: u128, bytes: usize) -> Pattern {
        let value = value.to_le_bytes();
        let uniform = (0..bytes).take(17).all(|i| value.get(i).copied().unwrap_or(0) == value[0]);
        Pattern { value, bytes, uniform }
    }

    /// Where every byte of an element is the same, contiguous inner loops become part of the run.
    fn take_runs<'a>(&mut self, mut loops: &'a [Loop]) -> &'a [Loop] {
        while self.uniform
            && let [outer @ .., inner] = loops
        {
            if inner.extent > 1 && Some(inner.dst_stride) != isize::try_from(self.bytes).ok() {
                break;
            }
            self.bytes *= inner.extent; // cannot overflow: the run lies inside a slice
            loops = outer;
        }
        loops
    }

    fn write(&self, dst: &mut [u8]) {
        let (place, _) = dst.split_at_mut(self.bytes);
        if self.uniform {
            place.fill(self.value[0]);
        } else {
            let (low, rest) = place.split_at_mut(self.bytes.min(16));
            low.copy_from_slice(&self.value[..low.len()]);
            rest.fill(0);
        }
    }
}

/// Calls `visit` with every destination place of the loops.
fn each_place(loops: &[Loop], place: isize, visit: &mut impl FnMut(isize)) {
    match loops {
        [] => visit(place),
        [outer, rest @ ..] => {
            for i in 0..outer.extent {
                each_place(rest, place + i as isize * outer.dst_stride, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::Bits;

    fn filled(loops: &[Loop], fill: Fill, len: usize) -> Vec<u8> {
        let mut dst = vec![0xee; len];
        fill_nest(&mut dst, Nest { src_offset: 0, dst_offset: 1, loops }, fill).unwrap();
        dst
    }

    #[test]
    fn writes_elements_and_nothing_between() {
        let loops = [Loop { extent: 2, src_stride: 0, dst_stride: 4 }];
        let fill = Fill { value: 0x0201, width: SlotWidth::Bytes(2) };
        assert_eq!(filled(&loops, fill, 8), [0xee, 1, 2, 0xee, 0xee, 1, 2, 0xee]);
    }

    #[test]
    fn wide_slots_are_zero_above_the_value() {
        let fill = Fill { value: u128::MAX, width: SlotWidth::Bytes(18) };
        let dst = filled(&[], fill, 20);
        assert_eq!((dst[0], &dst[1..17], &dst[17..19], dst[19]), (0xee, &[0xff; 16][..], &[0, 0][..], 0xee));
    }

    #[test]
    fn bits_leave_their_neighbours() {
        let fill = Fill { value: 0b1010, width: SlotWidth::Bits(Bits::Four) };
        let loops = [Loop { extent: 2, src_stride: 0, dst_stride: 1 }];
        assert_eq!(filled(&loops, fill, 2), [0xae, 0xea]);
    }

    #[test]
    fn outside_is_refused_before_anything_is_written() {
        let mut dst = [7; 4];
        let loops = [Loop { extent: 3, src_stride: 0, dst_stride: 2 }];
        let fill = Fill { value: 0, width: SlotWidth::Bytes(1) };
        assert!(fill_nest(&mut dst, Nest { src_offset: 0, dst_offset: 0, loops: &loops }, fill).is_err());
        assert_eq!(dst, [7; 4]);
    }
}

//! One value into every place of a loop nest: padding, and the unused bytes of wide slots.

use crate::convert::flush::{fence, walk_at_level};
use crate::lanes::{LINE, Lanes, stream_line};
use crate::level::Level;
use crate::loops::ONCE;
use crate::nest::{Loop, Nest, OutOfBounds, Side, stays_inside};
use crate::rows::copy_short;
use crate::slots::{Bits, SlotWidth, store_slot};
use crate::walk::{FLAT, Point};

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
        // SAFETY: all places of the nest are inside.
        SlotWidth::Bytes(bytes) => unsafe { fill_bytes(dst, nest, fill.value, bytes) },
        SlotWidth::Bits(bits) => fill_slots(dst, nest, fill.value as u8, bits),
    }
    Ok(())
}

/// As [`fill_nest`], past the cache where `fill` is one byte again and again and its runs are some lines: padding that nobody reads soon.
///
/// # Errors
/// The same.
pub fn stream_fill_nest(dst: &mut [u8], nest: Nest<'_>, fill: Fill, level: Level) -> Result<(), OutOfBounds> {
    let SlotWidth::Bytes(width) = fill.width else { return fill_nest(dst, nest, fill) };
    let (loops, run) = match nest.is_empty() {
        true => return Ok(()),
        false if !inside(dst, &nest, width) => return fill_nest(dst, nest, fill),
        false => take_runs(nest.loops, width),
    };
    let value = fill.value as u8;
    let is_uniform =
        fill.value == 0 || width <= 16 && fill.value.to_le_bytes()[..width].iter().all(|&byte| byte == value);
    if run < LEAST_STREAMED || !is_uniform || loops.len() > FLAT || !level.is_available() {
        return fill_nest(dst, nest, fill);
    }
    let to = dst[nest.dst_offset.unsigned_abs()..].as_mut_ptr();
    let line = [value; LINE];
    // SAFETY: all places of the nest are inside, and a run is made of the innermost loops; the walk stays on the line in the source,
    // having no steps there.
    let done = unsafe {
        let mut places = [ONCE; FLAT];
        for (place, l) in places.iter_mut().zip(loops) {
            *place = Loop { src_stride: 0, ..*l };
        }
        walk_at_level(level, &places[..loops.len()], (line.as_ptr(), to), FillRun { run })
    };
    match done {
        true => fence(level),
        false => return fill_nest(dst, nest, fill),
    }
    Ok(())
}

/// Shorter runs have more lines that are written in part.
const LEAST_STREAMED: usize = 4 * LINE;

/// True where every place of a nest lies inside, with so many bytes behind it.
pub(crate) fn inside(dst: &[u8], nest: &Nest<'_>, width: usize) -> bool {
    stays_inside(nest.dst_offset, nest.loops.iter().map(|l| (l.extent, l.dst_stride)), width, dst.len())
}

/// Writes `run` bytes, all like those of a line.
#[derive(Clone, Copy)]
struct FillRun {
    run: usize,
}

impl Point for FillRun {
    /// # Safety
    /// A line must be readable at `src`, and `run` bytes writable at `dst`.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let head = (dst.addr().wrapping_neg() % LINE).min(self.run);
        let end = head + (self.run - head) / LINE * LINE;
        let mut at = head;
        // SAFETY: parts of the run; behind the head lines start.
        unsafe {
            copy_short(src, dst, head);
            while at < end {
                stream_line(lanes, src, dst.add(at));
                at += LINE;
            }
            copy_short(src, dst.add(end), self.run - end);
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

/// Bytes of a repeated value that longer runs are copied from.
const BLOCK: usize = 4096;

/// # Safety
/// So many bytes must lie in `dst` from every place of the nest on.
unsafe fn fill_bytes(dst: &mut [u8], nest: Nest<'_>, value: u128, bytes: usize) {
    let (loops, run) = take_runs(nest.loops, bytes);
    let repeats =
        |value: [u8; 16]| (0..bytes).take(17).all(|i| value.get(i).copied().unwrap_or(0) == value[0]);
    let uniform = value == 0 || repeats(value.to_le_bytes());
    let value = if uniform { [value as u8; 16] } else { value.to_le_bytes() };
    let offset = nest.dst_offset;
    // SAFETY: the caller's promise; a run is made of the innermost loops.
    unsafe {
        match run {
            17.. if uniform => each_place(loops, offset, &mut |place| {
                dst[place.unsigned_abs()..][..run].fill(value[0]);
            }),
            1 => elements::<1>(dst, loops, offset, value),
            2 if bytes == 2 || uniform => elements::<2>(dst, loops, offset, value),
            3 if uniform => both_ends::<2>(dst, loops, offset, run, value[0]),
            4 if bytes == 4 || uniform => elements::<4>(dst, loops, offset, value),
            5..8 if uniform => both_ends::<4>(dst, loops, offset, run, value[0]),
            8 if bytes == 8 || uniform => elements::<8>(dst, loops, offset, value),
            9..16 if uniform => both_ends::<8>(dst, loops, offset, run, value[0]),
            16 if bytes == 16 || uniform => elements::<16>(dst, loops, offset, value),
            _ => {
                let block = repeated(&value, bytes, run);
                each_place(loops, offset, &mut |place| {
                    let place = &mut dst[place.unsigned_abs()..][..run];
                    place.chunks_mut(block.len()).for_each(|part| part.copy_from_slice(&block[..part.len()]));
                });
            }
        }
    }
}

/// Runs of slots that share bytes: whole bytes at once, and the slots before and behind them.
fn fill_slots(dst: &mut [u8], nest: Nest<'_>, value: u8, bits: Bits) {
    let per_byte = 8 / bits as usize;
    let mut whole = [0];
    (0..per_byte).for_each(|slot| store_slot(&mut whole, slot, bits, value));
    let (loops, run) = take_runs(nest.loops, 1);
    each_place(loops, nest.dst_offset, &mut |place| {
        let first = place.unsigned_abs();
        let head = (first.wrapping_neg() % per_byte).min(run);
        let (bytes, tail) = ((run - head) / per_byte, (run - head) % per_byte);
        (first..first + head).for_each(|slot| store_slot(dst, slot, bits, value));
        let body = (first + head) / per_byte;
        dst[body..body + bytes].fill(whole[0]);
        (first + run - tail..first + run).for_each(|slot| store_slot(dst, slot, bits, value));
    });
}

/// Takes the innermost loops that are contiguous off the nest; returns the rest and the bytes of a run.
pub(crate) fn take_runs(mut loops: &[Loop], bytes: usize) -> (&[Loop], usize) {
    let mut run = bytes;
    while let [outer @ .., inner] = loops {
        if inner.extent > 1 && Ok(run) != usize::try_from(inner.dst_stride) {
            break;
        }
        run *= inner.extent; // cannot overflow: the run lies inside a slice
        loops = outer;
    }
    (loops, run)
}

/// As many whole elements as a block has room for, and a run.
fn repeated(value: &[u8; 16], bytes: usize, run: usize) -> Vec<u8> {
    let mut element = vec![0; bytes];
    let low = bytes.min(16);
    element[..low].copy_from_slice(&value[..low]);
    element.repeat((run / bytes).min((BLOCK / bytes).max(1)))
}

/// One element, or a few of equal bytes, at every place.
///
/// # Safety
/// `N` bytes must lie in `dst` from every place on.
unsafe fn elements<const N: usize>(dst: &mut [u8], loops: &[Loop], offset: isize, value: [u8; 16]) {
    let mut element = [0; N];
    element.copy_from_slice(&value[..N]);
    let dst = dst.as_mut_ptr();
    each_place(loops, offset, &mut |place| {
        // SAFETY: the caller's promise; bytes have no alignment.
        unsafe { dst.offset(place).cast::<[u8; N]>().write(element) }
    });
}

/// Runs of `N` to `2 * N` equal bytes at every place: two writes, which overlap.
///
/// # Safety
/// `run` bytes must lie in `dst` from every place on.
unsafe fn both_ends<const N: usize>(dst: &mut [u8], loops: &[Loop], offset: isize, run: usize, byte: u8) {
    let dst = dst.as_mut_ptr();
    each_place(loops, offset, &mut |place| {
        // SAFETY: the caller's promise, for both ends of the run.
        unsafe {
            let place = dst.offset(place);
            place.cast::<[u8; N]>().write([byte; N]);
            place.add(run - N).cast::<[u8; N]>().write([byte; N]);
        }
    });
}

/// Calls `visit` with every destination place of the loops.
#[inline]
fn each_place(loops: &[Loop], place: isize, visit: &mut impl FnMut(isize)) {
    match loops {
        [] => visit(place),
        [inner] => (0..inner.extent as isize).for_each(|i| visit(place + i * inner.dst_stride)),
        [outer, inner] => {
            for i in 0..outer.extent as isize {
                let place = place + i * outer.dst_stride;
                (0..inner.extent as isize).for_each(|j| visit(place + j * inner.dst_stride));
            }
        }
        [outer, rest @ ..] => {
            for i in 0..outer.extent as isize {
                each_place(rest, place + i * outer.dst_stride, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn runs_of_every_width_are_as_their_elements() {
        for bytes in [1, 2, 3, 4, 7, 8, 12, 16, 20] {
            for value in
                [0, 0x2222_2222_2222_2222_2222_2222_2222_2222, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10]
            {
                for (extent, rows, gap) in
                    [(1, 5, 3), (2, 3, 0), (2, 3, 1), (16, 2, 5), (700, 2, 1), (3000, 1, 0)]
                {
                    let row = (extent * bytes + gap) as isize;
                    let loops = [
                        Loop { extent: rows, src_stride: 0, dst_stride: row },
                        Loop { extent, src_stride: 0, dst_stride: bytes as isize },
                    ];
                    let len = rows * row as usize + 2;
                    let found = filled(&loops, Fill { value, width: SlotWidth::Bytes(bytes) }, len);
                    let mut wanted = vec![0xee; len];
                    for (row, i) in (0..rows).flat_map(|row| (0..extent).map(move |i| (row, i))) {
                        for at in 0..bytes {
                            let byte = value.to_le_bytes().get(at).copied().unwrap_or(0);
                            wanted[1 + row * (extent * bytes + gap) + i * bytes + at] = byte;
                        }
                    }
                    assert_eq!(found, wanted, "{bytes} bytes, {extent} x {rows}");
                }
            }
        }
    }

    #[test]
    fn bits_leave_their_neighbours() {
        let fill = Fill { value: 0b1010, width: SlotWidth::Bits(Bits::Four) };
        let loops = [Loop { extent: 2, src_stride: 0, dst_stride: 1 }];
        assert_eq!(filled(&loops, fill, 2), [0xae, 0xea]);
    }

    #[test]
    fn runs_of_slots_are_as_their_slots() {
        for (bits, value) in [(Bits::One, 1), (Bits::Two, 2), (Bits::Four, 0xa)] {
            for (extent, rows, step) in [(1, 9, 3), (3, 5, 4), (16, 3, 16), (61, 4, 67), (100, 2, 131)] {
                let loops = [
                    Loop { extent: rows, src_stride: 0, dst_stride: step },
                    Loop { extent, src_stride: 0, dst_stride: 1 },
                ];
                let len = 200;
                let found = filled(&loops, Fill { value, width: SlotWidth::Bits(bits) }, len);
                let mut wanted = vec![0xee; len];
                for (row, i) in (0..rows).flat_map(|row| (0..extent).map(move |i| (row, i))) {
                    store_slot(&mut wanted, 1 + row * step.unsigned_abs() + i, bits, value as u8);
                }
                assert_eq!(found, wanted, "{bits:?}, {extent} x {rows}");
            }
        }
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

//! Against the portable way, one element at a time, on any processor that has the registers.

use super::*;
use crate::buffer::AlignedBuffer;
use crate::convert::number::{FloatFormat, Number, Specials};
use crate::convert::program::{Conversion, Rules};
use crate::convert::rows::{ConvertRows, Place};
use crate::convert::scale::Scale;
use crate::transpose::burst::BURST_CARRY;
use crate::{Converter, Level, Nest, SlotWidth};

const BF16: FloatFormat =
    FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, specials: Specials::Ieee };

const E4M3: FloatFormat =
    FloatFormat { exponent_bits: 4, mantissa_bits: 3, bias: 7, specials: Specials::NanOnly };

/// Transposes `columns` of `steps` times `rows` elements, `gap` bytes between them, to rows that start at `first` and lie `dst_gap`
/// bytes apart, with two more behind each step, and compares the whole; false where there is no such way.
fn check(
    conversion: &Conversion,
    (steps, rows, columns): (usize, usize, usize),
    gap: usize,
    (first, dst_gap): (usize, usize),
) -> bool {
    let (from, to) = (conversion.src_bytes(), conversion.dst_bytes());
    let (step, pitch) = (steps * rows * from + gap, columns * to + dst_gap);
    let src: Vec<u8> = (0..step * columns).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
    let mut dst = AlignedBuffer::zeroed(first + steps * (rows + 2) * pitch + LINE).unwrap();
    dst.fill(0xA5);
    let mut wanted = dst.to_vec();
    let columns = Loop { extent: columns, src_stride: step as isize, dst_stride: to as isize };
    let beyond =
        Loop { extent: steps, src_stride: (rows * from) as isize, dst_stride: ((rows + 2) * pitch) as isize };
    let rows = Loop { extent: rows, src_stride: from as isize, dst_stride: pitch as isize };
    let converter = Converter {
        conversion: *conversion,
        src: SlotWidth::Bytes(from),
        dst: SlotWidth::Bytes(to),
        scale: Scale::All(1.0),
        level: Level::Scalar,
        stream: false,
    };
    let nest = Nest { src_offset: 0, dst_offset: first as isize, loops: &[beyond, rows, columns] };
    converter.run(&src, &mut wanted, nest).unwrap();
    let mut carry = AlignedBuffer::zeroed(BURST_CARRY).unwrap();
    let is_carried = !first.is_multiple_of(LINE) || !pitch.is_multiple_of(LINE);
    let carry = if is_carried { carry.as_mut_ptr() } else { std::ptr::null_mut() };
    let plane = CarriedPlane { columns, rows, beyond, carry };
    let places = (src.as_ptr(), dst[first..].as_mut_ptr());
    let turned = Turned { outer: &[], plane, places };
    let place = Place::near(places.1);
    let rows = ConvertRows::new(conversion, [place; 2], Scale::All(1.0));
    // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
    let done = unsafe { ConvertRows { turned: Some(&turned), ..rows }.turns_at_level(Level::Avx2) };
    let differs = dst.iter().zip(&wanted).position(|(a, b)| a != b).filter(|_| done);
    assert_eq!(differs, None, "{conversion:?}: {plane:?} from {first} on");
    done
}

/// Every pair that leaves by turns, and some that do not.
#[test]
fn rows_are_converted_as_they_leave() {
    if !Level::Avx2.is_available() {
        return;
    }
    let (float, signed) = (Number::Float, |bits| Number::Integer { bits, signed: true });
    let pairs = [
        (float(BF16), float(FloatFormat::F32), true),
        (float(FloatFormat::F16), float(FloatFormat::F32), true),
        (signed(16), signed(32), true),
        (float(E4M3), float(BF16), true),
        (float(E4M3), float(FloatFormat::F16), false),
        (signed(8), float(BF16), false),
        (float(FloatFormat::F32), float(FloatFormat::F64), true),
        (float(FloatFormat::F64), float(FloatFormat::F32), true),
        (signed(64), signed(32), true),
        (float(FloatFormat::F32), float(BF16), false),
        (signed(8), float(FloatFormat::F32), false),
        (float(BF16), float(FloatFormat::F16), false),
    ];
    for (from, to, leaves) in pairs {
        let conversion = Conversion::new(from, to, Rules::default()).unwrap();
        assert_eq!(check(&conversion, (5, 48, 256), 0, (0, 0)), leaves);
        assert_eq!(check(&conversion, (3, 80, 256), 0, (3, 5)), leaves);
        for columns in [128, 256, 512, 640] {
            for rows in [64, 65, 127, 191, 250] {
                for (first, dst_gap) in [(0, 0), (5, 7), (63, 1)] {
                    // Columns that lie in few sets of the caches, too.
                    let gap = if rows == 191 { 4096 + 4 - rows * conversion.src_bytes() % 4096 } else { 0 };
                    assert_eq!(check(&conversion, (1, rows, columns), gap, (first, dst_gap)), leaves);
                }
            }
        }
    }
}

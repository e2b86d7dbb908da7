//! Against the portable way, one element at a time, on any processor that has the registers.

use core::num::NonZeroUsize;

use super::factors::Alike;
use super::*;
use crate::buffer::AlignedBuffer;
use crate::convert::number::{FloatFormat, Number, Specials};
use crate::convert::program::{Conversion, Rules};
use crate::convert::rows::{ConvertRows, Place};
use crate::convert::scale::{Along, Scale, StepDigit};
use crate::loops::ONCE;
use crate::transpose::burst::BURST_CARRY;
use crate::transpose::columns::leaving_columns;
use crate::transpose::stream::CARRY_BYTES;
use crate::tuning::Stretches;
use crate::{Converter, Level, Nest, SlotWidth};

const BF16: FloatFormat =
    FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, specials: Specials::Ieee };

const E4M3: FloatFormat =
    FloatFormat { exponent_bits: 4, mantissa_bits: 3, bias: 7, specials: Specials::NanOnly };

/// A transpose: steps of rows and columns, elements that stay together, bytes between columns, and where rows start and how far
/// they are apart.
#[derive(Clone, Copy, Debug)]
struct Case {
    steps: usize,
    rows: usize,
    columns: usize,
    run: usize,
    gap: usize,
    first: usize,
    dst_gap: usize,
}

/// What elements are multiplied by, if their conversion has a scale.
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    One,
    Rows,
    Columns,
}

/// How elements leave.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Turns,
    Strips,
}

/// Transposes at every level, with two more rows behind each step, and compares the whole where there is such a way, which must be
/// where it `leaves`.
fn check(conversion: &Conversion, case: Case, way: Way, leaves: impl Fn(Level) -> bool) {
    check_scaled(conversion, (By::One, 1.0), case, way, leaves);
}

/// The same, multiplied by a factor, or by many.
fn check_scaled(
    conversion: &Conversion,
    (by, factor): (By, f32),
    case: Case,
    way: Way,
    leaves: impl Fn(Level) -> bool,
) {
    let Case { steps, rows, columns, run, gap, first, dst_gap } = case;
    let (from, to) = (run * conversion.src_bytes(), run * conversion.dst_bytes());
    let (step, pitch) = (steps * rows * from + gap, columns * to + dst_gap);
    let src: Vec<u8> = (0..step * columns).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
    let (stride, modulus) = if by == By::Rows { (from, step) } else { (step, usize::MAX) };
    let number = |n| NonZeroUsize::new(n).unwrap();
    let digits = [StepDigit { stride: number(stride), modulus: number(modulus), unit: 1 }];
    // The first of the digit's steps have factors, others none.
    let values: Vec<f32> = (0..250u32).map(|i| f32::from_bits(i.wrapping_mul(0x9E37_79B9))).collect();
    let along = Along { values: &values, digits: &digits, first: 0, start: 0 };
    let scale = if by == By::One { Scale::All(factor) } else { Scale::Along(along) };
    let mut dst = AlignedBuffer::zeroed(first + steps * (rows + 2) * pitch + LINE).unwrap();
    dst.fill(0xA5);
    let sentinels = dst.to_vec();
    let mut wanted = sentinels.clone();
    let columns = Loop { extent: columns, src_stride: step as isize, dst_stride: to as isize };
    let beyond =
        Loop { extent: steps, src_stride: (rows * from) as isize, dst_stride: ((rows + 2) * pitch) as isize };
    let rows = Loop { extent: rows, src_stride: from as isize, dst_stride: pitch as isize };
    let [src_unit, dst_unit] = [from / run, to / run];
    let together = Loop { extent: run, src_stride: src_unit as isize, dst_stride: dst_unit as isize };
    let converter = Converter {
        conversion: *conversion,
        src: SlotWidth::Bytes(src_unit),
        dst: SlotWidth::Bytes(dst_unit),
        scale,
        level: Level::Scalar,
        stream: false,
    };
    let loops = [beyond, rows, columns, together];
    let nest = Nest { src_offset: 0, dst_offset: first as isize, loops: &loops };
    converter.run(&src, &mut wanted, nest).unwrap();
    let mut carry = AlignedBuffer::zeroed(BURST_CARRY.max(CARRY_BYTES)).unwrap();
    let is_carried = !first.is_multiple_of(LINE) || !pitch.is_multiple_of(LINE);
    let carry = if is_carried { carry.as_mut_ptr() } else { std::ptr::null_mut() };
    let plane = CarriedPlane { columns, rows, beyond, along: ONCE, carry, stretches: Stretches::USUAL };
    let levels = [Level::Avx2, Level::Avx512, Level::Avx512Vbmi];
    let goes = |level: Level| {
        dst.copy_from_slice(&sentinels);
        let turned = Turned {
            are_of_words: false,
            by_turns: way == Way::Turns,
            outer: &[],
            run,
            plane,
            columns: Places::even(step as isize),
            places: (src.as_ptr(), dst[first..].as_mut_ptr()),
            factors: FactorsOf {
                origin: src.as_ptr(),
                alike: if by == By::Columns { Alike::Columns } else { Alike::Rows },
            },
        };
        let place = Place::near(turned.places.1);
        let many = [Loop { extent: usize::MAX, src_stride: 0, dst_stride: 0 }];
        let made = Converter { level, ..converter }.make(&many);
        let task = ConvertRows {
            turned: Some(&turned),
            table: made.table.as_ref(),
            narrowing: made.narrowing.as_ref(),
            ..ConvertRows::new(conversion, [place; 2], scale)
        };
        // SAFETY: all places lie in the two buffers, and strips are whole; a thread sees what it streamed itself.
        let done = unsafe {
            match way {
                Way::Turns => task.turns_at_level(level),
                Way::Strips => task.leaves_at_level(level),
            }
        };
        assert_eq!(done, leaves(level), "{conversion:?} {by:?} by {way:?} at {level}: {case:?}");
        let differs = dst.iter().zip(&wanted).position(|(a, b)| a != b).filter(|_| done);
        assert_eq!(differs, None, "{conversion:?} {by:?} by {way:?} at {level}: {case:?}");
    };
    levels.into_iter().filter(|level| level.is_available()).for_each(goes);
}

/// Every pair that leaves by turns, and some that do not.
#[test]
fn rows_are_converted_as_they_leave() {
    if !Level::Avx2.is_available() {
        return;
    }
    let (float, signed) = (Number::Float, |bits| Number::Integer { bits, signed: true });
    let pairs = [
        (float(BF16), float(FloatFormat::F32), Level::Avx2),
        (float(FloatFormat::F16), float(FloatFormat::F32), Level::Avx2),
        (signed(16), signed(32), Level::Avx2),
        (float(E4M3), float(BF16), Level::Avx2),
        (float(FloatFormat::F32), float(FloatFormat::F64), Level::Avx2),
        (float(FloatFormat::F64), float(FloatFormat::F32), Level::Avx2),
        (signed(64), signed(32), Level::Avx2),
        (float(FloatFormat::F32), float(BF16), Level::Avx512),
        (float(BF16), float(FloatFormat::F16), Level::Avx512),
        (signed(32), float(FloatFormat::F32), Level::Avx512),
        (float(E4M3), float(FloatFormat::F16), Level::Avx512Vbmi),
        (signed(8), float(BF16), Level::Avx512Vbmi),
        (float(E4M3), signed(8), Level::Avx512Vbmi),
    ];
    for (from, to, least) in pairs {
        let conversion = Conversion::new(from, to, Rules::default()).unwrap();
        let leaves = |level| level >= least;
        let case = Case { steps: 5, rows: 48, columns: 256, run: 1, gap: 0, first: 0, dst_gap: 0 };
        check(&conversion, case, Way::Turns, leaves);
        check(&conversion, Case { steps: 3, rows: 80, first: 3, dst_gap: 5, ..case }, Way::Turns, leaves);
        for columns in [128, 256, 512, 640] {
            for rows in [64, 65, 127, 191, 250] {
                for (first, dst_gap) in [(0, 0), (5, 7), (63, 1)] {
                    // Columns that lie in few sets of the caches, too.
                    let gap = if rows == 191 { 4096 + 4 - rows * conversion.src_bytes() % 4096 } else { 0 };
                    let case = Case { steps: 1, rows, columns, run: 1, gap, first, dst_gap };
                    check(&conversion, case, Way::Turns, leaves);
                }
            }
        }
    }
    let complex = Number::Complex;
    let others = [
        (signed(8), float(FloatFormat::F32)),
        (float(FloatFormat::F32), signed(8)),
        (complex(FloatFormat::F64), complex(FloatFormat::F32)),
        (complex(FloatFormat::F32), complex(FloatFormat::F64)),
    ];
    for (from, to) in others {
        let conversion = Conversion::new(from, to, Rules::default()).unwrap();
        let case = Case { steps: 1, rows: 64, columns: 256, run: 1, gap: 0, first: 0, dst_gap: 0 };
        check(&conversion, case, Way::Turns, |_| false);
    }
}

/// Elements that stay together, as those of tiles do, and rows that are near, of less than a lane, too.
#[test]
fn elements_that_stay_together_leave_together() {
    if !Level::Avx2.is_available() {
        return;
    }
    let (float, signed) = (Number::Float, |bits| Number::Integer { bits, signed: true });
    let pairs = [
        (float(FloatFormat::F32), float(BF16), Level::Avx512, 2),
        (float(FloatFormat::F32), float(FloatFormat::F16), Level::Avx512, 2),
        (signed(32), signed(16), Level::Avx512, 2),
        (float(E4M3), float(BF16), Level::Avx512Vbmi, 2),
        (float(E4M3), signed(8), Level::Avx512Vbmi, 4),
    ];
    for (from, to, least, run) in pairs {
        let conversion = Conversion::new(from, to, Rules::default()).unwrap();
        for (steps, rows, columns) in [(33, 2, 128), (7, 16, 128), (3, 41, 640), (1, 127, 256)] {
            // Columns that are far and start lines, or not, or lie in few sets of the caches.
            for gap in [0, 4096, 4100, 8192 - steps * rows * run * conversion.src_bytes() % 4096] {
                for (first, dst_gap) in [(0, 0), (5, 7)] {
                    let case = Case { steps, rows, columns, run, gap, first, dst_gap };
                    check(&conversion, case, Way::Turns, |level| level >= least);
                }
            }
        }
    }
}

/// Pairs of every width that leave strips, alone or some together, of any number of rows, and some that do not.
#[test]
fn strips_are_converted_as_they_leave() {
    if !Level::Avx512.is_available() {
        return;
    }
    let float = Number::Float;
    let integer = |bits, signed| Number::Integer { bits, signed };
    let [f16, f32, f64] = [FloatFormat::F16, FloatFormat::F32, FloatFormat::F64].map(float);
    let (bf16, e4m3) = (float(BF16), float(E4M3));
    let pairs = [
        (f32, bf16, Level::Avx512, 1),
        (f32, bf16, Level::Avx512, 2),
        (bf16, f32, Level::Avx512, 1),
        (bf16, f32, Level::Avx512, 2),
        (f16, f32, Level::Avx512, 1),
        (integer(16, true), integer(32, true), Level::Avx512, 1),
        (integer(32, true), integer(16, true), Level::Avx512, 1),
        (integer(32, true), f32, Level::Avx512, 1),
        (bf16, f16, Level::Avx512, 1),
        (f16, bf16, Level::Avx512, 1),
        (f64, f32, Level::Avx512, 1),
        (f64, bf16, Level::Avx512, 1),
        (f32, f64, Level::Avx512, 1),
        (integer(64, true), integer(32, true), Level::Avx512, 1),
        (integer(32, true), integer(64, true), Level::Avx512, 1),
        (f32, integer(8, true), Level::Avx512, 1),
        (bf16, integer(8, true), Level::Avx512, 1),
        (integer(32, true), integer(8, true), Level::Avx512, 1),
        (integer(16, true), integer(8, true), Level::Avx512, 1),
        (f32, e4m3, Level::Avx512, 1),
        (bf16, e4m3, Level::Avx512, 1),
        (f16, e4m3, Level::Avx512, 1),
        (e4m3, bf16, Level::Avx512, 1),
        (e4m3, bf16, Level::Avx512Vbmi, 2),
        (e4m3, f16, Level::Avx512Vbmi, 1),
        (integer(8, true), bf16, Level::Avx512Vbmi, 1),
        (e4m3, integer(8, true), Level::Avx512Vbmi, 1),
        (e4m3, integer(8, true), Level::Avx512Vbmi, 4),
        // None of these.
        (integer(8, true), f32, Level::Scalar, 1),
        (f32, e4m3, Level::Scalar, 4),
        (f32, f64, Level::Scalar, 2),
        (f32, f16, Level::Scalar, 2),
        (Number::Complex(FloatFormat::F64), Number::Complex(FloatFormat::F32), Level::Scalar, 1),
        (Number::Complex(FloatFormat::F32), Number::Complex(E4M3), Level::Scalar, 1),
    ];
    for (from, to, least, run) in pairs {
        let conversion = Conversion::new(from, to, Rules::default()).unwrap();
        let leaves = |level| least > Level::Scalar && level >= least;
        let bytes = [conversion.src_bytes(), conversion.dst_bytes()].map(|bytes| run * bytes);
        // No lane of rows goes on elsewhere.
        let cases = [(1, 16), (1, 33), (1, 64), (1, 127), (3, 48), (5, 112)];
        for (columns, (steps, rows)) in
            [16usize, 32, 64, 96, 192, 640].into_iter().flat_map(|columns| cases.map(|rows| (columns, rows)))
        {
            if !columns.is_multiple_of(leaving_columns(bytes[0], bytes[1])) {
                continue;
            }
            for (first, dst_gap, gap) in [(0, 0, 0), (0, 128, 4096), (5, 7, 4), (63, 1, 0)] {
                // Rows that start lines where nothing is between them.
                let dst_gap =
                    if first > 0 { dst_gap } else { dst_gap + (columns * bytes[1]).wrapping_neg() % LINE };
                check(
                    &conversion,
                    Case { steps, rows, columns, run, gap, first, dst_gap },
                    Way::Strips,
                    leaves,
                );
            }
        }
    }
}

/// How elements that have factors leave, but for bytes with one factor for all, which are looked up.
#[derive(Clone, Copy)]
enum Multiplied {
    InWords,
    /// Where the processor has an instruction that rounds.
    Rounded,
    /// Not at all.
    Before,
}

/// True where a level has an instruction that rounds to upper halves of `f32`.
#[allow(unused_variables)] // other targets have none
fn rounds(level: Level) -> bool {
    #[cfg(target_arch = "x86_64")]
    return crate::convert::words::means_bf16::Bf16::of(level).is_some();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Pairs that are multiplied by a factor, one for each row or one for each column, and some that do not leave so.
#[test]
fn strips_are_multiplied_as_they_leave() {
    if !Level::Avx512.is_available() {
        return;
    }
    let float = Number::Float;
    let byte = |signed| Number::Integer { bits: 8, signed };
    let [f16, f32] = [FloatFormat::F16, FloatFormat::F32].map(float);
    let (bf16, e4m3) = (float(BF16), float(E4M3));
    let pairs = [
        (f32, bf16, Multiplied::InWords),
        (bf16, f32, Multiplied::InWords),
        (f32, byte(true), Multiplied::InWords),
        (f32, byte(false), Multiplied::InWords),
        (bf16, bf16, Multiplied::Rounded),
        (byte(true), bf16, Multiplied::Rounded),
        (byte(false), bf16, Multiplied::Rounded),
        (e4m3, bf16, Multiplied::Rounded),
        (e4m3, f16, Multiplied::Before),
        (byte(true), f16, Multiplied::Before),
        (e4m3, e4m3, Multiplied::Before),
        (byte(true), f32, Multiplied::Before),
        (bf16, e4m3, Multiplied::Before),
        (f32, e4m3, Multiplied::Before),
        (f32, f16, Multiplied::Before),
    ];
    for (from, to, way) in pairs {
        let conversion = Conversion::new(from, to, Rules { scale: true, ..Rules::default() }).unwrap();
        let bytes = [conversion.src_bytes(), conversion.dst_bytes()];
        let all = [(By::One, 0.37), (By::One, 0.0), (By::One, 1e-40), (By::Rows, 1.0), (By::Columns, 1.0)];
        for (by, factor) in all {
            let looks_up = by == By::One && bytes[0] == 1 && bytes[1] <= 2;
            let leaves = |level| match way {
                _ if looks_up && level >= Level::Avx512Vbmi => true,
                Multiplied::InWords => level >= Level::Avx512,
                Multiplied::Rounded => rounds(level),
                Multiplied::Before => false,
            };
            for (steps, rows) in [(1, 16), (1, 127), (5, 112)] {
                for columns in [64, 192, 320] {
                    for (first, dst_gap, gap) in [(0, 0, 0), (0, 128, 4096), (5, 7, 4), (63, 1, 0)] {
                        let to_line = (columns * bytes[1]).wrapping_neg() % LINE;
                        let dst_gap = if first > 0 { dst_gap } else { dst_gap + to_line };
                        let case = Case { steps, rows, columns, run: 1, gap, first, dst_gap };
                        check_scaled(&conversion, (by, factor), case, Way::Strips, leaves);
                    }
                }
            }
        }
    }
}

/// Pairs of words that have one factor and become tiles of halves; no lane of rows goes on elsewhere.
#[test]
fn pairs_are_multiplied_as_they_leave() {
    if !Level::Avx512.is_available() {
        return;
    }
    let rules = Rules { scale: true, ..Rules::default() };
    let conversion = Conversion::new(Number::Float(FloatFormat::F32), Number::Float(BF16), rules).unwrap();
    for (steps, rows, columns) in [(33, 2, 64), (7, 16, 128), (3, 48, 320), (1, 127, 192)] {
        for (first, dst_gap) in [(0, 0), (5, 7)] {
            let case = Case { steps, rows, columns, run: 2, gap: 8, first, dst_gap };
            check_scaled(&conversion, (By::One, 0.37), case, Way::Strips, |level| level >= Level::Avx512);
        }
    }
}

/// The special numbers, and those about halfway, at the places of every lane.
#[test]
fn words_are_rounded_as_they_leave() {
    if !Level::Avx512.is_available() {
        return;
    }
    let specials: [u32; 16] = [
        0x7f80_0001,
        0xff80_0001,
        0x7fff_ffff,
        0xffff_ffff,
        0x7f80_0000,
        0xff80_0000,
        0x7f7f_ffff,
        0xff7f_8000,
        0x3f80_8000,
        0x3f81_8000,
        0x3f80_8001,
        0x3f80_7fff,
        0x0000_8000,
        0x0000_8001,
        0x8001_8000,
        0x7fa0_0000,
    ];
    let conversion =
        Conversion::new(Number::Float(FloatFormat::F32), Number::Float(BF16), Rules::default()).unwrap();
    let (columns, rows) = (128, 16);
    let words: Vec<u32> = (0..columns * rows).map(|i| specials[(i + i / 16) % 16]).collect();
    let src: &[u8] = bytemuck::cast_slice(&words);
    let mut dst = AlignedBuffer::zeroed(words.len() * 2).unwrap();
    let plane = CarriedPlane {
        columns: Loop { extent: columns, src_stride: 4 * rows as isize, dst_stride: 2 },
        rows: Loop { extent: rows, src_stride: 4, dst_stride: 2 * columns as isize },
        beyond: ONCE,
        along: ONCE,
        carry: std::ptr::null_mut(),
        stretches: Stretches::USUAL,
    };
    let turned = Turned {
        are_of_words: false,
        by_turns: false,
        outer: &[],
        run: 1,
        plane,
        columns: Places::even(4 * rows as isize),
        places: (src.as_ptr(), dst.as_mut_ptr()),
        factors: FactorsOf { origin: src.as_ptr(), alike: Alike::Rows },
    };
    let place = Place::near(turned.places.1);
    let task = ConvertRows::new(&conversion, [place; 2], Scale::All(1.0));
    for way in [Way::Turns, Way::Strips] {
        let turned = Turned { by_turns: way == Way::Turns, ..turned };
        let task = ConvertRows { turned: Some(&turned), ..task };
        // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
        let done = unsafe {
            match way {
                Way::Turns => task.turns_at_level(Level::Avx512),
                Way::Strips => task.leaves_at_level(Level::Avx512),
            }
        };
        assert!(done, "{way:?}");
        for (i, top) in bytemuck::cast_slice::<u8, u16>(&dst).iter().enumerate() {
            let (row, column) = (i / columns, i % columns);
            let word = words[column * rows + row];
            assert_eq!(u32::from(*top), crate::convert::float::encode_top(word), "{way:?}: {word:08x}");
        }
        dst.fill(0);
    }
}

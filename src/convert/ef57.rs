//! `ef57`: an `f64` as the sum of two `f32`.

use super::Overflow;
use super::float::{read, write};
use crate::value::float::FloatFormat;

/// The bits of a pair of `f32`, the larger one first: the value rounded, and what is then left of it, rounded.
pub(crate) fn ef57_split(bits: u64) -> [u32; 2] {
    let value = f64::from_bits(bits);
    let high = narrow(bits);
    let rounded = f64::from(f32::from_bits(high));
    let low = if rounded.is_finite() { ((value - rounded) as f32).to_bits() } else { 0 };
    [high, low]
}

/// The bits of the sum of a pair. What [`ef57_split`] made of a zero, an infinity or a NaN becomes that again.
pub(crate) fn ef57_join([high, low]: [u32; 2]) -> u64 {
    let (first, second) = (f32::from_bits(high), f32::from_bits(low));
    let sum = f64::from(first) + f64::from(second);
    match second {
        _ if second == 0.0 || first.is_nan() => widen(high),
        _ if second.is_nan() => widen(low),
        // Machines differ in the sign of a NaN that they make.
        _ if sum.is_nan() => f64::INFINITY.to_bits() | 1 << 51,
        _ => sum.to_bits(),
    }
}

fn narrow(bits: u64) -> u32 {
    write(FloatFormat::F32, read(FloatFormat::F64, bits.into()), Overflow::Ieee) as u32
}

fn widen(bits: u32) -> u64 {
    write(FloatFormat::F64, read(FloatFormat::F32, bits.into()), Overflow::Ieee) as u64
}

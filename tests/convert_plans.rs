//! Plans that convert against the rules of `convert`, element by element: every pair of types, every level, every input of
//! narrow types, under every option.

use relayout::{
    ArrayShape, Conversion, Level, Narrowing, Overflow, Plan, PrimitiveType, Rounding, Shape, convert,
};

fn width(element_type: PrimitiveType) -> u32 {
    element_type.bit_width().expect("an element type")
}

/// Bytes of a row of values: all patterns of narrow types, edges and what is beside them of wide ones.
fn inputs(from: PrimitiveType) -> Vec<u128> {
    let bits = width(from);
    if bits <= 8 {
        return (0..256).collect(); // of narrower types the high bits are dirty
    }
    if bits == 16 {
        return (0..65536).collect();
    }
    let part = if from.is_complex() { bits / 2 } else { bits };
    let mut values: Vec<u128> = Vec::new();
    for top in 0..1u128 << 10 {
        let high = top << (part - 10);
        let shift = |count: u32| 1u128 << (part - count);
        let steps = [
            0,
            1,
            shift(13),
            shift(13) + 1,
            shift(13) - 1,
            shift(14),
            shift(17),
            shift(17) - 1,
            shift(22),
            shift(22) + 1,
        ];
        values.extend(steps.map(|step| high + step));
    }
    let mut state = 1u64;
    values.extend((0..2_000).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u128::from(state ^ state >> 31) >> (64 - part) >> (state % u64::from(part))
    }));
    match from.is_complex() {
        true => values.iter().map(|value| value | (value ^ 0x55) << part).collect(),
        false => values,
    }
}

fn options(from: PrimitiveType, to: PrimitiveType) -> Vec<Conversion> {
    let saturating = Conversion::new().with_overflow(Overflow::Saturate).with_narrowing(Narrowing::Saturate);
    let mut options = vec![Conversion::new(), saturating.clone()];
    if convert::takes_scale(from, to) {
        options.extend([Conversion::new().with_scale(-0.37), saturating.with_scale(3.0e30)]);
    }
    if to.is_integral() {
        let nearest = Conversion::new().with_rounding(Rounding::NearestEven);
        options.extend([nearest.clone(), nearest.with_scale(0.125)]);
    }
    options
}

fn check(from: PrimitiveType, to: PrimitiveType, levels: &[Level]) {
    let inputs = inputs(from);
    let [src_bytes, dst_bytes] = [from, to].map(|of| of.byte_width().expect("an element type") as usize);
    let src: Vec<u8> =
        inputs.iter().flat_map(|value| value.to_le_bytes().into_iter().take(src_bytes)).collect();
    let array = |of| Shape::from(ArrayShape::new(of, [inputs.len() as i64]));
    let (from_array, to_array) = (array(from), array(to));
    for options in options(from, to) {
        if from == to && options.scale().is_none() {
            continue;
        }
        let value = |&input| convert::value(from, to, input, &options).expect("a defined pair");
        let wanted: Vec<u128> = inputs.iter().map(value).collect();
        for &level in levels {
            let plan = Plan::builder(&from_array, &to_array).conversion(options.clone()).level(level).build();
            let plan = plan.unwrap_or_else(|error| panic!("{from} -> {to}: {error}"));
            let mut dst = vec![0xa5; inputs.len() * dst_bytes];
            plan.execute(&src, &mut dst).expect("buffers of the right size");
            for ((input, expected), found) in inputs.iter().zip(&wanted).zip(dst.chunks(dst_bytes)) {
                let bytes = expected.to_le_bytes();
                assert!(
                    bytes[..dst_bytes] == *found,
                    "{from} {input:#x} -> {to} at {level} with {options:?}: {found:x?}, expected {expected:#x}"
                );
            }
        }
    }
}

fn check_all(is_mine: impl Fn(PrimitiveType) -> bool) {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.is_available()).collect();
    for from in PrimitiveType::all().filter(|&from| from.is_array_element() && is_mine(from)) {
        for to in PrimitiveType::all().filter(|&to| convert::is_defined(from, to)) {
            // Narrow types have many inputs: each level in turn.
            let turn = (from.number() + to.number()) as usize % levels.len();
            let levels = if width(from) == 16 { &levels[turn..=turn] } else { &levels[..] };
            check(from, to, levels);
        }
    }
}

#[test]
fn from_narrow_types() {
    check_all(|from| width(from) <= 8);
}

#[test]
fn from_sixteen_bits() {
    check_all(|from| width(from) == 16);
}

#[test]
fn from_wide_types() {
    check_all(|from| width(from) > 16);
}

//! Bit patterns of values, against `half`, against the standard floats, and against the definition.

use half::{bf16, f16};
use proptest::prelude::*;
use relayout::PrimitiveType::{self, *};
use relayout::value;

/// (type, one, lowest, highest, what `nan` means).
const KNOWN: [(PrimitiveType, u128, u128, u128, Option<u128>); 32] = [
    (Pred, 1, 0, 1, None),
    (S1, 1, 1, 0, None),
    (S2, 1, 2, 1, None),
    (S4, 1, 8, 7, None),
    (S8, 1, 0x80, 0x7f, None),
    (S16, 1, 0x8000, 0x7fff, None),
    (S32, 1, 0x8000_0000, 0x7fff_ffff, None),
    (S64, 1, 1 << 63, (1 << 63) - 1, None),
    (U1, 1, 0, 1, None),
    (U2, 1, 0, 3, None),
    (U4, 1, 0, 15, None),
    (U8, 1, 0, 0xff, None),
    (U16, 1, 0, 0xffff, None),
    (U32, 1, 0, 0xffff_ffff, None),
    (U64, 1, 0, u64::MAX as u128, None),
    (F16, 0x3c00, 0xfc00, 0x7c00, Some(0x7e00)),
    (Bf16, 0x3f80, 0xff80, 0x7f80, Some(0x7fc0)),
    (F32, 0x3f80_0000, 0xff80_0000, 0x7f80_0000, Some(0x7fc0_0000)),
    (F64, 0x3ff << 52, 0xfff << 52, 0x7ff << 52, Some(0x7ff8 << 48)),
    (F8e5m2, 0x3c, 0xfc, 0x7c, Some(0x7e)),
    (F8e4m3, 0x38, 0xf8, 0x78, Some(0x7c)),
    (F8e3m4, 0x30, 0xf0, 0x70, Some(0x78)),
    (F8e4m3fn, 0x38, 0xfe, 0x7e, Some(0x7f)),
    (F8e4m3b11fnuz, 0x58, 0xff, 0x7f, Some(0x80)),
    (F8e5m2fnuz, 0x40, 0xff, 0x7f, Some(0x80)),
    (F8e4m3fnuz, 0x40, 0xff, 0x7f, Some(0x80)),
    (F8e8m0fnu, 0x7f, 0, 0xfe, Some(0xff)),
    (F6e3m2fn, 0x0c, 0x3f, 0x1f, None),
    (F6e2m3fn, 0x08, 0x3f, 0x1f, None),
    (F4e2m1fn, 0x02, 0x0f, 0x07, None),
    (C64, 0x3f80_0000, 0xff80_0000_ff80_0000, 0x7f80_0000_7f80_0000, None),
    (C128, 0x3ff << 52, (0xfff << 52) | (0xfff << 116), (0x7ff << 52) | (0x7ff << 116), None),
];

/// Floats with few enough patterns to try them all, and their greatest finite value.
const SMALL_FLOATS: [(PrimitiveType, f64); 12] = [
    (F16, 65504.0),
    (F8e5m2, 57344.0),
    (F8e4m3, 240.0),
    (F8e3m4, 15.5),
    (F8e4m3fn, 448.0),
    (F8e4m3b11fnuz, 30.0),
    (F8e5m2fnuz, 57344.0),
    (F8e4m3fnuz, 240.0),
    (F8e8m0fnu, 1.7014118346046923e38),
    (F6e3m2fn, 28.0),
    (F6e2m3fn, 7.5),
    (F4e2m1fn, 6.0),
];

fn patterns(element_type: PrimitiveType) -> std::ops::Range<u128> {
    0..1 << element_type.bit_width().unwrap()
}

/// The value of a pattern of at most 32 bits; `None` for NaN.
fn number(element_type: PrimitiveType, bits: u128) -> Option<f64> {
    let text = value::format(element_type, bits);
    // A NaN that prints as bits is no number either.
    let number: f32 = text.parse().ok().filter(|_| !text.starts_with("0x"))?;
    (!number.is_nan()).then(|| number.into())
}

#[test]
fn special_values_of_every_type() {
    for (element_type, one, lowest, highest, nan) in KNOWN {
        assert_eq!(value::zero(element_type), 0, "{element_type}");
        assert_eq!(value::one(element_type), one, "{element_type}");
        assert_eq!(value::lowest(element_type), lowest, "{element_type}");
        assert_eq!(value::highest(element_type), highest, "{element_type}");
        if element_type.is_floating_point() {
            assert_eq!(value::parse(element_type, "nan"), nan, "{element_type}");
        }
    }
    let elements = PrimitiveType::all().filter(|element_type| element_type.is_array_element());
    assert_eq!(elements.count(), KNOWN.len());
}

#[test]
fn every_pattern_survives_its_text() {
    let small =
        PrimitiveType::all().filter(|element_type| (1..=16).contains(&element_type.bit_width().unwrap_or(0)));
    for element_type in small {
        for bits in patterns(element_type) {
            let text = value::format(element_type, bits);
            assert_eq!(value::parse(element_type, &text), Some(bits), "{element_type} {text}");
        }
    }
}

#[test]
fn sixteen_bits_as_in_half() {
    for bits in 0..=u16::MAX {
        let same = |element_type, expected: f32| {
            let found = number(element_type, bits.into()).map(|number| number as f32);
            assert_eq!(found, Some(expected).filter(|number| !number.is_nan()), "{element_type} {bits:#x}");
        };
        same(F16, f16::from_bits(bits).to_f32());
        same(Bf16, bf16::from_bits(bits).to_f32());
    }
}

#[test]
fn greatest_finite_values() {
    for (element_type, expected) in SMALL_FLOATS {
        let finite =
            patterns(element_type).filter_map(|bits| number(element_type, bits)).filter(|n| n.is_finite());
        assert_eq!(finite.fold(f64::MIN, f64::max), expected, "{element_type}");
    }
}

/// The pattern nearest to `value`, ties to the even pattern, found by looking at all of them.
fn nearest(element_type: PrimitiveType, value: f64) -> Option<u128> {
    let all = patterns(element_type).filter_map(|bits| Some((bits, number(element_type, bits)?)));
    let finite =
        all.filter(|(_, number)| number.is_finite() && number.is_sign_negative() == value.is_sign_negative());
    let distance = |number: f64| (number - value).abs();
    finite
        .min_by(|left, right| {
            let by_distance = distance(left.1).total_cmp(&distance(right.1));
            by_distance.then((left.0 % 2).cmp(&(right.0 % 2)))
        })
        .map(|(bits, _)| bits)
}

#[test]
fn ties_go_to_the_even_pattern_and_their_neighbours_do_not() {
    for (element_type, greatest) in SMALL_FLOATS.into_iter().filter(|(element_type, _)| *element_type != F16)
    {
        let mut numbers: Vec<(f64, u128)> =
            patterns(element_type).filter_map(|bits| Some((number(element_type, bits)?, bits))).collect();
        numbers.retain(|(number, _)| (0.0..=greatest).contains(number) && number.is_sign_positive());
        numbers.sort_by(|left, right| left.0.total_cmp(&right.0));
        for pair in numbers.windows(2) {
            let ((low, low_bits), (high, high_bits)) = (pair[0], pair[1]);
            let even = if low_bits % 2 == 0 { low_bits } else { high_bits };
            // The tie exactly, and beside it by less than an f64 can tell.
            let tie = format!("{:.400}", low + (high - low) / 2.0);
            assert_eq!(value::parse(element_type, &tie), Some(even), "{element_type} {tie}");
            assert_eq!(
                value::parse(element_type, &format!("{tie}1")),
                Some(high_bits),
                "{element_type} {tie}1"
            );
            let below = format!("{:.400}", (low + (high - low) / 2.0).next_down());
            assert_eq!(value::parse(element_type, &below), Some(low_bits), "{element_type} {below}");
        }
    }
}

#[test]
fn numbers_out_of_range() {
    assert_eq!(value::parse(F16, "65519.99"), Some(0x7bff));
    assert_eq!(value::parse(F16, "65520"), Some(0x7c00));
    assert_eq!(value::parse(F16, "-1e400"), Some(0xfc00));
    assert_eq!(value::parse(F8e4m3fn, "464"), Some(0x7e));
    assert_eq!(value::parse(F8e4m3fn, "464.1"), None);
    assert_eq!(value::parse(F8e4m3fn, "inf"), None);
    assert_eq!(value::parse(F4e2m1fn, "nan"), None);
    assert_eq!(value::parse(F8e4m3fnuz, "-0"), Some(0));
    assert_eq!(value::parse(F8e4m3fnuz, "-1e-30"), Some(0));
    assert_eq!(value::parse(F8e4m3fn, "-0"), Some(0x80));
    assert_eq!(value::parse(F8e8m0fnu, "0"), None);
    assert_eq!(value::parse(F8e8m0fnu, "-1"), None);
    assert_eq!(value::parse(F8e8m0fnu, "1e-50"), Some(0));
    assert_eq!(value::parse(F32, "1e-99999999999999999999"), Some(0));
    assert_eq!(value::parse(F32, "1e99999999999999999999"), Some(0x7f80_0000));
    assert_eq!(value::parse(S8, "-128"), Some(0x80));
    assert_eq!(value::parse(S8, "128"), None);
    assert_eq!(value::parse(U4, "-1"), None);
    assert_eq!(value::parse(U64, "18446744073709551615"), Some(u64::MAX.into()));
    assert_eq!(value::parse(S1, "1"), None);
    assert_eq!(value::parse(S1, "-1"), Some(1));
}

#[test]
fn other_texts() {
    assert_eq!(value::parse(Pred, "true"), Some(1));
    assert_eq!(value::parse(Pred, "2"), None);
    assert_eq!(value::parse(C64, "(1,-0)"), Some(0x8000_0000_3f80_0000));
    assert_eq!(value::parse(C64, "( inf , nan )"), Some(0x7fc0_0000_7f80_0000));
    assert_eq!(value::parse(C64, "2"), Some(0x4000_0000));
    assert_eq!(value::parse(C64, "(1,2"), None);
    assert_eq!(value::parse(C64, "(1)"), None);
    assert_eq!(value::format(C64, 0x8000_0000_3f80_0000), "(1.0,-0.0)");
    assert_eq!(value::parse(S4, "0xf"), Some(0xf));
    assert_eq!(value::parse(S4, "0x10"), None);
    assert_eq!(value::parse(F32, "0x+1"), None);
    assert_eq!(value::parse(F32, "0x"), None);
    assert_eq!(value::parse(C128, &format!("{:#x}", u128::MAX)), Some(u128::MAX));
    assert_eq!(value::parse(F32, ""), None);
    assert_eq!(value::parse(F32, "1,5"), None);
    assert_eq!(value::parse(S32, "1.0"), None);
    assert_eq!(value::parse(Token, "1"), None);
    assert_eq!(value::parse(Token, "0x1"), None);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn f32_text_as_the_standard_library_reads_it(mantissa in any::<i64>(), exponent in -60i32..60) {
        let text = format!("{mantissa}e{exponent}");
        prop_assert_eq!(value::parse(F32, &text), Some(text.parse::<f32>().unwrap().to_bits().into()));
        prop_assert_eq!(value::parse(F64, &text), Some(text.parse::<f64>().unwrap().to_bits().into()));
    }

    #[test]
    fn f64_values_round_as_in_half(bits in any::<u64>()) {
        let number = f64::from_bits(bits);
        prop_assume!(!number.is_nan());
        let text = format!("{number:e}");
        prop_assert_eq!(value::parse(F16, &text), Some(f16::from_f64(number).to_bits().into()));
        prop_assert_eq!(value::parse(Bf16, &text), Some(bf16::from_f64(number).to_bits().into()));
        prop_assert_eq!(value::parse(F32, &text), Some((number as f32).to_bits().into()));
    }

    #[test]
    fn half_sized_values_round_as_in_half(number in -70000.0f64..70000.0) {
        prop_assert_eq!(value::parse(F16, &number.to_string()), Some(f16::from_f64(number).to_bits().into()));
    }

    #[test]
    fn nearest_of_all_patterns(which in 1..SMALL_FLOATS.len(), fraction in -1.0f64..1.0) {
        let (element_type, greatest) = SMALL_FLOATS[which];
        let value = if element_type == F8e8m0fnu { (fraction * 87.0).exp() } else { fraction * greatest };
        prop_assert_eq!(number(element_type, value::parse(element_type, &value.to_string()).unwrap()),
            number(element_type, nearest(element_type, value).unwrap()), "{} {}", element_type, value);
    }

    #[test]
    fn wide_patterns_survive_their_text(bits in any::<u128>()) {
        for element_type in [F32, F64, C64, C128, S32, S64, U32, U64] {
            let text = value::format(element_type, bits);
            let mask = u128::MAX >> (128 - element_type.bit_width().unwrap());
            prop_assert_eq!(value::parse(element_type, &text), Some(bits & mask), "{} {}", element_type, text);
        }
    }
}

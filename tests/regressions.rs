//! One test for every bug that was found and mended, named by the wound.

mod cases;

use cases::{Case, Outcome, check};
use relayout::{ArrayShape, Layout, Padding, PaddingValue, PrimitiveType};

/// Strides that keep the elements apart but not the legacy padding: the fills overwrote each other.
#[test]
fn strided_legacy_padding_overlapped_itself() {
    let mut case = Case::of_line("c64[1,1] -> c64[1,1]");
    let layout = Layout::row_major(2).with_padded_dimensions([3, 3], PaddingValue::Zero);
    case.dst = ArrayShape::new(PrimitiveType::C64, [1, 1]).with_layout(layout).into();
    case.dst_placing.strides_bytes = Some(vec![35, 14]);
    case.padding = Some(Padding::Fill(0x1f2e_3d4c_5b6a_7988));
    case.may_overlap = true;
    assert_eq!(check(&case), Ok(Outcome::Refused));
    case.padding = Some(Padding::Leave);
    assert_eq!(check(&case), Ok(Outcome::Boxes(1)));
}

/// Strides beyond 64 bits in an array without elements: valid, and yet refused.
#[test]
fn untiled_question_overflowed_without_elements() {
    let array = |text: &str| text.parse::<ArrayShape>().unwrap_or_else(|error| panic!("{text}: {error}"));
    let plain = array("u8[0,4294967296,4294967296]");
    assert_eq!((plain.byte_size(), plain.is_untiled()), (Ok(0), Ok(true)));
    let tiled = array("u8[0,4294967296,4294967296]{2,1,0:T(2,4294967296,4294967296)}");
    assert_eq!(tiled.is_untiled(), Ok(true));
}

/// Tiles longer than the rank always counted as a change, even where they make none.
#[test]
fn long_tiles_were_never_untiled() {
    for (text, untiled) in [
        ("f32[]{:T(1)}", true),
        ("f32[]{:T(1,1)}", true),
        ("f32[256]{0:T(1,128)}", true),
        ("f32[256]{0:T(2,128)}", false),
        ("f32[]{:T(128)}", false),
    ] {
        let array: ArrayShape = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(array.is_untiled(), Ok(untiled), "{text}");
    }
}

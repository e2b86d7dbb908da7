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

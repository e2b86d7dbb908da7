//! Shapes made from shapes.

use relayout::{ArrayShape, Layout, LayoutError, PaddingValue, PrimitiveType, Shape, Tile, index};

fn array(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

fn shape(text: &str) -> Shape {
    text.parse().unwrap()
}

#[test]
fn made_at_one_stroke() {
    assert_eq!(ArrayShape::scalar(PrimitiveType::F32), array("f32[]"));
    let tiled =
        ArrayShape::make_with_dense_layout(PrimitiveType::F32, [2, 3], [0, 1], [Tile::from([8, 128])]);
    assert_eq!(tiled, Ok(array("f32[2,3]{0,1:T(8,128)}")));
    let short = ArrayShape::make_with_dense_layout(PrimitiveType::F32, [2, 3], [0], []);
    assert_eq!(short, Err(LayoutError::MinorToMajorLength { entries: 1, rank: 2 }));
    let token = ArrayShape::make_validated(PrimitiveType::Token, [2]);
    assert_eq!(token, Err(LayoutError::ElementType { element_type: PrimitiveType::Token }));
}

#[test]
fn tuples() {
    let one = shape("f32[2]");
    assert_eq!(Shape::nil(), shape("()"));
    assert_eq!(Shape::tuple([one.clone(), Shape::Token]), shape("(f32[2], token[])"));
    assert_eq!(Shape::maybe_tuple([one.clone()]), one);
    assert_eq!(Shape::maybe_tuple([]), Shape::nil());
    assert_eq!(Shape::maybe_tuple([one.clone(), one]), shape("(f32[2], f32[2])"));
}

#[test]
fn default_layout_keeps_the_notes() {
    let default = array("f32[2,3]{0,1:T(8,128)L(4)E(64)S(1)}").with_default_layout();
    assert_eq!(default, array("f32[2,3]{1,0:T(8,128)L(4)E(64)S(1)}"));
}

#[test]
fn host_form_keeps_order_and_splits() {
    let device = shape("(f32[2,3]{0,1:T(8,128)L(4)E(64)S(1)SC(0:1)M(4)}, token[])");
    assert_eq!(device.to_host_shape().to_string(), "(f32[2,3]{0,1:SC(0:1)}, token[])");
}

#[test]
fn packing() {
    let mixed = "(s4[5]{0}, pred[5]{0:E(1)}, f32[5]{0:E(32)}, f4e2m1fn[5]{0:T(8)})";
    let packed = shape(mixed).update_element_size_in_bits(true);
    assert_eq!(packed.to_string(), "(s4[5]{0:E(4)}, pred[5]{0}, f32[5]{0}, f4e2m1fn[5]{0:T(8)E(4)})");
    let unpacked = packed.update_element_size_in_bits(false);
    assert_eq!(unpacked.to_string(), "(s4[5]{0}, pred[5]{0}, f32[5]{0}, f4e2m1fn[5]{0:T(8)})");
}

#[test]
fn descending_layout_over_the_same_bytes() {
    let old = array("f32[2,<=3,5]{0,2,1:T(2,2)L(7)E(64)S(1)SC(0:1)}");
    let new = old.with_descending_layout_and_same_physical_layout().unwrap();
    assert_eq!(new, array("f32[<=3,5,2]{2,1,0:T(2,2)L(7)E(64)S(1)}"));
    assert_eq!(new.byte_size(), old.byte_size());
    for (a, b, c) in [(0, 0, 0), (1, 2, 4), (1, 0, 3)] {
        assert_eq!(index::linear_index(&new, &[b, c, a]), index::linear_index(&old, &[a, b, c]));
    }
    let layout = Layout::column_major(2).with_padded_dimensions([3, 5], PaddingValue::One);
    let padded = array("f32[2,3]").with_layout(layout).with_descending_layout_and_same_physical_layout();
    assert_eq!(padded.unwrap().layout().padded_dimensions(), [5, 3]);
}

#[test]
fn static_dimensions_and_element_types() {
    assert_eq!(array("f32[<=2,3]{0,1}").with_static_dimensions(), Ok(array("f32[2,3]{0,1}")));
    assert!(array("f32[?]").with_static_dimensions().is_err());
    let changed = array("f32[<=2,3]{0,1:T(2)}").with_element_type(PrimitiveType::S8);
    assert_eq!(changed, array("s8[<=2,3]{0,1:T(2)}"));
}

#[test]
fn sizes_of_shapes_that_are_no_arrays() {
    let tuple = shape("(f32[2], f32[2])");
    let not_an_array = LayoutError::NotAnArray { found: PrimitiveType::Tuple };
    assert_eq!(tuple.byte_size(), Err(not_an_array));
    assert_eq!(tuple.byte_size_with_pointers(8), Ok(16));
    assert_eq!(Shape::Opaque.byte_size_with_pointers(8), Ok(8));
    assert_eq!((Shape::Token.byte_size(), Shape::Token.padding_bytes()), (Ok(0), Ok(0)));
    assert_eq!(shape("b(f32[2])").byte_size(), Ok(8));
    assert_eq!(shape("f32[3,5]{1,0:T(2,2)}").padding_bytes(), Ok(36));
}

#[test]
fn dimension_numbers() {
    let shape = array("f32[2,3,5]{1,2,0}");
    let numbers: Vec<_> = (-4..4).map(|dimension| shape.dimension_number(dimension).ok()).collect();
    assert_eq!(numbers, [None, Some(0), Some(1), Some(2), Some(0), Some(1), Some(2), None]);
    let error = LayoutError::NoSuchDimension { dimension: i64::MIN, rank: 3 };
    assert_eq!(shape.dimension(i64::MIN), Err(error));
    assert_eq!(shape.dimension(-2), Ok(3.into()));
    for physical in -3..3 {
        let logical = shape.logical_dimension_number(physical).unwrap();
        let back = shape.physical_dimension_number(logical as i64).unwrap();
        assert_eq!(back as i64, physical.rem_euclid(3));
    }
    assert!(ArrayShape::scalar(PrimitiveType::F32).logical_dimension_number(0).is_err());
    assert_eq!(array("f32[1,3,0]").true_rank(), 2);
}

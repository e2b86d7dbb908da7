//! Worked requests: regions, strides, offsets, slot widths and padding, by the reference and by plans.

mod common;

use common::{planned, reference};
use relayout::{ArrayShape, Layout, Padding, PaddingValue, PlanError, PrimitiveType, Region, Request};

fn array(text: &str) -> ArrayShape {
    text.parse().unwrap()
}

/// What both engines make of a destination that holds `before`.
fn moved(request: &Request<'_>, src: &[u8], before: &[u8]) -> Vec<u8> {
    let (mut by_reference, mut by_plan) = (before.to_vec(), before.to_vec());
    reference(request, src, &mut by_reference).unwrap();
    planned(request, src, &mut by_plan).unwrap();
    assert_eq!(by_plan, by_reference, "{} -> {}", request.src(), request.dst());
    by_reference
}

/// The bytes 1, 2, 3, …
fn counted(bytes: u8) -> Vec<u8> {
    (1..=bytes).collect()
}

#[test]
fn region_writes_its_elements_and_nothing_else() {
    let (src, dst) = (array("s8[3,4]"), array("s8[2,3]{0,1:T(4,2)}"));
    let region = Region::new([2, 2]).with_src_start([1, 1]).with_dst_start([0, 1]);
    let request = Request::new(&src, &dst).with_region(region);
    // Rows 1 and 2 of the source are 5 6 7 8 and 9 10 11 12; column 1 of the destination starts at slot 2.
    assert_eq!(moved(&request, &counted(12), &[0; 8]), [0, 0, 6, 10, 7, 11, 0, 0]);
    let request = Request::new(&src, &dst).with_region(Region::new([0, 2]));
    assert_eq!(moved(&request, &counted(12), &[7; 8]), [7; 8]);
}

#[test]
fn region_of_the_whole_destination_writes_its_padding() {
    let (src, dst) = (array("s8[3,4]"), array("s8[2,1]{1,0:T(2,2)}"));
    let request = Request::new(&src, &dst).with_region(Region::new([2, 1]).with_src_start([1, 3]));
    assert_eq!(moved(&request, &counted(12), &[9; 4]), [8, 0, 12, 0]);
}

#[test]
fn strides_of_any_sign() {
    let shape = array("s16[2,2]");
    let request = Request::new(&shape, &shape).with_src_strides_bytes(&[0, 3]).with_src_offset_bytes(1);
    assert_eq!(moved(&request, &counted(6), &[0; 8]), [2, 3, 5, 6, 2, 3, 5, 6]);
    let request = Request::new(&shape, &shape).with_dst_strides_bytes(&[-5, 2]).with_dst_offset_bytes(6);
    assert_eq!(moved(&request, &counted(8), &[0; 11]), [0, 5, 6, 7, 8, 0, 1, 2, 3, 4, 0]);
}

#[test]
fn strides_of_a_tiled_destination_are_between_tiles() {
    let (src, dst) = (array("s8[3,3]"), array("s8[3,3]{1,0:T(2,2)L(64)}"));
    let request = Request::new(&src, &dst).with_dst_strides_bytes(&[10, -5]).with_dst_offset_bytes(6);
    let found = moved(&request, &counted(9), &[99; 21]);
    assert_eq!(found[1..11], [3, 0, 6, 0, 99, 1, 2, 4, 5, 99]);
    assert_eq!(found[11..21], [9, 0, 0, 0, 99, 7, 8, 0, 0, 99]);
    assert_eq!(found[0], 99);
}

#[test]
fn strides_of_a_tiled_source_reach_no_padding() {
    let (src, dst) = (array("s8[3,3]{1,0:T(2,2)(2,1)}"), array("s8[3,3]"));
    let request = Request::new(&src, &dst).with_src_strides_bytes(&[8, 4]);
    // The last element is the first of its tile; the bytes behind it may be missing.
    assert_eq!(moved(&request, &counted(13), &[0; 9]), [1, 3, 5, 2, 4, 6, 9, 11, 13]);
}

#[test]
fn slots_of_other_widths() {
    let (narrow, wide) = (array("s4[3]"), array("s4[3]{0:E(16)}"));
    let request = Request::new(&narrow, &wide);
    assert_eq!(moved(&request, &[0xf8, 0x07, 0x3f], &[9; 6]), [8, 0, 7, 0, 15, 0]);
    let request = Request::new(&wide, &narrow);
    assert_eq!(moved(&request, &[0xf8, 1, 7, 2, 0x1f, 3], &[9; 3]), [8, 7, 15]);
    // Between equal slots every bit moves.
    let request = Request::new(&wide, &wide);
    assert_eq!(moved(&request, &[0xf8, 1, 7, 2, 0x1f, 3], &[9; 6]), [0xf8, 1, 7, 2, 0x1f, 3]);
    let (bits, bytes) = (array("pred[2,5]{0,1:E(1)}"), array("pred[2,5]"));
    let request = Request::new(&bits, &bytes);
    assert_eq!(moved(&request, &[0b1001_0110, 0xff], &[9; 10]), [0, 1, 1, 0, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn unused_bits_of_the_last_byte() {
    let (src, dst) = (array("u4[3]"), array("u4[3]{0:E(4)}"));
    let request = Request::new(&src, &dst);
    assert_eq!(moved(&request, &[1, 2, 3], &[0xff; 2]), [0x21, 0x03]);
    let fill = Request::new(&src, &dst).with_padding(Padding::Fill(0xf));
    assert_eq!(moved(&fill, &[1, 2, 3], &[0xff; 2]), [0x21, 0x03]);
    let leave = Request::new(&src, &dst).with_padding(Padding::Leave);
    assert_eq!(moved(&leave, &[1, 2, 3], &[0xff; 2]), [0x21, 0xf3]);
}

#[test]
fn legacy_padding_values() {
    let src = array("s8[2,3]");
    let padded = |value| {
        let layout = Layout::column_major(2).with_padded_dimensions([3, 5], value);
        let dst = ArrayShape::new(PrimitiveType::S8, [2, 3]).with_layout(layout);
        moved(&Request::new(&src, &dst), &counted(6), &[99; 15])
    };
    let with = |padding: u8| {
        let p = padding;
        vec![1, 4, p, 2, 5, p, 3, 6, p, p, p, p, p, p, p]
    };
    assert_eq!(padded(PaddingValue::Zero), with(0));
    assert_eq!(padded(PaddingValue::One), with(1));
    assert_eq!(padded(PaddingValue::Lowest), with(0x80));
    assert_eq!(padded(PaddingValue::Highest), with(0x7f));
    assert_eq!(padded(PaddingValue::Unknown), with(0));
}

#[test]
fn tail_alignment_is_padding() {
    let (src, dst) = (array("s8[3]"), array("s8[3]{0:T(2)L(3)}"));
    let request = Request::new(&src, &dst).with_padding(Padding::Fill(7));
    assert_eq!(moved(&request, &counted(3), &[9; 6]), [1, 2, 3, 7, 7, 7]);
}

#[test]
fn empty_arrays() {
    let (src, dst) = (array("f32[0,5]"), array("f32[0,5]{0,1:T(8,128)}"));
    assert!(moved(&Request::new(&src, &dst), &[], &[]).is_empty());
    let layout = Layout::row_major(1).with_padded_dimensions([2], PaddingValue::One);
    let (src, dst) = (array("s8[0]"), array("s8[0]").with_layout(layout));
    assert_eq!(moved(&Request::new(&src, &dst), &[], &[9; 2]), [1, 1]);
}

#[test]
fn refusals() {
    use relayout::reference::{ReferenceError, relayout};
    use relayout::{End, LayoutError};

    let (src, dst) = (array("s16[2]"), array("s16[2]"));
    let request = Request::new(&src, &dst);
    let short = ReferenceError::BufferSize { end: End::Source, expected: 4, found: 3 };
    assert_eq!(relayout(&request, &[0; 3], &mut [0; 4]), Err(short));
    let long = ReferenceError::BufferSize { end: End::Destination, expected: 4, found: 5 };
    assert_eq!(relayout(&request, &[0; 4], &mut [0; 5]), Err(long));

    let strided = request.clone().with_src_strides_bytes(&[-2]);
    let below = PlanError::BelowBuffer { end: End::Source, byte: -2 };
    assert_eq!(relayout(&strided, &[0; 9], &mut [0; 4]), Err(below.into()));
    let strided = request.clone().with_src_strides_bytes(&[5]);
    let short = ReferenceError::BufferSize { end: End::Source, expected: 7, found: 6 };
    assert_eq!(relayout(&strided, &[0; 6], &mut [0; 4]), Err(short));
    let far = request.with_src_strides_bytes(&[i64::MAX]).with_src_offset_bytes(i64::MAX);
    assert!(relayout(&far, &[0; 6], &mut [0; 4]).is_err());

    let unbounded = array("s16[?]");
    let error = LayoutError::UnboundedDimension { dimension: 0 };
    let refused = PlanError::Layout { end: End::Destination, error };
    assert_eq!(relayout(&Request::new(&src, &unbounded), &[0; 4], &mut []), Err(refused.into()));
}

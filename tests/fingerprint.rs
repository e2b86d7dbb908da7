//! Fingerprints: those that were published stay what they are, and different requests have different ones.

use std::collections::HashMap;

use relayout::PrimitiveType::{S8, U32, U64};
use relayout::{
    ArrayShape, Conversion, End, Fingerprint, Layout, Level, Narrowing, Overflow, Padding, PaddingValue,
    Plan, PlanRequest, Problem, Region, Request, Rounding, Shape, Streaming,
};

fn request(line: &str) -> PlanRequest {
    let Problem { src, dst } = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    PlanRequest::new(src, dst)
}

fn fingerprint(request: &PlanRequest) -> Fingerprint {
    request.request().expect("arrays").fingerprint()
}

/// Requests that use every part of the format.
fn published() -> Vec<(PlanRequest, &'static str)> {
    let region = Region::new([8, 64]).with_src_start([1, 2]).with_dst_start([3, 4]);
    let tiled = "bf16[64,250] -> bf16[64,250]{1,0:T(8,128)(2,1)}";
    vec![
        (request("f32[3,5] -> f32[3,5]{0,1}"), "f9c2a45ceea347c42e92240f518f7612"),
        (request("pred[] -> pred[]"), "57f8847dcfd2de55700a17d75159efe3"),
        (request(tiled), "02c3f1ad7944e2cd186617ee1832b002"),
        (
            request("s4[<=7]{0:E(4)} -> s4[<=7]{0:T(*,8)L(16)E(4)S(1)SC(0:2,5)}"),
            "7908bbbb4b03c6e46d75b22388535d4d",
        ),
        (
            request(tiled).with_src_strides_bytes([-500, 2]).with_src_offset_bytes(31_500),
            "6bb359731b89551787ce3372c3b8907d",
        ),
        (
            request("u8[2] -> u8[2]").with_dst_strides_bytes([3]).with_dst_offset_bytes(1),
            "2569471a0c926723d6aec285eb6c46aa",
        ),
        (request(tiled).with_region(region), "54632f4c421a6faa2d0cd5c20d4002c3"),
        (request(tiled).with_padding(Padding::Leave), "174b8d16f2ee5a9120c03eaadc0e3755"),
        (request(tiled).with_padding(Padding::Fill(0x7fc0)), "ca62ac574bc4bc39f62f75203556b63f"),
    ]
}

#[test]
fn published_fingerprints_stay() {
    for (request, expected) in published() {
        assert_eq!(fingerprint(&request).to_string(), expected, "{request:?}");
        assert_eq!(request.plan().expect("a plan").fingerprint().to_string(), expected, "{request:?}");
    }
}

#[test]
fn what_does_not_change_the_result_is_no_part() {
    let request = request("bf16[64,250] -> bf16[64,250]{1,0:T(8,128)(2,1)}");
    let expected = fingerprint(&request);
    let builder = || request.builder();
    for other in [
        builder().level(Level::Scalar),
        builder().max_threads(1),
        builder().streaming(Streaming::Always),
        // What padding becomes where nothing is said.
        builder().padding(Padding::Zero),
        builder().padding(Padding::Fill(0)),
    ] {
        assert_eq!(other.build().expect("a plan").fingerprint(), expected);
    }
}

#[test]
fn defaults_of_padding_are_resolved() {
    let array = |value| {
        let layout = Layout::row_major(1).with_padded_dimensions([4], value);
        ArrayShape::new(S8, [3]).with_layout(layout)
    };
    let src = ArrayShape::new(S8, [3]);
    let lowest = array(PaddingValue::Lowest);
    let said = Request::new(&src, &lowest).with_padding(Padding::Fill(0x80)).fingerprint();
    assert_eq!(Request::new(&src, &lowest).fingerprint(), said);
    assert_ne!(Request::new(&src, &array(PaddingValue::Highest)).fingerprint(), said);
}

/// Requests that differ in one part from each other, valid or not.
fn different() -> Vec<PlanRequest> {
    let lines = [
        "f32[3,5] -> f32[3,5]",
        "s32[3,5] -> s32[3,5]",
        "f32[5,3] -> f32[5,3]",
        "f32[3,5] -> f32[5,3]",
        "f32[15] -> f32[15]",
        "f32[] -> f32[]",
        "f32[3,<=5] -> f32[3,5]",
        "f32[3,5] -> f32[3,<=5]",
        "f32[3,?] -> f32[3,?]",
        "f32[3,5]{0,1} -> f32[3,5]",
        "f32[3,5] -> f32[3,5]{0,1}",
        "f32[3,5] -> f32[3,5]{1,0:T(2,2)}",
        "f32[3,5] -> f32[3,5]{1,0:T(2)(2)}",
        "f32[3,5] -> f32[3,5]{1,0:T(2)}",
        "f32[3,5] -> f32[3,5]{1,0:T(*,2)}",
        "f32[3,5] -> f32[3,5]{1,0:L(2)}",
        "f32[3,5] -> f32[3,5]{1,0:E(64)}",
        "f32[3,5] -> f32[3,5]{1,0:S(2)}",
        "f32[3,5] -> f32[3,5]{1,0:SC(0:1)}",
        "f32[3,5] -> f32[3,5]{1,0:SC(0:1,2)}",
        "f32[3,5] -> f32[3,5]{1,0:SC(1:1)}",
    ];
    let plain = || request("f32[3,5] -> f32[3,5]");
    let region = || Region::new([2, 2]);
    let with_layout = |layout| {
        let src: ArrayShape = "f32[3,5]".parse().expect("a shape");
        PlanRequest::new(src.clone(), src.with_layout(layout))
    };
    let rows = || Layout::row_major(2);
    let legacy = |padded, value| with_layout(rows().with_padded_dimensions(padded, value));
    let mut requests: Vec<PlanRequest> = lines.map(request).into();
    requests.extend([
        plain().with_src_strides_bytes([20, 4]),
        plain().with_src_strides_bytes([]),
        plain().with_dst_strides_bytes([20, 4]),
        plain().with_src_offset_bytes(1),
        plain().with_dst_offset_bytes(1),
        plain().with_src_strides_bytes([]).with_src_offset_bytes(1),
        plain().with_src_strides_bytes([20, 4]).with_src_offset_bytes(1),
        plain().with_dst_strides_bytes([20, 4]).with_dst_offset_bytes(1),
        plain().with_region(region()),
        plain().with_region(region().with_src_start([0, 1])),
        plain().with_region(region().with_dst_start([0, 1])),
        plain().with_region(Region::new([3, 5])),
        plain().with_padding(Padding::Leave),
        plain().with_padding(Padding::Fill(1)),
        plain().with_padding(Padding::Fill(1 << 127)),
        plain().with_conversion(Conversion::new().with_overflow(Overflow::Saturate)),
        plain().with_conversion(Conversion::new().with_narrowing(Narrowing::Saturate)),
        plain().with_conversion(Conversion::new().with_rounding(Rounding::NearestEven)),
        plain().with_conversion(Conversion::new().with_ef57()),
        plain().with_conversion(Conversion::new().with_scale(0.0)),
        plain().with_conversion(Conversion::new().with_scale(-0.0)),
        plain().with_conversion(Conversion::new().with_scale(f32::NAN)),
        plain().with_conversion(Conversion::new().with_scale_along(0, [0.0])),
        plain().with_conversion(Conversion::new().with_scale_along(1, [0.0])),
        plain().with_conversion(Conversion::new().with_scale_along(1, [0.0, 0.0])),
        plain().with_conversion(Conversion::new().with_scale_along(usize::MAX, [0.0])),
        request("f32[3,5] -> bf16[3,5]"),
        request("bf16[3,5] -> f32[3,5]"),
        legacy([4, 5], PaddingValue::Unknown),
        legacy([4, 6], PaddingValue::Unknown),
        legacy([4, 5], PaddingValue::Zero),
        legacy([4, 5], PaddingValue::One),
        with_layout(rows().with_index_primitive_type(Some(U32))),
        with_layout(rows().with_index_primitive_type(Some(U64))),
        with_layout(rows().with_pointer_primitive_type(Some(U32))),
        with_layout(rows().with_physical_shape(Some(Shape::Token))),
        with_layout(rows().with_physical_shape(Some(Shape::Opaque))),
    ]);
    requests
}

#[test]
fn different_requests_differ() {
    let mut seen: HashMap<Fingerprint, PlanRequest> = HashMap::new();
    for request in different() {
        if let Some(other) = seen.insert(fingerprint(&request), request.clone()) {
            panic!("{request:?} and {other:?} have one fingerprint");
        }
    }
}

#[test]
fn owned_requests_are_the_borrowed_ones() {
    for request in published().into_iter().map(|(request, _)| request).chain(different()) {
        let borrowed = request.request().expect("arrays");
        assert_eq!(PlanRequest::from(&borrowed), request);
        let plan = Plan::from_request(&borrowed);
        assert_eq!(request.plan().map(|plan| plan.fingerprint()), plan.map(|plan| plan.fingerprint()));
        for end in [End::Source, End::Destination] {
            assert_eq!(borrowed.strides_bytes(end), request.strides_bytes(end));
            assert_eq!(borrowed.offset_bytes(end), request.offset_bytes(end));
        }
    }
}

#[test]
fn the_metadata_prefix_is_no_part() {
    let plain = request("f32[<=3] -> f32[<=3]");
    let prefixed = request("f32[<=3]{0:M(1)} -> f32[<=3]");
    assert_eq!(plain, prefixed); // as equality of layouts has it
    assert_eq!(fingerprint(&plain), fingerprint(&prefixed));
}

//! What the feature `serde` writes can be read back, and what is refused.
#![cfg(feature = "serde")]

use proptest::prelude::*;
use relayout::{
    ArrayShape, Conversion, DimensionSize, End, Fingerprint, Layout, MemorySpace, Narrowing, Overflow,
    Padding, PaddingValue, PlanRequest, PrimitiveType, Problem, RecordError, Region, RequestRecord, Rounding,
    Shape, SplitConfig, Tile,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

fn there_and_back<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: T, json: &str) {
    assert_eq!(serde_json::to_string(&value).expect(json), json);
    assert_eq!(serde_json::from_str::<T>(json).expect(json), value);
}

#[test]
fn model_types_are_texts() {
    let text = "bf16[<=64,250]{0,1:T(8,128)(2,1)S(1)}";
    let json = format!("\"{text}\"");
    there_and_back(text.parse::<Shape>().expect(text), &json);
    there_and_back(text.parse::<ArrayShape>().expect(text), &json);
    there_and_back("(f32[2]{0}, token[])".parse::<Shape>().expect("a tuple"), "\"(f32[2]{0}, token[])\"");
    there_and_back("{1,0:T(*,8)}".parse::<Layout>().expect("a layout"), "\"{1,0:T(*,8)}\"");
    there_and_back(Tile::from([8, 128]), "\"(8,128)\"");
    there_and_back(DimensionSize::Bounded(8), "\"<=8\"");
    there_and_back(SplitConfig { dimension: 0, indices: vec![2, 5] }, "\"(0:2,5)\"");
    there_and_back("u8[] -> u8[]".parse::<Problem>().expect("a problem"), "\"u8[] -> u8[]\"");
    there_and_back(PrimitiveType::F8e4m3b11fnuz, "\"f8e4m3b11fnuz\"");
    there_and_back(MemorySpace::HOST, "5");
    there_and_back(Fingerprint(0xab), "\"000000000000000000000000000000ab\"");
    there_and_back(PaddingValue::Lowest, "\"lowest\"");
    there_and_back(Padding::Leave, "\"leave\"");
    there_and_back(Padding::Zero, "\"zero\"");
    there_and_back(Padding::Fill(u128::MAX), "\"fill=0xffffffffffffffffffffffffffffffff\"");
}

#[test]
fn nothing_is_lost_in_silence() {
    let padded = Layout::row_major(1).with_padded_dimensions([4], PaddingValue::One);
    let error = serde_json::to_string(&padded).unwrap_err().to_string();
    assert_eq!(error, "`{0}` does not say everything about this value");
    assert!(serde_json::to_string(&ArrayShape::new(PrimitiveType::S8, [3]).with_layout(padded)).is_err());
}

#[test]
fn broken_texts_are_refused() {
    fn refused<T: DeserializeOwned + std::fmt::Debug>(json: &str, part: &str) {
        let error = serde_json::from_str::<T>(json).expect_err(json).to_string();
        assert!(error.contains(part), "{json}: {error}");
    }
    refused::<Shape>("\"f32[2\"", "at byte 5");
    refused::<Shape>("7", "expected a string");
    refused::<Tile>("\"8\"", "at byte 0");
    refused::<PrimitiveType>("\"F32\"", "expected an element type, found 'F32'");
    refused::<PaddingValue>("\"\"", "expected zero, one, lowest, highest or unknown");
    for text in ["fill=", "fill=1", "fill=0x", "fill=0x+1", "fill=0x1g", "Zero", ""] {
        refused::<Padding>(&format!("\"{text}\""), "expected leave, zero or fill=0x…");
    }
    refused::<Fingerprint>("\"ab\"", "32 hexadecimal digits");
}

/// A request that uses every field, in format 1.
fn stored() -> (PlanRequest, &'static str) {
    let padded = Layout::row_major(2).with_padded_dimensions([8, 9], PaddingValue::One);
    let dst = ArrayShape::new(PrimitiveType::S8, [5, 6]).with_layout(padded);
    let src: Shape = "s8[5,6]{0,1}".parse().expect("a shape");
    let request = PlanRequest::new(src, dst)
        .with_src_strides_bytes([-1, 10])
        .with_src_offset_bytes(4)
        .with_region(Region::new([2, 3]).with_src_start([1, 0]).with_dst_start([0, 2]))
        .with_padding(Padding::Fill(0x7f));
    let json = concat!(
        r#"{"version":1,"#,
        r#""src":{"shape":"s8[5,6]{0,1}","padded_dimensions":[],"padding_value":"unknown","#,
        r#""strides_bytes":[-1,10],"offset_bytes":4},"#,
        r#""dst":{"shape":"s8[5,6]{1,0}","padded_dimensions":[8,9],"padding_value":"one","#,
        r#""strides_bytes":null,"offset_bytes":0},"#,
        r#""region":{"extents":[2,3],"src_start":[1,0],"dst_start":[0,2]},"padding":"fill=0x7f"}"#,
    );
    (request, json)
}

#[test]
fn requests_are_stored_with_a_version() {
    let (request, json) = stored();
    there_and_back(request.clone(), json);
    let read: PlanRequest = serde_json::from_str(json).expect(json);
    let fingerprint = |request: &PlanRequest| request.plan().expect("a plan").fingerprint();
    assert_eq!(fingerprint(&read), fingerprint(&request));
}

#[test]
fn conversions_are_stored_where_they_are_not_the_default() {
    let plain = || {
        let shape: Shape = "f32[2]".parse().expect("a shape");
        PlanRequest::new(shape.clone(), shape)
    };
    let there_and_back = |conversion: Conversion, json: &str| {
        let request = plain().with_conversion(conversion);
        let text = serde_json::to_string(&request).expect("a text");
        assert!(text.ends_with(&format!(r#","conversion":{json}}}"#)), "{text}");
        assert_eq!(serde_json::from_str::<PlanRequest>(&text).expect(&text), request);
    };
    assert!(!serde_json::to_string(&plain()).expect("a text").contains("conversion"));
    let saturating = Conversion::new().with_overflow(Overflow::Saturate).with_narrowing(Narrowing::Saturate);
    there_and_back(
        saturating.with_scale(f32::NAN),
        concat!(
            r#"{"overflow":"saturate","narrowing":"saturate","#,
            r#""scale":{"all":{"factor_bits":2143289344}},"ef57":false}"#,
        ),
    );
    there_and_back(
        Conversion::new().with_scale_along(0, [1.0, -0.0]),
        concat!(
            r#"{"overflow":"ieee","narrowing":"wrap","#,
            r#""scale":{"along":{"dimension":0,"factors_bits":[1065353216,2147483648]}},"ef57":false}"#,
        ),
    );
    there_and_back(
        Conversion::new().with_rounding(Rounding::NearestEven),
        r#"{"overflow":"ieee","narrowing":"wrap","rounding":"nearest_even","scale":null,"ef57":false}"#,
    );
    there_and_back(
        Conversion::new().with_ef57(),
        r#"{"overflow":"ieee","narrowing":"wrap","scale":null,"ef57":true}"#,
    );
}

#[test]
fn stored_requests_that_cannot_be_read() {
    let record = || serde_json::from_str::<RequestRecord>(stored().1).expect("a record");
    for found in [0, 2, u32::MAX] {
        let other = RequestRecord { version: found, ..record() };
        assert_eq!(PlanRequest::try_from(other), Err(RecordError::Version { found, supported: 1 }));
    }
    let mut broken = record();
    broken.dst.shape = "s8[5,6".to_owned();
    match PlanRequest::try_from(broken) {
        Err(RecordError::Shape { end: End::Destination, error }) => assert_eq!(error.offset, 6),
        other => panic!("{other:?}"),
    }
    let mut token = record();
    token.dst.shape = "token[]".to_owned();
    let error = RecordError::PaddedDimensions { end: End::Destination };
    assert_eq!(PlanRequest::try_from(token), Err(error));
    // A field that is not known might change the result.
    for (from, to) in [("\"version\":1,", ""), ("\"padding\":", "\"pading\":"), ("\"extents\":[2,3],", "")] {
        let json = stored().1.replace(from, to);
        assert!(serde_json::from_str::<PlanRequest>(&json).is_err(), "{json}");
    }
    let newer = stored().1.replace("\"version\":1", "\"version\":9");
    let error = serde_json::from_str::<PlanRequest>(&newer).unwrap_err().to_string();
    assert!(error.contains("format version 9, expected 1"), "{error}");
}

proptest! {
    /// One character changed in a stored request: it is read or refused, and so is what it asks.
    #[test]
    fn damaged_requests_never_panic(at in any::<prop::sample::Index>(), to in any::<char>()) {
        let mut text: Vec<char> = stored().1.chars().collect();
        let at = at.index(text.len());
        text[at] = to;
        let text: String = text.into_iter().collect();
        if let Ok(request) = serde_json::from_str::<PlanRequest>(&text) {
            let _ = request.plan();
        }
    }
}

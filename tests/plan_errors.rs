//! Every refusal of a plan by its fields: bad shapes, strides, regions, slots, buffers.

use relayout::{
    ArrayShape, Conversion, End, ExecuteError, Layout, LayoutError, Padding, Plan, PlanBuilder, PlanError,
    PrimitiveType, Problem, Region, Shape,
};

fn shape(text: &str) -> Shape {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn plan(line: &str) -> Result<Plan, PlanError> {
    let problem: Problem = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    Plan::new(&problem.src, &problem.dst)
}

/// What a plan with options says, for a relayout of one shape into another.
fn built(
    src: &str,
    dst: &str,
    options: impl for<'a> FnOnce(PlanBuilder<'a>) -> PlanBuilder<'a>,
) -> Result<Plan, PlanError> {
    let (src, dst) = (shape(src), shape(dst));
    options(Plan::builder(&src, &dst)).build()
}

#[track_caller]
fn assert_refused(found: Result<Plan, PlanError>, expected: PlanError) {
    assert_eq!(found.map(|plan| plan.to_string()), Err(expected));
}

fn source(error: LayoutError) -> PlanError {
    PlanError::Layout { end: End::Source, error }
}

fn destination(error: LayoutError) -> PlanError {
    PlanError::Layout { end: End::Destination, error }
}

#[test]
fn plans_are_shared_between_threads() {
    fn is_send_and_sync<T: Send + Sync + 'static>() {}
    is_send_and_sync::<Plan>();
    is_send_and_sync::<PlanError>();
    is_send_and_sync::<ExecuteError>();
    let plan = plan("u8[3,5] -> u8[3,5]{0,1}").unwrap();
    let src: Vec<u8> = (0..15).collect();
    let moved = || {
        let mut dst = [0; 15];
        plan.execute(&src, &mut dst).map(|()| dst)
    };
    std::thread::scope(|scope| {
        let there = scope.spawn(moved);
        assert_eq!(there.join().unwrap(), moved());
    });
}

#[test]
fn shapes_that_are_no_arrays() {
    use PrimitiveType as P;
    for (text, found) in [
        ("(u8[4])", P::Tuple),
        ("()", P::Tuple),
        ("token[]", P::Token),
        ("opaque[]", P::Opaque),
        ("b(u8[4])", P::Buffer),
    ] {
        assert_refused(plan(&format!("{text} -> u8[4]")), source(LayoutError::NotAnArray { found }));
        assert_refused(plan(&format!("u8[4] -> {text}")), destination(LayoutError::NotAnArray { found }));
    }
}

#[test]
fn shapes_that_differ() {
    let types = |src, dst| PlanError::NoConversion { src, dst };
    assert_refused(plan("c64[4] -> f32[4]"), types(PrimitiveType::C64, PrimitiveType::F32));
    let ranks = PlanError::RanksDiffer { what: "destination", expected: 2, found: 1 };
    assert_refused(plan("u8[2,2] -> u8[4]"), ranks);
    let dimensions = PlanError::DimensionsDiffer { dimension: 1, src: 3, dst: 4 };
    assert_refused(plan("u8[2,3] -> u8[2,4]"), dimensions.clone());
    assert_refused(plan("u8[2,<=3] -> u8[2,<=4]"), dimensions);
    assert!(plan("u8[2,<=3] -> u8[<=2,3]").is_ok(), "dynamic dimensions count with their bound");
}

/// A plan with a conversion.
fn converted(line: &str, conversion: Conversion) -> Result<Plan, PlanError> {
    let problem: Problem = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    Plan::builder(&problem.src, &problem.dst).conversion(conversion).build()
}

#[test]
fn conversions_without_meaning() {
    use PrimitiveType as P;
    for (src, dst) in [(P::C128, P::F64), (P::C64, P::Pred), (P::C64, P::S8)] {
        assert_refused(plan(&format!("{src}[4] -> {dst}[4]")), PlanError::NoConversion { src, dst });
    }
    assert!(plan("pred[4] -> c64[4]").is_ok() && plan("c64[4] -> c128[4]").is_ok());
}

#[test]
fn scales_that_do_not_fit() {
    use PrimitiveType as P;
    let along = |dimension, count| Conversion::new().with_scale_along(dimension, vec![1.0; count]);
    for (src, dst) in [(P::F32, P::C64), (P::C64, P::C64), (P::S8, P::Pred)] {
        let refused = converted(&format!("{src}[4] -> {dst}[4]"), Conversion::new().with_scale(2.0));
        assert_refused(refused, PlanError::ScaleOfTypes { src, dst });
    }
    let line = "f32[2,3] -> bf16[2,3]";
    let length = PlanError::ScaleLength { dimension: 1, expected: 3, found: 2 };
    assert_refused(converted(line, along(1, 2)), length);
    assert_refused(converted(line, along(2, 3)), PlanError::ScaleDimension { dimension: 2, rank: 2 });
    assert!(
        converted(line, along(1, 3)).is_ok()
            && converted("s8[] -> f32[]", Conversion::new().with_scale(2.0)).is_ok()
    );
    let (src, dst) = (shape("f32[4,3]"), shape("f32[4,3]"));
    let region = Region::new([2, 3]);
    let refused = Plan::builder(&src, &dst).region(region).conversion(along(0, 4)).build();
    assert_refused(refused, PlanError::ScaleLength { dimension: 0, expected: 2, found: 4 });
}

#[test]
fn pairs_of_floats_that_do_not_fit() {
    use PrimitiveType as P;
    let pairs = || Conversion::new().with_ef57();
    assert_refused(converted("f64[4] -> f64[4]", pairs()), PlanError::Ef57Types { src: P::F64, dst: P::F64 });
    assert_refused(converted("f64[3] -> f32[5]", pairs()), PlanError::Ef57Size { pairs: 3, floats: 5 });
    assert_refused(converted("f32[] -> f64[]", pairs()), PlanError::Ef57Size { pairs: 0, floats: 0 });
    let option = |option| PlanError::Ef57Option { option };
    assert_refused(converted("f64[3] -> f32[6]", pairs().with_scale(1.0)), option("a scale"));
    let (src, dst) = (shape("f64[3]"), shape("f32[6]"));
    let refused = Plan::builder(&src, &dst).conversion(pairs()).region(Region::new([3])).build();
    assert_refused(refused, option("a region"));
}

#[test]
fn layouts_without_meaning_or_size() {
    use LayoutError as E;
    let huge = 1i64 << 62;
    let cases = [
        ("u8[4]{1}".to_owned(), E::MinorToMajorOutOfRange { minor_to_major: vec![1], value: 1, rank: 1 }),
        ("u8[4]{0:T(0)}".to_owned(), E::TileSize { tile: 0, size: 0 }),
        ("u8[4]{0:T(2)()}".to_owned(), E::EmptyTile { tile: 1 }),
        ("u8[4]{0:T(2,*)}".to_owned(), E::TrailingCombine { tile: 0 }),
        ("u8[4]{0:T(2)(*)}".to_owned(), E::TrailingCombine { tile: 1 }),
        ("u8[4]{0:E(-8)}".to_owned(), E::ElementSizeInBits { bits: -8 }),
        ("u8[4]{0:#(u32)}".to_owned(), E::SparseField { field: "index_primitive_type" }),
        ("u8[4]{0:SC(1:2)}".to_owned(), E::SplitDimension { dimension: 1, rank: 1 }),
        ("u8[?]".to_owned(), E::UnboundedDimension { dimension: 0 }),
        (format!("u8[{huge},3]"), E::Overflow { what: "the number of elements" }),
        (format!("u8[4]{{0:T({huge},{huge})}}"), E::Overflow { what: "the padded size" }),
        (format!("u8[64]{{0:E({huge})}}"), E::Overflow { what: "the size in bytes" }),
    ];
    for (text, error) in cases {
        assert_refused(plan(&format!("{text} -> {text}")), source(error.clone()));
    }
    let unbounded = destination(E::UnboundedDimension { dimension: 1 });
    assert_refused(plan("u8[2,2] -> u8[2,?]{0,1:T(2)}"), unbounded);
    let repeated = E::DuplicateMinorToMajor { minor_to_major: vec![0, 0], value: 0 };
    assert_refused(plan("u8[2,2] -> u8[2,2]{0,0}"), destination(repeated));
}

#[test]
fn layouts_that_only_programs_can_make() {
    use LayoutError as E;
    let src = shape("u8[2,3]");
    let cases = [
        (Layout::row_major(1), E::MinorToMajorLength { entries: 1, rank: 2 }),
        (
            Layout::row_major(2).with_tail_padding_alignment_in_elements(0),
            E::TailPaddingAlignment { elements: 0 },
        ),
        (
            Layout::row_major(2).with_padded_dimensions([2, 2], Default::default()),
            E::PaddedDimensionTooSmall { dimension: 1, padded: 2, size: 3 },
        ),
    ];
    for (layout, error) in cases {
        let dst = ArrayShape::new(PrimitiveType::U8, [2, 3]).with_layout(layout).into();
        assert_refused(Plan::new(&src, &dst), destination(error));
    }
    let negative = ArrayShape::new(PrimitiveType::U8, [2, -3]).into();
    let error = E::NegativeDimension { dimension: 1, size: -3 };
    assert_refused(Plan::new(&negative, &negative), source(error));
    let token = ArrayShape::new(PrimitiveType::Token, [2]).into();
    let error = E::ElementType { element_type: PrimitiveType::Token };
    assert_refused(Plan::new(&token, &token), source(error));
}

#[test]
fn slots_of_impossible_widths() {
    let narrow = |end, bits, element_type| PlanError::SlotTooNarrow { end, bits, element_type };
    assert_refused(plan("f32[4]{0:E(3)} -> f32[4]"), narrow(End::Source, 3, PrimitiveType::F32));
    assert_refused(plan("f32[4] -> f32[4]{0:E(16)}"), narrow(End::Destination, 16, PrimitiveType::F32));
    assert_refused(plan("s4[4]{0:E(2)} -> s4[4]"), narrow(End::Source, 2, PrimitiveType::S4));
    let width = |end, bits| PlanError::SlotWidth { end, bits };
    assert_refused(plan("u2[4]{0:E(3)} -> u2[4]"), width(End::Source, 3));
    assert_refused(plan("f6e3m2fn[4] -> f6e3m2fn[4]{0:E(6)}"), width(End::Destination, 6));
    assert_refused(plan("u8[4] -> u8[4]{0:E(12)}"), width(End::Destination, 12));
    for line in ["pred[9] -> pred[9]{0:E(1)}", "u2[4]{0:E(4)} -> u2[4]{0:E(24)}"] {
        assert!(plan(line).is_ok(), "{line}");
    }
}

#[test]
fn strides_of_the_wrong_kind() {
    let short = built("u8[2,2]", "u8[2,2]", |b| b.src_strides_bytes(&[2]));
    assert_refused(short, PlanError::RanksDiffer { what: "source strides", expected: 2, found: 1 });
    let long = built("u8[2,2]", "u8[2,2]", |b| b.dst_strides_bytes(&[4, 2, 1]));
    assert_refused(long, PlanError::RanksDiffer { what: "destination strides", expected: 2, found: 3 });
    let packed = built("u4[4]{0:E(4)}", "u4[4]", |b| b.src_strides_bytes(&[1]));
    assert_refused(packed, PlanError::StridesOfPacked { end: End::Source, bits: 4 });
    for (layout, tile) in [("T(*,2)", 0), ("T(2)(2,1)", 1), ("T(2,2)(2)(1)(2,2,2,2,2)", 3)] {
        let dst = format!("u8[4,4]{{1,0:{layout}}}");
        let found = built("u8[4,4]", &dst, |b| b.dst_strides_bytes(&[64, 16]));
        assert_refused(found, PlanError::StridesOfTiling { end: End::Destination, tile });
    }
    assert!(built("u8[4,4]", "u8[4,4]{1,0:T(2,2)(2,1)}", |b| b.dst_strides_bytes(&[8, 4])).is_ok());
}

#[test]
fn offsets_without_strides() {
    let source = built("u8[4]", "u8[4]", |b| b.src_offset_bytes(3));
    assert_refused(source, PlanError::OffsetWithoutStrides { end: End::Source, offset_bytes: 3 });
    let destination = built("u8[4]", "u8[4]", |b| b.dst_offset_bytes(-1));
    assert_refused(destination, PlanError::OffsetWithoutStrides { end: End::Destination, offset_bytes: -1 });
}

#[test]
fn places_below_the_buffer() {
    let below = |end, byte| PlanError::BelowBuffer { end, byte };
    let found = built("u16[3]", "u16[3]", |b| b.src_strides_bytes(&[-2]));
    assert_refused(found, below(End::Source, -4));
    let found = built("u16[3]", "u16[3]", |b| b.src_strides_bytes(&[-2]).src_offset_bytes(3));
    assert_refused(found, below(End::Source, -1));
    let found = built("u16[3]", "u16[3]", |b| b.dst_strides_bytes(&[2]).dst_offset_bytes(-1));
    assert_refused(found, below(End::Destination, -1));
    let plan = built("u16[3]", "u16[3]", |b| b.src_strides_bytes(&[-2]).src_offset_bytes(4)).unwrap();
    assert_eq!(plan.src_byte_size(), 6);
    // Only what the region reaches counts.
    let region = || Region::new([2]);
    let found =
        built("u16[3]", "u16[3]", |b| b.src_strides_bytes(&[-2]).src_offset_bytes(2).region(region()));
    assert_eq!(found.unwrap().src_byte_size(), 4);
    let found = built("u16[3]", "u16[3]", |b| {
        b.src_strides_bytes(&[-2]).src_offset_bytes(2).region(region().with_src_start([1]))
    });
    assert_refused(found, below(End::Source, -2));
    // Destination padding that is to be written counts; padding that is left does not.
    let padded = |padding| {
        built("u8[3]", "u8[3]{0:T(2)}", |b| b.dst_strides_bytes(&[2]).padding(padding))
            .unwrap()
            .dst_byte_size()
    };
    assert_eq!((padded(Padding::Zero), padded(Padding::Leave)), (4, 3));
}

#[test]
fn destinations_that_overlap() {
    let overlaps = |stride, extent, span| PlanError::DestinationOverlaps { stride, extent, span };
    let dst_strides = |text, strides: &'static [i64]| {
        built(text, text, |b| b.dst_strides_bytes(strides).dst_offset_bytes(64))
    };
    assert_refused(dst_strides("u16[3]", &[0]), overlaps(0, 3, 2));
    assert_refused(dst_strides("u16[3]", &[1]), overlaps(1, 3, 2));
    assert_refused(dst_strides("u16[3]", &[-1]), overlaps(-1, 3, 2));
    assert_refused(dst_strides("u16[2,3]", &[5, 2]), overlaps(5, 2, 6));
    assert_refused(dst_strides("u16[2,3]", &[2, -2]), overlaps(-2, 3, 4));
    assert!(dst_strides("u16[2,3]", &[6, -2]).is_ok());
    // Padding that is written keeps its places too, and needs no element for that.
    let padded = |sizes: [i64; 2], padding| {
        let layout = Layout::row_major(2).with_padded_dimensions([3, 3], Default::default());
        let dst = ArrayShape::new(PrimitiveType::U16, sizes).with_layout(layout).into();
        let src = ArrayShape::new(PrimitiveType::U16, sizes).into();
        Plan::builder(&src, &dst).dst_strides_bytes(&[5, 2]).padding(padding).build()
    };
    assert_refused(padded([1, 1], Padding::Zero), overlaps(5, 3, 6));
    assert_refused(padded([1, 0], Padding::Zero), overlaps(5, 3, 6));
    assert!(padded([3, 1], Padding::Leave).is_ok());
    assert!(dst_strides("u16[1,3]", &[0, 2]).is_ok(), "a dimension of size 1 takes no step");
    assert!(dst_strides("u16[0,3]", &[0, 0]).is_ok(), "nothing is written");
    let tiles = built("u8[4,4]", "u8[4,4]{1,0:T(2,2)}", |b| b.dst_strides_bytes(&[8, 3]));
    assert_refused(tiles, overlaps(3, 2, 4));
    // A region that writes one row has no rows to overlap.
    let region = Region::new([1, 3]);
    assert!(built("u16[2,3]", "u16[2,3]", |b| b.dst_strides_bytes(&[0, 2]).region(region)).is_ok());
}

#[test]
fn addresses_beyond_64_bits() {
    let overflow = |end| PlanError::AddressOverflow { end };
    const MOST: i64 = i64::MAX;
    let found = built("u8[3]", "u8[3]", |b| b.src_strides_bytes(&[MOST]));
    assert_refused(found, overflow(End::Source));
    let found = built("u8[3]", "u8[3]", |b| b.src_strides_bytes(&[i64::MIN]).src_offset_bytes(MOST));
    assert_refused(found, overflow(End::Source));
    let found = built("u8[3]", "u8[3]", |b| b.src_strides_bytes(&[1]).src_offset_bytes(MOST));
    assert_refused(found, overflow(End::Source));
    let found = built("u8[2]", "u8[2]", |b| b.dst_strides_bytes(&[i64::MIN]));
    assert_refused(found, overflow(End::Destination));
    let found = built("u8[2]", "u8[2]", |b| b.dst_strides_bytes(&[1]).dst_offset_bytes(MOST));
    assert_refused(found, overflow(End::Destination));
}

#[test]
fn regions_that_do_not_fit() {
    let found = |region: Region| built("u8[4,5]", "u8[6,3]", |b| b.region(region));
    let ranks = |what, found| PlanError::RanksDiffer { what, expected: 2, found };
    assert_refused(found(Region::new([1])), ranks("region", 1));
    let start = Region::new([1, 1]).with_src_start([0]);
    assert_refused(found(start), ranks("region start in the source", 1));
    let start = Region::new([1, 1]).with_dst_start([0, 0, 0]);
    assert_refused(found(start), ranks("region start in the destination", 3));
    let outside = |end, dimension, start, extent, size| PlanError::RegionOutOfBounds {
        end,
        dimension,
        start,
        extent,
        size,
    };
    assert_refused(found(Region::new([5, 1])), outside(End::Source, 0, 0, 5, 4));
    assert_refused(found(Region::new([1, 4])), outside(End::Destination, 1, 0, 4, 3));
    assert_refused(found(Region::new([-1, 1])), outside(End::Source, 0, 0, -1, 4));
    let start = Region::new([2, 2]).with_src_start([3, 0]);
    assert_refused(found(start), outside(End::Source, 0, 3, 2, 4));
    let start = Region::new([2, 2]).with_dst_start([0, -1]);
    assert_refused(found(start), outside(End::Destination, 1, -1, 2, 3));
    let start = Region::new([i64::MAX, 1]).with_src_start([1, 0]);
    assert_refused(found(start), outside(End::Source, 0, 1, i64::MAX, 4));
    assert!(found(Region::new([4, 3]).with_dst_start([2, 0])).is_ok());
    assert!(found(Region::new([0, 0]).with_src_start([4, 5])).is_ok(), "an empty box may lie at the end");
}

#[test]
fn buffers_of_the_wrong_size() {
    let dense = plan("u16[3,5] -> u16[3,5]{0,1:T(2,2)}").unwrap();
    assert_eq!((dense.src_byte_size(), dense.dst_byte_size()), (30, 48));
    let size = |end, expected, found, at_least| ExecuteError::BufferSize { end, expected, found, at_least };
    for (src, dst, error) in [
        (29, 48, size(End::Source, 30, 29, false)),
        (31, 48, size(End::Source, 30, 31, false)),
        (30, 47, size(End::Destination, 48, 47, false)),
        (30, 49, size(End::Destination, 48, 49, false)),
    ] {
        let mut written = vec![7; dst];
        assert_eq!(dense.execute(&vec![1; src], &mut written), Err(error));
        assert_eq!(written, vec![7; dst], "nothing is written then");
    }
    let strided = built("u16[3]", "u16[3]", |b| b.src_strides_bytes(&[5]).dst_strides_bytes(&[4])).unwrap();
    assert_eq!(strided.execute(&[1; 11], &mut [0; 10]), Err(size(End::Source, 12, 11, true)));
    assert_eq!(strided.execute(&[1; 12], &mut [0; 9]), Err(size(End::Destination, 10, 9, true)));
    assert_eq!(strided.execute(&[1; 99], &mut [0; 99]), Ok(()));
    let message = strided.execute(&[1; 11], &mut [0; 10]).unwrap_err().to_string();
    assert_eq!(message, "source has 11 bytes, expected at least 12");
}

#[test]
fn messages_name_the_place() {
    let message = |line: &str| plan(line).unwrap_err().to_string();
    assert_eq!(message("u8[2,3] -> u8[2,4]"), "dimension 1 differs: source has 3 elements, destination 4");
    assert_eq!(message("c64[2] -> s8[2]"), "no conversion leads from c64 to s8");
    let trailing = "destination: tile 0 ends in *, which combines with nothing";
    assert_eq!(message("u8[2] -> u8[2]{0:T(*)}"), trailing);
    let narrow = "source: element_size_in_bits (E) is 8, narrower than f32";
    assert_eq!(message("f32[2]{0:E(8)} -> f32[2]"), narrow);
}

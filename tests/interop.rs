//! Arrays as other libraries describe them: what they become, and what is refused.

use proptest::prelude::*;
use relayout::interop::dlpack::{DataType, Tensor};
use relayout::interop::pjrt::{COMBINE, TiledLayout};
use relayout::interop::{InteropError, Strided};
use relayout::{ArrayShape, Layout, LayoutError, Plan, PlanError, PrimitiveType, Tile, TileDimension};

fn numpy(shape: &[i64], strides: &[i64]) -> Result<Strided, InteropError> {
    Strided::from_numpy(PrimitiveType::S32, shape, strides)
}

/// (shape, strides, offset, span) of 4-byte elements.
const VIEWS: &[(&[i64], &[i64], i64, i64)] = &[
    (&[], &[], 0, 4),
    (&[3], &[4], 0, 12),
    (&[3], &[-4], 8, 12),
    (&[3], &[0], 0, 4),
    (&[2, 3], &[-24, 8], 24, 44),
    (&[2, 0], &[-24, 8], 0, 0),
    (&[1, 1], &[i64::MIN, i64::MAX], 0, 4),
];

#[test]
fn numpy_views_start_at_their_lowest_byte() {
    for &(shape, strides, offset, span) in VIEWS {
        let view = numpy(shape, strides).expect("a view");
        assert_eq!((view.offset_bytes(), view.span_bytes()), (offset, span), "{shape:?} {strides:?}");
        assert_eq!(view.strides_bytes(), Some(strides));
        let dense = view.shape().clone();
        let plan = Plan::builder(view.shape(), &dense).src_strided(&view).build();
        if strides.iter().all(|stride| stride.unsigned_abs() < 1 << 60) {
            assert_eq!(plan.expect("a plan").src_byte_size() as i64, span, "{shape:?} {strides:?}");
        }
    }
}

#[test]
fn numpy_views_that_cannot_be() {
    let overflow = InteropError::Overflow { what: "the span of the array" };
    let refused: [(&[i64], &[i64], InteropError); 6] = [
        (&[2, 3], &[4], InteropError::Length { what: "strides", expected: 2, found: 1 }),
        (&[2, -3], &[4, 4], InteropError::NegativeSize { dimension: 1, size: -3 }),
        (&[3], &[i64::MAX], overflow.clone()),
        (&[2, 2], &[i64::MIN, -1], overflow.clone()),
        (&[2, 2], &[i64::MIN, i64::MAX], overflow.clone()),
        (&[2], &[i64::MIN], overflow),
    ];
    for (shape, strides, error) in refused {
        assert_eq!(numpy(shape, strides), Err(error), "{shape:?} {strides:?}");
    }
    let token = Strided::from_numpy(PrimitiveType::Token, &[], &[]);
    assert_eq!(token, Err(InteropError::NoElement { element_type: PrimitiveType::Token }));
}

#[test]
fn strides_of_shapes() {
    let strides = |text: &str| text.parse::<ArrayShape>().expect(text).strides_bytes();
    assert_eq!(strides("f32[2,3]"), Ok(vec![12, 4]));
    assert_eq!(strides("f32[2,3,5]{0,2,1}"), Ok(vec![4, 40, 8]));
    assert_eq!(strides("s4[2,3]"), Ok(vec![3, 1]));
    assert_eq!(strides("s4[2,3]{1,0:E(16)}"), Ok(vec![6, 2]));
    assert_eq!(strides("f32[0,3]"), Ok(vec![12, 4]));
    let not = |field| Err(InteropError::NotExpressible { field, target: "byte strides" });
    assert_eq!(strides("f32[2,3]{1,0:T(2)}"), not("tiles"));
    assert_eq!(strides("s4[2,3]{1,0:E(4)}"), not("element_size_in_bits"));
    assert_eq!(strides("f32[2,?]"), Err(LayoutError::UnboundedDimension { dimension: 1 }.into()));
}

fn tensor<'a>(code: u8, bits: u8, lanes: u16, shape: &'a [i64], strides: Option<&'a [i64]>) -> Tensor<'a> {
    let data_type = DataType { code, bits, lanes };
    Tensor { data_type, shape, strides, byte_offset: 0, is_subbyte_type_padded: false }
}

fn texts(tensor: Tensor<'_>) -> Result<(String, Option<Vec<i64>>, i64), InteropError> {
    let strided = tensor.to_strided()?;
    let strides = strided.strides_bytes().map(<[i64]>::to_vec);
    Ok((strided.shape().to_string(), strides, strided.offset_bytes()))
}

#[test]
fn dlpack_tensors() {
    let as_text = |shape: &str, strides: Option<&[i64]>, offset| {
        Ok((shape.to_owned(), strides.map(<[i64]>::to_vec), offset))
    };
    let plain = tensor(2, 32, 1, &[2, 3], None);
    assert_eq!(texts(plain), as_text("f32[2,3]{1,0}", Some(&[12, 4]), 0));
    assert_eq!(texts(Tensor { byte_offset: 9, ..plain }), as_text("f32[2,3]{1,0}", Some(&[12, 4]), 9));
    assert_eq!(texts(tensor(2, 32, 1, &[2, 3], Some(&[-1, 0]))), as_text("f32[2,3]{1,0}", Some(&[-4, 0]), 0));
    // Vectors of four floats are a dimension of four.
    assert_eq!(texts(tensor(2, 32, 4, &[2], Some(&[3]))), as_text("f32[2,4]{1,0}", Some(&[48, 4]), 0));
    assert_eq!(texts(tensor(6, 8, 1, &[], None)), as_text("pred[]", Some(&[]), 0));
    // Narrow types are packed unless the tensor says otherwise.
    let packed = tensor(17, 4, 2, &[3, 1, 5], Some(&[5, 99, 1]));
    assert_eq!(texts(packed), as_text("f4e2m1fn[3,1,5,2]{3,2,1,0:E(4)}", None, 0));
    let padded = Tensor { is_subbyte_type_padded: true, ..tensor(0, 4, 1, &[3], Some(&[2])) };
    assert_eq!(texts(padded), as_text("s4[3]{0}", Some(&[2]), 0));
}

#[test]
fn dlpack_tensors_that_cannot_be() {
    let overflow = |what| Err(InteropError::Overflow { what });
    let s4 = Err(InteropError::StridesOfPacked { element_type: PrimitiveType::S4 });
    let f32s = tensor(2, 32, 1, &[2, 3], None);
    assert_eq!(texts(tensor(3, 64, 1, &[], None)), Err(InteropError::DataType { code: 3, bits: 64 }));
    assert_eq!(texts(tensor(17, 8, 1, &[], None)), Err(InteropError::DataType { code: 17, bits: 8 }));
    assert_eq!(texts(tensor(2, 32, 0, &[], None)), Err(InteropError::NoLanes));
    let length = InteropError::Length { what: "strides", expected: 2, found: 1 };
    assert_eq!(texts(Tensor { strides: Some(&[1]), ..f32s }), Err(length.clone()));
    assert_eq!(texts(tensor(0, 4, 1, &[2, 3], Some(&[1]))), Err(length));
    assert_eq!(
        texts(tensor(0, 4, 1, &[-1], None)),
        Err(InteropError::NegativeSize { dimension: 0, size: -1 })
    );
    assert_eq!(texts(Tensor { byte_offset: u64::MAX, ..f32s }), overflow("byte_offset"));
    assert_eq!(texts(tensor(2, 32, 1, &[2], Some(&[i64::MAX]))), overflow("a stride"));
    assert_eq!(texts(tensor(2, 32, 1, &[2, i64::MAX, i64::MAX], None)), overflow("a stride"));
    assert_eq!(texts(tensor(0, 4, 1, &[2, i64::MAX, i64::MAX], None)), overflow("a stride"));
    assert_eq!(texts(tensor(0, 4, 1, &[2, 3], Some(&[1, 2]))), s4);
    assert_eq!(texts(Tensor { byte_offset: 1, ..tensor(0, 4, 1, &[2], None) }), s4);
    let element_type = PrimitiveType::Tuple;
    assert_eq!(DataType::of(element_type), Err(InteropError::NoDataType { element_type }));
}

#[test]
fn a_tensor_that_reaches_below_its_data_has_no_plan() {
    let view = tensor(1, 8, 1, &[3], Some(&[-1])).to_strided().expect("a tensor");
    let dense = view.shape().clone();
    let plan = Plan::builder(view.shape(), &dense).src_strided(&view).build();
    assert_eq!(plan.unwrap_err(), PlanError::BelowBuffer { end: relayout::End::Source, byte: -2 });
}

#[test]
fn dlpack_types_go_there_and_back() {
    let elements = PrimitiveType::all().filter(|element_type| element_type.is_array_element());
    for element_type in elements {
        let data_type = DataType::of(element_type).expect("every element type is one of DLPack's");
        assert_eq!(data_type.element_type(), Ok(element_type));
        let bits = if element_type == PrimitiveType::Pred { 8 } else { element_type.bit_width().unwrap() };
        assert_eq!((u32::from(data_type.bits), data_type.lanes), (bits, 1));
    }
}

#[test]
fn pjrt_fields_that_cannot_be() {
    let fields = |minor_to_major: &[i64], tile_dims: &[i64], tile_dim_sizes: &[usize]| TiledLayout {
        minor_to_major: minor_to_major.to_vec(),
        tile_dims: tile_dims.to_vec(),
        tile_dim_sizes: tile_dim_sizes.to_vec(),
    };
    let layout = |fields| Layout::try_from(&fields).map(|layout| layout.to_string());
    assert_eq!(layout(fields(&[1, 0], &[COMBINE, 8], &[2])), Ok("{1,0:T(*,8)}".to_owned()));
    let length = |expected, found| Err(InteropError::Length { what: "tile_dims", expected, found });
    assert_eq!(layout(fields(&[0], &[8, 128], &[1])), length(1, 2));
    assert_eq!(layout(fields(&[0], &[8], &[1, 1])), length(2, 1));
    let sum = InteropError::Overflow { what: "the sum of tile_dim_sizes" };
    assert_eq!(layout(fields(&[0], &[8], &[usize::MAX, 2])), Err(sum));
    for (minor_to_major, tile) in [(&[0i64, 0][..], 8i64), (&[1, 2], 8), (&[-1], 8), (&[0], 0), (&[0], -8)] {
        let refused = layout(fields(minor_to_major, &[tile], &[1]));
        assert!(matches!(refused, Err(InteropError::Layout(_))), "{minor_to_major:?} {tile}: {refused:?}");
    }
}

#[test]
fn pjrt_has_no_field_for_some_notes() {
    let not = |field| Err(InteropError::NotExpressible { field, target: "PJRT's tiled layout" });
    let fields = |text: &str| TiledLayout::try_from(&text.parse::<Layout>().expect(text));
    assert_eq!(fields("{0:L(8)}"), not("tail_padding_alignment_in_elements"));
    assert_eq!(fields("{0:E(4)}"), not("element_size_in_bits"));
    assert_eq!(fields("{0:S(5)}"), fields("{0}"));
}

fn tiles() -> impl Strategy<Value = Vec<Tile>> {
    let entry =
        prop_oneof![4 => (1i64..200).prop_map(TileDimension::Size), 1 => Just(TileDimension::Combine)];
    let tile = (prop::collection::vec(entry, 0..4), 1i64..200).prop_map(|(mut entries, last)| {
        entries.push(TileDimension::Size(last));
        Tile::new(entries)
    });
    prop::collection::vec(tile, 0..4)
}

proptest! {
    #[test]
    fn pjrt_layouts_go_there_and_back(
        order in (0i64..6).prop_flat_map(|rank| Just((0..rank).collect::<Vec<_>>()).prop_shuffle()),
        tiles in tiles(),
    ) {
        let layout = Layout::from_minor_to_major(order).with_tiles(tiles);
        let fields = TiledLayout::try_from(&layout).expect("tiles and an order");
        prop_assert_eq!(Layout::try_from(&fields), Ok(layout));
    }

    #[test]
    fn any_pjrt_fields_are_read_or_refused(
        minor_to_major in prop::collection::vec(-1i64..4, 0..4),
        tile_dims in prop::collection::vec(prop_oneof![Just(COMBINE), -1i64..9], 0..6),
        tile_dim_sizes in prop::collection::vec(0usize..4, 0..4),
    ) {
        let fields = TiledLayout { minor_to_major, tile_dims, tile_dim_sizes };
        if let Ok(layout) = Layout::try_from(&fields) {
            prop_assert_eq!(TiledLayout::try_from(&layout), Ok(fields));
        }
    }

    #[test]
    fn numpy_strides_go_there_and_back(
        sizes in prop::collection::vec(0i64..5, 0..5),
        seed in any::<u64>(),
    ) {
        let mut order: Vec<i64> = (0..sizes.len() as i64).collect();
        order.sort_by_key(|&dimension| (seed >> (8 * dimension)) as u8);
        let shape = ArrayShape::new(PrimitiveType::U16, sizes.iter().copied());
        let permuted = shape.clone().with_layout(Layout::from_minor_to_major(order));
        let strides = permuted.strides_bytes().expect("strides");
        let view = Strided::from_numpy(PrimitiveType::U16, &sizes, &strides).expect("a view");
        prop_assert_eq!(i128::from(view.span_bytes()), i128::from(permuted.byte_size().expect("a size")));
        // Both descriptions of the same bytes give the same rows.
        let (shape, permuted) = (shape.into(), permuted.into());
        let by_layout = Plan::new(&permuted, &shape).expect("a plan");
        let by_strides = Plan::builder(view.shape(), &shape).src_strided(&view).build().expect("a plan");
        let bytes: Vec<u8> = (0..by_layout.src_byte_size()).map(|byte| byte as u8).collect();
        let (mut one, mut other) = (vec![0; bytes.len()], vec![0; bytes.len()]);
        by_layout.execute(&bytes, &mut one).expect("the right sizes");
        by_strides.execute(&bytes, &mut other).expect("the right sizes");
        prop_assert_eq!(one, other);
    }

    #[test]
    fn any_tensor_is_read_or_refused(
        code in 0u8..20, bits in prop::sample::select(vec![0u8, 1, 2, 4, 6, 8, 16, 32, 64, 128, 255]), lanes in 0u16..4,
        shape in prop::collection::vec(prop_oneof![-1i64..4, any::<i64>()], 0..4),
        strides in prop::option::of(prop::collection::vec(prop_oneof![-4i64..9, any::<i64>()], 0..4)),
        byte_offset in prop_oneof![0u64..9, any::<u64>()],
        is_subbyte_type_padded in any::<bool>(),
    ) {
        let data_type = DataType { code, bits, lanes };
        let strides = strides.as_deref();
        let tensor = Tensor { data_type, shape: &shape, strides, byte_offset, is_subbyte_type_padded };
        if let Ok(strided) = tensor.to_strided() {
            let _ = Plan::builder(strided.shape(), strided.shape()).src_strided(&strided).build();
        }
    }
}

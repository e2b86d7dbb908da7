//! Worked examples: those of XLA's documents on shapes and on tiled layouts, and what they leave unsaid.

use relayout::index::{self, Indexer};
use relayout::{
    ArrayShape, DimensionSize, Layout, LayoutError, PaddingValue, PrimitiveType, SplitConfig, Tile,
    TileDimension,
};

const STAR: TileDimension = TileDimension::Combine;

fn array(dimensions: &[i64], layout: Layout) -> ArrayShape {
    ArrayShape::new(PrimitiveType::F32, dimensions.iter().copied()).with_layout(layout)
}

fn row_major(dimensions: &[i64], tiles: &[&[i64]]) -> ArrayShape {
    let tiles = tiles.iter().map(|tile| Tile::new(tile.iter().copied().map(TileDimension::Size)));
    array(dimensions, Layout::row_major(dimensions.len()).with_tiles(tiles))
}

fn size(entry: i64) -> TileDimension {
    TileDimension::Size(entry)
}

#[test]
fn one_tile() {
    let shape = row_major(&[3, 5], &[&[2, 2]]);
    assert_eq!(index::linear_index(&shape, &[2, 3]), Ok(17));
    assert_eq!(shape.padded_elements(), Ok(24));
    let shape = array(&[3, 5], Layout::column_major(2).with_tiles([Tile::from([2, 2])]));
    assert_eq!(index::linear_index(&shape, &[2, 3]), Ok(14));
}

#[test]
fn second_tile_makes_rows_neighbours() {
    let shape = row_major(&[16, 256], &[&[8, 128], &[2, 1]]);
    let linear = |index: [i64; 2]| index::linear_index(&shape, &index).unwrap();
    assert_eq!([linear([0, 0]), linear([1, 0]), linear([0, 1]), linear([2, 0])], [0, 1, 2, 256]);
}

#[test]
fn tile_reaching_the_tile_counts() {
    let shape = row_major(&[32, 256], &[&[8, 128], &[2, 1, 1, 1]]);
    let linear = |index: [i64; 2]| index::linear_index(&shape, &index).unwrap();
    assert_eq!([linear([0, 0]), linear([8, 0]), linear([0, 1])], [0, 1, 2]);
}

#[test]
fn three_tiles_in_one_dimension() {
    let shape = row_major(&[300], &[&[256], &[128], &[2, 1]]);
    let linear = |entry: i64| index::linear_index(&shape, &[entry]).unwrap();
    assert_eq!([linear(0), linear(128), linear(1), linear(129), linear(256)], [0, 1, 2, 3, 256]);
}

#[test]
fn later_tile_pads_again() {
    let shape = row_major(&[9], &[&[5], &[2]]);
    assert_eq!(shape.physical_dimensions(), Ok(vec![2, 3, 2]));
    assert_eq!(shape.padded_elements(), Ok(12));
}

#[test]
fn tile_longer_than_the_rank() {
    assert_eq!(row_major(&[300], &[&[8, 128]]).byte_size(), Ok(12_288));
    assert_eq!(row_major(&[], &[&[128]]).byte_size(), Ok(512));
    assert_eq!(row_major(&[], &[&[8, 128]]).byte_size(), Ok(4_096));
    assert_eq!(index::linear_index(&row_major(&[], &[&[8, 128]]), &[]), Ok(0));
    assert_eq!(index::linear_index(&row_major(&[300], &[&[8, 128]]), &[129]), Ok(1025));
}

#[test]
fn combined_dimensions() {
    let tile = Tile::new([STAR, STAR, size(2), STAR, size(3)]);
    let shape = array(&[2, 7, 8, 11, 10], Layout::row_major(5).with_tiles([tile]));
    assert_eq!(shape.physical_dimensions(), Ok(vec![56, 37, 2, 3]));
    assert_eq!(shape.padded_elements(), Ok(12_432));
    assert_eq!(index::linear_index(&shape, &[1, 6, 7, 10, 9]), Ok(12_430));
}

#[test]
fn legacy_padding() {
    let layout = Layout::column_major(2).with_padded_dimensions([3, 5], PaddingValue::Zero);
    let shape = array(&[2, 3], layout);
    let letter = |linear| match index::multi_index(&shape, linear).unwrap() {
        Some(index) => ["abc", "def"][index[0] as usize].chars().nth(index[1] as usize).unwrap(),
        None => '0',
    };
    let slots = shape.padded_elements().unwrap();
    assert_eq!((0..slots).map(letter).collect::<String>(), "ad0be0cf0000000");
    assert_eq!((shape.byte_size(), shape.padding_bytes()), (Ok(60), Ok(36)));
    assert_eq!(index::linear_index(&shape, &[1, 2]), Ok(7));
    assert_eq!(index::multidimensional_index_to_linear_index(&shape, &[1, 2]), Ok(7));
    assert_eq!(shape.byte_strides(), Ok(Some(vec![4, 12])));
}

#[test]
fn tail_alignment_counts_with_and_without_tiles() {
    let aligned = |layout: Layout, elements| layout.with_tail_padding_alignment_in_elements(elements);
    let tiled = Layout::row_major(2).with_tiles([Tile::from([2, 2])]);
    let shape = array(&[3, 5], aligned(tiled.clone(), 7));
    assert_eq!(shape.byte_size(), Ok(112));
    assert_eq!(array(&[3, 5], aligned(tiled, 32)).byte_size(), Ok(128));
    // XLA's own size ignores L where there are no tiles.
    assert_eq!(array(&[3, 5], aligned(Layout::row_major(2), 8)).byte_size(), Ok(64));
    assert_eq!(index::multi_index(&shape, 27), Ok(None));
    assert_eq!(
        index::multi_index(&shape, 28),
        Err(LayoutError::LinearIndexOutOfBounds { linear: 28, slots: 28 })
    );
}

#[test]
fn slot_widths() {
    let bytes = |element_type, count: i64, layout: Layout| {
        ArrayShape::new(element_type, [count]).with_layout(layout).byte_size().unwrap()
    };
    let plain = Layout::row_major(1);
    let wide = |bits| Layout::row_major(1).with_element_size_in_bits(bits);
    assert_eq!(bytes(PrimitiveType::S4, 5, plain), 5);
    assert_eq!(bytes(PrimitiveType::S4, 5, wide(4)), 3);
    assert_eq!(bytes(PrimitiveType::S4, 5, wide(4).with_tiles([Tile::from([8])])), 4);
    assert_eq!(bytes(PrimitiveType::Pred, 9, wide(1)), 2);
    assert_eq!(bytes(PrimitiveType::F32, 5, wide(64)), 40);
    assert_eq!(bytes(PrimitiveType::F32, 5, wide(3)), 2);
}

#[test]
fn dynamic_dimensions() {
    let dynamic = |size| ArrayShape::new(PrimitiveType::F32, [DimensionSize::Static(2), size]);
    assert_eq!(dynamic(DimensionSize::Bounded(3)).byte_size(), Ok(24));
    let unbounded = dynamic(DimensionSize::Unbounded);
    let error = LayoutError::UnboundedDimension { dimension: 1 };
    assert_eq!(unbounded.byte_size(), Err(error.clone()));
    assert_eq!(unbounded.elements(), Err(error.clone()));
    assert_eq!(index::linear_index(&unbounded, &[0, 0]), Err(error));
    assert_eq!(unbounded.element_bits(), Ok(32));
}

#[test]
fn sizes_that_do_not_exist() {
    let star_last = array(&[4], Layout::row_major(1).with_tiles([Tile::new([size(2), STAR])]));
    assert_eq!(star_last.byte_size(), Err(LayoutError::TrailingCombine { tile: 0 }));
    let overflow =
        |shape: ArrayShape| assert!(matches!(shape.byte_size(), Err(LayoutError::Overflow { .. })));
    overflow(row_major(&[i64::MAX / 8], &[&[1 << 40, 1 << 40]]));
    overflow(row_major(&[i64::MAX / 4], &[&[128]]));
    let aligned = Layout::row_major(1).with_tail_padding_alignment_in_elements(i64::MAX);
    overflow(array(&[i64::MAX / 8], aligned));
    // Bytes fit where bits do not.
    assert_eq!(array(&[i64::MAX / 8], Layout::row_major(1)).byte_size(), Ok(i64::MAX / 8 * 4));
    // An empty array is empty, however large its other dimensions are.
    assert_eq!(row_major(&[0, i64::MAX, 4], &[&[8, 128]]).byte_size(), Ok(0));
}

#[test]
fn empty_tiled_arrays() {
    let shape = row_major(&[0, 5], &[&[2, 2]]);
    assert_eq!((shape.padded_elements(), shape.byte_size()), (Ok(0), Ok(0)));
    assert_eq!(Indexer::new(&shape).unwrap().multi(0), None);
}

#[test]
fn indices_out_of_bounds() {
    let shape = row_major(&[2, 3], &[]);
    let outside =
        |dimension, index, size| Err::<i64, _>(LayoutError::IndexOutOfBounds { dimension, index, size });
    assert_eq!(index::linear_index(&shape, &[2, 0]), outside(0, 2, 2));
    assert_eq!(index::linear_index(&shape, &[0, -1]), outside(1, -1, 3));
    assert_eq!(index::linear_index(&shape, &[0]), Err(LayoutError::IndexLength { entries: 1, rank: 2 }));
    assert_eq!(index::multidimensional_index_to_linear_index(&shape, &[5, 7]), outside(0, 5, 2));
    assert_eq!(index::index_in_bounds(&shape, &[1, 2]), Ok(true));
    assert_eq!(index::index_in_bounds(&shape, &[-1, 2]), Ok(false));
    assert_eq!(index::bump_indices(&shape, &mut [-1, 0]), outside(0, -1, 2).map(|_| true));
    assert_eq!(
        index::multi_index(&shape, -1),
        Err(LayoutError::LinearIndexOutOfBounds { linear: -1, slots: 6 })
    );
    let beyond = index::linear_index_to_multidimensional_index(&shape, 6);
    assert_eq!(beyond, Err(LayoutError::LinearIndexOutOfBounds { linear: 6, slots: 6 }));
}

#[test]
fn untiled_layouts() {
    type Case = (&'static [i64], &'static [&'static [i64]], bool);
    let cases: [Case; 12] = [
        (&[16, 128], &[], true),
        (&[16, 128], &[&[8, 128]], true),
        (&[16, 128], &[&[1, 128]], true),
        (&[16, 128], &[&[128]], true),
        (&[16, 128], &[&[64]], true),
        (&[16, 128], &[&[16, 128]], true),
        (&[16, 128], &[&[8, 128], &[64]], true),
        (&[4, 16, 128], &[&[2, 16, 128]], true),
        (&[16, 100], &[&[8, 128]], false),
        (&[15], &[&[8]], false),
        (&[16, 128], &[&[8, 128], &[2, 1]], false),
        (&[16, 256], &[&[8, 128]], false),
    ];
    for (dimensions, tiles, expected) in cases {
        assert_eq!(row_major(dimensions, tiles).is_untiled(), Ok(expected), "{dimensions:?} {tiles:?}");
    }
    let star = array(&[2, 3], Layout::row_major(2).with_tiles([Tile::new([STAR, size(1)])]));
    assert_eq!(star.is_untiled(), Ok(false));
}

#[test]
fn splits_change_no_size() {
    let split = SplitConfig { dimension: 0, indices: vec![3] };
    let layout = Layout::row_major(1).with_tiles([Tile::from([4])]).with_split_configs([split]);
    let shape = array(&[10], layout);
    assert_eq!(shape.byte_size(), Ok(48));
    assert_eq!((shape.max_split_size(0), shape.max_split_size(-1)), (Ok(7), Ok(7)));
    // The number of a split is physical.
    let split = SplitConfig { dimension: 0, indices: vec![2, 7] };
    let shape = array(&[5, 9], Layout::column_major(2).with_split_configs([split]));
    assert_eq!((shape.max_split_size(0), shape.max_split_size(1)), (Ok(5), Ok(5)));
}

#[test]
fn axis_names() {
    let names = |rank| (0..rank).map(|dimension| relayout::axis_name(rank, dimension)).collect::<Vec<_>>();
    assert_eq!(names(1), ["x"]);
    assert_eq!(names(2), ["y", "x"]);
    assert_eq!(names(4), ["p", "z", "y", "x"]);
    assert_eq!(names(5), ["d0", "d1", "d2", "d3", "d4"]);
}

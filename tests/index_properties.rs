//! Properties of the index function on random layouts.

use std::collections::HashSet;

use proptest::prelude::*;
use relayout::index::{self, Indexer};
use relayout::{ArrayShape, Layout, PaddingValue, PrimitiveType, Tile, TileDimension};

fn tile() -> impl Strategy<Value = Tile> {
    let entry = prop_oneof![4 => (1i64..6).prop_map(TileDimension::Size), 1 => Just(TileDimension::Combine)];
    (prop::collection::vec(entry, 0..4), 1i64..6).prop_map(|(mut entries, last)| {
        entries.push(TileDimension::Size(last));
        Tile::new(entries)
    })
}

/// Small arrays of up to four dimensions in any order, with tiles or legacy padding, and a tail alignment.
fn shape() -> impl Strategy<Value = ArrayShape> {
    let dimensions = prop::collection::vec(0i64..7, 0..5);
    dimensions.prop_flat_map(|dimensions| {
        let rank = dimensions.len();
        let order = Just((0..rank as i64).collect::<Vec<_>>()).prop_shuffle();
        let tiles = prop::collection::vec(tile(), 0..4);
        let padding = prop::option::of(prop::collection::vec(0i64..4, rank));
        (Just(dimensions), order, tiles, padding, 1i64..9).prop_map(
            |(dimensions, order, tiles, padding, tail)| {
                let layout = Layout::from_minor_to_major(order).with_tail_padding_alignment_in_elements(tail);
                let layout = match padding {
                    Some(padding) => {
                        let padded = dimensions.iter().zip(padding).map(|(size, more)| size + more);
                        layout.with_padded_dimensions(padded, PaddingValue::Zero)
                    }
                    None => layout.with_tiles(tiles),
                };
                ArrayShape::new(PrimitiveType::F32, dimensions).with_layout(layout)
            },
        )
    })
}

/// Every multi-index of a shape, in logical row-major order.
fn indices(shape: &ArrayShape) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    let mut index = vec![0; shape.rank()];
    let mut more = shape.elements().unwrap() > 0;
    while more {
        all.push(index.clone());
        more = index::bump_indices(shape, &mut index).unwrap();
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn linear_index_is_a_bijection_onto_the_slots_with_elements(shape in shape()) {
        let indexer = Indexer::new(&shape).unwrap();
        let mut seen = HashSet::new();
        for multi in indices(&shape) {
            let linear = indexer.linear(&multi).unwrap();
            prop_assert!((0..indexer.slots()).contains(&linear), "{shape}: {multi:?} lies at {linear}");
            prop_assert!(seen.insert(linear), "{shape}: slot {linear} is taken twice");
            prop_assert_eq!(indexer.multi(linear), Some(multi), "{}", shape);
        }
        prop_assert_eq!(seen.len() as i64, shape.elements().unwrap());
        for slot in (0..indexer.slots()).filter(|slot| !seen.contains(slot)) {
            prop_assert_eq!(indexer.multi(slot), None, "{}: slot {}", shape, slot);
        }
    }

    #[test]
    fn untiled_means_that_the_tiles_change_nothing(shape in shape()) {
        let plain = shape.clone().with_layout(shape.layout().clone().with_tiles([]));
        let same_place = |multi: &Vec<i64>| {
            index::linear_index(&shape, multi) == index::linear_index(&plain, multi)
        };
        let no_padding = shape.padded_elements() == plain.padded_elements();
        let changes_nothing = no_padding && indices(&shape).iter().all(same_place);
        let has_combine =
            shape.layout().tiles().iter().any(|tile| tile.dimensions().contains(&TileDimension::Combine));
        let is_untiled = shape.is_untiled().unwrap();
        prop_assert!(!is_untiled || changes_nothing, "{shape}");
        // An empty array has no element to move, and the tail alignment can hide padding.
        let tail = shape.layout().tail_padding_alignment_in_elements();
        if !has_combine && tail == 1 && shape.elements() != Ok(0) {
            prop_assert_eq!(is_untiled, changes_nothing, "{}", shape);
        }
    }

    #[test]
    fn untiled_functions_agree_with_the_full_ones_without_tiles(shape in shape()) {
        let plain = shape.clone().with_layout(shape.layout().clone().with_tiles([]));
        for multi in indices(&plain) {
            let linear = index::linear_index(&plain, &multi);
            prop_assert_eq!(&index::multidimensional_index_to_linear_index(&shape, &multi), &linear);
            prop_assert_eq!(index::linear_index_to_multidimensional_index(&shape, linear.unwrap()), Ok(multi));
        }
    }
}

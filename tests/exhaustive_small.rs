//! Every small relayout, so that no corner is left to chance.
//!
//! The source is always in descending order of dimensions: since all sizes are tried, renaming the dimensions turns
//! any pair of orders into one of these.

use relayout::reference::relayout;
use relayout::{ArrayShape, Layout, Plan, PrimitiveType, Request, Tile};

/// Moves 16-bit numbers that are all different.
fn check(src: &ArrayShape, dst: &ArrayShape) {
    let request = Request::new(src, dst);
    let plan = Plan::from_request(&request).unwrap_or_else(|error| panic!("{src} -> {dst}: {error}"));
    let numbers = (1..).take(plan.src_byte_size() / 2).flat_map(u16::to_le_bytes);
    let bytes: Vec<u8> = numbers.collect();
    let (mut found, mut expected) = (vec![0xa5; plan.dst_byte_size()], vec![0x5a; plan.dst_byte_size()]);
    plan.execute(&bytes, &mut found).unwrap_or_else(|error| panic!("{src} -> {dst}: {error}"));
    relayout(&request, &bytes, &mut expected).unwrap_or_else(|error| panic!("{src} -> {dst}: {error}"));
    assert_eq!(found, expected, "{src} -> {dst}");
}

/// All lists of `length` numbers out of `range`.
fn lists(length: usize, range: std::ops::RangeInclusive<i64>) -> Vec<Vec<i64>> {
    (0..length).fold(vec![vec![]], |lists, _| {
        let longer = |list: Vec<i64>| range.clone().map(move |next| [list.clone(), vec![next]].concat());
        lists.into_iter().flat_map(longer).collect()
    })
}

/// All orders of the numbers `0..count`.
fn permutations(count: i64) -> Vec<Vec<i64>> {
    let orders = lists(count as usize, 0..=count - 1);
    orders.into_iter().filter(|order| (0..count).all(|number| order.contains(&number))).collect()
}

fn array(sizes: &[i64], layout: Layout) -> ArrayShape {
    ArrayShape::new(PrimitiveType::Bf16, sizes.iter().copied()).with_layout(layout)
}

#[test]
fn every_permutation_to_rank_4() {
    for rank in 0..=4 {
        let orders = permutations(rank);
        for sizes in lists(rank as usize, 0..=5) {
            let src = array(&sizes, Layout::row_major(sizes.len()));
            for order in &orders {
                check(&src, &array(&sizes, Layout::from_minor_to_major(order.iter().copied())));
            }
        }
    }
}

/// No tile, and every tile of one or two entries from 1 to 3.
fn tilings() -> Vec<Vec<Tile>> {
    let tiles = [lists(1, 1..=3), lists(2, 1..=3)].concat();
    let tiles = tiles.into_iter().map(|sizes| vec![Tile::new(sizes.into_iter().map(Into::into))]);
    std::iter::once(vec![]).chain(tiles).collect()
}

#[test]
fn every_pair_of_small_tiles() {
    let (tilings, orders) = (tilings(), permutations(2));
    for sizes in lists(2, 0..=5) {
        for src_tiles in &tilings {
            let src = array(&sizes, Layout::row_major(2).with_tiles(src_tiles.clone()));
            for (dst_tiles, order) in tilings.iter().flat_map(|tiles| orders.iter().map(move |o| (tiles, o)))
            {
                let layout = Layout::from_minor_to_major(order.iter().copied());
                check(&src, &array(&sizes, layout.with_tiles(dst_tiles.clone())));
            }
        }
    }
}

#[test]
fn every_second_tile() {
    let seconds = [lists(1, 2..=3), lists(2, 1..=3), lists(3, 1..=2)].concat();
    for sizes in lists(2, 3..=5) {
        let src = array(&sizes, Layout::column_major(2));
        for first in lists(2, 1..=3) {
            for second in &seconds {
                let tiles = [&first, second].map(|sizes| Tile::new(sizes.iter().map(|&size| size.into())));
                let tiled = array(&sizes, Layout::row_major(2).with_tiles(tiles));
                check(&src, &tiled);
                check(&tiled, &src);
            }
        }
    }
}

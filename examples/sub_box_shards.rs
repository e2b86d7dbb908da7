//! An array in four shards, each tiled on a device of its own, put together again by regions.
//!
//! ```text
//! cargo run --release --example sub_box_shards
//! ```

use relayout::{Plan, Region, Shape};

/// Logical size of the array, and of a shard; the last shards of each row and column are smaller.
const WHOLE: [i64; 2] = [300, 500];
const SHARD: [i64; 2] = [160, 256];

/// First index and extents of each shard.
fn shards() -> impl Iterator<Item = ([i64; 2], [i64; 2])> {
    let starts = [0, SHARD[0]].into_iter().flat_map(|row| [0, SHARD[1]].map(|column| [row, column]));
    starts.map(|start| (start, [0, 1].map(|d| SHARD[d].min(WHOLE[d] - start[d]))))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let whole: Shape = format!("f32[{},{}]", WHOLE[0], WHOLE[1]).parse()?;
    let numbers: Vec<f32> = (0..WHOLE[0] * WHOLE[1]).map(|i| i as f32).collect();
    let mut together = vec![-1f32; numbers.len()];
    for (start, extents) in shards() {
        let shard: Shape = format!("f32[{},{}]{{1,0:T(8,128)}}", extents[0], extents[1]).parse()?;

        // A box of the array becomes a whole shard, whose tiles are padded with zeros.
        let cut = Region::new(extents).with_src_start(start);
        let cut = Plan::builder(&whole, &shard).region(cut).build()?;
        let mut tiles = vec![f32::NAN; cut.dst_byte_size() / 4];
        cut.execute_typed(&numbers, &mut tiles)?;
        assert!(tiles.iter().all(|number| !number.is_nan()));

        // And a whole shard a box of the array; the rest of the array is left alone.
        let place = Region::new(extents).with_dst_start(start);
        Plan::builder(&shard, &whole).region(place).build()?.execute_typed(&tiles, &mut together)?;
    }
    assert_eq!(together, numbers);
    println!("{} shards put together: the whole, number by number", shards().count());
    Ok(())
}

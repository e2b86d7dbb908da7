//! A matrix into the tiles that a TPU keeps it in, and back.
//!
//! ```text
//! cargo run --release --example convert_tiled
//! ```

use relayout::{Plan, Shape, index};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain: Shape = "bf16[300,200]".parse()?;
    let tiled: Shape = "bf16[300,200]{1,0:T(8,128)(2,1)}".parse()?;
    let there = Plan::new(&plain, &tiled)?;
    let back = Plan::new(&tiled, &plain)?;
    println!("{there}");

    // Element k of the row-major matrix holds the number k.
    let matrix: Vec<u8> = (0..300 * 200u16).flat_map(u16::to_le_bytes).collect();
    let mut tiles = vec![0; there.dst_byte_size()];
    there.execute(&matrix, &mut tiles)?;

    // The index function says where each element lies.
    let array = tiled.as_array().ok_or("an array")?;
    let slot = index::linear_index(array, &[299, 123])? as usize;
    assert_eq!(tiles[2 * slot..2 * slot + 2], (299 * 200 + 123u16).to_le_bytes());

    let mut again = vec![0; matrix.len()];
    back.execute(&tiles, &mut again)?;
    assert_eq!(again, matrix);
    println!("{} bytes there, {} bytes back, nothing lost", tiles.len(), again.len());
    Ok(())
}

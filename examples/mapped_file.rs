//! An array converted straight into a file: the file is mapped into memory, and the mapping is the destination.
//!
//! ```text
//! cargo run --release --example mapped_file
//! ```

use std::fs::File;

use memmap2::{Mmap, MmapMut};
use relayout::{Plan, Shape, index};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain: Shape = "f32[1000,600]".parse()?;
    let tiled: Shape = "f32[1000,600]{1,0:T(8,128)}".parse()?;
    let plan = Plan::new(&plain, &tiled)?;
    let numbers: Vec<u8> = (0..600_000u32).flat_map(|i| (i as f32).to_le_bytes()).collect();

    let folder = tempfile::tempdir()?;
    let path = folder.path().join("tiles.bin");
    let file = File::options().read(true).write(true).create_new(true).open(&path)?;
    file.set_len(plan.dst_byte_size() as u64)?;
    // SAFETY: the file is new, in a folder of this process alone; nobody else maps, writes or cuts it.
    let mut mapping = unsafe { MmapMut::map_mut(&file)? };
    plan.execute(&numbers, &mut mapping)?;
    mapping.flush()?;
    drop(mapping);

    // The file holds the tiles, as the index function says.
    let tiles = std::fs::read(&path)?;
    let slot = index::linear_index(tiled.as_array().ok_or("an array")?, &[999, 599])? as usize;
    assert_eq!(tiles.len(), 1000 * 640 * 4);
    assert_eq!(tiles[4 * slot..][..4], 599_999f32.to_le_bytes());

    // And it is a source as good as any.
    // SAFETY: as above.
    let mapping = unsafe { Mmap::map(&file)? };
    let mut back = vec![0; numbers.len()];
    Plan::new(&tiled, &plain)?.execute(&mapping, &mut back)?;
    assert_eq!(back, numbers);
    println!("{} bytes of tiles in a file and back, nothing lost", tiles.len());
    Ok(())
}

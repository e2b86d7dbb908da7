//! An array that is never whole in memory: read from a file and written to another, piece by piece, through two small
//! buffers, as a runtime feeds a device.
//!
//! ```text
//! cargo run --release --example chunked_staging
//! ```

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use relayout::{End, Plan, Shape};

/// Bytes of the destination that are made at a time.
const STAGED: usize = 256 * 1024;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain: Shape = "bf16[3000,1000]".parse()?;
    let tiled: Shape = "bf16[3000,1000]{1,0:T(8,128)(2,1)}".parse()?;
    let plan = Plan::new(&plain, &tiled)?;
    let numbers: Vec<u8> = (0..plan.src_byte_size()).map(|i| (i * 7 + (i >> 9)) as u8).collect();
    let mut expected = vec![0; plan.dst_byte_size()];
    plan.execute(&numbers, &mut expected)?;

    let mut source = tempfile::tempfile()?;
    source.write_all(&numbers)?;
    for end in [End::Destination, End::Source] {
        let device = staged(&plan, end, &mut source)?;
        assert_eq!(contents(device)?, expected);
    }
    println!("{} bytes became {} in pieces of {STAGED}", numbers.len(), expected.len());
    Ok(())
}

/// Moves an array from file to file; chunks are consecutive ranges of one end.
fn staged(plan: &Plan, end: End, source: &mut File) -> Result<File, Box<dyn std::error::Error>> {
    let mut device = tempfile::tempfile()?;
    device.set_len(plan.dst_byte_size() as u64)?;
    let (mut from, mut to) = (Vec::new(), Vec::new());
    for chunk in plan.chunks_of_bytes(STAGED).contiguous(end) {
        let (src, dst) = (chunk.src_span(), chunk.dst_range());
        from.resize(src.len(), 0);
        source.seek(SeekFrom::Start(src.start as u64))?;
        source.read_exact(&mut from)?;

        // Ranges of the destination may overlap where chunks are consecutive in the source: what is there stays.
        to.resize(dst.len(), 0);
        device.seek(SeekFrom::Start(dst.start as u64))?;
        if end == End::Source {
            device.read_exact(&mut to)?;
            device.seek(SeekFrom::Start(dst.start as u64))?;
        }
        plan.execute_chunk_ranges(&chunk, &from, &mut to)?;
        device.write_all(&to)?;
    }
    Ok(device)
}

fn contents(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

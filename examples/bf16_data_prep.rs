//! Weights in `f32`, as a checkpoint has them, into the `bf16` tiles of a TPU in one pass; into the tiles of integers of 8
//! bits, with a step for each row; and quantised weights, which are 8-bit floats, with a scale for each row.
//!
//! ```text
//! cargo run --release --example bf16_data_prep
//! ```

use half::bf16;
use relayout::{AlignedBuffer, Conversion, Plan, Rounding, Shape, index};

const ROWS: usize = 1000;
const COLUMNS: usize = 600;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let plain: Shape = format!("f32[{ROWS},{COLUMNS}]").parse()?;
    let tiled: Shape = format!("bf16[{ROWS},{COLUMNS}]{{1,0:T(8,128)(2,1)}}").parse()?;
    let plan = Plan::new(&plain, &tiled)?;

    // No zeros are written first, and nothing of the size of the array lies between the two.
    let weights: Vec<f32> = (0..ROWS * COLUMNS).map(|i| (i as f32).sin()).collect();
    let bytes: &[u8] = bytemuck::cast_slice(&weights);
    let tiles = AlignedBuffer::written_by(plan.dst_byte_size(), |memory| plan.execute_uninit(bytes, memory))?;

    // Every element is where the layout says, rounded to the nearest.
    let array = tiled.as_array().ok_or("an array")?;
    for [row, column] in [[0, 0], [1, 599], [999, 0], [517, 123]] {
        let slot = index::linear_index(array, &[row as i64, column as i64])? as usize;
        let found = bf16::from_le_bytes([tiles[2 * slot], tiles[2 * slot + 1]]);
        assert_eq!(found, bf16::from_f32(weights[row * COLUMNS + column]));
    }
    println!("{} bytes of f32 became {} bytes of tiles", bytes.len(), tiles.len());

    // Quantised on the way: the greatest weight of a row becomes 127.
    let greatest = |row: &[f32]| row.iter().fold(0f32, |most, weight| most.max(weight.abs()));
    let steps: Vec<f32> = weights.chunks(COLUMNS).map(|row| greatest(row) / 127.0).collect();
    let integers: Shape = format!("s8[{ROWS},{COLUMNS}]{{1,0:T(8,128)(4,1)}}").parse()?;
    let conversion = Conversion::new().with_rounding(Rounding::NearestEven);
    let conversion = conversion.with_scale_along(0, steps.iter().map(|step| step.recip()));
    let plan = Plan::builder(&plain, &integers).conversion(conversion).build()?;
    let mut tiles = vec![0; plan.dst_byte_size()];
    plan.execute(bytes, &mut tiles)?;
    let slot = index::linear_index(integers.as_array().ok_or("an array")?, &[517, 123])? as usize;
    let (weight, step) = (weights[517 * COLUMNS + 123], steps[517]);
    assert!((f32::from(tiles[slot] as i8) * step - weight).abs() <= 0.51 * step);
    println!("{} weights were quantised row by row", weights.len());

    // Quantised weights: a factor for each row.
    let quantised: Shape = format!("f8e4m3fn[{ROWS},{COLUMNS}]").parse()?;
    let factors = (0..ROWS).map(|row| 0.5 + row as f32);
    let conversion = Conversion::new().with_scale_along(0, factors);
    let plan = Plan::builder(&quantised, &tiled).conversion(conversion).build()?;
    let ones = vec![0x38; plan.src_byte_size()]; // 1.0 in every element
    let mut scaled = vec![0; plan.dst_byte_size()];
    plan.execute(&ones, &mut scaled)?;
    let slot = index::linear_index(array, &[7, 599])? as usize;
    assert_eq!(bf16::from_le_bytes([scaled[2 * slot], scaled[2 * slot + 1]]), bf16::from_f32(7.5));
    println!("{} quantised weights were scaled row by row", ones.len());
    Ok(())
}

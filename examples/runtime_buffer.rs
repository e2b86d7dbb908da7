//! A runtime's transfers: host arrays to the device's layout and back, with plans that are made once.
//!
//! ```text
//! cargo run --release --example runtime_buffer
//! ```

use relayout::interop::pjrt::TiledLayout;
use relayout::{AlignedBuffer, ArrayShape, ExecuteError, Layout, Plan, PlanCache, PrimitiveType, Shape};

/// What a runtime keeps for all its transfers.
struct Transfers {
    plans: PlanCache,
}

impl Transfers {
    /// The bytes of one array in another layout, in a new buffer that may go to the device as it is.
    fn convert(
        &self,
        src: &Shape,
        dst: &Shape,
        bytes: &[u8],
    ) -> Result<AlignedBuffer, Box<dyn std::error::Error>> {
        let plan = self.plans.get_or_build(Plan::builder(src, dst))?;
        let write =
            AlignedBuffer::written_by(plan.dst_byte_size(), |memory| plan.execute_uninit(bytes, memory));
        Ok(write.map_err(|error: ExecuteError| format!("{src} -> {dst}: {error}"))?)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // As the device's plugin states it.
    let fields =
        TiledLayout { minor_to_major: vec![1, 0], tile_dims: vec![8, 128, 2, 1], tile_dim_sizes: vec![2, 2] };
    let tiled = Layout::try_from(&fields)?;
    let transfers = Transfers { plans: PlanCache::new(1000) };

    for step in 0..10u16 {
        for (rows, columns) in [(300, 200), (64, 250), (128, 128)] {
            let host = ArrayShape::new(PrimitiveType::Bf16, [rows, columns]);
            let device = Shape::from(host.clone().with_layout(tiled.clone()));
            let host = Shape::from(host);
            let numbers: Vec<u8> =
                (0..(rows * columns) as u16).flat_map(|i| (i ^ step).to_le_bytes()).collect();

            let on_device = transfers.convert(&host, &device, &numbers)?;
            assert_eq!(on_device.as_ptr() as usize % 64, 0);
            assert_eq!(on_device[2..4], numbers[2 * columns as usize..][..2]); // behind (0, 0) lies (1, 0)
            let back = transfers.convert(&device, &host, &on_device)?;
            assert_eq!(*back, *numbers);
        }
    }
    let stats = transfers.plans.stats();
    assert_eq!((stats.hits, stats.misses), (54, 6));
    println!("60 transfers there and back, {} of them with a plan that was there", stats.hits);
    Ok(())
}

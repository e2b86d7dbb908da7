//! What a request must fulfil, before any address is looked at.

use super::{End, PlanError, Region, Request, Slot};
use crate::size::MemorySize;
use crate::{Tile, TileDimension};

impl Request<'_> {
    /// Everything about the request that can be checked without looking at addresses.
    ///
    /// In this order: element types and what the conversion asks of them, ranks, the source (shape and layout, slot
    /// width, strides), the destination in the same way, then the region, or that the dimensions are equal, and the
    /// factors of a scale.
    ///
    /// # Errors
    /// The first rule that is broken; see [`PlanError`].
    pub fn check(&self) -> Result<(), PlanError> {
        self.memory_sizes().map(|_| ())
    }

    /// [`Request::check`], and the memory of the source and the destination.
    pub(crate) fn memory_sizes(&self) -> Result<[MemorySize; 2], PlanError> {
        let (src, dst) = (self.src, self.dst);
        self.check_types(src.element_type(), dst.element_type())?;
        expect_rank("destination", src.rank(), dst.rank())?;
        let sizes = [self.check_end(End::Source)?, self.check_end(End::Destination)?];
        match &self.region {
            Some(region) => self.check_region(region)?,
            None if self.conversion.ef57() => self.check_ef57_dimensions()?,
            None => self.check_same_dimensions(src.rank())?,
        }
        self.check_factors()?;
        Ok(sizes)
    }

    fn check_end(&self, end: End) -> Result<MemorySize, PlanError> {
        let shape = self.shape(end);
        let size = shape.memory_size().map_err(|error| PlanError::Layout { end, error })?;
        let slot = self.slot(end)?;
        match self.strides_bytes(end) {
            Some(strides) => self.check_strides(end, slot, strides)?,
            None if self.offset_bytes(end) != 0 => {
                let offset_bytes = self.offset_bytes(end);
                return Err(PlanError::OffsetWithoutStrides { end, offset_bytes });
            }
            None => {}
        }
        Ok(size)
    }

    fn check_strides(&self, end: End, slot: Slot, strides: &[i64]) -> Result<(), PlanError> {
        let shape = self.shape(end);
        let what = if end == End::Source { "source strides" } else { "destination strides" };
        expect_rank(what, shape.rank(), strides.len())?;
        if let Slot::Bits(bits) = slot {
            return Err(PlanError::StridesOfPacked { end, bits });
        }
        match tile_beyond_the_first(shape.layout().tiles()) {
            Some(tile) => Err(PlanError::StridesOfTiling { end, tile }),
            None => Ok(()),
        }
    }

    pub(super) fn check_same_dimensions(&self, count: usize) -> Result<(), PlanError> {
        let sizes = self.src.dimensions().iter().zip(self.dst.dimensions()).take(count);
        for (dimension, (src, dst)) in sizes.enumerate() {
            // Unbounded dimensions were refused with the sizes.
            if let (Some(src), Some(dst)) = (src.bound(), dst.bound())
                && src != dst
            {
                return Err(PlanError::DimensionsDiffer { dimension, src, dst });
            }
        }
        Ok(())
    }

    fn check_region(&self, region: &Region) -> Result<(), PlanError> {
        let rank = self.src.rank();
        expect_rank("region", rank, region.extents().len())?;
        expect_rank("region start in the source", rank, region.src_start().len())?;
        expect_rank("region start in the destination", rank, region.dst_start().len())?;
        for (end, starts) in [(End::Source, region.src_start()), (End::Destination, region.dst_start())] {
            for (dimension, (&start, &extent)) in starts.iter().zip(region.extents()).enumerate() {
                let size = self.shape(end).dimensions()[dimension].bound().unwrap_or(0);
                let stop = start.checked_add(extent);
                if start < 0 || extent < 0 || stop.is_none_or(|stop| stop > size) {
                    return Err(PlanError::RegionOutOfBounds { end, dimension, start, extent, size });
                }
            }
        }
        Ok(())
    }
}

/// The first tile that touches the tile counts, whose distances explicit strides are: a `*` in the first tile merges
/// them, and a later tile does where it is longer than what the tiles before it left inside the first.
fn tile_beyond_the_first(tiles: &[Tile]) -> Option<usize> {
    let mut inside = tiles.first()?.dimensions().len();
    for (index, tile) in tiles.iter().enumerate() {
        let entries = tile.dimensions().len();
        let sizes = tile.dimensions().iter().filter(|&&entry| entry != TileDimension::Combine).count();
        if index == 0 && sizes < entries || entries > inside {
            return Some(index);
        }
        if index > 0 {
            inside = inside + 2 * sizes - entries;
        }
    }
    None
}

fn expect_rank(what: &'static str, expected: usize, found: usize) -> Result<(), PlanError> {
    if expected == found { Ok(()) } else { Err(PlanError::RanksDiffer { what, expected, found }) }
}

//! A part of two arrays.

/// A box of the source array that goes to a box of the destination array.
///
/// Each list has one entry per logical dimension. With a region the two shapes need only have the same rank. Only the
/// region's elements are written: padding is left alone unless the region is the whole destination.
///
/// ```
/// use relayout::{Plan, Region, Shape};
/// let (src, dst): (Shape, Shape) = ("u8[2,3]".parse()?, "u8[2,2]{0,1}".parse()?);
/// let right = Region::new([2, 1]).with_src_start([0, 2]).with_dst_start([0, 1]);
/// let mut columns = [0; 4];
/// Plan::builder(&src, &dst).region(right).build()?.execute(&[1, 2, 3, 4, 5, 6], &mut columns)?;
/// assert_eq!(columns, [0, 0, 3, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Region {
    extents: Vec<i64>,
    src_start: Vec<i64>,
    dst_start: Vec<i64>,
}

impl Region {
    /// The box of `extents` elements at the low corner of both arrays.
    pub fn new(extents: impl IntoIterator<Item = i64>) -> Region {
        let extents: Vec<i64> = extents.into_iter().collect();
        let origin = vec![0; extents.len()];
        Region { extents, src_start: origin.clone(), dst_start: origin }
    }

    /// Moves the low corner in the source.
    pub fn with_src_start(mut self, start: impl IntoIterator<Item = i64>) -> Region {
        self.src_start = start.into_iter().collect();
        self
    }

    /// Moves the low corner in the destination.
    pub fn with_dst_start(mut self, start: impl IntoIterator<Item = i64>) -> Region {
        self.dst_start = start.into_iter().collect();
        self
    }

    /// Elements along each logical dimension.
    pub fn extents(&self) -> &[i64] {
        &self.extents
    }

    /// The first index in the source.
    pub fn src_start(&self) -> &[i64] {
        &self.src_start
    }

    /// The first index in the destination.
    pub fn dst_start(&self) -> &[i64] {
        &self.dst_start
    }
}

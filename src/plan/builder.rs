//! A plan with options.

use super::{Plan, arrays};
use crate::{Padding, PlanError, Region, Request, Shape};

/// Options of a [`Plan`]; made by [`Plan::builder`].
///
/// ```
/// use relayout::{Padding, Plan, Shape};
/// let src: Shape = "s16[4,6]".parse()?;
/// let dst: Shape = "s16[4,6]{1,0:T(2,4)}".parse()?;
/// // The source is every second row of a larger array, read from its last row upwards.
/// let plan = Plan::builder(&src, &dst)
///     .src_strides_bytes(&[-24, 2])
///     .src_offset_bytes(72)
///     .padding(Padding::Fill(0xffff))
///     .build()?;
/// assert_eq!((plan.src_byte_size(), plan.dst_byte_size()), (84, 64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct PlanBuilder<'a> {
    src: &'a Shape,
    dst: &'a Shape,
    src_strides_bytes: Option<&'a [i64]>,
    dst_strides_bytes: Option<&'a [i64]>,
    src_offset_bytes: i64,
    dst_offset_bytes: i64,
    region: Option<Region>,
    padding: Option<Padding>,
    max_threads: Option<usize>,
}

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(src: &'a Shape, dst: &'a Shape) -> PlanBuilder<'a> {
        PlanBuilder {
            src,
            dst,
            src_strides_bytes: None,
            dst_strides_bytes: None,
            src_offset_bytes: 0,
            dst_offset_bytes: 0,
            region: None,
            padding: None,
            max_threads: None,
        }
    }

    /// Distances in bytes along each logical dimension of the source; see [`Request::with_src_strides_bytes`].
    pub fn src_strides_bytes(mut self, strides: &'a [i64]) -> Self {
        self.src_strides_bytes = Some(strides);
        self
    }

    /// Distances in bytes along each logical dimension of the destination; see
    /// [`Request::with_dst_strides_bytes`].
    pub fn dst_strides_bytes(mut self, strides: &'a [i64]) -> Self {
        self.dst_strides_bytes = Some(strides);
        self
    }

    /// The byte of the source buffer where the element of index (0, …, 0) lies; needs strides.
    pub fn src_offset_bytes(mut self, offset: i64) -> Self {
        self.src_offset_bytes = offset;
        self
    }

    /// The byte of the destination buffer where the element of index (0, …, 0) lies; needs strides.
    pub fn dst_offset_bytes(mut self, offset: i64) -> Self {
        self.dst_offset_bytes = offset;
        self
    }

    /// Moves only a box of the arrays, whose dimensions may then differ; see [`Region`].
    pub fn region(mut self, region: Region) -> Self {
        self.region = Some(region);
        self
    }

    /// What becomes of the destination's padding; see [`Request::with_padding`].
    pub fn padding(mut self, padding: Padding) -> Self {
        self.padding = Some(padding);
        self
    }

    /// The most threads that executing may use, the caller's among them; 0 counts as 1. At this point every plan runs
    /// on the caller's thread alone, so the number changes nothing.
    pub fn max_threads(mut self, threads: usize) -> Self {
        self.max_threads = Some(threads.max(1));
        self
    }

    /// Plans what was asked for.
    ///
    /// # Errors
    /// [`PlanError`], by what the shapes or options break; see [`Request::check`] for the order.
    pub fn build(self) -> Result<Plan, PlanError> {
        let (src, dst) = arrays(self.src, self.dst)?;
        let mut request = Request::new(src, dst)
            .with_src_offset_bytes(self.src_offset_bytes)
            .with_dst_offset_bytes(self.dst_offset_bytes);
        if let Some(strides) = self.src_strides_bytes {
            request = request.with_src_strides_bytes(strides);
        }
        if let Some(strides) = self.dst_strides_bytes {
            request = request.with_dst_strides_bytes(strides);
        }
        if let Some(region) = self.region {
            request = request.with_region(region);
        }
        if let Some(padding) = self.padding {
            request = request.with_padding(padding);
        }
        let mut plan = Plan::from_request(&request)?;
        plan.max_threads = self.max_threads;
        Ok(plan)
    }
}

//! A plan with options.

use std::sync::OnceLock;

use relayout_kernels::{Level, LevelError};

use super::{Options, Plan, arrays};
use crate::interop::Strided;
use crate::request::Parts;
use crate::{Conversion, End, Padding, PlanError, PlanRequest, Region, Request, Shape};

/// The environment variable that forces a level on every plan without one of its own, for tests and measurements.
const LEVEL_VARIABLE: &str = "RELAYOUT_LEVEL";

/// Whether whole lines may be written past the cache, which saves reading them first. It changes speed only, and
/// nothing at all where the level has no such stores (`scalar`, `neon`).
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Streaming {
    /// Where both buffers together are too large for the machine's caches.
    #[default]
    Auto,
    /// Never: the result is wanted in the cache.
    Never,
    /// Always: the result is not wanted soon.
    Always,
}

/// The level that the environment asks for, else the highest of this machine; both looked up once.
pub(super) fn default_level() -> Result<Level, PlanError> {
    static LEVEL: OnceLock<Result<Level, LevelError>> = OnceLock::new();
    let found = LEVEL.get_or_init(|| match std::env::var(LEVEL_VARIABLE) {
        Ok(name) if !name.is_empty() => name.parse::<Level>()?.require(),
        _ => Ok(Level::detect()),
    });
    found.clone().map_err(PlanError::Level)
}

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
    conversion: Conversion,
    max_threads: Option<usize>,
    level: Option<Level>,
    streaming: Streaming,
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
            conversion: Conversion::new(),
            max_threads: None,
            level: None,
            streaming: Streaming::Auto,
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

    /// Reads an array in somebody else's buffer, whose shape is the source's; see [`interop`](crate::interop).
    pub fn src_strided(mut self, strided: &'a Strided) -> Self {
        self.src_strides_bytes = strided.strides_bytes();
        self.src_offset_bytes = strided.offset_bytes();
        self
    }

    /// Writes an array in somebody else's buffer, whose shape is the destination's.
    pub fn dst_strided(mut self, strided: &'a Strided) -> Self {
        self.dst_strides_bytes = strided.strides_bytes();
        self.dst_offset_bytes = strided.offset_bytes();
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

    /// How elements become elements of another type, and by what they are multiplied; see [`Conversion`].
    pub fn conversion(mut self, conversion: Conversion) -> Self {
        self.conversion = conversion;
        self
    }

    /// The most threads that executing may use, the caller's among them; 1 spawns nothing, and 0 counts as 1. Without this
    /// call the current rayon pool decides; without the feature `rayon` it is always 1.
    pub fn max_threads(mut self, threads: usize) -> Self {
        self.max_threads = Some(threads.max(1));
        self
    }

    /// Forces the instructions to use. Without this call the environment variable `RELAYOUT_LEVEL` decides, and without
    /// that the machine.
    pub fn level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Whether whole lines may be written past the cache; without this call, [`Streaming::Auto`].
    pub fn streaming(mut self, streaming: Streaming) -> Self {
        self.streaming = streaming;
        self
    }

    /// Plans what was asked for.
    ///
    /// # Errors
    /// [`PlanError`], by what the shapes or options break; see [`Request::check`] for the order.
    pub fn build(self) -> Result<Plan, PlanError> {
        let (src, dst) = arrays(self.src, self.dst)?;
        let mut request = Request::new(src, dst)
            .with_conversion(self.conversion)
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
        let level = match self.level {
            Some(level) => level.require().map_err(PlanError::Level)?,
            None => default_level()?,
        };
        let options = Options { level, max_threads: self.max_threads, streaming: self.streaming };
        Plan::with_options(&request, options)
    }

    /// What is to be moved.
    ///
    /// # Errors
    /// [`PlanError::Layout`] where a shape is no array.
    #[inline]
    pub(crate) fn parts(&self) -> Result<Parts<'_>, PlanError> {
        // By its fields, so that a new one cannot be forgotten here or below.
        let &PlanBuilder {
            src,
            dst,
            src_strides_bytes,
            dst_strides_bytes,
            src_offset_bytes,
            dst_offset_bytes,
            ref region,
            padding,
            ref conversion,
            max_threads: _,
            level: _,
            streaming: _,
        } = self;
        let (src, dst) = arrays(src, dst)?;
        let region = region.as_ref();
        Ok(Parts {
            src,
            dst,
            src_strides_bytes,
            dst_strides_bytes,
            src_offset_bytes,
            dst_offset_bytes,
            region,
            padding,
            conversion,
        })
    }

    /// How.
    #[inline]
    pub(crate) fn way(&self) -> Way {
        Way { max_threads: self.max_threads, level: self.level, streaming: self.streaming }
    }
}

/// What changes the way that a plan takes, and not what it moves.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) max_threads: Option<usize>,
    pub(crate) level: Option<Level>,
    pub(crate) streaming: Streaming,
}

impl PlanRequest {
    /// A plan with options of its own for what this asks.
    pub fn builder(&self) -> PlanBuilder<'_> {
        let mut builder = Plan::builder(self.shape(End::Source), self.shape(End::Destination))
            .src_offset_bytes(self.offset_bytes(End::Source))
            .dst_offset_bytes(self.offset_bytes(End::Destination));
        builder.src_strides_bytes = self.strides_bytes(End::Source);
        builder.dst_strides_bytes = self.strides_bytes(End::Destination);
        builder.region = self.region().cloned();
        builder.padding = self.padding();
        builder.conversion = self.conversion().clone();
        builder
    }

    /// Plans what this asks.
    ///
    /// # Errors
    /// [`PlanError`], by what the request breaks; see [`Request::check`] for the order.
    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.builder().build()
    }
}

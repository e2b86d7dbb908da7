//! A request that owns its parts.

use super::{End, Padding, PlanError, Region, Request, array_of};
use crate::{Conversion, Shape};

/// A request that owns its parts, to be kept, sent or stored; what a [`PlanBuilder`](crate::PlanBuilder) borrows.
///
/// Nothing is checked until it is planned. With the feature `serde` it is serialised with the number of its format, and
/// a number that is not known is refused; see `RequestRecord`.
///
/// ```
/// use relayout::{Padding, Plan, PlanRequest, Shape};
/// let (src, dst): (Shape, Shape) = ("u8[2,3]".parse()?, "u8[2,3]{0,1:T(4)}".parse()?);
/// let request = PlanRequest::new(src, dst).with_src_strides_bytes([4, 1]).with_padding(Padding::Fill(9));
/// let mut columns = [0; 12];
/// request.plan()?.execute(&[1, 2, 3, 0, 4, 5, 6], &mut columns)?;
/// assert_eq!(columns, [1, 4, 9, 9, 2, 5, 9, 9, 3, 6, 9, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PlanRequest {
    src: Side,
    dst: Side,
    region: Option<Region>,
    padding: Option<Padding>,
    conversion: Conversion,
}

/// One end of a request.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Side {
    shape: Shape,
    strides_bytes: Option<Vec<i64>>,
    offset_bytes: i64,
}

impl Side {
    fn dense(shape: Shape) -> Side {
        Side { shape, strides_bytes: None, offset_bytes: 0 }
    }
}

impl PlanRequest {
    /// The whole of `src`, dense, into the whole of `dst`.
    pub fn new(src: impl Into<Shape>, dst: impl Into<Shape>) -> PlanRequest {
        let (src, dst) = (Side::dense(src.into()), Side::dense(dst.into()));
        PlanRequest { src, dst, region: None, padding: None, conversion: Conversion::new() }
    }

    /// See [`Request::with_src_strides_bytes`].
    pub fn with_src_strides_bytes(mut self, strides: impl IntoIterator<Item = i64>) -> PlanRequest {
        self.src.strides_bytes = Some(strides.into_iter().collect());
        self
    }

    /// See [`Request::with_dst_strides_bytes`].
    pub fn with_dst_strides_bytes(mut self, strides: impl IntoIterator<Item = i64>) -> PlanRequest {
        self.dst.strides_bytes = Some(strides.into_iter().collect());
        self
    }

    /// See [`Request::with_src_offset_bytes`].
    pub fn with_src_offset_bytes(mut self, offset: i64) -> PlanRequest {
        self.src.offset_bytes = offset;
        self
    }

    /// See [`Request::with_dst_offset_bytes`].
    pub fn with_dst_offset_bytes(mut self, offset: i64) -> PlanRequest {
        self.dst.offset_bytes = offset;
        self
    }

    /// See [`Request::with_region`].
    pub fn with_region(mut self, region: Region) -> PlanRequest {
        self.region = Some(region);
        self
    }

    /// See [`Request::with_padding`].
    pub fn with_padding(mut self, padding: Padding) -> PlanRequest {
        self.padding = Some(padding);
        self
    }

    /// See [`Request::with_conversion`].
    pub fn with_conversion(mut self, conversion: Conversion) -> PlanRequest {
        self.conversion = conversion;
        self
    }

    fn side(&self, end: End) -> &Side {
        match end {
            End::Source => &self.src,
            End::Destination => &self.dst,
        }
    }

    /// The shape of one end.
    pub fn shape(&self, end: End) -> &Shape {
        &self.side(end).shape
    }

    /// The strides of one end, where given.
    pub fn strides_bytes(&self, end: End) -> Option<&[i64]> {
        self.side(end).strides_bytes.as_deref()
    }

    /// Where the element of index (0, …, 0) lies in one end's buffer.
    pub fn offset_bytes(&self, end: End) -> i64 {
        self.side(end).offset_bytes
    }

    /// The box that is moved, where it is not the whole.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }

    /// What becomes of padding, where something was said.
    pub fn padding(&self) -> Option<Padding> {
        self.padding
    }

    /// How elements become elements of another type.
    pub fn conversion(&self) -> &Conversion {
        &self.conversion
    }

    /// The same request, borrowed.
    ///
    /// # Errors
    /// [`PlanError::Layout`] where a shape is no array.
    pub fn request(&self) -> Result<Request<'_>, PlanError> {
        Ok(Request {
            src: array_of(End::Source, &self.src.shape)?,
            dst: array_of(End::Destination, &self.dst.shape)?,
            src_strides_bytes: self.strides_bytes(End::Source),
            dst_strides_bytes: self.strides_bytes(End::Destination),
            src_offset_bytes: self.src.offset_bytes,
            dst_offset_bytes: self.dst.offset_bytes,
            region: self.region.clone(),
            padding: self.padding,
            conversion: self.conversion.clone(),
        })
    }
}

impl From<&Request<'_>> for PlanRequest {
    fn from(request: &Request<'_>) -> PlanRequest {
        // By its fields, so that a new one cannot be forgotten here.
        let Request {
            src,
            dst,
            src_strides_bytes,
            dst_strides_bytes,
            src_offset_bytes,
            dst_offset_bytes,
            region,
            padding,
            conversion,
        } = request.clone();
        let side = |shape: &crate::ArrayShape, strides: Option<&[i64]>, offset_bytes| Side {
            shape: shape.clone().into(),
            strides_bytes: strides.map(<[i64]>::to_vec),
            offset_bytes,
        };
        PlanRequest {
            src: side(src, src_strides_bytes, src_offset_bytes),
            dst: side(dst, dst_strides_bytes, dst_offset_bytes),
            region,
            padding,
            conversion,
        }
    }
}

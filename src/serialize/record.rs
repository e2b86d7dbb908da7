//! A plan request as it is stored.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{ArrayShape, Conversion, End, Padding, PaddingValue, ParseError, PlanRequest, Region, Shape};

/// A plan request as it is stored: the number of the format, texts and numbers (feature `serde`).
///
/// [`PlanRequest`] is serialised as this. Whoever wants to know by its fields why a stored request is refused reads this
/// and converts it; every field must be known, so that nothing which changes the result is overlooked.
///
/// ```
/// use relayout::{PlanRequest, RecordError, RequestRecord};
/// let stored = r#"{
///     "version": 1,
///     "src": { "shape": "bf16[64,250]" },
///     "dst": { "shape": "bf16[64,250]{1,0:T(8,128)(2,1)}" },
///     "padding": "fill=0x7fc0"
/// }"#;
/// let request: PlanRequest = serde_json::from_str(stored)?;
/// assert_eq!(request.plan()?.dst_byte_size(), 32_768);
///
/// let record: RequestRecord = serde_json::from_str(&stored.replace("1,", "2,"))?;
/// assert_eq!(PlanRequest::try_from(record), Err(RecordError::Version { found: 2, supported: 1 }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestRecord {
    /// The number of the format, [`RequestRecord::VERSION`].
    pub version: u32,
    /// The source.
    pub src: EndRecord,
    /// The destination.
    pub dst: EndRecord,
    /// The box that is moved, where it is not the whole.
    #[serde(default)]
    pub region: Option<Region>,
    /// What becomes of padding: `leave`, `zero` or `fill=0x…`.
    #[serde(default)]
    pub padding: Option<Padding>,
    /// How elements become elements of another type; left out where nothing was chosen.
    #[serde(default, skip_serializing_if = "Conversion::is_default")]
    pub conversion: Conversion,
}

/// One end of a [`RequestRecord`].
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndRecord {
    /// The shape's text.
    pub shape: String,
    /// Legacy padding, which no text can say; usually empty.
    #[serde(default)]
    pub padded_dimensions: Vec<i64>,
    /// Legacy: what it is filled with.
    #[serde(default)]
    pub padding_value: PaddingValue,
    /// The byte strides, where given.
    #[serde(default)]
    pub strides_bytes: Option<Vec<i64>>,
    /// The byte where the element of index (0, …, 0) lies.
    #[serde(default)]
    pub offset_bytes: i64,
}

/// Why a stored request cannot be read.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RecordError {
    /// The format is another one.
    #[error("the plan request has format version {found}, expected {supported}")]
    Version {
        /// The version that came.
        found: u32,
        /// The version that is understood.
        supported: u32,
    },
    /// A text is no shape.
    #[error("{end}: {error}")]
    Shape {
        /// Which of the two.
        end: End,
        /// What is wrong with the text.
        error: ParseError,
    },
    /// Legacy padding of what is no array.
    #[error("{end}: padded_dimensions beside a shape that is no array")]
    PaddedDimensions {
        /// Which of the two.
        end: End,
    },
}

impl RequestRecord {
    /// The number of the format that is written and understood.
    pub const VERSION: u32 = 1;
}

impl From<&PlanRequest> for RequestRecord {
    fn from(request: &PlanRequest) -> RequestRecord {
        RequestRecord {
            version: RequestRecord::VERSION,
            src: EndRecord::new(request, End::Source),
            dst: EndRecord::new(request, End::Destination),
            region: request.region().cloned(),
            padding: request.padding(),
            conversion: request.conversion().clone(),
        }
    }
}

impl EndRecord {
    fn new(request: &PlanRequest, end: End) -> EndRecord {
        let shape = request.shape(end);
        let layout = shape.as_array().map(ArrayShape::layout);
        EndRecord {
            shape: shape.to_string(),
            padded_dimensions: layout.map_or_else(Vec::new, |layout| layout.padded_dimensions().to_vec()),
            padding_value: layout.map_or_else(PaddingValue::default, |layout| layout.padding_value()),
            strides_bytes: request.strides_bytes(end).map(<[i64]>::to_vec),
            offset_bytes: request.offset_bytes(end),
        }
    }

    fn read_shape(&self, end: End) -> Result<Shape, RecordError> {
        let shape: Shape = self.shape.parse().map_err(|error| RecordError::Shape { end, error })?;
        if self.padded_dimensions.is_empty() && self.padding_value == PaddingValue::default() {
            return Ok(shape);
        }
        let array = shape.as_array().ok_or(RecordError::PaddedDimensions { end })?;
        let padded = self.padded_dimensions.iter().copied();
        let layout = array.layout().clone().with_padded_dimensions(padded, self.padding_value);
        Ok(array.clone().with_layout(layout).into())
    }
}

impl TryFrom<RequestRecord> for PlanRequest {
    type Error = RecordError;

    /// Reads the texts; whether the request makes sense is found when it is planned.
    fn try_from(record: RequestRecord) -> Result<PlanRequest, RecordError> {
        let RequestRecord { version, src, dst, region, padding, conversion } = record;
        if version != RequestRecord::VERSION {
            return Err(RecordError::Version { found: version, supported: RequestRecord::VERSION });
        }
        let mut request = PlanRequest::new(src.read_shape(End::Source)?, dst.read_shape(End::Destination)?)
            .with_src_offset_bytes(src.offset_bytes)
            .with_dst_offset_bytes(dst.offset_bytes)
            .with_conversion(conversion);
        if let Some(strides) = src.strides_bytes {
            request = request.with_src_strides_bytes(strides);
        }
        if let Some(strides) = dst.strides_bytes {
            request = request.with_dst_strides_bytes(strides);
        }
        if let Some(region) = region {
            request = request.with_region(region);
        }
        Ok(match padding {
            Some(padding) => request.with_padding(padding),
            None => request,
        })
    }
}

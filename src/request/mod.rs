//! What is to be moved: the question that the reference and the planner both answer.

mod check;
mod conversion;
mod encoding;
mod error;
mod fingerprint;
mod owned;
mod region;

pub(crate) use encoding::{Encoding, Parts, Writer};
pub use error::{End, PlanError};
pub use fingerprint::{Fingerprint, FingerprintError};
pub use owned::PlanRequest;
pub use region::Region;

use smallvec::SmallVec;

use crate::{ArrayShape, Conversion, LayoutError, PaddingValue, Shape, value};

/// What becomes of destination slots that hold no element.
///
/// Only slots of the layout are padding: the edges of tiles, legacy padded dimensions, and what `L` adds (beside
/// explicit strides `L` has no meaning). Bytes that strides step over are never touched. XLA leaves the content of
/// tile padding open.
///
/// ```
/// use relayout::{Padding, Plan, PrimitiveType, Shape, value};
/// let (src, dst): (Shape, Shape) = ("s8[3]".parse()?, "s8[3]{0:T(4)}".parse()?);
/// let minus_one = value::parse(PrimitiveType::S8, "-1").expect("a value of s8");
/// let mut tile = [0; 4];
/// Plan::builder(&src, &dst).padding(Padding::Fill(minus_one)).build()?.execute(&[1, 2, 3], &mut tile)?;
/// assert_eq!(tile, [1, 2, 3, 0xff]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Padding {
    /// They keep what they held.
    Leave,
    /// They become zero, so that equal arrays give equal bytes.
    Zero,
    /// They become this element: its bits, in the low bits of the number. Slots wider than 128 bits are zero above.
    Fill(u128),
}

/// How wide an element's place in memory is: `E` of the layout, or the whole bytes of the type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Slot {
    /// Whole bytes.
    Bytes(i64),
    /// 1, 2 or 4 bits; slot k lies in byte `k * bits / 8`, the first in the low bits.
    Bits(u32),
}

/// A relayout to be done: two shapes, and what is special about it.
///
/// ```
/// use relayout::{ArrayShape, Padding, PrimitiveType, Request};
/// let src = ArrayShape::new(PrimitiveType::F32, [3, 5]);
/// let dst: ArrayShape = "f32[3,5]{0,1:T(2,2)}".parse()?;
/// let request = Request::new(&src, &dst).with_padding(Padding::Leave);
/// assert!(request.check().is_ok());
/// # Ok::<(), relayout::ParseError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Request<'a> {
    src: &'a ArrayShape,
    dst: &'a ArrayShape,
    src_strides_bytes: Option<&'a [i64]>,
    dst_strides_bytes: Option<&'a [i64]>,
    src_offset_bytes: i64,
    dst_offset_bytes: i64,
    region: Option<Region>,
    padding: Option<Padding>,
    conversion: Conversion,
}

impl<'a> Request<'a> {
    /// The whole of `src`, dense, into the whole of `dst`.
    pub fn new(src: &'a ArrayShape, dst: &'a ArrayShape) -> Request<'a> {
        Request {
            src,
            dst,
            src_strides_bytes: None,
            dst_strides_bytes: None,
            src_offset_bytes: 0,
            dst_offset_bytes: 0,
            region: None,
            padding: None,
            conversion: Conversion::new(),
        }
    }

    /// Distances in bytes between neighbours along each logical dimension of the source, of any sign, also zero.
    ///
    /// On a tiled shape they are the distances between tiles of the first tile; a tile is dense inside. The tail
    /// alignment `L` has no meaning beside strides.
    pub fn with_src_strides_bytes(mut self, strides: &'a [i64]) -> Request<'a> {
        self.src_strides_bytes = Some(strides);
        self
    }

    /// As [`Request::with_src_strides_bytes`], for the destination; places that may coincide are refused.
    pub fn with_dst_strides_bytes(mut self, strides: &'a [i64]) -> Request<'a> {
        self.dst_strides_bytes = Some(strides);
        self
    }

    /// The byte of the source buffer where the element of index (0, …, 0) lies; needs strides.
    pub fn with_src_offset_bytes(mut self, offset: i64) -> Request<'a> {
        self.src_offset_bytes = offset;
        self
    }

    /// As [`Request::with_src_offset_bytes`], for the destination.
    pub fn with_dst_offset_bytes(mut self, offset: i64) -> Request<'a> {
        self.dst_offset_bytes = offset;
        self
    }

    /// Moves only a box of the arrays.
    pub fn with_region(mut self, region: Region) -> Request<'a> {
        self.region = Some(region);
        self
    }

    /// What becomes of the destination's padding; without this call what the layout's legacy padding value says, else
    /// zero.
    pub fn with_padding(mut self, padding: Padding) -> Request<'a> {
        self.padding = Some(padding);
        self
    }

    /// How elements become elements of another type; without this call [`Conversion::new`].
    pub fn with_conversion(mut self, conversion: Conversion) -> Request<'a> {
        self.conversion = conversion;
        self
    }

    /// The shape that is read.
    pub fn src(&self) -> &'a ArrayShape {
        self.src
    }

    /// The shape that is written.
    pub fn dst(&self) -> &'a ArrayShape {
        self.dst
    }

    /// The strides of one end, where given.
    pub fn strides_bytes(&self, end: End) -> Option<&'a [i64]> {
        match end {
            End::Source => self.src_strides_bytes,
            End::Destination => self.dst_strides_bytes,
        }
    }

    /// Where the element of index (0, …, 0) lies in one end's buffer.
    pub fn offset_bytes(&self, end: End) -> i64 {
        match end {
            End::Source => self.src_offset_bytes,
            End::Destination => self.dst_offset_bytes,
        }
    }

    /// The box that is moved, where it is not the whole.
    pub fn region(&self) -> Option<&Region> {
        self.region.as_ref()
    }

    /// What becomes of padding, all defaults resolved.
    pub fn padding(&self) -> Padding {
        padding_of(self.dst, self.padding)
    }

    /// How elements become elements of another type.
    pub fn conversion(&self) -> &Conversion {
        &self.conversion
    }

    /// True where elements are converted; else their bits are moved.
    pub fn converts(&self) -> bool {
        self.src.element_type() != self.dst.element_type() || self.conversion.scale().is_some()
    }

    pub(crate) fn shape(&self, end: End) -> &'a ArrayShape {
        match end {
            End::Source => self.src,
            End::Destination => self.dst,
        }
    }

    /// How wide the slots of one end are.
    ///
    /// # Errors
    /// [`PlanError::SlotTooNarrow`] and [`PlanError::SlotWidth`].
    pub fn slot(&self, end: End) -> Result<Slot, PlanError> {
        let shape = self.shape(end);
        let element_type = shape.element_type();
        let value_bits = i64::from(element_type.bit_width().unwrap_or(0));
        match shape.layout().element_size_in_bits() {
            0 => Ok(Slot::Bytes(i64::from(element_type.byte_width().unwrap_or(0)))),
            bits if bits < value_bits => Err(PlanError::SlotTooNarrow { end, bits, element_type }),
            bits if bits % 8 == 0 => Ok(Slot::Bytes(bits / 8)),
            bits @ (1 | 2 | 4) => Ok(Slot::Bits(bits as u32)),
            bits => Err(PlanError::SlotWidth { end, bits }),
        }
    }

    /// Bits that move: the whole slot between equal slots, else the value, the rest of the destination's slot being
    /// zero. Call after [`Request::check`].
    ///
    /// # Errors
    /// As [`Request::slot`].
    pub fn moved_bits(&self) -> Result<i64, PlanError> {
        let bits = |slot| match slot {
            Slot::Bytes(bytes) => bytes * 8,
            Slot::Bits(bits) => i64::from(bits),
        };
        let (src, dst) = (bits(self.slot(End::Source)?), bits(self.slot(End::Destination)?));
        Ok(if src == dst { src } else { i64::from(self.src.element_type().bit_width().unwrap_or(0)) })
    }

    /// Elements that are moved along each logical dimension. Call after [`Request::check`].
    pub fn extents(&self) -> Vec<i64> {
        self.inline_extents().into_vec()
    }

    /// [`Request::extents`] without a heap allocation for ordinary ranks.
    pub(crate) fn inline_extents(&self) -> SmallVec<[i64; 8]> {
        match &self.region {
            Some(region) => SmallVec::from_slice(region.extents()),
            None => {
                let mut extents = SmallVec::new();
                for size in self.src.dimensions() {
                    extents.push(size.bound().unwrap_or(0));
                }
                extents
            }
        }
    }

    /// Elements that are written along each logical dimension: more or fewer than are moved where `ef57` splits or joins.
    pub(crate) fn dst_extents(&self) -> Vec<i64> {
        match &self.region {
            Some(region) => region.extents().to_vec(),
            None => self.dst.dimensions().iter().map(|size| size.bound().unwrap_or(0)).collect(),
        }
    }

    /// True where the destination's padding is part of the request: no region, or one that covers the destination.
    pub fn covers_destination(&self) -> bool {
        self.region.as_ref().is_none_or(|region| {
            let sizes = self.dst.dimensions().iter().zip(region.extents());
            sizes.into_iter().all(|(size, &extent)| size.bound() == Some(extent))
        })
    }
}

/// What becomes of padding, all defaults resolved.
fn padding_of(dst: &ArrayShape, said: Option<Padding>) -> Padding {
    said.unwrap_or_else(|| match dst.layout().padding_value() {
        PaddingValue::One => Padding::Fill(value::one(dst.element_type())),
        PaddingValue::Lowest => Padding::Fill(value::lowest(dst.element_type())),
        PaddingValue::Highest => Padding::Fill(value::highest(dst.element_type())),
        PaddingValue::Zero | PaddingValue::Unknown => Padding::Zero,
    })
}

/// The array of a shape, for entry points that take any shape.
pub(crate) fn array_of(end: End, shape: &Shape) -> Result<&ArrayShape, PlanError> {
    shape.as_array().ok_or_else(|| PlanError::Layout {
        end,
        error: LayoutError::NotAnArray { found: shape.primitive_type() },
    })
}

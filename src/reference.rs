//! The measure of every plan: a relayout done one element at a time.
//!
//! Each element goes its own way: its index, its place on either side by the definition of the layout, its bits. Nothing
//! is shared with the planner and the kernels, and nothing is fast.

use thiserror::Error;

use crate::index::{Index, Indexer, bump, row_major, row_major_index};
use crate::{ArrayShape, End, LayoutError, Padding, PlanError, PrimitiveType, Request, Slot, convert};

/// Why the reference refused a request or its buffers.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum ReferenceError {
    /// The request itself is refused.
    #[error(transparent)]
    Request(#[from] PlanError),
    /// A dense buffer of another length than its shape's, or one too short for its strides.
    #[error("{end} has {found} bytes, expected {expected}")]
    BufferSize {
        /// Which buffer.
        end: End,
        /// Bytes that the shape takes; of a strided buffer, bytes up to the end of the place that is missing.
        expected: i128,
        /// Bytes that came.
        found: usize,
    },
}

/// Does what `request` asks, one element at a time.
///
/// Without strides the buffers have exactly the bytes of their shapes; with strides they hold at least every byte that
/// is reached. Whether strides put two destination elements into one place is not looked at: the later one, in
/// logical row-major order, stays.
///
/// ```
/// use relayout::{ArrayShape, Request, reference};
/// let src: ArrayShape = "s8[2,3]".parse()?;
/// let dst: ArrayShape = "s8[2,3]{0,1}".parse()?;
/// let mut columns = [0; 6];
/// reference::relayout(&Request::new(&src, &dst), &[1, 2, 3, 4, 5, 6], &mut columns)?;
/// assert_eq!(columns, [1, 4, 2, 5, 3, 6]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ReferenceError`]. Dense buffers of a wrong length, and requests that fail [`Request::check`], are found before
/// anything is written; strides that leave a buffer, when an element gets there.
pub fn relayout(request: &Request<'_>, src: &[u8], dst: &mut [u8]) -> Result<(), ReferenceError> {
    request.check()?;
    let from = Side::new(request, End::Source, src.len())?;
    let to = Side::new(request, End::Destination, dst.len())?;
    if request.covers_destination() {
        fill_padding(request, &to, dst)?;
    }

    if request.conversion().ef57() {
        return move_ef57(&from, &to, src, dst);
    }
    let extents = request.extents();
    let moved_bits = request.moved_bits()?;
    let mut index = vec![0; extents.len()];
    let mut more = !extents.contains(&0);
    while more {
        let src_place = from.place_of_index(&index)?;
        let dst_place = to.place_of_index(&index)?;
        if request.converts() {
            let value = converted(request, &index, from.read(src, src_place));
            write_bits(dst, dst_place, to.slot_bits, value);
        } else {
            copy_bits(src, src_place, dst, dst_place, moved_bits);
            // A wider slot holds its value in the low bits and zeros above.
            write_bits(dst, dst_place + moved_bits as u64, to.slot_bits - moved_bits, 0);
        }
        more = bump(&extents, &mut index);
    }
    Ok(())
}

/// What a value becomes; `index` counts from the start of the region.
fn converted(request: &Request<'_>, index: &[i64], value: u128) -> u128 {
    let (from, to) = (request.src().element_type(), request.dst().element_type());
    let factor = request.conversion().factors().map(|scale| scale.factor(index));
    convert::element(from, to, value, request.conversion(), factor)
}

/// Takes every `f64` apart into its pair, or puts it together.
fn move_ef57(from: &Side<'_>, to: &Side<'_>, src: &[u8], dst: &mut [u8]) -> Result<(), ReferenceError> {
    let splits = from.element_type == PrimitiveType::F64;
    let (doubles, floats) = if splits { (from, to) } else { (to, from) };
    let mut index = vec![0; doubles.extents.len()];
    let mut more = !doubles.extents.contains(&0);
    while more {
        let double = doubles.place_of_index(&index)?;
        let mut pair = [0; 2];
        for (place, part) in pair.iter_mut().zip(0..) {
            let mut index = index.clone();
            index.iter_mut().last().into_iter().for_each(|entry| *entry = 2 * *entry + part);
            *place = floats.place_of_index(&index)?;
        }
        if splits {
            let parts = convert::ef57_split(from.read(src, double) as u64);
            for (place, part) in pair.into_iter().zip(parts) {
                write_bits(dst, place, to.slot_bits, part.into());
            }
        } else {
            let value = convert::ef57_join(pair.map(|place| from.read(src, place) as u32));
            write_bits(dst, double, to.slot_bits, value.into());
        }
        more = bump(&doubles.extents, &mut index);
    }
    Ok(())
}

/// Fills every slot without an element, and clears the bits behind the last slot.
fn fill_padding(request: &Request<'_>, to: &Side<'_>, dst: &mut [u8]) -> Result<(), ReferenceError> {
    let value = match request.padding() {
        Padding::Leave => return Ok(()),
        Padding::Zero => 0,
        Padding::Fill(value) => value,
    };
    // Elements as many as slots leave none.
    let elements = to.extents.iter().try_fold(1i64, |elements, &extent| elements.checked_mul(extent));
    let slots = if elements == Some(to.slots()) { 0 } else { to.slots() };
    let paddings = (0..slots).filter(|&slot| !to.indexer.has_element(slot));
    for slot in paddings {
        let place = to.place_of_slot(slot)?;
        write_bits(dst, place, to.slot_bits, value);
    }
    if to.strides.is_none() {
        let used = to.slots() as i128 * to.slot_bits as i128;
        let unused = dst.len() as i128 * 8 - used;
        write_bits(dst, used as u64, unused as i64, 0);
    }
    Ok(())
}

/// One side of a request: where its elements lie.
struct Side<'a> {
    end: End,
    element_type: PrimitiveType,
    /// Elements along each logical dimension.
    extents: Vec<i64>,
    indexer: Indexer,
    /// The logical dimensions, most major first.
    major_to_minor: Vec<usize>,
    /// The index of the first element that is moved.
    start: Vec<i64>,
    slot_bits: i64,
    strides: Option<&'a [i64]>,
    offset_bytes: i64,
    /// Physical dimensions that are whole dimensions or count tiles of the first tile; strides speak of these, and
    /// what is behind them is dense.
    outer: usize,
    buffer_bytes: usize,
}

impl<'a> Side<'a> {
    fn new(request: &Request<'a>, end: End, buffer_bytes: usize) -> Result<Side<'a>, ReferenceError> {
        let shape = if end == End::Source { request.src() } else { request.dst() };
        let layout_error = |error: LayoutError| PlanError::Layout { end, error };
        let region = request.region();
        let region_start =
            region.map(|region| if end == End::Source { region.src_start() } else { region.dst_start() });
        let strides = request.strides_bytes(end);
        let expected = i128::from(shape.byte_size().map_err(layout_error)?);
        if strides.is_none() && expected != buffer_bytes as i128 {
            return Err(ReferenceError::BufferSize { end, expected, found: buffer_bytes });
        }
        Ok(Side {
            end,
            element_type: shape.element_type(),
            extents: shape.dimensions().iter().map(|size| size.bound().unwrap_or(0)).collect(),
            indexer: Indexer::new(shape).map_err(layout_error)?,
            major_to_minor: shape
                .layout()
                .minor_to_major()
                .iter()
                .rev()
                .map(|&entry| entry as usize)
                .collect(),
            start: region_start.map_or_else(|| vec![0; shape.rank()], <[i64]>::to_vec),
            slot_bits: match request.slot(end)? {
                Slot::Bytes(bytes) => bytes * 8,
                Slot::Bits(bits) => bits.into(),
            },
            strides,
            offset_bytes: request.offset_bytes(end),
            outer: outer_dimensions(shape),
            buffer_bytes,
        })
    }

    /// Slots that are elements or padding. The tail alignment has no meaning beside strides.
    fn slots(&self) -> i64 {
        match self.strides {
            Some(_) => self.indexer.filled(),
            None => self.indexer.slots(),
        }
    }

    /// The first bit of an element, counted from the start of the region.
    fn place_of_index(&self, index: &[i64]) -> Result<u64, ReferenceError> {
        let index: Index = index.iter().zip(&self.start).map(|(entry, start)| entry + start).collect();
        let error = |error| PlanError::Layout { end: self.end, error };
        self.place_of_slot(self.indexer.linear(&index).map_err(error)?)
    }

    /// The first bit of a slot.
    fn place_of_slot(&self, slot: i64) -> Result<u64, ReferenceError> {
        let bit = match self.strides {
            None => Some(i128::from(slot) * i128::from(self.slot_bits)),
            Some(strides) => self.strided_byte(slot, strides).and_then(|byte| byte.checked_mul(8)),
        };
        let end = self.end;
        let bit = bit.ok_or(PlanError::AddressOverflow { end })?;
        if bit < 0 {
            let byte = i64::try_from(bit / 8).map_err(|_| PlanError::AddressOverflow { end })?;
            return Err(PlanError::BelowBuffer { end, byte }.into());
        }
        let behind = bit + i128::from(self.slot_bits);
        if behind > self.buffer_bytes as i128 * 8 {
            let expected = (behind + 7) / 8;
            return Err(ReferenceError::BufferSize { end, expected, found: self.buffer_bytes });
        }
        Ok(bit as u64)
    }

    /// The value in the slot at a place: of a wider slot the low bits, of an unpacked one its whole bytes.
    fn read(&self, src: &[u8], place: u64) -> u128 {
        let bytes = i64::from(self.element_type.byte_width().unwrap_or(0));
        let bits = self.slot_bits.min(8 * bytes) as u64;
        let bit = |at: u64| u128::from(src[(at / 8) as usize] >> (at % 8) & 1);
        (0..bits).map(|offset| bit(place + offset) << offset).sum()
    }

    /// The first byte of a slot: strides between elements or tiles, dense inside a tile.
    fn strided_byte(&self, slot: i64, strides: &[i64]) -> Option<i128> {
        let sizes = self.indexer.physical_dimensions();
        let physical = row_major_index(sizes, slot);
        let (outer, inside) = physical.split_at(self.outer);
        let inside = row_major(&sizes[self.outer..], inside);
        let first = i128::from(self.offset_bytes) + i128::from(inside) * i128::from(self.slot_bits / 8);
        // Size-1 dimensions in front of the shape's own have index 0.
        let own = &outer[outer.len() - self.major_to_minor.len()..];
        own.iter().zip(&self.major_to_minor).try_fold(first, |byte, (&entry, &dimension)| {
            byte.checked_add(i128::from(entry) * i128::from(strides[dimension]))
        })
    }
}

/// How many physical dimensions lie outside the first tile.
fn outer_dimensions(shape: &ArrayShape) -> usize {
    let first = shape.layout().tiles().first().map_or(0, |tile| tile.dimensions().len());
    shape.rank().max(first)
}

/// Copies `bits` bits, whole bytes at a time where both places start one.
fn copy_bits(src: &[u8], mut src_bit: u64, dst: &mut [u8], mut dst_bit: u64, bits: i64) {
    let end = src_bit + bits as u64;
    while src_bit < end {
        let byte = src[(src_bit / 8) as usize];
        let aligned = src_bit.is_multiple_of(8) && dst_bit.is_multiple_of(8);
        let step = if aligned && end - src_bit >= 8 {
            dst[(dst_bit / 8) as usize] = byte;
            8
        } else {
            write_bit(dst, dst_bit, byte >> (src_bit % 8) & 1);
            1
        };
        src_bit += step;
        dst_bit += step;
    }
}

/// Writes the low `bits` bits of `value`; there are zeros above its own 128.
fn write_bits(dst: &mut [u8], first_bit: u64, bits: i64, value: u128) {
    for bit in 0..bits as u64 {
        let shifted = if bit < 128 { value >> bit } else { 0 };
        write_bit(dst, first_bit + bit, (shifted & 1) as u8);
    }
}

/// Writes one bit; the lowest bit of a byte is its first.
fn write_bit(dst: &mut [u8], bit: u64, value: u8) {
    let place = &mut dst[(bit / 8) as usize];
    *place = *place & !(1 << (bit % 8)) | value << (bit % 8);
}

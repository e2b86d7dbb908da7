//! A request as canonical bytes: what fingerprints are made from, and what tells plans in a cache apart.
//!
//! Version 1. A number from 0 to 254 is that byte, any other the byte 255 and 8 bytes, little endian.
//!
//! ```text
//! request    version 1, shape of the source, shape of the destination, options
//! shape      element type (XLA's number), list of dimensions, layout
//! dimension  0, size │ 1, bound │ 2
//! layout     list of minor_to_major, notes
//! notes      in ascending order, those that differ from their default; then 0
//!            1, list of tiles, each a list of entries (0, size │ 1 for `*`)
//!            2, tail_padding_alignment_in_elements
//!            3, element_size_in_bits
//!            4, memory_space
//!            5, list of split_configs, each a dimension and a list of indices
//!            6, index_primitive_type
//!            7, pointer_primitive_type
//!            8, list of the bytes of physical_shape's text
//!            9, list of padded_dimensions, padding_value
//! options    in ascending order, those that are given; then 0
//!            1, of the source: list of byte strides (1 before it, or 0 where there is none), offset
//!            2, the same of the destination
//!            3, the region: lists of extents, of starts in the source, of starts in the destination
//!            4, padding: 0 to leave it │ 1 and the 16 bytes of the value, which is not zero, little endian
//!            5, the conversion, where it is not the default: too large floats, too large integers, each 0 │ 1 to
//!               saturate; 1 for ef57, else 0; factors
//!            6, how floats become integers, where not towards zero: 1 to the nearest, of two the even one
//! factors    0 │ 1 for all, factor │ 2 along a dimension, dimension, list of factors
//! factor     the 4 bytes of an f32, little endian
//! list       count, entries
//! ```
//!
//! The metadata prefix (`M`) is left out, as it is from equality. A new option gets a new number, so that the bytes of
//! requests without it stay what they are; anything else changes the version.

use super::{Padding, Region, Request, padding_of};
use crate::{
    ArrayShape, Conversion, DimensionSize, Layout, Narrowing, Overflow, PaddingValue, Rounding, Tile,
    TileDimension,
};

/// The first byte of every encoding.
const VERSION: u8 = 1;

/// Ends notes and options.
const END: u8 = 0;

/// The parts of a request, wherever they are kept.
#[derive(Clone, Copy)]
pub(crate) struct Parts<'a> {
    pub(crate) src: &'a ArrayShape,
    pub(crate) dst: &'a ArrayShape,
    pub(crate) src_strides_bytes: Option<&'a [i64]>,
    pub(crate) dst_strides_bytes: Option<&'a [i64]>,
    pub(crate) src_offset_bytes: i64,
    pub(crate) dst_offset_bytes: i64,
    pub(crate) region: Option<&'a Region>,
    pub(crate) padding: Option<Padding>,
    pub(crate) conversion: &'a Conversion,
}

impl<'a> From<&'a Request<'_>> for Parts<'a> {
    fn from(request: &'a Request<'_>) -> Parts<'a> {
        // By its fields, so that a new one cannot be forgotten here.
        let &Request {
            src,
            dst,
            src_strides_bytes,
            dst_strides_bytes,
            src_offset_bytes,
            dst_offset_bytes,
            ref region,
            padding,
            ref conversion,
        } = request;
        let region = region.as_ref();
        Parts {
            src,
            dst,
            src_strides_bytes,
            dst_strides_bytes,
            src_offset_bytes,
            dst_offset_bytes,
            region,
            padding,
            conversion,
        }
    }
}

/// Canonical bytes. Ordinary requests take some 100 and stay off the heap.
pub(crate) struct Encoding {
    inline: [u8; INLINE],
    len: usize,
    /// Everything, where it did not fit inline.
    spilled: Vec<u8>,
}

const INLINE: usize = 256;

impl Encoding {
    /// Nothing yet.
    #[inline]
    pub(crate) fn empty() -> Encoding {
        Encoding { inline: [0; INLINE], len: 0, spilled: Vec::new() }
    }

    /// Writes what is empty, in its place: moving it would take as long as writing it.
    #[inline]
    pub(crate) fn write(&mut self, write: impl FnOnce(Writer<'_>) -> Writer<'_>) {
        self.len = write(Writer { to: self, at: 0 }).at;
    }

    /// What `write` writes.
    pub(crate) fn new(write: impl FnOnce(Writer<'_>) -> Writer<'_>) -> Encoding {
        let mut encoding = Encoding::empty();
        encoding.write(write);
        encoding
    }

    /// The bytes of a request.
    pub(crate) fn of(request: &Request<'_>) -> Encoding {
        Encoding::new(|writer| writer.request(request.into()))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.inline.get(..self.len).unwrap_or(&self.spilled)
    }

    /// Bytes that begin before the end of the inline ones and end behind it, and all after them.
    #[cold]
    fn spill(&mut self, at: usize, bytes: &[u8]) {
        if self.spilled.is_empty() {
            self.spilled.extend_from_slice(&self.inline[..at]);
        }
        self.spilled.extend_from_slice(bytes);
    }
}

/// Appends to an encoding. It is handed on by value, so that its place stays in a register: a runtime looks its plans up by
/// these bytes before every transfer.
pub(crate) struct Writer<'a> {
    to: &'a mut Encoding,
    at: usize,
}

impl Writer<'_> {
    #[inline(always)]
    fn put<const N: usize>(self, bytes: [u8; N]) -> Self {
        self.slice(&bytes)
    }

    #[inline(always)]
    fn slice(self, bytes: &[u8]) -> Self {
        let at = self.at + bytes.len();
        match self.to.inline.get_mut(self.at..at) {
            Some(place) => place.copy_from_slice(bytes),
            None => self.to.spill(self.at, bytes),
        }
        Writer { at, ..self }
    }

    #[inline]
    pub(crate) fn byte(self, byte: u8) -> Self {
        self.put([byte])
    }

    #[inline]
    pub(crate) fn number(self, number: i64) -> Self {
        match u8::try_from(number) {
            Ok(small @ 0..=254) => self.put([small]),
            _ => self.wide(number),
        }
    }

    /// Out of line, which keeps the rest small enough to be inlined.
    #[inline(never)]
    fn wide(self, number: i64) -> Self {
        self.put([255]).put(number.to_le_bytes())
    }

    /// A byte and a number.
    #[inline]
    fn tagged(self, tag: u8, number: i64) -> Self {
        match u8::try_from(number) {
            Ok(small @ 0..=254) => self.put([tag, small]),
            _ => self.put([tag]).wide(number),
        }
    }

    #[inline]
    fn list<T>(self, list: &[T], entry: impl FnMut(Self, &T) -> Self) -> Self {
        let counted = self.number(list.len() as i64); // no list has 2⁶³ entries
        list.iter().fold(counted, entry)
    }

    #[inline]
    fn numbers(self, numbers: &[i64]) -> Self {
        self.list(numbers, |writer, &number| writer.number(number))
    }

    pub(crate) fn request(self, parts: Parts<'_>) -> Self {
        let mut writer = self.byte(VERSION).shape(parts.src).shape(parts.dst);
        writer = writer.strides(1, parts.src_strides_bytes, parts.src_offset_bytes);
        writer = writer.strides(2, parts.dst_strides_bytes, parts.dst_offset_bytes);
        if let Some(region) = parts.region {
            writer = writer.byte(3).numbers(region.extents());
            writer = writer.numbers(region.src_start()).numbers(region.dst_start());
        }
        writer = match padding_of(parts.dst, parts.padding) {
            Padding::Zero | Padding::Fill(0) => writer,
            Padding::Leave => writer.put([4, 0]),
            Padding::Fill(value) => writer.put([4, 1]).put(value.to_le_bytes()),
        };
        writer.conversion(parts.conversion).byte(END)
    }

    #[inline]
    fn conversion(self, conversion: &Conversion) -> Self {
        if conversion.is_default() { self } else { self.options(conversion) }
    }

    /// Out of line, being rare.
    #[inline(never)]
    fn options(self, conversion: &Conversion) -> Self {
        let floats = (conversion.overflow() == Overflow::Saturate).into();
        let integers = (conversion.narrowing() == Narrowing::Saturate).into();
        let writer = self.put([5, floats, integers, conversion.ef57().into()]);
        let factor = |writer: Self, factor: &f32| writer.put(factor.to_bits().to_le_bytes());
        let writer = match conversion.scale() {
            None => writer.byte(0),
            Some((None, factors)) => factors.iter().fold(writer.byte(1), factor),
            // Dimensions beyond 2⁶³, which every plan refuses, become negative and so stay different from all others.
            Some((Some(dimension), factors)) => writer.tagged(2, dimension as i64).list(factors, factor),
        };
        match conversion.rounding() {
            Rounding::TowardZero => writer,
            Rounding::NearestEven => writer.put([6, 1]),
        }
    }

    #[inline]
    fn strides(self, option: u8, strides: Option<&[i64]>, offset: i64) -> Self {
        match strides {
            None if offset == 0 => self,
            // Every plan refuses this, so it must not look like an offset beside the strides of a scalar, of which there
            // are none.
            None => self.put([option, 0]).number(offset),
            Some(strides) => self.put([option, 1]).numbers(strides).number(offset),
        }
    }

    #[inline]
    fn shape(self, shape: &ArrayShape) -> Self {
        self.slice(shape.encoding(|| Encoding::new(|writer| writer.fields(shape)).bytes().into()))
    }

    fn fields(self, shape: &ArrayShape) -> Self {
        let typed = self.byte(shape.element_type().number());
        let sized = typed.list(shape.dimensions(), |writer, &dimension| match dimension {
            DimensionSize::Static(size) => writer.tagged(0, size),
            DimensionSize::Bounded(bound) => writer.tagged(1, bound),
            DimensionSize::Unbounded => writer.byte(2),
        });
        sized.layout(shape.layout())
    }

    #[inline]
    fn layout(self, layout: &Layout) -> Self {
        let mut writer = self.numbers(layout.minor_to_major());
        if !layout.tiles().is_empty() {
            writer = writer.byte(1).list(layout.tiles(), Writer::tile);
        }
        let notes = [
            (2, layout.tail_padding_alignment_in_elements(), 1),
            (3, layout.element_size_in_bits(), 0),
            (4, layout.memory_space(), 0),
        ];
        for (note, number, default) in notes {
            if number != default {
                writer = writer.tagged(note, number);
            }
        }
        writer.splits(layout).sparse(layout).legacy_padding(layout).byte(END)
    }

    #[inline]
    fn tile(self, tile: &Tile) -> Self {
        self.list(tile.dimensions(), |writer, &entry| match entry {
            TileDimension::Size(size) => writer.tagged(0, size),
            TileDimension::Combine => writer.byte(1),
        })
    }

    fn splits(self, layout: &Layout) -> Self {
        if layout.split_configs().is_empty() {
            return self;
        }
        self.byte(5).list(layout.split_configs(), |writer, split| {
            writer.number(split.dimension).numbers(&split.indices)
        })
    }

    fn sparse(self, layout: &Layout) -> Self {
        let mut writer = self;
        for (note, sparse_type) in [(6, layout.index_primitive_type()), (7, layout.pointer_primitive_type())]
        {
            if let Some(sparse_type) = sparse_type {
                writer = writer.put([note, sparse_type.number()]);
            }
        }
        match layout.physical_shape() {
            None => writer,
            Some(shape) => {
                let text = shape.to_string();
                writer.byte(8).list(text.as_bytes(), |writer, &byte| writer.byte(byte))
            }
        }
    }

    fn legacy_padding(self, layout: &Layout) -> Self {
        let value = match layout.padding_value() {
            PaddingValue::Zero => 0,
            PaddingValue::One => 1,
            PaddingValue::Lowest => 2,
            PaddingValue::Highest => 3,
            PaddingValue::Unknown if layout.padded_dimensions().is_empty() => return self,
            PaddingValue::Unknown => 4,
        };
        self.byte(9).numbers(layout.padded_dimensions()).byte(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The encoding, written out by hand.
    #[test]
    fn bytes_are_those_of_the_format() {
        let src: ArrayShape = "u8[3]".parse().expect("a shape");
        let dst: ArrayShape = "u8[<=300]{0:T(2,*,4)S(5)}".parse().expect("a shape");
        let request = Request::new(&src, &dst)
            .with_src_strides_bytes(&[-2])
            .with_src_offset_bytes(254)
            .with_region(Region::new([255]).with_dst_start([2]))
            .with_padding(Padding::Fill(0x0102));
        let long = |number: i64| [vec![255], number.to_le_bytes().to_vec()].concat();
        let expected = [
            vec![1],                                            // version
            vec![6, 1, 0, 3, 1, 0, 0],                          // u8[3]{0}
            [vec![6, 1, 1], long(300), vec![1, 0]].concat(),    // u8[<=300]{0:
            vec![1, 1, 3, 0, 2, 1, 0, 4, 4, 5, 0],              // T(2,*,4)S(5)}
            [vec![1, 1, 1], long(-2), vec![254]].concat(),      // strides, offset
            [vec![3, 1], long(255), vec![1, 0, 1, 2]].concat(), // region
            [vec![4, 1, 2, 1], vec![0; 14], vec![0]].concat(),  // fill, end
        ];
        assert_eq!(Encoding::of(&request).bytes(), expected.concat());
    }

    #[test]
    fn long_requests_are_whole() {
        for tiles in (0..200).chain([10_000]) {
            let src: ArrayShape = "u8[3]".parse().expect("a shape");
            let layout = Layout::row_major(1).with_tiles(vec![Tile::from([7]); tiles]);
            let dst = src.clone().with_layout(layout);
            let request = Request::new(&src, &dst);
            let encoding = Encoding::new(|writer| writer.request((&request).into()).number(300));
            let tile = [1, 0, 7];
            assert!(encoding.bytes().ends_with(&[255, 44, 1, 0, 0, 0, 0, 0, 0]));
            assert_eq!(encoding.bytes().windows(3).filter(|bytes| *bytes == tile).count(), tiles);
        }
    }
}

//! Nests of few elements that are converted again and again: checked, and their way chosen, once.

use super::converter::{Converter, Work};
use super::rows::Place;
use super::scale::Scale;
use super::tables::made::Made;
use super::ways::Way;
use crate::loops::Loops;
use crate::nest::{Nest, OutOfBounds, Side};
use crate::slots::SlotWidth;

/// A nest that lies inside all slices of certain lengths, and how the [`Converter`] converts it.
///
/// To find that out takes longer than to convert some lines. Made by [`Converter::prepare`].
#[derive(Clone, Debug)]
pub struct PreparedConverter {
    /// One factor, no stream, and nothing to be made before it starts.
    converter: Converter<'static>,
    way: Way,
    loops: Loops,
    src_offset: isize,
    dst_offset: isize,
    /// The least bytes that the slices must have.
    src_len: usize,
    dst_len: usize,
}

impl Converter<'_> {
    /// Checks a nest for all slices of so many bytes or more, and chooses its way. `None` where [`Converter::run`] had better be asked:
    /// where the nest leaves such slices, moves nothing, or is written past the cache, where slots share bytes, elements have factors of
    /// their own, or tables are made for them.
    ///
    /// ```
    /// use relayout_kernels::{Conversion, Converter, Level, Loop, Nest, Number, Rules, Scale, SlotWidth};
    /// let (from, to) = (Number::Integer { bits: 8, signed: true }, Number::Integer { bits: 16, signed: true });
    /// let converter = Converter {
    ///     conversion: Conversion::new(from, to, Rules::default()).expect("integers become integers"),
    ///     src: SlotWidth::Bytes(1),
    ///     dst: SlotWidth::Bytes(2),
    ///     scale: Scale::All(1.0),
    ///     level: Level::detect(),
    ///     stream: false,
    /// };
    /// let loops = [
    ///     Loop { extent: 30, src_stride: 1, dst_stride: 80 },
    ///     Loop { extent: 40, src_stride: 30, dst_stride: 2 },
    /// ];
    /// let nest = Nest { src_offset: 0, dst_offset: 0, loops: &loops };
    /// assert!(converter.prepare(nest, 1199, 2400).is_none());
    /// let columns = converter.prepare(nest, 1200, 2400).expect("a nest inside");
    /// let mut wide = vec![0; 2400];
    /// columns.run(&[0xff; 1200], &mut wide)?;
    /// assert_eq!(wide, [0xff; 2400]);
    /// assert!(columns.run(&[0xff; 1199], &mut wide).is_err());
    /// # Ok::<(), relayout_kernels::OutOfBounds>(())
    /// ```
    pub fn prepare(&self, nest: Nest<'_>, src_len: usize, dst_len: usize) -> Option<PreparedConverter> {
        let Converter { conversion, src, dst, level, stream, .. } = *self;
        let Scale::All(factor) = self.scale else { return None };
        let converter = Converter { conversion, src, dst, scale: Scale::All(factor), level, stream };
        let in_bytes = [src, dst].iter().all(|width| matches!(width, SlotWidth::Bytes(_)));
        if nest.is_empty() || stream || !in_bytes {
            return None;
        }
        converter.check(&nest, src_len, dst_len).ok()?;
        let mut loops = Loops::of_few(nest.loops)?;
        while loops.take(|l| l.extent == 1).is_some() {}
        let way = match converter.count_few(loops.as_slice()) {
            Some(_) => Way::Few,
            None if converter.makes(loops.as_slice()) => return None,
            // Without a stream only the widths of the slots are asked for.
            None => {
                let places = [src, dst].map(|width| Place::new(core::ptr::null_mut(), width, 0));
                Work { converter: &converter, made: &Made::NOTHING }.way(loops.as_slice(), places)
            }
        };
        let Nest { src_offset, dst_offset, .. } = nest;
        Some(PreparedConverter { converter, way, loops, src_offset, dst_offset, src_len, dst_len })
    }
}

impl PreparedConverter {
    /// Converts one element for every point of the nest.
    ///
    /// # Errors
    /// [`OutOfBounds`] where a slice is shorter than those that the nest was prepared for; nothing was written then.
    pub fn run(&self, src: &[u8], dst: &mut [u8]) -> Result<(), OutOfBounds> {
        if src.len() < self.src_len {
            return Err(OutOfBounds { side: Side::Source, len: src.len() });
        }
        if dst.len() < self.dst_len {
            return Err(OutOfBounds { side: Side::Destination, len: dst.len() });
        }
        let from = Place::new(src.as_ptr().cast_mut(), self.converter.src, self.src_offset);
        let to = Place::new(dst.as_mut_ptr(), self.converter.dst, self.dst_offset);
        // SAFETY:
        // - every slot of the nest lies inside `src` and `dst`: `prepare` proved it for slices of `src_len` and `dst_len` bytes, nobody
        //   else makes or changes a `PreparedConverter`, and these slices are no shorter;
        // - they do not overlap, being a shared and an exclusive borrow, and nothing is written at the source;
        // - the way was chosen for these loops.
        unsafe {
            let work = Work { converter: &self.converter, made: &Made::NOTHING };
            work.go(&self.way, self.loops.as_slice(), from, to);
        }
        Ok(())
    }
}

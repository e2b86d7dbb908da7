//! Rows that end with padding: those of ragged tiles, each of whose lines is then written once and whole, past the cache.
//!
//! A row of a tile starts a line and is whole lines, of which elements take the first bytes only. Elements alone, and padding
//! alone, would each write the line in which they meet in part.

use crate::fill::{Fill, inside, take_runs};
use crate::interleave::{zip_block, zip_blocks};
use crate::lanes::{Held, LINE, Lanes, stream_line};
use crate::level::Level;
use crate::loops::{Loops, ONCE};
use crate::mover::{Family, Mover};
use crate::nest::{Loop, Nest, OutOfBounds, Side};
use crate::rows::copy_short;
use crate::slots::SlotWidth;
use crate::stage::starts_lines;
use crate::strided::contiguous_run;
use crate::tuning::{rows_ahead, run_ahead};
use crate::walk::{Point, each_point};

impl Mover {
    /// Moves rows, and fills what is behind each of them up to the end of a line, together past the cache. Returns false, and does
    /// nothing, unless `pad` is so placed, of whose nest only the destination side counts, and every row starts a line; or where no
    /// kernel does the two together. Each is then to be done by itself.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some place of either lies outside its slice; nothing was written then.
    ///
    /// ```
    /// use relayout_kernels::{AlignedBuffer, Family, Fill, Level, Loop, Mover, Nest, SlotWidth};
    /// // Two rows of 100 bytes, in places for 128.
    /// let rows = |bytes| [Loop { extent: 2, src_stride: 100, dst_stride: 128 }, Loop { extent: bytes, src_stride: 1, dst_stride: 1 }];
    /// let (loops, behind) = (rows(100), rows(28));
    /// let nest = Nest { src_offset: 0, dst_offset: 0, loops: &loops };
    /// let pad = Nest { src_offset: 0, dst_offset: 100, loops: &behind };
    /// let fill = Fill { value: 0, width: SlotWidth::Bytes(1) };
    ///
    /// let (src, mut dst) = ([7; 200], AlignedBuffer::zeroed(256)?);
    /// dst.fill(1);
    /// let mover = Mover { family: Family::Rows, element_bytes: 1, level: Level::detect(), stream: true };
    /// if !mover.run_padded(&src, &mut dst, nest, (pad, fill))? {
    ///     mover.run(&src, &mut dst, nest)?;
    ///     relayout_kernels::fill_nest(&mut dst, pad, fill)?;
    /// }
    /// assert_eq!((dst[99], dst[100], dst[227], dst[228]), (7, 0, 7, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_padded(
        &self,
        src: &[u8],
        dst: &mut [u8],
        nest: Nest<'_>,
        (pad, fill): (Nest<'_>, Fill),
    ) -> Result<bool, OutOfBounds> {
        let (element, SlotWidth::Bytes(width)) = (self.element_bytes, fill.width) else { return Ok(false) };
        if !self.stream || nest.is_empty() || pad.is_empty() || element == 0 {
            return Ok(false);
        }
        nest.check(src.len(), element, dst.len(), element)?;
        if !inside(dst, &pad, width) {
            return Err(OutOfBounds { side: Side::Destination, len: dst.len() });
        }
        let to = dst[nest.dst_offset.unsigned_abs()..].as_mut_ptr();
        let Some(rows) = Padded::new(self, &nest, (&pad, fill, width), to) else { return Ok(false) };
        let from = src[nest.src_offset.unsigned_abs()..].as_ptr();
        // SAFETY:
        // - every address that either nest reaches, and the element behind it, lies inside `src` and `dst`: the checks proved it;
        // - the padding is what is behind each row: `Padded` made sure of it;
        // - `src` and `dst` do not overlap, being a shared and an exclusive borrow.
        Ok(unsafe { self.pad_rows(&rows, from, to) })
    }

    /// # Safety
    /// All places of the rows and of their padding must be valid, without overlap.
    unsafe fn pad_rows(&self, rows: &Padded, src: *const u8, dst: *mut u8) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use pulp::x86::{V3, V4};
            if let (true, Some(lanes)) = (self.level >= Level::Avx512, V4::try_new()) {
                // SAFETY: the caller's promise.
                return unsafe { rows.run(lanes, src, dst) };
            }
            if let (true, Some(lanes)) = (self.level >= Level::Avx2, V3::try_new()) {
                // SAFETY: the caller's promise.
                return unsafe { rows.run(lanes, src, dst) };
            }
        }
        let _ = (rows, src, dst, Level::Scalar); // no other level writes past the cache
        false
    }
}

/// Rows, one or a few of which become one of the destination, and how long that is.
pub(crate) struct Padded {
    outer: Loops,
    across: Loop,
    /// Elements of a row, of so many bytes.
    count: usize,
    element: usize,
    /// Bytes of a row of the destination with its padding, which are whole lines.
    bytes: usize,
    /// A line of padding.
    line: Held<1>,
}

impl Padded {
    /// Rows and what is behind them, where that is padding up to the end of a line.
    fn new(
        mover: &Mover,
        nest: &Nest<'_>,
        (pad, fill, width): (&Nest<'_>, Fill, usize),
        dst: *mut u8,
    ) -> Option<Padded> {
        let element = mover.element_bytes;
        let (outer, across, count, element) = match mover.family {
            Family::Rows | Family::Interleave | Family::Strided => woven(nest.loops, element),
            _ => None,
        }?;
        let row = count * element * across.extent;
        let (behind, run) = take_runs(pad.loops, width);
        let bytes = row.checked_add(run)?;
        let fits = width.is_power_of_two()
            && width <= 16
            && mover.element_bytes.is_multiple_of(width)
            && bytes.is_multiple_of(LINE)
            && starts_lines(outer, dst)
            && nest.dst_offset.checked_add_unsigned(row) == Some(pad.dst_offset)
            && places(outer)?.as_slice() == places(behind)?.as_slice();
        if !fits {
            return None;
        }
        let mut line = Held([[0; LINE]; 1]);
        for place in line.0[0].chunks_exact_mut(width) {
            place.copy_from_slice(&fill.value.to_le_bytes()[..width]);
        }
        Some(Padded { outer: Loops::of_few(outer)?, across, count, element, bytes, line })
    }

    /// False where there is no kernel for them.
    ///
    /// # Safety
    /// As [`Mover::pad_rows`].
    #[allow(dead_code)] // portable targets have no lanes
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) -> bool {
        let Padded { across, count, bytes, ref line, .. } = *self;
        if !L::STREAMS {
            return false; // of such registers two make no line
        }
        let ahead = if across.extent == 1 { run_ahead() } else { rows_ahead(L::BYTES < LINE, across.extent) };
        let line = line.0[0].as_ptr();
        macro_rules! run {
            ($($e:literal: $($k:literal)*;)*) => {
                match (self.element, across.extent) {
                    // SAFETY: the caller's promise; the line lives as long as the rows.
                    $($(($e, $k) => unsafe {
                        let kernel = PaddedRows::<$e, $k> { step: across.src_stride, count, bytes, line, ahead };
                        each_point(lanes, self.outer.as_slice(), src, dst, kernel);
                    })*)*
                    _ => return false,
                }
            };
        }
        run!(1: 1 2 4 8; 2: 2 4 8; 4: 2 4; 8: 2;);
        true
    }
}

/// A few rows that are woven, or a run: the loops around them, the one that leads from row to row, elements of a row and their bytes.
fn woven(loops: &[Loop], element: usize) -> Option<(&[Loop], Loop, usize, usize)> {
    let stride = element as isize;
    let across = *loops.last()?;
    let is_across = across.dst_stride == stride && across.src_stride != stride && across.extent > 1;
    match loops {
        [outer @ .., along, _]
            if is_across
                && along.src_stride == stride
                && along.dst_stride == stride.checked_mul(across.extent.try_into().ok()?)? =>
        {
            Some((outer, across, along.extent, element))
        }
        [outer @ .., _] if is_across => Some((outer, across, 1, element)),
        _ => {
            let (outer, run) = contiguous_run(loops, element);
            Some((outer, ONCE, run, 1))
        }
    }
}

/// The places of the destination that loops lead to, in one way only.
fn places(loops: &[Loop]) -> Option<Loops> {
    let mut places = Loops::default();
    for l in Loops::of_few(loops)?.as_slice().iter().filter(|l| l.extent > 1) {
        places.push(Loop { src_stride: l.dst_stride, ..*l });
    }
    Some(places.join())
}

/// Interleaves `K` rows of elements of `E` bytes, and puts padding behind them; with `K` = 1 the row is copied.
#[derive(Clone, Copy)]
struct PaddedRows<const E: usize, const K: usize> {
    /// From row to row of the source.
    step: isize,
    count: usize,
    bytes: usize,
    line: *const u8,
    ahead: usize,
}

impl<const E: usize, const K: usize> Point for PaddedRows<E, K> {
    /// # Safety
    /// `K` rows of `count` elements must be readable from `src` on, and `bytes` writable at `dst`, which starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // What is made at once: a register of each row, but of single ones a line.
        let block = if K == 1 { LINE } else { L::BYTES / E };
        let (whole, rest) = (self.count / block * block, self.count % block);
        let mut at = whole * K * E;
        // SAFETY: whole blocks of the rows; their rest, for which there is room; and whole lines up to the end.
        unsafe {
            if K == 1 {
                let mut line = 0;
                while line < at {
                    lanes.prefetch(src.wrapping_add(self.ahead + line));
                    stream_line(lanes, src.add(line), dst.add(line));
                    line += LINE;
                }
            } else {
                zip_blocks::<L, E, K, true>(lanes, whole, self.step, src, dst, self.ahead);
            }
            if rest > 0 {
                at += self.rest(lanes, src.wrapping_add(whole * E), rest, (dst.add(at), self.bytes - at));
            }
            while at < self.bytes {
                stream_line(lanes, self.line, dst.add(at));
                at += LINE;
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        true
    }
}

impl<const E: usize, const K: usize> PaddedRows<E, K> {
    /// The elements behind the last whole block, and padding up to the end of what a block would be, or of the row: how many bytes that is.
    ///
    /// # Safety
    /// `count` elements, less than a block, must be readable in each of `K` rows, and so many bytes, whole lines, writable at `dst`, which
    /// starts one; `K` registers are whole lines unless there is one row.
    #[inline(always)]
    unsafe fn rest<L: Lanes>(
        &self,
        lanes: L,
        src: *const u8,
        count: usize,
        (dst, len): (*mut u8, usize),
    ) -> usize {
        let mut room = Held([[0; LINE]; K]);
        let room = room.0.as_mut_ptr().cast::<u8>();
        let register = if K == 1 { LINE } else { L::BYTES };
        let end = len.min(K * register);
        // SAFETY: the caller's promise, and room for a line of each row.
        unsafe {
            let mut row = 0;
            while row < K {
                let to = room.add(row * register);
                core::ptr::copy_nonoverlapping(self.line, to, register);
                copy_short(src.wrapping_offset(row as isize * self.step), to, count * E);
                row += 1;
            }
            if K > 1 {
                zip_block::<L, E, K, false>(lanes, room, L::BYTES as isize, room, 0);
            }
            let mut at = 0;
            while at < end {
                stream_line(lanes, room.add(at), dst.add(at));
                at += LINE;
            }
        }
        end
    }
}

//! Rows that end with padding, or are woven with it: those of ragged tiles, each of whose lines is then written once and whole, past
//! the cache.
//!
//! A row of a tile starts a line and is whole lines, of which elements take the first bytes only, or every other element where a tile
//! weaves more rows than there are. Elements alone, and padding alone, would each write the lines in which they meet in part.

mod found;

use found::{Woven, gapped, places, whole};

use crate::convert::flush::{fence, streams, walk_at_level};
use crate::fill::{Fill, inside, take_runs};
use crate::interleave::{full_zips, zip_block, zip_blocks};
use crate::lanes::{Held, LINE, Lanes, stream_line};
use crate::level::Level;
use crate::loops::Loops;
use crate::mover::{Family, Mover};
use crate::nest::{Loop, Nest, OutOfBounds, Side};
use crate::rows::{copy_short, next_rows, taking_turns};
use crate::slots::SlotWidth;
use crate::stage::starts_lines;
use crate::tuning::{rows_ahead, run_ahead};
use crate::walk::Point;

impl Mover {
    /// Moves rows, and fills what is behind each of them up to the end of a line, or what is left of every few elements where rows are
    /// woven with padding, together past the cache. Returns false, and does nothing, unless `pad` is so placed, of whose nest only
    /// the destination side counts, and every row starts a line; or where no kernel does the two together. Each is then to be done
    /// by itself.
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
        if !matches!(self.family, Family::Rows | Family::Interleave | Family::Strided) {
            return Ok(false);
        }
        let padding = Padding { nest: &pad, value: fill.value, width };
        let rows = Padded::new(self.level, &nest, [element; 2], &padding, to);
        let Some(rows) = rows else { return Ok(false) };
        let from = src[nest.src_offset.unsigned_abs()..].as_ptr();
        let turns = taking_turns(rows.outer.as_slice());
        let step = if rows.ways == 1 { turns.src_stride } else { rows.across.src_stride };
        let run = rows.count * element;
        let next = next_rows(rows.outer.as_slice(), (rows.ways, step), run);
        let ahead = next.unwrap_or_else(|| match rows.ways {
            1 => run_ahead(turns.extent),
            ways => rows_ahead(self.level < Level::Avx512, ways),
        });
        let steps = (rows.across.src_stride, ahead);
        // SAFETY:
        // - every address that either nest reaches, and the element behind it, lies inside `src` and `dst`: the checks proved it;
        // - the padding is what is behind each row, or woven with it: `Padded` made sure of it;
        // - `src` and `dst` do not overlap, being a shared and an exclusive borrow.
        unsafe { rows.walk(rows.all(), rows.outer.as_slice(), steps, (from, to)) };
        fence(self.level);
        Ok(true)
    }
}

/// What is put behind rows, or woven with them.
pub(crate) struct Padding<'a> {
    pub(crate) nest: &'a Nest<'a>,
    pub(crate) value: u128,
    /// Bytes of a value.
    pub(crate) width: usize,
}

/// A part of a row: its elements, and its bytes in the destination, with its padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) count: usize,
    bytes: usize,
}

/// Rows, one or a few of which become one of the destination, and how long that is.
pub(crate) struct Padded {
    /// The loops around them, the one that leads from row to row, and elements of a row.
    pub(crate) outer: Loops,
    pub(crate) across: Loop,
    pub(crate) count: usize,
    /// Rows that are woven, those of padding among them.
    pub(crate) ways: usize,
    /// Bytes of an element of the destination.
    element: usize,
    /// Bytes of a row of the destination with its padding, which are whole lines.
    bytes: usize,
    /// A line of padding.
    line: Held<1>,
    /// One that writes past the cache.
    level: Level,
}

impl Padded {
    /// Rows whose elements have so many bytes on either side, and padding behind them up to the end of a line, or woven with them; none
    /// where a level has no kernel for them.
    pub(crate) fn new(
        level: Level,
        nest: &Nest<'_>,
        units: [usize; 2],
        padding: &Padding<'_>,
        dst: *mut u8,
    ) -> Option<Padded> {
        let &Padding { nest: pad, value, width } = padding;
        let element = units[1];
        let behind = take_runs(pad.loops, width);
        let woven = gapped(nest.loops, behind, units).or_else(|| whole(nest.loops, behind, units))?;
        let Woven { outer, across, count, ways, others, run } = woven;
        let bytes = (count * element * across.extent).checked_add(run)?;
        let first = if ways == across.extent { count * element * ways } else { across.extent * element };
        let has_kernel = matches!((element, ways), (_, 1) | (1 | 2, 2 | 4 | 8) | (4, 2 | 4) | (8, 2));
        // Of registers that do not stream two make no line.
        let fits = has_kernel
            && streams(level)
            && level.is_available()
            && width.is_power_of_two()
            && width <= 16
            && element.is_multiple_of(width)
            && bytes.is_multiple_of(LINE)
            && starts_lines(outer, dst)
            && nest.dst_offset.checked_add_unsigned(first) == Some(pad.dst_offset)
            && places(outer)?.as_slice() == places(others)?.as_slice();
        if !fits {
            return None;
        }
        let mut line = Held([[0; LINE]; 1]);
        for place in line.0[0].chunks_exact_mut(width) {
            place.copy_from_slice(&value.to_le_bytes()[..width]);
        }
        Some(Padded { outer: Loops::of_few(outer)?, across, count, ways, element, bytes, line, level })
    }

    /// All of a row.
    pub(crate) fn all(&self) -> Part {
        Part { count: self.count, bytes: self.bytes }
    }

    /// The parts of a row for each of which there are to be at most so many bytes, if it has two: all but the last are whole lines, and
    /// the last has the padding behind it.
    pub(crate) fn parts(&self, most: usize) -> [Part; 2] {
        let elements = most / (self.element * self.across.extent);
        if self.count <= elements {
            return [self.all(); 2];
        }
        let count = (elements / LINE * LINE).max(LINE);
        let rest = self.count - (self.count - 1) / count * count;
        let bytes = |count: usize| count * self.ways * self.element;
        let behind = self.bytes - bytes(self.count);
        [Part { count, bytes: bytes(count) }, Part { count: rest, bytes: bytes(rest) + behind }]
    }

    /// Moves a part of the rows that loops lead to, with a step from one to the next that are woven, and asks for what is so many bytes
    /// ahead. A fence is then due.
    ///
    /// # Safety
    /// All places of the rows and of their padding must be valid, without overlap.
    pub(crate) unsafe fn walk(
        &self,
        part: Part,
        loops: &[Loop],
        (step, ahead): (isize, usize),
        places: (*const u8, *mut u8),
    ) {
        let (ways, bytes, present, line) =
            (self.ways, part.bytes, self.across.extent, self.line.0[0].as_ptr());
        // A single row is so many bytes.
        let (element, count) =
            if ways == 1 { (1, part.count * self.element) } else { (self.element, part.count) };
        macro_rules! run {
            ($($e:literal: $($k:literal)*;)*) => {
                match (element, ways) {
                    // SAFETY: the caller's promise; the line lives as long as the rows.
                    $($(($e, $k) => unsafe {
                        let kernel = PaddedRows::<$e, $k> { step, present, count, bytes, line, ahead };
                        walk_at_level(self.level, loops, places, kernel)
                    })*)*
                    _ => false,
                }
            };
        }
        let is_done = run!(1: 1 2 4 8; 2: 2 4 8; 4: 2 4; 8: 2;);
        debug_assert!(is_done, "rows are only found where there is a kernel for them");
    }
}

/// Interleaves `K` rows of elements of `E` bytes, the last of which may be padding, and puts padding behind them; with `K` = 1 the row
/// is copied.
#[derive(Clone, Copy)]
struct PaddedRows<const E: usize, const K: usize> {
    /// From row to row of the source.
    step: isize,
    /// Rows of the source.
    present: usize,
    count: usize,
    bytes: usize,
    line: *const u8,
    /// How far ahead of its loads each row is asked for, in bytes; it is not if 0.
    ahead: usize,
}

impl<const E: usize, const K: usize> Point for PaddedRows<E, K> {
    const APART: usize = if K > 2 { 8 / K } else { 4 };

    /// # Safety
    /// The rows that are present must have `count` elements readable from `src` on, and `bytes` be writable at `dst`, which starts a line.
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
                    if self.ahead > 0 {
                        lanes.prefetch(src.wrapping_add(self.ahead + line));
                    }
                    stream_line(lanes, src.add(line), dst.add(line));
                    line += LINE;
                }
            } else if self.present == K {
                zip_blocks::<L, E, K, true>(lanes, whole, self.step, src, dst, self.ahead);
            } else {
                self.zip_with_padding(lanes, whole, src, dst);
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
    /// Whole registers of each row that is present, and of padding.
    ///
    /// # Safety
    /// As [`Point::point`], of a multiple of a register's elements.
    #[inline(always)]
    unsafe fn zip_with_padding<L: Lanes>(&self, lanes: L, count: usize, src: *const u8, dst: *mut u8) {
        let mut at = 0;
        while at < count {
            // SAFETY: a register of elements from `at` on exists in every row that is present; a line of padding, which registers
            // divide.
            unsafe {
                let mut rows = [lanes.load(self.line); K];
                let mut row = 0;
                while row < K {
                    if row < self.present {
                        let from = src.wrapping_offset(row as isize * self.step).wrapping_add(at * E);
                        if self.ahead > 0 {
                            lanes.prefetch(from.wrapping_add(self.ahead));
                        }
                        rows[row] = lanes.load(from);
                    }
                    row += 1;
                }
                full_zips::<L, E, K>(lanes, &mut rows);
                let mut part = 0;
                while part < K {
                    lanes.stream(dst.add(at * K * E + part * L::BYTES), rows[part]);
                    part += 1;
                }
            }
            at += L::BYTES / E;
        }
    }

    /// The elements behind the last whole block, and padding up to the end of what a block would be, or of the row: how many bytes that is.
    ///
    /// # Safety
    /// `count` elements, less than a block, must be readable in each row that is present, and so many bytes, whole lines, writable at `dst`, which
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
                if row < self.present {
                    let from = src.wrapping_offset(row as isize * self.step);
                    if self.ahead > 0 {
                        // What is no whole block may lie on two lines.
                        lanes.prefetch(from.wrapping_add(self.ahead));
                        lanes.prefetch(from.wrapping_add(self.ahead + count * E - 1));
                    }
                    copy_short(from, to, count * E);
                }
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

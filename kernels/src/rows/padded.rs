//! Rows that end with padding, or are woven with it: those of ragged tiles, each of whose lines is then written once and whole, past
//! the cache.
//!
//! A row of a tile starts a line and is whole lines, of which elements take the first bytes only, or every other element where a tile
//! weaves more rows than there are. Elements alone, and padding alone, would each write the lines in which they meet in part.

mod found;
mod part;
mod run;

use found::{Woven, gapped, pieces, places, whole};
pub(crate) use part::{Part, Run};
use run::PaddedRows;

use crate::convert::flush::{fence, streams, walk_at_level};
use crate::fill::{Fill, inside, take_runs};
use crate::lanes::{Held, LINE};
use crate::level::Level;
use crate::loops::Loops;
use crate::mover::{Family, Mover};
use crate::nest::{Loop, Nest, OutOfBounds, Side};
use crate::rows::{next_rows, taking_turns};
use crate::slots::SlotWidth;
use crate::stage::starts_lines;
use crate::tuning::{PADDED_ROW, rows_ahead, run_ahead};

impl Mover {
    /// Moves rows, and fills what is behind each of them up to the end of a line, or what is left of every few elements where rows are
    /// woven with padding, together past the cache; and with them what another nest, if there is one, has of the same rows before: pieces
    /// which go on with those of `nest`, and become whole lines elsewhere, as those of whole tiles before a ragged one do. Returns false, and
    /// does nothing, unless `pad` is so placed, of whose nest only the destination side counts, and every row starts a line; or where no
    /// kernel does all of it together. Each is then to be done by itself.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some place of any of them lies outside its slice; nothing was written then.
    ///
    /// ```
    /// use relayout_kernels::{AlignedBuffer, Family, Fill, Level, Loop, Mover, Nest, SlotWidth};
    /// // Two rows of 100 bytes: 64 of each become a line, and the others, with padding, the line that is two lines behind it.
    /// let rows = |extent| [Loop { extent: 2, src_stride: 100, dst_stride: 64 }, Loop { extent, src_stride: 1, dst_stride: 1 }];
    /// let (whole, ragged, padding) = (rows(64), rows(36), rows(28));
    /// let before = Nest { src_offset: 0, dst_offset: 0, loops: &whole };
    /// let nest = Nest { src_offset: 64, dst_offset: 128, loops: &ragged };
    /// let pad = Nest { src_offset: 0, dst_offset: 164, loops: &padding };
    /// let fill = Fill { value: 0, width: SlotWidth::Bytes(1) };
    ///
    /// let (src, mut dst) = ([7; 200], AlignedBuffer::zeroed(256)?);
    /// dst.fill(1);
    /// let mover = Mover { family: Family::Rows, element_bytes: 1, level: Level::detect(), stream: true };
    /// if !mover.run_padded(&src, &mut dst, (Some(before), nest), (pad, fill))? {
    ///     mover.run(&src, &mut dst, before)?;
    ///     mover.run(&src, &mut dst, nest)?;
    ///     relayout_kernels::fill_nest(&mut dst, pad, fill)?;
    /// }
    /// assert_eq!((dst[127], dst[163], dst[164], dst[191], dst[192]), (7, 7, 0, 0, 7));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_padded(
        &self,
        src: &[u8],
        dst: &mut [u8],
        (before, nest): (Option<Nest<'_>>, Nest<'_>),
        (pad, fill): (Nest<'_>, Fill),
    ) -> Result<bool, OutOfBounds> {
        let (element, SlotWidth::Bytes(width)) = (self.element_bytes, fill.width) else { return Ok(false) };
        let is_empty = nest.is_empty() || pad.is_empty() || before.is_some_and(|before| before.is_empty());
        if !self.stream || is_empty || element == 0 {
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
        if let Some(before) = &before {
            before.check(src.len(), element, dst.len(), element)?;
        }
        let part = rows.part_of(before.as_ref(), &nest, [element; 2]);
        let Some(part) = part.filter(|part| part.runs() == 1 || rows.bytes_of(part.elements()) <= PADDED_ROW)
        else {
            return Ok(false);
        };
        let first = before.unwrap_or(nest);
        let from = src.as_ptr().wrapping_offset(first.src_offset);
        let to = dst.as_mut_ptr().wrapping_offset(first.dst_offset);
        let turns = taking_turns(rows.outer.as_slice());
        let step = if rows.ways == 1 { turns.src_stride } else { rows.across.src_stride };
        let run = part.elements() * element;
        let next = next_rows(rows.outer.as_slice(), (rows.ways, step), run);
        let ahead = next.unwrap_or_else(|| match rows.ways {
            1 => run_ahead(turns.extent),
            ways => rows_ahead(self.level < Level::Avx512, (ways, step)),
        });
        let steps = (rows.across.src_stride, ahead);
        // SAFETY:
        // - every address that either nest reaches, and the element behind it, lies inside `src` and `dst`: the checks proved it;
        // - the padding is what is behind each row, or woven with it, and pieces are what is before it: `Padded` made sure of it;
        // - `src` and `dst` do not overlap, being a shared and an exclusive borrow.
        unsafe { rows.walk(part, rows.outer.as_slice(), steps, (from, to)) };
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
        Part::alone(self.count, self.bytes)
    }

    /// The same with what another nest has before, if there is one; none where rows of a nest do not go on with it.
    pub(crate) fn part_of(
        &self,
        before: Option<&Nest<'_>>,
        nest: &Nest<'_>,
        units: [usize; 2],
    ) -> Option<Part> {
        let Some(before) = before else { return Some(self.all()) };
        Some(self.all().behind(pieces(before, nest, self, units)?))
    }

    /// Four bytes of padding.
    pub(crate) fn word(&self) -> u32 {
        let [a, b, c, d, ..] = self.line.0[0];
        u32::from_le_bytes([a, b, c, d])
    }

    /// Bytes of so many elements of all rows that are woven.
    pub(crate) fn bytes_of(&self, count: usize) -> usize {
        count.saturating_mul(self.element * self.across.extent)
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
        [Part::alone(count, bytes(count)), Part::alone(rest, bytes(rest) + behind)]
    }

    /// Moves a part of the rows that loops lead to, from where it starts on either side, with a step from one to the next that are woven,
    /// and asks for what is so many bytes ahead. A fence is then due.
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
        let (ways, present, line) = (self.ways, self.across.extent, self.line.0[0].as_ptr());
        // A single row is so many bytes.
        let (element, part) = match ways {
            1 => (1, part.in_bytes(self.element)),
            _ => (self.element, part),
        };
        macro_rules! run {
            ($($e:literal: $($k:literal)*;)*) => {
                match (element, ways) {
                    // SAFETY: the caller's promise; the line lives as long as the rows.
                    $($(($e, $k) => unsafe {
                        let kernel = PaddedRows::<$e, $k> { step, present, part, line, ahead };
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

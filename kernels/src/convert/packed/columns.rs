//! Columns of slots that share bytes, on either side or on both, made ready to be transposed byte by byte.
//!
//! Where a byte has `SLOTS` slots, as many columns have, in each byte, slots of as many rows. Transposing these few slots by
//! as many, byte by byte, makes the bytes of the destination: each of a row, with a slot of each column. Where only the
//! destination is packed, as many columns are joined; where only the source is, its columns are parted into those of as many
//! rows.

use crate::convert::converter::Work;
use crate::convert::packed::bit_runs::{EMPTY, Line, line_at};
use crate::convert::rows::Place;
use crate::lanes::{LINE, Lanes};
use crate::level::Level;
use crate::slots::Bits;
use crate::transpose::ahead::{Ahead, Ask};
use crate::transpose::block::Places;
use crate::transpose::columns::Columns;
use crate::tuning::{MADE_APART, Stretches};

/// On which sides slots share bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PackedSides {
    Both,
    Source,
    Destination,
}

/// Columns of slots, `SLOTS` a byte where they share it.
#[derive(Clone, Copy)]
pub(crate) struct PackedColumns<const SLOTS: usize> {
    pub(crate) packed: PackedSides,
    /// The first column's first slot, counted from the first one of its byte.
    pub(crate) first: usize,
    /// From column to column, in slots of the source.
    pub(crate) step: isize,
    /// Bytes of a strip in every row: a power of two, at most [`WIDEST`], or by turns as many as a turn has room for.
    pub(crate) width: usize,
    /// [Room] for a stretch of each column of a strip.
    ///
    /// [Room]: PackedColumns::room
    pub(crate) made: *mut u8,
    /// Where rows start inside bytes: which of a column's slots are whole bytes of them. A group of columns must then be behind those
    /// of the last strip.
    pub(crate) heads: Option<Heads<SLOTS>>,
}

/// The slots before the first whole byte of rows: rows of the same part have the same.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads<const SLOTS: usize> {
    /// Bits of these slots, of each part.
    bits: [u32; SLOTS],
    /// The first whole byte of each part's first row, counted from the first part's.
    bytes: [isize; SLOTS],
}

impl<const SLOTS: usize> Heads<SLOTS> {
    /// Those of rows that are so many slots apart, of which the first one starts so many slots behind the first of a byte; and the
    /// first whole byte of that row.
    pub(crate) fn new(first: isize, step: isize) -> (Heads<SLOTS>, isize) {
        let slots = SLOTS as isize;
        let first_byte = |part: usize| (first + part as isize * step + slots - 1).div_euclid(slots);
        let mut heads = Heads { bits: [0; SLOTS], bytes: [0; SLOTS] };
        for part in 0..SLOTS {
            let before = slots * first_byte(part) - first - part as isize * step;
            heads.bits[part] = before as u32 * (8 / SLOTS as u32);
            heads.bytes[part] = first_byte(part) - first_byte(0);
        }
        (heads, first_byte(0))
    }
}

/// Lines of a column that are made ready together: with less, they would be read one here and one there.
const STRETCH: usize = 4;

/// The same in bytes.
pub(crate) const STRETCH_BYTES: usize = STRETCH * LINE;

/// The most bytes that a strip has in every row: single lines are written at half the speed of pairs.
pub(crate) const WIDEST: usize = 2 * LINE;

impl PackedSides {
    /// What the slots are that some work moves, and on which sides they share bytes; `None` where they are not the same, are bytes on both
    /// sides, or are converted, and at levels without registers.
    pub(crate) fn of(work: &Work<'_>, [src, dst]: [Place; 2]) -> Option<(Bits, PackedSides)> {
        let level = work.level;
        if level == Level::Scalar || !level.is_available() || !work.conversion.is_identity() {
            return None;
        }
        match (src.bits, dst.bits) {
            (Some(src), Some(dst)) if src == dst => Some((src, PackedSides::Both)),
            (Some(bits), None) => Some((bits, PackedSides::Source)),
            (None, Some(bits)) => Some((bits, PackedSides::Destination)),
            _ => None,
        }
    }

    /// Slots of a byte of either side, of so many where they share it.
    pub(crate) fn per_byte(self, slots: usize) -> [usize; 2] {
        self.sides().map(|is_packed| if is_packed { slots } else { 1 })
    }

    /// True where slots of the source share bytes, and of the destination.
    pub(crate) fn sides(self) -> [bool; 2] {
        [self != PackedSides::Destination, self != PackedSides::Source]
    }
}

impl<const SLOTS: usize> PackedColumns<SLOTS> {
    /// Bytes of room for what is made of columns of so many bytes.
    pub(crate) fn room(rows: usize) -> usize {
        SLOTS * WIDEST * rows.next_multiple_of(LINE).min(STRETCH_BYTES)
    }

    /// The byte of a column's first slot, counted from the first column's, and how many bits are before the slot.
    #[inline(always)]
    pub(crate) fn column(&self, number: usize) -> (isize, u32) {
        if self.packed == PackedSides::Destination {
            return (number as isize * self.step, 0);
        }
        let slot = self.first as isize + number as isize * self.step;
        (slot.div_euclid(SLOTS as isize), (slot.rem_euclid(SLOTS as isize) as usize * (8 / SLOTS)) as u32)
    }

    /// Makes so many rows of a strip ready whose bytes begin behind the heads of rows: what is left of a group's slots behind those that
    /// the group before ends with, and the first ones of the next group.
    ///
    /// # Safety
    /// As [`Columns::ready`], also for the group of columns behind the strip.
    #[inline(always)]
    unsafe fn behind_heads<L: Lanes>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        rows: usize,
        heads: &Heads<SLOTS>,
        ahead: Ahead,
    ) {
        let mut before = [[EMPTY; SLOTS]; STRETCH];
        let apart = MADE_APART / SLOTS;
        let mut group = 0;
        while group <= self.width {
            let (next, base) = match group + apart {
                next if next <= self.width => (next, from),
                next => (next - self.width - 1, ahead.first()),
            };
            let next = base.wrapping_offset(next as isize * step);
            let from = from.wrapping_offset(group as isize * step);
            let mut at = 0;
            while at < rows {
                // SAFETY: the caller's promise.
                let mut lines = unsafe { self.lines::<L, SLOTS>(lanes, 0, (from, next), (at, rows)) };
                turn_slots(&mut lines);
                let held = &mut before[at / LINE];
                let mut part = 0;
                while part < SLOTS && group > 0 {
                    let made = behind_bits(&held[part], &lines[part], heads.bits[part]);
                    let to = made_place::<SLOTS>(self.made.wrapping_add((group - 1) * LINE), part, at);
                    // SAFETY: there is room for a stretch of each column.
                    unsafe { to.cast_mut().cast::<Line>().write_unaligned(made) };
                    part += 1;
                }
                *held = lines;
                at += LINE;
            }
            group += 1;
        }
    }

    /// The lines that are `at` of `len` bytes behind the start of a group's columns, `COUNT` from this number on; asks for the same of
    /// others.
    ///
    /// # Safety
    /// So many bytes must be readable at each of the columns, the first of the group's being at `from`.
    #[inline(always)]
    unsafe fn lines<L: Lanes, const COUNT: usize>(
        &self,
        lanes: L,
        first: usize,
        (from, next): (*const u8, *const u8),
        (at, len): (usize, usize),
    ) -> [Line; SLOTS] {
        let mut lines = [EMPTY; SLOTS];
        let mut column = 0;
        while column < COUNT {
            let (place, shift) = self.column(first + column);
            let (place, len) = (place + at as isize, LINE.min(len - at));
            let ask = next.wrapping_offset(place);
            if at == 0 {
                lanes.prefetch(ask);
            }
            // The line in which it ends, which is another one where columns start inside lines.
            lanes.prefetch(ask.wrapping_add(len - usize::from(shift == 0)));
            // SAFETY: the caller's promise.
            lines[column] = unsafe { line_at(from.wrapping_offset(place), shift, len) };
            column += 1;
        }
        lines
    }

    /// Makes `len` bytes of a group's column of this number ready, or of all of the group from it on if they are joined, for one
    /// row or for as many as bytes are parted into; asks for the lines of as many others.
    ///
    /// # Safety
    /// As [`PackedColumns::lines`]; `to` must be the place of a column in the room.
    #[inline(always)]
    unsafe fn columns<L: Lanes, const JOIN: bool, const PART: bool>(
        &self,
        lanes: L,
        (first, len): (usize, usize),
        places: (*const u8, *const u8),
        to: *mut u8,
    ) {
        let mut at = 0;
        while at < len {
            // SAFETY: the caller's promise, and there is room for a stretch of each column.
            unsafe {
                let lines = match JOIN {
                    true => self.lines::<L, SLOTS>(lanes, first, places, (at, len)),
                    false => self.lines::<L, 1>(lanes, first, places, (at, len)),
                };
                make_line::<SLOTS, JOIN, PART>(lines, to, at);
            }
            at += LINE;
        }
    }
}

/// What is left of the slots of bytes behind so many bits, and those bits of others above it.
#[inline(always)]
fn behind_bits(first: &Line, next: &Line, bits: u32) -> Line {
    let low = u64::MAX / 0xff * (0xff >> bits);
    let mut line = EMPTY;
    let mut i = 0;
    while i < line.len() {
        line[i] = first[i] >> bits & low | next[i] << (8 - bits) & !low;
        i += 1;
    }
    line
}

/// Joins a line of as many columns, or parts that of one, or both, and writes what becomes of it to the room of a strip: the line that is
/// so many bytes behind the first one's place.
///
/// # Safety
/// The room must have these lines of all parts.
#[inline(always)]
pub(crate) unsafe fn make_line<const SLOTS: usize, const JOIN: bool, const PART: bool>(
    mut lines: [Line; SLOTS],
    to: *mut u8,
    at: usize,
) {
    match (JOIN, PART) {
        (true, true) => turn_slots(&mut lines),
        (true, false) => join_slots(&mut lines),
        _ => part_slots(&mut lines),
    }
    let mut part = 0;
    while part < if PART { SLOTS } else { 1 } {
        // SAFETY: the caller's promise.
        unsafe { made_place::<SLOTS>(to, part, at).cast_mut().cast::<Line>().write_unaligned(lines[part]) };
        part += 1;
    }
}

/// Where a part of what is made of a column lies that is so many bytes behind its first line's place: a line of every column lies
/// together, part by part, as it is transposed next.
#[inline(always)]
pub(crate) fn made_place<const SLOTS: usize>(from: *const u8, part: usize, before: usize) -> *const u8 {
    from.wrapping_add((before / LINE * SLOTS + part) * WIDEST * LINE + before % LINE)
}

impl<const SLOTS: usize> Columns for PackedColumns<SLOTS> {
    type Order = ();

    const ARE_THE_SOURCES: bool = false;

    #[inline(always)]
    fn strip(&self, _element: usize) -> usize {
        self.width
    }

    #[inline(always)]
    fn rows(&self, _register: usize) -> usize {
        STRETCH_BYTES
    }

    #[inline(always)]
    fn parts(&self) -> usize {
        if self.packed == PackedSides::Destination { 1 } else { SLOTS }
    }

    #[inline(always)]
    fn part_at(&self, part: usize, step: isize) -> isize {
        match &self.heads {
            Some(heads) => heads.bytes[part],
            None => part as isize * (step / self.parts() as isize),
        }
    }

    #[inline(always)]
    fn of_source(&self, step: isize, count: usize) -> (isize, usize) {
        let joined = if self.packed == PackedSides::Source { 1 } else { SLOTS };
        (step / SLOTS as isize, joined * count)
    }

    #[inline(always)]
    fn asks(&self, step: isize, _len: usize, count: usize, _stretches: Stretches) -> Ask {
        Ask::of_stretches(step, count, STRETCH, 0)
    }

    #[inline(always)]
    fn strip_at(&self, from: *const u8, column: usize, step: isize) -> *const u8 {
        let groups = if self.packed == PackedSides::Source { column / SLOTS } else { column };
        from.wrapping_offset(groups as isize * step)
    }

    #[inline(always)]
    fn byte_order(&self) {}

    #[inline(always)]
    fn place(from: *const u8, part: usize, before: usize) -> *const u8 {
        made_place::<SLOTS>(from, part, before)
    }

    #[inline(always)]
    unsafe fn ready<L: Lanes, const E: usize>(
        &self,
        lanes: L,
        (from, step): (*const u8, isize),
        rows: usize,
        ahead: Ahead,
    ) -> ((*const u8, Places), Option<Ahead>) {
        if let Some(heads) = &self.heads {
            // SAFETY: the caller's promise; who sets heads leaves a group of columns behind the last strip.
            unsafe { self.behind_heads(lanes, (from, step), rows, heads, ahead) };
            return ((self.made.cast_const(), Places::even(LINE as isize)), None);
        }
        // Groups of columns between those that are read and those that are asked for.
        let apart = MADE_APART / SLOTS;
        let groups = if self.packed == PackedSides::Source { self.width / SLOTS } else { self.width };
        let mut group = 0;
        while group < groups {
            // Behind the last columns follow the first ones of the next stretch.
            let (next, base) = match group + apart {
                next if next < groups => (next, from),
                next => (next - groups, ahead.first()),
            };
            let next = base.wrapping_offset(next as isize * step);
            let from = from.wrapping_offset(group as isize * step);
            let to = |column: usize| self.made.wrapping_add(column * LINE);
            // SAFETY: the caller's promise; so many bytes of a group's columns.
            unsafe {
                match self.packed {
                    PackedSides::Both => {
                        self.columns::<L, true, true>(lanes, (0, rows), (from, next), to(group));
                    }
                    PackedSides::Destination => {
                        self.columns::<L, true, false>(lanes, (0, rows), (from, next), to(group));
                    }
                    PackedSides::Source => {
                        let mut column = 0;
                        while column < SLOTS {
                            let to = to(group * SLOTS + column);
                            self.columns::<L, false, true>(lanes, (column, rows), (from, next), to);
                            column += 1;
                        }
                    }
                }
            }
            group += 1;
        }
        ((self.made.cast_const(), Places::even(LINE as isize)), None)
    }
}

/// Joins the low bits of as many lines as bytes have slots in the first one.
#[inline(always)]
fn join_slots<const SLOTS: usize>(lines: &mut [Line; SLOTS]) {
    let (bits, mask) = (8 / SLOTS, lowest::<SLOTS>());
    let mut i = 0;
    while i < lines[0].len() {
        let mut joined = 0;
        let mut slot = 0;
        while slot < SLOTS {
            joined |= (lines[slot][i] & mask) << (bits * slot);
            slot += 1;
        }
        lines[0][i] = joined;
        i += 1;
    }
}

/// Parts the slots of the first line: a byte of each of the lines is a slot.
#[inline(always)]
fn part_slots<const SLOTS: usize>(lines: &mut [Line; SLOTS]) {
    let (bits, mask) = (8 / SLOTS, lowest::<SLOTS>());
    let whole = lines[0];
    let mut slot = 0;
    while slot < SLOTS {
        let mut i = 0;
        while i < whole.len() {
            lines[slot][i] = whole[i] >> (bits * slot) & mask;
            i += 1;
        }
        slot += 1;
    }
}

/// The lowest slots of the bytes of a word.
pub(crate) const fn lowest<const SLOTS: usize>() -> u64 {
    u64::MAX / 0xff * ((1 << (8 / SLOTS)) - 1)
}

/// Transposes the slots of as many bytes, in every place of the lines: slot `j` of line `i` becomes slot `i` of line `j`. Each
/// step exchanges one bit of the two numbers.
#[inline(always)]
fn turn_slots<const SLOTS: usize>(lines: &mut [Line; SLOTS]) {
    if SLOTS >= 8 {
        exchange::<SLOTS, 4>(lines);
    }
    if SLOTS >= 4 {
        exchange::<SLOTS, 2>(lines);
    }
    exchange::<SLOTS, 1>(lines);
}

/// Exchanges the bit `APART` of the numbers of slots and lines.
#[inline(always)]
fn exchange<const SLOTS: usize, const APART: usize>(lines: &mut [Line; SLOTS]) {
    let bits = 8 / SLOTS * APART;
    // The slots whose number lacks the bit.
    let mask = match bits {
        1 => 0x5555_5555_5555_5555,
        2 => 0x3333_3333_3333_3333,
        _ => 0x0f0f_0f0f_0f0f_0f0f,
    };
    let mut first = 0;
    while first < SLOTS {
        if first & APART == 0 {
            let (mut low, mut high) = (lines[first], lines[first + APART]);
            let mut i = 0;
            while i < low.len() {
                let differ = (low[i] >> bits ^ high[i]) & mask;
                high[i] ^= differ;
                low[i] ^= differ << bits;
                i += 1;
            }
            (lines[first], lines[first + APART]) = (low, high);
        }
        first += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slots::store_slot;

    fn check<const SLOTS: usize>(bits: Bits) {
        let mut lines = [[0u8; LINE]; SLOTS];
        let mut expected = lines;
        for place in 0..LINE {
            for (i, j) in (0..SLOTS).flat_map(|i| (0..SLOTS).map(move |j| (i, j))) {
                let value = (place * 29 + i * 7 + j * 3) as u8;
                store_slot(&mut lines[i][place..=place], j, bits, value);
                store_slot(&mut expected[j][place..=place], i, bits, value);
            }
        }
        let mut lines = lines.map(bytemuck::cast::<_, Line>);
        turn_slots(&mut lines);
        assert_eq!(lines.map(bytemuck::cast::<_, [u8; LINE]>), expected);
    }

    #[test]
    fn slots_are_transposed() {
        check::<2>(Bits::Four);
        check::<4>(Bits::Two);
        check::<8>(Bits::One);
    }
}

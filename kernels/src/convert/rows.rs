//! Rows of elements that are contiguous on both sides, through a conversion.

use core::mem::MaybeUninit;

use super::hop::{Hop, apply};
use super::join_rows::Piece;
use super::leave::Turned;
use super::packed::pack::{pack, unpack, unpack_exactly};
use super::program::Conversion;
use super::ragged::Ragged;
use super::scale::Scale;
use super::tables::byte_table::ByteTable;
use super::tables::narrowing::Narrowing;
use super::tables::scaled_tops::ScaledTops;
use super::tables::small_table::SmallTable;
use super::tables::table::Table;
use super::tables::widening::Widening;
use super::words::BLOCK;
use crate::lanes::{LINE, Lanes};
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::slots::{Bits, SlotWidth};
use crate::transpose::ahead::Ahead;
use crate::tuning::FACTORS_NEAR;

/// Elements between two hops: what stands there stays in the first-level cache.
pub(super) const STEP: usize = 256;

/// Bytes of the widest element, and room for slots of a byte before the first.
#[repr(align(64))]
struct Between(#[allow(dead_code, reason = "reached by its address only")] [u8; STEP * 16 + 64]);

/// What stands between hops, and between them and what is done besides.
pub(super) struct Room([MaybeUninit<Between>; 4]);

impl Room {
    #[inline(always)]
    pub(super) fn new() -> Room {
        Room([const { MaybeUninit::uninit() }; 4])
    }

    /// Two places that hops take in turn.
    #[inline(always)]
    pub(super) fn hops(&mut self) -> [*mut u8; 2] {
        [self.0[0].as_mut_ptr().cast(), self.0[1].as_mut_ptr().cast()]
    }

    /// Two more.
    #[inline(always)]
    pub(super) fn others(&mut self) -> [*mut u8; 2] {
        [self.0[2].as_mut_ptr().cast(), self.0[3].as_mut_ptr().cast()]
    }
}

/// Where rows lie on one side: in bytes, or in slots from the pointer on where slots share bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The slots that share bytes, if they do.
    pub(super) bits: Option<Bits>,
    /// Byte 0, or the byte of slot 0.
    pub(super) base: *mut u8,
    /// The first element.
    pub(super) first: isize,
    /// From row to row.
    pub(super) pitch: isize,
    /// True for a buffer, which stays in the cache.
    pub(super) is_near: bool,
}

impl Place {
    /// A place in a slice with slots of a width; the first row and the pitch are to be set.
    pub(super) fn new(base: *mut u8, width: SlotWidth, first: isize) -> Place {
        let bits = match width {
            SlotWidth::Bits(bits) => Some(bits),
            SlotWidth::Bytes(_) => None,
        };
        Place { bits, base, first, pitch: 0, is_near: false }
    }

    /// The first byte of a buffer.
    pub(super) fn near(base: *mut u8) -> Place {
        Place { bits: None, base, first: 0, pitch: 0, is_near: true }
    }

    #[inline(always)]
    pub(super) fn at(self, steps: isize) -> Place {
        Place { first: self.first + steps, ..self }
    }

    /// From one element to the next, in bytes or in slots.
    #[inline(always)]
    pub(super) fn unit(self, bytes: usize) -> usize {
        if self.bits.is_some() { 1 } else { bytes }
    }

    /// The byte of an element, where slots have whole bytes.
    #[inline(always)]
    pub(super) fn byte(self, first: isize) -> *mut u8 {
        self.base.wrapping_offset(first)
    }

    /// The byte so many bytes, or slots, from the first element on; slots that share a byte are all behind it.
    #[inline(always)]
    pub(super) fn byte_of(self, steps: isize) -> *mut u8 {
        let per_byte = self.bits.map_or(1, |bits| 8 / bits as isize);
        self.byte((self.first + steps).div_euclid(per_byte))
    }
}

/// Takes `rows` rows of `count` elements through a conversion.
#[derive(Clone, Copy)]
pub(super) struct ConvertRows<'a> {
    pub(super) conversion: &'a Conversion,
    pub(super) src: Place,
    pub(super) dst: Place,
    pub(super) rows: usize,
    /// What repeats all of them, where they are woven: entering a level takes as long as converting some dozen elements.
    pub(super) beyond: Loop,
    pub(super) count: usize,
    /// What elements are multiplied by: by one where the conversion has no scale, as packed slots may be all the same.
    pub(super) scale: Scale<'a>,
    pub(super) form: Form,
    /// Which lines a row asks for ahead of its reads.
    pub(super) look: Look,
    /// The results of all elements, where these are bytes and a table was made.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other targets have no tables"))]
    pub(super) table: Option<&'a Table>,
    /// The same where registers look up 16 bytes.
    pub(super) byte_table: Option<&'a ByteTable>,
    /// The results of elements of few bits, where it was made.
    pub(super) small: Option<&'a SmallTable>,
    /// Those of floats of a byte that are multiplied by a factor, where they were made.
    pub(super) scaled: Option<&'a ScaledTops>,
    /// How floats of a byte are widened, where it was made.
    pub(super) widening: Option<&'a Widening>,
    /// How floats of 16 or 32 bits are narrowed to a byte, where it was made.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "other targets narrow them as words"))]
    pub(super) narrowing: Option<&'a Narrowing>,
    /// What becomes of rows that are woven, where it is more than a stream: then they go by words.
    pub(super) ragged: Option<&'a Ragged>,
    /// What is transposed by turns in place of rows that are converted.
    pub(super) turned: Option<&'a Turned<'a>>,
}

/// What is asked for ahead.
#[derive(Clone, Copy)]
pub(super) enum Look {
    /// Nothing: the source is in the cache.
    Nowhere,
    /// Nothing: the rows are columns of a strip, whose lines were asked for with the rows before.
    Asked,
    /// What follows so many bytes behind, into the second level and into the first; nothing into a level where 0.
    Along { far: usize, near: usize },
    /// The lines of a strip, of which the rows are columns.
    Strip(Ahead),
}

/// What rows are besides rows. Not to be compared: that would be a call out of a level's region.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// Nothing.
    Plain,
    /// Written past the cache: rows are whole lines.
    Lines,
    /// Each row of the destination is a few of the source, element by element in turn, `step` from one to the next. Where
    /// streamed, rows are whole lines.
    Zip { ways: usize, step: isize, stream: bool },
    /// The reverse.
    Unzip { ways: usize, step: isize, lines: Lines },
    /// As `Zip` of two rows whose elements stay together in pairs, which rows are counted in: elements of two bytes, which become one.
    /// Only by words.
    ZipPairs { step: isize, stream: bool },
    /// The reverse: of one byte, which become two.
    UnzipPairs { step: isize, lines: Lines },
}

impl Form {
    /// True for nothing besides.
    #[inline(always)]
    pub(super) fn is_plain(self) -> bool {
        matches!(self, Form::Plain)
    }

    /// True for rows of whole lines.
    #[inline(always)]
    pub(super) fn is_lines(self) -> bool {
        matches!(self, Form::Lines)
    }

    /// Rows of the source that become one, or the reverse.
    #[inline(always)]
    pub(super) fn ways(self) -> usize {
        match self {
            Form::Plain | Form::Lines => 1,
            Form::Zip { ways, .. } | Form::Unzip { ways, .. } => ways,
            Form::ZipPairs { .. } | Form::UnzipPairs { .. } => 2,
        }
    }

    /// True where rows are counted in pairs.
    #[inline(always)]
    pub(super) fn has_pairs(self) -> bool {
        matches!(self, Form::ZipPairs { .. } | Form::UnzipPairs { .. })
    }
}

/// How rows that are taken from a stream are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lines {
    /// Through the cache.
    Stored,
    /// Past it: every row starts a line, and is whole lines.
    Whole,
    /// Past it where they lie within a row: rows start at any slot of a byte.
    Within,
    /// Past it where there is a way: rows are pieces of longer ones, which start anywhere.
    Joined(Piece),
}

impl Lines {
    /// True where they are whole ones past the cache.
    #[inline(always)]
    pub(super) fn are_whole(self) -> bool {
        matches!(self, Lines::Whole)
    }
}

impl<'a> ConvertRows<'a> {
    /// Plain rows, of which there are none yet, between two places; a factor counts where the conversion has a scale.
    pub(super) fn new(
        conversion: &'a Conversion,
        [src, dst]: [Place; 2],
        scale: Scale<'a>,
    ) -> ConvertRows<'a> {
        ConvertRows {
            conversion,
            src,
            dst,
            rows: 0,
            beyond: ONCE,
            count: 0,
            scale: if conversion.is_scaled() { scale } else { Scale::All(1.0) },
            form: Form::Plain,
            look: Look::Nowhere,
            table: None,
            byte_table: None,
            small: None,
            scaled: None,
            widening: None,
            narrowing: None,
            ragged: None,
            turned: None,
        }
    }
}

impl ConvertRows<'_> {
    /// Where a row starts on either side, if its slots have whole bytes.
    #[inline(always)]
    pub(super) fn starts(&self, row: isize) -> (*const u8, *mut u8) {
        let (src, dst) = (self.src, self.dst);
        (src.byte(src.first + row * src.pitch), dst.byte(dst.first + row * dst.pitch))
    }

    /// The place of a row's first element in the source.
    #[inline(always)]
    pub(super) fn src_place(&self, row: isize) -> isize {
        self.src.first + row * self.src.pitch
    }

    /// From one element of the source to the next, in bytes or in slots.
    #[inline(always)]
    pub(super) fn src_unit(&self) -> usize {
        self.src.unit(self.conversion.src_bytes())
    }

    /// The places, and the step from one to the next, by which elements of a row from a number on find their factors.
    #[inline(always)]
    pub(super) fn factors_of(&self, row: Place, at: usize) -> (isize, usize) {
        let unit = self.src_unit();
        (row.first + (at * unit) as isize, unit)
    }

    /// From row to row, where factors are found: nothing where all rows have the same ones, which are then found once.
    #[inline(always)]
    pub(super) fn pitch_of_factors(&self) -> isize {
        if self.scale.is_same_apart(self.src.pitch) { 0 } else { self.src.pitch }
    }

    /// True for rows, none of a strip, that share more factors than stay in the first-level cache.
    #[inline(always)]
    pub(super) fn take_turns(&self) -> bool {
        let period = self.scale.period(self.src.first, self.src_unit() as isize);
        let are_many = period.is_some_and(|(_, period)| period > FACTORS_NEAR);
        self.rows > 1
            && are_many
            && self.pitch_of_factors() == 0
            && !matches!(self.look, Look::Strip(_) | Look::Asked)
    }

    /// The factor of every row, of which there are a few, where all elements of a row have the same.
    #[inline(always)]
    pub(super) fn factors_of_rows(&self, room: &mut [f32; BLOCK]) -> bool {
        let Scale::Along(along) = &self.scale else { return false };
        let row = (self.src.first, self.src_unit(), self.count);
        self.rows > 1 && along.fill_rows(row, self.src.pitch, self.rows, room)
    }

    /// True where all elements of each word of four bytes have the same factor.
    #[inline(always)]
    pub(super) fn words_share_factors(&self) -> bool {
        let are_words = [self.src.pitch, self.beyond.src_stride].iter().all(|stride| stride % 4 == 0);
        are_words && self.scale.is_same_within(self.src.first, 4)
    }

    /// Asks for as many lines as are read at `from`, so far ahead of it.
    #[inline(always)]
    pub(super) fn look_ahead<L: Lanes>(&self, lanes: L, from: *const u8, bytes: usize) {
        let Look::Along { far, near } = self.look else { return };
        let mut line = 0;
        while line < bytes {
            if far > 0 {
                lanes.prefetch(from.wrapping_add(far + line));
            }
            if near > 0 {
                lanes.prefetch_near(from.wrapping_add(near + line));
            }
            line += LINE;
        }
    }

    /// The same for the bytes from `at` on of a plain row from `first` on, which may be a strip's.
    #[inline(always)]
    pub(super) fn look_ahead_of<L: Lanes>(
        &self,
        lanes: L,
        row: isize,
        first: *const u8,
        at: usize,
        bytes: usize,
    ) {
        match self.look {
            Look::Strip(ahead) => {
                let before = row as usize * self.count * self.conversion.src_bytes() + at;
                ahead.ask_lines(lanes, before / LINE, bytes / LINE);
            }
            _ => self.look_ahead(lanes, first.wrapping_add(at), bytes),
        }
    }

    /// Plain rows, without a level.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`].
    pub(super) unsafe fn portable(&self) {
        debug_assert!(self.beyond.extent <= 1, "only rows that are woven are repeated");
        let mut room = Room::new();
        for row in 0..self.rows as isize {
            let (src, dst) = (self.src.at(row * self.src.pitch), self.dst.at(row * self.dst.pitch));
            for done in (0..self.count).step_by(STEP) {
                // SAFETY: a part of the row.
                unsafe {
                    let (count, factors) = (STEP.min(self.count - done), self.factors_of(src, done));
                    self.part((src, done), (dst, done), count, room.hops(), factors);
                }
            }
        }
    }

    /// Elements from the given ones on, counted from the first, through the hops.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`] for `count` elements, at most [`STEP`]; `room` must have two places for as many of the
    /// widest elements. Factors are those of the elements from `place` of the source on, `step` from one to the next.
    #[inline(always)]
    pub(super) unsafe fn part(
        &self,
        (src, src_at): (Place, usize),
        (dst, dst_at): (Place, usize),
        count: usize,
        room: [*mut u8; 2],
        (place, step): (isize, usize),
    ) {
        let conversion = self.conversion;
        let mut factors = MaybeUninit::<[f32; STEP]>::uninit();
        let to = dst.byte(dst.first + (dst_at * conversion.dst_bytes()) as isize);
        // SAFETY: the caller's promise.
        unsafe {
            if let (Some(bits), None, true) = (src.bits, dst.bits, conversion.is_identity()) {
                return unpack_exactly(bits, src.base, (src.first + src_at as isize) as usize, to, count);
            }
            let mut turn = 0;
            let mut from: *const u8 = match src.bits {
                Some(bits) => {
                    let first = (src.first + src_at as isize) as usize;
                    let before = unpack(bits, src.base, first, room[0], count);
                    turn = 1;
                    room[0].add(before)
                }
                None => src.byte(src.first + (src_at * conversion.src_bytes()) as isize),
            };
            let mut hops = conversion.hops().peekable();
            if hops.peek().is_none() && dst.bits.is_none() {
                core::ptr::copy_nonoverlapping(from, to, count * conversion.dst_bytes());
            }
            while let Some(hop) = hops.next() {
                let ends_here = hops.peek().is_none() && dst.bits.is_none();
                let next = if ends_here { to } else { room[turn] };
                if *hop == Hop::Scale {
                    self.scale.fill(place, step, &mut factors.write([0.0; STEP])[..count]);
                }
                apply(hop, from, next, count * conversion.parts(), factors.as_ptr().cast());
                turn ^= 1;
                from = next;
            }
            if let Some(bits) = dst.bits {
                pack(bits, from, dst.base, (dst.first + dst_at as isize) as usize, count);
            }
        }
    }
}

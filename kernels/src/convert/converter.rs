//! The entry: a conversion under a loop nest.

use core::ops::Deref;

use super::blocks::ConvertedBlocks;
use super::by_bytes::ByBytes;
use super::each_row::repeated;
use super::flush::{fence, streams};
use super::leave::Turned;
use super::packed::blocks::PackedBlocks;
use super::packed::exchange::PackedExchange;
use super::packed::inside_bytes::InsideBytes;
use super::packed::strips::PackedStrips;
use super::packed::words::PackedWords;
use super::program::Conversion;
use super::rows::{ConvertRows, Form, Lines, Look, Place};
use super::scale::Scale;
use super::strips::Strips;
use super::tables::made::Made;
use super::tile::Pass;
use super::weave::{Woven, look, woven};
use crate::lanes::LINE;
use crate::level::Level;
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::nest::{Loop, Nest, OutOfBounds, Side};
use crate::slots::SlotWidth;
use crate::transpose::ahead::Ahead;
use crate::transpose::split::Split;
use crate::tuning::{CONVERT_BITS, CONVERT_PIECE, CONVERT_ROW, TILE_ROW, widens_in_parts};

/// Converts one element for every point of a nest.
#[derive(Clone, Copy, Debug)]
pub struct Converter<'a> {
    /// What becomes of an element.
    pub conversion: Conversion,
    /// Slots of the source; of wider ones than the elements, the low bytes count.
    pub src: SlotWidth,
    /// Slots of the destination; of wider ones than the elements, only the low bytes are written.
    pub dst: SlotWidth,
    /// What elements are multiplied by, where the conversion has a scale.
    pub scale: Scale<'a>,
    /// The instructions to use; one that the machine or the build lacks counts as a lower one.
    pub level: Level,
    /// Write whole lines past the cache.
    pub stream: bool,
}

impl Converter<'_> {
    /// Converts one element for every point of `nest`, whose offsets and strides are in bytes, or in slots on a side whose
    /// slots share bytes.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some slot lies outside its slice; nothing was written then.
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
    /// let loops = [Loop { extent: 2, src_stride: 1, dst_stride: 2 }];
    /// let mut wide = [0; 4];
    /// converter.run(&[0xff, 0x01], &mut wide, Nest { src_offset: 0, dst_offset: 0, loops: &loops })?;
    /// assert_eq!(wide, [0xff, 0xff, 0x01, 0x00]);
    /// # Ok::<(), relayout_kernels::OutOfBounds>(())
    /// ```
    pub fn run(&self, src: &[u8], dst: &mut [u8], nest: Nest<'_>) -> Result<(), OutOfBounds> {
        if nest.is_empty() {
            return Ok(());
        }
        if let Some(conversion) = self.conversion.between(self.src, self.dst) {
            return Converter { conversion, ..*self }.run(src, dst, nest);
        }
        let (from, to) = self.places(src, dst, &nest)?;
        // SAFETY: `places` proved that every slot of the nest lies inside the slices, which do not overlap, being a shared and
        // an exclusive borrow; nothing is written at the source.
        unsafe {
            if self.few(nest.loops, from, to) {
                return Ok(());
            }
            let made = &self.make(nest.loops);
            Work { converter: self, made }.outer(nest.loops, from, to);
        }
        if self.stream {
            fence(self.level);
        }
        Ok(())
    }

    /// Where a nest starts on both sides, all of whose slots lie inside the slices.
    pub(super) fn places(
        &self,
        src: &[u8],
        dst: &mut [u8],
        nest: &Nest<'_>,
    ) -> Result<(Place, Place), OutOfBounds> {
        self.check(nest, src.len(), dst.len())?;
        let from = Place::new(src.as_ptr().cast_mut(), self.src, nest.src_offset);
        Ok((from, Place::new(dst.as_mut_ptr(), self.dst, nest.dst_offset)))
    }

    /// Checks that all slots of a nest lie inside slices of so many bytes.
    pub(super) fn check(&self, nest: &Nest<'_>, src_len: usize, dst_len: usize) -> Result<(), OutOfBounds> {
        self.check_slots(src_len, dst_len)?;
        let ((src_len, src_slot), (dst_len, dst_slot)) = (self.src.units(src_len), self.dst.units(dst_len));
        let [src_unit, dst_unit] = self.units().map(isize::unsigned_abs);
        nest.check(src_len, src_slot.max(src_unit), dst_len, dst_slot.max(dst_unit))
    }

    /// Refuses elements of several bytes in slots that share one, of which every one lies outside.
    pub(super) fn check_slots(&self, src_len: usize, dst_len: usize) -> Result<(), OutOfBounds> {
        let fits = |width, bytes| matches!(width, SlotWidth::Bytes(_)) || bytes == 1;
        if !fits(self.src, self.conversion.src_bytes()) {
            return Err(OutOfBounds { side: Side::Source, len: src_len });
        }
        if !fits(self.dst, self.conversion.dst_bytes()) {
            return Err(OutOfBounds { side: Side::Destination, len: dst_len });
        }
        Ok(())
    }

    /// True where elements have factors of their own.
    pub(super) fn has_factors(&self) -> bool {
        self.scale.is_along() && self.conversion.is_scaled()
    }

    /// True where bytes become packed slots, and nothing else happens.
    pub(super) fn only_packs(&self) -> bool {
        let packs = matches!((self.src, self.dst), (SlotWidth::Bytes(_), SlotWidth::Bits(_)));
        packs && self.conversion.is_identity()
    }

    /// True where packed slots move to others, and nothing else happens.
    pub(super) fn moves_bits(&self) -> bool {
        matches!(self.src, SlotWidth::Bits(_)) && self.src == self.dst && self.conversion.is_identity()
    }

    /// From one element to the next, where they are contiguous.
    pub(super) fn units(&self) -> [isize; 2] {
        let unit = |width, bytes: usize| match width {
            SlotWidth::Bits(_) => 1,
            SlotWidth::Bytes(_) => bytes as isize,
        };
        [unit(self.src, self.conversion.src_bytes()), unit(self.dst, self.conversion.dst_bytes())]
    }
}

/// A converter, and what it made before it starts.
#[derive(Clone, Copy)]
pub(super) struct Work<'a> {
    pub(super) converter: &'a Converter<'a>,
    pub(super) made: &'a Made,
}

impl<'a> Deref for Work<'a> {
    type Target = Converter<'a>;

    fn deref(&self) -> &Converter<'a> {
        self.converter
    }
}

impl Work<'_> {
    /// Does one row at once, and walks the outermost of too many loops.
    ///
    /// # Safety
    /// Every slot that the loops reach from the two places must be valid there, without overlap.
    unsafe fn outer(&self, loops: &[Loop], src: Place, dst: Place) {
        if let ([row], [src_unit, dst_unit], false) = (loops, self.units(), self.stream)
            && (row.src_stride, row.dst_stride) == (src_unit, dst_unit)
        {
            // SAFETY: the caller's promise.
            return unsafe { self.rows(src, dst, 1, row.extent, Look::Nowhere) };
        }
        let counting = |l: &&Loop| l.extent > 1;
        let count = loops.iter().filter(counting).count();
        if count == loops.len() && count <= MAX_LOOPS {
            // SAFETY: the caller's promise.
            return unsafe { self.nest(loops, src, dst) };
        }
        if count <= MAX_LOOPS {
            let mut few = Loops::default();
            loops.iter().filter(counting).for_each(|&l| few.push(l));
            // SAFETY: the caller's promise; loops that run once reach nothing more.
            return unsafe { self.nest(few.as_slice(), src, dst) };
        }
        let [first, rest @ ..] = loops else { return };
        for i in 0..first.extent as isize {
            // SAFETY: every step of a loop starts a nest of the rest.
            unsafe { self.outer(rest, src.at(i * first.src_stride), dst.at(i * first.dst_stride)) };
        }
    }

    /// Rows go straight to their places, alone or woven, where the level has a form for them; everything else goes by
    /// tiles.
    ///
    /// # Safety
    /// As [`Converter::outer`].
    pub(super) unsafe fn nest(&self, loops: &[Loop], src: Place, dst: Place) {
        if !self.stream && src.bits.is_none() && dst.bits.is_none() {
            let way = self.way(loops, [src, dst]);
            // SAFETY: the caller's promise.
            return unsafe { self.go(&way, loops, src, dst) };
        }
        let woven = woven(self.converter, loops, [src, dst]);
        if woven.as_ref().is_none_or(|woven| matches!(woven.form, Form::Unzip { .. }))
            && let Some(bytes) = ByBytes::new(*self, loops, [src, dst])
        {
            // SAFETY: the caller's promise.
            return unsafe { bytes.run(src, dst) };
        }
        if let Some(Woven { pass, form, next }) = &woven {
            // SAFETY: the caller's promise; the level has the form.
            return unsafe {
                match (*form, *next) {
                    (Form::Unzip { ways, step, .. }, Some(next)) => {
                        self.pieces(pass, next, (ways, step), [src, dst]);
                    }
                    (form, _) => self.convert(&self.conversion, pass, form, [src, dst], None),
                }
            };
        }
        let all = &Loops::of(loops);
        // SAFETY: the caller's promise.
        if unsafe { self.stream && self.strips(all, src, dst) || self.packed(all, src, dst) } {
            return;
        }
        let pass = Pass::new(loops, self.units());
        let rows = pass.rows.as_slice();
        let bytes = match self.dst {
            SlotWidth::Bytes(_) => pass.run * self.conversion.dst_bytes(),
            SlotWidth::Bits(bits) => pass.run / (8 / bits as usize),
        };
        let is_straight = match self.moves_bits() {
            true => bytes >= CONVERT_BITS,
            false => !self.stream && bytes >= CONVERT_ROW,
        };
        // SAFETY: the caller's promise, for all.
        unsafe {
            if self.stream && bytes >= CONVERT_PIECE {
                each_place(rows, src, dst, &mut |src, dst| self.stream_row(src, dst, pass.run));
            } else if rows.is_empty() || is_straight {
                self.convert(&self.conversion, &pass, Form::Plain, [src, dst], None);
            } else if let Some(blocks) = ConvertedBlocks::new(*self, loops, [src, dst]) {
                blocks.run(src, dst);
            } else {
                self.tiles(loops, src, dst);
            }
        }
    }

    /// Ways for slots that share bytes; false where there is none, and nothing was done.
    ///
    /// # Safety
    /// As [`Converter::outer`].
    unsafe fn packed(&self, loops: &Loops, src: Place, dst: Place) -> bool {
        // They all exchange two loops.
        if src.bits.is_none() && dst.bits.is_none() || loops.as_slice().len() < 2 {
            return false;
        }
        // SAFETY: the caller's promise, for all.
        unsafe {
            if let Some(words) = PackedWords::new(self, loops, [src, dst]) {
                words.run(src, dst);
            } else if let Some(rows) = PackedExchange::new(self, loops, [src, dst]) {
                rows.run(src, dst);
            } else if let Some(strips) = PackedStrips::new(self, loops, [src, dst]) {
                strips.run(src, dst);
                self.edges(&strips.split, src, dst);
            } else if let Some(inside) = InsideBytes::new(self, loops, [src, dst]) {
                inside.run(src, dst);
            } else if let Some(blocks) = PackedBlocks::new(self, loops, [src, dst]) {
                blocks.run(src, dst);
            } else {
                return false;
            }
        }
        true
    }

    /// Transposes in strips of elements that are converted as they leave, or part by part of those that are converted after, or in strips of
    /// those that are before; false where there are none, and nothing was done.
    ///
    /// # Safety
    /// As [`Converter::outer`].
    unsafe fn strips(&self, loops: &Loops, src: Place, dst: Place) -> bool {
        let leaving = Strips::leaving(self, loops, [src, dst]);
        let leaves = leaving.as_ref().is_some_and(|strips| strips.join(self, dst));
        let in_parts = !leaves && streams(self.level) && widens_in_parts();
        // SAFETY: the caller's promise.
        if in_parts && unsafe { self.in_parts(loops.as_slice(), src, dst) } {
            return true;
        }
        // SAFETY: the caller's promise, for parts of the nest.
        let left = leaving.filter(|strips| unsafe { strips.leave(self, src, dst) });
        let moved = left.or_else(|| {
            let strips = Strips::new(self, loops, [src, dst])?;
            // SAFETY: the same.
            unsafe { strips.run(self, src, dst) };
            Some(strips)
        });
        // SAFETY: the same, for the others.
        moved.is_some_and(|strips| unsafe {
            self.edges(&strips.split, src, dst);
            true
        })
    }

    /// What strips leave.
    ///
    /// # Safety
    /// As [`Converter::outer`].
    unsafe fn edges(&self, split: &Split, src: Place, dst: Place) {
        for (edge, [from, to]) in split.edges() {
            let places @ [src, dst] = [src.at(from), dst.at(to)];
            let blocks = PackedBlocks::new(self, &edge, places);
            // SAFETY: parts of the nest.
            unsafe {
                match blocks {
                    Some(blocks) => blocks.run(src, dst),
                    // Of columns that are too few for the widest strips.
                    None if self.strips(&edge, src, dst) => {}
                    None => self.tiles(edge.as_slice(), src, dst),
                }
            }
        }
    }

    /// Converts rows of elements, from pitch to pitch.
    ///
    /// # Safety
    /// All of them must be valid at both places, without overlap.
    #[inline(always)]
    pub(super) unsafe fn rows(&self, src: Place, dst: Place, rows: usize, count: usize, look: Look) {
        let task = ConvertRows { rows, count, look, ..self.task(&self.conversion, src, dst) };
        // SAFETY: the caller's promise.
        unsafe { task.at_level(self.level) };
    }

    /// Transposes by turns or in strips, converting what leaves; false where there are none for the conversion, and nothing was done.
    ///
    /// # Safety
    /// All places of the plane must be valid, without overlap, and without a carry buffer every row of the destination start a line; in
    /// strips columns must be whole ones. A fence is then due.
    pub(super) unsafe fn turned(&self, turned: &Turned<'_>, src: Place, dst: Place) -> bool {
        let task = ConvertRows { turned: Some(turned), ..self.task(&self.conversion, src, dst) };
        // SAFETY: the caller's promise.
        unsafe {
            if turned.by_turns { task.turns_at_level(self.level) } else { task.leaves_at_level(self.level) }
        }
    }

    /// Plain rows through a conversion, of which there are none yet.
    fn task<'a>(&'a self, conversion: &'a Conversion, src: Place, dst: Place) -> ConvertRows<'a> {
        let made = self.made;
        // Other conversions than its own are of packed slots, and leave elements as they are.
        let own = if conversion.is_identity() { &Made::NOTHING } else { made };
        ConvertRows {
            table: own.table.as_ref(),
            byte_table: own.byte_table.as_ref(),
            small: own.small.as_ref(),
            scaled: own.scaled.as_ref(),
            widening: made.widening.as_ref(),
            narrowing: own.narrowing.as_ref(),
            ..ConvertRows::new(conversion, [src, dst], self.scale)
        }
    }

    /// Runs a conversion over a pass, and asks for what the next such pass reads, if its place is told.
    ///
    /// # Safety
    /// All rows of the pass must be valid at both places, without overlap, and the level must have the form.
    pub(super) unsafe fn convert(
        &self,
        conversion: &Conversion,
        pass: &Pass,
        form: Form,
        [src, dst]: [Place; 2],
        next: Option<Place>,
    ) {
        let is_far = self.stream && !src.is_near;
        let look = if is_far { look(self, form, (src, pass.run)) } else { Look::Nowhere };
        // SAFETY: the caller's promise.
        unsafe { self.convert_looking(conversion, pass, form, [src, dst], (look, next)) };
    }

    /// The same, and asks for what it is told.
    ///
    /// # Safety
    /// As [`Work::convert`].
    pub(super) unsafe fn convert_looking(
        &self,
        conversion: &Conversion,
        pass: &Pass,
        form: Form,
        [src, dst]: [Place; 2],
        (look, next): (Look, Option<Place>),
    ) {
        let (first, lines) = (src.first, lines_of_a_row(pass.run * conversion.src_bytes()));
        let (outer, beyond, rows) = self.turns(pass, form, src);
        let next = next.filter(|_| matches!(look, Look::Along { .. }));
        each_place(outer, src, dst, &mut |src, dst| {
            let src = Place { pitch: rows.src_stride, ..src };
            let dst = Place { pitch: rows.dst_stride, ..dst };
            let look = match (next, lines) {
                (Some(next), Some(lines)) => {
                    let from = next.at(src.first - first).byte_of(0);
                    Look::Strip(Ahead::of_lines(from, src.pitch, lines))
                }
                _ => look,
            };
            let (rows, count) = (rows.extent, pass.run);
            let task = ConvertRows { rows, beyond, count, form, look, ..self.task(conversion, src, dst) };
            // SAFETY: a step of the outer loops starts rows of the pass.
            unsafe { task.at_level(self.level) };
        });
    }

    /// Loops around rows from a place on, the one that repeats all of them at their level, and that over rows.
    pub(super) fn turns<'l>(&self, pass: &'l Pass, form: Form, src: Place) -> (&'l [Loop], Loop, Loop) {
        match pass.rows.as_slice() {
            loops if self.repeats(form) => repeated(loops, &self.scale, src.first),
            [outer @ .., rows] => (outer, ONCE, *rows),
            [] => (&[][..], ONCE, ONCE),
        }
    }

    /// True for rows of a form that are repeated at their level: those that are woven, but for pieces, packed slots, and floats of a
    /// byte that are looked up by the factors of a pair of rows.
    fn repeats(&self, form: Form) -> bool {
        let is_woven = match form {
            Form::Zip { .. } => self.made.scaled.is_none() || !self.scale.is_along(),
            Form::Unzip { lines, .. } => matches!(lines, Lines::Stored | Lines::Whole),
            Form::ZipPairs { .. } | Form::UnzipPairs { .. } => true,
            Form::Plain | Form::Lines => false,
        };
        is_woven && [self.src, self.dst].iter().all(|width| matches!(width, SlotWidth::Bytes(_)))
    }
}

/// Lines of a row of so many bytes, if it is one of those that are asked for while the ones before are read, and has as many lines as
/// can be told apart by bits of their numbers.
fn lines_of_a_row(bytes: usize) -> Option<usize> {
    let lines = bytes / LINE;
    (bytes >= TILE_ROW && bytes.is_multiple_of(LINE) && lines.is_power_of_two()).then_some(lines)
}

/// Calls `visit` with both places of every point of the loops.
pub(super) fn each_place(loops: &[Loop], src: Place, dst: Place, visit: &mut impl FnMut(Place, Place)) {
    match loops {
        [] => visit(src, dst),
        [outer, rest @ ..] => {
            for i in 0..outer.extent as isize {
                each_place(rest, src.at(i * outer.src_stride), dst.at(i * outer.dst_stride), visit);
            }
        }
    }
}

#[cfg(all(test, one_test_program))]
impl Converter<'_> {
    /// `bf16` that become `f32`, past the cache: what tests of single ways convert.
    pub(super) fn bf16_to_f32(level: Level) -> Converter<'static> {
        use super::number::{FloatFormat, Number, Specials};
        let bf16 = FloatFormat { exponent_bits: 8, mantissa_bits: 7, bias: 127, specials: Specials::Ieee };
        let (from, to) = (Number::Float(bf16), Number::Float(FloatFormat::F32));
        Converter {
            conversion: Conversion::new(from, to, super::program::Rules::default()).unwrap(),
            src: SlotWidth::Bytes(2),
            dst: SlotWidth::Bytes(4),
            scale: Scale::All(1.0),
            level,
            stream: true,
        }
    }
}

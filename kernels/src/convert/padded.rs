//! Rows that are converted, and end with padding, or are woven with it: some of them are made in the first-level cache, and leave from
//! there with their padding, past the cache.

use super::converter::{Converter, Work, each_place};
use super::flush::{Buffer, fence};
use super::forms::BLOCK;
use super::rows::{Form, Place};
use super::tile::Pass;
use super::weave::look_of_rows;
use crate::fill::{Fill, inside};
use crate::lanes::LINE;
use crate::loops::{Loops, MAX_LOOPS, ONCE};
use crate::nest::{Loop, Nest, OutOfBounds, Side};
use crate::rows::padded::{Padded, Padding, Part};
use crate::slots::SlotWidth;
use crate::tuning::{BETWEEN_STEPS, CONVERT_LONGER, CONVERT_PIECE};

impl Converter<'_> {
    /// Converts rows, and fills what is behind each of them up to the end of a line, or what is left of every few elements where rows
    /// are woven with padding, with what another nest has of the same rows before, together past the cache: as
    /// [`Mover::run_padded`](crate::Mover::run_padded) does with elements that stay as they are. Returns false, and does nothing, where that is
    /// not so, or there is no kernel for it.
    ///
    /// # Errors
    /// [`OutOfBounds`] where some place of any of them lies outside its slice; nothing was written then.
    ///
    /// ```
    /// use relayout_kernels::{AlignedBuffer, Conversion, Converter, Fill, Level, Loop, Nest, Number, Rules, Scale, SlotWidth};
    /// let (from, to) = (Number::Integer { bits: 8, signed: false }, Number::Integer { bits: 16, signed: false });
    /// let converter = Converter {
    ///     conversion: Conversion::new(from, to, Rules::default()).expect("integers become integers"),
    ///     src: SlotWidth::Bytes(1),
    ///     dst: SlotWidth::Bytes(2),
    ///     scale: Scale::All(1.0),
    ///     level: Level::detect(),
    ///     stream: true,
    /// };
    /// // A row of 64 bytes becomes every other one of 128 words.
    /// let loops = [Loop { extent: 64, src_stride: 1, dst_stride: 4 }];
    /// let nest = Nest { src_offset: 0, dst_offset: 0, loops: &loops };
    /// let pad = Nest { dst_offset: 2, ..nest };
    /// let fill = Fill { value: 0, width: SlotWidth::Bytes(2) };
    ///
    /// let (src, mut dst) = ([7; 64], AlignedBuffer::zeroed(256)?);
    /// dst.fill(1);
    /// if !converter.run_padded(&src, &mut dst, (None, nest), (pad, fill))? {
    ///     converter.run(&src, &mut dst, nest)?;
    ///     relayout_kernels::fill_nest(&mut dst, pad, fill)?;
    /// }
    /// assert_eq!(dst[..8], [7, 0, 0, 0, 7, 0, 0, 0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run_padded(
        &self,
        src: &[u8],
        dst: &mut [u8],
        (before, nest): (Option<Nest<'_>>, Nest<'_>),
        (pad, fill): (Nest<'_>, Fill),
    ) -> Result<bool, OutOfBounds> {
        let (SlotWidth::Bytes(_), SlotWidth::Bytes(_), SlotWidth::Bytes(width)) =
            (self.src, self.dst, fill.width)
        else {
            return Ok(false);
        };
        let is_empty = nest.is_empty() || pad.is_empty() || before.is_some_and(|before| before.is_empty());
        if !self.stream || is_empty {
            return Ok(false);
        }
        let dst_len = dst.len();
        let (from, to) = self.places(src, dst, &nest)?;
        if !inside(dst, &pad, width) {
            return Err(OutOfBounds { side: Side::Destination, len: dst.len() });
        }
        let padding = Padding { nest: &pad, value: fill.value, width };
        let units = self.units().map(isize::unsigned_abs);
        let rows = Padded::new(self.level, &nest, units, &padding, to.byte_of(0));
        // There is to be a loop along the rows, and one across them, besides those around them; and long rows go straight.
        let is_short = |rows: &Padded| rows.ways > 1 || rows.count * units[1] < CONVERT_PIECE;
        let fits = |rows: &Padded| rows.outer.as_slice().len() + 2 <= MAX_LOOPS && is_short(rows);
        let Some(rows) = rows.filter(fits) else { return Ok(false) };
        if let Some(before) = &before {
            self.check(before, src.len(), dst_len)?;
        }
        let part = rows.part_of(before.as_ref(), &nest, units);
        let Some(part) = part else { return Ok(false) };
        let work = Work { converter: self, made: &self.make(nest.loops) };
        // SAFETY: `places`, `check` and `inside` proved that all rows, their pieces and their padding lie inside the slices, which do not
        // overlap, being a shared and an exclusive borrow; `Padded` made sure that the padding belongs to the rows, and pieces go on
        // with them; and the source is valid up to its length.
        unsafe {
            if !work.ragged(&rows, part, [from, to]) {
                if part.runs() > 1 && rows.bytes_of(part.elements()) > BETWEEN_STEPS {
                    return Ok(false);
                }
                work.pad(&rows, part, [from, to], src.len());
            }
        }
        fence(self.level);
        Ok(true)
    }
}

/// Rows that are made together: those that the innermost loops around them lead to, as many as there is room for.
struct Made {
    /// Loops that are outside.
    before: Loops,
    /// The loop that is cut, and its steps that are taken.
    cut: Loop,
    steps: usize,
    /// The loops inside it.
    inside: Loops,
    /// The ways of as many steps as are taken, and of what is left of them.
    ways: [Way; 2],
}

/// How rows get to the room, and from there to the destination.
#[derive(Default)]
struct Way {
    pass: Pass,
    leaving: Loops,
    /// From row to row, of those that are woven.
    step: isize,
    /// Bytes of the room.
    bytes: usize,
    /// Elements of a row that fills registers, which is longer than a short one.
    longer: usize,
    /// From where the first row starts to where such a one ends in the place of the last.
    reach: isize,
}

impl Way {
    /// The pass of rows of so many elements from a place of a source that ends somewhere: of longer ones as far as the source has them.
    /// What such a row has behind its own elements stays in the room.
    fn pass(&self, count: usize, src: Place, end: isize) -> Pass {
        match self.pass.run == count && src.first + self.reach <= end {
            true => Pass { run: self.longer, ..self.pass },
            false => self.pass,
        }
    }
}

impl Made {
    fn new(rows: &Padded, (count, longer): (usize, usize), units: [isize; 2]) -> Made {
        let [src_unit, dst_unit] = units;
        // Rows that lie apart are read in as few places at once as may be, and lie apart in the room.
        let follows = |l: &Loop| l.src_stride == src_unit * count as isize;
        let is_dense = follows(&rows.across) || rows.outer.as_slice().iter().any(follows);
        let longer = if is_dense { count } else { longer };
        let row = longer * dst_unit.unsigned_abs();
        let row = if is_dense { row } else { row.next_multiple_of(LINE) + LINE };
        let mut left = (BETWEEN_STEPS / (row * rows.across.extent)).max(1);
        let mut made = Made {
            before: rows.outer,
            cut: ONCE,
            steps: 1,
            inside: Loops::default(),
            ways: Default::default(),
        };
        while let (true, Some(last)) =
            (made.steps == made.cut.extent, made.before.as_slice().len().checked_sub(1))
        {
            let goes_on = |l: Loop| l.src_stride == made.cut.src_stride * made.cut.extent as isize;
            if made.cut.extent > 1 && !is_dense && !goes_on(made.before.as_slice()[last]) {
                break;
            }
            if made.cut.extent > 1 {
                made.inside.push(made.cut);
            }
            made.cut = made.before.remove(last);
            made.steps = left.min(made.cut.extent);
            left /= made.steps;
        }
        let steps = [made.steps, made.cut.extent % made.steps];
        made.ways = steps.map(|steps| made.way(rows, (count, longer), steps.max(1), units));
        made
    }

    /// Bytes of the room.
    fn bytes(&self) -> usize {
        self.ways.iter().map(|way| way.bytes).max().unwrap_or(0)
    }

    /// The way of so many steps.
    fn way(
        &self,
        rows: &Padded,
        (count, longer): (usize, usize),
        steps: usize,
        [src_unit, dst_unit]: [isize; 2],
    ) -> Way {
        let mut taken = self.inside;
        taken.push(Loop { extent: steps, ..self.cut });
        taken.push(rows.across);
        taken.sort_by_key(|l| l.src_stride.unsigned_abs());
        let mut all = Loops::of(&[Loop { extent: count, src_stride: src_unit, dst_stride: dst_unit }]);
        let (mut leaving, mut step) = (Loops::default(), 0);
        // Where rows follow one another, none is longer.
        let (mut next, mut bytes) = (src_unit * count as isize, longer * dst_unit.unsigned_abs());
        let mut reach = src_unit * longer as isize;
        for l in taken.as_slice().iter().filter(|l| l.extent > 1) {
            // What goes on in the source goes on here; else rows lie a line farther apart, so that they do not meet in one set of
            // the cache.
            if l.src_stride != next {
                bytes = bytes.next_multiple_of(LINE) + LINE;
            }
            let stride = bytes as isize;
            (next, bytes) = (l.src_stride * l.extent as isize, bytes * l.extent);
            reach += l.src_stride.max(0) * (l.extent as isize - 1);
            all.push(Loop { dst_stride: stride, ..*l });
            match *l == rows.across {
                true => step = stride,
                false => leaving.push(Loop { src_stride: stride, ..*l }),
            }
        }
        leaving.sort_by_key(|l| std::cmp::Reverse(l.dst_stride.unsigned_abs()));
        all.join();
        let mut pass = Pass::new(all.as_slice(), [src_unit, dst_unit]);
        pass.rows.sort_by_key(|l| l.extent); // the last one is gone through at once
        Way { pass, leaving, step, bytes, longer, reach }
    }
}

impl Work<'_> {
    /// Some rows after the others, or parts of long ones.
    ///
    /// # Safety
    /// All rows, and their padding, must be valid at both places, without overlap, and the source up to its end, which is counted from its
    /// base as its places are.
    unsafe fn pad(&self, rows: &Padded, all: Part, [src, dst]: [Place; 2], end: usize) {
        let [src_unit, dst_unit] = self.units();
        let parts = if all.runs() > 1 { [all; 2] } else { rows.parts(BETWEEN_STEPS) };
        // Elements behind a row have factors of other rows, or none; and wide ones lie on many lines.
        let stays = self.scale.is_along() || BLOCK * src_unit.unsigned_abs() > CONVERT_LONGER;
        let longer = |count: usize| if stays { count } else { count.max(BLOCK) };
        let made =
            parts.map(|part| Made::new(rows, (part.elements(), longer(part.elements())), self.units()));
        let mut room = Buffer::new(made.iter().map(Made::bytes).max().unwrap_or(0));
        let room = Place::near(room.start());
        for first in (0..rows.count).step_by(parts[0].count) {
            let last = usize::from(first + parts[1].count == rows.count);
            let first = first as isize;
            let part = parts[last];
            let from = src.at((first - part.before() as isize) * src_unit);
            let to = dst.at(first * dst_unit * rows.ways as isize - part.reach());
            // SAFETY: a part of every row, with what is behind it if it is the last; there is room for the larger of both.
            unsafe { self.pad_part((rows, part, &made[last]), [from, to, room], end as isize) };
        }
    }

    /// A part of all rows, by way of a room.
    ///
    /// # Safety
    /// As [`Work::pad`].
    unsafe fn pad_part(
        &self,
        (rows, part, made): (&Padded, Part, &Made),
        [src, dst, room]: [Place; 3],
        end: isize,
    ) {
        let [whole, rest] = &made.ways;
        each_place(made.before.as_slice(), src, dst, &mut |src, dst| {
            for first in (0..made.cut.extent).step_by(made.steps) {
                let way = if first + made.steps <= made.cut.extent { whole } else { rest };
                let first = first as isize;
                let (src, dst) = (src.at(first * made.cut.src_stride), dst.at(first * made.cut.dst_stride));
                let pass = way.pass(part.elements(), src, end);
                let look = look_of_rows(self, &pass, src);
                // SAFETY: some steps of the rows, for which there is room. Longer rows end where the source does at most, and fit as well: they are
                // runs of their own, and such lie as far apart in the room. What leaves it are the rows with their padding.
                unsafe {
                    self.convert_looking(&self.conversion, &pass, Form::Plain, [src, room], (look, None));
                    let places = (room.base.cast_const(), dst.byte_of(0));
                    let steps = (way.step, 0);
                    rows.walk(part, way.leaving.as_slice(), steps, places);
                }
            }
        });
    }
}

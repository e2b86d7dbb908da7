//! Rows in two steps, by way of a buffer in the first-level cache: what converts and what packs, or weaves, are each fast alone, and
//! only few pairs of types have a way that does both.

use core::mem::MaybeUninit;

use super::flush::walk_at_level;
use super::forms::BLOCK;
use super::program::Conversion;
use super::rows::{ConvertRows, Form, Lines, Look, Place};
use super::scale::Scale;
use crate::interleave::Interleave;
use crate::lanes::LINE;
use crate::level::Level;
use crate::loops::ONCE;
use crate::nest::Loop;
use crate::tuning::{BETWEEN_STEPS, LEAST_IN_STEPS};

/// Elements of a part of a row, or a multiple: those of whole lines, whatever they are packed to.
const PART: usize = 8 * LINE;

/// Room for what stands between the steps.
#[repr(align(64))]
#[allow(dead_code, reason = "reached by its address only")]
struct Between([u8; BETWEEN_STEPS]);

/// Which step comes first, and the form of the one that only moves elements.
#[derive(Clone, Copy)]
enum Steps {
    /// Elements are converted, then packed, or woven from so many rows with a step from one to the next.
    ConvertsFirst { ways: usize, step: isize },
    /// Elements are woven apart to so many rows, then converted.
    ConvertsLast { ways: usize, step: isize },
}

/// How rows are cut: so many elements of so many rows, of each of some ways.
#[derive(Clone, Copy)]
struct Parts {
    elements: usize,
    rows: usize,
    /// Bytes of an element between the steps.
    bytes: usize,
}

/// The rows of both steps, which are given places part by part.
struct Both<'a> {
    converted: ConvertRows<'a>,
    moved: ConvertRows<'a>,
    level: Level,
    between: Place,
}

impl ConvertRows<'_> {
    /// Converts the rows; false where one step does as well, or there are no two, and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`].
    #[inline(always)]
    pub(super) unsafe fn by_two_steps(&self, level: Level) -> bool {
        match self.steps(level).filter(|_| self.ragged.is_none()) {
            // SAFETY: the caller's promise.
            Some(steps) => unsafe { self.in_two(steps, level) },
            None => return false,
        }
        true
    }

    /// Both steps of all rows, part by part. Not inlined, as the room is much of a page of the stack.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`].
    #[inline(never)]
    unsafe fn in_two(&self, steps: Steps, level: Level) {
        let parts = self.parts(steps);
        let mut between = MaybeUninit::<Between>::uninit();
        let between = Place {
            pitch: (parts.elements * parts.bytes) as isize,
            ..Place::near(between.as_mut_ptr().cast())
        };
        let identity = Conversion::identity(parts.bytes);
        let moved = ConvertRows::new(&identity, [between; 2], Scale::All(1.0));
        let converted = ConvertRows { beyond: ONCE, form: Form::Plain, ..*self };
        let mut both = Both { converted, moved, level, between };
        for turn in 0..self.beyond.extent as isize {
            for row in (0..self.rows).step_by(parts.rows) {
                let from = |place: Place, beyond: isize| place.at(turn * beyond + row as isize * place.pitch);
                let src = from(self.src, self.beyond.src_stride);
                let dst = from(self.dst, self.beyond.dst_stride);
                let rows = parts.rows.min(self.rows - row);
                (both.converted.rows, both.moved.rows) = (rows, rows);
                let mut at = 0;
                while at < self.count {
                    let count = part_of(self.count - at, parts.elements);
                    (both.converted.count, both.moved.count) = (count, count);
                    both.converted.look = match self.look {
                        Look::Strip(ahead) => {
                            let bytes =
                                row as isize * self.src.pitch + (at * self.conversion.src_bytes()) as isize;
                            Look::Strip(ahead.moved(bytes))
                        }
                        look => look,
                    };
                    // SAFETY: a part of the rows, for which there is room.
                    unsafe { both.run(self, steps, (src, dst, at)) };
                    at += count;
                }
            }
        }
    }

    /// The steps, where two are better than one.
    #[inline(always)]
    fn steps(&self, level: Level) -> Option<Steps> {
        let conversion = self.conversion;
        if self.count < BLOCK || conversion.is_identity() || level == Level::Scalar {
            return None;
        }
        // Packed lines have no other way.
        if self.rows * self.beyond.extent * self.form.ways() * self.count < LEAST_IN_STEPS
            && !self.form.is_lines()
        {
            return None;
        }
        // Elements of whole bytes are woven hop by hop, block by block, as fast.
        let is_packed = [self.src, self.dst].iter().any(|place| place.bits.is_some());
        match self.form {
            Form::Plain | Form::Lines => self.dst.bits.map(|_| Steps::ConvertsFirst { ways: 1, step: 0 }),
            Form::Zip { ways, step, .. } => is_packed.then_some(Steps::ConvertsFirst { ways, step }),
            // Between the steps elements have left the places by which their factors are found.
            Form::Unzip { ways, step, lines: Lines::Stored | Lines::Whole } if !self.scale.is_along() => {
                is_packed.then_some(Steps::ConvertsLast { ways, step })
            }
            Form::Unzip { .. } | Form::ZipPairs { .. } | Form::UnzipPairs { .. } => None,
        }
    }

    /// How many elements, and of how many rows, stand between the steps.
    fn parts(&self, steps: Steps) -> Parts {
        let (src, dst) = (self.conversion.src_bytes(), self.conversion.dst_bytes());
        let (ways, bytes) = match steps {
            Steps::ConvertsFirst { ways, .. } => (ways, dst),
            Steps::ConvertsLast { ways, .. } => (ways, src),
        };
        let room = BETWEEN_STEPS / (ways * bytes.max(if ways > 1 { src / 4 } else { src }));
        let elements = if self.count <= room { self.count } else { (room / PART * PART).max(2 * BLOCK) };
        Parts { elements, rows: (room / elements).max(1), bytes }
    }
}

/// Elements of the next part of a row of which so many are left, if a part has at most so many. Parts start lines, so that none steps
/// back; the last one is no less than a block.
fn part_of(left: usize, most: usize) -> usize {
    match left.checked_sub(most) {
        None | Some(0) => left,
        Some(rest) if rest < BLOCK => most / 2,
        Some(_) => most,
    }
}

impl Both<'_> {
    /// Both steps of some elements, from one on, of some rows.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for these; there must be room for them between the steps.
    unsafe fn run(&mut self, all: &ConvertRows<'_>, steps: Steps, (src, dst, at): (Place, Place, usize)) {
        let on = |place: Place, bytes: usize, ways: usize| place.at((at * ways * place.unit(bytes)) as isize);
        let (src_bytes, dst_bytes) = (all.conversion.src_bytes(), all.conversion.dst_bytes());
        let of_way = self.moved.rows as isize * self.between.pitch;
        let Both { converted, moved, level, between } = self;
        // SAFETY: the steps lead from the elements to the room, way by way, and from there to where they are written.
        unsafe {
            match steps {
                Steps::ConvertsFirst { ways, step } => {
                    converted.each_way([on(src, src_bytes, 1), *between], ways, [step, of_way], *level);
                    moved.form = match all.form {
                        Form::Zip { ways, stream, .. } => Form::Zip { ways, step: of_way, stream },
                        form => form,
                    };
                    (moved.src, moved.dst) = (*between, on(dst, dst_bytes, ways));
                    if !moved.zip(*level) {
                        moved.at_level(*level);
                    }
                }
                Steps::ConvertsLast { ways, step } => {
                    moved.form = Form::Unzip { ways, step: of_way, lines: Lines::Stored };
                    (moved.src, moved.dst, moved.look) = (on(src, src_bytes, ways), *between, all.look);
                    moved.at_level(*level);
                    let is_whole = matches!(all.form, Form::Unzip { lines: Lines::Whole, .. });
                    (converted.form, converted.look) =
                        (if is_whole { Form::Lines } else { Form::Plain }, Look::Nowhere);
                    converted.each_way([*between, on(dst, dst_bytes, 1)], ways, [of_way, step], *level);
                }
            }
        }
    }
}

impl ConvertRows<'_> {
    /// Weaves rows of a buffer to elements of whole bytes, with no fence for each part, as a mover would have; false where there is
    /// another way, and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`]; a fence is then due.
    unsafe fn zip(&self, level: Level) -> bool {
        let Form::Zip { ways, step, stream } = self.form else { return false };
        let bytes = self.conversion.dst_bytes();
        let rows = [Loop { extent: self.rows, src_stride: self.src.pitch, dst_stride: self.dst.pitch }];
        let unit = bytes as isize;
        let along = Loop { extent: self.count, src_stride: unit, dst_stride: unit * ways as isize };
        let across = Loop { extent: ways, src_stride: step, dst_stride: unit };
        let (past, places) = (stream.then_some(0), (self.src.byte_of(0).cast_const(), self.dst.byte_of(0)));
        macro_rules! zip {
            ($($e:literal $k:literal)*) => {
                match (bytes, ways) {
                    // SAFETY: the caller's promise.
                    $(($e, $k) if self.dst.bits.is_none() => unsafe {
                        walk_at_level(level, &rows, places, Interleave::<$e, $k> { along, across, past, whole_rows: 0 })
                    })*
                    _ => false,
                }
            };
        }
        zip!(1 2 1 4 1 8 2 2 2 4 4 2)
    }

    /// Converts the rows of every way from two places on, with a step each from way to way: all of a way as one row where they follow
    /// one another, as entering a level takes as long as some dozen elements.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for all ways.
    unsafe fn each_way(&self, places: [Place; 2], ways: usize, steps: [isize; 2], level: Level) {
        let bytes = [self.conversion.src_bytes(), self.conversion.dst_bytes()];
        let follow =
            |(place, bytes): (Place, usize)| place.pitch == (self.count * place.unit(bytes)) as isize;
        let are_one = self.rows == 1 || places.into_iter().zip(bytes).all(follow);
        let [src, dst] = places;
        // SAFETY: the caller's promise.
        unsafe {
            if are_one {
                let [src, dst] = [Place { pitch: steps[0], ..src }, Place { pitch: steps[1], ..dst }];
                let count = self.rows * self.count;
                return ConvertRows { src, dst, rows: ways, count, ..*self }.at_level(level);
            }
            for way in 0..ways as isize {
                let (src, dst) = (src.at(way * steps[0]), dst.at(way * steps[1]));
                ConvertRows { src, dst, ..*self }.at_level(level);
            }
        }
    }
}

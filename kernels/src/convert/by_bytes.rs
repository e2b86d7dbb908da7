//! Packed elements with factors of their own, on either side: block by block, by way of a room in the second-level cache where they have a
//! byte each.
//!
//! What unpacks, packs and permutes bytes has ways of its own for any order, and so has what converts bytes with factors. In the room
//! elements lie as the other side wants them, so the digits of a place that tell its factor are those of the room.

use core::num::NonZeroUsize;

use super::converter::{Converter, Work};
use super::flush::Buffer;
use super::forms::BLOCK;
use super::program::Conversion;
use super::rows::Place;
use super::scale::{Along, Scale, StepDigit, Steps};
use super::tile::{Cut, Pass, each_tile, part};
use crate::level::Level;
use crate::loops::{Loops, MAX_LOOPS};
use crate::nest::Loop;
use crate::slots::SlotWidth;
use crate::tuning::{BYTES_ROOM, BYTES_RUNS, LEAST_BY_BYTES};

/// A nest that goes by way of bytes.
pub(super) struct ByBytes<'a> {
    work: Work<'a>,
    loops: Loops,
    cut: Cut,
    /// From one step of each loop to the next in the room, in bytes.
    room: [isize; MAX_LOOPS],
    /// What each loop counts for where elements are unpacked first, and find their factors in the room; none where they are packed last.
    steps: Option<Steps>,
}

impl<'a> ByBytes<'a> {
    /// Where elements have factors of their own, there are enough of them, and they do not lie in rows on both sides.
    pub(super) fn new(work: Work<'a>, loops: &[Loop], [src, dst]: [Place; 2]) -> Option<ByBytes<'a>> {
        let elements = loops.iter().fold(1usize, |product, l| product.saturating_mul(l.extent));
        let Scale::Along(along) = &work.scale else { return None };
        let is_packed = src.bits.or(dst.bits).is_some() && work.conversion.parts() == 1;
        if !work.has_factors() || !is_packed || work.level == Level::Scalar || elements < LEAST_BY_BYTES {
            return None;
        }
        let units @ [src_unit, dst_unit] = work.units();
        if Pass::new(loops, units).run >= BLOCK {
            return None;
        }
        let mut loops = Loops::of(loops);
        let mut steps = None;
        if src.bits.is_some() {
            loops = along.apart(loops.as_slice())?;
            steps = Some(along.steps(src.first, loops.as_slice())?);
        }
        let all = loops.as_slice();
        let mut cuts = BYTES_RUNS.into_iter().map(|run| Cut::with_runs(all, units, [run; 2], (1, 0)));
        let cut = cuts.find(|cut| cut.room <= BYTES_ROOM)?;
        let room = match src.bits {
            Some(_) => in_order(all, &cut.chunks, |l| l.dst_stride, dst_unit),
            None => in_order(all, &cut.chunks, |l| l.src_stride, src_unit),
        };
        Some(ByBytes { work, loops, cut, room, steps })
    }

    /// Moves all of them.
    ///
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap. A fence is then due.
    pub(super) unsafe fn run(&self, src: Place, dst: Place) {
        let bytes = self.cut.chunks[..self.loops.as_slice().len()].iter().product();
        let mut room = Buffer::unwritten(bytes);
        let room = Place::near(room.start());
        each_tile(self.loops.as_slice(), &self.cut, [src, dst], |extents, places, _| {
            // SAFETY: the places of a block are places of the nest, and there is room for its elements.
            unsafe {
                match &self.steps {
                    Some(steps) => self.unpack(steps, extents, places, room),
                    None => self.pack(extents, places, room),
                }
            }
        });
    }

    /// The loops of a block into the room, and out of it.
    fn passes(&self, extents: &[usize; MAX_LOOPS]) -> [Loops; 2] {
        let (loops, room) = (self.loops.as_slice(), &self.room);
        let mut passes = [
            part(loops, extents, |i| [loops[i].src_stride, room[i]]),
            part(loops, extents, |i| [room[i], loops[i].dst_stride]),
        ];
        passes.iter_mut().for_each(Loops::join);
        passes
    }

    /// Unpacks a block, and converts it.
    ///
    /// # Safety
    /// As [`ByBytes::run`], for a block.
    unsafe fn unpack(
        &self,
        steps: &Steps,
        extents: &[usize; MAX_LOOPS],
        [src, dst]: [Place; 2],
        room: Place,
    ) {
        let Scale::Along(along) = self.work.scale else { return };
        let ([into, out], digits) = (self.passes(extents), self.digits(steps));
        let start = 0usize.wrapping_sub(along.first_step(src.first));
        let along = Along { digits: digits.as_slice(), first: 0, start, ..along };
        let (all, bytes, one) = (self.work.converter, SlotWidth::Bytes(1), Scale::All(1.0));
        let unpacks =
            Converter { conversion: Conversion::identity(1), dst: bytes, scale: one, stream: false, ..*all };
        let converts = Converter { src: bytes, scale: Scale::Along(along), ..*all };
        // SAFETY: the caller's promise; one pass writes what the other reads.
        unsafe {
            self.by(&unpacks).nest(into.as_slice(), src, room);
            self.by(&converts).nest(out.as_slice(), room, dst);
        }
    }

    /// Converts a block, and packs it.
    ///
    /// # Safety
    /// As [`ByBytes::run`], for a block.
    unsafe fn pack(&self, extents: &[usize; MAX_LOOPS], [src, dst]: [Place; 2], room: Place) {
        let [into, out] = self.passes(extents);
        let (all, bytes, one) = (self.work.converter, SlotWidth::Bytes(1), Scale::All(1.0));
        let converts = Converter { dst: bytes, stream: false, ..*all };
        let packs = Converter { conversion: Conversion::identity(1), src: bytes, scale: one, ..*all };
        // SAFETY: as above.
        unsafe {
            self.by(&converts).nest(into.as_slice(), src, room);
            self.by(&packs).nest(out.as_slice(), room, dst);
        }
    }

    /// What another converter does with what was made for this one.
    fn by<'c>(&self, converter: &'c Converter<'c>) -> Work<'c>
    where
        'a: 'c,
    {
        Work { converter, made: self.work.made }
    }

    /// The digits by which places of the room tell their factors.
    fn digits(&self, steps: &Steps) -> Digits {
        let mut order: [usize; MAX_LOOPS] = core::array::from_fn(|i| i);
        let order = &mut order[..self.loops.as_slice().len()];
        order.sort_unstable_by_key(|&i| self.room[i]);
        let mut digits = Digits { digits: [NO_DIGIT; MAX_LOOPS], len: 0 };
        for &i in order.iter().filter(|&&i| self.cut.chunks[i] > 1) {
            digits.push(self.room[i].unsigned_abs(), self.cut.chunks[i], steps.0[i]);
        }
        digits
    }
}

/// Strides of a block's elements that lie as a side has them, one behind the other; words of a few rows as these rows.
fn in_order(
    loops: &[Loop],
    chunks: &[usize; MAX_LOOPS],
    stride: impl Fn(&Loop) -> isize,
    unit: isize,
) -> [isize; MAX_LOOPS] {
    let mut order: [usize; MAX_LOOPS] = core::array::from_fn(|i| i);
    let order = &mut order[..loops.len()];
    order.sort_unstable_by_key(|&i| stride(&loops[i]).unsigned_abs());
    if let [word, along, ..] = *order
        && stride(&loops[word]) == unit
        && loops[word].extent <= 8
        && stride(&loops[along]) == unit * loops[word].extent as isize
    {
        order.swap(0, 1);
    }
    let (mut strides, mut span) = ([0; MAX_LOOPS], 1);
    for &i in order.iter() {
        strides[i] = span;
        span *= chunks[i] as isize;
    }
    strides
}

/// A digit that counts for nothing.
const NO_DIGIT: StepDigit = StepDigit { stride: NonZeroUsize::MIN, modulus: NonZeroUsize::MIN, unit: 0 };

/// A few digits, the fastest first.
struct Digits {
    digits: [StepDigit; MAX_LOOPS],
    len: usize,
}

impl Digits {
    /// One more: so many values, a stride apart, each of which counts for so many steps.
    fn push(&mut self, stride: usize, count: usize, unit: usize) {
        let (Some(stride), Some(modulus)) = (NonZeroUsize::new(stride), NonZeroUsize::new(stride * count))
        else {
            return;
        };
        let digit = StepDigit { stride, modulus, unit };
        match self.digits[..self.len].last_mut() {
            Some(last) if last.goes_on_as(&digit) => last.modulus = modulus,
            _ if unit == 0 => {}
            _ => {
                self.digits[self.len] = digit;
                self.len += 1;
            }
        }
    }

    fn as_slice(&self) -> &[StepDigit] {
        &self.digits[..self.len]
    }
}

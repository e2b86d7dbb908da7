//! Packed elements with factors of their own, on either side: block by block, by way of a room in the second-level cache where they have a
//! byte each.
//!
//! What unpacks, packs and permutes bytes has ways of its own for any order, and so has what converts bytes with factors. In the room
//! elements lie as the other side wants them, so the digits of a place that tell its factor are those of the room.

use super::converter::{Converter, Work};
use super::digits::Digits;
use super::flush::Buffer;
use super::forms::BLOCK;
use super::program::Conversion;
use super::rows::Place;
use super::scale::Scale;
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
    /// By which elements find their factors in the room where they are unpacked first; none where they are packed last.
    digits: Option<Digits>,
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
        let unpacks = src.bits.is_some();
        let loops = if unpacks { along.apart(loops)? } else { Loops::of(loops) };
        let all = loops.as_slice();
        let mut cuts = BYTES_RUNS.into_iter().map(|run| Cut::with_runs(all, units, [run; 2], (1, 0)));
        let cut = cuts.find(|cut| cut.room <= BYTES_ROOM)?;
        let room = match unpacks {
            true => in_order(all, &cut.chunks, |l| l.dst_stride, dst_unit),
            false => in_order(all, &cut.chunks, |l| l.src_stride, src_unit),
        };
        let digits = match unpacks {
            true => Some(along.digits_of(src.first, all, (&room, &cut.chunks))?),
            false => None,
        };
        Some(ByBytes { work, loops, cut, room, digits })
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
                match &self.digits {
                    Some(digits) => self.unpack(digits, extents, places, room),
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
    unsafe fn unpack(&self, digits: &Digits, extents: &[usize; MAX_LOOPS], places: [Place; 2], room: Place) {
        let Scale::Along(along) = self.work.scale else { return };
        let scale = Scale::Along(along.moved(places[0].first, digits));
        let unpacks = Converter { dst: BYTES, stream: false, ..self.moves() };
        let converts = Converter { src: BYTES, scale, ..*self.work.converter };
        // SAFETY: the caller's promise.
        unsafe { self.both([&unpacks, &converts], extents, places, room) };
    }

    /// Converts a block, and packs it.
    ///
    /// # Safety
    /// As [`ByBytes::run`], for a block.
    unsafe fn pack(&self, extents: &[usize; MAX_LOOPS], places: [Place; 2], room: Place) {
        let converts = Converter { dst: BYTES, stream: false, ..*self.work.converter };
        let packs = Converter { src: BYTES, ..self.moves() };
        // SAFETY: the caller's promise.
        unsafe { self.both([&converts, &packs], extents, places, room) };
    }

    /// What leaves elements as they are.
    fn moves(&self) -> Converter<'a> {
        Converter { conversion: Conversion::identity(1), scale: Scale::All(1.0), ..*self.work.converter }
    }

    /// Moves a block into the room, and out of it.
    ///
    /// # Safety
    /// As [`ByBytes::run`], for a block, between such slots as the converters have.
    unsafe fn both(
        &self,
        [first, last]: [&Converter<'_>; 2],
        extents: &[usize; MAX_LOOPS],
        [src, dst]: [Place; 2],
        room: Place,
    ) {
        let ([into, out], made) = (self.passes(extents), self.work.made);
        // SAFETY: the caller's promise; one pass writes what the other reads.
        unsafe {
            Work { converter: first, made }.nest(into.as_slice(), src, room);
            Work { converter: last, made }.nest(out.as_slice(), room, dst);
        }
    }
}

/// Slots of the room.
const BYTES: SlotWidth = SlotWidth::Bytes(1);

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

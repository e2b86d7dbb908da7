//! A tile's way: read and converted, permuted, converted and written, each where it is needed.

use super::converter::{Converter, Work};
use super::flush::{Buffer, flush, streams};
use super::forms::BLOCK;
use super::permutation::{Permutation, Permutations};
use super::program::Conversion;
use super::rows::{Form, Place};
use super::tile::{Cut, Pass, each_tile, part};
use crate::lanes::LINE;
use crate::level::Level;
use crate::loops::{Loops, MAX_LOOPS};
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::slots::SlotWidth;
use crate::tuning::TILE_IN_STEPS;

/// Rows of fewer elements than this are not worth converting one by one, if the other side has longer ones.
pub(super) const SHORT: usize = 16;

/// Rows of so many are converted one by one, and of half as many where they are packed; shorter ones as a longer row of either side, if
/// there is one, and put into their order as bytes.
const LONG: usize = 256;

/// What is done at either end of the permutation; none is needed where elements are there as they are.
#[derive(Clone, Copy)]
struct Ends {
    first: Option<Conversion>,
    /// True where elements keep their order, so that the first end is all.
    is_all: bool,
    last: Option<Conversion>,
    /// Bytes of an element between the ends.
    between: usize,
}

impl Ends {
    /// The narrower form is permuted, unless the rows of its side are short, or elements have factors, which their places in
    /// the source tell.
    fn new(converter: &Converter<'_>, loops: &[Loop], cut: &Cut) -> Ends {
        let conversion = converter.conversion;
        let run = Pass::new(loops, converter.units()).run;
        let long = if matches!(converter.dst, SlotWidth::Bits(_)) { LONG / 2 } else { LONG };
        if run >= SHORT && (run >= long || cut.runs.iter().all(|&longer| longer < 2 * run)) {
            return Ends { first: Some(conversion), is_all: true, last: None, between: 0 };
        }
        let packed = |width| matches!(width, SlotWidth::Bits(_)).then(|| Conversion::identity(1));
        // What is only moved, and in the cache, is there as it is; else reading it row by row brings it there.
        let is_there = conversion.is_identity() && !converter.stream;
        if is_there && [converter.src, converter.dst].iter().all(|side| matches!(side, SlotWidth::Bytes(_))) {
            return Ends { first: None, is_all: false, last: None, between: conversion.dst_bytes() };
        }
        let [src_run, dst_run] = cut.runs;
        let narrows = conversion.dst_bytes() <= conversion.src_bytes();
        let converts_first = converter.has_factors()
            || match narrows {
                true => src_run >= SHORT || src_run >= dst_run,
                false => dst_run < SHORT && dst_run < src_run,
            };
        match converts_first {
            true => Ends {
                first: Some(conversion),
                is_all: false,
                last: packed(converter.dst),
                between: conversion.dst_bytes(),
            },
            false => Ends {
                first: packed(converter.src),
                is_all: false,
                last: Some(conversion),
                between: conversion.src_bytes(),
            },
        }
    }
}

/// The passes of a tile of some extents.
#[derive(Clone, Copy)]
struct Passes {
    first: Option<Pass>,
    permutation: Option<Permutations>,
    last: Option<Pass>,
    /// From the last buffer to the destination; where nothing is streamed, or the pass before writes whole lines, that
    /// pass writes there.
    flush: Option<Pass>,
    /// What the last pass but a flush is besides rows.
    form: Form,
}

/// All tiles of a nest.
pub(super) struct Tiles<'a> {
    converter: Work<'a>,
    loops: &'a [Loop],
    cut: &'a Cut,
    ends: Ends,
    /// After the first end, after the permutation, before the flush.
    buffers: [Buffer; 3],
    /// Between the steps of a permutation, once it has some.
    between: [Option<Buffer>; 2],
    /// What was made for the last tile, for the next of the same extents.
    made: Option<([usize; MAX_LOOPS], [bool; 2], Passes)>,
}

impl<'a> Tiles<'a> {
    pub(super) fn new(converter: Work<'a>, loops: &'a [Loop], cut: &'a Cut) -> Tiles<'a> {
        let ends = Ends::new(&converter, loops, cut);
        let buffers = [0; 3].map(Buffer::new);
        Tiles { converter, loops, cut, ends, buffers, between: [None, None], made: None }
    }

    /// Makes room for a tile.
    fn make_room(&mut self) {
        let (converter, ends) = (&self.converter, self.ends);
        let room = |wanted: bool, bytes: usize| Buffer::new(if wanted { self.cut.room * bytes } else { 0 });
        self.buffers = [
            room(ends.first.is_some() && !ends.is_all, ends.between),
            room(ends.last.is_some(), ends.between),
            room(converter.stream, converter.conversion.dst_bytes()),
        ];
    }

    /// Moves one tile, and asks for what the next one reads, if there is one.
    ///
    /// # Safety
    /// The tile's slots must be valid at the two places, without overlap.
    pub(super) unsafe fn run(
        &mut self,
        extents: &[usize; MAX_LOOPS],
        [src, dst]: [Place; 2],
        next: Option<Place>,
    ) {
        let starts_byte = dst.first % dst.bits.map_or(1, |bits| 8 / bits as isize) == 0;
        let starts = [starts_byte, starts_byte && dst.byte_of(0).addr().is_multiple_of(LINE)];
        if !matches!(&self.made, Some((of, of_starts, _)) if of == extents && *of_starts == starts) {
            self.made = Some((*extents, starts, self.passes(extents, starts)));
        }
        let [first, permuted, last] = self.buffers.each_mut().map(Buffer::start);
        let between = [0, 1].map(|number| self.between(number));
        let Some((_, _, passes)) = &self.made else { return };
        let buffer = |base, bits| Place { bits, base, first: 0, pitch: 0, is_near: true };
        let end = if passes.flush.is_some() { buffer(last, dst.bits) } else { dst };
        let (converter, mut from) = (self.converter, src);
        // SAFETY: the passes lead from the source's slots by way of the buffers, which have room for a tile, to the
        // destination's slots.
        unsafe {
            if let (Some(conversion), Some(pass)) = (&self.ends.first, &passes.first) {
                let to = if self.ends.is_all { end } else { buffer(first, None) };
                // What lies in packed slots is not asked for by lines.
                let next = next.filter(|next| next.bits.is_none());
                converter.convert(conversion, pass, Form::Plain, [from, to], next);
                from = to;
            }
            if let Some(permutation) = &passes.permutation {
                let to = if self.ends.last.is_some() { buffer(permuted, None) } else { end };
                permute(permutation, converter.level, (from.byte_of(0), to.byte_of(0)), between);
                from = to;
            }
            if let (Some(conversion), Some(pass)) = (&self.ends.last, &passes.last) {
                converter.convert(conversion, pass, passes.form, [from, end], None);
            }
            if let Some(pass) = &passes.flush {
                flush(converter.level, pass.rows.as_slice(), end.base, dst.byte_of(0), pass.run);
            }
        }
    }

    /// Room between two steps of the permutation, if it has so many.
    fn between(&mut self, number: usize) -> *mut u8 {
        let permutation = self.made.as_ref().and_then(|(_, _, passes)| passes.permutation.as_ref());
        if permutation.is_none_or(|steps| steps.as_slice().len() < number + 2) {
            return core::ptr::null_mut();
        }
        let bytes = self.cut.room * self.ends.between;
        self.between[number].get_or_insert_with(|| Buffer::new(bytes)).start()
    }

    /// True where families of kernels permute a tile, none of which goes element by element, with room for it in the caches.
    fn are_moved_by_families(&self) -> bool {
        let Passes { permutation, .. } = self.passes(&self.cut.chunks, [true; 2]);
        let goes = |step: &Permutation| step.family != Family::Strided;
        let is_small = self.cut.room * self.ends.between <= TILE_IN_STEPS;
        is_small && permutation.is_some_and(|steps| steps.as_slice().iter().all(goes))
    }

    fn passes(&self, extents: &[usize; MAX_LOOPS], [starts_byte, starts_line]: [bool; 2]) -> Passes {
        let (cut, ends) = (self.cut, self.ends);
        let [src_unit, dst_unit] = self.converter.units();
        let between = ends.between as isize;
        let loops = |strides: &dyn Fn(usize) -> [isize; 2]| part(self.loops, extents, strides);
        let pass = |strides: &dyn Fn(usize) -> [isize; 2], units| Pass::new(loops(strides).as_slice(), units);
        let (src, dst) = (|i: usize| self.loops[i].src_stride, |i: usize| self.loops[i].dst_stride);
        let flush = self.flush(loops(&|i| [cut.dst_order[i] * dst_unit, dst(i)]), starts_byte);
        let (src_end, dst_end) = (|i: usize| cut.src_order[i] * between, |i: usize| cut.dst_order[i]);
        let read = |i: usize| if ends.first.is_some() { src_end(i) } else { src(i) };
        let whole = flush.filter(|pass| starts_line && self.writes_lines(pass));
        let (flush, form) = if whole.is_some() { (None, Form::Lines) } else { (flush, Form::Plain) };
        let end = |i: usize| if flush.is_some() { dst_end(i) * dst_unit } else { dst(i) };
        if ends.is_all {
            let pass = pass(&|i| [src(i), end(i)], [src_unit, dst_unit]);
            return Passes { first: Some(pass), permutation: None, last: None, flush, form };
        }
        let permuted = |i: usize| if ends.last.is_some() { dst_end(i) * between } else { end(i) };
        Passes {
            first: ends.first.map(|_| pass(&|i| [src(i), src_end(i)], [src_unit, between])),
            permutation: Some(Permutations::new(loops(&|i| [read(i), permuted(i)]).as_slice(), ends.between)),
            last: ends.last.map(|_| pass(&|i| [permuted(i), end(i)], [between, dst_unit])),
            flush,
            form,
        }
    }

    /// True where the pass before can write a flush's runs itself, past the cache, because they are whole lines.
    fn writes_lines(&self, flush: &Pass) -> bool {
        let Converter { dst, ref conversion, .. } = *self.converter;
        let strides = |l: &Loop| l.dst_stride.unsigned_abs().is_multiple_of(LINE);
        let fits = match self.ends.last {
            Some(last) if matches!(dst, SlotWidth::Bits(_)) => last.is_identity(),
            Some(_) => flush.run >= BLOCK * conversion.dst_bytes(),
            None => false,
        };
        fits && flush.run.is_multiple_of(LINE) && flush.rows.as_slice().iter().all(strides)
    }

    /// The pass that streams, its runs in bytes; none where runs share bytes with what is beside them.
    fn flush(&self, loops: Loops, starts_byte: bool) -> Option<Pass> {
        let Converter { dst, level, stream, ref conversion, .. } = *self.converter;
        if !stream || !streams(level) {
            return None;
        }
        let SlotWidth::Bits(bits) = dst else {
            let unit = conversion.dst_bytes();
            let pass = Pass::new(loops.as_slice(), [unit as isize; 2]);
            return Some(Pass { run: pass.run * unit, ..pass });
        };
        let per_byte = 8 / bits as usize;
        let pass = Pass::new(loops.as_slice(), [1, 1]);
        let rows = pass.rows.as_slice();
        let whole = |stride: isize| stride % per_byte as isize == 0;
        let fits =
            starts_byte && pass.run.is_multiple_of(per_byte) && rows.iter().all(|l| whole(l.dst_stride));
        let in_bytes = |l: &Loop| Loop {
            src_stride: l.src_stride / per_byte as isize,
            dst_stride: l.dst_stride / per_byte as isize,
            ..*l
        };
        let mut bytes = Loops::default();
        rows.iter().for_each(|l| bytes.push(in_bytes(l)));
        fits.then_some(Pass { run: pass.run / per_byte, rows: bytes })
    }
}

impl Work<'_> {
    /// Tile by tile, along the source.
    ///
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap.
    pub(super) unsafe fn tiles(&self, loops: &[Loop], src: Place, dst: Place) {
        let cut = self.cut(loops);
        // SAFETY: the caller's promise, for both.
        unsafe {
            match self.is_loose(&cut, src, dst) {
                true => self.loose(loops, src, dst),
                false => Tiles::new(*self, loops, &cut).each(src, dst),
            }
        }
    }

    /// The same where families of kernels permute the tiles; false where they do not, and nothing was done.
    ///
    /// # Safety
    /// As [`Work::tiles`].
    pub(super) unsafe fn tiles_by_families(&self, loops: &[Loop], src: Place, dst: Place) -> bool {
        let cut = self.cut(loops);
        let tiles = Tiles::new(*self, loops, &cut);
        let are_moved = tiles.are_moved_by_families();
        if are_moved {
            // SAFETY: the caller's promise.
            unsafe { tiles.each(src, dst) }
        }
        are_moved
    }

    fn cut(&self, loops: &[Loop]) -> Cut {
        let bits = |width, bytes: usize| match width {
            SlotWidth::Bits(bits) => bits as usize,
            SlotWidth::Bytes(_) => 8 * bytes,
        };
        let [src_bytes, dst_bytes] = [self.conversion.src_bytes(), self.conversion.dst_bytes()];
        Cut::new(loops, self.units(), [bits(self.src, src_bytes), bits(self.dst, dst_bytes)], self.stream)
    }
}

impl Tiles<'_> {
    /// All of them, along the source.
    ///
    /// # Safety
    /// As [`Work::tiles`].
    unsafe fn each(mut self, src: Place, dst: Place) {
        self.make_room();
        each_tile(self.loops, self.cut, [src, dst], |extents, places, next| {
            // SAFETY: the places of a tile are places of the nest.
            unsafe { self.run(extents, places, next) };
        });
    }
}

/// Permutes what is in the cache, step by step.
///
/// # Safety
/// All places of the permutation must be valid at the two places, and there must be room for all of its elements between the steps.
unsafe fn permute(
    steps: &Permutations,
    level: Level,
    (mut src, dst): (*mut u8, *mut u8),
    between: [*mut u8; 2],
) {
    for (number, step) in steps.as_slice().iter().enumerate() {
        let to = if number + 1 == steps.as_slice().len() { dst } else { between[number % 2] };
        let (family, element_bytes) = (step.family, step.bytes);
        // SAFETY: the caller's promise; what one step makes the next one reads.
        unsafe {
            Mover { family, element_bytes, level, stream: false }.dispatch(step.loops.as_slice(), src, to)
        };
        src = to;
    }
}

//! Nests, or parts of them, that fit into a cache: converted and permuted by way of a room, which is the first-level cache's where
//! elements are woven, and the second-level one's where they are transposed.

use core::cmp::Reverse;
use core::mem::MaybeUninit;

use super::converter::{Work, each_place};
use super::flush::Buffer;
use super::forms::BLOCK;
use super::parts::Parts;
use super::passes::SHORT;
use super::permutation::Permutation;
use super::rows::{Form, Place};
use super::tile::Pass;
use crate::loops::Loops;
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::tuning::{CONVERT_PIECE, LEAST_ELEMENTS, MUCH_LONGER, SMALL, TRANSPOSED};

/// Room for the elements of a nest, or a part of one, where they lie one behind the other.
#[repr(align(64))]
#[allow(dead_code, reason = "reached by its address only")]
pub(super) struct Room([u8; SMALL]);

/// The two passes of a nest, by way of a room.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passes {
    /// Bytes of the room.
    bytes: usize,
    /// True where what is permuted was converted before.
    converts_first: bool,
    converted: Pass,
    permuted: Permutation,
}

impl Passes {
    fn transpose(&self) -> bool {
        self.permuted.family == Family::Transpose
    }

    /// Room for what is too large for the stack.
    fn far_room(&self) -> Option<Buffer> {
        (self.bytes > SMALL).then(|| Buffer::unwritten(self.bytes))
    }

    /// True where elements are woven, or only moved.
    fn weave(&self) -> bool {
        matches!(self.permuted.family, Family::Rows | Family::Interleave | Family::Deinterleave)
    }
}

impl Work<'_> {
    /// The passes of a nest of whole bytes that is small, and stays in the cache; none where it is not, or where elements stay as they are
    /// or do not lie in rows. Those with factors of their own, which their places in the source tell, are converted first.
    pub(super) fn as_one_tile(&self, loops: &[Loop]) -> Option<Passes> {
        if self.conversion.is_identity() {
            return None;
        }
        let ways = [self.converts_first(self.runs(loops)), self.narrows()];
        let ways = if self.has_factors() { [true; 2] } else { ways };
        // If there is no room for the wider form, there may be for the narrower one.
        let within = |room: usize| ways.into_iter().find(|&way| self.bytes_between(loops, way) <= room);
        let far = || within(TRANSPOSED).filter(|_| self.has_long_rows(loops));
        let passes = self.passes_of(loops, within(SMALL).or_else(far)?);
        if passes.bytes > SMALL && !passes.transpose() {
            return None;
        }
        // Many elements that no family moves are moved step by step.
        let elements = loops.iter().map(|l| l.extent).product::<usize>();
        let by_steps = passes.permuted.family == Family::Strided && elements >= LEAST_ELEMENTS;
        (passes.converted.run >= SHORT && !by_steps).then_some(passes)
    }

    /// The same for as many elements of a larger nest at a time as there is room for, where rows are shorter than a block, and moved or
    /// woven, or where they are longer and transposed before they become wider, and a part has a block of the other side's, too. False
    /// elsewhere, as where slots have no whole bytes, and nothing was done: the rest had better go by tiles that reach as far on either side.
    /// Past the cache only what is transposed goes so, and leaves it as long rows.
    ///
    /// # Safety
    /// Every slot that the loops reach from the two places must be valid there, without overlap.
    pub(super) unsafe fn in_parts(&self, loops: &[Loop], src: Place, dst: Place) -> bool {
        let has_whole_bytes = src.bits.is_none() && dst.bits.is_none();
        if self.has_factors() || self.conversion.is_identity() || !has_whole_bytes {
            return false;
        }
        let converts_first = self.converts_first(self.runs(loops));
        let is_long = self.has_long_rows(loops);
        if is_long && converts_first {
            return false;
        }
        let stride = |l: &Loop| if converts_first { l.src_stride } else { l.dst_stride };
        let mut order = Loops::of(loops);
        order.sort_by_key(|l| Reverse(stride(l).unsigned_abs()));
        let room = if is_long { TRANSPOSED } else { SMALL };
        let parts = Parts::new(order.as_slice(), room / self.width_between(converts_first));
        let chunks = parts.chunks();
        let passes = |steps: usize| self.passes_of(parts.part(steps).as_slice(), converts_first);
        let whole = passes(chunks[0]);
        let is_row = || whole.converted.run * self.conversion.dst_bytes() >= CONVERT_PIECE;
        let pays = match is_long {
            true => whole.transpose() && self.reads_blocks(loops, &parts.part(chunks[0])),
            false => !self.stream && whole.weave(),
        };
        let pays = pays && (!self.stream || is_row());
        if whole.converted.run < SHORT || !pays {
            return false;
        }
        let last = passes(chunks[1]);
        let mut far = whole.far_room();
        parts.each(src, dst, &mut |steps, [src, dst]| {
            let passes = if steps == chunks[0] { &whole } else { &last };
            // SAFETY: a part of the loops, whose passes these are, and room for a whole one.
            unsafe {
                match &mut far {
                    Some(far) => self.by_way_of(far.start(), passes, src, dst),
                    None => self.by_passes(passes, src, dst),
                }
            }
        });
        true
    }

    /// True where a part of the loops reads a block one behind the other, or all that is; two past the cache, where single lines that lie
    /// apart are read at half the speed.
    fn reads_blocks(&self, loops: &[Loop], part: &Loops) -> bool {
        let [src_unit, _] = self.units();
        let least = if self.stream { 2 * BLOCK } else { BLOCK };
        let extent = |loops: &[Loop]| loops.iter().find(|l| l.src_stride == src_unit).map_or(1, |l| l.extent);
        extent(part.as_slice()) >= least.min(extent(loops))
    }

    /// Converts and permutes a nest by its passes. Not inlined, as the room is some pages of the stack.
    ///
    /// # Safety
    /// Every slot of the nest that the passes were made for must be valid at the two places, without overlap.
    #[inline(never)]
    pub(super) unsafe fn by_passes(&self, passes: &Passes, src: Place, dst: Place) {
        let mut room = MaybeUninit::<Room>::uninit();
        // SAFETY: the caller's promise; either room has place for all elements.
        unsafe {
            match &mut passes.far_room() {
                Some(far) => self.by_way_of(far.start(), passes, src, dst),
                None => self.by_way_of(room.as_mut_ptr().cast(), passes, src, dst),
            }
        }
    }

    /// The same by way of a room.
    ///
    /// # Safety
    /// As [`Work::by_passes`]; there must be as many bytes of room as the passes need.
    unsafe fn by_way_of(&self, room: *mut u8, passes: &Passes, src: Place, dst: Place) {
        let Passes { converts_first, converted, permuted, .. } = passes;
        let between = Place::near(room);
        let mover = Mover {
            family: permuted.family,
            element_bytes: permuted.bytes,
            level: self.level,
            stream: false,
        };
        let permuted = permuted.loops.as_slice();
        // SAFETY: the caller's promise; one pass writes what the other reads.
        unsafe {
            if *converts_first {
                self.convert(&self.conversion, converted, Form::Plain, [src, between], None);
                mover.dispatch(permuted, between.base, dst.byte_of(0));
            } else {
                mover.dispatch(permuted, src.byte_of(0), between.base);
                match self.stream {
                    true => each_place(converted.rows.as_slice(), between, dst, &mut |src, dst| {
                        self.stream_row(src, dst, converted.run);
                    }),
                    false => self.convert(&self.conversion, converted, Form::Plain, [between, dst], None),
                }
            }
        }
    }

    /// True where elements are converted before they are permuted: the narrower form is, unless rows of its side are shorter than a block,
    /// and those of the other are longer; much longer, where more would be permuted.
    fn converts_first(&self, [src_run, dst_run]: [usize; 2]) -> bool {
        match self.narrows() {
            true => src_run >= BLOCK || src_run >= dst_run,
            false => dst_run < BLOCK && MUCH_LONGER * dst_run <= src_run,
        }
    }

    /// True where the fastest loop of a side has a block, or more.
    fn has_long_rows(&self, loops: &[Loop]) -> bool {
        let [src_unit, dst_unit] = self.units();
        let is_fastest = |l: &&Loop| l.src_stride == src_unit || l.dst_stride == dst_unit;
        loops.iter().filter(is_fastest).any(|l| l.extent >= BLOCK)
    }

    fn narrows(&self) -> bool {
        self.conversion.dst_bytes() <= self.conversion.src_bytes()
    }

    /// Elements that follow one another, in the source and in the destination.
    fn runs(&self, loops: &[Loop]) -> [usize; 2] {
        let [src_unit, dst_unit] = self.units();
        [contiguous(loops, |l| l.src_stride, src_unit), contiguous(loops, |l| l.dst_stride, dst_unit)]
    }

    /// Bytes of a nest's elements in the room.
    fn bytes_between(&self, loops: &[Loop], converts_first: bool) -> usize {
        let width = self.width_between(converts_first);
        loops.iter().fold(width, |bytes, l| bytes.saturating_mul(l.extent))
    }

    /// Bytes of an element in the room.
    fn width_between(&self, converts_first: bool) -> usize {
        if converts_first { self.conversion.dst_bytes() } else { self.conversion.src_bytes() }
    }

    /// Elements lie between the passes as the source has them where they are converted first, and else as the destination has them.
    fn passes_of(&self, loops: &[Loop], converts_first: bool) -> Passes {
        let stride = |l: &Loop| if converts_first { l.src_stride } else { l.dst_stride };
        let mut order = Loops::of(loops);
        order.sort_by_key(|l| stride(l).unsigned_abs());
        let width = self.width_between(converts_first);
        let mut passes = Passes {
            bytes: self.bytes_between(loops, converts_first),
            converts_first,
            converted: Pass { run: 1, rows: Loops::default() },
            permuted: Permutation { family: Family::Strided, bytes: width, loops: Loops::default() },
        };
        let Passes { converted, permuted, .. } = &mut passes;
        let mut dense = width as isize;
        for &l in order.as_slice() {
            let (into, out) = (Loop { dst_stride: dense, ..l }, Loop { src_stride: dense, ..l });
            converted.rows.push(if converts_first { into } else { out });
            permuted.loops.push(if converts_first { out } else { into });
            dense *= l.extent as isize;
        }
        converted.lengthen(self.units());
        // The last loop is gone through at once.
        converted.rows.sort_by_key(|l| l.extent);
        permuted.choose();
        passes
    }
}

/// Elements of a side that follow one another, `unit` apart.
fn contiguous(loops: &[Loop], stride: fn(&Loop) -> isize, unit: isize) -> usize {
    let mut run = 1;
    while let Some(next) = loops.iter().find(|l| l.extent > 1 && stride(l) == unit * run as isize) {
        run *= next.extent;
    }
    run
}

//! Transposes of slots that share bytes, on either side or on both, in strips of bytes.
//!
//! Columns of the source may start at any slot, rows of the destination at bytes; of long ones that start inside bytes, what is whole
//! bytes is moved.

use crate::convert::converter::{Work, each_place};
use crate::convert::flush::{Buffer, streams, walk_at_level};
use crate::convert::forms::BLOCK;
use crate::convert::packed::columns::{Heads, PackedColumns, PackedSides, WIDEST};
use crate::convert::packed::stored_columns::StoredColumns;
use crate::convert::packed::turns::ByTurns;
use crate::convert::rows::Place;
use crate::convert::strips::transposed;
use crate::lanes::{LANE, LINE};
use crate::level::Level;
use crate::loops::{Loops, ONCE};
use crate::nest::Loop;
use crate::processor::is_amd;
use crate::slots::Bits;
use crate::transpose::block::AsIs;
use crate::transpose::burst::BURST_CARRY;
use crate::transpose::columns::Columns;
use crate::transpose::plane::CarriedPlane;
use crate::transpose::split::Split;
use crate::transpose::stream::{CARRY_BYTES, StreamTranspose};
use crate::transpose::with_turns;
use crate::tuning::{PAGE, Stretches};

/// Fewer bytes of rows that do not start lines are put together in blocks.
const SHORT_ROW: usize = 8 * LINE;

/// Fewer bytes of rows that start inside bytes are put together in blocks: both ends of a row are read and written once more. Rows of
/// 2000 bytes lose a tenth by it and those of 4000 gain a sixth; of narrower slots, which take longer to be turned, they gain less, and
/// would want more room than may be taken.
const LONG_ROW: usize = 56 * LINE;

/// A nest that is a transpose of packed slots in strips.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedStrips {
    level: Level,
    pub(crate) bits: Bits,
    packed: PackedSides,
    /// Past the cache.
    stream: bool,
    /// By turns, where there are as many rows and columns: on processors of AMD always, on others where packed columns of more
    /// than single bits, which do not lie whole pages apart, become rows of whole lines past the cache.
    by_turns: bool,
    pub(crate) split: Split,
}

/// Columns that become columns of bytes, and rows of these.
#[derive(Clone, Copy)]
struct Plane<const SLOTS: usize> {
    source: PackedColumns<SLOTS>,
    rows: Loop,
    columns: Loop,
}

impl PackedStrips {
    /// The nest as rows and columns, all of them in strips.
    fn all(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<PackedStrips> {
        let (bits, packed) = PackedSides::of(work, places)?;
        let mut outer = *loops;
        let rows = outer.take(|l| l.src_stride == 1)?;
        let columns = outer.take(|l| l.dst_stride == 1)?;
        let unit = Loops::default();
        let [beyond, along, further] = [ONCE; 3];
        let whole = [columns.extent, rows.extent];
        let split = Split { outer, unit, rows, beyond, along, columns, further, rows_straddle: false, whole };
        Some(PackedStrips {
            level: work.level,
            bits,
            packed,
            stream: work.stream && streams(work.level),
            by_turns: false,
            split,
        })
    }

    /// The nest in strips, where it is long enough on both sides.
    pub(crate) fn new(work: &Work<'_>, loops: &Loops, [src, dst]: [Place; 2]) -> Option<PackedStrips> {
        let strips = PackedStrips::all(work, loops, [src, dst])?;
        let PackedStrips { level, bits, packed, stream, split, .. } = strips;
        let (rows, columns) = (split.rows, split.columns);
        let [parts, joined] = packed.per_byte(8 / bits as usize);
        if !strips.starts_bytes(1, rows.dst_stride, dst.first) {
            return None;
        }
        let step = columns.src_stride / strips.per_byte(0);
        let rows_are_lines = stream && rows.dst_stride % (joined * LINE) as isize == 0;
        if stream && !rows_are_lines && columns.extent / joined < SHORT_ROW {
            return None;
        }
        let gains = packed != PackedSides::Destination && bits != Bits::One && step % PAGE as isize != 0;
        let turns = with_turns(level, is_amd() || rows_are_lines && gains);
        let strips = PackedStrips { by_turns: turns.is_some(), ..strips };
        // What passes the cache does so in whole lines; in it, lanes are enough, and strips may meet.
        let (width, least_width, least_rows) = if stream { (LINE, LINE, BLOCK) } else { (1, LANE, LANE) };
        let width = width * joined;
        let whole = [columns.extent / width * width, rows.extent / parts * parts];
        let fits = whole[0] >= least_width * joined && whole[1] >= least_rows * parts;
        fits.then_some(PackedStrips { split: Split { whole, ..split }, ..strips })
    }

    /// What is whole bytes of rows that start inside bytes, and long, past the cache: but for the first slots of each, and the last ones.
    pub(crate) fn inside_bytes(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<PackedStrips> {
        let strips = PackedStrips::all(work, loops, places)?;
        let split = strips.split;
        let slots = 8 / strips.bits as usize;
        // The group behind the last strip's is there, too.
        let bytes = (split.columns.extent / slots).saturating_sub(1) / LINE * LINE;
        let whole = [bytes * slots, split.rows.extent / slots * slots];
        let fits = strips.packed == PackedSides::Both
            && strips.stream
            && strips.bits == Bits::Four
            && bytes >= LONG_ROW
            && whole[1] >= BLOCK * slots;
        fits.then_some(PackedStrips { split: Split { whole, ..split }, ..strips })
    }

    /// Moves the whole bytes of a plane's rows, with room for what is made.
    ///
    /// # Safety
    /// All places of the plane must be valid on both sides, without overlap; the strips must be those of rows that start inside bytes.
    pub(crate) unsafe fn run_inside_bytes<const SLOTS: usize>(&self, src: Place, dst: Place, made: *mut u8) {
        let mut plane = self.plane::<SLOTS>(made);
        let (heads, first) = Heads::new(dst.first, self.split.rows.dst_stride);
        plane.source.heads = Some(heads);
        // SAFETY: the caller's promise.
        unsafe { self.strips(&plane, Loops::default(), src, dst.byte(first)) };
    }

    /// True where a place of one side starts a byte, and all those that are steps away, those of a loop and the outer ones'.
    fn starts_bytes(&self, side: usize, step: isize, first: isize) -> bool {
        let per_byte = 8 / self.bits as isize;
        let outer = self.split.outer.as_slice().iter().map(|l| [l.src_stride, l.dst_stride][side]);
        !self.packed.sides()[side] || outer.chain([step, first]).all(|places| places % per_byte == 0)
    }

    /// Moves the strips.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run(&self, src: Place, dst: Place) {
        // SAFETY: the caller's promise.
        unsafe {
            match self.bits {
                Bits::One => self.planes::<8>(src, dst),
                Bits::Two => self.planes::<4>(src, dst),
                Bits::Four => self.planes::<2>(src, dst),
            }
        }
    }

    /// All planes in one walk where each starts in its bytes as the first one does, and one after the other elsewhere.
    ///
    /// # Safety
    /// As [`PackedStrips::run`].
    unsafe fn planes<const SLOTS: usize>(&self, src: Place, dst: Place) {
        let outer = self.split.outer;
        let plane = self.plane::<SLOTS>(std::ptr::null_mut());
        // Strips that are no lines are made ready even where others take turns.
        let fills_lines = self.stream || plane.columns.extent.is_multiple_of(LINE);
        let turns_only = fills_lines && self.turns_pay(&plane);
        let room = if turns_only { 0 } else { PackedColumns::<SLOTS>::room(self.split.rows.extent) };
        let mut made = Buffer::new(room);
        let plane = self.plane::<SLOTS>(made.start());
        let (walked, stepped) = match self.starts_bytes(0, 0, 0) {
            true => (self.in_bytes(outer), Loops::default()),
            false => (Loops::default(), outer),
        };
        each_place(stepped.as_slice(), src, dst, &mut |src, dst| {
            // SAFETY: planes of the nest, and room for what is made.
            unsafe { self.strips(&plane, walked, src, dst.byte_of(0)) };
        });
    }

    /// Loops over bytes of either side, where all steps are whole ones.
    fn in_bytes(&self, loops: Loops) -> Loops {
        let mut bytes = Loops::default();
        for l in loops.as_slice() {
            let [src_stride, dst_stride] =
                [(0, l.src_stride), (1, l.dst_stride)].map(|(side, stride)| stride / self.per_byte(side));
            bytes.push(Loop { extent: l.extent, src_stride, dst_stride });
        }
        bytes
    }

    /// Slots of a byte of one side.
    fn per_byte(&self, side: usize) -> isize {
        if self.packed.sides()[side] { 8 / self.bits as isize } else { 1 }
    }

    /// Columns that become columns of bytes, and rows that have bytes of them.
    fn plane<const SLOTS: usize>(&self, made: *mut u8) -> Plane<SLOTS> {
        let Split { rows, columns, whole, .. } = self.split;
        let [parts, joined] = [0, 1].map(|side| self.per_byte(side));
        let step = columns.src_stride;
        let source = PackedColumns { packed: self.packed, first: 0, step, width: WIDEST, made, heads: None };
        Plane {
            source,
            rows: Loop {
                extent: whole[1] / parts.unsigned_abs(),
                src_stride: 1,
                dst_stride: rows.dst_stride * parts / joined,
            },
            columns: Loop {
                extent: whole[0] / joined.unsigned_abs(),
                // From as many columns as a byte has slots to the next ones.
                src_stride: step * SLOTS as isize / parts,
                dst_stride: 1,
            },
        }
    }

    /// Planes whose rows start bytes, or have heads, at every point of the loops.
    ///
    /// # Safety
    /// All of their places must be valid on both sides, without overlap.
    unsafe fn strips<const SLOTS: usize>(
        &self,
        plane: &Plane<SLOTS>,
        outer: Loops,
        src: Place,
        dst: *mut u8,
    ) {
        let step = self.per_byte(1) * plane.source.step;
        let turns_pay = self.turns_pay(plane);
        let widest = if turns_pay { plane.source.widest_turn() } else { WIDEST };
        for (first, extent, width) in self.widths(plane.columns.extent, widest) {
            let columns = Loop { extent, ..plane.columns };
            let from = src.at(first as isize * step);
            let source = PackedColumns {
                first: from.first.rem_euclid(self.per_byte(0)).unsigned_abs(),
                width,
                ..plane.source
            };
            let places = (from.byte_of(0).cast_const(), dst.wrapping_add(first));
            let by_turns = turns_pay && width >= LINE;
            // SAFETY: the caller's promise, for some of the columns.
            unsafe { self.strips_of_a_width(source, (outer, ONCE, plane.rows, columns), places, by_turns) };
        }
    }

    /// Strips of one width, by turns or not.
    ///
    /// # Safety
    /// As [`PackedStrips::strips`], for the columns of the loops.
    unsafe fn strips_of_a_width<const SLOTS: usize>(
        &self,
        source: PackedColumns<SLOTS>,
        loops: (Loops, Loop, Loop, Loop),
        places: (*const u8, *mut u8),
        by_turns: bool,
    ) {
        let (level, parts, (outer, beyond, rows, columns)) = (self.level, source.parts(), loops);
        // SAFETY: the caller's promise.
        unsafe {
            if self.stream && by_turns {
                return transposed(level, parts, (loops, ONCE), places, |plane| ByTurns::<SLOTS, true> {
                    source,
                    plane,
                });
            }
            if self.stream {
                return transposed(level, parts, (loops, ONCE), places, |plane| StreamTranspose::<
                    1,
                    LANE,
                    _,
                    _,
                > {
                    source,
                    leave: AsIs,
                    plane,
                });
            }
            let done = if by_turns {
                let plane = CarriedPlane {
                    columns,
                    rows,
                    beyond,
                    along: ONCE,
                    carry: std::ptr::null_mut(),
                    stretches: Stretches::here(),
                };
                walk_at_level(level, outer.as_slice(), places, ByTurns::<SLOTS, false> { source, plane })
            } else {
                let kernel = StoredColumns::<1, LANE, _> { source, columns, rows };
                walk_at_level(level, outer.as_slice(), places, kernel)
            };
            debug_assert!(done, "strips are for levels with registers");
        }
    }

    /// True where strips of lines of a plane are moved by turns.
    fn turns_pay<const SLOTS: usize>(&self, plane: &Plane<SLOTS>) -> bool {
        self.by_turns && plane.rows.extent >= LINE
    }

    /// How bytes of columns are divided into strips: the first of some, how many, and the width of a strip of them. Where the
    /// narrowest do not come out even, the last one steps back.
    fn widths(&self, all: usize, widest: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let least = if self.stream { LINE } else { LANE };
        let mut first = 0;
        let halves = core::iter::successors(Some(widest), move |&width| (width > least).then_some(width / 2));
        let whole = halves.map(move |width| {
            let part = (first, (all - first) / width * width, width);
            first += part.1;
            part
        });
        let last = (!all.is_multiple_of(least)).then(|| (all - least, least, least));
        whole.chain(last).filter(|&(_, count, _)| count > 0)
    }
}

/// What both ways carry has room in the one's buffer.
const _: () = assert!(BURST_CARRY <= CARRY_BYTES);

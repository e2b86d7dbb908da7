//! Transposes of elements that are converted, or packed, on the way: in the strips of a streamed transpose, whose columns
//! are made some rows at a time.
//!
//! What is made stays in the first-level cache, and goes on from there in registers and whole lines, as what is only
//! transposed does. The source is read in a few long streams.

use super::converter::Work;
use super::flush::{Buffer, streams, walk_at_level};
use super::forms::BLOCK;
use super::packed_columns::{PackedColumns, WIDEST};
use super::program::Conversion;
use super::rows::{Look, Place};
use super::stored_columns::StoredColumns;
use super::tile::Loops;
use crate::ahead::Ahead;
use crate::columns::Columns;
use crate::lanes::{LANE, LINE, Lanes};
use crate::level::Level;
use crate::nest::Loop;
use crate::slots::Bits;
use crate::stage::starts_lines;
use crate::transpose_stream::{CARRY_BYTES, StreamTranspose, strip};
use crate::transposes::continues;
use crate::tuning::MADE_STRETCH;

/// Loops over a part of a nest, and how far both places of the part are from those of the nest.
type Part = (Loops, [isize; 2]);

/// A nest that is a transpose in strips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strips {
    /// The slots that share bytes, on both sides alike.
    bits: Option<Bits>,
    /// Past the cache.
    stream: bool,
    outer: Loops,
    /// Elements that are contiguous on both sides, and stay together.
    run: Loop,
    /// Contiguous in the source, and what continues them there.
    rows: Loop,
    beyond: Loop,
    /// Contiguous in the destination.
    columns: Loop,
    /// Columns that make up strips, and rows that make up bytes.
    whole: [usize; 2],
}

/// A loop that does nothing.
const ONCE: Loop = Loop { extent: 1, src_stride: 0, dst_stride: 0 };

impl Strips {
    /// The nest in strips, where it is long enough on both sides; slots that share bytes must do so on both alike.
    pub(super) fn new(work: &Work<'_>, loops: &Loops, [src, dst]: [Place; 2]) -> Option<Strips> {
        if work.level == Level::Scalar || !work.level.is_available() {
            return None;
        }
        let stream = work.stream && streams(work.level);
        let bits = match (src.bits, dst.bits) {
            (None, None) if stream => None,
            (Some(src), Some(dst)) if src == dst && work.conversion.is_identity() => Some(src),
            _ => return None,
        };
        let [src_unit, dst_unit] = work.units();
        let mut outer = *loops;
        let is_run = |l: &Loop| bits.is_none() && l.src_stride == src_unit && l.dst_stride == dst_unit;
        let run = outer.take(is_run).unwrap_or(ONCE);
        let together = isize::try_from(run.extent).ok()?;
        let rows = outer.take(|l| l.src_stride == src_unit * together)?;
        let columns = outer.take(|l| l.dst_stride == dst_unit * together)?;
        let (per_byte, element) = match bits {
            Some(bits) => (8 / bits as usize, 1),
            None => (1, work.conversion.dst_bytes() * run.extent),
        };
        if !matches!(element, 1 | 2 | 4 | 8 | 16) {
            return None;
        }
        let goes_on = |l: &Loop| bits.is_none() && continues(rows, *l, element);
        let beyond = outer.take(goes_on).unwrap_or(ONCE);
        // What passes the cache does so in whole lines; in it, lanes are enough, and strips may meet.
        let (width, [least_columns, least_rows]) = match bits {
            Some(_) if stream => (LINE * per_byte, [LINE * per_byte, BLOCK]),
            Some(_) => (per_byte, [LANE * per_byte, LANE]),
            None => {
                let width = strip_of(&work.conversion, element) / element;
                (width, [width, BLOCK])
            }
        };
        let whole = [columns.extent / width * width, rows.extent / per_byte * per_byte];
        let strips = Strips { bits, stream, outer, run, rows, beyond, columns, whole };
        let fits = whole[0] >= least_columns
            && whole[1] / per_byte * beyond.extent >= least_rows
            && (bits.is_none() || strips.starts_bytes(per_byte as isize, [src.first, dst.first]));
        fits.then_some(strips)
    }

    /// True where columns of the source and rows of the destination start bytes.
    fn starts_bytes(&self, per_byte: isize, firsts: [isize; 2]) -> bool {
        let outer = self.outer.as_slice().iter().flat_map(|l| [l.src_stride, l.dst_stride]);
        let steps = [self.columns.src_stride, self.rows.dst_stride];
        firsts.into_iter().chain(steps).chain(outer).all(|places| places % per_byte == 0)
    }

    /// What is left beside the strips: columns, and of packed slots rows.
    pub(super) fn edges(&self) -> impl Iterator<Item = Part> {
        let [columns, rows] = self.whole;
        let part = |rows: Loop, columns: Loop| {
            let mut loops = self.outer;
            [self.beyond, rows, columns, self.run].into_iter().for_each(|l| loops.push(l));
            loops
        };
        let behind = |l: Loop, count: usize| {
            let places = [l.src_stride, l.dst_stride].map(|stride| count as isize * stride);
            (Loop { extent: l.extent - count, ..l }, places)
        };
        let (columns_left, behind_columns) = behind(self.columns, columns);
        let (rows_left, behind_rows) = behind(self.rows, rows);
        let right = (columns_left.extent > 0).then(|| (part(self.rows, columns_left), behind_columns));
        let whole = Loop { extent: columns, ..self.columns };
        let below = (rows_left.extent > 0).then(|| (part(rows_left, whole), behind_rows));
        right.into_iter().chain(below)
    }

    /// Moves the strips.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(super) unsafe fn run(&self, work: &Work<'_>, src: Place, dst: Place) {
        let columns = Loop { extent: self.whole[0], ..self.columns };
        let Strips { rows, beyond, outer, .. } = *self;
        let places = (src.byte_of(0).cast_const(), dst.byte_of(0));
        let Some(bits) = self.bits else {
            // SAFETY: the caller's promise.
            return unsafe {
                converted(work, src.base, self.run.extent, (outer, beyond, rows, columns), places)
            };
        };
        let per_byte = 8 / bits as usize;
        let in_bytes = |stride: isize| stride / per_byte as isize;
        let step = in_bytes(columns.src_stride);
        let mut outer_bytes = Loops::default();
        for l in outer.as_slice() {
            let [src_stride, dst_stride] = [l.src_stride, l.dst_stride].map(in_bytes);
            outer_bytes.push(Loop { extent: l.extent, src_stride, dst_stride });
        }
        // A byte of each of as many columns becomes a byte of each of as many rows.
        let rows = Loop { extent: self.whole[1] / per_byte, ..rows };
        for (first, count, width) in self.widths(columns.extent / per_byte) {
            let columns = Loop { extent: count, ..columns };
            let loops = (outer_bytes, beyond, rows, columns);
            let places =
                (places.0.wrapping_offset(first as isize * columns.src_stride), places.1.wrapping_add(first));
            let how = (work.level, self.stream);
            // SAFETY: the caller's promise, for slots of whole bytes and some of the columns.
            unsafe {
                match bits {
                    Bits::One => packed::<8>(how, (step, width), loops, places),
                    Bits::Two => packed::<4>(how, (step, width), loops, places),
                    Bits::Four => packed::<2>(how, (step, width), loops, places),
                }
            }
        }
    }

    /// How bytes of columns are divided into strips: the first of some, how many, and the width of a strip of them. Where the
    /// narrowest do not come out even, the last one steps back.
    fn widths(&self, all: usize) -> impl Iterator<Item = (usize, usize, usize)> {
        let least = if self.stream { LINE } else { LANE };
        let mut first = 0;
        let halves = core::iter::successors(Some(WIDEST), move |&width| (width > least).then_some(width / 2));
        let whole = halves.map(move |width| {
            let part = (first, (all - first) / width * width, width);
            first += part.1;
            part
        });
        let last = (!all.is_multiple_of(least)).then(|| (all - least, least, least));
        whole.chain(last).filter(|&(_, count, _)| count > 0)
    }
}

/// Outer loops, what continues the rows, rows and columns: whole strips.
type Plane = (Loops, Loop, Loop, Loop);

/// Transposes elements that are converted, so many of which stay together, of a slice that begins at `origin`.
///
/// # Safety
/// All places of the loops must be valid on both sides, without overlap.
unsafe fn converted(
    work: &Work<'_>,
    origin: *mut u8,
    run: usize,
    loops: Plane,
    places: (*const u8, *mut u8),
) {
    let element = work.conversion.dst_bytes() * run;
    let strip = strip_of(&work.conversion, element);
    let rows = rows_of(&work.conversion, element);
    let mut made = Buffer::new(rows * strip);
    let source = Converted { work, run, strip, rows, origin, made: made.start() };
    macro_rules! run {
        ($($e:literal: $n:literal;)*) => {
            match element {
                // SAFETY: the caller's promise.
                $($e => unsafe { transposed::<$e, $n>(work.level, source, loops, places) },)*
                _ => unreachable!("elements have 1 to 16 bytes"),
            }
        };
    }
    run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
}

/// Transposes slots that share bytes, `SLOTS` a byte, in columns `step` bytes apart and strips of `width` bytes; past the cache
/// if `stream`.
///
/// # Safety
/// As [`converted`].
unsafe fn packed<const SLOTS: usize>(
    (level, stream): (Level, bool),
    (step, width): (isize, usize),
    loops: Plane,
    places: (*const u8, *mut u8),
) {
    let (outer, beyond, rows, columns) = loops;
    let mut made = Buffer::new(PackedColumns::<SLOTS>::room(rows.extent));
    let source = PackedColumns::<SLOTS>::new(step, width, made.start());
    // SAFETY: the caller's promise.
    unsafe {
        match stream {
            true => transposed::<1, LANE>(level, source, loops, places),
            false => {
                debug_assert_eq!(beyond.extent, 1, "rows of packed slots are one loop");
                let kernel = StoredColumns::<1, LANE, _> { source, columns, rows };
                let done = walk_at_level(level, outer.as_slice(), places, kernel);
                debug_assert!(done, "strips are for levels with registers");
            }
        }
    }
}

/// Transposes what a source makes of its columns.
///
/// # Safety
/// As [`converted`].
unsafe fn transposed<const E: usize, const N: usize>(
    level: Level,
    source: impl Columns,
    (outer, beyond, rows, columns): Plane,
    (src, dst): (*const u8, *mut u8),
) {
    let row = Loop { dst_stride: rows.dst_stride / source.parts() as isize, ..rows };
    let aligned = starts_lines(outer.as_slice().iter().chain([&row, &beyond]), dst);
    let mut carry = (!aligned).then(|| Buffer::new(CARRY_BYTES));
    let carry = carry.as_mut().map_or(std::ptr::null_mut(), Buffer::start);
    let kernel = StreamTranspose::<E, N, _> { source, columns, rows, beyond, carry };
    // SAFETY: the caller's promise; the carries live until the end of this function.
    let done = unsafe { walk_at_level(level, outer.as_slice(), (src, dst), kernel) };
    debug_assert!(done, "strips are for levels that stream");
}

/// Bytes of a strip of converted columns in every row of `element` bytes an element: one line where more columns would be
/// read at once than the hardware follows as streams, unless they are of bytes, of which there is less to be read.
fn strip_of(conversion: &Conversion, element: usize) -> usize {
    let is_wide = element > 2 || element == 2 && conversion.src_bytes() == 1;
    if is_wide { strip(element) } else { LINE }
}

/// Rows that are converted together: two lines of columns of bytes; as square as a strip of one line, where so few are
/// converted at once. Factors are looked up for as many as possible.
fn rows_of(conversion: &Conversion, element: usize) -> usize {
    let (src, dst) = (conversion.src_bytes(), conversion.dst_bytes());
    match src {
        1 => 2 * BLOCK,
        _ if element == 2 && src.min(dst) == 2 && !conversion.is_scaled() => BLOCK / 2,
        _ => BLOCK,
    }
}

/// Columns that are converted.
#[derive(Clone, Copy)]
struct Converted<'a> {
    work: &'a Work<'a>,
    /// Elements that are one here.
    run: usize,
    /// Bytes of a strip in every row.
    strip: usize,
    /// Rows that are converted together.
    rows: usize,
    /// Where the source's slice begins.
    origin: *mut u8,
    /// Room for a strip of so many rows.
    made: *mut u8,
}

impl Columns for Converted<'_> {
    const ARE_THE_SOURCES: bool = false;

    const STRETCH: usize = MADE_STRETCH;

    #[inline(always)]
    fn strip(&self, _element: usize) -> usize {
        self.strip
    }

    #[inline(always)]
    fn rows(&self, _register: usize) -> usize {
        self.rows
    }

    #[inline(always)]
    unsafe fn ready<L: Lanes, const E: usize>(
        &self,
        _lanes: L,
        (from, step): (*const u8, isize),
        rows: usize,
        ahead: Ahead,
    ) -> ((*const u8, isize), Option<Ahead>) {
        let pitch = (rows * E) as isize;
        let place = |base, first, pitch| Place { bits: None, base, first, pitch, is_near: true };
        // Counted from the slice's first byte on, as factors are found by places.
        let first = from.addr().wrapping_sub(self.origin.addr()) as isize;
        let (src, dst) = (place(self.origin, first, step), place(self.made, 0, pitch));
        // SAFETY: the caller's promise, and room for as many rows.
        unsafe { self.work.rows(src, dst, self.strip / E, rows * self.run, Look::Strip(ahead)) };
        ((self.made, pitch), None)
    }
}

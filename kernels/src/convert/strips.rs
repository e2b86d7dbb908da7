//! Transposes of elements that are converted on the way: in the strips of a streamed transpose, whose columns are made some
//! rows at a time.
//!
//! What is made stays in the first-level cache, and goes on from there in registers and whole lines, as what is only
//! transposed does. The source is read in a few long streams. Where the processor has registers for it, elements are transposed as they
//! are, and converted as they leave.

use super::converter::Work;
use super::flush::{Buffer, streams, walk_at_level};
use super::forms::BLOCK;
use super::leave::factors::{Alike, FactorsOf};
use super::leave::{Turned, is_joined};
use super::program::Conversion;
use super::rows::{Look, Place};
use crate::lanes::{LANE, LINE, Lanes, Order};
use crate::level::Level;
use crate::loops::Loops;
use crate::nest::Loop;
use crate::processor::{is_fourth_zen, is_older_amd};
use crate::stage::starts_lines;
use crate::transpose::ahead::Ahead;
use crate::transpose::block::{AsIs, Places};
use crate::transpose::burst::BURST_CARRY;
use crate::transpose::columns::{Columns, leaving_columns};
use crate::transpose::plane::CarriedPlane;
use crate::transpose::split::{GoOn, Split};
use crate::transpose::stream::{CARRY_BYTES, StreamTranspose, strip};
use crate::transpose::with_turns;
use crate::tuning::{MADE_STRETCH, Stretches, asks_with_rows};
use crate::units::Units;
use crate::walk::Point;

/// A nest that is a transpose in strips of elements that are converted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strips {
    pub(super) split: Split,
    /// Columns of a strip.
    width: usize,
    /// Elements that are one here, and their order.
    count: usize,
    order: Option<[u8; LANE]>,
    /// True where the planes may go by turns.
    by_turns: bool,
}

impl Strips {
    /// The nest in strips, where it is long enough on both sides.
    pub(super) fn new(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<Strips> {
        let go_on = if go_on(work) { GoOn::Tiles } else { GoOn::Never };
        let strips =
            Strips::of(work, (loops, work.conversion.dst_bytes(), go_on), places, |split, count| {
                let element = work.conversion.dst_bytes() * count;
                let bytes =
                    if split.goes_on() { strip(element) } else { strip_of(&work.conversion, element) };
                bytes / element
            })?;
        let by_turns = !strips.split.goes_on()
            && strips.order.is_none()
            && with_turns(work.level, is_older_amd()).is_some();
        Some(Strips { by_turns, ..strips })
    }

    /// The same of elements that may be converted as they leave, in registers of a line.
    pub(super) fn leaving(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<Strips> {
        let bytes = [work.conversion.src_bytes(), work.conversion.dst_bytes()];
        let pays = bytes[1] <= 2 * bytes[0];
        if !pays || work.level < Level::Avx512 {
            return None;
        }
        let columns = |_: &Split, count| leaving_columns(bytes[0] * count, bytes[1] * count);
        // Lanes are of elements as they are read.
        let strips = Strips::of(work, (loops, bytes[0], GoOn::Words), places, columns)?;
        let has_way = strips.order.is_none() && (strips.count == 1 || !work.has_factors());
        // Plain planes go by turns where these pay.
        let goes_on = strips.split.goes_on() || strips.split.rows_straddle;
        let has_way = has_way && (goes_on || !is_older_amd() || strips.pay_here(work, places[1]));
        has_way.then_some(strips)
    }

    /// The nest in strips of as many columns as are told for its plane, and for so many elements that are one; its lanes are of elements
    /// of so many bytes.
    fn of(
        work: &Work<'_>,
        (loops, lane, go_on): (&Loops, usize, GoOn),
        [src, dst]: [Place; 2],
        columns: impl Fn(&Split, usize) -> usize,
    ) -> Option<Strips> {
        let streams = work.stream && streams(work.level) && work.level.is_available();
        if !streams || src.bits.is_some() || dst.bits.is_some() {
            return None;
        }
        let units = Units::new(loops, work.units(), work.conversion.dst_bytes());
        let unit = work.units().map(|unit| unit * units.count as isize);
        let split =
            Split::new(&units, unit, (work.conversion.dst_bytes() * units.count, lane * units.count), go_on)?;
        let width = columns(&split, units.count);
        let split = split.in_strips(width);
        let fits = split.whole[0] > 0 && split.all_rows() * units.count >= BLOCK;
        fits.then_some(Strips { split, width, count: units.count, order: units.order, by_turns: false })
    }

    /// True where plain strips that leave are better than what AMD's fourth Zen has besides: where there is a factor, or rows start no
    /// lines, which turns join in registers only of some elements. Those of bytes were slower so.
    fn pay_here(&self, work: &Work<'_>, dst: Place) -> bool {
        let (from, to) = (work.conversion.src_bytes(), work.conversion.dst_bytes());
        let are_joined = self.count == 1 && is_joined(from, to);
        to > 1 && (work.has_factors() || !are_joined && !self.start_lines(dst))
    }

    /// True where what leaves is joined to lines in registers, as elements of two bytes or more are, or need not be.
    pub(super) fn join(&self, work: &Work<'_>, dst: Place) -> bool {
        work.conversion.src_bytes() > 1 || self.start_lines(dst)
    }

    /// True where every row starts a line.
    fn start_lines(&self, dst: Place) -> bool {
        let Split { outer, rows, beyond, along, .. } = &self.split;
        starts_lines(outer.as_slice().iter().chain([rows, beyond, along]), dst.byte_of(0))
    }

    /// What strips are made of, and where they begin.
    fn plane(&self, src: Place, dst: Place) -> ((Plane, Loop), (*const u8, *mut u8)) {
        let Split { outer, rows, beyond, along, columns, whole, .. } = self.split;
        let columns = Loop { extent: whole[0], ..columns };
        (((outer, beyond, rows, columns), along), (src.byte_of(0).cast_const(), dst.byte_of(0)))
    }

    /// Moves the strips.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(super) unsafe fn run(&self, work: &Work<'_>, src: Place, dst: Place) {
        let (plane, places) = self.plane(src, dst);
        // SAFETY: the caller's promise.
        unsafe {
            if !self.by_turns || !self.leave(work, src, dst) {
                self.converted(work, src.base, plane, places);
            }
        }
    }

    /// Transposes elements that are converted as they leave, by turns or in strips; false where there is no such way for these.
    ///
    /// # Safety
    /// As [`Strips::run`]; where columns leave strips, they must be as many as [`Strips::leaving`] has.
    pub(super) unsafe fn leave(&self, work: &Work<'_>, src: Place, dst: Place) -> bool {
        let alike = match work.has_factors() {
            true => Alike::of(&work.scale, &self.split, src.first),
            false => Some(Alike::Rows),
        };
        let Some(alike) = alike else { return false };
        let (((outer, beyond, rows, columns), along), places) = self.plane(src, dst);
        let mut carry = (!self.start_lines(dst)).then(|| Buffer::new(BURST_CARRY.max(CARRY_BYTES)));
        let carry = carry.as_mut().map_or(std::ptr::null_mut(), Buffer::start);
        let plane = CarriedPlane { columns, rows, beyond, along, carry, stretches: Stretches::here() };
        let columns = self.split.places();
        let are_of_words = columns.are_ways || self.split.rows_straddle;
        let factors = FactorsOf { origin: src.base, alike };
        let (outer, run) = (outer.as_slice(), self.count);
        let turned =
            Turned { outer, run, plane, columns, are_of_words, by_turns: self.by_turns, places, factors };
        let place = Place::near(places.1);
        // SAFETY: the caller's promise; the carries live until the end of this function.
        unsafe { work.turned(&turned, place, place) }
    }
}

/// True where columns of tiles had better go on in the tiles below: where elements become wider, on processors that do not take
/// turns, and where such columns leave strips on AMD's fourth Zen.
fn go_on(work: &Work<'_>) -> bool {
    let leaves = is_fourth_zen() && work.level >= Level::Avx512;
    work.conversion.dst_bytes() > work.conversion.src_bytes() || !is_older_amd() || leaves
}

/// Outer loops, what continues the rows, rows and columns: whole strips.
pub(super) type Plane = (Loops, Loop, Loop, Loop);

impl Strips {
    /// Transposes elements that are converted, of a slice that begins at `origin`.
    ///
    /// # Safety
    /// All places of the loops must be valid on both sides, without overlap.
    unsafe fn converted(
        &self,
        work: &Work<'_>,
        origin: *mut u8,
        (plane, along): (Plane, Loop),
        places: (*const u8, *mut u8),
    ) {
        let &Strips { width, count: run, order, ref split, .. } = self;
        let element = work.conversion.dst_bytes() * run;
        // Of tiles whole columns are converted, and what becomes wider leaves time to ask for the next ones.
        let goes_on = split.goes_on();
        let widens = work.conversion.dst_bytes() > work.conversion.src_bytes();
        let asked = if widens || !goes_on { asked_of(work, width * run) } else { 0 };
        let rows = if goes_on { 2 * BLOCK } else { rows_of(&work.conversion, run, asked > 0) };
        let mut made = Buffer::new(rows * width * element);
        let (strip, columns) = (width * element, split.places());
        let made = made.start();
        macro_rules! source {
            ($order:expr) => {
                Converted { work, run, strip, rows, asked, places: columns, origin, made, order: $order }
            };
        }
        macro_rules! run {
            ($($e:literal: $n:literal;)*) => {
                match (element, order) {
                    // SAFETY: the caller's promise.
                    $(($e, None) => unsafe {
                        let source = source!(());
                        transposed(work.level, 1, (plane, along), places, |plane| StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
                    },
                    // SAFETY: the same.
                    ($e, Some(order)) if $e >= 4 => unsafe {
                        let source = source!(order);
                        transposed(work.level, 1, (plane, along), places, |plane| StreamTranspose::<$e, $n, _, _> { source, leave: AsIs, plane });
                    },)*
                    _ => unreachable!("elements have 1 to 16 bytes"),
                }
            };
        }
        run!(1: 16; 2: 8; 4: 4; 8: 2; 16: 1;);
    }
}

/// Transposes what a source of so many parts makes of its columns, by the kernel for a plane.
///
/// # Safety
/// As [`Strips::converted`].
pub(super) unsafe fn transposed<K: Point>(
    level: Level,
    parts: usize,
    ((outer, beyond, rows, columns), along): (Plane, Loop),
    (src, dst): (*const u8, *mut u8),
    kernel: impl FnOnce(CarriedPlane) -> K,
) {
    let row = Loop { dst_stride: rows.dst_stride / parts as isize, ..rows };
    // Rows of bits may be no whole bytes apart.
    let is_whole = rows.dst_stride % parts as isize == 0;
    let aligned = is_whole && starts_lines(outer.as_slice().iter().chain([&row, &beyond, &along]), dst);
    let mut carry = (!aligned).then(|| Buffer::new(CARRY_BYTES));
    let carry = carry.as_mut().map_or(std::ptr::null_mut(), Buffer::start);
    let kernel = kernel(CarriedPlane { columns, rows, beyond, along, carry, stretches: Stretches::here() });
    // SAFETY: the caller's promise; the carries live until the end of this function.
    let done = unsafe { walk_at_level(level, outer.as_slice(), (src, dst), kernel) };
    debug_assert!(done, "strips are for levels that stream");
}

/// Bytes of a strip of converted columns in every row of `element` bytes an element: one line where more columns would be
/// read at once than the hardware follows as streams, unless they are of bytes, of which there is less to be read.
fn strip_of(conversion: &Conversion, element: usize) -> usize {
    let is_wide = element > 2 || element == 2 && (conversion.src_bytes() == 1 || is_older_amd());
    if is_wide { strip(element) } else { LINE }
}

/// Lines of the source that are asked for with each row of a strip that has so many elements, which are as many as it is made of;
/// none where they are asked for as they are read. Converting bytes takes so long that lines are better asked for meanwhile.
fn asked_of(work: &Work<'_>, elements: usize) -> usize {
    let (src, dst) = (work.conversion.src_bytes(), work.conversion.dst_bytes());
    let pays = work.level >= Level::Avx512 && asks_with_rows() && src.min(dst) > 1;
    if pays { elements * src / LINE } else { 0 }
}

/// Rows that are converted together, of elements so many of which stay together: two lines of columns of bytes, but a block where
/// elements have factors, which are found anew for every other one. Where lines are asked for with rows, a stretch of every
/// column: what is read then was asked for by the time it is wanted, and goes by in fewer, longer pieces. Elsewhere as square as
/// a strip of one line, where so few are converted at once.
fn rows_of(conversion: &Conversion, run: usize, are_asked: bool) -> usize {
    let (src, dst) = (conversion.src_bytes(), conversion.dst_bytes());
    if are_asked {
        (MADE_STRETCH * LINE / (src * run)).min(2 * BLOCK)
    } else if src == 1 && !conversion.is_scaled() {
        2 * BLOCK
    } else if dst * run == 2 && src.min(dst) == 2 {
        BLOCK / 2
    } else {
        BLOCK
    }
}

/// Columns that are converted.
#[derive(Clone, Copy)]
struct Converted<'a, O> {
    work: &'a Work<'a>,
    /// Elements that are one here.
    run: usize,
    /// Bytes of a strip in every row.
    strip: usize,
    /// Rows that are converted together.
    rows: usize,
    /// Lines that are asked for with each row of a strip, if registers are lines.
    asked: usize,
    /// Where the source's columns lie.
    places: Places,
    /// Where the source's slice begins.
    origin: *mut u8,
    /// Room for a strip of so many rows.
    made: *mut u8,
    /// The order of the elements that are one.
    order: O,
}

impl<O: Order> Columns for Converted<'_, O> {
    type Order = O;

    const ARE_THE_SOURCES: bool = false;

    #[inline(always)]
    fn stretch(&self, _usual: usize) -> usize {
        MADE_STRETCH
    }

    #[inline(always)]
    fn strip(&self, _element: usize) -> usize {
        self.strip
    }

    #[inline(always)]
    fn rows(&self, _register: usize) -> usize {
        self.rows
    }

    #[inline(always)]
    fn places(&self, _step: isize) -> Places {
        self.places
    }

    #[inline(always)]
    fn byte_order(&self) -> O {
        self.order
    }

    #[inline(always)]
    fn asked_with_rows<L: Lanes>(&self, _element: usize) -> usize {
        if L::BYTES == LINE { self.asked } else { 0 }
    }

    #[inline(always)]
    unsafe fn ready<L: Lanes, const E: usize>(
        &self,
        _lanes: L,
        (from, step): (*const u8, isize),
        rows: usize,
        ahead: Ahead,
    ) -> ((*const u8, Places), Option<Ahead>) {
        let pitch = (rows * E) as isize;
        let place = |base, first, pitch| Place { bits: None, base, first, pitch, is_near: true };
        // Counted from the slice's first byte on, as factors are found by places.
        let first = from.addr().wrapping_sub(self.origin.addr()) as isize;
        let (with_rows, count) = (self.asked_with_rows::<L>(E) > 0, rows * self.run);
        let bytes = count * self.work.conversion.src_bytes();
        // Columns at even distances are one group.
        let together = self.places.together.min(self.strip / E);
        let (groups, apart) = (self.strip / E / together, self.places.apart);
        let lines = together * bytes / LINE;
        // Whole columns of tiles are a row each tile, all at once; others are rows of their own, group by group.
        let (turns, rows, count, [src_pitch, dst_pitch]) = match groups > 1 && step == bytes as isize {
            true => (1, groups, together * count, [apart, together as isize * pitch]),
            false => (groups, together, count, [step, pitch]),
        };
        let mut turn = 0;
        while turn < turns {
            let before = turn as isize;
            let src = place(self.origin, first + before * apart, src_pitch);
            let dst = place(self.made, before * together as isize * pitch, dst_pitch);
            let look = if with_rows { Look::Asked } else { Look::Strip(ahead.behind(turn * lines)) };
            // SAFETY: the caller's promise, and room for as many rows.
            unsafe { self.work.rows(src, dst, rows, count, look) };
            turn += 1;
        }
        ((self.made.cast_const(), Places::even(pitch)), with_rows.then_some(ahead))
    }
}

#[cfg(all(test, one_test_program))]
mod tests {
    use super::super::tables::made::Made;
    use super::*;
    use crate::Converter;

    /// Rows of strips that are converted before and of those that leave so, where `bf16` becomes `f32` in so many rows at a time; none
    /// where there are no such strips.
    fn rows(level: Level, at_once: usize) -> [Option<usize>; 2] {
        let converter = Converter::bf16_to_f32(level);
        let (steps, bytes) = (512 / at_once, at_once as isize * 2);
        let loops = Loops::of(&[
            Loop { extent: steps, src_stride: bytes, dst_stride: 1 << 20 },
            Loop { extent: at_once, src_stride: 2, dst_stride: 512 },
            Loop { extent: 128, src_stride: 1024, dst_stride: 4 },
        ]);
        let places = [Place::near(std::ptr::null_mut()); 2];
        let work = &Work { converter: &converter, made: &Made::NOTHING };
        [Strips::new(work, &loops, places), Strips::leaving(work, &loops, places)]
            .map(|strips| strips.map(|strips| strips.split.all_rows()))
    }

    #[test]
    fn rows_go_on_where_no_lane_straddles_or_they_are_those_of_words() {
        for level in [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()) {
            let leave = level >= Level::Avx512;
            assert_eq!(rows(level, 8), [Some(512), (leave && !is_older_amd()).then_some(512)], "{level}");
            // A lane of words, and half of one of halves, which is itself a word.
            assert_eq!(rows(level, 4), [Some(512), leave.then_some(512)], "{level}");
            // Three lanes of words, and one and a half of halves.
            assert_eq!(rows(level, 12), [Some(504), None], "{level}");
        }
    }
}

//! Words of an element of each of a few groups: what tiles such as those of `(2,1)` make of kernels of 3 × 3, where the elements of a word
//! are the same place of two kernels, or of two channels.
//!
//! A *group* is a few elements that follow one another on one side, of which each is in another row of the other side, where an element of
//! each of a few groups makes a word. The groups of a word lie far from one another, and all of a row follow one another, so that they are
//! woven as one run; or those of a word follow one another, and are woven by themselves (`groups/weave.rs`), past the cache only: in it others are
//! faster. Words are made in a buffer that stays in the near caches, and transposed from there; or, where those of a word lie apart, the
//! reverse.

mod weave;

use weave::Weave;

use crate::deinterleave::{Deinterleave, Past};
use crate::interleave::Interleave;
use crate::lanes::{LANE, LINE, Lanes, next_line};
use crate::loops::{Loops, ONCE};
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::stage::starts_lines;
use crate::tuning::WOVEN_BLOCK;
use crate::walk::each_point;

/// Bytes of a row of words, at least.
const LEAST_ROW: usize = 2 * LINE;

/// The most bytes of a word.
const WORD: usize = 4;

/// What is written behind the words of a block.
const SLACK: usize = 4 * LINE;

/// A nest of such groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Groups {
    outer: Loops,
    /// From element to element of a word, which is from group to group.
    across: Loop,
    /// True where those follow one another.
    follow: bool,
    /// From element to element of a group.
    rows: Loop,
    /// From word to word of a row.
    columns: Loop,
    /// What goes on where these end, of the latter of which a block has some steps: where the groups of a word follow one another, those of
    /// the next words, else the next row of words.
    whole: Loop,
    further: Loop,
    /// Bytes of an element, and of a word.
    element: usize,
    word: usize,
    /// True where groups are woven first, false where they are taken apart last.
    zips: bool,
}

impl Groups {
    /// The nest as such groups, if it is one, and not better moved by others.
    pub(crate) fn new<L: Lanes>(
        loops: &[Loop],
        element: usize,
        dst: *mut u8,
        stream: bool,
    ) -> Option<Groups> {
        // Rows of words that start no lines would want a carry for every block, and registers take groups that are woven by themselves.
        let pays = |groups: &Groups| {
            let takes_groups = stream && groups.rows.extent * element <= L::BYTES;
            (!stream || groups.start_lines(dst)) && (!groups.follow || takes_groups)
        };
        let woven = Groups::of(loops, element, true).filter(pays);
        woven.or_else(|| Groups::of(loops, element, false))
    }

    /// True where every row of words starts a line.
    fn start_lines(&self, dst: *mut u8) -> bool {
        let others = [&self.rows, &self.whole, &self.further];
        starts_lines(self.outer.as_slice().iter().chain(others), dst)
    }

    fn of(loops: &[Loop], element: usize, zips: bool) -> Option<Groups> {
        // Strides on the side of the groups, and on that of the words.
        let grouped = |l: &Loop| if zips { l.src_stride } else { l.dst_stride };
        let woven = |l: &Loop| if zips { l.dst_stride } else { l.src_stride };
        let unit = element as isize;
        let mut outer = Loops::of_few(loops).filter(|_| matches!(element, 1 | 2))?;
        let across = outer.take(|l| woven(l) == unit && matches!(l.extent, 2 | 4))?;
        let rows = outer.take(|l| grouped(l) == unit)?;
        let word = element * across.extent;
        let columns = outer.take(|l| woven(l) == word as isize && l.extent * word >= LEAST_ROW)?;
        let next = |outer: &mut Loops, stride: &dyn Fn(&Loop) -> isize, place: usize| {
            outer.take(|l| usize::try_from(stride(l)) == Ok(place)).unwrap_or(ONCE)
        };
        let group = rows.extent * element;
        let follow = zips && usize::try_from(grouped(&across)) == Ok(group);
        if word > WORD || group >= LINE || 2 * rows.extent * word <= LANE {
            return None;
        }
        let (whole, further) = if follow {
            let whole = next(&mut outer, &grouped, group * across.extent);
            (whole, next(&mut outer, &grouped, group * across.extent * whole.extent))
        } else if usize::try_from(grouped(&columns)) == Ok(group) {
            (ONCE, next(&mut outer, &woven, columns.extent * word))
        } else {
            return None;
        };
        // What is next in the source comes next.
        outer.sort_by_key(|l| std::cmp::Reverse(l.src_stride.unsigned_abs()));
        let groups = Groups { outer, across, follow, rows, columns, whole, further, element, word, zips };
        // What lies between words takes as much at most.
        let fits = groups.bytes() <= WOVEN_BLOCK && groups.pitches(1).all <= 2 * WOVEN_BLOCK;
        fits.then_some(groups)
    }

    /// Bytes of a step of a block; loops that stand still on a side may have any number of steps.
    fn bytes(&self) -> usize {
        let words = self.rows.extent.saturating_mul(self.columns.extent).saturating_mul(self.whole.extent);
        words.saturating_mul(self.word)
    }

    /// Where the words of so many steps lie in a buffer.
    fn pitches(&self, steps: usize) -> Pitches {
        let group = self.rows.extent * self.word;
        match self.follow {
            true => {
                let further = group * self.whole.extent;
                // An odd number of lines, so that words of a row do not meet in the cache.
                let column = (further * steps).next_multiple_of(LINE) | LINE;
                Pitches { column, whole: group, further, all: column * self.columns.extent }
            }
            // Every step starts a line.
            false => {
                let further = self.bytes().next_multiple_of(LINE);
                Pitches { column: group, whole: 0, further, all: further * steps }
            }
        }
    }

    /// Where the last element of the source ends.
    fn end(&self, src: *const u8) -> *const u8 {
        let others = [self.across, self.rows, self.columns, self.whole, self.further];
        let last = |l: &Loop| (l.extent as isize - 1) * l.src_stride.max(0);
        let places: isize = self.outer.as_slice().iter().chain(&others).map(last).sum();
        src.wrapping_offset(places).wrapping_add(self.element)
    }

    /// Moves the nest, past the cache where that is wanted.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, places: (*const u8, *mut u8), stream: bool) {
        let steps = (WOVEN_BLOCK / self.bytes()).clamp(1, self.further.extent);
        let pitches = self.pitches(steps);
        let mut room = vec![0u8; pitches.all + SLACK + LINE];
        let room = next_line(room.as_mut_ptr());
        let next = match self.outer.as_slice().last() {
            _ if steps < self.further.extent => steps * self.further.src_stride.unsigned_abs(),
            Some(next) => next.src_stride.unsigned_abs(),
            None => 0,
        };
        let (ahead, end) = (if stream { next } else { 0 }, self.end(places.0));
        let blocks = Blocks { groups: self, room, pitches, steps, stream, ahead, end };
        // SAFETY: the caller's promise, and room for a block.
        unsafe { blocks.each(lanes, self.outer.as_slice(), places) }
    }
}

/// Bytes in a buffer: from word to word of a row, and from step to step of the further loops, and in all.
#[derive(Clone, Copy)]
struct Pitches {
    column: usize,
    whole: usize,
    further: usize,
    all: usize,
}

/// Blocks of a nest.
#[derive(Clone, Copy)]
struct Blocks<'a> {
    groups: &'a Groups,
    /// Room for a block, which starts a line.
    room: *mut u8,
    pitches: Pitches,
    /// Steps of the further loop that a block has.
    steps: usize,
    stream: bool,
    /// From a block of the source to the next, which is asked for with it, in bytes; it is not if 0.
    ahead: usize,
    /// Where the source ends.
    end: *const u8,
}

impl Blocks<'_> {
    /// Moves all blocks at every point of the loops.
    ///
    /// # Safety
    /// As [`Groups::run`]; there must be room for a block.
    unsafe fn each<L: Lanes>(self, lanes: L, outer: &[Loop], (src, dst): (*const u8, *mut u8)) {
        let at = |l: &Loop, step: usize| {
            let step = step as isize;
            (src.wrapping_offset(step * l.src_stride), dst.wrapping_offset(step * l.dst_stride))
        };
        // SAFETY: places of the nest.
        unsafe {
            if let [first, rest @ ..] = outer {
                return (0..first.extent).for_each(|step| self.each(lanes, rest, at(first, step)));
            }
            let further = self.groups.further;
            for first in (0..further.extent).step_by(self.steps) {
                let steps = self.steps.min(further.extent - first);
                Blocks { steps, ..self }.block(lanes, at(&further, first));
            }
        }
    }

    /// # Safety
    /// As [`Groups::run`], for the places of a block.
    unsafe fn block<L: Lanes>(self, lanes: L, (src, dst): (*const u8, *mut u8)) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.groups.zips {
                self.weave(lanes, src);
                self.transpose(lanes, self.room, dst);
            } else {
                self.transpose(lanes, src, self.room);
                self.take_apart(lanes, dst);
            }
        }
    }

    /// Transposes words, from the buffer or to it.
    ///
    /// # Safety
    /// As [`Blocks::block`].
    unsafe fn transpose<L: Lanes>(self, lanes: L, src: *const u8, dst: *mut u8) {
        let &Groups { rows, columns, whole, further, word, zips, .. } = self.groups;
        let placed = |l: Loop, place: usize| match zips {
            true => Loop { src_stride: place as isize, ..l },
            false => Loop { dst_stride: place as isize, ..l },
        };
        let steps = placed(Loop { extent: self.steps, ..further }, self.pitches.further);
        let whole = placed(whole, self.pitches.whole);
        let [along, across] = [placed(rows, word), placed(columns, self.pitches.column)];
        let loops = if zips { [steps, whole, along, across] } else { [steps, whole, across, along] };
        let stream = self.stream && zips;
        let mover = Mover { family: Family::Transpose, element_bytes: word, level: L::LEVEL, stream };
        // SAFETY: the caller's promise.
        unsafe { mover.go(lanes, &loops, src, dst) }
    }

    /// Weaves groups to the words of a block.
    ///
    /// # Safety
    /// As [`Blocks::block`].
    unsafe fn weave<L: Lanes>(self, lanes: L, src: *const u8) {
        let &Groups { across, follow, rows, columns, whole, further, element, word, .. } = self.groups;
        let Blocks { pitches, steps, ahead, end, .. } = self;
        let columns_of = Loop { dst_stride: pitches.column as isize, ..columns };
        let steps_of = Loop { extent: steps, dst_stride: pitches.further as isize, ..further };
        let extent = rows.extent * columns.extent;
        let along = Loop { extent, src_stride: element as isize, dst_stride: word as isize };
        let (group, count) = (rows.extent, steps * whole.extent);
        macro_rules! run {
            ($($e:literal $k:literal)*) => {
                match (element, across.extent) {
                    // SAFETY: the caller's promise.
                    $(($e, $k) => unsafe {
                        if follow {
                            let kernel = Weave::<$e, $k> { group, count, ahead, end };
                            each_point(lanes, &[columns_of], src, self.room, kernel);
                        } else {
                            let kernel = Interleave::<$e, $k> { along, across, past: None, whole_rows: ahead };
                            each_point(lanes, &[steps_of], src, self.room, kernel);
                        }
                    },)*
                    _ => unreachable!("words are woven of elements of 1 or 2 bytes, and have 4 at most"),
                }
            };
        }
        run!(1 2 1 4 2 2);
    }

    /// Takes the words of a block apart to groups.
    ///
    /// # Safety
    /// As [`Blocks::block`].
    unsafe fn take_apart<L: Lanes>(self, lanes: L, dst: *mut u8) {
        let &Groups { across, rows, columns, further, element, word, .. } = self.groups;
        let steps = Loop { extent: self.steps, src_stride: self.pitches.further as isize, ..further };
        let extent = rows.extent * columns.extent;
        let along = Loop { extent, src_stride: word as isize, dst_stride: element as isize };
        let streams = self.stream && L::STREAMS && starts_lines([&steps, &across], dst);
        let past = streams.then(|| Past::new(0, across));
        macro_rules! run {
            ($($e:literal $k:literal)*) => {
                match (element, across.extent) {
                    // SAFETY: the caller's promise.
                    $(($e, $k) => unsafe {
                        each_point(lanes, &[steps], self.room, dst, Deinterleave::<$e, $k> { along, across, past });
                    },)*
                    _ => unreachable!("words are woven of elements of 1 or 2 bytes, and have 4 at most"),
                }
            };
        }
        run!(1 2 1 4 2 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(extent: usize, src_stride: isize, dst_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride }
    }

    fn turned(l: Loop) -> Loop {
        of(l.extent, l.dst_stride, l.src_stride)
    }

    #[test]
    fn kernels_become_words_of_pairs_of_them() {
        // Places of 3 x 3 of 128 channels, in pairs of kernels, four of which make a tile.
        let (across, rows, columns) = (of(2, 9216, 2), of(9, 2, 1 << 20), of(128, 18, 4));
        let (pairs, tiles) = (of(4, 18432, 512), of(4, 2304, 2048));
        let nest = [tiles, pairs, columns, rows, across];
        let zips = Groups::of(&nest, 2, true).unwrap();
        assert_eq!((zips.follow, zips.word, zips.across, zips.rows), (false, 4, across, rows));
        assert_eq!((zips.columns, zips.further, zips.outer.as_slice()), (columns, pairs, &[tiles][..]));
        // The reverse.
        let unzips = Groups::of(&nest.map(turned), 2, false).unwrap();
        assert_eq!((unzips.zips, unzips.rows, unzips.further), (false, turned(rows), turned(pairs)));
        // Groups that do not follow one another, rows of less than two lines, and groups of a line.
        for other in [of(128, 20, 4), of(31, 18, 4)] {
            assert!(Groups::of(&[pairs, other, rows, across], 2, true).is_none());
        }
        assert!(Groups::of(&[pairs, of(128, 64, 4), of(32, 2, 1 << 20), across], 2, true).is_none());
    }

    #[test]
    fn kernels_become_words_of_pairs_of_channels() {
        // Places of 3 x 3 of 64 channels, of 128 kernels.
        let (across, rows, columns) = (of(2, 18, 2), of(9, 2, 1 << 20), of(128, 1152, 4));
        let (pairs, tiles) = (of(4, 36, 512), of(8, 144, 2048));
        let nest = [tiles, pairs, columns, rows, across];
        let groups = Groups::of(&nest, 2, true).unwrap();
        assert_eq!((groups.follow, groups.whole, groups.further), (true, pairs, tiles));
        // A column of four tiles, which is nine lines.
        let pitches = groups.pitches(4);
        assert_eq!((pitches.column, pitches.whole, pitches.further), (576, 36, 144));
        // The reverse is left to others, and so is what stands still on a side, and has any number of words.
        assert!(Groups::of(&nest.map(turned), 2, false).is_none());
        let still = [of(1 << 29, 32, 0), of(1 << 30, 0, 4), of(8, 2, 0), of(2, 16, 2)];
        assert!(Groups::of(&still, 2, true).is_none());
    }
}

//! Words of eight half bytes whose slots change places between as many rows: tiles such as those of `(8,1)` that become tiles with words
//! of another dimension.
//!
//! Slot `i` of a word of row `j` becomes slot `j` of the same word of row `i`.

use crate::convert::converter::Work;
use crate::convert::flush::{streams, walk_at_level};
use crate::convert::packed::words::{WAYS, in_bytes, turn};
use crate::convert::rows::Place;
use crate::lanes::{LINE, Lanes, put};
use crate::level::Level;
use crate::loops::Loops;
use crate::nest::Loop;
use crate::stage::starts_lines;
use crate::transpose::block::network;
use crate::walk::Point;

/// Bytes of a word.
const WORD: usize = WAYS / 2;

/// How far ahead of its loads a row is asked for, in bytes: a row of a tile.
const AHEAD: usize = 512;

/// A nest of rows of such words.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedExchange {
    level: Level,
    /// Past the cache.
    stream: bool,
    /// The loops over eight rows, in bytes.
    outer: Loops,
    /// The loop over these rows, in bytes.
    rows: Loop,
    /// Bytes of a row.
    bytes: usize,
}

impl PackedExchange {
    /// The nest as words that exchange their slots; none where it has no such words, or rows of less than a line.
    pub(crate) fn new(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<PackedExchange> {
        let (mut slots, word) = (*loops, WAYS as isize);
        let from = slots.take(|l| l.src_stride == 1 && l.extent == WAYS)?;
        let to = slots.take(|l| l.dst_stride == 1 && l.extent == WAYS)?;
        let along = slots.take(|l| l.src_stride == word && l.dst_stride == word)?;
        let rows = Loop { extent: WAYS, src_stride: to.src_stride, dst_stride: from.dst_stride };
        let rows = in_bytes(work, &Loops::of(&[rows]), places)?.remove(0);
        let mut outer = in_bytes(work, &slots, places)?;
        // Whole tiles of the source one after the other.
        outer.sort_by_key(|l| std::cmp::Reverse(l.src_stride.unsigned_abs()));
        let bytes = along.extent * WORD;
        let stream = work.stream && streams(work.level);
        (bytes >= LINE).then_some(PackedExchange { level: work.level, stream, outer, rows, bytes })
    }

    /// Moves all of the nest.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run(&self, src: Place, dst: Place) {
        let (src, dst) = (src.byte_of(0).cast_const(), dst.byte_of(0));
        let &PackedExchange { ref outer, rows, bytes, .. } = self;
        let outer = outer.as_slice();
        let past =
            self.stream && bytes.is_multiple_of(LINE) && starts_lines(outer.iter().chain([&rows]), dst);
        let kernel = Rows { bytes, steps: [rows.src_stride, rows.dst_stride], past };
        // SAFETY: the caller's promise.
        let is_done = unsafe { walk_at_level(self.level, outer, (src, dst), kernel) };
        debug_assert!(is_done, "the level is there, and has registers");
    }
}

/// Eight rows of words.
#[derive(Clone, Copy, Debug)]
struct Rows {
    /// Bytes of a row.
    bytes: usize,
    /// From row to row, in the source and in the destination.
    steps: [isize; 2],
    past: bool,
}

impl Rows {
    /// A register of each row.
    ///
    /// # Safety
    /// A register must be readable, and writable, at each of eight places; past the cache they start parts of lines.
    #[inline(always)]
    unsafe fn block<L: Lanes>(self, lanes: L, src: *const u8, dst: *mut u8, past: bool) {
        let (mut low, mut high) = ([lanes.zero(); WAYS / 2], [lanes.zero(); WAYS / 2]);
        let half = WAYS / 2;
        // SAFETY: the caller's promise.
        unsafe {
            let mut row = 0;
            while row < half {
                let from = src.wrapping_offset(row as isize * self.steps[0]);
                let beyond = from.wrapping_offset(half as isize * self.steps[0]);
                if past {
                    lanes.prefetch(from.wrapping_add(AHEAD));
                    lanes.prefetch(beyond.wrapping_add(AHEAD));
                }
                (low[row], high[row]) = (lanes.load(from), lanes.load(beyond));
                row += 1;
            }
            // The words of a column, of the first four rows and of the others: a unit in each lane.
            network::<L, WORD, 4>(lanes, &mut low);
            network::<L, WORD, 4>(lanes, &mut high);
            let mut column = 0;
            while column < half {
                (low[column], high[column]) = turn(lanes, low[column], high[column]);
                column += 1;
            }
            network::<L, WORD, 4>(lanes, &mut low);
            network::<L, WORD, 4>(lanes, &mut high);
            let mut row = 0;
            while row < half {
                let to = dst.wrapping_offset(row as isize * self.steps[1]);
                put(lanes, to, low[row], past);
                put(lanes, to.wrapping_offset(half as isize * self.steps[1]), high[row], past);
                row += 1;
            }
        }
    }
}

impl Point for Rows {
    /// # Safety
    /// `bytes` bytes, a line at least, must be readable, and writable, at each of eight places, without overlap; past the cache those of
    /// the destination are whole lines.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let mut at = 0;
        // SAFETY: registers of the rows; the last one steps back rather than step outside.
        unsafe {
            while at + L::BYTES <= self.bytes {
                self.block(lanes, src.wrapping_add(at), dst.wrapping_add(at), self.past);
                at += L::BYTES;
            }
            if at < self.bytes {
                let at = self.bytes - L::BYTES;
                self.block(lanes, src.wrapping_add(at), dst.wrapping_add(at), false);
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.past
    }
}

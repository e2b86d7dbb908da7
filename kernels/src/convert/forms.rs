//! Rows at a level: in lines past the cache, and a few at a time that become one stream, or come of one.
//!
//! What reads, converts, permutes and writes is done block by block, so that the processor has all of it in flight at once.

use super::packed::pack::{pack, unpack};
use super::rows::{ConvertRows, Form, Lines, Place, Room, STEP};
use super::words::Means;
use crate::deinterleave::unzip_rows;
use crate::interleave::zip_rows;
use crate::lanes::{LINE, Lanes, apart};

/// Elements that a row must have: a line of bytes.
pub(super) const BLOCK: usize = LINE;

impl ConvertRows<'_> {
    /// Converts any rows.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], whose level the means are.
    #[inline(always)]
    pub(super) unsafe fn by_hops<M: Means>(&self, means: M) {
        debug_assert!(self.form.is_plain() || self.count >= BLOCK, "blocks of other forms are whole");
        debug_assert!(!self.form.has_pairs() && self.ragged.is_none(), "these go by words");
        let lanes = means.lanes();
        let mut room = Room::new();
        let most = if self.form.is_lines() { 2 * BLOCK } else { STEP };
        let block = most.min(self.count / BLOCK * BLOCK).max(1);
        let streamed = apart(true, block, self.count);
        for row in self.each_row() {
            let (src, dst) = self.places(row);
            let mut done = 0;
            while done < self.count {
                // The last block of a form steps back rather than be short.
                let steps_back = !self.form.is_plain() && done + block > self.count;
                let at = if steps_back { self.count - block } else { done };
                let count = if self.form.is_plain() { STEP.min(self.count - at) } else { block };
                let streams = self.form.is_plain() || done < streamed;
                let part = Block { row: row.row, src, dst, at, count, streams };
                // SAFETY: a block of the row, as the maker of the task promised, of at most `STEP` elements.
                unsafe { self.block(lanes, part, &mut room) };
                done = at + count;
            }
        }
    }
}

/// A part of a row.
#[derive(Clone, Copy)]
struct Block {
    row: isize,
    src: Place,
    dst: Place,
    /// Its first element, counted from that of the row.
    at: usize,
    count: usize,
    /// True where its lines may go past the cache.
    streams: bool,
}

/// A place in a buffer.
#[inline(always)]
fn buffer(base: *mut u8) -> Place {
    Place { bits: None, base, first: 0, pitch: 0, is_near: true }
}

impl ConvertRows<'_> {
    /// # Safety
    /// As the task, for a block.
    #[inline(always)]
    unsafe fn block<L: Lanes>(&self, lanes: L, block: Block, room: &mut Room) {
        let ways = self.form.ways();
        // SAFETY: the caller's promise; every way of a block fits the room.
        unsafe {
            self.before(lanes, block, room);
            let mut way = 0;
            while way < ways {
                let from = self.from(block, way, room);
                if from.0.bits.is_none() {
                    let bytes = self.conversion.src_bytes();
                    let first = from.0.byte(from.0.first);
                    self.look_ahead_of(lanes, block.row, first, from.1 * bytes, block.count * bytes);
                }
                if !self.moves_alone() {
                    let to = self.to(block, way, room);
                    self.part(from, to, block.count, room.hops(), self.factors_of_way(block, way));
                    self.behind(lanes, block, way, room);
                }
                way += 1;
            }
            self.after(lanes, block, room);
        }
    }

    /// True where rows are only woven, straight from one side to the other, but for packed slots.
    #[inline(always)]
    fn moves_alone(&self) -> bool {
        let woven = match self.form {
            Form::Zip { .. } => self.src.bits.is_none(),
            Form::Unzip { lines, .. } => lines != Lines::Whole,
            _ => false,
        };
        woven && self.conversion.is_identity()
    }

    /// Where a way of a block is read.
    #[inline(always)]
    fn from(&self, block: Block, way: usize, room: &mut Room) -> (Place, usize) {
        match self.form {
            Form::Zip { step, .. } => (block.src.at(way as isize * step), block.at),
            Form::Unzip { .. } => (buffer(room.others()[0]), way * block.count),
            _ => (block.src, block.at),
        }
    }

    /// Where a way of a block is written.
    #[inline(always)]
    fn to(&self, block: Block, way: usize, room: &mut Room) -> (Place, usize) {
        match self.form {
            Form::Lines | Form::Unzip { lines: Lines::Whole, .. } if block.streams => {
                (buffer(room.others()[1]), 0)
            }
            Form::Zip { .. } => (buffer(room.others()[1]), way * block.count),
            Form::Unzip { step, .. } => (block.dst.at(way as isize * step), block.at),
            _ => (block.dst, block.at),
        }
    }

    /// As [`ConvertRows::factors_of`], for a way of a block.
    #[inline(always)]
    fn factors_of_way(&self, block: Block, way: usize) -> (isize, usize) {
        match self.form {
            Form::Zip { step, .. } => self.factors_of(block.src.at(way as isize * step), block.at),
            Form::Unzip { ways, .. } => {
                let (place, unit) = self.factors_of(block.src, block.at * ways + way);
                (place, ways * unit)
            }
            _ => self.factors_of(block.src, block.at),
        }
    }

    /// Takes a block of a stream apart.
    ///
    /// # Safety
    /// As the task, for a block.
    #[inline(always)]
    unsafe fn before<L: Lanes>(&self, lanes: L, block: Block, room: &mut Room) {
        let Form::Unzip { ways, step, .. } = self.form else { return };
        let (bytes, count) = (self.conversion.src_bytes(), block.count);
        let [rows, packed] = room.others();
        let (to, step) = match self.moves_alone() {
            true => (block.dst.byte(block.dst.first + (block.at * bytes) as isize), step),
            false => (rows, (count * bytes) as isize),
        };
        // SAFETY: the caller's promise.
        unsafe {
            let from = match block.src.bits {
                Some(bits) => {
                    let first = (block.src.first + (block.at * ways) as isize) as usize;
                    packed.add(unpack(bits, block.src.base, first, packed, count * ways)).cast_const()
                }
                None => block.src.byte(block.src.first + (block.at * ways * bytes) as isize),
            };
            match (bytes, ways) {
                (1, 2) => unzip_rows::<L, 1, 2>(lanes, count, step, from, to, None),
                (1, 4) => unzip_rows::<L, 1, 4>(lanes, count, step, from, to, None),
                (1, 8) => unzip_rows::<L, 1, 8>(lanes, count, step, from, to, None),
                (2, 2) => unzip_rows::<L, 2, 2>(lanes, count, step, from, to, None),
                (2, 4) => unzip_rows::<L, 2, 4>(lanes, count, step, from, to, None),
                _ => unzip_rows::<L, 4, 2>(lanes, count, step, from, to, None),
            }
        }
    }

    /// Writes a way's lines past the cache.
    ///
    /// # Safety
    /// As the task, for a block that stands in the room.
    #[inline(always)]
    unsafe fn behind<L: Lanes>(&self, lanes: L, block: Block, way: usize, room: &mut Room) {
        let step = match self.form {
            Form::Lines if block.streams => 0,
            Form::Unzip { step, lines: Lines::Whole, .. } if block.streams => step,
            _ => return,
        };
        let bytes = self.conversion.dst_bytes();
        let (from, to) = (room.others()[1], block.dst.at(way as isize * step));
        let to = to.byte(to.first + (block.at * bytes) as isize);
        let mut byte = 0;
        while byte < block.count * bytes {
            // SAFETY: a block is whole lines, which start at lines of the destination.
            unsafe { lanes.stream(to.add(byte), lanes.load(from.add(byte))) };
            byte += L::BYTES;
        }
    }

    /// Puts the ways of a block together.
    ///
    /// # Safety
    /// As [`ConvertRows::behind`].
    #[inline(always)]
    unsafe fn after<L: Lanes>(&self, lanes: L, block: Block, room: &mut Room) {
        let Form::Zip { ways, step, stream } = self.form else { return };
        let (bytes, count) = (self.conversion.dst_bytes(), block.count);
        let [packed, rows] = room.others();
        let (from, step) = match self.moves_alone() {
            true => (block.src.byte(block.src.first + (block.at * bytes) as isize), step),
            false => (rows, (count * bytes) as isize),
        };
        let (to, stream) = match block.dst.bits {
            Some(_) => (packed, false),
            None => (
                block.dst.byte(block.dst.first + (block.at * ways * bytes) as isize),
                stream && block.streams,
            ),
        };
        let past = stream.then_some(0);
        // SAFETY: the caller's promise.
        unsafe {
            match (bytes, ways) {
                (1, 2) => zip_rows::<L, 1, 2>(lanes, count, step, from, to, past),
                (1, 4) => zip_rows::<L, 1, 4>(lanes, count, step, from, to, past),
                (1, 8) => zip_rows::<L, 1, 8>(lanes, count, step, from, to, past),
                (2, 2) => zip_rows::<L, 2, 2>(lanes, count, step, from, to, past),
                (2, 4) => zip_rows::<L, 2, 4>(lanes, count, step, from, to, past),
                _ => zip_rows::<L, 4, 2>(lanes, count, step, from, to, past),
            }
            if let Some(bits) = block.dst.bits {
                let first = (block.dst.first + (block.at * ways) as isize) as usize;
                pack(bits, packed, block.dst.base, first, count * ways);
            }
        }
    }
}

/// True where the elements' bytes and the ways have a body.
pub(super) fn has_body(bytes: usize, ways: usize) -> bool {
    matches!((bytes, ways), (1, 2 | 4 | 8) | (2, 2 | 4) | (4, 2))
}

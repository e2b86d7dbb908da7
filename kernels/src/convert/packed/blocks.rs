//! Transposes of slots that share bytes, on either side or on both, where rows start inside bytes, or what lies together on a side is
//! more than one loop: block by block in the second-level cache, and to their bits from there.

use crate::convert::converter::{Work, each_place};
use crate::convert::flush::{Buffer, streams, walk_at_level};
use crate::convert::packed::bit_runs::BitRows;
use crate::convert::packed::columns::{PackedColumns, PackedSides, STRETCH_BYTES, WIDEST};
use crate::convert::packed::listed_columns::{ListedColumns, Start};
use crate::convert::packed::stored_columns::StoredColumns;
use crate::convert::rows::Place;
use crate::lanes::{LANE, LINE};
use crate::level::Level;
use crate::loops::Loops;
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::slots::Bits;

/// Bytes of a block's rows: as many of them as bytes have slots times a stretch, and all of it stays in the second-level cache.
const fn block_width(slots: usize) -> usize {
    if slots == 8 { 2 * WIDEST } else { 4 * WIDEST }
}

/// Bytes of a block of short rows.
const BLOCK: usize = 384 << 10;

/// A nest that is a transpose of packed slots in blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedBlocks {
    level: Level,
    bits: Bits,
    packed: PackedSides,
    /// Past the cache.
    stream: bool,
    outer: Loops,
    /// What lies together in the source.
    rows: Together,
    /// What lies together in the destination.
    columns: Together,
}

/// Loops over slots that lie together on one side.
#[derive(Clone, Copy, Debug)]
struct Together {
    /// The fastest first.
    loops: Loops,
    slots: usize,
}

impl Together {
    /// Takes the loops that continue one another on a side from single slots on, until there are so many.
    fn take(outer: &mut Loops, stride: fn(&Loop) -> isize, most: usize) -> Together {
        let mut found = Together { loops: Loops::default(), slots: 1 };
        while found.slots < most {
            let Some(next) = outer.take(|l| stride(l) == found.slots as isize) else { break };
            found.slots *= next.extent;
            found.loops.push(next);
        }
        found
    }

    /// Where one of these lies on the other side, and how many from it on lie evenly there.
    fn place(&self, number: usize, stride: fn(&Loop) -> isize) -> (isize, usize) {
        let (mut place, mut left) = (0, number);
        for l in self.loops.as_slice() {
            place += (left % l.extent) as isize * stride(l);
            left /= l.extent;
        }
        let fastest = self.loops.as_slice().first().map_or(1, |l| l.extent);
        (place, fastest - number % fastest)
    }

    /// From one to the next on the other side, where they lie evenly.
    fn step(&self, stride: fn(&Loop) -> isize) -> isize {
        self.loops.as_slice().first().map_or(0, stride)
    }

    /// At most so many: of all loops but the slowest every step.
    fn part(&self, most: usize) -> usize {
        let slowest = self.loops.as_slice().last().map_or(1, |l| l.extent);
        let inner = self.slots / slowest;
        inner * (most / inner).clamp(1, slowest)
    }
}

fn src_stride(l: &Loop) -> isize {
    l.src_stride
}

fn dst_stride(l: &Loop) -> isize {
    l.dst_stride
}

/// What blocks are made in.
pub(crate) struct Room {
    starts: Vec<Start>,
    /// A stretch of each column of a strip.
    pub(crate) made: Buffer,
    /// A block, with a line before each row.
    block: Buffer,
    pitch: usize,
    /// Rows of a block.
    rows: usize,
}

/// Consecutive rows, or columns.
#[derive(Clone, Copy)]
pub(crate) struct Part {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Part {
    /// The same in parts of at most so many.
    fn by(self, most: usize) -> impl Iterator<Item = Part> {
        let end = self.first + self.count;
        (self.first..end).step_by(most).map(move |first| Part { first, count: most.min(end - first) })
    }
}

impl PackedBlocks {
    /// The nest in blocks, where enough lies together on both sides.
    pub(crate) fn new(work: &Work<'_>, loops: &Loops, places: [Place; 2]) -> Option<PackedBlocks> {
        let (bits, packed) = PackedSides::of(work, places)?;
        let per_byte = 8 / bits as usize;
        let [parts, joined] = packed.per_byte(per_byte);
        let mut outer = *loops;
        // One loop cannot lie together on both sides.
        if outer.as_slice().iter().any(|l| l.src_stride == 1 && l.dst_stride == 1) {
            return None;
        }
        let first_columns = outer.take(|l| l.dst_stride == 1)?;
        let rows = Together::take(&mut outer, src_stride, parts * STRETCH_BYTES);
        outer.push(first_columns);
        let columns = Together::take(&mut outer, dst_stride, joined * block_width(per_byte));
        let fits = rows.slots >= LANE * parts && columns.slots >= LANE * joined;
        let stream = work.stream && streams(work.level);
        fits.then_some(PackedBlocks { level: work.level, bits, packed, stream, outer, rows, columns })
    }

    /// True where rows and columns are those of these loops, and no others before them.
    pub(crate) fn begins_with(&self, rows: Loop, columns: Loop) -> bool {
        [(&self.rows, rows), (&self.columns, columns)]
            .iter()
            .all(|(all, l)| all.loops.as_slice().first() == Some(l))
    }

    /// Moves all of the nest.
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

    /// Rows that share bytes of the source, and columns that share bytes of the destination.
    fn per_byte<const SLOTS: usize>(&self) -> [usize; 2] {
        self.packed.per_byte(SLOTS)
    }

    /// Room for the nest's blocks.
    pub(crate) fn room<const SLOTS: usize>(&self) -> Room {
        let [parts, joined] = self.per_byte::<SLOTS>();
        let width = self.columns.slots.div_ceil(joined).next_multiple_of(LANE).min(block_width(SLOTS));
        // From row to row: no power of two.
        let pitch = width.next_multiple_of(LINE) + LINE;
        let most = parts * STRETCH_BYTES;
        let rows = self.rows.part((BLOCK / pitch / most).max(1) * most);
        let stretch = rows.div_ceil(parts).min(STRETCH_BYTES);
        let [made, block] =
            [PackedColumns::<SLOTS>::room(stretch), rows.next_multiple_of(parts) * pitch].map(Buffer::new);
        let starts = vec![Start::default(); ListedColumns::<SLOTS>::listed(WIDEST * SLOTS)];
        Room { starts, made, block, pitch, rows }
    }

    /// # Safety
    /// As [`PackedBlocks::run`].
    unsafe fn planes<const SLOTS: usize>(&self, src: Place, dst: Place) {
        let mut room = self.room::<SLOTS>();
        let [rows, columns] = [self.rows.slots, self.columns.slots].map(|count| Part { first: 0, count });
        each_place(self.outer.as_slice(), src, dst, &mut |src, dst| {
            // SAFETY: the rows and columns of the nest at a point of the outer loops.
            unsafe { self.part::<SLOTS>((rows, columns), src, dst, &mut room) };
        });
    }

    /// Moves some rows and columns at a point of the outer loops.
    ///
    /// # Safety
    /// As [`PackedBlocks::run`], for these, with the nest's own room.
    pub(crate) unsafe fn part<const SLOTS: usize>(
        &self,
        (rows, columns): (Part, Part),
        src: Place,
        dst: Place,
        room: &mut Room,
    ) {
        for rows in rows.by(room.rows) {
            // SAFETY: some of these rows, for which there is room.
            unsafe { self.rows::<SLOTS>((rows, columns), src, dst, room) };
        }
    }

    /// Some rows, block by block.
    ///
    /// # Safety
    /// As [`PackedBlocks::part`], for rows of which there must be room for a block.
    unsafe fn rows<const SLOTS: usize>(
        &self,
        (rows, all): (Part, Part),
        src: Place,
        dst: Place,
        room: &mut Room,
    ) {
        let [_, joined] = self.per_byte::<SLOTS>();
        for columns in all.by(joined * block_width(SLOTS)) {
            // SAFETY: some columns of these rows.
            unsafe { self.block::<SLOTS>((rows, columns), src, room) };
            let block = room.block.start();
            let is_all = columns.count == self.columns.slots;
            // SAFETY: the block's rows, of which all are written.
            if is_all && unsafe { self.bytes((rows, joined), (block.cast_const(), dst), room.pitch) } {
                continue;
            }
            let slot = if joined == 1 { 8 } else { 8 / SLOTS };
            let moved = BitRows {
                rows: 0,
                pitch: room.pitch,
                first: slot as isize * (dst.first + columns.first as isize),
                step: slot as isize * self.rows.step(dst_stride),
                count: slot * columns.count,
                follow: columns.first > all.first,
                next: (columns.first + columns.count < all.first + all.count).then_some(block_width(SLOTS)),
                stream: self.stream,
            };
            // SAFETY: the same.
            unsafe { self.scatter(moved, (slot, rows), block, dst.base) };
        }
    }

    /// Moves rows of a block that has all columns, of which so many make a byte, to their bytes; false where they are none, and nothing
    /// was done.
    ///
    /// # Safety
    /// As [`PackedBlocks::rows`]; the rows must lie in the block.
    unsafe fn bytes(
        &self,
        (rows, per_byte): (Part, usize),
        (block, dst): (*const u8, Place),
        pitch: usize,
    ) -> bool {
        let per_byte = per_byte as isize;
        let bytes = |slots: isize| (slots % per_byte == 0).then_some(slots / per_byte);
        let first = bytes(dst.first + self.rows.place(rows.first, dst_stride).0);
        let (Some(first), Some(runs)) = (first, self.runs(rows, pitch, bytes)) else { return false };
        let mover = Mover { family: Family::Rows, element_bytes: 1, level: self.level, stream: self.stream };
        let (from, to) = (block.wrapping_add(LINE), dst.base.wrapping_offset(first));
        // SAFETY: the caller's promise.
        unsafe { mover.dispatch(runs.as_slice(), from, to) };
        true
    }

    /// The loops by which rows of a block, all of whose columns it has, go to their places, where all are whole bytes.
    fn runs(&self, rows: Part, pitch: usize, bytes: impl Fn(isize) -> Option<isize>) -> Option<Loops> {
        let (mut runs, mut span) = (Loops::default(), 1);
        for l in self.rows.loops.as_slice() {
            let extent = l.extent.min(rows.count / span);
            runs.push(Loop { extent, src_stride: (span * pitch) as isize, dst_stride: bytes(l.dst_stride)? });
            span *= extent;
        }
        let run = bytes(self.columns.slots as isize)?;
        runs.push(Loop { extent: run.unsigned_abs(), src_stride: 1, dst_stride: 1 });
        runs.sort_by_key(|l| std::cmp::Reverse(l.dst_stride.unsigned_abs()));
        (span == rows.count).then_some(runs)
    }

    /// Transposes some rows and columns to a block.
    ///
    /// # Safety
    /// As [`PackedBlocks::rows`], for these columns.
    unsafe fn block<const SLOTS: usize>(&self, (rows, columns): (Part, Part), src: Place, room: &mut Room) {
        let [parts, joined] = self.per_byte::<SLOTS>();
        let block = room.block.start();
        for stretch in rows.by(parts * STRETCH_BYTES) {
            for strip in columns.by(joined * WIDEST) {
                let to = (stretch.first - rows.first) * room.pitch + (strip.first - columns.first) / joined;
                // SAFETY: some of these.
                unsafe { self.strip::<SLOTS>((stretch, strip), src, block.wrapping_add(LINE + to), room) };
            }
        }
    }

    /// Transposes some columns to a block.
    ///
    /// # Safety
    /// As [`PackedBlocks::rows`], for these columns, and at most a stretch of them.
    unsafe fn strip<const SLOTS: usize>(
        &self,
        (rows, columns): (Part, Part),
        src: Place,
        to: *mut u8,
        room: &mut Room,
    ) {
        let [parts, joined] = self.per_byte::<SLOTS>();
        let width = columns.count.div_ceil(joined).next_multiple_of(LANE);
        let listed = &mut room.starts[..ListedColumns::<SLOTS>::listed(width * joined)];
        self.list::<SLOTS>(src.first + rows.first as isize, columns.first, listed);
        let source = ListedColumns::<SLOTS> {
            packed: self.packed,
            starts: room.starts.as_ptr(),
            bits: rows.count * 8 / parts,
            width,
            made: room.made.start(),
        };
        let kernel = StoredColumns::<1, LANE, _> {
            source,
            columns: Loop { extent: width, src_stride: 0, dst_stride: 1 },
            rows: Loop {
                extent: rows.count.div_ceil(parts),
                src_stride: 1,
                dst_stride: (parts * room.pitch) as isize,
            },
        };
        // SAFETY: the caller's promise.
        let done = unsafe { walk_at_level(self.level, &[], (src.base, to), kernel) };
        debug_assert!(done, "blocks are for levels with registers");
    }

    /// Lists where columns start, from one on, and so many slots behind the source's first. Behind the last one it is listed again.
    fn list<const SLOTS: usize>(&self, behind: isize, first: usize, starts: &mut [Start]) {
        let [per_byte, _] = self.per_byte::<SLOTS>();
        let (step, last) = (self.columns.step(src_stride), self.columns.slots - 1);
        let mut listed = 0;
        while listed < starts.len() {
            let number = (first + listed).min(last);
            let (place, mut even) = self.columns.place(number, src_stride);
            if number == last {
                even = starts.len() - listed;
            }
            let step = if number == last { 0 } else { step };
            for (i, start) in starts[listed..].iter_mut().take(even).enumerate() {
                let slot = behind + place + i as isize * step;
                let inside = slot.rem_euclid(per_byte as isize) as usize * (8 / per_byte);
                *start = Start { byte: slot.div_euclid(per_byte as isize), bits: inside as u32 };
            }
            listed += even;
        }
    }

    /// Moves rows of a block to their bits, as many at a time as lie evenly.
    ///
    /// # Safety
    /// As [`PackedBlocks::rows`], for the columns of the block.
    unsafe fn scatter(&self, moved: BitRows, (slot, rows): (usize, Part), block: *const u8, dst: *mut u8) {
        let mut row = 0;
        while row < rows.count {
            let (place, even) = self.rows.place(rows.first + row, dst_stride);
            let some = BitRows {
                rows: even.min(rows.count - row),
                first: moved.first + slot as isize * place,
                ..moved
            };
            let from = block.wrapping_add(row * moved.pitch);
            // SAFETY: the caller's promise, for some of the rows.
            unsafe { walk_at_level(self.level, &[], (from, dst), some) };
            row += some.rows;
        }
    }
}

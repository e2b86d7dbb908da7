//! A level for tests: registers in plain memory, and a record of what goes past the cache.
//!
//! It runs every kernel with 2 or 4 lanes on any machine, under Miri too, and it sees what results do not show: that
//! streamed stores are aligned, make up whole lines, touch no byte twice and are fenced, and how many lines they write.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::lanes::{LANE, LINE, Lanes, Task};
use crate::nest::{Loop, Nest};
use crate::{Family, Level, Mover, copy_nest};

/// A level of `N` lanes.
#[derive(Clone, Copy)]
struct Model<const N: usize>;

/// What the level of one run has seen.
#[derive(Default)]
struct Record {
    /// Addresses that may be read, those that may be written, and around each what may not.
    src: Bounds,
    dst: Bounds,
    /// Streamed bytes of every line.
    lines: BTreeMap<usize, u64>,
    fence_is_due: bool,
}

/// A slice's addresses, in those of its allocation.
#[derive(Default)]
struct Bounds {
    slice: Range<usize>,
    allocation: Range<usize>,
}

impl Bounds {
    fn of(allocation: &[u8], slice: &[u8]) -> Bounds {
        let addresses = |bytes: &[u8]| {
            let range = bytes.as_ptr_range();
            range.start.addr()..range.end.addr()
        };
        Bounds { slice: addresses(slice), allocation: addresses(allocation) }
    }

    /// Scratch buffers lie outside of both allocations.
    fn check(&self, place: usize, len: usize) {
        let touches = place < self.allocation.end && place + len > self.allocation.start;
        let inside = place >= self.slice.start && place + len <= self.slice.end;
        assert!(!touches || inside, "{len} bytes at {place:#x} leave {:x?}", self.slice);
    }
}

thread_local! {
    static RECORD: RefCell<Record> = RefCell::default();
}

// SAFETY: plain copies of bytes, exactly as each method says.
unsafe impl<const N: usize> Lanes for Model<N> {
    type Vector = [[u8; LANE]; N];
    const LANES: usize = N;
    const STREAMS: bool = true;
    type Narrow = Model<1>;

    fn narrow(self) -> Model<1> {
        Model
    }

    unsafe fn vectorize(self, task: impl Task) {
        // SAFETY: the caller's promise.
        unsafe { task.run(self) }
    }

    fn zero(self) -> Self::Vector {
        [[0; LANE]; N]
    }

    unsafe fn load(self, from: *const u8) -> Self::Vector {
        // SAFETY: lanes of a register are one behind the other.
        unsafe { self.load_lanes(from, LANE as isize) }
    }

    unsafe fn load_lanes(self, from: *const u8, step: isize) -> Self::Vector {
        std::array::from_fn(|lane| {
            let from = from.wrapping_offset(lane as isize * step);
            RECORD.with_borrow(|record| record.src.check(from.addr(), LANE));
            // SAFETY: the caller promises a lane at each place.
            unsafe { from.cast::<[u8; LANE]>().read_unaligned() }
        })
    }

    unsafe fn store(self, to: *mut u8, vector: Self::Vector) {
        // SAFETY: lanes of a register are one behind the other.
        unsafe { self.store_lanes(to, LANE as isize, vector) }
    }

    unsafe fn stream(self, to: *mut u8, vector: Self::Vector) {
        let (line, place) = (to.addr() / LINE * LINE, to.addr() % LINE);
        assert!(place.is_multiple_of(Self::BYTES), "a register streamed to {place} of a line");
        RECORD.with_borrow_mut(|record| {
            assert!(record.dst.slice.contains(&to.addr()), "streamed to a scratch buffer");
            let bytes = (u64::MAX >> (64 - Self::BYTES)) << place;
            let streamed = record.lines.entry(line).or_default();
            assert_eq!(*streamed & bytes, 0, "streamed twice");
            *streamed |= bytes;
            record.fence_is_due = true;
        });
        // SAFETY: the caller's promise.
        unsafe { self.store(to, vector) }
    }

    fn fence(self) {
        RECORD.with_borrow_mut(|record| record.fence_is_due = false);
    }

    fn prefetch(self, _address: *const u8) {}

    fn prefetch_near(self, _address: *const u8) {}

    fn zip<const UNIT: usize>(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
        let half = |lane: usize, start: usize| {
            std::array::from_fn(|at| {
                let from = start + at / (2 * UNIT) * UNIT + at % UNIT;
                if (at / UNIT).is_multiple_of(2) { a[lane][from] } else { b[lane][from] }
            })
        };
        (std::array::from_fn(|lane| half(lane, 0)), std::array::from_fn(|lane| half(lane, LANE / 2)))
    }

    fn zip_lanes(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
        let lane = |at: usize| if at.is_multiple_of(2) { a[at / 2] } else { b[at / 2] };
        (std::array::from_fn(lane), std::array::from_fn(|at| lane(N + at)))
    }

    fn unzip<const UNIT: usize>(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector) {
        let both = [a.as_flattened(), b.as_flattened()].concat();
        let every_other = |first: usize| {
            std::array::from_fn(|lane| {
                std::array::from_fn(|at| {
                    let byte = lane * LANE + at;
                    both[(byte / UNIT * 2 + first) * UNIT + byte % UNIT]
                })
            })
        };
        (every_other(0), every_other(1))
    }

    unsafe fn store_lanes(self, to: *mut u8, step: isize, vector: Self::Vector) {
        for (index, lane) in vector.into_iter().enumerate() {
            let to = to.wrapping_offset(index as isize * step);
            RECORD.with_borrow(|record| record.dst.check(to.addr(), LANE));
            // SAFETY: the caller promises a lane at each place.
            unsafe { to.cast::<[u8; LANE]>().write_unaligned(lane) };
        }
    }

    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| std::array::from_fn(|at| a[lane][at] | b[lane][at]))
    }

    fn shuffle(self, vector: Self::Vector, order: [u8; LANE]) -> Self::Vector {
        vector.map(|lane| order.map(|from| if from & 0x80 == 0 { lane[usize::from(from)] } else { 0 }))
    }
}

/// Runs a nest that streams to `misalignment` bytes behind the start of a line, and checks what it wrote; returns how many
/// lines were streamed, and how many the destination has.
fn streamed<const N: usize>(
    family: Family,
    element: usize,
    loops: &[Loop],
    misalignment: usize,
) -> (usize, usize) {
    let reach = |stride: fn(&Loop) -> isize| {
        loops.iter().map(|l| (l.extent - 1) * stride(l).unsigned_abs()).sum::<usize>() + element
    };
    let (src_len, dst_len) = (reach(|l| l.src_stride), reach(|l| l.dst_stride));
    let src: Vec<u8> = (0..src_len + 2 * LINE).map(|i| (i.wrapping_mul(2_654_435_761) >> 7) as u8).collect();
    let mut dst = vec![0xa5; dst_len + 4 * LINE];
    let start = LINE + dst[LINE..].as_ptr().align_offset(LINE) + misalignment;
    let nest = Nest { src_offset: LINE as isize, dst_offset: start as isize, loops };
    let mut wanted = dst.clone();
    copy_nest(&src, &mut wanted, nest, element).unwrap();

    let bounds =
        (Bounds::of(&src, &src[LINE..LINE + src_len]), Bounds::of(&dst, &dst[start..start + dst_len]));
    RECORD.set(Record { src: bounds.0, dst: bounds.1, ..Record::default() });
    let mover = Mover { family, element_bytes: element, level: Level::Scalar, stream: true };
    // SAFETY: `copy_nest` has checked that the nest lies inside both slices, which do not overlap.
    unsafe { mover.go(Model::<N>, loops, src.as_ptr().add(LINE), dst.as_mut_ptr().add(start)) };
    let record = RECORD.take();
    assert!(dst == wanted, "wrong bytes: {N} lanes, {mover:?}, {loops:?}");
    assert!(!record.fence_is_due, "no fence: {N} lanes, {mover:?}, {loops:?}");
    let whole = record.lines.values().all(|&bytes| bytes == u64::MAX);
    assert!(whole, "parts of lines: {N} lanes, {mover:?}, {loops:?}");
    (record.lines.len(), dst_len / LINE)
}

/// Every number of lanes, at the start of a line and elsewhere; at least so many per cent of the lines are streamed.
fn check(family: Family, element: usize, loops: &[Loop], at_least: [usize; 2]) {
    for (misalignment, at_least) in [(0, at_least[0]), (5, at_least[1]), (16, at_least[1]), (63, at_least[1])]
    {
        let all = [
            streamed::<2>(family, element, loops, misalignment),
            streamed::<4>(family, element, loops, misalignment),
        ];
        for (lanes, (lines, of)) in [2, 4].into_iter().zip(all) {
            let what = format!("{lanes} lanes, {family:?} of {element} bytes at {misalignment}: {loops:?}");
            assert!(lines * 100 >= of * at_least, "only {lines} of {of} lines streamed: {what}");
        }
    }
}

fn a_loop(extent: usize, src_stride: usize, dst_stride: usize) -> Loop {
    Loop { extent, src_stride: src_stride as isize, dst_stride: dst_stride as isize }
}

#[test]
fn rows_stream_every_line() {
    check(Family::Rows, 1, &[a_loop(3, 704, 640), a_loop(640, 1, 1)], [100, 80]);
    // Pieces of rows: each row carries, so that only its ends are stored.
    for (more, pieces, row) in [(5, 4, 4 * 128), (5, 4, 4 * 128 + 9)] {
        let loops = [a_loop(pieces, more * 128, 128), a_loop(more, 128, row), a_loop(128, 1, 1)];
        check(Family::Rows, 1, &loops, [if row % LINE == 0 { 100 } else { 75 }, 75]);
    }
}

#[test]
fn interleaves_stream_every_line() {
    for element in [1, 2, 4, 8] {
        for ways in 2..=if element == 8 { 4 } else { 8 } {
            let along = 1024 / element;
            let loops = [
                a_loop(3, ways * along * element, ways * along * element),
                a_loop(along, element, ways * element),
                a_loop(ways, along * element, element),
            ];
            check(Family::Interleave, element, &loops, [100, 85]);
        }
    }
}

#[test]
fn deinterleaves_stream_every_line() {
    for element in [1, 2, 4, 8] {
        for ways in 2..=if element == 8 { 4 } else { 8 } {
            let (piece, pieces) = (256, 6);
            let row = pieces * piece;
            let across = a_loop(ways, element, row);
            let along = a_loop(piece / element, ways * element, element);
            // Pieces that continue the rows.
            let loops = [a_loop(2, pieces * ways * piece, ways * row), a_loop(pieces, ways * piece, piece)];
            check(Family::Deinterleave, element, &[loops[0], loops[1], across, along], [100, 90]);
            // Whole rows, which are staged where they start anywhere.
            let along = a_loop(row / element, ways * element, element);
            check(Family::Deinterleave, element, &[loops[0], across, along], [80, 80]);
        }
    }
}

#[test]
fn transposes_stream_every_line() {
    for element in [1, 2, 4, 8, 16] {
        let (rows, columns) = (128 / element, 384 / element);
        for (pad, at_least) in [(0, [85, 50]), (64, [75, 45]), (7, [45, 45])] {
            let row = columns * element + pad;
            let columns = a_loop(columns, 200, element);
            let outer = a_loop(2, columns.extent * 200, rows * (row + LINE));
            check(Family::Transpose, element, &[outer, a_loop(rows, element, row), columns], at_least);
            // The same rows, a lane at a time, with a line between the lanes.
            let lane = LANE / element;
            let beyond = a_loop(rows / lane, LANE, lane * row + LINE);
            let parts = [outer, beyond, a_loop(lane, element, row), columns];
            check(Family::Transpose, element, &parts, at_least);
        }
    }
}

#[test]
fn edges_of_transposes_are_no_parts_of_lines() {
    for element in [1, 2, 4, 8, 16] {
        let line = LINE / element;
        for (rows, columns) in [(line + 1, 3 * line - 1), (2 * line - 1, 2 * line + 1), (line - 1, 200)] {
            for pad in [0, 5] {
                let row = (columns * element).next_multiple_of(LINE) + pad;
                let loops = [a_loop(rows, element, row), a_loop(columns, rows * element + 1, element)];
                check(Family::Transpose, element, &loops, [0, 0]);
            }
        }
    }
}

#[test]
fn skinny_transposes_stream_every_line() {
    for element in [1, 2, 4, 8, 16] {
        // Rows that follow one another are one stream, whole rows or not.
        for columns in [7, 24] {
            let rows = 4096 / element;
            let loops = [a_loop(rows, element, columns * element), a_loop(columns, rows * element, element)];
            check(Family::Transpose, element, &loops, [95, 80]);
        }
        // A few rows, which are no line of the source.
        let (rows, columns) = (24 / element.min(8), 2048 / element);
        for row in [2048, 2053] {
            let loops = [a_loop(rows, element, row), a_loop(columns, rows * element, element)];
            check(Family::Transpose, element, &loops, [if row == 2048 { 95 } else { 85 }, 85]);
        }
    }
}

/// More rows than are walked before the next strip: their carries share the buffer.
#[test]
fn transposes_of_many_rows_stream_every_line() {
    let rows = if cfg!(miri) { 128 } else { 2200 };
    for row in [256, 259] {
        let loops = [a_loop(rows, 1, row), a_loop(256, rows, 1)];
        check(Family::Transpose, 1, &loops, [if row == 256 { 95 } else { 70 }, 70]);
    }
}

#[test]
fn staged_tiles_stream_nearly_every_line() {
    let loops = [
        a_loop(8, 2, 7 * 5 * 9 * 3 * 2),
        a_loop(7, 16 * 3 * 9, 5 * 9 * 3 * 2),
        a_loop(5, 16 * 3 * 9 * 7, 9 * 3 * 2),
        a_loop(9, 16 * 3, 3 * 2),
        a_loop(3, 16, 2),
    ];
    check(Family::Strided, 2, &loops, [50, 50]);
}

/// Sets of short loops that start lines, and rows that start anywhere.
#[test]
fn sets_of_loops_stream_every_line() {
    for element in [1, 2, 4, 8, 16] {
        // Rows of 3 x 5 x 28 lines, a column of 4 x 3 lanes.
        let (lane, line) = (LANE / element, LINE / element);
        let (rows, columns) = (12 * lane, 3 * 5 * 4 * line);
        for (row, at_least) in [(columns * element, [90, 55]), (columns * element + 7, [55, 55])] {
            let loops = [
                a_loop(4, 3 * LANE, 3 * lane * row),
                a_loop(3, LANE, lane * row),
                a_loop(lane, element, row),
                a_loop(3, 5 * 4 * line * rows * element, 5 * 4 * LINE),
                a_loop(4 * line, 5 * rows * element, 5 * element),
                a_loop(5, rows * element, element),
            ];
            check(Family::Strided, element, &loops, at_least);
        }
    }
}

#[test]
fn programs_stream_nearly_every_line() {
    // Groups of 3 x 5 bytes, turned.
    let loops = [a_loop(4000, 15, 15), a_loop(5, 1, 3), a_loop(3, 5, 1)];
    check(Family::Strided, 1, &loops, [95, 80]);
    // Short rows that change places.
    let loops = [a_loop(1000, 24 * 6, 24 * 6), a_loop(6, 12, 24), a_loop(2, 72, 12)];
    check(Family::Strided, 12, &loops, [80, 70]);
}

//! A level for tests: registers in plain memory, and a record of what goes past the cache.
//!
//! It runs every kernel with 2 or 4 lanes on any machine, under Miri too, and it sees what results do not show: that
//! streamed stores are aligned, make up whole lines, touch no byte twice and are fenced, and how many lines they write.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::lanes::{LANE, LINE, Lanes, Task};
use crate::level::Level;

mod streams;

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
    const LEVEL: Level = Level::Scalar;
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

    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| std::array::from_fn(|at| a[lane][at] & b[lane][at]))
    }

    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| std::array::from_fn(|at| a[lane][at] ^ b[lane][at]))
    }

    fn add_bytes(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        std::array::from_fn(|lane| std::array::from_fn(|at| a[lane][at].wrapping_add(b[lane][at])))
    }

    fn shift_up(self, vector: Self::Vector, bits: u32) -> Self::Vector {
        vector.map(|lane| bytemuck::cast(bytemuck::cast::<_, [u64; 2]>(lane).map(|word| word << bits)))
    }

    fn shift_down(self, vector: Self::Vector, bits: u32) -> Self::Vector {
        vector.map(|lane| bytemuck::cast(bytemuck::cast::<_, [u64; 2]>(lane).map(|word| word >> bits)))
    }

    fn halves(self, vector: Self::Vector) -> (Self::Vector, Self::Vector) {
        (vector.map(|lane| lane.map(|byte| byte & 0x0f)), vector.map(|lane| lane.map(|byte| byte >> 4)))
    }

    fn shuffle(self, vector: Self::Vector, order: [u8; LANE]) -> Self::Vector {
        vector.map(|lane| order.map(|from| if from & 0x80 == 0 { lane[usize::from(from)] } else { 0 }))
    }

    fn look_up(self, table: [u8; LANE], places: Self::Vector) -> Self::Vector {
        places.map(|lane| lane.map(|place| table[usize::from(place)]))
    }
}

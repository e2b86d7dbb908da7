//! What a level offers the kernels: registers of 16-byte lanes, and the few moves that every family is made of.
//!
//! All levels are seen alike: a register is [`Lanes::LANES`] lanes of 16 bytes (1 on NEON, 2 with AVX2, 4
//! with AVX-512). Zips work inside lanes, loads may gather lanes from several rows, and so one body of a kernel serves
//! every level. Bodies are `inline(always)` up to [`Lanes::vectorize`], which opens the region in which the level's
//! instructions may be used; outside one, each would be a call through memory.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(target_arch = "x86_64")]
pub(crate) mod x86;

use crate::level::Level;
use crate::rows::copy_short;

/// Bytes of a lane.
pub(crate) const LANE: usize = 16;

/// Bytes of a cache line, on every machine that the streaming stores exist for.
pub(crate) const LINE: usize = 64;

/// Where the first line starts from a place on.
#[inline(always)]
pub(crate) fn next_line<T>(place: *mut T) -> *mut T {
    place.wrapping_byte_add(place.addr().wrapping_neg() % LINE)
}

/// Copies at most a line, in steps of a power of two.
///
/// # Safety
/// `len` bytes must be readable at `from` and writable at `to`, without overlap.
#[inline(always)]
unsafe fn copy_part(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's promise; see `copy_short`, which takes less than a line.
    unsafe {
        match len {
            LINE => to.cast::<[u8; LINE]>().write_unaligned(from.cast::<[u8; LINE]>().read_unaligned()),
            _ => copy_short(from, to, len),
        }
    }
}

/// The place of a number, as [`Lanes::turn`] means them.
#[inline(always)]
fn turn_place(from: *const u8, number: usize, [step, far]: [isize; 2]) -> *const u8 {
    from.wrapping_offset((number % 2) as isize * step + (number / 2) as isize * far)
}

/// A lane from each of these places.
///
/// # Safety
/// `LANE` bytes must be readable at each.
#[inline(always)]
unsafe fn load_apart<L: Lanes>(lanes: L, from: *const u8, steps: [isize; 2]) -> L::Vector {
    let mut all = [[0u8; LANE]; LINE / LANE];
    let mut number = 0;
    while number < L::LANES {
        // SAFETY: the caller's promise.
        all[number] = unsafe { turn_place(from, number, steps).cast::<[u8; LANE]>().read_unaligned() };
        number += 1;
    }
    // SAFETY: as many lanes as a register has, at most a line.
    unsafe { lanes.load(all.as_ptr().cast()) }
}

/// Work to be done inside a level's region.
pub(crate) trait Task {
    /// Runs with the level's token in hand.
    ///
    /// # Safety
    /// As the task says.
    unsafe fn run<L: Lanes>(self, lanes: L);
}

/// A level's registers and moves. Holding a value proves that the machine has the level.
///
/// # Safety
/// Implementations must do exactly what each method says, for all addresses that its contract allows.
pub(crate) unsafe trait Lanes: Copy {
    /// A register.
    type Vector: Copy;
    /// Lanes of a register.
    const LANES: usize;
    /// Bytes of a register.
    const BYTES: usize = Self::LANES * LANE;
    /// True where [`Lanes::stream`] passes the cache.
    const STREAMS: bool;
    /// The lowest level that has them.
    const LEVEL: Level;

    /// The same level with fewer lanes, for what is too small for a register; itself where there is one lane only.
    type Narrow: Lanes;

    /// The token of the narrower registers.
    fn narrow(self) -> Self::Narrow;

    /// Runs a task in the level's region.
    ///
    /// Not inlined: regions may be, and every part of the crate that opens one would compile it anew.
    ///
    /// # Safety
    /// As the task's.
    unsafe fn vectorize(self, task: impl Task);

    /// A register of zeros.
    fn zero(self) -> Self::Vector;

    /// Reads a whole register.
    ///
    /// # Safety
    /// `BYTES` bytes must be readable at `from`.
    unsafe fn load(self, from: *const u8) -> Self::Vector;

    /// Reads `len` bytes, fewer than a register's; the others are those of `behind`. By way of a copy where the level has no masks: that is
    /// read as soon as it is written, and waits for all that was stored before.
    ///
    /// # Safety
    /// `len` bytes must be readable at `from`.
    #[inline(always)]
    unsafe fn load_part(self, from: *const u8, len: usize, behind: Self::Vector) -> Self::Vector {
        let mut room = Held([[0; LINE]; 1]);
        let room = room.0.as_mut_ptr().cast::<u8>();
        // SAFETY: the caller's promise, and room for a register, which is a line at most.
        unsafe {
            self.store(room, behind);
            copy_short(from, room, len);
            self.load(room)
        }
    }

    /// Reads one lane from each of `LANES` places, `step` bytes apart.
    ///
    /// # Safety
    /// `LANE` bytes must be readable at each place.
    unsafe fn load_lanes(self, from: *const u8, step: isize) -> Self::Vector;

    /// Reads two lanes that lie one behind the other from each of `LANES` places, `step` bytes apart: a register of the first
    /// ones, and one of the second ones.
    ///
    /// # Safety
    /// `2 * LANE` bytes must be readable at each place.
    #[inline(always)]
    unsafe fn load_lane_pairs(self, from: *const u8, step: isize) -> (Self::Vector, Self::Vector) {
        // SAFETY: the caller's promise.
        unsafe { (self.load_lanes(from, step), self.load_lanes(from.wrapping_add(LANE), step)) }
    }

    /// Reads a register from each of `LANES` places, of which the second is the first step behind the first, and two more, if there
    /// are, the second step behind these, puts its bytes in an order, and transposes the lanes of all: lane `l` of them is written, as
    /// a register, `l * pitch` bytes behind `to`.
    ///
    /// # Safety
    /// `BYTES` bytes must be readable at each place, and writable at each of `LANES` places `pitch` bytes apart.
    #[inline(always)]
    unsafe fn turn(
        self,
        from: *const u8,
        steps: [isize; 2],
        (to, pitch): (*mut u8, usize),
        order: impl Order,
    ) {
        let is_even = Self::LANES <= 2 || steps[1] == 2 * steps[0];
        let mut lane = 0;
        while lane < Self::LANES {
            let from = from.wrapping_add(lane * LANE);
            // SAFETY: lane `lane` of each place, and the register that it is promised.
            unsafe {
                let lanes = match is_even {
                    true => self.load_lanes(from, steps[0]),
                    false => load_apart(self, from, steps),
                };
                self.store(to.add(lane * pitch), order.of(self, lanes));
            }
            lane += 1;
        }
    }

    /// As [`Lanes::turn`] for only the first `len` bytes of each place, followed by zeros.
    ///
    /// # Safety
    /// `len <= BYTES` bytes must be readable at each place, and `BYTES` writable at each of `LANES` places `pitch` bytes
    /// apart.
    #[inline(always)]
    unsafe fn turn_part(
        self,
        from: *const u8,
        steps: [isize; 2],
        len: usize,
        to: (*mut u8, usize),
        order: impl Order,
    ) {
        let mut parts = [0u8; LINE / LANE * LINE];
        let mut lane = 0;
        while lane < Self::LANES {
            // SAFETY: the caller's promise, and room for a line of each lane of the widest registers.
            unsafe { copy_part(turn_place(from, lane, steps), parts.as_mut_ptr().add(lane * LINE), len) };
            lane += 1;
        }
        // SAFETY: the parts just copied, and the caller's promise.
        unsafe { self.turn(parts.as_ptr(), [LINE as isize, 2 * LINE as isize], to, order) }
    }

    /// Writes a whole register.
    ///
    /// # Safety
    /// `BYTES` bytes must be writable at `to`.
    unsafe fn store(self, to: *mut u8, vector: Self::Vector);

    /// Writes a whole register past the cache where the level can.
    ///
    /// # Safety
    /// `BYTES` bytes must be writable at `to`, which must be a multiple of `BYTES`; [`Lanes::fence`] must come before
    /// anybody else looks.
    unsafe fn stream(self, to: *mut u8, vector: Self::Vector);

    /// Orders all streamed stores before what follows.
    fn fence(self);

    /// Asks for the line at `address`, into the second-level cache; any address is allowed.
    fn prefetch(self, address: *const u8);

    /// As [`Lanes::prefetch`], into the first-level cache.
    fn prefetch_near(self, address: *const u8);

    /// In every lane, interleaves the low halves (first) and the high halves (second) of `a` and `b` in units of `UNIT`
    /// bytes: 1, 2, 4 or 8.
    fn zip<const UNIT: usize>(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);

    /// Interleaves whole lanes: `a0 b0 a1 b1 …`, first half and second half.
    fn zip_lanes(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);

    /// The even units of `UNIT` bytes, 4 or 8, of `a` and then of `b`, and the odd ones: undoes an interleaving.
    fn unzip<const UNIT: usize>(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);

    /// Writes each lane to one of `LANES` places, `step` bytes apart.
    ///
    /// # Safety
    /// `LANE` bytes must be writable at each place.
    unsafe fn store_lanes(self, to: *mut u8, step: isize, vector: Self::Vector);

    /// The `BYTES` bytes from byte `at` on, at most `BYTES`, of `a` followed by `b`.
    #[inline(always)]
    fn join(self, a: Self::Vector, b: Self::Vector, at: usize) -> Self::Vector {
        let mut both = [0u8; 2 * LINE];
        let from = both.as_mut_ptr();
        // SAFETY: there is room for two of the widest registers, and for one from any place of the first.
        unsafe {
            self.store(from, a);
            self.store(from.add(Self::BYTES), b);
            self.load(from.add(at.min(Self::BYTES)))
        }
    }

    /// The bits that are set in either.
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// The bits that are set in both.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// The bits that differ.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// The sums of bytes, without what does not fit them.
    fn add_bytes(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// All words of 64 bits, so many bits up, at most 63.
    fn shift_up(self, vector: Self::Vector, bits: u32) -> Self::Vector;

    /// The same down.
    fn shift_down(self, vector: Self::Vector, bits: u32) -> Self::Vector;

    /// The low halves of all bytes, and the high ones, as bytes.
    fn halves(self, vector: Self::Vector) -> (Self::Vector, Self::Vector);

    /// In every lane, puts byte `order[i]` at place `i`, and zero where `order[i]` is 0x80.
    fn shuffle(self, vector: Self::Vector, order: [u8; LANE]) -> Self::Vector;

    /// Puts entry `places[i]` of a table, each less than `LANE`, at place `i`.
    fn look_up(self, table: [u8; LANE], places: Self::Vector) -> Self::Vector;
}

/// An order of the bytes of every lane.
pub(crate) trait Order: Copy {
    /// Puts them in it.
    fn of<L: Lanes>(self, lanes: L, vector: L::Vector) -> L::Vector;
}

/// As they are.
impl Order for () {
    #[inline(always)]
    fn of<L: Lanes>(self, _lanes: L, vector: L::Vector) -> L::Vector {
        vector
    }
}

/// As for [`Lanes::shuffle`].
impl Order for [u8; LANE] {
    #[inline(always)]
    fn of<L: Lanes>(self, lanes: L, vector: L::Vector) -> L::Vector {
        lanes.shuffle(vector, self)
    }
}

/// Some lines in the first-level cache, or in registers.
#[repr(align(64))]
pub(crate) struct Held<const COUNT: usize>(pub(crate) [[u8; LINE]; COUNT]);

/// How many of a row's elements go past the cache in blocks: where the last block steps back, not those of the block before, whose lines
/// it writes again. Lines that are on their way to memory would first have to come back.
#[inline(always)]
pub(crate) fn apart(stream: bool, block: usize, count: usize) -> usize {
    match count % block {
        _ if !stream => 0,
        0 => count,
        rest => (count - rest).saturating_sub(block),
    }
}

/// Writes a register, past the cache or not.
///
/// # Safety
/// As [`Lanes::stream`], or [`Lanes::store`].
#[inline(always)]
pub(crate) unsafe fn put<L: Lanes>(lanes: L, to: *mut u8, vector: L::Vector, stream: bool) {
    // SAFETY: the caller's promise.
    unsafe {
        match stream {
            true => lanes.stream(to, vector),
            false => lanes.store(to, vector),
        }
    }
}

/// Copies a line.
///
/// # Safety
/// A line must be readable at `from` and writable at `to`, without overlap.
#[inline(always)]
pub(crate) unsafe fn copy_line<L: Lanes>(lanes: L, from: *const u8, to: *mut u8) {
    let mut part = 0;
    while part < LINE {
        // SAFETY: a register of the line.
        unsafe { lanes.store(to.add(part), lanes.load(from.add(part))) };
        part += L::BYTES;
    }
}

/// Copies a line past the cache.
///
/// # Safety
/// A line must be readable at `from`, and writable at `to`, which starts one; the caller fences.
#[inline(always)]
pub(crate) unsafe fn stream_line<L: Lanes>(lanes: L, from: *const u8, to: *mut u8) {
    let mut line = [lanes.zero(); LINE / LANE];
    let mut part = 0;
    while part < LINE / L::BYTES {
        // SAFETY: a register of the line.
        line[part] = unsafe { lanes.load(from.add(part * L::BYTES)) };
        part += 1;
    }
    // All of it is there before its first part leaves: a line that waits for its rest takes the place of another.
    let mut part = 0;
    while part < LINE / L::BYTES {
        // SAFETY: a register of the line, at a multiple of one.
        unsafe { lanes.stream(to.wrapping_add(part * L::BYTES), line[part]) };
        part += 1;
    }
}

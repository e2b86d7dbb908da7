//! What a level offers the kernels: registers of 16-byte lanes, and the few moves that every family is made of.
//!
//! All levels are seen alike: a register is [`Lanes::LANES`] lanes of 16 bytes (1 on NEON, 2 with AVX2, 4
//! with AVX-512). Zips work inside lanes, loads may gather lanes from several rows, and so one body of a kernel serves
//! every level. Bodies are `inline(always)` up to [`Lanes::vectorize`], which opens the region in which the level's
//! instructions may be used; outside one, each would be a call through memory.

/// Bytes of a lane.
pub(crate) const LANE: usize = 16;

/// Bytes of a cache line, on every machine that the streaming stores exist for.
pub(crate) const LINE: usize = 64;

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

    /// Runs a task in the level's region.
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

    /// Reads one lane from each of `LANES` places, `step` bytes apart.
    ///
    /// # Safety
    /// `LANE` bytes must be readable at each place.
    unsafe fn load_lanes(self, from: *const u8, step: isize) -> Self::Vector;

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

    /// In every lane, interleaves the low halves (first) and the high halves (second) of `a` and `b` in units of `UNIT`
    /// bytes: 1, 2, 4 or 8.
    fn zip<const UNIT: usize>(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);

    /// Interleaves whole lanes: `a0 b0 a1 b1 …`, first half and second half.
    fn zip_lanes(self, a: Self::Vector, b: Self::Vector) -> (Self::Vector, Self::Vector);

    /// Writes each lane to one of `LANES` places, `step` bytes apart.
    ///
    /// # Safety
    /// `LANE` bytes must be writable at each place.
    unsafe fn store_lanes(self, to: *mut u8, step: isize, vector: Self::Vector);

    /// The bits that are set in either.
    fn or(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// In every lane, puts byte `order[i]` at place `i`, and zero where `order[i]` is 0x80.
    fn shuffle(self, vector: Self::Vector, order: [u8; LANE]) -> Self::Vector;
}

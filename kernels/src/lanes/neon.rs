//! The aarch64 level.

use core::arch::aarch64::uint8x16_t;

use pulp::NullaryFnOnce;
use pulp::aarch64::Neon;

use crate::lanes::{LANE, Lanes, Task};
use crate::level::Level;

/// A task as pulp wants it.
struct Enter<L, T>(L, T);

impl<L: Lanes, T: Task> NullaryFnOnce for Enter<L, T> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // SAFETY: `vectorize` was called by somebody who keeps the task's contract.
        unsafe { self.1.run(self.0) }
    }
}

// SAFETY: each method is the instruction, or the few, that its contract describes; none asks for alignment.
unsafe impl Lanes for Neon {
    type Vector = uint8x16_t;
    const LANES: usize = 1;
    // Stable Rust offers no non-temporal store here.
    const STREAMS: bool = false;
    const LEVEL: Level = Level::Neon;
    type Narrow = Neon;

    #[inline(always)]
    fn narrow(self) -> Neon {
        self
    }

    #[inline(never)]
    unsafe fn vectorize(self, task: impl Task) {
        Neon::vectorize(self, Enter(self, task));
    }

    #[inline(always)]
    fn zero(self) -> uint8x16_t {
        self.neon.vdupq_n_u8(0)
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> uint8x16_t {
        // SAFETY: the caller promises 16 bytes.
        unsafe { self.neon.vld1q_u8(from) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, from: *const u8, _step: isize) -> uint8x16_t {
        // SAFETY: one lane, as promised.
        unsafe { self.load(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: uint8x16_t) {
        // SAFETY: the caller promises 16 bytes.
        unsafe { self.neon.vst1q_u8(to, vector) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8, vector: uint8x16_t) {
        // SAFETY: weaker demands than the caller's promise.
        unsafe { self.store(to, vector) }
    }

    #[inline(always)]
    fn fence(self) {}

    #[inline(always)]
    fn prefetch(self, _address: *const u8) {} // no stable hint

    #[inline(always)]
    fn prefetch_near(self, _address: *const u8) {}

    #[inline(always)]
    fn zip<const UNIT: usize>(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        let s = self.neon;
        match UNIT {
            1 => (s.vzip1q_u8(a, b), s.vzip2q_u8(a, b)),
            2 => {
                let (a, b) = (s.vreinterpretq_u16_u8(a), s.vreinterpretq_u16_u8(b));
                (s.vreinterpretq_u8_u16(s.vzip1q_u16(a, b)), s.vreinterpretq_u8_u16(s.vzip2q_u16(a, b)))
            }
            4 => {
                let (a, b) = (s.vreinterpretq_u32_u8(a), s.vreinterpretq_u32_u8(b));
                (s.vreinterpretq_u8_u32(s.vzip1q_u32(a, b)), s.vreinterpretq_u8_u32(s.vzip2q_u32(a, b)))
            }
            _ => {
                let (a, b) = (s.vreinterpretq_u64_u8(a), s.vreinterpretq_u64_u8(b));
                (s.vreinterpretq_u8_u64(s.vzip1q_u64(a, b)), s.vreinterpretq_u8_u64(s.vzip2q_u64(a, b)))
            }
        }
    }

    #[inline(always)]
    fn zip_lanes(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        (a, b)
    }

    #[inline(always)]
    fn unzip<const UNIT: usize>(self, a: uint8x16_t, b: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        let s = self.neon;
        match UNIT {
            4 => {
                let (a, b) = (s.vreinterpretq_u32_u8(a), s.vreinterpretq_u32_u8(b));
                (s.vreinterpretq_u8_u32(s.vuzp1q_u32(a, b)), s.vreinterpretq_u8_u32(s.vuzp2q_u32(a, b)))
            }
            _ => {
                let (a, b) = (s.vreinterpretq_u64_u8(a), s.vreinterpretq_u64_u8(b));
                (s.vreinterpretq_u8_u64(s.vuzp1q_u64(a, b)), s.vreinterpretq_u8_u64(s.vuzp2q_u64(a, b)))
            }
        }
    }

    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, _step: isize, vector: uint8x16_t) {
        // SAFETY: one lane, as promised.
        unsafe { self.store(to, vector) }
    }

    #[inline(always)]
    fn or(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        self.neon.vorrq_u8(a, b)
    }

    #[inline(always)]
    fn and(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        self.neon.vandq_u8(a, b)
    }

    #[inline(always)]
    fn xor(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        self.neon.veorq_u8(a, b)
    }

    #[inline(always)]
    fn add_bytes(self, a: uint8x16_t, b: uint8x16_t) -> uint8x16_t {
        self.neon.vaddq_u8(a, b)
    }

    #[inline(always)]
    fn shift_up(self, vector: uint8x16_t, bits: u32) -> uint8x16_t {
        let (s, bits) = (self.neon, self.neon.vdupq_n_s64(i64::from(bits)));
        s.vreinterpretq_u8_u64(s.vshlq_u64(s.vreinterpretq_u64_u8(vector), bits))
    }

    #[inline(always)]
    fn shift_down(self, vector: uint8x16_t, bits: u32) -> uint8x16_t {
        let (s, bits) = (self.neon, self.neon.vdupq_n_s64(-i64::from(bits)));
        s.vreinterpretq_u8_u64(s.vshlq_u64(s.vreinterpretq_u64_u8(vector), bits))
    }

    #[inline(always)]
    fn halves(self, vector: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
        (self.neon.vandq_u8(vector, pulp::cast([0x0fu8; LANE])), self.neon.vshrq_n_u8::<4>(vector))
    }

    #[inline(always)]
    fn shuffle(self, vector: uint8x16_t, order: [u8; LANE]) -> uint8x16_t {
        self.neon.vqtbl1q_u8(vector, pulp::cast(order))
    }

    #[inline(always)]
    fn look_up(self, table: [u8; LANE], places: uint8x16_t) -> uint8x16_t {
        self.neon.vqtbl1q_u8(pulp::cast(table), places)
    }
}

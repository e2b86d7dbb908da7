//! One lane of the x86-64 levels, for what is too small for their registers.

use core::arch::x86_64::{__m128i, _MM_HINT_T0, _MM_HINT_T1};

use pulp::x86::V3;

use super::Enter;
use super::part::part_of_lane;
use crate::lanes::{LANE, Lanes, Order, Task};
use crate::level::Level;

/// AVX2 with registers of one lane.
#[derive(Clone, Copy)]
pub(crate) struct OneLane(pub(crate) V3);

// SAFETY: as for the wider levels.
unsafe impl Lanes for OneLane {
    type Vector = __m128i;
    const LANES: usize = 1;
    const STREAMS: bool = true;
    const LEVEL: Level = Level::Avx2;
    type Narrow = OneLane;

    #[inline(always)]
    fn narrow(self) -> OneLane {
        self
    }

    #[inline(never)]
    unsafe fn vectorize(self, task: impl Task) {
        V3::vectorize(self.0, Enter(self, task));
    }

    #[inline(always)]
    fn zero(self) -> __m128i {
        self.0.sse2._mm_setzero_si128()
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m128i {
        // SAFETY: the caller promises 16 bytes.
        unsafe { self.0.sse2._mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, from: *const u8, _step: isize) -> __m128i {
        // SAFETY: one lane, as promised.
        unsafe { self.load(from) }
    }

    #[inline(always)]
    unsafe fn turn_part(
        self,
        from: *const u8,
        _steps: [isize; 2],
        len: usize,
        (to, _pitch): (*mut u8, usize),
        order: impl Order,
    ) {
        // SAFETY: the caller's promise.
        unsafe { self.store(to, order.of(self, part_of_lane(self.0, from, len))) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: __m128i) {
        // SAFETY: the caller promises 16 bytes.
        unsafe { self.0.sse2._mm_storeu_si128(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8, vector: __m128i) {
        // SAFETY: the caller promises 16 bytes at a multiple of 16, and a fence.
        unsafe { self.0.sse2._mm_stream_si128(to.cast(), vector) }
    }

    #[inline(always)]
    fn fence(self) {
        self.0.sse._mm_sfence();
    }

    #[inline(always)]
    fn prefetch(self, address: *const u8) {
        self.0.sse._mm_prefetch::<_MM_HINT_T1>(address.cast()); // a hint: any address will do
    }

    #[inline(always)]
    fn prefetch_near(self, address: *const u8) {
        self.0.sse._mm_prefetch::<_MM_HINT_T0>(address.cast()); // a hint: any address will do
    }

    #[inline(always)]
    fn zip<const UNIT: usize>(self, a: __m128i, b: __m128i) -> (__m128i, __m128i) {
        let s = self.0.sse2;
        match UNIT {
            1 => (s._mm_unpacklo_epi8(a, b), s._mm_unpackhi_epi8(a, b)),
            2 => (s._mm_unpacklo_epi16(a, b), s._mm_unpackhi_epi16(a, b)),
            4 => (s._mm_unpacklo_epi32(a, b), s._mm_unpackhi_epi32(a, b)),
            _ => (s._mm_unpacklo_epi64(a, b), s._mm_unpackhi_epi64(a, b)),
        }
    }

    #[inline(always)]
    fn zip_lanes(self, a: __m128i, b: __m128i) -> (__m128i, __m128i) {
        (a, b)
    }

    #[inline(always)]
    fn unzip<const UNIT: usize>(self, a: __m128i, b: __m128i) -> (__m128i, __m128i) {
        let s = self.0.sse2;
        let (a, b) = match UNIT {
            4 => (s._mm_shuffle_epi32::<0xd8>(a), s._mm_shuffle_epi32::<0xd8>(b)),
            _ => (a, b),
        };
        (s._mm_unpacklo_epi64(a, b), s._mm_unpackhi_epi64(a, b))
    }

    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, _step: isize, vector: __m128i) {
        // SAFETY: one lane, as promised.
        unsafe { self.store(to, vector) }
    }

    #[inline(always)]
    fn or(self, a: __m128i, b: __m128i) -> __m128i {
        self.0.sse2._mm_or_si128(a, b)
    }

    #[inline(always)]
    fn and(self, a: __m128i, b: __m128i) -> __m128i {
        self.0.sse2._mm_and_si128(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m128i, b: __m128i) -> __m128i {
        self.0.sse2._mm_xor_si128(a, b)
    }

    #[inline(always)]
    fn add_bytes(self, a: __m128i, b: __m128i) -> __m128i {
        self.0.sse2._mm_add_epi8(a, b)
    }

    #[inline(always)]
    fn shift_up(self, vector: __m128i, bits: u32) -> __m128i {
        self.0.sse2._mm_sll_epi64(vector, self.0.sse2._mm_cvtsi32_si128(bits as i32))
    }

    #[inline(always)]
    fn shift_down(self, vector: __m128i, bits: u32) -> __m128i {
        self.0.sse2._mm_srl_epi64(vector, self.0.sse2._mm_cvtsi32_si128(bits as i32))
    }

    #[inline(always)]
    fn halves(self, vector: __m128i) -> (__m128i, __m128i) {
        let low = self.0.sse2._mm_set1_epi8(0x0f);
        let high = self.0.sse2._mm_srli_epi16::<4>(vector);
        (self.0.sse2._mm_and_si128(vector, low), self.0.sse2._mm_and_si128(high, low))
    }

    #[inline(always)]
    fn shuffle(self, vector: __m128i, order: [u8; LANE]) -> __m128i {
        self.0.ssse3._mm_shuffle_epi8(vector, pulp::cast(order))
    }

    #[inline(always)]
    fn look_up(self, table: [u8; LANE], places: __m128i) -> __m128i {
        self.0.ssse3._mm_shuffle_epi8(pulp::cast(table), places)
    }
}

//! AVX2.

use core::arch::x86_64::{__m128i, __m256i, _MM_HINT_T0, _MM_HINT_T1};

use pulp::x86::V3;

use super::Enter;
use super::one_lane::OneLane;
use super::part::part_of_two;
use crate::lanes::{LANE, Lanes, Order, Task};
use crate::level::Level;

// SAFETY: each method is the instruction, or the few, that its contract describes; all addresses go through
// instructions that ask for no alignment, but for the streaming stores, whose contract asks for it too.
unsafe impl Lanes for V3 {
    type Vector = __m256i;
    const LANES: usize = 2;
    const STREAMS: bool = true;
    const LEVEL: Level = Level::Avx2;
    type Narrow = OneLane;

    #[inline(always)]
    fn narrow(self) -> OneLane {
        OneLane(self)
    }

    #[inline(never)]
    unsafe fn vectorize(self, task: impl Task) {
        V3::vectorize(self, Enter(self, task));
    }

    #[inline(always)]
    fn zero(self) -> __m256i {
        self.avx._mm256_setzero_si256()
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m256i {
        // SAFETY: the caller promises 32 bytes.
        unsafe { self.avx._mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, from: *const u8, step: isize) -> __m256i {
        // SAFETY: the caller promises 16 bytes at each of the two places.
        unsafe {
            let low = self.sse2._mm_loadu_si128(from.cast::<__m128i>());
            let high = self.sse2._mm_loadu_si128(from.wrapping_offset(step).cast::<__m128i>());
            self.avx2._mm256_inserti128_si256::<1>(self.avx._mm256_castsi128_si256(low), high)
        }
    }

    #[inline(always)]
    unsafe fn turn(
        self,
        from: *const u8,
        [step, _]: [isize; 2],
        (to, pitch): (*mut u8, usize),
        order: impl Order,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, b) = (self.load(from), self.load(from.wrapping_offset(step)));
            let (low, high) = self.zip_lanes(order.of(self, a), order.of(self, b));
            self.store(to, low);
            self.store(to.add(pitch), high);
        }
    }

    #[inline(always)]
    unsafe fn turn_part(
        self,
        from: *const u8,
        [step, _]: [isize; 2],
        len: usize,
        (to, pitch): (*mut u8, usize),
        order: impl Order,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let (a, b) = (part_of_two(self, from, len), part_of_two(self, from.wrapping_offset(step), len));
            let (low, high) = self.zip_lanes(order.of(self, a), order.of(self, b));
            self.store(to, low);
            self.store(to.add(pitch), high);
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: __m256i) {
        // SAFETY: the caller promises 32 bytes.
        unsafe { self.avx._mm256_storeu_si256(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8, vector: __m256i) {
        // SAFETY: the caller promises 32 bytes at a multiple of 32, and a fence.
        unsafe { self.avx._mm256_stream_si256(to.cast(), vector) }
    }

    #[inline(always)]
    fn fence(self) {
        self.sse._mm_sfence();
    }

    #[inline(always)]
    fn prefetch(self, address: *const u8) {
        self.sse._mm_prefetch::<_MM_HINT_T1>(address.cast()); // a hint: any address will do
    }

    #[inline(always)]
    fn prefetch_near(self, address: *const u8) {
        self.sse._mm_prefetch::<_MM_HINT_T0>(address.cast()); // a hint: any address will do
    }

    #[inline(always)]
    fn zip<const UNIT: usize>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let s = self.avx2;
        match UNIT {
            1 => (s._mm256_unpacklo_epi8(a, b), s._mm256_unpackhi_epi8(a, b)),
            2 => (s._mm256_unpacklo_epi16(a, b), s._mm256_unpackhi_epi16(a, b)),
            4 => (s._mm256_unpacklo_epi32(a, b), s._mm256_unpackhi_epi32(a, b)),
            _ => (s._mm256_unpacklo_epi64(a, b), s._mm256_unpackhi_epi64(a, b)),
        }
    }

    #[inline(always)]
    fn zip_lanes(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let s = self.avx2;
        (s._mm256_permute2x128_si256::<0x20>(a, b), s._mm256_permute2x128_si256::<0x31>(a, b))
    }

    #[inline(always)]
    fn unzip<const UNIT: usize>(self, a: __m256i, b: __m256i) -> (__m256i, __m256i) {
        let s = self.avx2;
        let (even, odd) = match UNIT {
            4 => {
                let (a, b) = (s._mm256_shuffle_epi32::<0xd8>(a), s._mm256_shuffle_epi32::<0xd8>(b));
                (s._mm256_unpacklo_epi64(a, b), s._mm256_unpackhi_epi64(a, b))
            }
            _ => (s._mm256_unpacklo_epi64(a, b), s._mm256_unpackhi_epi64(a, b)),
        };
        (s._mm256_permute4x64_epi64::<0xd8>(even), s._mm256_permute4x64_epi64::<0xd8>(odd))
    }

    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, step: isize, vector: __m256i) {
        // SAFETY: the caller promises 16 bytes at each of the two places.
        unsafe {
            self.sse2._mm_storeu_si128(to.cast(), self.avx._mm256_castsi256_si128(vector));
            let high = self.avx2._mm256_extracti128_si256::<1>(vector);
            self.sse2._mm_storeu_si128(to.wrapping_offset(step).cast(), high);
        }
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_or_si256(a, b)
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_and_si256(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_xor_si256(a, b)
    }

    #[inline(always)]
    fn add_bytes(self, a: __m256i, b: __m256i) -> __m256i {
        self.avx2._mm256_add_epi8(a, b)
    }

    #[inline(always)]
    fn shift_up(self, vector: __m256i, bits: u32) -> __m256i {
        self.avx2._mm256_sll_epi64(vector, self.sse2._mm_cvtsi32_si128(bits as i32))
    }

    #[inline(always)]
    fn shift_down(self, vector: __m256i, bits: u32) -> __m256i {
        self.avx2._mm256_srl_epi64(vector, self.sse2._mm_cvtsi32_si128(bits as i32))
    }

    #[inline(always)]
    fn halves(self, vector: __m256i) -> (__m256i, __m256i) {
        let low = self.avx._mm256_set1_epi8(0x0f);
        let high = self.avx2._mm256_srli_epi16::<4>(vector);
        (self.avx2._mm256_and_si256(vector, low), self.avx2._mm256_and_si256(high, low))
    }

    #[inline(always)]
    fn shuffle(self, vector: __m256i, order: [u8; LANE]) -> __m256i {
        let order: __m128i = pulp::cast(order);
        self.avx2._mm256_shuffle_epi8(vector, self.avx2._mm256_broadcastsi128_si256(order))
    }

    #[inline(always)]
    fn look_up(self, table: [u8; LANE], places: __m256i) -> __m256i {
        let table: __m128i = pulp::cast(table);
        self.avx2._mm256_shuffle_epi8(self.avx2._mm256_broadcastsi128_si256(table), places)
    }
}

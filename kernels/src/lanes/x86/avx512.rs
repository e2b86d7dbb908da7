//! AVX-512, with the instructions for bytes and words.

use core::arch::x86_64::{__m128i, __m512i, _MM_HINT_T0, _MM_HINT_T1};

use pulp::x86::{V3, V4};

use super::Enter;
use crate::lanes::{LANE, Lanes, Order, Task};
use crate::level::Level;

/// Every other quadword of two registers.
const EVEN_QUADWORDS: [u64; 8] = [0, 2, 4, 6, 8, 10, 12, 14];
const ODD_QUADWORDS: [u64; 8] = [1, 3, 5, 7, 9, 11, 13, 15];

/// Every other doubleword of two registers.
const EVEN_DOUBLEWORDS: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];
const ODD_DOUBLEWORDS: [u32; 16] = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31];

/// All words of a register in their order.
const WORDS: [u16; 32] = {
    let mut words = [0; 32];
    let mut i = 0;
    while i < words.len() {
        words[i] = i as u16;
        i += 1;
    }
    words
};

/// Quadwords of `a` and `b` for the first half of interleaved lanes: `a0 b0 a1 b1`.
const ZIP_LANES_LOW: [u64; 8] = [0, 1, 8, 9, 2, 3, 10, 11];
/// The second half: `a2 b2 a3 b3`.
const ZIP_LANES_HIGH: [u64; 8] = [4, 5, 12, 13, 6, 7, 14, 15];

// SAFETY: as for the narrower level.
unsafe impl Lanes for V4 {
    type Vector = __m512i;
    const LANES: usize = 4;
    const STREAMS: bool = true;
    const LEVEL: Level = Level::Avx512;
    type Narrow = V3;

    #[inline(always)]
    fn narrow(self) -> V3 {
        *self
    }

    #[inline(never)]
    unsafe fn vectorize(self, task: impl Task) {
        V4::vectorize(self, Enter(self, task));
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        self.avx512f._mm512_setzero_si512()
    }

    #[inline(always)]
    unsafe fn load(self, from: *const u8) -> __m512i {
        // SAFETY: the caller promises 64 bytes.
        unsafe { self.avx512f._mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_part(self, from: *const u8, len: usize, behind: __m512i) -> __m512i {
        // SAFETY: the caller's promise; a masked load reads the bytes of its mask only.
        unsafe { self.avx512bw._mm512_mask_loadu_epi8(behind, first_bytes(len), from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_lanes(self, from: *const u8, step: isize) -> __m512i {
        let s = self.avx512f;
        // SAFETY: the caller promises 16 bytes at each of the four places.
        let [a, b, c, d] = unsafe {
            [
                self.sse2._mm_loadu_si128(from.cast::<__m128i>()),
                self.sse2._mm_loadu_si128(from.wrapping_offset(step).cast::<__m128i>()),
                self.sse2._mm_loadu_si128(from.wrapping_offset(2 * step).cast::<__m128i>()),
                self.sse2._mm_loadu_si128(from.wrapping_offset(3 * step).cast::<__m128i>()),
            ]
        };
        // Broadcasts from memory into one lane each cost a load and a blend, and no shuffle.
        let first = s._mm512_castsi128_si512(a);
        let second = s._mm512_mask_broadcast_i32x4(first, 0x00f0, b);
        let third = s._mm512_mask_broadcast_i32x4(second, 0x0f00, c);
        s._mm512_mask_broadcast_i32x4(third, 0xf000, d)
    }

    // Two blends from memory and a shuffle for each register, in place of three blends.
    #[inline(always)]
    unsafe fn load_lane_pairs(self, from: *const u8, step: isize) -> (__m512i, __m512i) {
        let (s, half) = (self.avx512f, self.narrow());
        let [a, b, c, d] = places(from, step);
        // SAFETY: the caller promises 32 bytes at each of the four places.
        let [a, b, c, d] = unsafe { [half.load(a), half.load(b), half.load(c), half.load(d)] };
        let low = s._mm512_mask_broadcast_i64x4(s._mm512_castsi256_si512(a), 0xf0, b);
        let high = s._mm512_mask_broadcast_i64x4(s._mm512_castsi256_si512(c), 0xf0, d);
        (s._mm512_shuffle_i64x2::<0x88>(low, high), s._mm512_shuffle_i64x2::<0xdd>(low, high))
    }

    // Every line is read once and whole: lanes read one by one would find it gone where columns meet in a set of the cache.
    #[inline(always)]
    unsafe fn turn(
        self,
        from: *const u8,
        steps: [isize; 2],
        (to, pitch): (*mut u8, usize),
        order: impl Order,
    ) {
        let [a, b, c, d] = places_apart(from, steps);
        // SAFETY: the caller's promise.
        unsafe {
            let [a, b] = [order.of(self, self.load(a)), order.of(self, self.load(b))];
            let [c, d] = [order.of(self, self.load(c)), order.of(self, self.load(d))];
            store_turned(self, [a, b, c, d], to, pitch);
        }
    }

    #[inline(always)]
    unsafe fn turn_part(
        self,
        from: *const u8,
        steps: [isize; 2],
        len: usize,
        (to, pitch): (*mut u8, usize),
        order: impl Order,
    ) {
        let mask = first_bytes(len);
        let [a, b, c, d] = places_apart(from, steps);
        let bw = self.avx512bw;
        // SAFETY: the caller's promise; a masked load reads the bytes of its mask only.
        unsafe {
            let rows = [
                order.of(self, bw._mm512_maskz_loadu_epi8(mask, a.cast())),
                order.of(self, bw._mm512_maskz_loadu_epi8(mask, b.cast())),
                order.of(self, bw._mm512_maskz_loadu_epi8(mask, c.cast())),
                order.of(self, bw._mm512_maskz_loadu_epi8(mask, d.cast())),
            ];
            store_turned(self, rows, to, pitch);
        }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8, vector: __m512i) {
        // SAFETY: the caller promises 64 bytes.
        unsafe { self.avx512f._mm512_storeu_si512(to.cast(), vector) }
    }

    #[inline(always)]
    unsafe fn stream(self, to: *mut u8, vector: __m512i) {
        // SAFETY: the caller promises 64 bytes at a multiple of 64, and a fence.
        unsafe { self.avx512f._mm512_stream_si512(to.cast(), vector) }
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
    fn zip<const UNIT: usize>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        let (bw, f) = (self.avx512bw, self.avx512f);
        match UNIT {
            1 => (bw._mm512_unpacklo_epi8(a, b), bw._mm512_unpackhi_epi8(a, b)),
            2 => (bw._mm512_unpacklo_epi16(a, b), bw._mm512_unpackhi_epi16(a, b)),
            4 => (f._mm512_unpacklo_epi32(a, b), f._mm512_unpackhi_epi32(a, b)),
            _ => (f._mm512_unpacklo_epi64(a, b), f._mm512_unpackhi_epi64(a, b)),
        }
    }

    #[inline(always)]
    fn zip_lanes(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        let (low, high) = (pulp::cast(ZIP_LANES_LOW), pulp::cast(ZIP_LANES_HIGH));
        let s = self.avx512f;
        (s._mm512_permutex2var_epi64(a, low, b), s._mm512_permutex2var_epi64(a, high, b))
    }

    #[inline(always)]
    fn unzip<const UNIT: usize>(self, a: __m512i, b: __m512i) -> (__m512i, __m512i) {
        let s = self.avx512f;
        match UNIT {
            4 => {
                let (even, odd) = (pulp::cast(EVEN_DOUBLEWORDS), pulp::cast(ODD_DOUBLEWORDS));
                (s._mm512_permutex2var_epi32(a, even, b), s._mm512_permutex2var_epi32(a, odd, b))
            }
            _ => {
                let (even, odd) = (pulp::cast(EVEN_QUADWORDS), pulp::cast(ODD_QUADWORDS));
                (s._mm512_permutex2var_epi64(a, even, b), s._mm512_permutex2var_epi64(a, odd, b))
            }
        }
    }

    #[inline(always)]
    unsafe fn store_lanes(self, to: *mut u8, step: isize, vector: __m512i) {
        let s = self.avx512f;
        let lanes = [
            s._mm512_castsi512_si128(vector),
            s._mm512_extracti32x4_epi32::<1>(vector),
            s._mm512_extracti32x4_epi32::<2>(vector),
            s._mm512_extracti32x4_epi32::<3>(vector),
        ];
        for (index, lane) in lanes.into_iter().enumerate() {
            let place = to.wrapping_offset(index as isize * step);
            // SAFETY: the caller promises 16 bytes at each of the four places.
            unsafe { self.sse2._mm_storeu_si128(place.cast(), lane) };
        }
    }

    #[inline(always)]
    fn join(self, a: __m512i, b: __m512i, at: usize) -> __m512i {
        let (f, bw) = (self.avx512f, self.avx512bw);
        let words = |from: usize| {
            let order = bw._mm512_add_epi16(pulp::cast(WORDS), f._mm512_set1_epi16(from as i16));
            bw._mm512_permutex2var_epi16(a, order, b)
        };
        if at.is_multiple_of(2) {
            return words(at / 2);
        }
        // Each word from the high byte of one and the low byte of the next; there is no word behind the last.
        let (low, high) = (words(at / 2), words(at / 2 + 1));
        f._mm512_or_si512(bw._mm512_srli_epi16::<8>(low), bw._mm512_slli_epi16::<8>(high))
    }

    #[inline(always)]
    fn or(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_or_si512(a, b)
    }

    #[inline(always)]
    fn and(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_and_si512(a, b)
    }

    #[inline(always)]
    fn xor(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512f._mm512_xor_si512(a, b)
    }

    #[inline(always)]
    fn add_bytes(self, a: __m512i, b: __m512i) -> __m512i {
        self.avx512bw._mm512_add_epi8(a, b)
    }

    #[inline(always)]
    fn shift_up(self, vector: __m512i, bits: u32) -> __m512i {
        self.avx512f._mm512_sll_epi64(vector, self.sse2._mm_cvtsi32_si128(bits as i32))
    }

    #[inline(always)]
    fn shift_down(self, vector: __m512i, bits: u32) -> __m512i {
        self.avx512f._mm512_srl_epi64(vector, self.sse2._mm_cvtsi32_si128(bits as i32))
    }

    #[inline(always)]
    fn halves(self, vector: __m512i) -> (__m512i, __m512i) {
        let low = self.avx512f._mm512_set1_epi32(0x0f0f_0f0f);
        let high = self.avx512bw._mm512_srli_epi16::<4>(vector);
        (self.avx512f._mm512_and_si512(vector, low), self.avx512f._mm512_and_si512(high, low))
    }

    #[inline(always)]
    fn shuffle(self, vector: __m512i, order: [u8; LANE]) -> __m512i {
        let order: __m128i = pulp::cast(order);
        self.avx512bw._mm512_shuffle_epi8(vector, self.avx512f._mm512_broadcast_i32x4(order))
    }

    #[inline(always)]
    fn look_up(self, table: [u8; LANE], places: __m512i) -> __m512i {
        let table: __m128i = pulp::cast(table);
        self.avx512bw._mm512_shuffle_epi8(self.avx512f._mm512_broadcast_i32x4(table), places)
    }
}

/// Four places, `step` bytes apart.
#[inline(always)]
fn places(from: *const u8, step: isize) -> [*const u8; 4] {
    [from, from.wrapping_offset(step), from.wrapping_offset(2 * step), from.wrapping_offset(3 * step)]
}

/// A mask of so many bytes, a line's at most.
#[inline(always)]
fn first_bytes(len: usize) -> u64 {
    u64::MAX.checked_shr(64 - len as u32).unwrap_or(0)
}

/// The four places of [`Lanes::turn`].
#[inline(always)]
fn places_apart(from: *const u8, [step, far]: [isize; 2]) -> [*const u8; 4] {
    let [a, b] = [from, from.wrapping_offset(step)];
    [a, b, a.wrapping_offset(far), b.wrapping_offset(far)]
}

/// Transposes the lanes of four registers and writes them `pitch` bytes apart.
///
/// # Safety
/// A register must be writable at each of four places, `pitch` bytes apart.
#[inline(always)]
unsafe fn store_turned(simd: V4, [a, b, c, d]: [__m512i; 4], to: *mut u8, pitch: usize) {
    let s = simd.avx512f;
    let low = [s._mm512_shuffle_i32x4::<0x44>(a, b), s._mm512_shuffle_i32x4::<0x44>(c, d)];
    let high = [s._mm512_shuffle_i32x4::<0xee>(a, b), s._mm512_shuffle_i32x4::<0xee>(c, d)];
    // SAFETY: the caller's promise.
    unsafe {
        simd.store(to, s._mm512_shuffle_i32x4::<0x88>(low[0], low[1]));
        simd.store(to.add(pitch), s._mm512_shuffle_i32x4::<0xdd>(low[0], low[1]));
        simd.store(to.add(2 * pitch), s._mm512_shuffle_i32x4::<0x88>(high[0], high[1]));
        simd.store(to.add(3 * pitch), s._mm512_shuffle_i32x4::<0xdd>(high[0], high[1]));
    }
}

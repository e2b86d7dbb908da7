//! What AVX2 offers conversions: numbers of other widths, and floats of 16 bits.

use core::arch::x86_64::{
    __m128i, __m256, __m256i, _CMP_UNORD_Q, _MM_FROUND_TO_NEAREST_INT, _mm256_cvtph_ps, _mm256_cvtps_ph,
};

use pulp::NullaryFnOnce;
use pulp::x86::V3;

use crate::convert::float::{Decode, Encode, QUIET};
use crate::convert::tables::widening::Widening;
use crate::convert::words::{Means, Words};
use crate::lanes::{LANE, Lanes, put};

pulp::simd_type! {
    /// The instructions of the level `avx2`, those for floats of 16 bits among them.
    pub(crate) struct Halves {
        pub(crate) sse: "sse",
        pub(crate) sse2: "sse2",
        pub(crate) fxsr: "fxsr",
        pub(crate) sse3: "sse3",
        pub(crate) ssse3: "ssse3",
        pub(crate) sse4_1: "sse4.1",
        pub(crate) sse4_2: "sse4.2",
        pub(crate) popcnt: "popcnt",
        pub(crate) avx: "avx",
        pub(crate) avx2: "avx2",
        pub(crate) bmi1: "bmi1",
        pub(crate) bmi2: "bmi2",
        pub(crate) fma: "fma",
        pub(crate) lzcnt: "lzcnt",
        pub(crate) f16c: "f16c",
    }
}

/// AVX2. The instructions for floats of 16 bits are proved by the second token.
#[derive(Clone, Copy)]
pub(crate) struct Avx2(pub(crate) V3, pub(crate) Halves);

/// The low byte of each word of a lane, as the lane's first, second, third or fourth word.
#[inline(always)]
pub(crate) const fn low_bytes(word: usize) -> [u8; LANE] {
    let mut order = [0x80; LANE];
    let mut i = 0;
    while i < 4 {
        order[4 * word + i] = 4 * i as u8;
        i += 1;
    }
    order
}

/// The low halves of each word of a lane, then the high ones.
const HALVES_APART: [u8; LANE] = [0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15];

/// Words of all first lanes' parts, then the next ones'.
pub(crate) const TURN_8: [u32; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// Words so that twice two zips come out in order.
const ZIPPED_8: [u32; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// The highest bits of bytes.
pub(crate) const SIGNS: u32 = 0x8080_8080;

impl Means for Avx2 {
    type Lanes = V3;
    type Rounding = Self;
    const ROUNDS_SHORT: bool = true;
    const OWN_PAIRS: bool = true;

    #[inline(always)]
    fn lanes(self) -> V3 {
        self.0
    }

    fn rounding(self) -> Option<Self> {
        None
    }

    fn vectorize(self, task: impl NullaryFnOnce<Output = bool>) -> bool {
        Halves::vectorize(self.1, task)
    }

    #[inline(always)]
    unsafe fn read<const N: usize>(self, bytes: usize, from: *const u8) -> Words<N> {
        let (lanes, s) = (self.0, self.0.avx2);
        let mut words = Words([0; N]);
        let to = words.0.as_mut_ptr().cast::<u8>();
        let mut i = 0;
        while i < N / 8 {
            // SAFETY: eight elements of the block, and their words.
            unsafe {
                let from = from.add(8 * bytes * i);
                let wide = match bytes {
                    1 => s._mm256_cvtepu8_epi32(self.0.sse2._mm_loadl_epi64(from.cast::<__m128i>())),
                    2 => s._mm256_cvtepu16_epi32(self.0.sse2._mm_loadu_si128(from.cast::<__m128i>())),
                    _ => lanes.load(from),
                };
                lanes.store(to.add(32 * i), wide);
            }
            i += 1;
        }
        words
    }

    #[inline(always)]
    fn ordered(self, zips: usize, vector: __m256i) -> __m256i {
        match zips {
            1 => self.0.avx2._mm256_permute4x64_epi64::<0xd8>(vector),
            _ => self.0.avx2._mm256_permutevar8x32_epi32(vector, pulp::cast(ZIPPED_8)),
        }
    }

    #[inline(always)]
    fn widened(self, bytes: __m256i, widening: &Widening) -> (__m256i, __m256i) {
        let (lanes, s) = (self.0, self.0.avx2);
        let all = |bytes: u32| self.0.avx._mm256_set1_epi32(bytes as i32);
        let pattern = s._mm256_and_si256(bytes, all(widening.pattern));
        let magnitude = s._mm256_and_si256(pattern, all(widening.magnitude));
        let low =
            s._mm256_and_si256(s._mm256_sll_epi16(magnitude, pulp::cast(widening.up)), all(widening.low));
        let high =
            s._mm256_and_si256(s._mm256_srl_epi16(magnitude, pulp::cast(widening.down)), all(widening.high));
        // No magnitude has the top bit, which these comparisons take for a sign.
        let small = s._mm256_cmpgt_epi8(all(widening.least_normal), magnitude);
        let above = s._mm256_cmpgt_epi8(magnitude, all(widening.greatest));
        let special = lanes.or(above, s._mm256_cmpeq_epi8(pattern, all(widening.nan)));
        let look_up = |table: [u8; LANE]| {
            s._mm256_shuffle_epi8(s._mm256_broadcastsi128_si256(pulp::cast(table)), magnitude)
        };
        let which = if widening.special.is_some() { small } else { lanes.or(small, special) };
        let mut low = s._mm256_blendv_epi8(low, look_up(widening.small[0]), which);
        let mut high = s._mm256_blendv_epi8(high, look_up(widening.small[1]), which);
        if let Some(others) = &widening.special {
            low = s._mm256_blendv_epi8(low, look_up(others[0]), special);
            high = s._mm256_blendv_epi8(high, look_up(others[1]), special);
        }
        let sign = s._mm256_and_si256(s._mm256_sll_epi16(pattern, pulp::cast(widening.sign_up)), all(SIGNS));
        let (a, b) = lanes.zip::<1>(low, s._mm256_add_epi8(high, sign));
        let rebias = all(widening.rebias);
        (s._mm256_add_epi16(a, rebias), s._mm256_add_epi16(b, rebias))
    }

    #[inline(always)]
    unsafe fn write<const N: usize>(self, bytes: usize, words: &Words<N>, to: *mut u8, stream: bool) {
        let (lanes, s) = (self.0, self.0.avx2);
        let mut i = 0;
        while i < N * bytes / 32 {
            // SAFETY: as many words as a register has elements, and the register that they become.
            unsafe {
                let narrow = match bytes {
                    1 => {
                        let low = self.bytes(words, 4 * i, 0);
                        let high = self.bytes(words, 4 * i + 2, 2);
                        s._mm256_permutevar8x32_epi32(lanes.or(low, high), pulp::cast(TURN_8))
                    }
                    2 => {
                        let odd = s._mm256_slli_epi32::<16>(self.register(words, 2 * i + 1));
                        let both = s._mm256_blend_epi16::<0xaa>(self.register(words, 2 * i), odd);
                        s._mm256_permute4x64_epi64::<0xd8>(lanes.shuffle(both, HALVES_APART))
                    }
                    _ => self.register(words, i),
                };
                put(lanes, to.add(32 * i), narrow, stream);
            }
            i += 1;
        }
    }

    #[inline(always)]
    unsafe fn read_halves<const N: usize>(self, from: *const u8, _decode: &Decode) -> Words<N> {
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N / 8 {
            // SAFETY: eight elements of the block; the second token proves the instruction.
            let floats = unsafe { _mm256_cvtph_ps(self.0.sse2._mm_loadu_si128(from.add(16 * i).cast())) };
            self.set_register(&mut words, i, pulp::cast(floats));
            i += 1;
        }
        words
    }

    #[inline(always)]
    unsafe fn read_doubles<const N: usize>(self, from: *const u8) -> Words<N> {
        let (lanes, s) = (self.0, self.0.avx);
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N / 8 {
            // SAFETY: eight elements of the block.
            let (low, high) = unsafe { (lanes.load(from.add(64 * i)), lanes.load(from.add(64 * i + 32))) };
            let (low, high) = (s._mm256_cvtpd_ps(pulp::cast(low)), s._mm256_cvtpd_ps(pulp::cast(high)));
            self.set_register(&mut words, i, pulp::cast(s._mm256_set_m128(high, low)));
            i += 1;
        }
        words
    }

    #[inline(always)]
    unsafe fn write_doubles<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let s = self.0.avx;
        let mut i = 0;
        while i < N / 8 {
            let floats: __m256 = pulp::cast(self.register(words, i));
            let (low, high) = (s._mm256_castps256_ps128(floats), s._mm256_extractf128_ps::<1>(floats));
            // SAFETY: the eight elements that the words become.
            unsafe {
                put(self.0, to.add(64 * i), pulp::cast(s._mm256_cvtps_pd(low)), stream);
                put(self.0, to.add(64 * i + 32), pulp::cast(s._mm256_cvtps_pd(high)), stream);
            }
            i += 1;
        }
    }

    #[inline(always)]
    fn multiply_by<const N: usize>(self, words: &mut Words<N>, factor: f32) {
        let s = self.0.avx;
        let mut i = 0;
        while i < N / 8 {
            let product = s._mm256_mul_ps(pulp::cast(self.register(words, i)), s._mm256_set1_ps(factor));
            self.set_register(words, i, pulp::cast(product));
            i += 1;
        }
    }

    #[inline(always)]
    fn multiply_by_each<const N: usize>(self, words: &mut Words<N>, factors: &[f32; N]) {
        let s = self.0.avx;
        let quiet = s._mm256_set1_ps(f32::from_bits(QUIET));
        let mut i = 0;
        while i < N / 8 {
            let value = pulp::cast(self.register(words, i));
            // SAFETY: eight of the factors.
            let factors = unsafe { s._mm256_loadu_ps(factors.as_ptr().add(8 * i)) };
            let product = s._mm256_mul_ps(value, factors);
            let is_nan = s._mm256_cmp_ps::<_CMP_UNORD_Q>(product, product);
            let was_nan = s._mm256_cmp_ps::<_CMP_UNORD_Q>(value, value);
            let number = s._mm256_blendv_ps(product, quiet, is_nan);
            let number = s._mm256_blendv_ps(number, s._mm256_or_ps(value, quiet), was_nan);
            self.set_register(words, i, pulp::cast(number));
            i += 1;
        }
    }

    #[inline(always)]
    fn rounds_all<const N: usize>(self, words: &Words<N>) -> bool {
        let s = self.0.avx;
        let mut has_nan = s._mm256_setzero_ps();
        let mut i = 0;
        while i < N / 16 {
            let [a, b] = [self.floats(words, 2 * i), self.floats(words, 2 * i + 1)];
            has_nan = s._mm256_or_ps(has_nan, s._mm256_cmp_ps::<_CMP_UNORD_Q>(a, b));
            i += 1;
        }
        s._mm256_movemask_ps(has_nan) == 0
    }

    #[inline(always)]
    fn zip_tops<const N: usize>(self, low: &Words<N>, high: &Words<N>) -> Words<N> {
        let mut zipped = Words([0; N]);
        let mut i = 0;
        while i < N / 8 {
            let tops = self.tops(self.register(low, i), self.register(high, i));
            self.set_register(&mut zipped, i, tops);
            i += 1;
        }
        zipped
    }

    #[inline(always)]
    unsafe fn write_tops<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut i = 0;
        while i < N / 16 {
            let tops = self.tops(self.register(words, 2 * i), self.register(words, 2 * i + 1));
            let apart = self.0.shuffle(tops, HALVES_APART);
            // SAFETY: as many elements as two registers have words, and the register that they become.
            unsafe { put(self.0, to.add(32 * i), self.ordered(1, apart), stream) };
            i += 1;
        }
    }

    #[inline(always)]
    fn round_to_halves<const N: usize>(self, words: &mut Words<N>, _encode: &Encode) {
        let mut i = 0;
        while i < N / 8 {
            let floats = pulp::cast(self.register(words, i));
            // SAFETY: the second token proves the instruction.
            let halves = unsafe { _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(floats) };
            self.set_register(words, i, self.0.avx2._mm256_cvtepu16_epi32(halves));
            i += 1;
        }
    }

    #[inline(always)]
    fn widen_halves<const N: usize>(self, words: &mut Words<N>, _decode: &Decode) {
        let mut i = 0;
        while i < N / 8 {
            let apart = self.0.shuffle(self.register(words, i), HALVES_APART);
            let halves = self.0.avx2._mm256_permute4x64_epi64::<0x08>(apart);
            // SAFETY: the second token proves the instruction.
            let floats = unsafe { _mm256_cvtph_ps(self.0.avx._mm256_castsi256_si128(halves)) };
            self.set_register(words, i, pulp::cast(floats));
            i += 1;
        }
    }
}

impl Avx2 {
    /// The upper halves of words that are no NaN, or one with nothing below the upper half, rounded, in the low halves of words, and those of others in the high ones.
    #[inline(always)]
    fn tops(self, low: __m256i, high: __m256i) -> __m256i {
        let s = self.0.avx2;
        s._mm256_blend_epi16::<0xaa>(s._mm256_srli_epi32::<16>(self.rounded(low)), self.rounded(high))
    }

    /// Words whose upper halves are rounded, to the even one of two; what stands below is left.
    #[inline(always)]
    fn rounded(self, words: __m256i) -> __m256i {
        let (s, all) = (self.0.avx2, |word: i32| self.0.avx._mm256_set1_epi32(word));
        let odd = s._mm256_and_si256(s._mm256_srli_epi32::<16>(words), all(1));
        s._mm256_add_epi32(s._mm256_add_epi32(words, all(0x7fff)), odd)
    }

    /// The low bytes of two registers, as the words `word` and the next of every lane.
    #[inline(always)]
    fn bytes<const N: usize>(self, words: &Words<N>, index: usize, word: usize) -> __m256i {
        let first = self.0.shuffle(self.register(words, index), low_bytes(word));
        self.0.or(first, self.0.shuffle(self.register(words, index + 1), low_bytes(word + 1)))
    }

    #[inline(always)]
    pub(crate) fn register<const N: usize>(self, words: &Words<N>, index: usize) -> __m256i {
        // SAFETY: there are so many registers in a block.
        unsafe { self.0.load(words.0.as_ptr().cast::<__m256i>().add(index).cast()) }
    }

    #[inline(always)]
    fn floats<const N: usize>(self, words: &Words<N>, index: usize) -> __m256 {
        pulp::cast(self.register(words, index))
    }

    #[inline(always)]
    fn set_register<const N: usize>(self, words: &mut Words<N>, index: usize, register: __m256i) {
        // SAFETY: there are so many registers in a block.
        unsafe { self.0.store(words.0.as_mut_ptr().cast::<__m256i>().add(index).cast(), register) }
    }
}

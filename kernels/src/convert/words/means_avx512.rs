//! What AVX-512 offers conversions.

use core::arch::x86_64::{__m128i, __m256, __m256i, __m512i, _CMP_UNORD_Q};

use pulp::NullaryFnOnce;
use pulp::x86::V4;

use crate::convert::float::{Decode, Encode, QUIET};
use crate::convert::tables::widening::Widening;
use crate::convert::words::means_avx2::{SIGNS, low_bytes};
use crate::convert::words::means_bf16::{Avx512Bf16, Bf16};
use crate::convert::words::{Means, Words};
use crate::lanes::{LANE, Lanes, put};

/// A token of the instructions of AVX-512 and of some besides, as pulp makes it.
macro_rules! avx512_with {
    ($(#[$doc:meta])* $name:ident, $field:ident: $feature:tt) => {
        pulp::simd_type! {
            $(#[$doc])*
            pub(crate) struct $name {
                sse: "sse",
                sse2: "sse2",
                fxsr: "fxsr",
                sse3: "sse3",
                ssse3: "ssse3",
                sse4_1: "sse4.1",
                sse4_2: "sse4.2",
                popcnt: "popcnt",
                avx: "avx",
                avx2: "avx2",
                bmi1: "bmi1",
                bmi2: "bmi2",
                fma: "fma",
                lzcnt: "lzcnt",
                avx512f: "avx512f",
                avx512bw: "avx512bw",
                avx512cd: "avx512cd",
                avx512dq: "avx512dq",
                avx512vl: "avx512vl",
                $field: $feature,
            }
        }
    };
}

pub(crate) use avx512_with;

/// AVX-512.
#[derive(Clone, Copy)]
pub(crate) struct Avx512 {
    pub(crate) lanes: V4,
    /// The instructions that round, where they are there and shall be used.
    pub(crate) bf16: Option<Bf16>,
}

/// Words of all first lanes' parts, then the next ones'.
pub(crate) const TURN_16: [u32; 16] = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];

/// Quadwords so that two zips come out in order.
const ZIPPED_ONCE_8: [u64; 8] = [0, 4, 1, 5, 2, 6, 3, 7];

/// The odd halves of a register.
pub(crate) const ODD_HALVES: u32 = 0xaaaa_aaaa;

/// Even halves of words, then odd ones.
const EVEN_THEN_ODD: [u16; 32] = {
    let mut order = [0; 32];
    let mut i = 0;
    while i < 16 {
        order[i] = 2 * i as u16;
        order[16 + i] = 2 * i as u16 + 1;
        i += 1;
    }
    order
};

impl Means for Avx512 {
    type Lanes = V4;
    type Rounding = Avx512Bf16;

    #[inline(always)]
    fn lanes(self) -> V4 {
        self.lanes
    }

    fn rounding(self) -> Option<Avx512Bf16> {
        self.bf16.map(|bf16| Avx512Bf16(self, bf16))
    }

    fn vectorize(self, task: impl NullaryFnOnce<Output = bool>) -> bool {
        V4::vectorize(self.lanes, task)
    }

    #[inline(always)]
    unsafe fn read<const N: usize>(self, bytes: usize, from: *const u8) -> Words<N> {
        let (lanes, s) = (self.lanes, self.lanes.avx512f);
        let mut words = Words([0; N]);
        let to = words.0.as_mut_ptr().cast::<u8>();
        let mut i = 0;
        while i < N / 16 {
            // SAFETY: sixteen elements of the block, and their words.
            unsafe {
                let from = from.add(16 * bytes * i);
                let wide = match bytes {
                    1 => s._mm512_cvtepu8_epi32(lanes.sse2._mm_loadu_si128(from.cast::<__m128i>())),
                    2 => s._mm512_cvtepu16_epi32(lanes.avx._mm256_loadu_si256(from.cast::<__m256i>())),
                    _ => lanes.load(from),
                };
                lanes.store(to.add(64 * i), wide);
            }
            i += 1;
        }
        words
    }

    #[inline(always)]
    fn ordered(self, zips: usize, vector: __m512i) -> __m512i {
        match zips {
            1 => self.lanes.avx512f._mm512_permutexvar_epi64(pulp::cast(ZIPPED_ONCE_8), vector),
            _ => self.lanes.avx512f._mm512_permutexvar_epi32(pulp::cast(TURN_16), vector),
        }
    }

    #[inline(always)]
    fn widened(self, bytes: __m512i, widening: &Widening) -> (__m512i, __m512i) {
        let (lanes, s, bw) = (self.lanes, self.lanes.avx512f, self.lanes.avx512bw);
        let all = |bytes: u32| s._mm512_set1_epi32(bytes as i32);
        let pattern = s._mm512_and_si512(bytes, all(widening.pattern));
        let magnitude = s._mm512_and_si512(pattern, all(widening.magnitude));
        let low =
            s._mm512_and_si512(bw._mm512_sll_epi16(magnitude, pulp::cast(widening.up)), all(widening.low));
        let high =
            s._mm512_and_si512(bw._mm512_srl_epi16(magnitude, pulp::cast(widening.down)), all(widening.high));
        let small = bw._mm512_cmplt_epu8_mask(magnitude, all(widening.least_normal));
        let above = bw._mm512_cmpgt_epu8_mask(magnitude, all(widening.greatest));
        let special = above | bw._mm512_cmpeq_epu8_mask(pattern, all(widening.nan));
        let which = if widening.special.is_some() { small } else { small | special };
        let table = |table: [u8; LANE]| s._mm512_broadcast_i32x4(pulp::cast(table));
        let mut low = bw._mm512_mask_shuffle_epi8(low, which, table(widening.small[0]), magnitude);
        let mut high = bw._mm512_mask_shuffle_epi8(high, which, table(widening.small[1]), magnitude);
        if let Some(others) = &widening.special {
            low = bw._mm512_mask_shuffle_epi8(low, special, table(others[0]), magnitude);
            high = bw._mm512_mask_shuffle_epi8(high, special, table(others[1]), magnitude);
        }
        let sign = s._mm512_and_si512(bw._mm512_sll_epi16(pattern, pulp::cast(widening.sign_up)), all(SIGNS));
        let (a, b) = lanes.zip::<1>(low, bw._mm512_add_epi8(high, sign));
        let rebias = all(widening.rebias);
        (bw._mm512_add_epi16(a, rebias), bw._mm512_add_epi16(b, rebias))
    }

    #[inline(always)]
    unsafe fn write<const N: usize>(self, bytes: usize, words: &Words<N>, to: *mut u8, stream: bool) {
        let (lanes, s, bw) = (self.lanes, self.lanes.avx512f, self.lanes.avx512bw);
        let mut i = 0;
        while i < N * bytes / 64 {
            // SAFETY: as many words as a line has elements, and the line that they become.
            unsafe {
                let narrow = match bytes {
                    1 => {
                        let (low, high) = (self.bytes(words, 0, 0), self.bytes(words, 2, 2));
                        s._mm512_permutexvar_epi32(pulp::cast(TURN_16), lanes.or(low, high))
                    }
                    2 => {
                        let odd = s._mm512_slli_epi32::<16>(self.register(words, 2 * i + 1));
                        let both = bw._mm512_mask_blend_epi16(ODD_HALVES, self.register(words, 2 * i), odd);
                        bw._mm512_permutexvar_epi16(pulp::cast(EVEN_THEN_ODD), both)
                    }
                    _ => self.register(words, i),
                };
                put(lanes, to.add(64 * i), narrow, stream);
            }
            i += 1;
        }
    }

    #[inline(always)]
    unsafe fn read_halves<const N: usize>(self, from: *const u8, _decode: &Decode) -> Words<N> {
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N / 16 {
            // SAFETY: sixteen elements of the block.
            let halves = unsafe { self.lanes.avx._mm256_loadu_si256(from.add(32 * i).cast()) };
            self.set_register(&mut words, i, pulp::cast(self.lanes.avx512f._mm512_cvtph_ps(halves)));
            i += 1;
        }
        words
    }

    #[inline(always)]
    unsafe fn read_doubles<const N: usize>(self, from: *const u8) -> Words<N> {
        let (lanes, s) = (self.lanes, self.lanes.avx512f);
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N / 8 {
            // SAFETY: eight elements of the block, and their words.
            unsafe {
                let floats = s._mm512_cvtpd_ps(pulp::cast(lanes.load(from.add(64 * i))));
                words.0.as_mut_ptr().add(8 * i).cast::<__m256>().write_unaligned(floats);
            }
            i += 1;
        }
        words
    }

    #[inline(always)]
    unsafe fn write_doubles<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let (lanes, s) = (self.lanes, self.lanes.avx512f);
        let mut i = 0;
        while i < N / 8 {
            // SAFETY: eight words, and the elements that they become.
            unsafe {
                let floats = words.0.as_ptr().add(8 * i).cast::<__m256>().read_unaligned();
                put(lanes, to.add(64 * i), pulp::cast(s._mm512_cvtps_pd(floats)), stream);
            }
            i += 1;
        }
    }

    #[inline(always)]
    fn multiply_by<const N: usize>(self, words: &mut Words<N>, factor: f32) {
        let s = self.lanes.avx512f;
        let mut i = 0;
        while i < N / 16 {
            let product = s._mm512_mul_ps(pulp::cast(self.register(words, i)), s._mm512_set1_ps(factor));
            self.set_register(words, i, pulp::cast(product));
            i += 1;
        }
    }

    #[inline(always)]
    fn multiply_by_each<const N: usize>(self, words: &mut Words<N>, factors: &[f32; N]) {
        let s = self.lanes.avx512f;
        let quiet = s._mm512_set1_epi32(QUIET as i32);
        let mut i = 0;
        while i < N / 16 {
            let bits = self.register(words, i);
            // SAFETY: sixteen of the factors.
            let factors = unsafe { s._mm512_loadu_ps(factors.as_ptr().add(16 * i)) };
            let product = s._mm512_mul_ps(pulp::cast(bits), factors);
            let is_nan = s._mm512_cmp_ps_mask::<_CMP_UNORD_Q>(product, product);
            let was_nan = s._mm512_cmp_ps_mask::<_CMP_UNORD_Q>(pulp::cast(bits), pulp::cast(bits));
            let number = s._mm512_mask_mov_epi32(pulp::cast(product), is_nan, quiet);
            self.set_register(words, i, s._mm512_mask_or_epi32(number, was_nan, bits, quiet));
            i += 1;
        }
    }

    #[inline(always)]
    fn round_to_halves<const N: usize>(self, words: &mut Words<N>, _encode: &Encode) {
        let s = self.lanes.avx512f;
        let mut i = 0;
        while i < N / 16 {
            // Rounding to the nearest, whatever the mode, and no exceptions.
            let halves = s._mm512_cvtps_ph::<8>(pulp::cast(self.register(words, i)));
            self.set_register(words, i, s._mm512_cvtepu16_epi32(halves));
            i += 1;
        }
    }

    #[inline(always)]
    fn widen_halves<const N: usize>(self, words: &mut Words<N>, _decode: &Decode) {
        let s = self.lanes.avx512f;
        let mut i = 0;
        while i < N / 16 {
            let floats = s._mm512_cvtph_ps(s._mm512_cvtepi32_epi16(self.register(words, i)));
            self.set_register(words, i, pulp::cast(floats));
            i += 1;
        }
    }
}

impl Avx512 {
    /// What every processor of the level has.
    #[inline(always)]
    pub(crate) fn alone(lanes: V4) -> Avx512 {
        Avx512 { lanes, bf16: None }
    }

    /// The low bytes of two registers, as the words `word` and the next of every lane.
    #[inline(always)]
    fn bytes<const N: usize>(self, words: &Words<N>, index: usize, word: usize) -> __m512i {
        let first = self.lanes.shuffle(self.register(words, index), low_bytes(word));
        self.lanes.or(first, self.lanes.shuffle(self.register(words, index + 1), low_bytes(word + 1)))
    }

    #[inline(always)]
    pub(crate) fn register<const N: usize>(self, words: &Words<N>, index: usize) -> __m512i {
        // SAFETY: there are so many registers in a block.
        unsafe { self.lanes.load(words.0.as_ptr().cast::<__m512i>().add(index).cast()) }
    }

    #[inline(always)]
    pub(super) fn set_register<const N: usize>(self, words: &mut Words<N>, index: usize, register: __m512i) {
        // SAFETY: there are so many registers in a block.
        unsafe { self.lanes.store(words.0.as_mut_ptr().cast::<__m512i>().add(index).cast(), register) }
    }
}

//! Floats of 16 bits to a byte with AVX-512, half by half: what is added before a shift is looked up among 32 halves.

use core::arch::x86_64::__m512i;

use crate::convert::float::Lean;
use crate::convert::tables::narrowing::Narrowing;
use crate::convert::tables::narrows::Narrows;
use crate::convert::words::Words;
use crate::convert::words::means_avx2::SIGNS;
use crate::convert::words::means_avx512::{Avx512, ODD_HALVES, TURN_16};

/// Quadwords of what was packed: the first of every lane, then the second.
const PACKED_ONCE_8: [u64; 8] = [0, 2, 4, 6, 1, 3, 5, 7];

/// Words of the same so that two zips of it come out in order.
const PACKED_ONCE_ZIPPED_16: [u32; 16] = {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        let word = TURN_16[i];
        order[i] = 2 * PACKED_ONCE_8[word as usize / 2] as u32 + word % 2;
        i += 1;
    }
    order
};

/// The lower halves of the words of two registers, and the upper ones.
const HALVES_32: [[u16; 32]; 2] = {
    let mut order = [[0; 32]; 2];
    let mut i = 0;
    while i < 32 {
        order[0][i] = 2 * i as u16;
        order[1][i] = 2 * i as u16 + 1;
        i += 1;
    }
    order
};

impl Narrows for Avx512 {
    #[inline(always)]
    fn narrowed<const KIND: u32>(self, halves: [__m512i; 2], narrowing: &Narrowing) -> __m512i {
        let (s, bw) = (self.lanes.avx512f, self.lanes.avx512bw);
        let all = |half: u16| s._mm512_set1_epi16(half as i16);
        let shift = pulp::cast([u64::from(narrowing.shift), 0]);
        let mut numbers = halves;
        let mut i = 0;
        while i < 2 {
            let magnitude = s._mm512_and_si512(halves[i], all(0x7fff));
            let limited = bw._mm512_max_epu16(magnitude, all(narrowing.least));
            let limited = bw._mm512_min_epu16(limited, all(narrowing.limit));
            let kept = bw._mm512_srl_epi16(limited, shift);
            let added = bw._mm512_add_epi16(s._mm512_and_si512(kept, all(1)), all(narrowing.added));
            let looked_up = bw._mm512_cmplt_epu16_mask(limited, all(narrowing.least_normal));
            let table = pulp::cast(narrowing.looked_up);
            let added = bw._mm512_mask_permutexvar_epi16(added, looked_up, kept, table);
            numbers[i] = bw._mm512_srl_epi16(bw._mm512_add_epi16(limited, added), shift);
            if KIND != Lean::NAN_IS_NEXT {
                let is_nan = bw._mm512_cmpgt_epu16_mask(magnitude, all(narrowing.infinity));
                numbers[i] = bw._mm512_mask_mov_epi16(numbers[i], is_nan, all(narrowing.nan));
            }
            i += 1;
        }
        let bytes = self.packed(numbers);
        // Whatever is rounded to a byte with a sign keeps its own.
        let signs = match KIND {
            Lean::PLAIN_ZERO => {
                let has_sign = bw._mm512_test_epi8_mask(bytes, bytes);
                bw._mm512_maskz_packs_epi16(has_sign, halves[0], halves[1])
            }
            _ => bw._mm512_packs_epi16(halves[0], halves[1]),
        };
        s._mm512_or_si512(bytes, s._mm512_and_si512(signs, s._mm512_set1_epi32(SIGNS as i32)))
    }

    #[inline(always)]
    fn odd_tops<const N: usize>(self, words: &Words<N>, index: usize, narrowing: &Narrowing) -> __m512i {
        let (s, bw) = (self.lanes.avx512f, self.lanes.avx512bw);
        let (a, b) = (self.register(words, index), self.register(words, index + 1));
        let high = bw._mm512_permutex2var_epi16(a, pulp::cast(HALVES_32[1]), b);
        let low = bw._mm512_permutex2var_epi16(a, pulp::cast(HALVES_32[0]), b);
        s._mm512_or_si512(high, bw._mm512_min_epu16(low, s._mm512_set1_epi16(narrowing.one as i16)))
    }

    #[inline(always)]
    fn odd_products(self, tops: __m512i, factor: f32, narrowing: &Narrowing) -> __m512i {
        let (s, bw) = (self.lanes.avx512f, self.lanes.avx512bw);
        let product = |words| pulp::cast(s._mm512_mul_ps(pulp::cast(words), s._mm512_set1_ps(factor)));
        let even: __m512i = product(s._mm512_slli_epi32::<16>(tops));
        let odd: __m512i = product(s._mm512_and_si512(tops, s._mm512_set1_epi32(-1 << 16)));
        let high = bw._mm512_mask_blend_epi16(ODD_HALVES, s._mm512_srli_epi32::<16>(even), odd);
        let low = bw._mm512_mask_blend_epi16(ODD_HALVES, even, s._mm512_slli_epi32::<16>(odd));
        s._mm512_or_si512(high, bw._mm512_min_epu16(low, s._mm512_set1_epi16(narrowing.one as i16)))
    }

    #[inline(always)]
    fn packed(self, [first, second]: [__m512i; 2]) -> __m512i {
        self.lanes.avx512bw._mm512_packus_epi16(first, second)
    }

    #[inline(always)]
    fn unpacked(self, packs: usize, zips: usize, vector: __m512i) -> __m512i {
        let s = self.lanes.avx512f;
        match (packs, zips) {
            (1, 0) => s._mm512_permutexvar_epi64(pulp::cast(PACKED_ONCE_8), vector),
            (1, _) => s._mm512_permutexvar_epi32(pulp::cast(PACKED_ONCE_ZIPPED_16), vector),
            _ => s._mm512_permutexvar_epi32(pulp::cast(TURN_16), vector),
        }
    }
}

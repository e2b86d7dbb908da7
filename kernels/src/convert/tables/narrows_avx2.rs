//! Floats of 16 bits to a byte with AVX2, byte by byte: results are looked up among 32 bytes.

use core::arch::x86_64::__m256i;

use crate::convert::float::Lean;
use crate::convert::tables::narrowing::Narrowing;
use crate::convert::tables::narrows::Narrows;
use crate::convert::words::Words;
use crate::convert::words::means_avx2::{Avx2, SIGNS, TURN_8};
use crate::lanes::Lanes;

/// Words of what was packed once so that two zips of it come out in order.
const PACKED_ONCE_ZIPPED_8: [u32; 8] = [0, 4, 2, 6, 1, 5, 3, 7];

impl Narrows for Avx2 {
    #[inline(always)]
    fn narrowed<const KIND: u32>(self, halves: [__m256i; 2], narrowing: &Narrowing) -> __m256i {
        let (s, bytes) = (self.0.avx2, &narrowing.bytes);
        let all = |half: u16| self.0.avx._mm256_set1_epi16(half as i16);
        let each = |byte: u8| self.0.avx._mm256_set1_epi8(byte as i8);
        let shift = pulp::cast([u64::from(narrowing.shift), 0]);
        let (mut kept, mut rest, mut is_nan) = (halves, halves, halves);
        let mut i = 0;
        while i < 2 {
            let magnitude = s._mm256_and_si256(halves[i], all(0x7fff));
            let above = s._mm256_subs_epu16(magnitude, all(narrowing.least));
            let limited = s._mm256_min_epu16(above, all(bytes.limit));
            kept[i] = s._mm256_srl_epi16(limited, shift);
            rest[i] = s._mm256_and_si256(limited, all(bytes.rest));
            if KIND != Lean::NAN_IS_NEXT {
                is_nan[i] = s._mm256_cmpgt_epi16(magnitude, all(narrowing.infinity));
            }
            i += 1;
        }
        let (kept, rest) = (self.packed(kept), self.packed(rest));
        // By bit 4 of what stays, which goes to the top for it.
        let tables = [self.0.look_up(bytes.looked_up[0], kept), self.0.look_up(bytes.looked_up[1], kept)];
        let found = s._mm256_blendv_epi8(tables[0], tables[1], s._mm256_slli_epi16::<3>(kept));
        let normal = s._mm256_adds_epu8(kept, each(bytes.not_looked_up));
        let number = s._mm256_blendv_epi8(
            s._mm256_and_si256(found, each(0x7f)),
            s._mm256_sub_epi8(kept, each(bytes.offset)),
            normal,
        );
        let bound = s._mm256_blendv_epi8(
            s._mm256_cmpgt_epi8(self.0.zero(), found),
            s._mm256_sub_epi8(each(bytes.half), s._mm256_and_si256(kept, each(1))),
            normal,
        );
        let beyond = s._mm256_min_epu8(s._mm256_subs_epu8(rest, bound), each(narrowing.one as u8));
        let mut results = s._mm256_add_epi8(number, beyond);
        if KIND != Lean::NAN_IS_NEXT {
            let is_nan = s._mm256_packs_epi16(is_nan[0], is_nan[1]);
            results = s._mm256_blendv_epi8(results, each(narrowing.nan as u8), is_nan);
        }
        // Whatever is rounded to a byte with a sign keeps its own.
        let signs = s._mm256_packs_epi16(halves[0], halves[1]);
        let signs = s._mm256_and_si256(signs, self.0.avx._mm256_set1_epi32(SIGNS as i32));
        let signs = match KIND {
            Lean::PLAIN_ZERO => s._mm256_andnot_si256(s._mm256_cmpeq_epi8(results, self.0.zero()), signs),
            _ => signs,
        };
        s._mm256_or_si256(results, signs)
    }

    #[inline(always)]
    fn odd_tops<const N: usize>(self, words: &Words<N>, index: usize, narrowing: &Narrowing) -> __m256i {
        let s = self.0.avx2;
        let (a, b) = (self.register(words, index), self.register(words, index + 1));
        let high = s._mm256_packus_epi32(s._mm256_srli_epi32::<16>(a), s._mm256_srli_epi32::<16>(b));
        let zero = self.0.zero();
        let (a, b) = (s._mm256_blend_epi16::<0xaa>(a, zero), s._mm256_blend_epi16::<0xaa>(b, zero));
        let odd = s._mm256_or_si256(high, self.least_one(s._mm256_packus_epi32(a, b), narrowing));
        s._mm256_permute4x64_epi64::<0xd8>(odd)
    }

    #[inline(always)]
    fn odd_products(self, tops: __m256i, factor: f32, narrowing: &Narrowing) -> __m256i {
        let (s, v) = (self.0.avx2, self.0.avx);
        let product = |words| pulp::cast(v._mm256_mul_ps(pulp::cast(words), v._mm256_set1_ps(factor)));
        let even: __m256i = product(s._mm256_slli_epi32::<16>(tops));
        let odd: __m256i = product(s._mm256_and_si256(tops, v._mm256_set1_epi32(-1 << 16)));
        let high = s._mm256_blend_epi16::<0xaa>(s._mm256_srli_epi32::<16>(even), odd);
        let low = s._mm256_blend_epi16::<0xaa>(even, s._mm256_slli_epi32::<16>(odd));
        s._mm256_or_si256(high, self.least_one(low, narrowing))
    }

    #[inline(always)]
    fn packed(self, [first, second]: [__m256i; 2]) -> __m256i {
        self.0.avx2._mm256_packus_epi16(first, second)
    }

    #[inline(always)]
    fn unpacked(self, packs: usize, zips: usize, vector: __m256i) -> __m256i {
        let s = self.0.avx2;
        match (packs, zips) {
            (1, 0) => s._mm256_permute4x64_epi64::<0xd8>(vector),
            (1, _) => s._mm256_permutevar8x32_epi32(vector, pulp::cast(PACKED_ONCE_ZIPPED_8)),
            _ => s._mm256_permutevar8x32_epi32(vector, pulp::cast(TURN_8)),
        }
    }
}

impl Avx2 {
    /// One for every half that is not zero.
    #[inline(always)]
    fn least_one(self, halves: __m256i, narrowing: &Narrowing) -> __m256i {
        self.0.avx2._mm256_min_epu16(halves, self.0.avx._mm256_set1_epi16(narrowing.one as i16))
    }
}

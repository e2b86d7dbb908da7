//! What AVX-512 offers conversions that go by registers of half a line: those of AVX2, of which there are twice as many, and more
//! that is done with them.

use core::arch::x86_64::{__m256i, _CMP_UNORD_Q};

use pulp::NullaryFnOnce;
use pulp::x86::{V3, V4};

use crate::convert::float::{Decode, Encode, QUIET};
use crate::convert::tables::widening::Widening;
use crate::convert::words::as_the_first::as_the_first;
use crate::convert::words::means_avx2::Avx2;
use crate::convert::words::{Means, Words};
use crate::lanes::{Lanes, put};

/// AVX-512 by registers of half a line, with what AVX2 does alike.
#[derive(Clone, Copy)]
pub(crate) struct HalfLines(pub(crate) Avx2, pub(crate) V4);

/// The upper halves of the words of two registers.
const UPPER_16: [u16; 16] = {
    let mut order = [0; 16];
    let mut i = 0;
    while i < 16 {
        order[i] = 2 * i as u16 + 1;
        i += 1;
    }
    order
};

/// The last bit of the upper half, which decides a tie.
const LAST: i32 = 1 << 16;

impl Means for HalfLines {
    type Lanes = V3;
    type Rounding = Self;
    const ROUNDS_ANY: bool = true;
    const ONLY_TURNS: bool = true;

    #[inline(always)]
    fn lanes(self) -> V3 {
        self.0.lanes()
    }

    fn rounding(self) -> Option<Self> {
        None
    }

    fn vectorize(self, task: impl NullaryFnOnce<Output = bool>) -> bool {
        V4::vectorize(self.1, task)
    }

    #[inline(always)]
    unsafe fn write_tops<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut i = 0;
        while i < N / 16 {
            let tops = self.tops(self.0.register(words, 2 * i), self.0.register(words, 2 * i + 1));
            // SAFETY: a register of the block.
            unsafe { put(self.lanes(), to.add(V3::BYTES * i), tops, stream) };
            i += 1;
        }
    }

    as_the_first!(__m256i);
}

impl HalfLines {
    /// The upper halves of two registers of `f32`, rounded, one after the other.
    #[inline(always)]
    fn tops(self, first: __m256i, second: __m256i) -> __m256i {
        let [first, second] = [self.rounded(first), self.rounded(second)];
        self.1.avx512bw._mm256_permutex2var_epi16(first, pulp::cast(UPPER_16), second)
    }

    /// `f32` whose upper halves are rounded; what stands below is left.
    #[inline(always)]
    fn rounded(self, words: __m256i) -> __m256i {
        let (f, avx2) = (self.1.avx512f, self.1.avx2);
        let all = |word: i32| self.1.avx._mm256_set1_epi32(word);
        let is_odd = f._mm256_test_epi32_mask(words, all(LAST));
        let below = avx2._mm256_add_epi32(words, all(LAST / 2 - 1));
        let rounded = f._mm256_mask_add_epi32(below, is_odd, words, all(LAST / 2));
        let floats = pulp::cast(words);
        let is_nan = f._mm256_cmp_ps_mask::<_CMP_UNORD_Q>(floats, floats);
        f._mm256_mask_or_epi32(rounded, is_nan, words, all(QUIET as i32))
    }
}

//! What some of AVX-512's processors have besides: instructions that round to upper halves of `f32`.

use core::arch::x86_64::{__m512i, _mm512_cvtne2ps_pbh};

use pulp::NullaryFnOnce;
use pulp::x86::V4;

use crate::convert::float::{Decode, Encode};
use crate::convert::multiply::Factors;
use crate::convert::tables::widening::Widening;
use crate::convert::words::as_the_first::as_the_first;
use crate::convert::words::means_avx512::{Avx512, avx512_with};
use crate::convert::words::{Means, Words};
use crate::lanes::{LINE, put};
use crate::level::Level;

avx512_with! {
    /// The instructions of AVX-512, and those that round.
    Bf16, avx512bf16: "avx512bf16"
}

impl Bf16 {
    /// Those that a level uses, where the machine has them: `avx512` does without, as some of its processors do.
    pub(crate) fn of(level: Level) -> Option<Bf16> {
        if level >= Level::Avx512Vbmi { Bf16::try_new() } else { None }
    }
}

/// AVX-512 with these instructions, which the second token proves.
#[derive(Clone, Copy)]
pub(crate) struct Avx512Bf16(pub(super) Avx512, pub(super) Bf16);

/// What the instructions make zero or do not keep as it is, by the numbers of `vfpclass`: denormal numbers, and NaN of either kind. It
/// tells denormal numbers apart unless the processor was told to take them for zero, which nothing here does.
const DENORMAL_OR_NAN: i32 = 0x20 | 0x80 | 0x01;

/// Halves of a register in turn from its first and its second half.
const LOW_AND_HIGH: [u16; 32] = {
    let mut order = [0; 32];
    let mut i = 0;
    while i < 32 {
        order[i] = (16 * (i % 2) + i / 2) as u16;
        i += 1;
    }
    order
};

impl Means for Avx512Bf16 {
    type Lanes = V4;
    type Rounding = Avx512Bf16;
    const ROUNDS: bool = true;

    #[inline(always)]
    fn lanes(self) -> V4 {
        self.0.lanes
    }

    fn rounding(self) -> Option<Avx512Bf16> {
        Some(self)
    }

    fn vectorize(self, task: impl NullaryFnOnce<Output = bool>) -> bool {
        Bf16::vectorize(self.1, task)
    }

    #[inline(always)]
    fn multiply<const N: usize>(self, words: &mut Words<N>, factors: &Factors<'_, N>) {
        let factors = match factors {
            Factors::Alike(factor) => return self.multiply_by(words, *factor),
            Factors::Each(factors) => factors,
        };
        let s = self.0.lanes.avx512f;
        let mut i = 0;
        while i < N / 16 {
            // SAFETY: sixteen factors of the block.
            let factors = unsafe { s._mm512_loadu_ps(factors.as_ptr().add(16 * i)) };
            let product = s._mm512_mul_ps(pulp::cast(self.0.register(words, i)), factors);
            self.0.set_register(words, i, pulp::cast(product));
            i += 1;
        }
    }

    #[inline(always)]
    fn rounds_all<const N: usize>(self, words: &Words<N>) -> bool {
        let mut others = 0;
        let mut i = 0;
        while i < N / 16 {
            let floats = pulp::cast(self.0.register(words, i));
            others |= self.0.lanes.avx512dq._mm512_fpclass_ps_mask::<DENORMAL_OR_NAN>(floats);
            i += 1;
        }
        others == 0
    }

    #[inline(always)]
    fn zip_tops<const N: usize>(self, low: &Words<N>, high: &Words<N>) -> Words<N> {
        let mut zipped = Words([0; N]);
        let mut i = 0;
        while i < N / 16 {
            let tops = self.tops(self.0.register(low, i), self.0.register(high, i));
            let tops = self.0.lanes.avx512bw._mm512_permutexvar_epi16(pulp::cast(LOW_AND_HIGH), tops);
            self.0.set_register(&mut zipped, i, tops);
            i += 1;
        }
        zipped
    }

    #[inline(always)]
    unsafe fn write_tops<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut i = 0;
        while i < N / 32 {
            let tops = self.tops(self.0.register(words, 2 * i), self.0.register(words, 2 * i + 1));
            // SAFETY: a line of the block.
            unsafe { put(self.0.lanes, to.add(LINE * i), tops, stream) };
            i += 1;
        }
    }

    as_the_first!(__m512i);
}

impl Avx512Bf16 {
    /// The upper halves of two registers of `f32`, rounded, one after the other.
    #[inline(always)]
    fn tops(self, first: __m512i, second: __m512i) -> __m512i {
        // SAFETY: the token proves the instruction; either type is 64 bytes, whatever these are.
        unsafe {
            let tops = _mm512_cvtne2ps_pbh(pulp::cast(second), pulp::cast(first));
            (&raw const tops).cast::<__m512i>().read()
        }
    }
}

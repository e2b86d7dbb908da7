//! Copies past the cache, with whole non-temporal lines: what a machine's memory can do.

#[cfg(target_arch = "x86_64")]
use crate::level::HAS_AVX512;
use crate::level::Level;

/// Bytes of a cache line.
const LINE: usize = 64;

/// How far ahead of the loads [`stream_prefetch_copy`] asks for lines: one page.
const PREFETCH_DISTANCE: usize = 4096;

/// Copies `src` to `dst` with non-temporal stores of whole lines, at the highest level of this machine; an ordinary
/// copy where there is none.
///
/// # Panics
/// Where the lengths differ, as [`slice::copy_from_slice`] does.
pub fn stream_copy(src: &[u8], dst: &mut [u8]) {
    copy::<false>(src, dst, Asked::default(), Level::detect());
}

/// As [`stream_copy`], asking for source lines 4 KiB before they are read: the highest rate that one core reaches.
///
/// # Panics
/// Where the lengths differ.
pub fn stream_prefetch_copy(src: &[u8], dst: &mut [u8]) {
    let ahead = src.as_ptr().wrapping_add(PREFETCH_DISTANCE);
    copy::<true>(src, dst, Asked { at: ahead, lines: usize::MAX, each: 1 }, Level::detect());
}

/// As [`stream_copy`] with the instructions of a level, asking meanwhile for all lines of other bytes, `next`: the memory then reads what
/// is wanted next while it writes what was made.
///
/// # Panics
/// Where the lengths of `src` and `dst` differ.
///
/// ```
/// use relayout_kernels::{Level, stream_and_ask};
/// let (made, next, mut dst) = (vec![3; 1000], vec![4; 5000], vec![0; 1000]);
/// stream_and_ask(&made, &mut dst, &next, Level::detect());
/// assert_eq!(dst, made);
/// ```
pub fn stream_and_ask(src: &[u8], dst: &mut [u8], next: &[u8], level: Level) {
    let (lines, wanted) = ((dst.len() / LINE).max(1), next.len().div_ceil(LINE));
    copy::<true>(src, dst, Asked { at: next.as_ptr(), lines: wanted, each: wanted.div_ceil(lines) }, level);
}

/// Lines that are asked for while others are copied; addresses only, at which there may be nothing.
#[derive(Clone, Copy)]
#[allow(dead_code)] // portable targets ask for nothing
struct Asked {
    at: *const u8,
    /// How many there are, and how many are asked for with each that is copied.
    lines: usize,
    each: usize,
}

impl Default for Asked {
    fn default() -> Asked {
        Asked { at: core::ptr::null(), lines: 0, each: 0 }
    }
}

fn copy<const ASKS: bool>(src: &[u8], dst: &mut [u8], asked: Asked, level: Level) {
    assert_eq!(src.len(), dst.len(), "source and destination slices have different lengths");
    let head = dst.as_ptr().align_offset(LINE).min(dst.len());
    let (src_head, src) = src.split_at(head);
    let (dst_head, dst) = dst.split_at_mut(head);
    let body = dst.len() / LINE * LINE;
    let (src_body, src_tail) = src.split_at(body);
    let (dst_body, dst_tail) = dst.split_at_mut(body);
    dst_head.copy_from_slice(src_head);
    dst_tail.copy_from_slice(src_tail);
    lines::<ASKS>(src_body, dst_body, asked, level);
}

#[cfg(not(target_arch = "x86_64"))]
fn lines<const ASKS: bool>(src: &[u8], dst: &mut [u8], _asked: Asked, _level: Level) {
    dst.copy_from_slice(src); // stable Rust offers no non-temporal store here
}

#[cfg(target_arch = "x86_64")]
fn lines<const ASKS: bool>(src: &[u8], dst: &mut [u8], asked: Asked, level: Level) {
    if HAS_AVX512
        && level >= Level::Avx512
        && let Some(simd) = pulp::x86::V4::try_new()
    {
        simd.vectorize(Avx512::<ASKS> { simd, src, dst, asked });
    } else if let (true, Some(simd)) = (level >= Level::Avx2, pulp::x86::V3::try_new()) {
        simd.vectorize(Avx2::<ASKS> { simd, src, dst, asked });
    } else {
        dst.copy_from_slice(src);
    }
}

#[cfg(target_arch = "x86_64")]
use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Asked, LINE};
    use core::arch::x86_64::{__m256i, __m512i, _MM_HINT_T0};
    use pulp::NullaryFnOnce;
    use pulp::x86::{V3, V4};

    /// Whole lines to an aligned destination, 64 bytes a store.
    pub(super) struct Avx512<'a, const ASKS: bool> {
        pub(super) simd: V4,
        pub(super) asked: Asked,
        pub(super) src: &'a [u8],
        pub(super) dst: &'a mut [u8],
    }

    impl<const ASKS: bool> NullaryFnOnce for Avx512<'_, ASKS> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let V4 { sse, avx512f, .. } = self.simd;
            let Asked { mut at, mut lines, each } = self.asked;
            let (src, dst) = (self.src.as_chunks::<LINE>().0, self.dst.as_chunks_mut::<LINE>().0);
            let mut number = 0;
            while number < src.len().min(dst.len()) {
                let (from, to) = (&src[number], &mut dst[number]);
                // SAFETY:
                // - `from` and `to` are 64 bytes each; the load asks for no alignment, and `to` starts a line since
                //   `copy` cut the slice there;
                // - a prefetch is a hint: it may name any address, and `wrapping_add` makes no claim about it.
                unsafe {
                    if ASKS {
                        let mut count = each.min(lines);
                        lines -= count;
                        while count > 0 {
                            sse._mm_prefetch::<_MM_HINT_T0>(at.cast());
                            at = at.wrapping_add(LINE);
                            count -= 1;
                        }
                    }
                    let line = avx512f._mm512_loadu_si512(from.as_ptr().cast::<__m512i>());
                    avx512f._mm512_stream_si512(to.as_mut_ptr().cast::<__m512i>(), line);
                }
                number += 1;
            }
            // Non-temporal stores are ordered with nothing: the fence comes before anybody looks.
            sse._mm_sfence();
        }
    }

    /// Whole lines to an aligned destination, 32 bytes a store.
    pub(super) struct Avx2<'a, const ASKS: bool> {
        pub(super) simd: V3,
        pub(super) asked: Asked,
        pub(super) src: &'a [u8],
        pub(super) dst: &'a mut [u8],
    }

    impl<const ASKS: bool> NullaryFnOnce for Avx2<'_, ASKS> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let V3 { sse, avx, .. } = self.simd;
            let Asked { mut at, mut lines, each } = self.asked;
            let (src, dst) = (self.src.as_chunks::<LINE>().0, self.dst.as_chunks_mut::<LINE>().0);
            let mut number = 0;
            while number < src.len().min(dst.len()) {
                let (from, to) = (&src[number], &mut dst[number]);
                let (from, to) = (from.as_ptr().cast::<__m256i>(), to.as_mut_ptr().cast::<__m256i>());
                // SAFETY: as in the wider copy; each chunk holds two vectors, and a line's halves are 32-byte aligned.
                unsafe {
                    if ASKS {
                        let mut count = each.min(lines);
                        lines -= count;
                        while count > 0 {
                            sse._mm_prefetch::<_MM_HINT_T0>(at.cast());
                            at = at.wrapping_add(LINE);
                            count -= 1;
                        }
                    }
                    let (low, high) = (avx._mm256_loadu_si256(from), avx._mm256_loadu_si256(from.add(1)));
                    avx._mm256_stream_si256(to, low);
                    avx._mm256_stream_si256(to.add(1), high);
                }
                number += 1;
            }
            sse._mm_sfence();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_every_byte_at_every_alignment() {
        let src: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        for (from, to, len) in [(0, 0, 1000), (1, 3, 900), (5, 64, 129), (0, 1, 63), (0, 0, 0), (9, 17, 64)] {
            let asking = |src: &[u8], dst: &mut [u8]| stream_and_ask(src, dst, &[1; 300], Level::detect());
            for copy in [stream_copy, stream_prefetch_copy, asking] {
                let mut dst = vec![0xee; 1000];
                copy(&src[from..from + len], &mut dst[to..to + len]);
                assert_eq!(dst[to..to + len], src[from..from + len]);
                assert!(dst[..to].iter().chain(&dst[to + len..]).all(|&byte| byte == 0xee));
            }
        }
    }
}

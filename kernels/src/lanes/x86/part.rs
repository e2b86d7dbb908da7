//! Registers of which only the first bytes are there, put together without a way through memory: a load of what two stores
//! have just written waits for both of them.

use core::arch::x86_64::{__m128i, __m256i};

use pulp::x86::V3;

use crate::lanes::LANE;

/// Brings as many bytes as are wanted from the end of a lane to its start, read from the place of that number: zeros follow.
const FROM_END: [u8; 2 * LANE] = {
    let mut order = [0x80; 2 * LANE];
    let mut i = 0;
    while i < LANE {
        order[i] = i as u8;
        i += 1;
    }
    order
};

/// The first `len` bytes at a place, at most a lane, followed by zeros.
///
/// # Safety
/// They must be readable.
#[inline(always)]
pub(crate) unsafe fn part_of_lane(lanes: V3, from: *const u8, len: usize) -> __m128i {
    // SAFETY: in each arm all reads lie inside the `len` bytes; arrays of bytes ask for no alignment.
    unsafe {
        let word = |at: usize| u64::from_le_bytes(from.add(at).cast::<[u8; 8]>().read());
        let half = |at: usize| u64::from(u32::from_le_bytes(from.add(at).cast::<[u8; 4]>().read()));
        let quarter = |at: usize| u64::from(u16::from_le_bytes(from.add(at).cast::<[u8; 2]>().read()));
        // Where two reads meet, both say the same.
        let words = match len {
            LANE.. => return lanes.sse2._mm_loadu_si128(from.cast()),
            9.. => [word(0), word(len - 8) >> (8 * (LANE - len))],
            8 => [word(0), 0],
            4.. => [half(0) | half(len - 4) << (8 * (len - 4)), 0],
            2.. => [quarter(0) | quarter(len - 2) << (8 * (len - 2)), 0],
            1 => [from.read().into(), 0],
            0 => [0, 0],
        };
        lanes.sse2._mm_set_epi64x(words[1] as i64, words[0] as i64)
    }
}

/// The same of two lanes.
///
/// # Safety
/// As [`part_of_lane`].
#[inline(always)]
pub(crate) unsafe fn part_of_two(lanes: V3, from: *const u8, len: usize) -> __m256i {
    // SAFETY: the caller's promise; the last lane of more than one ends where the bytes do, and the order begins inside the table.
    unsafe {
        let low = part_of_lane(lanes, from, len.min(LANE));
        let high = match len.checked_sub(LANE) {
            None | Some(0) => lanes.sse2._mm_setzero_si128(),
            Some(rest) => {
                let order = FROM_END.as_ptr().add(LANE - rest);
                let last = lanes.sse2._mm_loadu_si128(from.add(rest).cast());
                lanes.ssse3._mm_shuffle_epi8(last, lanes.sse2._mm_loadu_si128(order.cast()))
            }
        };
        lanes.avx2._mm256_inserti128_si256::<1>(lanes.avx._mm256_castsi128_si256(low), high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sources end where their allocations do.
    #[test]
    fn parts_are_followed_by_zeros() {
        let Some(lanes) = V3::try_new() else { return };
        for len in 0..=2 * LANE {
            let src: Vec<u8> = (0..len).map(|i| 0x80 + i as u8).collect();
            let wanted: [u8; 2 * LANE] = core::array::from_fn(|i| src.get(i).copied().unwrap_or(0));
            // SAFETY: as many bytes as the source has, of which one lane has at most its own.
            let (two, one) = unsafe {
                (part_of_two(lanes, src.as_ptr(), len), part_of_lane(lanes, src.as_ptr(), len.min(LANE)))
            };
            assert_eq!(pulp::cast::<_, [u8; 2 * LANE]>(two), wanted);
            assert_eq!(pulp::cast::<_, [u8; LANE]>(one), wanted[..LANE]);
        }
    }
}

//! One stream becomes a few rows: the reverse of `interleave.rs`.

use crate::interleave::{Orders, walk_plane};
use crate::lanes::{LANE, LINE, Lanes};
use crate::nest::Loop;
use crate::processor::is_early_amd;
use crate::transpose::ahead::meets;
use crate::transpose::block::network;
use crate::walk::Point;

/// How far ahead of its stores each row asks for its lines, in bytes: about as much as a tile holds of it.
const AHEAD_IN_ROW: usize = 256;

/// True where the loops are what is taken apart: `across` consecutive elements of the source, which `along` advances by all
/// of them, and `along` those of the destination.
#[inline(always)]
pub(crate) fn unzips(across: Loop, along: Loop, element: usize) -> bool {
    let element = element as isize;
    along.dst_stride == element
        && (across.src_stride == element || across.extent == 1)
        && along.src_stride == element * across.extent as isize
}

/// The most rows that a stream becomes.
const MOST_WAYS: usize = 8;

/// The reverse of [`Interleave`](crate::interleave::Interleave): `along` advances `K` elements in the source and is contiguous in the destination.
#[derive(Clone, Copy)]
pub(crate) struct Deinterleave<const E: usize, const K: usize> {
    pub(crate) along: Loop,
    pub(crate) across: Loop,
    /// How rows go past the cache, if they do.
    pub(crate) past: Option<Past>,
}

/// How rows go past the cache.
#[derive(Clone, Copy)]
pub(crate) struct Past {
    /// How far ahead of its loads the stream is asked for, in bytes.
    ahead: usize,
    /// True where lines of one row are written after the other: rows that meet in few banks of the memory, before AMD's fourth Zen.
    by_rows: bool,
}

impl Past {
    /// For rows that lie `across`, of a stream that is asked for so far ahead.
    pub(crate) fn new(ahead: usize, across: Loop) -> Past {
        Past { ahead, by_rows: is_early_amd() && meets(across.dst_stride) }
    }
}

impl<const E: usize, const K: usize> Point for Deinterleave<E, K> {
    const IS_STREAM: bool = true;

    /// # Safety
    /// `K * along.extent` elements must be readable at `src` and `K` rows of `along.extent` writable from `dst`, without
    /// overlap; where streaming, every row starts a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let (along, across) = (self.along, self.across);
        // SAFETY: the caller's promise.
        unsafe {
            let (row, count, step) = (along.extent * E, along.extent, across.dst_stride);
            if row < LANE {
                walk_plane::<E>(across, along, src, dst);
            } else if row >= L::BYTES {
                unzip_rows::<L, E, K>(lanes, count, step, src, dst, self.past);
            } else if row >= L::Narrow::BYTES {
                // Rows of less than a line have none to be written past the cache.
                unzip_rows::<L::Narrow, E, K>(lanes.narrow(), count, step, src, dst, None);
            } else {
                unzip_rows::<_, E, K>(lanes.narrow().narrow(), count, step, src, dst, None);
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.past.is_some()
    }
}

/// Rows go past the cache where it is said how.
///
/// # Safety
/// `K * count` elements must be readable at `src`, `count >= BYTES / E`, and `count` writable in each of `K` rows,
/// `row_step` apart, each of which starts a line if they go `past` the cache.
#[inline(always)]
pub(crate) unsafe fn unzip_rows<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    past: Option<Past>,
) {
    let block = L::BYTES / E;
    let mut at = 0;
    // SAFETY: so many elements from `at` exist in every row.
    unsafe {
        if let Some(Past { ahead, by_rows }) = past {
            let line = LINE / E;
            // As many as registers suffice for.
            while L::BYTES < LINE && matches!(K, 2 | 4) && by_rows && at + 8 / K * line <= count {
                match K {
                    2 => stream_by_rows::<L, E, K, 4>(
                        lanes,
                        (src.add(at * K * E), ahead),
                        row_step,
                        dst.add(at * E),
                    ),
                    _ => stream_by_rows::<L, E, K, 2>(
                        lanes,
                        (src.add(at * K * E), ahead),
                        row_step,
                        dst.add(at * E),
                    ),
                }
                at += 8 / K * line;
            }
            // Two lines of a row one behind the other, where registers suffice: a tile of bytes has only two.
            while K == 4 && L::BYTES == LINE && at + 2 * line <= count {
                stream_lines::<L, E, K, 2>(lanes, (src.add(at * K * E), ahead), row_step, dst.add(at * E));
                at += 2 * line;
            }
            while at + line <= count {
                stream_lines::<L, E, K, 1>(lanes, (src.add(at * K * E), ahead), row_step, dst.add(at * E));
                at += line;
            }
        }
        while at + block <= count {
            unzip_block::<L, E, K>(lanes, src.add(at * K * E), row_step, dst.add(at * E));
            at += block;
        }
        if at < count {
            let at = count - block; // the last block steps back rather than step outside
            unzip_block::<L, E, K>(lanes, src.add(at * K * E), row_step, dst.add(at * E));
        }
    }
}

/// The same for fewer elements than a register holds, by way of a copy.
///
/// # Safety
/// `K * count` elements must be readable at `src`, `count < BYTES / E`, and `BYTES` writable in each of `K` rows.
#[inline(always)]
pub(crate) unsafe fn unzip_part<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
) {
    let mut part = [0u8; MOST_WAYS * LINE];
    // SAFETY: the caller's promise; the copy has room for `K` of the widest registers.
    unsafe {
        core::ptr::copy_nonoverlapping(src, part.as_mut_ptr(), K * count * E);
        let rows = load_unzipped::<L, E, K>(lanes, part.as_ptr());
        let mut row = 0;
        while row < K {
            lanes.store(dst.wrapping_offset(row as isize * row_step), rows[row]);
            row += 1;
        }
    }
}

/// # Safety
/// `K * BYTES` bytes must be readable at `src` and `BYTES` writable in each of `K` rows.
#[inline(always)]
unsafe fn unzip_block<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    src: *const u8,
    row_step: isize,
    dst: *mut u8,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let rows = load_unzipped::<L, E, K>(lanes, src);
        let mut row = 0;
        while row < K {
            let to = dst.wrapping_offset(row as isize * row_step);
            lanes.prefetch_near(to.wrapping_add(AHEAD_IN_ROW));
            lanes.store(to, rows[row]);
            row += 1;
        }
    }
}

/// `N` lines of every row past the cache, each written at once, whatever a register holds of it; as many of the stream are
/// asked for so many bytes ahead.
///
/// # Safety
/// `K * N` lines must be readable at `src`, and `N` whole ones writable in each of `K` rows.
#[inline(always)]
unsafe fn stream_lines<L: Lanes, const E: usize, const K: usize, const N: usize>(
    lanes: L,
    (src, ahead): (*const u8, usize),
    row_step: isize,
    dst: *mut u8,
) {
    let mut parts = [[[lanes.zero(); K]; LINE / LANE]; N];
    let count = LINE / L::BYTES;
    // SAFETY: the caller's promise.
    unsafe {
        let mut line = 0;
        while line < N {
            let mut part = 0;
            while part < count {
                parts[line][part] =
                    load_unzipped::<L, E, K>(lanes, src.add((line * count + part) * K * L::BYTES));
                part += 1;
            }
            line += 1;
        }
        let mut row = 0;
        while row < K {
            let to = dst.wrapping_offset(row as isize * row_step);
            let mut line = 0;
            while line < N {
                lanes.prefetch(src.wrapping_add(ahead + (row * N + line) * LINE));
                let mut part = 0;
                while part < count {
                    lanes.stream(to.add((line * count + part) * L::BYTES), parts[line][part][row]);
                    part += 1;
                }
                line += 1;
            }
            row += 1;
        }
    }
}

/// `N` lines of one row after the other past the cache, for each of which the same part of the stream is read again; as many of it
/// are asked for so many bytes ahead.
///
/// # Safety
/// As [`stream_lines`].
#[inline(always)]
unsafe fn stream_by_rows<L: Lanes, const E: usize, const K: usize, const N: usize>(
    lanes: L,
    (src, ahead): (*const u8, usize),
    row_step: isize,
    dst: *mut u8,
) {
    macro_rules! rows {
        ($($row:literal)*) => {
            $(if $row < K {
                let (to, ahead) = (dst.wrapping_offset($row * row_step), ahead + $row * N * LINE);
                // SAFETY: the caller's promise, for a row.
                unsafe { stream_row::<L, E, K, N, $row>(lanes, (src, ahead), to) };
            })*
        };
    }
    rows!(0 1 2 3);
}

/// `N` lines of one of `K` rows.
///
/// # Safety
/// As [`stream_lines`], for the lines of that row at `to`.
#[inline(always)]
unsafe fn stream_row<L: Lanes, const E: usize, const K: usize, const N: usize, const ROW: usize>(
    lanes: L,
    (src, ahead): (*const u8, usize),
    to: *mut u8,
) {
    let mut parts = [[lanes.zero(); LINE / LANE]; N];
    let count = LINE / L::BYTES;
    // SAFETY: the caller's promise.
    unsafe {
        let mut at = 0;
        while at < N * count {
            let rows = load_unzipped::<L, E, K>(lanes, src.add(at * K * L::BYTES));
            parts[at / count][at % count] = rows[ROW % K];
            at += 1;
        }
        let mut at = 0;
        while at < N * count {
            if at % count == 0 {
                lanes.prefetch(src.wrapping_add(ahead + at / count * LINE));
            }
            lanes.stream(to.add(at * L::BYTES), parts[at / count][at % count]);
            at += 1;
        }
    }
}

/// A register of each of `K` rows, from as many of a stream.
///
/// # Safety
/// `K * BYTES` bytes must be readable at `src`.
#[inline(always)]
pub(crate) unsafe fn load_unzipped<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    src: *const u8,
) -> [L::Vector; K] {
    let mut parts = [lanes.zero(); K];
    let mut part = 0;
    if K == 1 {
        // SAFETY: the caller's promise.
        parts[0] = unsafe { lanes.load(src) };
        return parts;
    }
    // SAFETY: the caller's promise; lane `l` of part `p` is lane `l * K + p` of the stream where lanes are apart.
    unsafe {
        if (K == 2 || K == 4) && K * E <= LANE {
            while part < K {
                parts[part] = lanes.shuffle(lanes.load(src.add(part * L::BYTES)), Orders::<E, K>::GROUP);
                part += 1;
            }
            match LANE / K {
                8 => full_unzips::<L, 8, K>(lanes, &mut parts),
                _ => full_unzips::<L, 4, K>(lanes, &mut parts),
            }
            return parts;
        }
        while part < K {
            parts[part] = lanes.load_lanes(src.add(part * LANE), (K * LANE) as isize);
            part += 1;
        }
    }
    unmix::<L, E, K>(lanes, parts)
}

/// Takes `K` registers apart that hold one unit of each of `K` rows in turn.
#[inline(always)]
fn full_unzips<L: Lanes, const UNIT: usize, const K: usize>(lanes: L, parts: &mut [L::Vector; K]) {
    let mut step = 1;
    while step < K {
        let from = *parts;
        let mut i = 0;
        while i < K / 2 {
            (parts[i], parts[i + K / 2]) = lanes.unzip::<UNIT>(from[2 * i], from[2 * i + 1]);
            i += 1;
        }
        step *= 2;
    }
}

/// Takes `K` lanes of a stream apart into a lane of each row.
#[inline(always)]
fn unmix<L: Lanes, const E: usize, const K: usize>(lanes: L, parts: [L::Vector; K]) -> [L::Vector; K] {
    if K == 1 {
        return parts;
    }
    let mut rows = [lanes.zero(); K];
    let mut row = 0;
    if K.is_power_of_two() && K * E <= LANE {
        // Bring what belongs to one row together inside each lane, then transpose the groups.
        while row < K {
            rows[row] = lanes.shuffle(parts[row], Orders::<E, K>::GROUP);
            row += 1;
        }
        match LANE / K {
            8 => network::<L, 8, K>(lanes, &mut rows),
            4 => network::<L, 4, K>(lanes, &mut rows),
            _ => network::<L, 2, K>(lanes, &mut rows),
        }
        return rows;
    }
    while row < K {
        rows[row] = lanes.shuffle(parts[0], Orders::<E, K>::PICK[row][0]);
        let mut part = 1;
        while part < K {
            rows[row] = lanes.or(rows[row], lanes.shuffle(parts[part], Orders::<E, K>::PICK[row][part]));
            part += 1;
        }
        row += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::buffer::AlignedBuffer;
    use crate::convert::flush::walk_at_level;

    /// Takes `K` rows of so many elements apart, a page from one to the next, and compares the whole.
    fn check<const E: usize, const K: usize>(count: usize) {
        const PAGE: usize = 4096;
        let src: Vec<u8> = (0..K * count * E).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8).collect();
        let mut dst = AlignedBuffer::zeroed(K * PAGE).unwrap();
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        for (i, element) in src.chunks_exact(E).enumerate() {
            wanted[i % K * PAGE + i / K * E..][..E].copy_from_slice(element);
        }
        let unit = E as isize;
        let across = Loop { extent: K, src_stride: unit, dst_stride: PAGE as isize };
        let along = Loop { extent: count, src_stride: K as isize * unit, dst_stride: unit };
        let past = Some(Past { ahead: 4096, by_rows: true });
        let kernel = Deinterleave::<E, K> { along, across, past };
        for level in [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()) {
            dst.fill(0xA5);
            // SAFETY: all places lie in the two buffers; a thread sees what it streamed itself.
            let done = unsafe { walk_at_level(level, &[], (src.as_ptr(), dst.as_mut_ptr()), kernel) };
            assert!(done && dst[..] == wanted[..], "{level}: {K} rows of {count} elements of {E} bytes");
        }
    }

    /// Lines of one row after the other, then lines of all rows, a register of each, and one that steps back.
    #[test]
    fn rows_are_written_one_after_the_other_whatever_the_processor() {
        for bytes in [64, 128, 192, 200, 256, 320, 360, 512, 616, 1024] {
            check::<1, 2>(bytes);
            check::<2, 2>(bytes / 2);
            check::<4, 2>(bytes / 4);
            check::<8, 2>(bytes / 8);
            check::<1, 4>(bytes);
            check::<2, 4>(bytes / 2);
            check::<4, 4>(bytes / 4);
            check::<8, 4>(bytes / 8);
            check::<2, 3>(bytes / 2);
        }
    }
}

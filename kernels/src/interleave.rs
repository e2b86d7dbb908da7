//! A few rows become one stream, and one stream a few rows: sub-tiles such as `(2,1)` and `(4,1)`, and channels.

use crate::lanes::{LANE, Lanes, Task};
use crate::nest::Loop;
use crate::strided::walk;
use crate::transpose::network;
use crate::walk::each_point;

/// Interleaves `K` rows of elements of `E` bytes at every point of `outer`: `along` is contiguous in the source and
/// advances `K` elements in the destination, `across` leads from row to row in the source and to the next element in
/// the destination.
pub(crate) struct Interleave<'a, const E: usize, const K: usize> {
    pub(crate) outer: &'a [Loop],
    pub(crate) along: Loop,
    pub(crate) across: Loop,
    pub(crate) src: *const u8,
    pub(crate) dst: *mut u8,
    pub(crate) stream: bool,
}

impl<const E: usize, const K: usize> Task for Interleave<'_, E, K> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self, lanes: L) {
        let (along, across) = (self.along, self.across);
        let stream = self.stream && L::STREAMS && K.is_power_of_two();
        // SAFETY: every point of `outer` has `K` rows of `along.extent` elements, as the maker promised; where streaming,
        // every destination row starts a line.
        each_point(self.outer, self.src, self.dst, |src, dst| unsafe {
            if along.extent * E < L::BYTES {
                walk::<[u8; E]>(&[along, across], src, dst);
            } else if K.is_power_of_two() {
                zip_rows::<L, E, K>(lanes, along.extent, across.src_stride, src, dst, stream);
            } else {
                mix_rows::<L, E, K>(lanes, along.extent, across.src_stride, src, dst);
            }
        });
        if stream {
            lanes.fence();
        }
    }
}

/// # Safety
/// `count >= BYTES / E` elements must be readable in each of `K` rows, `row_step` apart, and `K * count` writable at
/// `dst`, which starts a line if `stream`.
#[inline(always)]
unsafe fn zip_rows<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    stream: bool,
) {
    let block = L::BYTES / E;
    let mut done = 0;
    while done < count {
        // The last block steps back rather than step outside.
        let at = done.min(count - block);
        // SAFETY: `block` elements from `at` exist in every row; stepping back can break the alignment, so such a block
        // is stored.
        unsafe {
            let mut rows: [L::Vector; K] =
                std::array::from_fn(|k| lanes.load(src.wrapping_offset(k as isize * row_step).add(at * E)));
            full_zips::<L, E, K>(lanes, &mut rows);
            let to = dst.add(at * K * E);
            for (part, vector) in rows.into_iter().enumerate() {
                let to = to.add(part * L::BYTES);
                if stream && at == done { lanes.stream(to, vector) } else { lanes.store(to, vector) }
            }
        }
        done += block;
    }
}

/// Interleaves `K` whole registers: as the transposing network, with zips that cross lanes.
#[inline(always)]
fn full_zips<L: Lanes, const UNIT: usize, const K: usize>(lanes: L, rows: &mut [L::Vector; K]) {
    let mut step = 1;
    while step < K {
        let from = *rows;
        let mut i = 0;
        while i < K / 2 {
            let (low, high) = lanes.zip::<UNIT>(from[i], from[i + K / 2]);
            (rows[2 * i], rows[2 * i + 1]) = lanes.zip_lanes(low, high);
            i += 1;
        }
        step *= 2;
    }
}

/// Which byte of row `row` goes to byte `at` of part `part`, where `K` rows of a lane become `K` lanes of a stream.
const fn mix_order<const E: usize, const K: usize>(row: usize, part: usize) -> [u8; LANE] {
    let mut order = [0x80; LANE];
    let mut at = 0;
    while at < LANE {
        let byte = part * LANE + at;
        let element = byte / E;
        if element % K == row {
            order[at] = (element / K * E + byte % E) as u8;
        }
        at += 1;
    }
    order
}

/// Which byte of part `part` goes to byte `at` of row `row`: the inverse of [`mix_order`].
const fn pick_order<const E: usize, const K: usize>(row: usize, part: usize) -> [u8; LANE] {
    let mut order = [0x80; LANE];
    let mut at = 0;
    while at < LANE {
        let byte = (at / E * K + row) * E + at % E;
        if byte / LANE == part {
            order[at] = (byte % LANE) as u8;
        }
        at += 1;
    }
    order
}

/// As [`zip_rows`] for any `K`, by byte shuffles of every row into every part of the stream.
///
/// # Safety
/// As [`zip_rows`], never streaming.
#[inline(always)]
unsafe fn mix_rows<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
) {
    let block = L::BYTES / E;
    let mut done = 0;
    while done < count {
        let at = done.min(count - block);
        // SAFETY: `block` elements from `at` exist in every row; lane `l` of part `p` is lane `l * K + p` of the stream.
        unsafe {
            let rows: [L::Vector; K] =
                std::array::from_fn(|k| lanes.load(src.wrapping_offset(k as isize * row_step).add(at * E)));
            for part in 0..K {
                let mut mixed = lanes.shuffle(rows[0], mix_order::<E, K>(0, part));
                for (row, &vector) in rows.iter().enumerate().skip(1) {
                    mixed = lanes.or(mixed, lanes.shuffle(vector, mix_order::<E, K>(row, part)));
                }
                lanes.store_lanes(dst.add(at * K * E + part * LANE), (K * LANE) as isize, mixed);
            }
        }
        done += block;
    }
}

/// The reverse of [`Interleave`]: `along` advances `K` elements in the source and is contiguous in the destination.
pub(crate) struct Deinterleave<'a, const E: usize, const K: usize> {
    pub(crate) outer: &'a [Loop],
    pub(crate) along: Loop,
    pub(crate) across: Loop,
    pub(crate) src: *const u8,
    pub(crate) dst: *mut u8,
    pub(crate) stream: bool,
}

impl<const E: usize, const K: usize> Task for Deinterleave<'_, E, K> {
    #[inline(always)]
    unsafe fn run<L: Lanes>(self, lanes: L) {
        let (along, across) = (self.along, self.across);
        let stream = self.stream && L::STREAMS;
        // SAFETY: every point of `outer` has `K` rows of `along.extent` elements, as the maker promised; where streaming,
        // every destination row starts a line.
        each_point(self.outer, self.src, self.dst, |src, dst| unsafe {
            if along.extent * E < L::BYTES {
                walk::<[u8; E]>(&[across, along], src, dst);
            } else {
                unzip_rows::<L, E, K>(lanes, along.extent, across.dst_stride, src, dst, stream);
            }
        });
        if stream {
            lanes.fence();
        }
    }
}

/// # Safety
/// `K * count` elements must be readable at `src`, `count >= BYTES / E`, and `count` writable in each of `K` rows,
/// `row_step` apart, each of which starts a line if `stream`.
#[inline(always)]
unsafe fn unzip_rows<L: Lanes, const E: usize, const K: usize>(
    lanes: L,
    count: usize,
    row_step: isize,
    src: *const u8,
    dst: *mut u8,
    stream: bool,
) {
    let block = L::BYTES / E;
    let mut done = 0;
    while done < count {
        let at = done.min(count - block);
        // SAFETY: `block` elements from `at` exist in every row; a register that steps back is stored, not streamed.
        unsafe {
            let parts: [L::Vector; K] = std::array::from_fn(|part| {
                lanes.load_lanes(src.add(at * K * E + part * LANE), (K * LANE) as isize)
            });
            let rows = unmix::<L, E, K>(lanes, parts);
            for (row, vector) in rows.into_iter().enumerate() {
                let to = dst.wrapping_offset(row as isize * row_step).add(at * E);
                if stream && at == done { lanes.stream(to, vector) } else { lanes.store(to, vector) }
            }
        }
        done += block;
    }
}

/// Takes `K` lanes of a stream apart into a lane of each row.
#[inline(always)]
fn unmix<L: Lanes, const E: usize, const K: usize>(lanes: L, parts: [L::Vector; K]) -> [L::Vector; K] {
    if K.is_power_of_two() && K * E <= LANE {
        // Bring what belongs to one row together inside each lane, then transpose the groups.
        let mut rows = parts.map(|part| lanes.shuffle(part, group_order::<E, K>()));
        match LANE / K {
            8 => network::<L, 8, K>(lanes, &mut rows),
            4 => network::<L, 4, K>(lanes, &mut rows),
            _ => network::<L, 2, K>(lanes, &mut rows),
        }
        return rows;
    }
    std::array::from_fn(|row| {
        let mut picked = lanes.shuffle(parts[0], pick_order::<E, K>(row, 0));
        for (part, &vector) in parts.iter().enumerate().skip(1) {
            picked = lanes.or(picked, lanes.shuffle(vector, pick_order::<E, K>(row, part)));
        }
        picked
    })
}

/// Elements of one lane, those of row 0 first.
const fn group_order<const E: usize, const K: usize>() -> [u8; LANE] {
    let mut order = [0; LANE];
    let per_row = LANE / K;
    let mut at = 0;
    while at < LANE {
        let (row, byte) = (at / per_row, at % per_row);
        order[at] = ((byte / E * K + row) * E + byte % E) as u8;
        at += 1;
    }
    order
}

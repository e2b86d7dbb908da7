//! Floats of a byte that become upper halves of `f32`: register by register, by no words.

use crate::convert::rows::ConvertRows;
use crate::convert::tables::widening::Widening;
use crate::convert::words::{Means, Vector, put_zips};
use crate::deinterleave::load_unzipped;
use crate::lanes::{LINE, Lanes, apart, put};

/// What a register of floats of a byte becomes.
pub(crate) trait ToTops: Copy {
    /// Upper halves of `f32`: of every lane those of its first half, and of its second.
    fn tops<M: Means>(self, means: M, bytes: Vector<M>) -> (Vector<M>, Vector<M>);
}

impl ToTops for &Widening {
    #[inline(always)]
    fn tops<M: Means>(self, means: M, bytes: Vector<M>) -> (Vector<M>, Vector<M>) {
        means.widened(bytes, self)
    }
}

/// Takes a block of elements there, whole registers.
///
/// # Safety
/// As [`Means::read`] and [`Means::write`].
#[inline(always)]
pub(crate) unsafe fn to_tops<M: Means, const N: usize>(
    means: M,
    from: *const u8,
    (to, stream): (*mut u8, bool),
    table: impl ToTops,
) {
    let lanes = means.lanes();
    let mut i = 0;
    while i < N {
        // SAFETY: a register of the block, and the two that become of it.
        unsafe {
            let (a, b) = table.tops(means, means.ordered(1, lanes.load(from.add(i))));
            put(lanes, to.add(2 * i), a, stream);
            put(lanes, to.add(2 * i + M::Lanes::BYTES), b, stream);
        }
        i += M::Lanes::BYTES;
    }
}

/// The same for two rows `step` apart, of which every word takes an element each.
///
/// # Safety
/// As [`Means::read`] for either row, and [`Means::write`] for words.
#[inline(always)]
unsafe fn zip_block<M: Means, const N: usize>(
    means: M,
    (from, step): (*const u8, isize),
    (to, stream): (*mut u8, bool),
    tables: [impl ToTops; 2],
) {
    let lanes = means.lanes();
    let mut i = 0;
    while i < N {
        let from = from.wrapping_add(i);
        // SAFETY: a register of either row's block, and the four that become of both.
        unsafe {
            let (a, b) = tables[0].tops(means, means.ordered(2, lanes.load(from)));
            let second = lanes.load(from.wrapping_offset(step));
            let (c, d) = tables[1].tops(means, means.ordered(2, second));
            put_zips(lanes, to.add(4 * i), [(a, c), (b, d)], stream);
        }
        i += M::Lanes::BYTES;
    }
}

/// Each of four rows `step` apart takes a byte of every word.
///
/// # Safety
/// As [`Means::read`] for words, and [`Means::write`] for every row.
#[inline(always)]
unsafe fn unzip_block<M: Means, const N: usize>(
    means: M,
    from: *const u8,
    step: isize,
    (to, stream): (*mut u8, bool),
    table: impl ToTops,
) {
    let lanes = means.lanes();
    let mut i = 0;
    while i < N {
        // SAFETY: as many words as a register has bytes, and the two registers that become of each row's bytes.
        unsafe {
            let rows = load_unzipped::<M::Lanes, 1, 4>(lanes, from.add(4 * i));
            let mut way = 0;
            while way < 4 {
                let to = to.wrapping_offset(way as isize * step).wrapping_add(2 * i);
                let (a, b) = table.tops(means, means.ordered(1, rows[way]));
                put(lanes, to, a, stream);
                put(lanes, to.wrapping_add(M::Lanes::BYTES), b, stream);
                way += 1;
            }
        }
        i += M::Lanes::BYTES;
    }
}

impl ConvertRows<'_> {
    /// Row by row. The first block of one need not start a line; from the second one on all do, but for the last, which steps
    /// back.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least `N` elements.
    #[inline(always)]
    pub(crate) unsafe fn straight_to_tops<M: Means, const N: usize>(&self, means: M, table: impl ToTops) {
        let streams = self.form.is_lines();
        let mut row = 0;
        while row < self.rows as isize {
            let (src, dst) = self.starts(row);
            let first = (dst.addr().wrapping_neg() % LINE).div_ceil(2);
            let streamed = first + apart(streams, N, self.count - first);
            let mut done = 0;
            while done < self.count {
                let at = done.min(self.count - N);
                let from = src.wrapping_add(at);
                self.look_ahead_of(means.lanes(), row, src, at, N);
                let to = dst.wrapping_add(2 * at);
                // SAFETY: a block of the row.
                unsafe {
                    let streams = to.addr().is_multiple_of(LINE) && done < streamed;
                    to_tops::<M, N>(means, from, (to, streams), table)
                };
                done = if done == 0 && first > 0 { first } else { at + N };
            }
            row += 1;
        }
    }

    /// Pairs of rows `step` apart become streams of words, by a table each.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least `N` elements; streams start lines if `stream`.
    #[inline(always)]
    pub(crate) unsafe fn zip_to_tops<M: Means, const N: usize>(
        &self,
        means: M,
        (step, stream): (isize, bool),
        tables: [impl ToTops; 2],
    ) {
        let streamed = apart(stream, N, self.count);
        for row in self.each_row() {
            let (src, dst) = self.woven_starts(row);
            let mut done = 0;
            while done < self.count {
                let at = done.min(self.count - N);
                let from = src.wrapping_add(at);
                self.look_ahead(means.lanes(), from, N);
                self.look_ahead(means.lanes(), from.wrapping_offset(step), N);
                // SAFETY: a block of two rows of the source, and as many words of the stream.
                unsafe {
                    let to = (dst.add(4 * at), done < streamed);
                    zip_block::<M, N>(means, (from, step), to, tables);
                }
                done = at + N;
            }
        }
    }

    /// The reverse of four rows.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least `N` elements, which start lines if `stream`.
    #[inline(always)]
    pub(crate) unsafe fn unzip_to_tops<M: Means, const N: usize>(
        &self,
        means: M,
        (step, stream): (isize, bool),
        table: impl ToTops,
    ) {
        let streamed = apart(stream, N, self.count);
        for row in self.each_row() {
            let (src, dst) = self.woven_starts(row);
            let mut done = 0;
            while done < self.count {
                let at = done.min(self.count - N);
                let from = src.wrapping_add(4 * at);
                self.look_ahead(means.lanes(), from, 4 * N);
                let to = (dst.wrapping_add(2 * at), done < streamed);
                // SAFETY: as many words of the stream, and a block of each row of the destination.
                unsafe { unzip_block::<M, N>(means, from, step, to, table) };
                done = at + N;
            }
        }
    }

    /// The same of two rows of pairs.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`], for rows of at least `N` words, whole registers, which start lines if `stream`.
    #[inline(always)]
    pub(crate) unsafe fn unzip_pairs_to_tops<M: Means, const N: usize>(
        &self,
        means: M,
        (step, stream): (isize, bool),
        table: impl ToTops,
    ) {
        let (lanes, streamed) = (means.lanes(), apart(stream, N, self.count));
        for row in self.each_row() {
            let (src, dst) = self.woven_starts(row);
            let mut done = 0;
            while done < self.count {
                let at = 4 * done.min(self.count - N);
                let from = src.wrapping_add(at);
                self.look_ahead(lanes, from, 4 * N);
                let mut i = 0;
                while i < 4 * N {
                    let to = dst.wrapping_add(at + i);
                    // SAFETY: a register of the stream, and as many bytes of either row of the destination.
                    unsafe {
                        let bytes = means.ordered(1, lanes.load(from.add(i)));
                        let (a, b) = table.tops(means, bytes);
                        let (first, second) = lanes.unzip::<4>(a, b);
                        put(lanes, to, first, done < streamed);
                        put(lanes, to.wrapping_offset(step), second, done < streamed);
                    }
                    i += M::Lanes::BYTES;
                }
                done = at / 4 + N;
            }
        }
    }
}

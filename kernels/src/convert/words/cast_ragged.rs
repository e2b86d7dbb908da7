//! Rows that become words, run by run, with padding behind the last one: whole lines all of it, past the cache.

use crate::convert::each_row::Row;
use crate::convert::multiply::{Find, Multiply};
use crate::convert::ragged::Ragged;
use crate::convert::words::cast_rows::Cast;
use crate::convert::words::casts::{Read, Write};
use crate::convert::words::{Means, Words};
use crate::lanes::{LINE, stream_line};
use crate::rows::padded::Run;
use crate::rows::stream_run;

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// A row of words, of rows `step` apart.
    ///
    /// # Safety
    /// As [`cast`](crate::convert::words::pairs::cast); all that the row becomes must be writable, and start lines.
    #[inline(always)]
    pub(super) unsafe fn zip_ragged<G: Multiply, const N: usize>(
        self,
        ragged: &Ragged,
        (row, place): (Row, isize),
        factors: &mut [G; 4],
        step: isize,
    ) {
        let (src, dst) = self.rows.woven_starts(row);
        let mut number = 0;
        while number < ragged.part.runs() {
            let run = ragged.part.run(number);
            let before = run.before * R::BYTES;
            let (src, dst) = (src.wrapping_add(before), dst.wrapping_offset(run.to));
            // SAFETY: a run of the row.
            unsafe {
                self.zip_run::<G, N>(
                    (run, ragged.padding),
                    (src, place + before as isize),
                    dst,
                    factors,
                    step,
                );
            }
            number += 1;
        }
    }

    /// A run of the row, with its padding.
    ///
    /// # Safety
    /// As [`Cast::zip_ragged`]; before elements that are no whole blocks, a row has enough for one.
    #[inline(always)]
    unsafe fn zip_run<G: Multiply, const N: usize>(
        self,
        (Run { count, padded, .. }, padding): (Run, u32),
        (src, place): (*const u8, isize),
        dst: *mut u8,
        factors: &mut [G; 4],
        step: isize,
    ) {
        debug_assert!(padded > 0 || count.is_multiple_of(N), "pieces are whole blocks");
        let mut done = 0;
        while done < count {
            let back = (done + N).saturating_sub(count);
            let at = (done as isize - back as isize) * R::BYTES as isize;
            // SAFETY: a block of each row of the source, and as many words of the stream.
            unsafe {
                let woven = self.woven::<G, N>(factors, src.wrapping_offset(at), (place + at, step));
                let to = dst.add(4 * done);
                match back {
                    0 => self.means.write(4, &woven, to, true),
                    _ => self.put_rest(woven, padding, back, (to, (padded - 4 * done).min(4 * N))),
                }
            }
            done += N;
        }
        let line = Words([padding; LINE / 4]);
        let mut at = 4 * done;
        while at < padded {
            // SAFETY: a line of padding.
            unsafe { stream_line(self.means.lanes(), line.0.as_ptr().cast(), dst.add(at)) };
            at += LINE;
        }
    }

    /// Puts the words of a block from one on, and padding behind them, up to so many bytes: at most a block.
    ///
    /// # Safety
    /// They must be writable at `to`, which starts a line.
    #[inline(always)]
    unsafe fn put_rest<const N: usize>(
        self,
        woven: Words<N>,
        padding: u32,
        first: usize,
        (to, bytes): (*mut u8, usize),
    ) {
        let mut room = [Words([0; N]), Words([padding; N])];
        let room = room.as_mut_ptr().cast::<u8>();
        // SAFETY: a block of words, and one of padding; and the caller's promise.
        unsafe {
            self.means.write(4, &woven, room, false);
            stream_run(self.means.lanes(), room.add(4 * first), to, bytes, 0);
        }
    }
}

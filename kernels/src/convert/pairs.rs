//! Pairs of rows of `f32` that become one stream of their upper halves, rounded, and the reverse.
//!
//! What is two elements of the stream is one register's worth of 32 bits, of which each row gives a half: no element changes
//! its place, so that conversion and weaving are one.

use super::float::{decode_top, encode_top};
use super::hop::Hop;
use super::rows::{ConvertRows, Form};
use crate::lanes::{LINE, Lanes};

/// Elements of a row that are taken at once: two lines of `f32`.
const COLUMNS: usize = 32;

/// Two lines of each of two rows, or of a stream.
type Lines = [[u8; 4]; COLUMNS];

#[repr(align(64))]
struct Aligned(Lines);

/// Rows that come in pairs.
pub(super) struct Pairs<'a> {
    rows: &'a ConvertRows<'a>,
    /// From one row of a pair to the other.
    step: isize,
    stream: bool,
    narrows: bool,
}

impl<'a> Pairs<'a> {
    /// Rows of a form and a conversion for which this is the way.
    #[inline(always)]
    pub(super) fn of(rows: &'a ConvertRows<'a>) -> Option<Pairs<'a>> {
        let mut hops = rows.conversion.hops();
        let (first, second) = (hops.next(), hops.next());
        let (step, stream, narrows) = match (rows.form, first) {
            (Form::Zip { ways: 2, step, stream }, Some(Hop::EncodeTop16)) => (step, stream, true),
            (Form::Unzip { ways: 2, step, stream }, Some(Hop::DecodeTop16)) => (step, stream, false),
            _ => return None,
        };
        let packed = rows.src.bits.is_some() || rows.dst.bits.is_some();
        (second.is_none() && !packed && rows.conversion.parts() == 1).then_some(Pairs {
            rows,
            step,
            stream,
            narrows,
        })
    }

    /// # Safety
    /// As the task.
    #[inline(always)]
    pub(super) unsafe fn run<L: Lanes>(self, lanes: L) {
        let rows = self.rows;
        let mut row = 0;
        while row < rows.rows as isize {
            let (src, dst) = (rows.src.at(row * rows.src.pitch), rows.dst.at(row * rows.dst.pitch));
            let (src, dst) = (src.byte(src.first).cast_const(), dst.byte(dst.first));
            let mut done = 0;
            while done < rows.count {
                // The last columns step back; their lines were begun before.
                let at = done.min(rows.count - COLUMNS);
                let stream = self.stream && at == done;
                // SAFETY: columns of the row, as promised.
                unsafe {
                    match self.narrows {
                        true => self.narrow(lanes, src.add(4 * at), dst.add(4 * at), stream),
                        false => self.widen(lanes, src.add(4 * at), dst.add(4 * at), stream),
                    }
                }
                done = at + COLUMNS;
            }
            row += 1;
        }
    }

    /// # Safety
    /// The columns must be readable in two rows of the source and writable in the stream, which starts a line if `stream`.
    #[inline(always)]
    unsafe fn narrow<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, stream: bool) {
        let other = src.wrapping_offset(self.step);
        self.look_ahead(lanes, src);
        self.look_ahead(lanes, other);
        let mut stream_of_both = Aligned([[0; 4]; COLUMNS]);
        // SAFETY: the caller's promise; arrays of bytes ask for no alignment.
        unsafe {
            let (first, second) = (&*src.cast::<Lines>(), &*other.cast::<Lines>());
            let mut i = 0;
            while i < COLUMNS {
                let low = u32::from(encode_top(u32::from_le_bytes(first[i])));
                let high = u32::from(encode_top(u32::from_le_bytes(second[i])));
                stream_of_both.0[i] = (low | high << 16).to_le_bytes();
                i += 1;
            }
            write(lanes, &stream_of_both, dst, stream);
        }
    }

    /// # Safety
    /// The reverse of [`Pairs::narrow`].
    #[inline(always)]
    unsafe fn widen<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8, stream: bool) {
        self.look_ahead(lanes, src);
        let (mut first, mut second) = (Aligned([[0; 4]; COLUMNS]), Aligned([[0; 4]; COLUMNS]));
        // SAFETY: the caller's promise; arrays of bytes ask for no alignment.
        unsafe {
            let both = &*src.cast::<Lines>();
            let mut i = 0;
            while i < COLUMNS {
                let pair = u32::from_le_bytes(both[i]);
                first.0[i] = decode_top(pair as u16).to_le_bytes();
                second.0[i] = decode_top((pair >> 16) as u16).to_le_bytes();
                i += 1;
            }
            write(lanes, &first, dst, stream);
            write(lanes, &second, dst.wrapping_offset(self.step), stream);
        }
    }

    #[inline(always)]
    fn look_ahead<L: Lanes>(&self, lanes: L, from: *const u8) {
        if self.rows.ahead > 0 {
            lanes.prefetch(from.wrapping_add(self.rows.ahead));
            lanes.prefetch(from.wrapping_add(self.rows.ahead + LINE));
        }
    }
}

/// # Safety
/// Two lines must be writable at `to`, which starts one if `stream`.
#[inline(always)]
unsafe fn write<L: Lanes>(lanes: L, lines: &Aligned, to: *mut u8, stream: bool) {
    let from = lines.0.as_ptr().cast::<u8>();
    let mut byte = 0;
    while byte < 2 * LINE {
        // SAFETY: two lines, as promised.
        unsafe {
            let part = lanes.load(from.add(byte));
            match stream {
                true => lanes.stream(to.add(byte), part),
                false => lanes.store(to.add(byte), part),
            }
        }
        byte += L::BYTES;
    }
}

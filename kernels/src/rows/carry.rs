//! What a row carries from one piece to the next: the bytes behind its last whole line, at the end of a line of its own.

use crate::lanes::{LINE, Lanes, copy_line, stream_line};
use crate::rows::copy_short;

/// Writes the whole lines that one row's buffer holds, and what is before them of the row, and carries the rest.
///
/// # Safety
/// `buffer` must hold a line, of which the end is carried unless `is_first`, and behind it `len` bytes, whole lines, that
/// belong at `to`.
#[inline(always)]
pub(crate) unsafe fn emit<L: Lanes>(lanes: L, buffer: *mut u8, to: *mut u8, len: usize, is_first: bool) {
    let before = to.addr() % LINE;
    // SAFETY: the caller's promise.
    unsafe {
        let begins = is_first && before > 0;
        if begins {
            copy_short(buffer.add(LINE), to, LINE - before);
        }
        emit_lines(lanes, buffer, to, if begins { LINE } else { 0 }..len, None);
    }
}

/// Writes the whole lines that one row's buffer holds, without those before a place, and carries the rest. As many lines are asked for,
/// where it is said from where on.
///
/// # Safety
/// `buffer` must hold a line, of which the end is carried unless it is in the line left out, and behind it as many bytes as
/// `lines` ends with that belong at `to`; both ends are whole lines.
#[inline(always)]
pub(crate) unsafe fn emit_lines<L: Lanes>(
    lanes: L,
    buffer: *mut u8,
    to: *mut u8,
    lines: core::ops::Range<usize>,
    asked: Option<*const u8>,
) {
    let before = to.addr() % LINE;
    let line = to.wrapping_sub(before);
    // SAFETY: the buffer's first line ends with the `before` bytes in front of `to`; with them the piece is whole lines
    // and `before` bytes more, which go to the end of the first line for the next piece.
    unsafe {
        let mut at = lines.start;
        while at < lines.end {
            if let Some(asked) = asked {
                lanes.prefetch(asked.wrapping_add(at));
            }
            stream_line(lanes, buffer.add(LINE - before + at), line.wrapping_add(at));
            at += LINE;
        }
        copy_line(lanes, buffer.add(lines.end), buffer);
    }
}

/// Writes what a row still carries in front of its end.
///
/// # Safety
/// `carry` must be a line that ends with the bytes that belong before `end`, back to the start of `end`'s line.
#[inline(always)]
pub(crate) unsafe fn flush(carry: *const u8, end: *mut u8) {
    let rest = end.addr() % LINE;
    // SAFETY: the caller's promise.
    unsafe { copy_short(carry.add(LINE - rest), end.wrapping_sub(rest), rest) };
}

/// Writes as much of a row's first register as belongs to the row's first line, by way of `buffer` where that is a part.
///
/// # Safety
/// A register must be writable at `buffer` and at `to`; a register is a line.
#[inline(always)]
pub(crate) unsafe fn begin_row<L: Lanes>(lanes: L, first: L::Vector, to: *mut u8, buffer: *mut u8) {
    let before = to.addr() % LINE;
    // SAFETY: the caller's promise; a place that begins a line may be streamed.
    unsafe {
        if before == 0 {
            lanes.stream(to, first);
        } else {
            lanes.store(buffer, first);
            copy_short(buffer, to, LINE - before);
        }
    }
}

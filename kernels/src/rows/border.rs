//! The line in which one row ends and the next one begins.

use core::cell::{Cell, UnsafeCell};

use crate::lanes::{LINE, Lanes, copy_line, stream_line};
use crate::rows::carry::flush;
use crate::rows::copy_short;

/// The end of the last row so far, which waits for what begins behind it: together they are a whole line, and a line that is
/// written in part comes from memory first.
pub(crate) struct Border {
    /// Where the row ended, inside a line; null where nothing waits.
    end: Cell<*mut u8>,
    bytes: UnsafeCell<Bytes>,
}

/// The line of bytes before the end, and room for one behind it.
#[repr(align(64))]
struct Bytes(#[allow(dead_code)] [u8; 2 * LINE]); // used by address

impl Border {
    /// A border where nothing waits.
    pub(crate) fn new() -> Border {
        Border { end: Cell::new(core::ptr::null_mut()), bytes: UnsafeCell::new(Bytes([0; 2 * LINE])) }
    }

    /// Begins a row inside a line: writes that line, whole where the row begins where another one ended.
    ///
    /// # Safety
    /// A line must be readable at `head`, and writable at `to`, where it belongs; what waits must be writable.
    #[inline(always)]
    pub(crate) unsafe fn begin<L: Lanes>(&self, lanes: L, head: *const u8, to: *mut u8) {
        let before = to.addr() % LINE;
        let bytes = self.bytes.get().cast::<u8>();
        // SAFETY: the caller's promise; with the bytes that wait, all of the line is known.
        unsafe {
            if self.end.get() == to {
                copy_line(lanes, head, bytes.add(LINE));
                stream_line(lanes, bytes.add(LINE - before), to.wrapping_sub(before));
                self.end.set(core::ptr::null_mut());
            } else {
                copy_short(head, to, LINE - before);
            }
        }
    }

    /// Ends a row at `end`, inside a line, which waits from now on in place of what did so far.
    ///
    /// # Safety
    /// `before` must be the line of bytes before `end`, of which those in `end`'s line are to be written there; what waits
    /// must be writable.
    #[inline(always)]
    pub(crate) unsafe fn end<L: Lanes>(&self, lanes: L, before: *const u8, end: *mut u8) {
        // SAFETY: the caller's promise.
        unsafe {
            self.finish();
            copy_line(lanes, before, self.bytes.get().cast());
        }
        self.end.set(end);
    }

    /// Writes what waits.
    ///
    /// # Safety
    /// It must be writable.
    #[inline(always)]
    pub(crate) unsafe fn finish(&self) {
        let end = self.end.replace(core::ptr::null_mut());
        if !end.is_null() {
            // SAFETY: the bytes end with what belongs before `end`; the caller's promise.
            unsafe { flush(self.bytes.get().cast(), end) };
        }
    }
}

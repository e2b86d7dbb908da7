//! Types of eight bytes as words of 32 bits, which hold what of them is needed.

use crate::convert::words::casts::{Read, Write};
use crate::convert::words::{Means, Words, put_wide};

/// An `f64`, rounded to the nearest `f32` when read.
#[derive(Clone, Copy)]
pub(crate) struct Double;

/// An integer of eight bytes: its low word when read, and when written the word, and copies of its sign above it if it has one.
#[derive(Clone, Copy)]
pub(crate) struct Long<const SIGNED: bool>;

impl Read for Double {
    const BYTES: usize = size_of::<f64>();

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, _words: &mut Words<N>) {}

    #[inline(always)]
    unsafe fn read<M: Means, const N: usize>(self, means: M, from: *const u8) -> Words<N> {
        // SAFETY: the caller's promise.
        unsafe { means.read_doubles(from) }
    }
}

impl Write for Double {
    const BYTES: usize = size_of::<f64>();

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, _words: &mut Words<N>) {}

    #[inline(always)]
    unsafe fn write<M: Means, const N: usize>(self, means: M, words: &Words<N>, to: *mut u8, stream: bool) {
        // SAFETY: the caller's promise.
        unsafe { means.write_doubles(words, to, stream) }
    }
}

impl<const SIGNED: bool> Read for Long<SIGNED> {
    const BYTES: usize = size_of::<u64>();

    #[inline(always)]
    fn decode<M: Means, const N: usize>(self, _means: M, _words: &mut Words<N>) {}

    #[inline(always)]
    unsafe fn read<M: Means, const N: usize>(self, _means: M, from: *const u8) -> Words<N> {
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N {
            // SAFETY: element `i` of the block; arrays of bytes ask for no alignment.
            words.0[i] = u64::from_le_bytes(unsafe { from.cast::<[u8; 8]>().add(i).read() }) as u32;
            i += 1;
        }
        words
    }
}

impl<const SIGNED: bool> Write for Long<SIGNED> {
    const BYTES: usize = size_of::<u64>();

    #[inline(always)]
    fn encode<M: Means, const N: usize>(self, _means: M, _words: &mut Words<N>) {}

    #[inline(always)]
    unsafe fn write<M: Means, const N: usize>(self, means: M, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut wide = [0u64; N];
        let mut i = 0;
        while i < N {
            wide[i] = if SIGNED { i64::from(words.0[i] as i32) as u64 } else { words.0[i].into() };
            i += 1;
        }
        // SAFETY: the caller's promise.
        unsafe { put_wide(means.lanes(), &wide, to, stream) }
    }
}

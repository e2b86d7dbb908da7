//! Blocks of elements as words of 32 bits: what most types pass through on their way to another, in registers.

pub(crate) mod any;
#[cfg(target_arch = "x86_64")]
mod as_the_first;
pub(crate) mod cast_packed;
pub(crate) mod cast_pairs;
mod cast_ragged;
pub(crate) mod cast_rows;
pub(crate) mod cast_woven;
pub(crate) mod casts;
#[cfg(target_arch = "x86_64")]
pub(crate) mod means_avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod means_avx512;
#[cfg(target_arch = "x86_64")]
pub(crate) mod means_bf16;
#[cfg(target_arch = "x86_64")]
pub(crate) mod means_half_lines;
pub(crate) mod pairs;
mod wide;

use pulp::NullaryFnOnce;

use crate::convert::float::{self, Decode, Encode};
use crate::convert::multiply::Factors;
use crate::convert::tables::widening::Widening;
use crate::lanes::{LANE, LINE, Lanes, put};

/// Elements of the largest block: a line of the narrowest.
pub(super) const BLOCK: usize = LINE;

/// An element in each word; where its type is narrower, in the low bits. A block is as few elements as make
/// whole lines: loads, stores and what is asked for ahead then take turns, where bursts of each would wait for memory.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Words<const N: usize>(pub(super) [u32; N]);

impl<const N: usize> Words<N> {
    /// Adds the low 1 or 2 bytes of other words as those of a way: the first, or the next ones above.
    #[inline(always)]
    pub(super) fn put(&mut self, words: &Words<N>, bytes: usize, way: usize) {
        let mut i = 0;
        while i < N {
            self.0[i] |= match bytes {
                1 => u32::from(words.0[i] as u8),
                _ => u32::from(words.0[i] as u16),
            } << (8 * bytes * way);
            i += 1;
        }
    }

    /// The 1 or 2 bytes of a way.
    #[inline(always)]
    pub(super) fn taken(&self, bytes: usize, way: usize) -> Words<N> {
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N {
            let moved = self.0[i] >> (8 * bytes * way);
            words.0[i] = match bytes {
                1 => u32::from(moved as u8),
                _ => u32::from(moved as u16),
            };
            i += 1;
        }
        words
    }
}

/// A register of a level.
pub(super) type Vector<M> = <<M as Means>::Lanes as Lanes>::Vector;

/// What a level offers conversions. Whatever a level has no instructions for is a loop, of which the compiler makes vector
/// code.
pub(super) trait Means: Copy {
    /// The registers.
    type Lanes: Lanes;

    /// The same with instructions that round to upper halves of `f32`.
    type Rounding: Means;

    /// True where there are these instructions.
    const ROUNDS: bool = false;

    /// True where [`Means::write_tops`] takes any words, and is faster than rounding them one by one.
    const ROUNDS_ANY: bool = false;

    /// True where [`Means::rounds_all`] and what rounds those words are faster for products of numbers whose NaN is short, be there such
    /// instructions or not.
    const ROUNDS_SHORT: bool = Self::ROUNDS;

    /// True where more pairs of types that have factors are faster by kernels of their own than between types that are told apart inside.
    const OWN_PAIRS: bool = false;

    /// True where there is nothing but turns of a transpose.
    const ONLY_TURNS: bool = false;

    /// The level's registers.
    fn lanes(self) -> Self::Lanes;

    /// What has these instructions, if the processor does.
    fn rounding(self) -> Option<Self::Rounding>;

    /// Runs a task in the level's region.
    fn vectorize(self, task: impl NullaryFnOnce<Output = bool>) -> bool;

    /// Reads a block of elements of 1, 2 or 4 bytes.
    ///
    /// # Safety
    /// A block of elements must be readable at `from`.
    #[inline(always)]
    unsafe fn read<const N: usize>(self, bytes: usize, from: *const u8) -> Words<N> {
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N {
            // SAFETY: element `i` of the block; arrays of bytes ask for no alignment.
            words.0[i] = unsafe {
                match bytes {
                    1 => from.add(i).read().into(),
                    2 => u16::from_le_bytes(from.cast::<[u8; 2]>().add(i).read()).into(),
                    _ => u32::from_le_bytes(from.cast::<[u8; 4]>().add(i).read()),
                }
            };
            i += 1;
        }
        words
    }

    /// A register ordered so that what so many zips of its lanes make of it, one or two, comes out in order.
    #[inline(always)]
    fn ordered(self, _zips: usize, vector: Vector<Self>) -> Vector<Self> {
        const { assert!(Self::Lanes::LANES == 1) };
        vector
    }

    /// A register of floats of a byte as upper halves of `f32`: of every lane those of its first half, and of its second.
    #[inline(always)]
    fn widened(self, bytes: Vector<Self>, widening: &Widening) -> (Vector<Self>, Vector<Self>) {
        const { assert!(Self::Lanes::LANES == 1) };
        let (lanes, mut room, mut tops) = (self.lanes(), [0u8; LANE], [0u16; LANE]);
        // SAFETY: there is room for a register of bytes, and two of halves.
        unsafe {
            lanes.store(room.as_mut_ptr(), bytes);
            let mut i = 0;
            while i < LANE {
                tops[i] = (widening.decode.one(room[i].into()) >> 16) as u16;
                i += 1;
            }
            let tops = tops.as_ptr().cast::<u8>();
            (lanes.load(tops), lanes.load(tops.add(LANE)))
        }
    }

    /// Reads a block of floats of a byte, which become `f32`: whole registers of bytes.
    ///
    /// # Safety
    /// As [`Means::read`].
    #[inline(always)]
    unsafe fn widen_bytes<const N: usize>(self, from: *const u8, widening: &Widening) -> Words<N> {
        let (lanes, mut words) = (self.lanes(), Words([0; N]));
        let mut i = 0;
        while i < N {
            // SAFETY: a register of the block's bytes, and their words.
            unsafe {
                let (a, b) = self.widened(self.ordered(2, lanes.load(from.add(i))), widening);
                let to = words.0.as_mut_ptr().add(i).cast();
                put_zips(lanes, to, [(lanes.zero(), a), (lanes.zero(), b)], false);
            }
            i += Self::Lanes::BYTES;
        }
        words
    }

    /// Reads a block of floats of 16 bits that `decode` describes, IEEE 754's, which become `f32`.
    ///
    /// # Safety
    /// As [`Means::read`].
    #[inline(always)]
    unsafe fn read_halves<const N: usize>(self, from: *const u8, decode: &Decode) -> Words<N> {
        // SAFETY: the caller's promise.
        let mut words = unsafe { self.read(2, from) };
        self.widen_halves(&mut words, decode);
        words
    }

    /// Writes the low 1, 2 or 4 bytes of every word, together whole lines.
    ///
    /// # Safety
    /// A block of elements must be writable at `to`, which starts a line if `stream`.
    #[inline(always)]
    unsafe fn write<const N: usize>(self, bytes: usize, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut narrow = Words([0; N]);
        let room = narrow.0.as_mut_ptr().cast::<u8>();
        let mut i = 0;
        while i < N {
            let [a, b, c, d] = words.0[i].to_le_bytes();
            // SAFETY: element `i` of as many words as there are elements.
            unsafe {
                match bytes {
                    1 => room.add(i).write(a),
                    2 => room.cast::<[u8; 2]>().add(i).write([a, b]),
                    _ => room.cast::<[u8; 4]>().add(i).write([a, b, c, d]),
                }
            }
            i += 1;
        }
        let mut byte = 0;
        while byte < bytes * N {
            // SAFETY: the caller's promise.
            unsafe { put(self.lanes(), to.add(byte), self.lanes().load(room.add(byte)), stream) };
            byte += Self::Lanes::BYTES;
        }
    }

    /// Reads a block of `f64`, each of which becomes the nearest `f32`.
    ///
    /// # Safety
    /// A block of them must be readable at `from`.
    #[inline(always)]
    unsafe fn read_doubles<const N: usize>(self, from: *const u8) -> Words<N> {
        let mut words = Words([0; N]);
        let mut i = 0;
        while i < N {
            // SAFETY: element `i` of the block.
            words.0[i] = float::f64_to_f32(unsafe { from.cast::<f64>().add(i).read_unaligned() });
            i += 1;
        }
        words
    }

    /// Writes words that hold an `f32` as `f64`, together whole lines.
    ///
    /// # Safety
    /// As [`Means::write`], for as many elements.
    #[inline(always)]
    unsafe fn write_doubles<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut doubles = [0u64; N];
        let mut i = 0;
        while i < N {
            doubles[i] = float::f32_to_f64(words.0[i]);
            i += 1;
        }
        // SAFETY: the caller's promise.
        unsafe { put_wide(self.lanes(), &doubles, to, stream) }
    }

    /// Multiplies words that hold an `f32`. A product that is NaN may be any, but for that of a NaN and a normal factor where a level
    /// has [`Means::ROUNDS_SHORT`] and no [`Means::ROUNDS`]: it becomes quiet, and stays what it is besides.
    #[inline(always)]
    fn multiply<const N: usize>(self, words: &mut Words<N>, factors: &Factors<'_, N>) {
        let mut i = 0;
        while i < N {
            let factor = match factors {
                Factors::Alike(factor) => *factor,
                Factors::Each(factors) => factors[i],
            };
            words.0[i] = (f32::from_bits(words.0[i]) * factor).to_bits();
            i += 1;
        }
    }

    /// Multiplies words that hold an `f32` by a factor that is neither zero nor infinite nor NaN, so that no product is a new NaN;
    /// one that was there becomes quiet and stays what it is besides.
    #[inline(always)]
    fn multiply_by<const N: usize>(self, words: &mut Words<N>, factor: f32) {
        let mut i = 0;
        while i < N {
            words.0[i] = float::scaled(words.0[i], factor);
            i += 1;
        }
    }

    /// The same by any factor for each word: a new NaN is positive.
    #[inline(always)]
    fn multiply_by_each<const N: usize>(self, words: &mut Words<N>, factors: &[f32; N]) {
        let mut i = 0;
        while i < N {
            words.0[i] = float::scaled(words.0[i], factors[i]);
            i += 1;
        }
    }

    /// True where the level rounds all these words, which hold an `f32`, to their upper halves as they should be: none is NaN, or, for
    /// some instructions, denormal.
    #[inline(always)]
    fn rounds_all<const N: usize>(self, _words: &Words<N>) -> bool {
        false
    }

    /// The upper halves of words that hold an `f32`, rounded, in the low halves of words, and those of others in the high ones.
    #[inline(always)]
    fn zip_tops<const N: usize>(self, low: &Words<N>, high: &Words<N>) -> Words<N> {
        let mut zipped = Words([0; N]);
        let mut i = 0;
        while i < N {
            zipped.0[i] = float::encode_top(low.0[i]) | float::encode_top(high.0[i]) << 16;
            i += 1;
        }
        zipped
    }

    /// Writes the upper halves of words that hold an `f32`, rounded, together whole lines.
    ///
    /// # Safety
    /// As [`Means::write`].
    #[inline(always)]
    unsafe fn write_tops<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
        let mut tops = *words;
        let mut i = 0;
        while i < N {
            tops.0[i] = float::encode_top(words.0[i]);
            i += 1;
        }
        // SAFETY: the caller's promise.
        unsafe { self.write(2, &tops, to, stream) }
    }

    /// Words that hold an `f32` come to hold a float of 16 bits that `encode` describes: IEEE 754's.
    #[inline(always)]
    fn round_to_halves<const N: usize>(self, words: &mut Words<N>, encode: &Encode) {
        let mut i = 0;
        while i < N {
            words.0[i] = encode.one(words.0[i]);
            i += 1;
        }
    }

    /// The reverse.
    #[inline(always)]
    fn widen_halves<const N: usize>(self, words: &mut Words<N>, decode: &Decode) {
        let mut i = 0;
        while i < N {
            words.0[i] = decode.one(words.0[i]);
            i += 1;
        }
    }
}

/// Writes two pairs of registers, interleaved by halves of words: four registers.
///
/// # Safety
/// As [`put`], for all of them.
#[inline(always)]
pub(super) unsafe fn put_zips<L: Lanes>(
    lanes: L,
    to: *mut u8,
    pairs: [(L::Vector, L::Vector); 2],
    stream: bool,
) {
    let mut i = 0;
    while i < 2 {
        let (a, b) = lanes.zip::<2>(pairs[i].0, pairs[i].1);
        // SAFETY: the caller's promise.
        unsafe {
            put(lanes, to.add(2 * i * L::BYTES), a, stream);
            put(lanes, to.add((2 * i + 1) * L::BYTES), b, stream);
        }
        i += 1;
    }
}

/// Writes words of the bytes of four registers in turn, which come out in order where [`Means::ordered`] put the registers so.
///
/// # Safety
/// As [`put`], for four registers.
#[inline(always)]
pub(super) unsafe fn put_bytes<L: Lanes>(lanes: L, to: *mut u8, [a, b, c, d]: [L::Vector; 4], stream: bool) {
    let ((a, b), (c, d)) = (lanes.zip::<1>(a, b), lanes.zip::<1>(c, d));
    // SAFETY: the caller's promise.
    unsafe { put_zips(lanes, to, [(a, c), (b, d)], stream) }
}

/// Writes elements of eight bytes, whole registers.
///
/// # Safety
/// As [`put`], for all of them.
#[inline(always)]
pub(super) unsafe fn put_wide<L: Lanes, const N: usize>(
    lanes: L,
    wide: &[u64; N],
    to: *mut u8,
    stream: bool,
) {
    let from = wide.as_ptr().cast::<u8>();
    let mut byte = 0;
    while byte < size_of_val(wide) {
        // SAFETY: a register of the elements, and the caller's promise.
        unsafe { put(lanes, to.add(byte), lanes.load(from.add(byte)), stream) };
        byte += L::BYTES;
    }
}

/// A level that has registers, and nothing else for conversions.
#[cfg(target_arch = "aarch64")]
#[derive(Clone, Copy)]
pub(super) struct Registers<L>(pub(super) L);

#[cfg(target_arch = "aarch64")]
impl<L: Lanes + pulp::Simd> Means for Registers<L> {
    type Lanes = L;
    type Rounding = Self;

    #[inline(always)]
    fn lanes(self) -> L {
        self.0
    }

    fn rounding(self) -> Option<Self> {
        None
    }

    fn vectorize(self, task: impl NullaryFnOnce<Output = bool>) -> bool {
        pulp::Simd::vectorize(self.0, task)
    }
}

//! Means made of others, which do most things as those do.

/// What means have that do some things otherwise than those of their first field, whose registers these are: the rest, as there.
macro_rules! as_the_first {
    ($vector:ty) => {
        #[inline(always)]
        unsafe fn read<const N: usize>(self, bytes: usize, from: *const u8) -> Words<N> {
            // SAFETY: the caller's promise.
            unsafe { self.0.read(bytes, from) }
        }

        #[inline(always)]
        fn ordered(self, zips: usize, vector: $vector) -> $vector {
            self.0.ordered(zips, vector)
        }

        #[inline(always)]
        fn widened(self, bytes: $vector, widening: &Widening) -> ($vector, $vector) {
            self.0.widened(bytes, widening)
        }

        #[inline(always)]
        unsafe fn read_halves<const N: usize>(self, from: *const u8, decode: &Decode) -> Words<N> {
            // SAFETY: the caller's promise.
            unsafe { self.0.read_halves(from, decode) }
        }

        #[inline(always)]
        unsafe fn write<const N: usize>(self, bytes: usize, words: &Words<N>, to: *mut u8, stream: bool) {
            // SAFETY: the caller's promise.
            unsafe { self.0.write(bytes, words, to, stream) }
        }

        #[inline(always)]
        unsafe fn read_doubles<const N: usize>(self, from: *const u8) -> Words<N> {
            // SAFETY: the caller's promise.
            unsafe { self.0.read_doubles(from) }
        }

        #[inline(always)]
        unsafe fn write_doubles<const N: usize>(self, words: &Words<N>, to: *mut u8, stream: bool) {
            // SAFETY: the caller's promise.
            unsafe { self.0.write_doubles(words, to, stream) }
        }

        #[inline(always)]
        fn multiply_by<const N: usize>(self, words: &mut Words<N>, factor: f32) {
            self.0.multiply_by(words, factor);
        }

        #[inline(always)]
        fn multiply_by_each<const N: usize>(self, words: &mut Words<N>, factors: &[f32; N]) {
            self.0.multiply_by_each(words, factors);
        }

        #[inline(always)]
        fn round_to_halves<const N: usize>(self, words: &mut Words<N>, encode: &Encode) {
            self.0.round_to_halves(words, encode);
        }

        #[inline(always)]
        fn widen_halves<const N: usize>(self, words: &mut Words<N>, decode: &Decode) {
            self.0.widen_halves(words, decode);
        }
    };
}

pub(crate) use as_the_first;

//! Rows at a level: each way there is to convert them, in a region of its own.

use super::leave::Turned;
use super::multiply::{Find, Unscaled, Walk};
use super::packed::rows::packed;
use super::rows::ConvertRows;
use super::tables::small_table::SmallTable;
use super::tables::stretches::by_stretches;
use super::words::Means;
use super::words::any::ends;
use super::words::cast_rows::Cast;
use super::words::casts::{Read, Write};
use super::words::pairs::{cast, cast_any, cast_scaled};
#[cfg(target_arch = "x86_64")]
use crate::level::HAS_AVX512;
use crate::level::Level;

/// Rows of slots that stay as they are, of which a side or both are packed, as pulp wants them; false where there is no way, and
/// nothing was done.
struct EnterPacked<'r, 'a, M>(M, &'r ConvertRows<'a>);

impl<M: Means> pulp::NullaryFnOnce for EnterPacked<'_, '_, M> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: entered by `at_level`, whose caller keeps the contract.
        unsafe { packed(self.1, self.0) }
    }
}

/// The same by words, between two types.
struct EnterCast<'a, M, R, W, F>(Cast<'a, M, R, W, F>);

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> pulp::NullaryFnOnce for EnterCast<'a, M, R, W, F> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: as above.
        unsafe { self.0.run() }
    }
}

/// The same by turns or strips of a transpose.
struct EnterTurns<'t, 'a, M, R, W, F>(Cast<'a, M, R, W, F>, &'t Turned<'t>);

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> pulp::NullaryFnOnce for EnterTurns<'_, 'a, M, R, W, F> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: as above.
        unsafe {
            match self.1.by_turns {
                true => Cast::<'a, M, R, W, F>::TURNS && self.0.turn(self.1),
                false => Cast::<'a, M, R, W, F>::LEAVES && self.0.leave(self.1),
            }
        }
    }
}

impl<'a, M: Means, R: Read, W: Write, F: Find<'a>> Cast<'a, M, R, W, F> {
    /// Converts the rows in a region of the pair's own, so that none pays for what another needs of the stack, and compilers are
    /// not given all pairs as one function; false where there is no way, and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::at_level`].
    pub(super) unsafe fn enter(self) -> bool {
        match if Self::IS_ROUNDED { self.means.rounding() } else { None } {
            Some(means) => {
                let Cast { rows, read, write, factors, .. } = self;
                Cast { rows, means, read, write, factors }.enter_region()
            }
            None => self.enter_region(),
        }
    }

    /// The same with these means and no others.
    fn enter_region(self) -> bool {
        match self.rows.turned {
            Some(turned) => self.means.vectorize(EnterTurns(self, turned)),
            None => !M::ONLY_TURNS && self.means.vectorize(EnterCast(self)),
        }
    }
}

/// The same by hops, which all conversions have.
struct EnterHops<'r, 'a, M>(M, &'r ConvertRows<'a>);

impl<M: Means> pulp::NullaryFnOnce for EnterHops<'_, '_, M> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        // SAFETY: as above.
        unsafe { self.1.by_hops(self.0) }
        true
    }
}

impl ConvertRows<'_> {
    /// # Safety
    /// Every element of every row must be readable at the source and writable at the destination, without overlap; the
    /// level must be there. At other forms than plain ones the level must have lanes.
    #[allow(unused_variables)] // portable targets have no levels
    pub(super) unsafe fn at_level(&self, level: Level) {
        // SAFETY: the caller's promise.
        if unsafe { self.by_two_steps(level) } {
            return;
        }
        #[cfg(target_arch = "x86_64")]
        {
            use super::tables::narrowing::Narrowing;
            use super::words::means_avx2::{Avx2, Halves};
            use super::words::means_avx512::Avx512;
            use super::words::means_bf16::Bf16;
            use crate::lanes::LINE;
            use pulp::x86::{V3, V4};
            if HAS_AVX512 && let Some(table) = self.table.filter(|table| table.takes(self)) {
                // SAFETY: the caller's promise.
                return unsafe { table.run(self) };
            }
            if HAS_AVX512
                && level >= Level::Avx512
                && let Some(lanes) = V4::try_new()
            {
                let means = Avx512 { lanes, bf16: Bf16::of(level) };
                // SAFETY: the caller's promise.
                if self.narrowing.is_some_and(|narrowing| unsafe { narrowing.run::<_, LINE>(self, means) }) {
                    return;
                }
                return self.on(means, level);
            }
            if let (true, Some(lanes), Some(halves)) =
                (level >= Level::Avx2, V3::try_new(), Halves::try_new())
            {
                let means = Avx2(lanes, halves);
                // SAFETY: the same.
                let narrowed =
                    |narrowing: &Narrowing| unsafe { narrowing.run::<_, { LINE / 2 }>(self, means) };
                if self.narrowing.is_some_and(narrowed) {
                    return;
                }
                return self.on(means, level);
            }
        }
        #[cfg(target_arch = "aarch64")]
        if let (true, Some(lanes)) = (level >= Level::Neon, pulp::aarch64::Neon::try_new()) {
            return self.on(super::words::Registers(lanes), level);
        }
        // SAFETY: the caller's promise.
        unsafe { self.portable() }
    }

    /// Transposes by turns; false where there are none for the conversion at this level, and nothing was done.
    ///
    /// # Safety
    /// There must be [`ConvertRows::turned`], whose places are all valid, without overlap. A fence is then due.
    #[allow(unused_variables)] // portable targets have no levels
    pub(super) unsafe fn turns_at_level(&self, level: Level) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use super::words::means_avx2::{Avx2, Halves};
            use super::words::means_avx512::Avx512;
            use super::words::means_bf16::Bf16;
            use super::words::means_half_lines::HalfLines;
            use pulp::x86::{V3, V4};
            if HAS_AVX512
                && let (Some(table), Some(turned)) = (self.table, self.turned)
                // SAFETY: the caller's promise.
                && unsafe { table.turn(turned) }
            {
                return true;
            }
            if let (true, Some(lanes), Some(halves)) =
                (level >= Level::Avx2, V3::try_new(), Halves::try_new())
            {
                let means = Avx2(lanes, halves);
                let more = V4::try_new().filter(|_| HAS_AVX512 && level >= Level::Avx512);
                let is_carried = self.turned.is_some_and(|turned| !turned.plane.carry.is_null());
                // SAFETY: the caller's promise, for all, of which none takes what has factors.
                return unsafe {
                    let joins = |lanes| cast(self, Avx512 { lanes, bf16: Bf16::of(level) });
                    more.filter(|_| is_carried).is_some_and(joins)
                        || more.is_some_and(|lanes| cast(self, HalfLines(means, lanes)))
                        || cast(self, means)
                };
            }
        }
        false
    }

    /// Transposes in strips of elements that are converted as they leave; false where there is no way for the conversion at this level,
    /// and nothing was done.
    ///
    /// # Safety
    /// As [`ConvertRows::turns_at_level`], and there must be whole strips.
    #[allow(unused_variables)] // portable targets have no levels
    pub(super) unsafe fn leaves_at_level(&self, level: Level) -> bool {
        #[cfg(target_arch = "x86_64")]
        {
            use super::words::means_avx512::Avx512;
            use super::words::means_bf16::Bf16;
            if HAS_AVX512
                && let (Some(table), Some(turned)) = (self.table, self.turned)
                // SAFETY: the caller's promise.
                && unsafe { table.leave(turned) }
            {
                return true;
            }
            if HAS_AVX512
                && level >= Level::Avx512
                && let Some(lanes) = pulp::x86::V4::try_new()
            {
                let means = Avx512 { lanes, bf16: Bf16::of(level) };
                let narrowing = self.narrowing.zip(self.turned);
                // SAFETY: the caller's promise, for both.
                return unsafe {
                    match self.conversion.is_scaled() {
                        true => cast_scaled(self, means),
                        false => {
                            narrowing.is_some_and(|(narrowing, turned)| narrowing.leave(turned, means))
                                || cast(self, means)
                        }
                    }
                };
            }
        }
        false
    }

    /// Runs with what a level offers, each way in a region of its own.
    #[allow(dead_code)] // portable targets have no levels
    fn on<M: Means>(&self, means: M, level: Level) {
        // SAFETY: as above, for all.
        unsafe {
            if let Some(small) = self.small.filter(|_| self.has_stretches::<SmallTable>()) {
                return by_stretches(self, means, level, small);
            }
            if self.byte_table.is_some_and(|table| table.run(self, means)) {
                return;
            }
            if self.scaled.is_some_and(|scaled| scaled.run(self, means, level)) {
                return;
            }
        }
        let done = match (self.go_by_any_words(), self.conversion.is_identity()) {
            // SAFETY: as above.
            (true, _) => unsafe { cast_scaled(self, means) || self.on_any::<M, Walk<'_>>(means) },
            (_, true) => means.vectorize(EnterPacked(means, self)) || self.on_any::<M, Unscaled>(means),
            // SAFETY: as above.
            _ if self.fills_blocks() => unsafe { cast(self, means) || self.on_any::<M, Unscaled>(means) },
            _ => false,
        };
        if !done {
            means.vectorize(EnterHops(means, self));
        }
    }

    /// Runs between types that are told apart inside; false where there is no way, and nothing was done.
    #[allow(dead_code)] // portable targets have no levels
    fn on_any<'b, M: Means, F: Find<'b>>(&'b self, means: M) -> bool {
        let fits = self.fills_blocks() || self.go_by_any_words();
        let ends = fits.then(|| ends(self.conversion, self.widening)).flatten();
        // SAFETY: as above.
        ends.is_some_and(|ends| unsafe { cast_any::<M, F>(self, means, ends) })
    }
}

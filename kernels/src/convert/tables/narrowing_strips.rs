//! Transposes of floats that become floats of a byte as they leave a strip.

use core::mem::MaybeUninit;

use pulp::NullaryFnOnce;

use crate::convert::float::Lean;
use crate::convert::leave::{Turned, leaving};
use crate::convert::multiply::Unscaled;
use crate::convert::scale::Scale;
use crate::convert::tables::halves::{ByWords, Halves, Source};
use crate::convert::tables::narrowing::{From, Narrowing};
use crate::convert::tables::narrows::Narrows;
use crate::convert::words::Means;
use crate::convert::words::casts::Plain;
use crate::convert::words::means_avx512::Avx512;
use crate::lanes::{LINE, Lanes};
use crate::transpose::block::{Leave, MOST_TILES};

impl Narrowing {
    /// Transposes elements without factors in strips; false where they stay together, and nothing was done.
    ///
    /// # Safety
    /// As [`Cast::leave`](crate::convert::words::cast_rows::Cast::leave).
    pub(in crate::convert) unsafe fn leave(&self, turned: &Turned<'_>, means: Avx512) -> bool {
        match self.from {
            _ if turned.run > 1 => return false,
            From::Plain => self.enter_strips::<ByWords<_, Unscaled>>(turned, means, Plain::<4>),
            From::Top | From::Half(_) => self.enter_strips::<Halves>(turned, means, ()),
        }
        true
    }

    /// Enters a region for a source and a kind of floats.
    fn enter_strips<S: Source<'static>>(&self, turned: &Turned<'_>, means: Avx512, from: S::From) {
        let narrowing = *self;
        match self.kind {
            Lean::NAN_IS_NEXT => {
                let leave = Narrowed::<S, { Lean::NAN_IS_NEXT }> { means, narrowing, from };
                means.vectorize(Enter { turned, leave })
            }
            Lean::PLAIN_ZERO => {
                let leave = Narrowed::<S, { Lean::PLAIN_ZERO }> { means, narrowing, from };
                means.vectorize(Enter { turned, leave })
            }
            _ => {
                let leave = Narrowed::<S, { Lean::OTHER }> { means, narrowing, from };
                means.vectorize(Enter { turned, leave })
            }
        };
    }
}

/// Strips in a level's region.
struct Enter<'t, W> {
    turned: &'t Turned<'t>,
    leave: W,
}

impl<S: Source<'static>, const KIND: u32> NullaryFnOnce for Enter<'_, Narrowed<S, KIND>> {
    type Output = bool;

    #[inline(always)]
    fn call(self) -> bool {
        let (turned, leave, lanes) = (self.turned, self.leave, self.leave.means.lanes());
        // SAFETY: entered by `Narrowing::leave`, whose caller keeps the contract.
        unsafe {
            match S::BYTES {
                2 => leaving::<_, 2, 8, _>(lanes, turned, leave),
                _ => leaving::<_, 4, 4, _>(lanes, turned, leave),
            }
        }
        true
    }
}

/// Elements of a source as floats of a byte of a kind.
struct Narrowed<S: Source<'static>, const KIND: u32> {
    means: Avx512,
    narrowing: Narrowing,
    from: S::From,
}

impl<S: Source<'static>, const KIND: u32> Clone for Narrowed<S, KIND> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Source<'static>, const KIND: u32> Copy for Narrowed<S, KIND> {}

impl<S: Source<'static>, const KIND: u32> Leave for Narrowed<S, KIND> {
    const TILES: usize = 2 * S::BYTES;

    type Found = ();

    #[inline(always)]
    fn made<L: Lanes>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        _place: (&(), usize, usize),
    ) -> [L::Vector; 2] {
        let mut block = MaybeUninit::<[L::Vector; MOST_TILES]>::uninit();
        let block = block.as_mut_ptr().cast::<u8>();
        // SAFETY: there is room for the registers, of which a line of bytes is made; a register of either kind is a line.
        unsafe {
            let mut i = 0;
            while i < S::BYTES {
                lanes.store(block.add(i * L::BYTES), registers[i]);
                i += 1;
            }
            let by = (self.means, &self.narrowing);
            let [halves, _] = S::new(self.from, Scale::All(1.0)).halves::<_, LINE>(by, block, 0, 0);
            let bytes = self.means.unpacked(1, 0, self.means.narrowed::<KIND>(halves, &self.narrowing));
            self.means.lanes().store(block, bytes);
            [lanes.load(block); 2]
        }
    }
}

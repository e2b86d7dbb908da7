//! Copy kernels: they see bytes, strides and extents, and know nothing of shapes, layouts or threads.
//!
//! Every entry point is safe: it checks, with checked arithmetic and before the first byte moves, that each address
//! that its loops reach lies inside the slices given, and reports [`OutOfBounds`] otherwise. What is unsafe lies
//! behind those checks.
//!
//! | module | moves |
//! |---|---|
//! | [`Mover`] | elements of whole bytes under a loop nest, by a family of kernels at a level |
//! | [`Prepared`] | the same nest again and again, checked once |
//! | [`Panel`] | nothing: a part of a destination that a [`Mover`] fills while other threads fill theirs |
//! | [`Converter`] | elements that change their type or are packed, under a loop nest |
//! | [`copy_nest`] | elements of whole bytes under a loop nest: runs, and blocked strided loops for the rest |
//! | [`copy_offsets`] | elements whose places come from tables |
//! | [`fill_nest`], [`stream_fill_nest`] | one value into every place of a loop nest |
//! | [`AlignedBuffer`] | nothing: bytes at a multiple of 64 |
//! | [`any_bytes`], [`zero_bytes`] | nothing: memory that nobody has written yet, as bytes |
//! | [`bring_near`] | nothing: what is read in another order afterwards |
//! | [`stream_copy`], [`stream_prefetch_copy`] | a plain copy past the cache: the yardstick of every measurement |

mod buffer;
mod convert;
mod deinterleave;
mod fill;
mod general;
mod interleave;
mod lanes;
mod level;
mod loops;
// What it models is the same everywhere, and emulators of this machine are slow.
#[cfg(all(test, any(one_test_program, miri), not(target_arch = "aarch64")))]
mod model;
mod mover;
mod near;
mod nest;
mod offsets;
mod panel;
mod prepared;
mod processor;
mod rows;
mod slots;
mod stage;
mod stream;
mod strided;
mod transpose;
mod tuning;
mod uninit;
mod units;
mod walk;

#[cfg(all(test, one_test_program))]
extern crate self as relayout_kernels;
#[cfg(all(test, one_test_program))]
mod interface;

pub use buffer::{AlignedBuffer, BufferError};
pub use convert::{
    Along, Conversion, Converter, Factors, FloatFormat, Number, PreparedConverter, Rules, Scale, Specials,
    StepDigit,
};
pub use fill::{Fill, fill_nest, stream_fill_nest};
pub use level::{Level, LevelError};
pub use mover::{Family, Mover};
pub use near::bring_near;
pub use nest::{Loop, Nest, OutOfBounds, Side};
pub use offsets::{Offsets, copy_offsets};
pub use panel::Panel;
pub use prepared::Prepared;
pub use slots::{Bits, SlotWidth};
pub use stream::{stream_and_ask, stream_copy, stream_prefetch_copy};
pub use strided::copy_nest;
pub use tuning::{
    converts_in_one_step, narrows_first, reads_all_in_order_first, reads_in_order_first, stream_threshold,
};
pub use uninit::{any_bytes, zero_bytes};

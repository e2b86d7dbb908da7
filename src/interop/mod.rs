//! Arrays as other libraries describe them, checked and turned into what a plan wants.
//!
//! | from | to | |
//! |---|---|---|
//! | NumPy's shape and byte strides | a [`Strided`] array | [`Strided::from_numpy`] |
//! | DLPack's shape, type, strides and offset | a [`Strided`] array | [`dlpack::Tensor`] |
//! | PJRT's tiled memory layout | a [`Layout`](crate::Layout), and back | [`pjrt::TiledLayout`] |
//! | an `ndarray` view (feature `ndarray`) | a [`Strided`] array | [`Strided::from_view`](Strided#method.from_view) |
//!
//! Nothing here touches memory, and nothing needs the libraries themselves: numbers come in, numbers go out.

pub mod dlpack;
mod error;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod pjrt;
mod strided;

pub use error::InteropError;
pub use strided::Strided;

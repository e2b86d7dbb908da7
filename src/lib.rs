//! relayout moves arrays between memory layouts, exactly, at the speed of memory.
#![deny(unsafe_code)]

mod element;
mod error;
pub mod hlo;
mod layout;
mod problem;
mod shape;
mod text;
mod validate;

pub use element::PrimitiveType;
pub use error::{LayoutError, ParseError};
pub use layout::{Layout, PaddingValue, SplitConfig, Tile, TileDimension};
pub use problem::Problem;
pub use shape::{ArrayShape, DimensionSize, Shape};

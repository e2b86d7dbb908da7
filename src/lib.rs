//! relayout moves arrays between memory layouts, exactly, at the speed of memory.
#![deny(unsafe_code)]

mod construct;
mod dimension;
mod element;
mod error;
mod execute;
pub mod hlo;
pub mod index;
mod layout;
mod memory_space;
mod plan;
mod problem;
pub mod reference;
mod request;
mod shape;
mod size;
mod text;
mod validate;
pub mod value;

pub use dimension::axis_name;
pub use element::PrimitiveType;
pub use error::{LayoutError, ParseError};
pub use execute::{ExecuteError, OutOfPlan};
pub use layout::{Layout, PaddingValue, SplitConfig, Tile, TileDimension};
pub use memory_space::MemorySpace;
pub use plan::{BoxExplanation, Explanation, Plan, PlanBuilder, Streaming};
pub use problem::Problem;
pub use relayout_kernels::{Level, LevelError};
pub use request::{End, Padding, PlanError, Region, Request, Slot};
pub use shape::{ArrayShape, DimensionSize, Shape};

//! Elements that change their type, or the width of their slots, on the way.
//!
//! A conversion is what happens at the ends of a move: [`rows`] takes runs of elements through the [`hop`]s of a
//! [`program`], and [`tile`] cuts a nest so that what lies between reading and writing, the narrower form of the elements, is
//! permuted in the first-level cache by the kernels that permute everything else.

mod blocks;
mod by_bytes;
mod converter;
mod digits;
mod each_row;
mod enter;
mod few;
mod float;
pub(crate) mod flush;
mod forms;
mod hop;
pub(crate) mod in_steps;
mod integer;
mod join_rows;
mod leave;
mod long_rows;
mod loose;
mod multiply;
mod number;
mod offsets;
mod one_factor;
mod packed;
mod padded;
mod parts;
mod passes;
mod patterns;
mod permutation;
mod pieces;
mod prepared;
mod program;
mod ragged;
mod rows;
mod scale;
mod small;
mod strips;
mod tables;
mod tile;
mod two_steps;
mod ways;
mod weave;
mod words;

pub use converter::Converter;
pub use number::{FloatFormat, Number, Specials};
pub use offsets::Factors;
pub use prepared::PreparedConverter;
pub use program::{Conversion, Rules};
pub use scale::{Along, Scale, StepDigit};

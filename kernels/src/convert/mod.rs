//! Elements that change their type, or the width of their slots, on the way.
//!
//! A conversion is what happens at the ends of a move: [`rows`] takes runs of elements through the [`hop`]s of a
//! [`program`], and [`tile`] cuts a nest so that what lies between reading and writing, the narrower form of the elements, is
//! permuted in the first-level cache by the kernels that permute everything else.

mod any;
mod bit_runs;
mod cast_packed;
mod cast_rows;
mod cast_woven;
mod casts;
mod converter;
mod enter;
mod float;
pub(crate) mod flush;
mod forms;
mod half_bytes;
mod hop;
mod integer;
mod join_rows;
mod leave;
mod made;
#[cfg(target_arch = "x86_64")]
mod means_avx2;
#[cfg(target_arch = "x86_64")]
mod means_avx512;
mod multiply;
mod number;
mod offsets;
mod pack;
mod packed_columns;
mod packed_rows;
mod packed_strips;
mod packed_turns;
mod pairs;
mod passes;
mod program;
mod rows;
mod scale;
mod scaled_tops;
mod small_table;
mod split;
mod stored_columns;
mod stretches;
mod strips;
#[cfg_attr(not(target_arch = "x86_64"), path = "table_none.rs")]
mod table;
mod tile;
mod tops;
mod weave;
mod widening;
mod words;

pub use converter::Converter;
pub use number::{FloatFormat, Number, Specials};
pub use offsets::Factors;
pub use program::{Conversion, Rules};
pub use scale::{Along, Scale, StepDigit};

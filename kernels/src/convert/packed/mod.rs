//! Slots that share bytes, and nothing else happens: packed, unpacked, moved to other bits, woven, and transposed.

pub(crate) mod bit_runs;
pub(crate) mod blocks;
pub(crate) mod columns;
pub(crate) mod exchange;
pub(crate) mod half_bytes;
pub(crate) mod inside_bytes;
pub(crate) mod listed_columns;
pub(crate) mod pack;
pub(crate) mod rows;
pub(crate) mod stored_columns;
pub(crate) mod strips;
pub(crate) mod turns;
pub(crate) mod words;

//! Elements of few bits, which are looked up in registers rather than computed; what is needed for it is made before a conversion
//! starts.

pub(crate) mod byte_table;
#[cfg(target_arch = "x86_64")]
mod halves;
pub(crate) mod made;
pub(crate) mod narrowing;
#[cfg(target_arch = "x86_64")]
mod narrowing_strips;
#[cfg(target_arch = "x86_64")]
pub(crate) mod narrows;
#[cfg(target_arch = "x86_64")]
mod narrows_avx2;
#[cfg(target_arch = "x86_64")]
mod narrows_avx512;
pub(crate) mod scaled_tops;
pub(crate) mod small_table;
pub(crate) mod stretches;
#[cfg_attr(not(target_arch = "x86_64"), path = "table_none.rs")]
pub(crate) mod table;
#[cfg(target_arch = "x86_64")]
mod table_turns;
#[cfg(target_arch = "x86_64")]
pub(crate) mod to_bytes;
pub(crate) mod tops;
pub(crate) mod widening;

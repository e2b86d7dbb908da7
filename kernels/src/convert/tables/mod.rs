//! Elements of few bits, which are looked up in registers rather than computed; what is needed for it is made before a conversion
//! starts.

pub(crate) mod made;
pub(crate) mod scaled_tops;
pub(crate) mod small_table;
pub(crate) mod stretches;
#[cfg_attr(not(target_arch = "x86_64"), path = "table_none.rs")]
pub(crate) mod table;
pub(crate) mod tops;
pub(crate) mod widening;

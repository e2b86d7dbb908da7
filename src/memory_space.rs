//! Memory spaces: the numbers behind `S(…)`, and the names of those that have one.

use std::fmt;

/// Where an array lives, as `S(n)` in a layout's text says.
///
/// Most numbers belong to the device. The ones with names are those of XLA's document on
/// [shapes](https://openxla.org/xla/shapes): `S(0)`, usually left out, is the device's main memory (HBM on a TPU),
/// `S(1)` its fast on-chip memory (VMEM on a TPU; `kGenericFastMemorySpace` in XLA's `Layout`), `S(5)` the host's memory
/// (`kHostMemorySpace`).
///
/// ```
/// use relayout::{Layout, MemorySpace};
/// assert_eq!(MemorySpace::of(&Layout::row_major(2).with_memory_space(1)).to_string(), "VMEM");
/// assert_eq!(MemorySpace(7).to_string(), "S(7)");
/// assert_eq!(MemorySpace::from_name("host"), Some(MemorySpace::HOST));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct MemorySpace(
    /// The number in the text.
    pub i64,
);

/// (space, name).
const NAMES: [(MemorySpace, &str); 3] =
    [(MemorySpace::HBM, "HBM"), (MemorySpace::VMEM, "VMEM"), (MemorySpace::HOST, "host")];

impl MemorySpace {
    /// The device's main memory, the default.
    pub const HBM: MemorySpace = MemorySpace(0);
    /// The device's fast on-chip memory.
    pub const VMEM: MemorySpace = MemorySpace(1);
    /// The host's memory.
    pub const HOST: MemorySpace = MemorySpace(5);

    /// The space that a layout names.
    pub fn of(layout: &crate::Layout) -> MemorySpace {
        MemorySpace(layout.memory_space())
    }

    /// The name, where the number has one that every device shares.
    pub fn name(self) -> Option<&'static str> {
        NAMES.iter().find(|(space, _)| *space == self).map(|(_, name)| *name)
    }

    /// The space called `name`, upper or lower case.
    pub fn from_name(name: &str) -> Option<MemorySpace> {
        NAMES.iter().find(|(_, known)| known.eq_ignore_ascii_case(name)).map(|(space, _)| *space)
    }
}

impl fmt::Display for MemorySpace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.pad(name),
            None => write!(f, "S({})", self.0),
        }
    }
}

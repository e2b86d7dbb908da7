//! What a plan executes: boxes with the kernel chosen for each.

use std::fmt;

use relayout_kernels::{Bits, Family, Fill, Level, Loop, Nest, SlotWidth};
use smallvec::SmallVec;

use super::pieces::Piece;
use crate::Slot;

/// How the elements of a box are moved.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Kernel {
    /// One run of bytes.
    Copy,
    /// Elements of whole bytes, by a family of vector kernels.
    Move { family: Family, element_bytes: usize },
    /// Elements that change their type, or the width of their slots. `dst` is what is written of a slot: itself where
    /// slots share bytes, else the bytes of the value.
    Convert { src: SlotWidth, dst: SlotWidth },
    /// No source: one value everywhere.
    Fill(Fill),
}

impl Kernel {
    /// True where nothing is read.
    pub(crate) fn is_fill(self) -> bool {
        matches!(self, Kernel::Fill(_))
    }

    /// The name, `{level}-{family}-b{bits}`.
    pub(crate) fn name(self, level: Level) -> String {
        match self {
            Kernel::Copy => format!("{level}-copy"),
            // The portable body of every family is the strided one.
            Kernel::Move { element_bytes, .. } if level == Level::Scalar => {
                format!("scalar-strided-b{}", element_bytes * 8)
            }
            Kernel::Move { family, element_bytes } => {
                format!("{level}-{}-b{}", family.name(), element_bytes * 8)
            }
            Kernel::Convert { src, dst } => format!("{level}-convert-b{}-b{}", bits(src), bits(dst)),
            Kernel::Fill(_) => "scalar-fill".to_owned(),
        }
    }
}

/// One box, ready to run.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Step<'a> {
    pub(crate) kernel: Kernel,
    pub(crate) nest: Nest<'a>,
}

impl Step<'_> {
    /// Elements, or bytes of a single run, that the box holds.
    pub(crate) fn points(&self) -> usize {
        self.nest.points()
    }
}

/// The boxes of a plan in the order of execution, inline for a handful of ragged ones.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Steps {
    heads: SmallVec<[Head; 10]>,
    loops: SmallVec<[Loop; 40]>,
}

/// A step without its loops, which lie behind those of the step before.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Head {
    kernel: Kernel,
    src_offset: isize,
    dst_offset: isize,
    loops_end: usize,
}

impl Steps {
    /// Adds a step; `None` where an address does not fit this machine.
    pub(crate) fn push(&mut self, kernel: Kernel, piece: &Piece) -> Option<()> {
        for atom in &piece.atoms {
            self.loops.push(Loop {
                extent: atom.extent.try_into().ok()?,
                src_stride: atom.src_stride.try_into().ok()?,
                dst_stride: atom.dst_stride.try_into().ok()?,
            });
        }
        let (src_offset, dst_offset) = (piece.src_offset.try_into().ok()?, piece.dst_offset.try_into().ok()?);
        self.heads.push(Head { kernel, src_offset, dst_offset, loops_end: self.loops.len() });
        Some(())
    }

    pub(crate) fn len(&self) -> usize {
        self.heads.len()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Step<'_>> {
        self.parts().map(|(&kernel, nest)| Step { kernel, nest })
    }

    /// The steps that move elements, and fill nothing.
    pub(crate) fn moves(&self) -> impl Iterator<Item = Step<'_>> {
        self.iter().filter(|step| !step.kernel.is_fill())
    }

    /// The parts of the steps, kernels where they lie: copying them takes as long as moving some lines.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&Kernel, Nest<'_>)> {
        let mut start = 0;
        self.heads.iter().map(move |head| {
            let loops = &self.loops[start..head.loops_end];
            start = head.loops_end;
            (&head.kernel, Nest { src_offset: head.src_offset, dst_offset: head.dst_offset, loops })
        })
    }
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Nest { src_offset, dst_offset, loops } = self.nest;
        let list = |of: fn(&Loop) -> String| loops.iter().map(of).collect::<Vec<_>>().join(",");
        write!(f, "extents [{}]", list(|l| l.extent.to_string()))?;
        if let Kernel::Fill(fill) = self.kernel {
            write!(f, " value {:#x}", fill.value)?;
        } else {
            write!(f, " src {}+[{}]", src_offset, list(|l| l.src_stride.to_string()))?;
        }
        write!(f, " dst {}+[{}]", dst_offset, list(|l| l.dst_stride.to_string()))
    }
}

/// Bits of a slot.
pub(crate) fn bits(width: SlotWidth) -> usize {
    match width {
        SlotWidth::Bytes(bytes) => bytes.saturating_mul(8),
        SlotWidth::Bits(bits) => bits as usize,
    }
}

/// The kernels' word for a slot; `None` where it does not fit this machine.
pub(crate) fn slot_width(slot: Slot) -> Option<SlotWidth> {
    Some(match slot {
        Slot::Bytes(bytes) => SlotWidth::Bytes(bytes.try_into().ok()?),
        Slot::Bits(1) => SlotWidth::Bits(Bits::One),
        Slot::Bits(2) => SlotWidth::Bits(Bits::Two),
        Slot::Bits(_) => SlotWidth::Bits(Bits::Four),
    })
}

//! Why a plan is what it is: every state on the way, as data and as text.

use std::fmt;

use relayout_kernels::{Level, Nest};

use super::digits::{Digits, expand};
use super::step::Step;
use super::tables::Tables;
use super::{Plan, unit};
use crate::End;

/// One box of a plan.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoxExplanation {
    /// The kernel that runs the box.
    pub kernel: String,
    /// True for boxes that only write padding, or the unused part of wide slots.
    pub is_fill: bool,
    /// How often each loop runs, outermost first.
    pub extents: Vec<usize>,
    /// What each loop adds to the source place, in bytes, or in slots where slots share bytes.
    pub src_strides: Vec<isize>,
    /// What each loop adds to the destination place, in bytes, or in slots where slots share bytes.
    pub dst_strides: Vec<isize>,
    /// The source place of the first element, in the unit of the strides; fills have none.
    pub src_offset: isize,
    /// The destination place of the first element, in the unit of the strides.
    pub dst_offset: isize,
}

/// What a plan does and why; see [`Plan::explain`].
///
/// Texts are for people: their wording may change, and so may the kernels that a plan picks.
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explanation {
    /// The source shape, canonical text.
    pub src: String,
    /// The destination shape, canonical text.
    pub dst: String,
    /// How a place in the source follows from a logical index: `r0`, `r1`, … are the entries of the index, then what
    /// divisions make of them. Empty for arrays without elements.
    pub src_digits: String,
    /// How a place in the destination follows from a logical index, in the same words.
    pub dst_digits: String,
    /// The boxes, in the order of execution.
    pub boxes: Vec<BoxExplanation>,
    /// The names of the kernels, each once.
    pub kernels: Vec<String>,
    /// Why the plan has this form.
    pub reason: String,
    /// Bytes of the source buffer.
    pub src_bytes: usize,
    /// Bytes of the destination buffer.
    pub dst_bytes: usize,
    /// See [`Plan::is_identity`].
    pub is_identity: bool,
    /// See [`Plan::is_memcpy`].
    pub is_memcpy: bool,
}

impl Plan {
    /// Every state between the layouts and the kernels.
    ///
    /// ```
    /// use relayout::{Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("u8[4,6]".parse()?, "u8[4,6]{0,1}".parse()?);
    /// let explanation = Plan::new(&src, &dst)?.explain();
    /// assert_eq!(explanation.src_digits, "place = r0*6 + r1*1");
    /// assert_eq!(explanation.dst_digits, "place = r1*4 + r0*1");
    /// let transposition = &explanation.boxes[0];
    /// assert_eq!(transposition.extents.iter().product::<usize>(), 24);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn explain(&self) -> Explanation {
        let boxes: Vec<BoxExplanation> =
            self.steps.iter().map(|step| explain_step(&step, self.level)).collect();
        let mut kernels: Vec<String> = self.steps.iter().map(|step| step.kernel.name(self.level)).collect();
        kernels.extend(self.tables.as_ref().map(|_| "scalar-offsets".to_owned()));
        kernels.sort();
        kernels.dedup();
        Explanation {
            src: self.src.to_string(),
            dst: self.dst.to_string(),
            src_digits: self.digits(End::Source),
            dst_digits: self.digits(End::Destination),
            boxes,
            kernels,
            reason: self.reason(),
            src_bytes: self.src_byte_size(),
            dst_bytes: self.dst_byte_size(),
            is_identity: self.is_identity(),
            is_memcpy: self.is_memcpy(),
        }
    }

    /// The digits of one side, which a plan does not keep; empty for an array without slots.
    fn digits(&self, end: End) -> String {
        let (shape, width, strides) = match end {
            End::Source => (&self.src, self.element.src, &self.src_strides),
            End::Destination => (&self.dst, self.element.dst, &self.dst_strides),
        };
        if !shape.padded_elements().is_ok_and(|slots| slots > 0) {
            return String::new();
        }
        let mut digits = Digits::default();
        expand(shape, unit(width), strides.as_deref(), &mut digits);
        digits.to_string()
    }

    fn reason(&self) -> String {
        if let Some(tables) = &self.tables {
            return tables_reason(tables);
        }
        let fills = self.steps.iter().filter(|step| step.kernel.is_fill()).count();
        match (self.steps.len() - fills, fills) {
            (0, 0) => "nothing to move: the array has no elements".to_owned(),
            _ if self.is_identity() => "both layouts give the same bytes: one copy".to_owned(),
            _ if self.is_memcpy() => "the elements lie in the same order on both sides: one copy".to_owned(),
            (copies, fills) => {
                let boxes = |count| if count == 1 { "1 box".to_owned() } else { format!("{count} boxes") };
                format!(
                    "both layouts advance evenly over {} of elements, padding {}",
                    boxes(copies),
                    boxes(fills)
                )
            }
        }
    }
}

fn tables_reason(tables: &Tables) -> String {
    format!(
        "no short list of boxes describes the pair: places come from tables over {} by {} indices",
        super::tables::points(&tables.outer),
        super::tables::points(&tables.inner),
    )
}

fn explain_step(step: &Step<'_>, level: Level) -> BoxExplanation {
    let Nest { src_offset, dst_offset, loops } = step.nest;
    BoxExplanation {
        kernel: step.kernel.name(level),
        is_fill: step.kernel.is_fill(),
        extents: loops.iter().map(|l| l.extent).collect(),
        src_strides: loops.iter().map(|l| l.src_stride).collect(),
        dst_strides: loops.iter().map(|l| l.dst_stride).collect(),
        src_offset,
        dst_offset,
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let explanation = self.explain();
        writeln!(f, "{} -> {}", explanation.src, explanation.dst)?;
        writeln!(f, "  {} bytes -> {} bytes", explanation.src_bytes, explanation.dst_bytes)?;
        writeln!(f, "  src: {}", explanation.src_digits)?;
        writeln!(f, "  dst: {}", explanation.dst_digits)?;
        write!(f, "  {}", explanation.reason)?;
        for step in self.steps.iter() {
            write!(f, "\n  {} {step}", step.kernel.name(self.level))?;
        }
        Ok(())
    }
}

//! A case as the permutation that every crate understands.

use anyhow::{Context, Result};
use relayout::{ArrayShape, Plan, Problem};

/// A dense array, row major in its physical dimensions, whose dimensions change their order.
pub(crate) struct Permutation {
    /// Sizes in the source's order, most major first.
    pub(crate) shape: Vec<usize>,
    /// For every dimension of the destination, most major first, which of the source it is.
    pub(crate) order: Vec<usize>,
    pub(crate) element_bytes: usize,
    pub(crate) bytes: usize,
    pub(crate) plan: Plan,
}

impl Permutation {
    /// Sizes in the destination's order.
    pub(crate) fn dst_shape(&self) -> Vec<usize> {
        self.order.iter().map(|&dimension| self.shape[dimension]).collect()
    }

    /// Distances in elements in the source, of the destination's dimensions.
    pub(crate) fn src_strides(&self) -> Vec<usize> {
        let strides = row_major(&self.shape);
        self.order.iter().map(|&dimension| strides[dimension]).collect()
    }
}

/// Distances in elements of a row-major array.
pub(crate) fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for i in (1..shape.len()).rev() {
        strides[i - 1] = strides[i] * shape[i];
    }
    strides
}

/// The permutation of a line of the table; none where there are tiles, packed elements or a conversion.
pub(crate) fn parse(line: &str) -> Result<Option<Permutation>> {
    let problem: Problem = line.split(" | ").nth(2).unwrap_or(line).parse()?;
    let (src, dst) = (array(&problem.src)?, array(&problem.dst)?);
    let tiled = |array: &ArrayShape| !array.layout().tiles().is_empty();
    if tiled(src) || tiled(dst) || src.element_type() != dst.element_type() || src.element_bits()? % 8 != 0 {
        return Ok(None);
    }
    let sizes: Vec<usize> = src.bounds()?.into_iter().map(usize::try_from).collect::<Result<_, _>>()?;
    let (from, to) = (major_to_minor(src)?, major_to_minor(dst)?);
    let place =
        |dimension: &usize| from.iter().position(|other| other == dimension).context("no permutation");
    let plan = Plan::builder(&problem.src, &problem.dst).max_threads(1).build()?;
    Ok(Some(Permutation {
        shape: from.iter().map(|&dimension| sizes[dimension]).collect(),
        order: to.iter().map(place).collect::<Result<_>>()?,
        element_bytes: usize::try_from(src.element_bits()? / 8)?,
        bytes: plan.src_byte_size(),
        plan,
    }))
}

fn array(shape: &relayout::Shape) -> Result<&ArrayShape> {
    shape.as_array().context("expected arrays")
}

fn major_to_minor(array: &ArrayShape) -> Result<Vec<usize>> {
    let dimensions = array.layout().minor_to_major().iter().rev();
    Ok(dimensions.map(|&dimension| usize::try_from(dimension)).collect::<Result<_, _>>()?)
}

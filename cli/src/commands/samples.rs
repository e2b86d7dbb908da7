//! A look at a relayout before it is timed.

use anyhow::{Result, bail};
use relayout::reference::relayout;
use relayout::{Conversion, Plan, Problem, Region, Request};

use super::Random;
use crate::output::buffer;

/// Elements that are looked at.
const SAMPLES: usize = 2000;

/// Checks elements all over the result: the reference, which moves them once more, one at a time, changes nothing.
pub(crate) fn check(problem: &Problem, conversion: &Conversion, plan: &Plan) -> Result<()> {
    let (Some(src), Some(dst)) = (problem.src.as_array(), problem.dst.as_array()) else {
        bail!("expected arrays");
    };
    let (mut source, mut result) = (buffer(plan.src_byte_size())?, buffer(plan.dst_byte_size())?);
    Random::new(1).fill(&mut source);
    plan.execute(&source, &mut result)?;
    let expected = result.clone();
    let bounds = src.bounds()?;
    let mut random = Random::new(2);
    for _ in 0..SAMPLES {
        let index: Vec<i64> =
            bounds.iter().map(|&bound| (random.next() % bound.max(1) as u64) as i64).collect();
        let one = Region::new(bounds.iter().map(|_| 1));
        let region = one.with_src_start(index.iter().copied()).with_dst_start(index.iter().copied());
        let one = of_index(conversion, &index);
        let request = Request::new(src, dst).with_region(region).with_conversion(one);
        relayout(&request, &source, &mut result)?;
    }
    if result != expected {
        bail!("some elements are not what they should be: see `relayout verify`");
    }
    Ok(())
}

/// The conversion of the element of an index alone.
fn of_index(conversion: &Conversion, index: &[i64]) -> Conversion {
    match conversion.scale() {
        Some((Some(dimension), factors)) => {
            Conversion::new().with_scale_along(dimension, [factors[index[dimension] as usize]])
        }
        _ => conversion.clone(),
    }
}

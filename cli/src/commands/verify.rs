//! `relayout verify`: a plan on random bytes against the reference.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use relayout::{ArrayShape, Problem, Shape};
use serde_json::json;

use super::{Random, parse_problem, plan, print, print_json};
use crate::args::PairArguments;
use crate::output::buffer;

/// The status where the bytes differ.
const DIFFERENT: u8 = 1;
/// What both destinations hold before: a byte that nobody wrote shows unless both left it.
const UNWRITTEN: u8 = 0xa5;

pub(crate) fn run(arguments: &PairArguments) -> Result<ExitCode> {
    let problem = parse_problem(&arguments.pair)?;
    let difference = first_difference(&problem)?;
    let (src, dst) = (problem.src.to_string(), problem.dst.to_string());
    if arguments.json {
        print_json(&json!({
            "src": src, "dst": dst, "equal": difference.is_none(), "first_difference": difference,
        }))?;
    } else {
        print(&match difference {
            None => format!("{problem}: equal\n"),
            Some(byte) => format!("{problem}: differs from the reference at byte {byte}\n"),
        })?;
    }
    Ok(if difference.is_none() { ExitCode::SUCCESS } else { ExitCode::from(DIFFERENT) })
}

/// The first byte of the destination in which plan and reference differ.
fn first_difference(problem: &Problem) -> Result<Option<usize>> {
    let plan = plan(&problem.src, &problem.dst, None)?;
    let mut src = buffer(plan.src_byte_size())?;
    Random::new(0).fill(&mut src);
    let mut moved = buffer(plan.dst_byte_size())?;
    moved.fill(UNWRITTEN);
    let mut expected = buffer(plan.dst_byte_size())?;
    expected.fill(UNWRITTEN);
    plan.execute(&src, &mut moved)?;
    let request = relayout::Request::new(array(&problem.src)?, array(&problem.dst)?);
    relayout::reference::relayout(&request, &src, &mut expected).context("reference")?;
    Ok(moved.iter().zip(&expected).position(|(moved, expected)| moved != expected))
}

fn array(shape: &Shape) -> Result<&ArrayShape> {
    shape.as_array().ok_or_else(|| anyhow!("expected an array, found {shape}"))
}

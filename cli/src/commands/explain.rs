//! `relayout explain`: how a relayout is done, and why so.

use std::process::ExitCode;

use anyhow::Result;
use relayout::Explanation;
use serde_json::{Value, json};

use super::{parse_problem, plan, print, print_json};
use crate::args::PairArguments;

pub(crate) fn run(arguments: &PairArguments) -> Result<ExitCode> {
    let problem = parse_problem(&arguments.pair)?;
    let plan = plan(&problem.src, &problem.dst, None)?;
    if arguments.json {
        print_json(&explanation(&plan.explain()))?;
    } else {
        print(&format!("{plan}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn explanation(explanation: &Explanation) -> Value {
    let boxes: Vec<Value> = explanation
        .boxes
        .iter()
        .map(|piece| {
            json!({
                "kernel": piece.kernel,
                "fill": piece.is_fill,
                "extents": piece.extents,
                "src_strides": piece.src_strides,
                "dst_strides": piece.dst_strides,
                "src_offset": piece.src_offset,
                "dst_offset": piece.dst_offset,
            })
        })
        .collect();
    json!({
        "src": explanation.src,
        "dst": explanation.dst,
        "src_bytes": explanation.src_bytes,
        "dst_bytes": explanation.dst_bytes,
        "src_digits": explanation.src_digits,
        "dst_digits": explanation.dst_digits,
        "boxes": boxes,
        "kernels": explanation.kernels,
        "identity": explanation.is_identity,
        "memcpy": explanation.is_memcpy,
        "reason": explanation.reason,
    })
}

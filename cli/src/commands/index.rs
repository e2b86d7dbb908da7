//! `relayout index`: from multi-indices to linear indices and back.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use relayout::index::Indexer;
use relayout::{ArrayShape, LayoutError};
use serde_json::json;

use super::{parse_shape, print, print_json};
use crate::args::IndexArguments;

pub(crate) fn run(arguments: &IndexArguments) -> Result<ExitCode> {
    let shape = parse_shape("SHAPE", &arguments.shape)?;
    let array = shape.as_array().ok_or_else(|| anyhow!("SHAPE: expected an array, found {shape}"))?;
    let indexer = Indexer::new(array).with_context(|| format!("SHAPE: {shape}"))?;
    if arguments.inverse {
        inverse(array, &indexer, arguments)?;
    } else {
        linear(array, &indexer, arguments)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn linear(shape: &ArrayShape, indexer: &Indexer, arguments: &IndexArguments) -> Result<()> {
    let mut linear = Vec::with_capacity(arguments.indices.len());
    for text in &arguments.indices {
        let index = parse_index(text).with_context(|| format!("index '{text}'"))?;
        linear.push(indexer.linear(&index).with_context(|| format!("index '{text}'"))?);
    }
    if arguments.json {
        return print_json(&json!({ "shape": shape.to_string(), "linear": linear }));
    }
    print(&linear.iter().map(|linear| format!("{linear}\n")).collect::<String>())
}

fn inverse(shape: &ArrayShape, indexer: &Indexer, arguments: &IndexArguments) -> Result<()> {
    let mut indices = Vec::with_capacity(arguments.indices.len());
    for text in &arguments.indices {
        let linear: i64 =
            text.trim().parse().map_err(|_| anyhow!("linear index '{text}': expected an integer"))?;
        indices.push(element_in(indexer, linear).with_context(|| format!("linear index '{text}'"))?);
    }
    if arguments.json {
        return print_json(&json!({ "shape": shape.to_string(), "index": indices }));
    }
    let line = |index: &Option<Vec<i64>>| match index {
        Some(index) => index.iter().map(i64::to_string).collect::<Vec<_>>().join(",") + "\n",
        None => "padding\n".to_owned(),
    };
    print(&indices.iter().map(line).collect::<String>())
}

/// The element in a slot, `None` for padding; slots that do not exist are an error.
fn element_in(indexer: &Indexer, linear: i64) -> Result<Option<Vec<i64>>, LayoutError> {
    let slots = indexer.slots();
    if (0..slots).contains(&linear) {
        Ok(indexer.multi(linear))
    } else {
        Err(LayoutError::LinearIndexOutOfBounds { linear, slots })
    }
}

/// `2,3` as numbers; the empty text is the index of a scalar.
fn parse_index(text: &str) -> Result<Vec<i64>> {
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    text.split(',')
        .map(|entry| entry.trim().parse().map_err(|_| anyhow!("expected an integer, found '{entry}'")))
        .collect()
}

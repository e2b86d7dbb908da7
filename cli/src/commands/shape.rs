//! `relayout shape`: what a shape text means, and what it costs.

use std::process::ExitCode;

use anyhow::{Result, bail};
use relayout::{LayoutError, Shape};
use serde_json::{Value, json};

use super::{parse_shape, print, print_json};
use crate::args::ShapeArguments;

pub(crate) fn run(arguments: &ShapeArguments) -> Result<ExitCode> {
    let shape = parse_shape("SHAPE", &arguments.shape)?;
    let facts = facts(&shape);
    if arguments.json {
        print_json(&facts)?;
    } else {
        print(&text(&facts))?;
    }
    match shape.validate() {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(error) => bail!("SHAPE: {shape}: {error}"),
    }
}

/// Everything that is known of a shape; what is undefined is null.
fn facts(shape: &Shape) -> Value {
    let errors: Vec<String> = shape.validation_errors().iter().map(LayoutError::to_string).collect();
    let valid = shape.validate().is_ok();
    let size = |size: Result<i64, LayoutError>| if valid { size.ok() } else { None };
    json!({
        "canonical": shape.to_string(),
        "valid": valid,
        "errors": errors,
        "element_bits": size(shape.element_bits()),
        "elements": size(shape.elements()),
        "physical_dimensions": if valid { shape.physical_dimensions().ok() } else { None },
        "padded_elements": size(shape.padded_elements()),
        "bytes": size(shape.byte_size()),
        "padding_bytes": size(shape.padding_bytes()),
    })
}

fn text(facts: &Value) -> String {
    let mut text = format!("{}\n", facts["canonical"].as_str().unwrap_or_default());
    for (label, field) in [
        ("valid", "valid"),
        ("element bits", "element_bits"),
        ("elements", "elements"),
        ("physical dimensions", "physical_dimensions"),
        ("slots", "padded_elements"),
        ("bytes", "bytes"),
        ("padding bytes", "padding_bytes"),
    ] {
        let value = match &facts[field] {
            Value::Null => "undefined".to_owned(),
            Value::Bool(value) => if *value { "yes" } else { "no" }.to_owned(),
            value => value.to_string(),
        };
        let share = if field == "padding_bytes" { share(facts) } else { String::new() };
        text.push_str(&format!("  {label:<20} {value}{share}\n"));
    }
    for error in facts["errors"].as_array().into_iter().flatten() {
        text.push_str(&format!("  {:<20} {}\n", "error", error.as_str().unwrap_or_default()));
    }
    text
}

/// Padding as a part of the whole.
fn share(facts: &Value) -> String {
    match (facts["padding_bytes"].as_f64(), facts["bytes"].as_f64()) {
        (Some(padding), Some(bytes)) if bytes > 0.0 => format!(" ({:.1} %)", 100.0 * padding / bytes),
        _ => String::new(),
    }
}

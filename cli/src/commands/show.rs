//! `relayout show`: the picture of a layout.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use relayout::hlo::Instruction;
use relayout::{ArrayShape, Shape};

use super::{print, print_json};
use crate::args::ShowArguments;
use crate::output::Output;
use crate::picture::{Picture, svg, text};

pub(crate) fn run(arguments: &ShowArguments) -> Result<ExitCode> {
    let mut arrays = Vec::new();
    for shape in shapes(&arguments.shape)? {
        collect(shape, &mut arrays);
    }
    if arrays.is_empty() {
        bail!("SHAPE: there is no array in it");
    }
    let mut pictures = Vec::with_capacity(arrays.len());
    for array in &arrays {
        pictures.push(Picture::new(array).with_context(|| format!("SHAPE: {array}"))?);
    }
    if let Some(path) = &arguments.svg {
        let mut output = Output::create(path)?;
        output.write(svg::draw(&pictures).as_bytes())?;
        output.commit()?;
    }
    let colors = text::colors();
    for (number, picture) in pictures.iter().enumerate() {
        match arguments.json {
            true => print_json(&picture.json())?,
            false => {
                print(&format!("{}{}", if number > 0 { "\n" } else { "" }, text::draw(picture, colors)))?
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The shapes in a text: the shape that it is, or the result and the operands of an HLO instruction.
fn shapes(text: &str) -> Result<Vec<Shape>> {
    if !text.contains('=') {
        return Ok(vec![super::parse_shape("SHAPE", text)?]);
    }
    let instruction: Instruction =
        text.parse().map_err(|error| anyhow!("SHAPE: HLO instruction: {error}"))?;
    let operands = instruction.operands.into_iter().filter_map(|operand| operand.shape);
    Ok(std::iter::once(instruction.shape).chain(operands).collect())
}

/// The arrays in a shape, each once.
fn collect(shape: Shape, arrays: &mut Vec<ArrayShape>) {
    match shape {
        Shape::Array(array) | Shape::Buffer(array) if !arrays.contains(&array) => arrays.push(array),
        Shape::Tuple(elements) => elements.into_iter().for_each(|element| collect(element, arrays)),
        _ => {}
    }
}

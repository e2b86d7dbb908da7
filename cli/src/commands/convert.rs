//! `relayout convert`: raw bytes from one shape to another, or a whole checkpoint by a policy.

use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use relayout::{Narrowing, Overflow, Padding, Plan, Rounding, Shape, value};

use super::{parse_shape, plan_builder};
use crate::args::ConvertArguments;
use crate::checkpoint::{self, Conversion, Format};
use crate::map::{self, Input};
use crate::output::{Output, buffer};

pub(crate) fn run(arguments: &ConvertArguments) -> Result<ExitCode> {
    match &arguments.from {
        Some(from) => raw(from, arguments)?,
        None => whole(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}

/// A checkpoint file, known by its name.
fn whole(arguments: &ConvertArguments) -> Result<()> {
    let (input, output) = (&arguments.input, &arguments.output);
    let format = Format::of(input).ok_or_else(|| {
        anyhow!("{}: not a .safetensors or .npy file; raw bytes need --from SHAPE", input.display())
    })?;
    if output != Path::new("-") && Format::of(output) != Some(format) && !is_special(output) {
        bail!(
            "{}: expected a name that ends in .{}, as the input's does",
            output.display(),
            format.extension()
        );
    }
    let policy = arguments.to.parse().context("--to")?;
    let conversion = Conversion { policy, threads: arguments.threads() };
    let file = map::open(input)?;
    let mut output = Output::create(output)?;
    checkpoint::convert(format, &file, &conversion, &mut output)
        .with_context(|| input.display().to_string())?;
    output.commit()
}

/// True for a device or a pipe, whose name says nothing of what it carries.
fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// The two ends of a raw conversion: where in the input and the output the plan's buffers lie.
struct Ends {
    plan: Plan,
    /// Bytes of the output before the plan's destination.
    dst_start: usize,
    /// The plan's source within the input.
    src: Range<usize>,
    /// True where the input may be longer than what is read.
    src_may_be_longer: bool,
}

fn raw(from: &str, arguments: &ConvertArguments) -> Result<()> {
    let src = parse_shape("--from", from)?;
    let dst = parse_shape("--to", &arguments.to)?;
    let ends = ends(&src, &dst, arguments)?;
    let input = map::open(&arguments.input)?;
    let bytes = source_bytes(&input, &ends, &src, &arguments.input)?;
    let mut output = Output::create(&arguments.output)?;
    let mut moved = buffer(ends.plan.dst_byte_size())?;
    ends.plan.execute(bytes, &mut moved)?;
    write_zeros(&mut output, ends.dst_start)?;
    output.write(&moved)?;
    output.commit()
}

fn ends(src: &Shape, dst: &Shape, arguments: &ConvertArguments) -> Result<Ends> {
    let mut builder = plan_builder(src, dst, arguments.threads())?;
    if let Some(padding) = &arguments.padding {
        builder = builder.padding(parse_padding(padding, dst).context("--padding")?);
    }
    builder = builder.conversion(conversion(arguments));
    // A dense array just begins later; only with strides may elements lie before index 0.
    let mut src_start = arguments.src_offset.unwrap_or(0);
    if let Some(strides) = &arguments.src_strides {
        builder = builder.src_strides_bytes(strides).src_offset_bytes(src_start);
        src_start = 0;
    }
    let mut dst_start = arguments.dst_offset.unwrap_or(0);
    if let Some(strides) = &arguments.dst_strides {
        builder = builder.dst_strides_bytes(strides).dst_offset_bytes(dst_start);
        dst_start = 0;
    }
    let plan = builder.build()?;
    let src_start =
        usize::try_from(src_start).map_err(|_| anyhow!("--src-offset: {src_start} is below 0"))?;
    let dst_start =
        usize::try_from(dst_start).map_err(|_| anyhow!("--dst-offset: {dst_start} is below 0"))?;
    let src_end =
        src_start.checked_add(plan.src_byte_size()).context("--src-offset: the end overflows 64 bits")?;
    Ok(Ends { plan, dst_start, src: src_start..src_end, src_may_be_longer: arguments.src_strides.is_some() })
}

/// How elements become elements of another type.
fn conversion(arguments: &ConvertArguments) -> relayout::Conversion {
    let mut conversion = relayout::Conversion::new();
    if arguments.saturate {
        conversion = conversion.with_overflow(Overflow::Saturate).with_narrowing(Narrowing::Saturate);
    }
    if arguments.nearest {
        conversion = conversion.with_rounding(Rounding::NearestEven);
    }
    match arguments.scale {
        Some(factor) => conversion.with_scale(factor),
        None => conversion,
    }
}

/// The part of the input that the plan reads, where the input has the right size.
fn source_bytes<'a>(input: &'a Input, ends: &Ends, src: &Shape, path: &Path) -> Result<&'a [u8]> {
    let (expected, found) = (ends.src.end, input.len());
    if found < expected || found > expected && !ends.src_may_be_longer {
        let at_least = if ends.src_may_be_longer { "at least " } else { "" };
        bail!("{}: expected {at_least}{expected} bytes for {src}, found {found}", path.display());
    }
    Ok(&input[ends.src.clone()])
}

fn parse_padding(text: &str, dst: &Shape) -> Result<Padding> {
    match text.strip_prefix("fill=") {
        _ if text == "zero" => Ok(Padding::Zero),
        _ if text == "leave" => bail!("leave has no meaning for a new file, which holds nothing to leave"),
        Some(number) => {
            let element_type = dst.primitive_type();
            let bits = value::parse(element_type, number);
            bits.map(Padding::Fill).ok_or_else(|| anyhow!("'{number}' is no value of {element_type}"))
        }
        None => bail!("expected zero or fill=VALUE, found '{text}'"),
    }
}

/// Zeros before a destination that begins later, in pieces: the offset may be larger than memory.
fn write_zeros(output: &mut Output, mut bytes: usize) -> Result<()> {
    const PIECE: [u8; 4096] = [0; 4096];
    while bytes > 0 {
        let piece = bytes.min(PIECE.len());
        output.write(&PIECE[..piece])?;
        bytes -= piece;
    }
    Ok(())
}

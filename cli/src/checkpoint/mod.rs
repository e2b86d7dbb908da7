//! Whole checkpoint files: every array in them moves to the layout that a policy gives it.

mod dtype;
mod header;
mod npy;
mod policy;
mod safetensors;

use std::borrow::Cow;
use std::io::IsTerminal;
use std::path::Path;

use anyhow::{Result, anyhow};
use indicatif::{ProgressBar, ProgressStyle};
use relayout::{ArrayShape, Shape};

use crate::output::{Output, buffer};
pub(crate) use policy::Policy;

/// The checkpoint files that the program knows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    Safetensors,
    Npy,
}

impl Format {
    /// What the names of its files end in.
    pub(crate) fn extension(self) -> &'static str {
        match self {
            Format::Safetensors => "safetensors",
            Format::Npy => "npy",
        }
    }

    /// The format that a file's name promises.
    pub(crate) fn of(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()? {
            "safetensors" => Some(Format::Safetensors),
            "npy" => Some(Format::Npy),
            _ => None,
        }
    }
}

/// A file that has not as many bytes of data, from one on, as its header says.
fn wrong_size(start: usize, expected: u64, found: usize) -> anyhow::Error {
    let guess = if (found as u64) < expected { "is the file cut off?" } else { "what follows the data?" };
    anyhow!("at byte {start}: expected {expected} bytes of data, found {found} ({guess})")
}

/// What a conversion needs to know beside the file.
pub(crate) struct Conversion {
    pub(crate) policy: Policy,
    pub(crate) threads: Option<usize>,
}

/// Writes `file` to `output` with every array in the layout that the policy gives it.
pub(crate) fn convert(
    format: Format,
    file: &[u8],
    conversion: &Conversion,
    output: &mut Output,
) -> Result<()> {
    let progress = progress(file.len());
    let mut write = |bytes: &[u8]| output.write(bytes);
    let done = match format {
        Format::Safetensors => safetensors::convert(file, conversion, &progress, &mut write),
        Format::Npy => npy::convert(file, conversion, &mut write),
    };
    progress.finish_and_clear();
    done
}

/// The embedded sample's way through [`convert`]: memory to memory, no progress bar.
pub(crate) fn convert_safetensors(file: &[u8], conversion: &Conversion) -> Result<Vec<u8>> {
    let mut converted = Vec::new();
    safetensors::convert(file, conversion, &ProgressBar::hidden(), &mut |bytes| {
        converted.extend_from_slice(bytes);
        Ok(())
    })?;
    Ok(converted)
}

/// Moves one array; bytes that stay as they are, are not copied.
fn relayout<'a>(
    from: &ArrayShape,
    to: &ArrayShape,
    bytes: &'a [u8],
    threads: Option<usize>,
) -> Result<Cow<'a, [u8]>> {
    let plan = crate::commands::plan(&Shape::from(from.clone()), &Shape::from(to.clone()), threads)?;
    if plan.is_identity() {
        return Ok(Cow::Borrowed(bytes));
    }
    let mut moved = buffer(plan.dst_byte_size())?;
    plan.execute(bytes, &mut moved)?;
    Ok(Cow::Owned(moved))
}

fn progress(bytes: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template("{bar:32} {bytes}/{total_bytes} {binary_bytes_per_sec} {wide_msg}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(bytes as u64).with_style(style)
}

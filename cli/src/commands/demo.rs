//! `relayout demo`: the main job on samples that need no file.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use relayout::index::Indexer;
use relayout::{ArrayShape, Plan, Shape};

use super::{Random, plan, print};
use crate::checkpoint::{Conversion, convert_safetensors};
use crate::output::buffer;
use crate::picture::{Picture, text};

const SRC: &str = "bf16[8,1,1280,16384]{3,2,1,0}";
const DST: &str = "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}";
/// The same tiles at a size that a screen shows.
const SMALL: &str = "bf16[6,10]{1,0:T(4,8)(2,1)}";
const SAMPLES: usize = 1_000_000;
const CHECKPOINT: &[u8] = include_bytes!("../../../tests/data/tiny.safetensors");

pub(crate) fn run() -> Result<ExitCode> {
    array()?;
    picture()?;
    checkpoint()?;
    Ok(ExitCode::SUCCESS)
}

/// A large array to tiles and back.
fn array() -> Result<()> {
    let (src, dst): (ArrayShape, ArrayShape) = (SRC.parse()?, DST.parse()?);
    let there = plan(&Shape::from(src.clone()), &Shape::from(dst.clone()), None)?;
    let back = plan(&Shape::from(dst.clone()), &Shape::from(src.clone()), None)?;
    print(&format!(
        "An array of {:.0} MB into tiles and back\n\n{there}\n\n",
        there.src_byte_size() as f64 / 1e6
    ))?;

    let mut original = buffer(there.src_byte_size())?;
    Random::new(0).fill(&mut original);
    let mut tiled = buffer(there.dst_byte_size())?;
    let mut returned = buffer(back.dst_byte_size())?;
    report("plain copy", original.len(), || {
        returned.copy_from_slice(&original);
        Ok(())
    })?;
    returned.fill(0);
    execute("into tiles", &there, &original, &mut tiled)?;
    check_samples(&src, &dst, &original, &tiled)?;
    print(&format!("{SAMPLES} elements looked up: all where the layout says\n"))?;
    execute("and back", &back, &tiled, &mut returned)?;
    if returned != original {
        bail!("the array that came back is not the one that went");
    }
    print("the array that came back is the one that went\n\n")
}

fn execute(what: &str, plan: &Plan, src: &[u8], dst: &mut [u8]) -> Result<()> {
    report(what, src.len(), || Ok(plan.execute(src, dst)?))
}

/// Prints how fast `call` moved `bytes`, read and written.
fn report(what: &str, bytes: usize, call: impl FnOnce() -> Result<()>) -> Result<()> {
    let start = Instant::now();
    call()?;
    let seconds = start.elapsed().as_secs_f64();
    print(&format!("{what:<12} {:6.3} s {:8.2} GB/s\n", seconds, 2.0 * bytes as f64 / seconds / 1e9))
}

/// Looks up elements in both arrays through the index functions, which share nothing with the plan.
fn check_samples(src: &ArrayShape, dst: &ArrayShape, original: &[u8], tiled: &[u8]) -> Result<()> {
    let (from, to) = (Indexer::new(src)?, Indexer::new(dst)?);
    let (bounds, width) = (src.bounds()?, usize::try_from(src.element_bits()? / 8)?);
    let element = |bytes: &[u8], linear: i64| -> Option<Vec<u8>> {
        let start = usize::try_from(linear).ok()?.checked_mul(width)?;
        bytes.get(start..start + width).map(<[u8]>::to_vec)
    };
    let mut random = Random::new(1);
    let mut index = vec![0; bounds.len()];
    for _ in 0..SAMPLES {
        index.iter_mut().zip(&bounds).for_each(|(entry, &bound)| *entry = random.below(bound));
        let expected = element(original, from.linear(&index)?);
        if expected.is_none() || element(tiled, to.linear(&index)?) != expected {
            bail!("element {index:?} is not where the layout says");
        }
    }
    Ok(())
}

fn picture() -> Result<()> {
    let picture = Picture::new(&SMALL.parse()?)?;
    print(&format!("{}\n", text::draw(&picture, text::colors())))
}

/// A small checkpoint to the layouts of a TPU and back.
fn checkpoint() -> Result<()> {
    let convert = |file: &[u8], policy: &str| {
        let conversion = Conversion { policy: policy.parse()?, threads: None };
        convert_safetensors(file, &conversion).context("the embedded checkpoint")
    };
    let tiled = convert(CHECKPOINT, "tpu")?;
    let returned = convert(&tiled, "row-major")?;
    if returned != CHECKPOINT {
        bail!("the checkpoint that came back is not the one that went");
    }
    let (before, after) = (CHECKPOINT.len(), tiled.len());
    print(&format!(
        "A checkpoint of {before} bytes to TPU layouts ({after} bytes) and back: byte for byte the same\n"
    ))
}

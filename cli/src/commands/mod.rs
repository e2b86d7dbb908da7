//! One file per command, and what several of them need: reading shapes, making plans, printing results.

pub(crate) mod bench;
pub(crate) mod convert;
pub(crate) mod demo;
pub(crate) mod explain;
pub(crate) mod index;
mod samples;
pub(crate) mod shape;
pub(crate) mod show;
mod suites;
mod two_passes;
pub(crate) mod verify;

use std::io::Write;

use anyhow::{Context, Result, anyhow, bail};
use relayout::{Level, Plan, PlanBuilder, Problem, Shape};
use serde_json::Value;

/// Reads the shape given as `argument`; the error names the argument and the byte in it.
pub(crate) fn parse_shape(argument: &str, text: &str) -> Result<Shape> {
    text.parse().map_err(|error| anyhow!("{argument}: {error}"))
}

/// A problem given as `SRC DST` in two arguments or `SRC -> DST` in one.
pub(crate) fn parse_problem(arguments: &[String]) -> Result<Problem> {
    match arguments {
        [line] if line.contains("->") => line.parse().map_err(|error| anyhow!("SRC -> DST: {error}")),
        [src] => {
            let src = parse_shape("SRC", src)?;
            bail!("DST: missing, expected a shape for {src} to become")
        }
        [src, dst] if !src.contains("->") => {
            Ok(Problem { src: parse_shape("SRC", src)?, dst: parse_shape("DST", dst)? })
        }
        _ => bail!("expected one pair of shapes"),
    }
}

/// A builder of plans with what the environment and the command line ask for.
pub(crate) fn plan_builder<'a>(
    src: &'a Shape,
    dst: &'a Shape,
    threads: Option<usize>,
) -> Result<PlanBuilder<'a>> {
    level(None)?;
    let builder = Plan::builder(src, dst);
    Ok(match threads {
        Some(threads) => builder.max_threads(threads),
        None => builder,
    })
}

/// A plan with what the environment and the command line ask for.
pub(crate) fn plan(src: &Shape, dst: &Shape, threads: Option<usize>) -> Result<Plan> {
    Ok(plan_builder(src, dst, threads)?.build()?)
}

/// The level that `--level` or else the variable `RELAYOUT_LEVEL` asks for, or the machine's best.
pub(crate) fn level(option: Option<&str>) -> Result<Level> {
    let (place, name) = match (option, std::env::var("RELAYOUT_LEVEL")) {
        (Some(name), _) => ("--level", name.to_owned()),
        (None, Ok(name)) if !name.is_empty() => ("RELAYOUT_LEVEL", name),
        (None, _) => return Ok(Level::detect()),
    };
    let level: Level = name.parse().context(place)?;
    level.require().context(place)
}

/// Prints a result as one line of JSON.
pub(crate) fn print_json(value: &Value) -> Result<()> {
    print(&format!("{value}\n"))
}

/// Prints a result; text goes out as it is.
pub(crate) fn print(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write standard output")
}

/// Endless bytes that look random and are the same in every run (SplitMix64).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub(crate) fn below(&mut self, bound: i64) -> i64 {
        ((u128::from(self.next()) * bound as u128) >> 64) as i64
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

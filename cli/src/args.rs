//! The command line: what can be said, and nothing about what it does.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

/// Memory layouts of arrays: shows, explains and checks layouts.
#[derive(Parser)]
#[command(name = "relayout", version)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Print the canonical text, validity and sizes of a shape
    Shape(ShapeArguments),
    /// Print the linear index of multi-indices, or the other way with --inverse
    Index(IndexArguments),
    /// Draw a layout: where each element lies, and what each slot of memory holds
    Show(ShowArguments),
    /// Print how a relayout is done, and why so
    Explain(PairArguments),
    /// Compare a relayout of random bytes with the reference; status 1 where they differ
    Verify(PairArguments),
}

#[derive(Args)]
pub(crate) struct ShapeArguments {
    /// The shape, such as bf16[64,256]{1,0:T(8,128)(2,1)}
    #[arg(value_name = "SHAPE")]
    pub(crate) shape: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct IndexArguments {
    /// The shape, such as f32[3,5]{1,0:T(2,2)}
    #[arg(value_name = "SHAPE")]
    pub(crate) shape: String,
    /// Multi-indices such as 2,3 (a scalar's is the empty argument ''); with --inverse linear indices
    #[arg(value_name = "I,J,…", required = true)]
    pub(crate) indices: Vec<String>,
    /// From linear indices to multi-indices
    #[arg(long)]
    pub(crate) inverse: bool,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ShowArguments {
    /// A shape, or a whole HLO instruction
    #[arg(value_name = "SHAPE")]
    pub(crate) shape: String,
    /// Also write the picture to this SVG file
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// Print a JSON object per array
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct PairArguments {
    /// Source and destination: two shapes, or one line 'SRC -> DST'
    #[arg(value_name = "SRC DST", required = true, num_args = 1..=2)]
    pub(crate) pair: Vec<String>,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

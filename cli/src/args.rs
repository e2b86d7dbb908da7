//! The command line: what can be said, and nothing about what it does.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};

/// More threads than a machine has memory for the stacks of would end the program.
const MOST_THREADS: i64 = 4096;

/// The page that measured destinations begin in.
const PAGE: i64 = 4096;

/// Moves arrays between memory layouts: converts files, and shows, explains, checks and measures layouts.
#[derive(Parser)]
#[command(name = "relayout", version, after_help = "Without a command: demo.")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Convert a generated array and a small checkpoint to TPU layouts and back, checking every step
    Demo,
    /// Convert a file: raw bytes with --from, or a whole .safetensors or .npy file
    Convert(ConvertArguments),
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
    /// Measure relayouts beside plain copies
    Bench(BenchArguments),
}

#[derive(Args)]
pub(crate) struct ConvertArguments {
    /// Input file; - is standard input
    pub(crate) input: PathBuf,
    /// Output file, replaced when complete; - is standard output
    pub(crate) output: PathBuf,
    /// The shape and layout that raw input bytes are in, such as `f32[64,100]`
    #[arg(long, value_name = "SHAPE")]
    pub(crate) from: Option<String>,
    /// With --from, the shape and layout to write. For .safetensors and .npy: tpu, row-major, column-major, tiles
    /// such as T(8,128) for every array that has these dimensions, or a layout such as {0,1:T(8,128)} for every
    /// array that has as many
    #[arg(long, value_name = "SHAPE or POLICY")]
    pub(crate) to: String,
    /// Raw input strides in bytes, one per logical dimension (between tiles where the shape is tiled)
    #[arg(long, value_name = "B,…", value_delimiter = ',', allow_hyphen_values = true, requires = "from")]
    pub(crate) src_strides: Option<Vec<i64>>,
    /// Raw output strides in bytes, one per logical dimension (between tiles where the shape is tiled)
    #[arg(long, value_name = "B,…", value_delimiter = ',', allow_hyphen_values = true, requires = "from")]
    pub(crate) dst_strides: Option<Vec<i64>>,
    /// Where in the raw input index (0,…,0) lies, in bytes
    #[arg(long, value_name = "B", requires = "from")]
    pub(crate) src_offset: Option<i64>,
    /// Where in the raw output index (0,…,0) lies, in bytes
    #[arg(long, value_name = "B", requires = "from")]
    pub(crate) dst_offset: Option<i64>,
    /// What raw output holds between the elements: zero or fill=VALUE
    #[arg(long, value_name = "PADDING", requires = "from")]
    pub(crate) padding: Option<String>,
    /// Numbers that are too large for the element type of --to become its nearest one
    #[arg(long, requires = "from")]
    pub(crate) saturate: bool,
    /// Floats that become integers become the nearest ones, of two the even one, rather than lose their fraction
    #[arg(long, requires = "from")]
    pub(crate) nearest: bool,
    /// Multiplies every element, in f32, before it becomes of the type of --to
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, requires = "from")]
    pub(crate) scale: Option<f32>,
    /// Use at most so many threads
    #[arg(long, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    threads: Option<u64>,
}

impl ConvertArguments {
    /// The most threads to use, if that is said.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.threads.map(|threads| usize::try_from(threads).unwrap_or(usize::MAX))
    }
}

#[derive(Args)]
pub(crate) struct ShapeArguments {
    /// The shape, such as `bf16[64,256]{1,0:T(8,128)(2,1)}`
    #[arg(value_name = "SHAPE")]
    pub(crate) shape: String,
    /// Print a JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct IndexArguments {
    /// The shape, such as `f32[3,5]{1,0:T(2,2)}`
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

#[derive(Args)]
pub(crate) struct BenchArguments {
    /// Sources and destinations: shapes two by two, or lines 'SRC -> DST', with factors 'SRC -> DST | factor' or
    /// 'SRC -> DST | factors along 0'
    #[arg(value_name = "SRC DST", required_unless_present = "suite")]
    pub(crate) pairs: Vec<String>,
    /// A suite of cases: tile, transpose2d, nchw, attention, ttc57, small, cache, convert, pack, or all; may be given again
    #[arg(long, value_name = "NAME")]
    pub(crate) suite: Vec<String>,
    /// Threads; several numbers give several lines
    #[arg(long, value_name = "N,…", value_delimiter = ',', default_value = "1")]
    #[arg(value_parser = value_parser!(u16).range(1..=MOST_THREADS))]
    pub(crate) threads: Vec<u16>,
    /// How many bytes behind a page destinations begin: by default like the source, and one cache line before and behind it,
    /// where loads meet recent stores. The figure is the median over them
    #[arg(long, value_name = "B,…", value_delimiter = ',', default_value = "0,64,4032")]
    #[arg(value_parser = value_parser!(u16).range(..PAGE))]
    pub(crate) dst_offsets: Vec<u16>,
    /// The SIMD level to use: scalar, avx2, avx512, avx512vbmi or neon
    #[arg(long, value_name = "LEVEL")]
    pub(crate) level: Option<String>,
    /// Print a JSON object per line
    #[arg(long)]
    pub(crate) json: bool,
}

//! relayout moves arrays between memory layouts, exactly.
//!
//! An array of 64 rows and 250 columns can lie in memory row by row, column by column, or cut into tiles of 8 by 128
//! elements whose edges are padded. XLA writes which it is behind the shape: `bf16[64,250]{1,0:T(8,128)(2,1)}`. This
//! crate reads that notation, says where each element lies, and moves whole arrays from one layout to another.
//!
//! ```
//! use relayout::{Plan, Shape};
//!
//! let src: Shape = "bf16[64,250]".parse()?; // row major
//! let dst: Shape = "bf16[64,250]{1,0:T(8,128)(2,1)}".parse()?; // tiled
//! let plan = Plan::new(&src, &dst)?; // checks everything that can go wrong; use it as often as you like
//!
//! let rows: Vec<u8> = (0..plan.src_byte_size()).map(|byte| byte as u8).collect();
//! let mut tiles = vec![0; plan.dst_byte_size()];
//! plan.execute(&rows, &mut tiles)?;
//!
//! assert_eq!((rows.len(), tiles.len()), (32_000, 32_768)); // the last tiles are padded to 128 columns
//! assert_eq!(tiles[..4], [rows[0], rows[1], rows[500], rows[501]]); // element (0,0), and behind it (1,0)
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The idea
//!
//! A layout is a **function from a logical index to a position** in memory. For every layout that XLA can write, that
//! function is a sum over the dimensions, each of which goes through a chain of divisions and remainders. Row major,
//! column major, tiles, tiles of tiles, byte strides and a box cut out of a larger array are all this one thing, so
//! one way leads from any of them to any other:
//!
//! ```text
//!  "bf16[64,250]{1,0:T(8,128)(2,1)}"        text
//!     │  text, validate                     read strictly, checked by XLA's rules
//!     ▼
//!  Shape                                    element type, dimensions, layout: plain data
//!     │  plan::digits                       each layout alone: its divisions, remainders and strides
//!     ▼
//!  digits     r2 = r0 / 8, r3 = r0 % 8, …  place = r2*4096 + …
//!     │  plan::lower                        both layouts together, cut where one of them stops advancing evenly
//!     ▼
//!  boxes      extents, source strides, destination strides; and the boxes of padding
//!     │  plan::normalize, plan::choose      shortest loops, then the first kernel that accepts
//!     ▼
//!  steps      a box and the kernel that runs it: together they are the Plan
//!     │  execute, relayout-kernels          addresses checked, bytes moved
//!     ▼
//!  bytes
//! ```
//!
//! Printing a [`Plan`] shows every one of these states, and [`Plan::explain`] gives them as data. Pairs of layouts that
//! would need too many boxes, such as tiles of 3×5 into tiles of 8×128, compute their places from the digits in
//! blocks of a fixed size instead: slower, and as exact.
//!
//! # The notation, in short
//!
//! ```text
//!  bf16 [64,250] {1,0:T(8,128)(2,1)}
//!   │      │      │      │     └─ then rows 2i and 2i+1 of each tile alternate, element by element
//!   │      │      │      └─────── cut into tiles of 8 rows × 128 columns, one tile after the other
//!   │      │      └────────────── minor_to_major: dimension 1 is the fastest, then dimension 0
//!   │      └───────────────────── the logical dimensions
//!   └──────────────────────────── the element type
//! ```
//!
//! Left out, `{…}` means row major. Tiles cut the last (fastest) dimensions, and each further tile cuts what the one
//! before it made. A **slot** is the place of one element; a slot of a tile that the array does not fill is
//! **padding**. Positions count slots from the start of the array's memory, and [`index`] computes them:
//!
//! ```
//! use relayout::{ArrayShape, index};
//!
//! // f32[3,5]{1,0:T(2,2)} in slots, · is padding:
//! //
//! //     0  1 │  4  5 │  8  ·
//! //     2  3 │  6  7 │ 10  ·
//! //    ──────┼───────┼──────
//! //    12 13 │ 16 17 │ 20  ·
//! //     ·  · │  ·  · │  ·  ·
//! let shape: ArrayShape = "f32[3,5]{1,0:T(2,2)}".parse()?;
//! let slots = [[0, 1, 4, 5, 8], [2, 3, 6, 7, 10], [12, 13, 16, 17, 20]];
//! for (row, slots) in slots.iter().enumerate() {
//!     for (column, &slot) in slots.iter().enumerate() {
//!         assert_eq!(index::linear_index(&shape, &[row as i64, column as i64])?, slot);
//!     }
//! }
//! assert_eq!(index::multi_index(&shape, 14)?, None); // padding
//! assert_eq!((shape.padded_elements()?, shape.byte_size()?), (24, 96));
//!
//! // bf16 in T(8,128)(2,1): rows 0 and 1 share the first 256 slots, rows 2 and 3 the next.
//! let shape: ArrayShape = "bf16[16,256]{1,0:T(8,128)(2,1)}".parse()?;
//! for (index, slot) in [([0, 0], 0), ([1, 0], 1), ([0, 1], 2), ([1, 1], 3), ([1, 127], 255)] {
//!     assert_eq!(index::linear_index(&shape, &index)?, slot);
//! }
//! for (index, slot) in [([2, 0], 256), ([0, 128], 1024), ([8, 0], 2048)] {
//!     assert_eq!(index::linear_index(&shape, &index)?, slot);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Further notes stand behind the tiles in a fixed order: `L(n)` pads the whole array to a multiple of n elements,
//! `E(n)` makes every slot n bits wide (`E(4)` packs two `s4` in a byte, the first in the low bits), `S(n)` names a
//! [`MemorySpace`], `SC(…)` and `M(n)` are kept and move nothing. `<=n` is a dynamic dimension with a bound, for which
//! memory is laid out; `?` is one without, which has no size.
//!
//! # What is promised
//!
//! - **Exact or an error.** Between equal element types bits are moved, so NaN payloads and negative zeros survive; between
//!   different ones every element becomes what [`convert`] says. What cannot be done is refused with a typed error ([`ParseError`], [`LayoutError`], [`PlanError`], [`ExecuteError`]) before
//!   a byte is written. No text, shape or buffer makes the crate panic.
//! - **Padding is defined.** It becomes zero, so that equal arrays give equal bytes, or a value of the caller's, or
//!   stays as it is; see [`Padding`]. What the source's padding holds never shows.
//! - **No surprises.** Executing asks for no alignment and allocates nothing in proportion to the data. Threads are those
//!   of the current rayon pool, for large arrays only, and [`PlanBuilder::max_threads`] bounds them. A plan never
//!   changes and may be shared between threads.
//!
//! # Where to look
//!
//! | for | look at |
//! |---|---|
//! | shapes and layouts as data, in and out of text | [`Shape`], [`ArrayShape`], [`Layout`], [`Tile`], [`PrimitiveType`] |
//! | whether a shape is valid, its sizes, what padding costs | [`ArrayShape::validate`], [`ArrayShape::byte_size`], [`ArrayShape::padding_bytes`] |
//! | where an element lies | [`index`] |
//! | moving an array | [`Plan`]; strides, sub-boxes and padding: [`Plan::builder`] |
//! | plans that are kept, and names for them | [`PlanCache`], [`Plan::fingerprint`], [`PlanRequest`] |
//! | elements of another type, scales | [`convert`], [`PlanBuilder::conversion`] with a [`Conversion`] |
//! | why a plan is what it is | `println!("{plan}")`, [`Plan::explain`] |
//! | the same moves, one element at a time, as the measure of tests | [`mod@reference`] with a [`Request`] |
//! | arrays of NumPy, DLPack, PJRT and `ndarray` | [`interop`] |
//! | memory that nobody has written yet | [`Plan::execute_uninit`], [`AlignedBuffer`] |
//! | slices of numbers | [`Plan::execute_typed`] |
//! | one line that names a relayout, for logs and tests | [`Problem`] |
//! | a line of HLO from a compiler or profiler | [`hlo::Instruction`] |
//! | numbers as bit patterns, for fills | [`value`] |
//!
//! # Floors
//!
//! Each floor uses the floors below it only:
//!
//! ```text
//!  5  this page       names for users
//!  4  execute         walks the steps of a plan; the only home of threads
//!  3  plan            digits → boxes → steps
//!  2  reference       one element at a time; shares nothing with 3 and 4, which it judges
//!  1  the model       element, shape, layout, text, validate, size, index, request, …
//!  0  kernels/        the crate relayout-kernels: addresses and bytes, nearly all `unsafe`, no word of XLA
//! ```
//!
//! # Features
//!
//! `rayon` (default): large plans are executed by the current rayon pool. Without it everything runs on the caller's
//! thread.
//!
//! `serde`: shapes, layouts and plan requests are serialised, as XLA's text; see `RequestRecord`.
//!
//! `ndarray`: [`interop::Strided`] describes views of the crate `ndarray`.
//!
//! `half`: `bf16` and `f16` of the crate `half` are an [`Element`].
//!
//! # Environment
//!
//! `RELAYOUT_LEVEL` forces a [`Level`] on every plan that names none, for tests and measurements. It is looked up once.
#![deny(unsafe_code)]

mod cache;
mod construct;
pub mod convert;
mod dimension;
mod element;
mod error;
mod execute;
pub mod hlo;
pub mod index;
pub mod interop;
mod layout;
mod memory_space;
mod plan;
mod problem;
pub mod reference;
mod request;
#[cfg(feature = "serde")]
mod serialize;
mod shape;
mod size;
mod text;
mod typed;
mod validate;
pub mod value;

pub use cache::{CacheStats, PlanCache};
pub use convert::{Conversion, Narrowing, Overflow, Rounding};
pub use dimension::axis_name;
pub use element::PrimitiveType;
pub use error::{LayoutError, ParseError};
pub use execute::{Chunk, Chunks, ExecuteError, OutOfPlan, Scheduler};
pub use layout::{Layout, PaddingValue, SplitConfig, Tile, TileDimension};
pub use memory_space::MemorySpace;
pub use plan::{BoxExplanation, Explanation, Plan, PlanBuilder, Streaming};
pub use problem::Problem;
pub use relayout_kernels::{AlignedBuffer, BufferError, Level, LevelError};
pub use request::{
    End, Fingerprint, FingerprintError, Padding, PlanError, PlanRequest, Region, Request, Slot,
};
#[cfg(feature = "serde")]
pub use serialize::{EndRecord, RecordError, RequestRecord};
pub use shape::{ArrayShape, DimensionSize, Shape};
pub use typed::Element;

/// Compiles and runs the examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

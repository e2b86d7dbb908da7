//! The tests of the interface, as tests of the inside.
//!
//! The kernels take minutes to compile, and are compiled for the tests in here and again for those beside. Where an emulator or
//! a sanitizer makes that slow, all are one program.

#[path = "../tests/convert/main.rs"]
mod convert;
#[path = "../tests/levels.rs"]
mod levels;
#[path = "../tests/panels.rs"]
mod panels;
#[path = "../tests/ragged.rs"]
mod ragged;
#[path = "../tests/short_rows.rs"]
mod short_rows;
#[path = "../tests/tile_columns.rs"]
mod tile_columns;
#[path = "../tests/words.rs"]
mod words;

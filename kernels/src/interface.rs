//! The tests of the interface, as tests of the inside.
//!
//! The kernels take minutes to compile, and would be compiled for the tests in here and again for those beside. So what needs most
//! of them in here is left out of the ordinary tests, and under a sanitizer or an emulator, where all of it runs, all tests are
//! one program.

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

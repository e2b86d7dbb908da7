//! The `relayout` program.

fn main() {}

//! Bytes as decisions that make a small relayout: the plan must do what the reference does, bit for bit.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/cases/mod.rs"]
mod cases;

use cases::{Case, Limits, check};

fuzz_target!(|bytes: &[u8]| {
    if let Err(why) = check(&Case::decode(bytes, Limits::TINY)) {
        panic!("{why}");
    }
});

//! Any bytes as a text: refused with a place, or read and printed so that they are read again as the same. Whatever
//! is read can be asked for its size and planned without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use relayout::{Plan, Problem};

#[path = "../../tests/cases/mod.rs"]
mod cases;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    cases::check_text(text);
    if let Ok(problem) = text.parse::<Problem>() {
        // The answer does not matter, only that there is one.
        let _ = Plan::new(&problem.src, &problem.dst).map(|plan| plan.to_string());
    }
});

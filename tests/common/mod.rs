//! What the conformance tests share: vectors, one JSON object per line, and failures collected over all of them.
#![allow(dead_code)] // every test program uses its own part of this

use std::fmt::Debug;
use std::path::Path;

use relayout::{ArrayShape, Plan, Request};
use serde_json::Value;

/// Every line of a file of vectors.
pub(crate) fn vectors(file: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(|line| serde_json::from_str(line).expect("a JSON object per line")).collect()
}

/// The integers of a JSON list.
pub(crate) fn integers(list: &Value) -> Vec<i64> {
    let list = list.as_array().expect("a list");
    list.iter().map(|entry| entry.as_i64().expect("an integer")).collect()
}

/// The array shape in a field.
pub(crate) fn shape(vector: &Value, field: &str) -> ArrayShape {
    let text = vector[field].as_str().expect("a shape text");
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Failures of many cases, reported together so that one run shows them all.
#[derive(Default)]
pub(crate) struct Failures {
    cases: usize,
    lines: Vec<String>,
}

impl Failures {
    /// Notes a difference under the case's name.
    pub(crate) fn equal<T: PartialEq + Debug>(&mut self, case: &str, what: &str, found: T, expected: T) {
        if found != expected {
            self.lines.push(format!("{case}: {what}: found {found:?}, expected {expected:?}"));
        }
    }

    /// Notes a failure that is no difference.
    pub(crate) fn fail(&mut self, case: &str, why: impl Into<String>) {
        self.lines.push(format!("{case}: {}", why.into()));
    }

    /// Counts a case, so that a test can tell that none was left out.
    pub(crate) fn case_done(&mut self) {
        self.cases += 1;
    }

    /// Fails the test where a case failed, or where not exactly `cases` were run.
    pub(crate) fn finish(self, cases: usize) {
        assert!(self.lines.is_empty(), "{} failures\n{}", self.lines.len(), self.lines.join("\n"));
        assert_eq!(self.cases, cases, "cases run");
    }
}

/// Something that moves arrays: the reference, or a plan and its execution.
pub(crate) trait Engine: Fn(&Request<'_>, &[u8], &mut [u8]) -> Result<(), String> {}

impl<F: Fn(&Request<'_>, &[u8], &mut [u8]) -> Result<(), String>> Engine for F {}

/// The measure: one element at a time.
pub(crate) fn reference(request: &Request<'_>, src: &[u8], dst: &mut [u8]) -> Result<(), String> {
    relayout::reference::relayout(request, src, dst).map_err(|error| error.to_string())
}

/// The product: planned, then executed.
pub(crate) fn planned(request: &Request<'_>, src: &[u8], dst: &mut [u8]) -> Result<(), String> {
    let plan = Plan::from_request(request).map_err(|error| error.to_string())?;
    plan.execute(src, dst).map_err(|error| error.to_string())
}

/// What a destination holds before it is written.
pub(crate) const SENTINEL: u8 = 0xa5;

/// Slot `slot` of a buffer of slots of `bits` bits, the first in the low bits.
pub(crate) fn read_slot(buffer: &[u8], slot: usize, bits: usize) -> u128 {
    let bit = |position: usize| u128::from(buffer[position / 8] >> (position % 8) & 1);
    (0..bits).map(|place| bit(slot * bits + place) << place).sum()
}

/// A buffer of slots of `bits` bits that hold the low bits of `values`, with unused bits zero.
pub(crate) fn write_slots(values: impl ExactSizeIterator<Item = u128>, bits: usize) -> Vec<u8> {
    let mut buffer = vec![0; (values.len() * bits).div_ceil(8)];
    for (slot, value) in values.enumerate() {
        for place in 0..bits {
            let position = slot * bits + place;
            buffer[position / 8] |= ((value >> place & 1) as u8) << (position % 8);
        }
    }
    buffer
}

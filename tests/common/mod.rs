//! What the conformance tests share: vectors, one JSON object per line, and failures collected over all of them.
#![allow(dead_code)] // every test program uses its own part of this

use std::fmt::Debug;
use std::path::Path;

use relayout::ArrayShape;
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

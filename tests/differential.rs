//! Plans against the reference, bit for bit, over relayouts of every kind.
//!
//! The ordinary run takes some hundreds of cases from a fixed seed. The long one is
//! `cargo test --test differential -- --ignored`; `RELAYOUT_TEST_CASES` and `RELAYOUT_TEST_SEED` change either.

mod cases;

use cases::{Case, Limits, Outcome, check};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::cell::Cell;

/// As many bytes as the longest cases read.
const CHOICES: usize = 160;

/// A number from the environment, or the default.
fn setting(name: &str, default: u64) -> u64 {
    match std::env::var(name) {
        Ok(text) => text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error}")),
        Err(_) => default,
    }
}

/// How many random cases were refused, went by boxes, went by tables.
fn random_cases(default_cases: u64, limits: Limits) -> [u64; 3] {
    let seed = setting("RELAYOUT_TEST_SEED", 1);
    let cases = setting("RELAYOUT_TEST_CASES", default_cases);
    println!("{cases} cases, RELAYOUT_TEST_SEED={seed}");
    let mut runner = TestRunner::new(ProptestConfig {
        cases: cases.try_into().expect("a number of cases"),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().expect("a pool of threads");
    let counts = [const { Cell::new(0) }; 3];
    let bytes = prop::collection::vec(any::<u8>(), CHOICES);
    let strategy = bytes.prop_map(|bytes| Case::decode(&bytes, limits));
    let result = runner.run(&strategy, |case| {
        let outcome = pool.install(|| check(&case)).map_err(TestCaseError::fail)?;
        let count = match outcome {
            Outcome::Refused => &counts[0],
            Outcome::Boxes(_) => &counts[1],
            Outcome::Tables => &counts[2],
        };
        count.set(count.get() + 1);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    counts.map(|count| count.get())
}

#[test]
fn random_pairs() {
    let [refused, boxes, tables] = random_cases(512, Limits::SMALL);
    // Else the generators have become useless.
    assert!(refused * 10 < boxes && tables > 0, "{refused} refused, {boxes} by boxes, {tables} by tables");
}

#[test]
fn large_random_pairs() {
    random_cases(12, Limits::LARGE);
}

#[test]
#[ignore = "takes minutes"]
fn thousands_of_random_pairs() {
    let [refused, boxes, tables] = random_cases(20_000, Limits::SMALL);
    println!("{refused} refused, {boxes} by boxes, {tables} by tables");
}

#[test]
#[ignore = "takes minutes"]
fn hundreds_of_large_random_pairs() {
    let [refused, boxes, tables] = random_cases(500, Limits::LARGE);
    println!("{refused} refused, {boxes} by boxes, {tables} by tables");
}

//! Relayouts to try plans on: made from bytes, checked against the reference. Tests and fuzzers share them.
#![allow(dead_code, unused_imports)] // every test program uses its own part of this

mod check;
mod choices;
mod generate;

pub(crate) use check::{Outcome, check};
pub(crate) use generate::{Case, Limits};

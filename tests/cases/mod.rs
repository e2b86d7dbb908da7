//! Relayouts to try plans on, made from bytes and checked against the reference, and texts to try readers on. Tests and
//! fuzzers share them.
#![allow(dead_code, unused_imports)] // every test program uses its own part of this

mod check;
mod choices;
mod conversions;
mod generate;
mod placing;
mod texts;

pub(crate) use check::{Outcome, check};
pub(crate) use generate::{Case, Limits};
pub(crate) use texts::check_text;

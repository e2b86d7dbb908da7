//! `f64` as pairs of `f32`, against XLA's own words: value by value, and within transpositions.

mod common;

use common::{Engine, Failures, SENTINEL, integers, planned, reference, vectors};
use relayout::{ArrayShape, Conversion, Layout, PrimitiveType, Request};
use serde_json::Value;

fn words(hex: &Value) -> u64 {
    u64::from_str_radix(hex.as_str().expect("hexadecimal digits"), 16).expect("hexadecimal digits")
}

fn bytes_of(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn moved(engine: &impl Engine, from: &ArrayShape, to: &ArrayShape, src: &[u8]) -> Result<Vec<u8>, String> {
    let mut dst = vec![SENTINEL; to.byte_size().unwrap() as usize];
    engine(&Request::new(from, to).with_conversion(Conversion::new().with_ef57()), src, &mut dst)
        .map(|()| dst)
}

fn every_pair(engine: impl Engine) {
    let (double, pair) = (ArrayShape::new(PrimitiveType::F64, [1]), ArrayShape::new(PrimitiveType::F32, [2]));
    let mut failures = Failures::default();
    for vector in vectors("ef57.jsonl") {
        let bits = words(&vector["f64"]);
        let [high, low] = ["hi", "lo"].map(|field| words(&vector[field]) as u32);
        let case = format!("{bits:016x}");
        let found = moved(&engine, &double, &pair, &bits.to_le_bytes());
        failures.equal(&case, "split", found, Ok(bytes_of(&[high, low])));
        // Joined again: the sum, and what has no sum as it was.
        let (first, second) = (f32::from_bits(high), f32::from_bits(low));
        let sum = if second == 0.0 { f64::from(first) } else { f64::from(first) + f64::from(second) };
        let found = moved(&engine, &pair, &double, &bytes_of(&[high, low]));
        let found = found.map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes")));
        match found {
            Ok(found) if sum.is_nan() && found.is_nan() => {}
            _ => failures.equal(&case, "joined", found.map(f64::to_bits), Ok(sum.to_bits())),
        }
        failures.case_done();
    }
    failures.finish(88);
}

/// Where XLA drops the transformation, the words of the pairs are expected all the same.
fn expected(vector: &Value, dims: &[i64], perm: &[i64]) -> Vec<u8> {
    let split = |hex: &Value| {
        let value = f64::from_bits(words(hex));
        [(value as f32).to_bits(), ((value - f64::from(value as f32)) as f32).to_bits()]
    };
    let list = vector["input_f64_bits"].as_array().unwrap();
    let words: Vec<u32> = list.iter().flat_map(split).collect();
    let from = ArrayShape::new(PrimitiveType::F32, dims.iter().copied());
    let to = from.clone().with_layout(Layout::from_major_to_minor(perm.iter().copied()));
    let mut dst = vec![0; 4 * words.len()];
    relayout::reference::relayout(&Request::new(&from, &to), &bytes_of(&words), &mut dst).unwrap();
    dst
}

fn every_transposition(engine: impl Engine) {
    let mut failures = Failures::default();
    for vector in vectors("transpose.jsonl") {
        if vector.get("transform").is_none() || vector.get("error").is_some() {
            continue;
        }
        let (dims, perm) = (integers(&vector["dims"]), integers(&vector["perm"]));
        let mut pairs = dims.clone();
        *pairs.last_mut().unwrap() /= 2;
        let from = ArrayShape::new(PrimitiveType::F64, pairs);
        let to = ArrayShape::new(PrimitiveType::F32, dims.iter().copied())
            .with_layout(Layout::from_major_to_minor(perm.iter().copied()));
        let list = vector["input_f64_bits"].as_array().unwrap();
        let src: Vec<u8> = list.iter().flat_map(|hex| words(hex).to_le_bytes()).collect();
        let wanted = match vector["transform_dropped"].as_bool() {
            Some(true) => expected(&vector, &dims, &perm),
            _ => {
                bytes_of(&integers(&vector["output"]).into_iter().map(|word| word as u32).collect::<Vec<_>>())
            }
        };
        let case = format!("{from} -> {to}");
        failures.equal(&case, "split", moved(&engine, &from, &to, &src), Ok(wanted));
        failures.case_done();
    }
    failures.finish(14);
}

#[test]
fn reference_splits_every_value() {
    every_pair(reference);
}

#[test]
fn plans_split_every_value() {
    every_pair(planned);
}

#[test]
fn reference_does_every_transposition() {
    every_transposition(reference);
}

#[test]
fn plans_do_every_transposition() {
    every_transposition(planned);
}

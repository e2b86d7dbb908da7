//! Sizes and linear indices of XLA's own functions and of their composition, tile by tile.

mod common;

use common::{Failures, integers, shape, vectors};
use relayout::index::{self, Indexer};

#[test]
fn sizes() {
    let mut failures = Failures::default();
    for vector in vectors("index.jsonl") {
        let case = vector["shape"].as_str().unwrap();
        let shape = shape(&vector, "shape");
        let integer = |field: &str| Ok(vector[field].as_i64().unwrap());
        let slots = shape.padded_elements();
        failures.equal(
            case,
            "physical dimensions",
            shape.physical_dimensions(),
            Ok(integers(&vector["physical_dims"])),
        );
        failures.equal(case, "slots", slots.clone(), integer("size_elements_padded"));
        failures.equal(case, "slot bits", shape.element_bits(), integer("elem_bits"));
        failures.equal(case, "dense bytes", shape.dense_byte_size(), integer("dense_bytes"));
        let bytes = slots.map(|slots| (slots * vector["elem_bits"].as_i64().unwrap() + 7) / 8);
        failures.equal(case, "bytes", shape.byte_size(), bytes);
        // Elsewhere XLA's size leaves out padding that it should count.
        if vector.get("array_bytes_differs").is_none() {
            failures.equal(case, "XLA's bytes", shape.byte_size(), integer("array_bytes"));
        }
        let padding = shape.byte_size().and_then(|bytes| Ok(bytes - shape.dense_byte_size()?));
        failures.equal(case, "padding bytes", shape.padding_bytes(), padding);
        failures.case_done();
    }
    failures.finish(398);
}

#[test]
fn linear_indices_both_ways() {
    let mut failures = Failures::default();
    for vector in vectors("index.jsonl") {
        let case = vector["shape"].as_str().unwrap();
        let shape = shape(&vector, "shape");
        let indexer = Indexer::new(&shape).unwrap();
        let samples = vector["samples"].as_array().unwrap();
        for sample in samples {
            let multi = integers(&sample["index"]);
            let linear = sample["linear"].as_i64().unwrap();
            failures.equal(
                case,
                &format!("linear of {multi:?}"),
                index::linear_index(&shape, &multi),
                Ok(linear),
            );
            failures.equal(
                case,
                &format!("multi of {linear}"),
                index::multi_index(&shape, linear),
                Ok(Some(multi.clone())),
            );
            failures.equal(case, "prepared linear", indexer.linear(&multi), Ok(linear));
        }
        if vector["all"].as_bool().unwrap() {
            let elements = (0..indexer.slots()).filter(|&slot| indexer.multi(slot).is_some()).count();
            failures.equal(case, "slots with an element", elements, samples.len());
        }
        failures.case_done();
    }
    failures.finish(398);
}

//! XLA's untiled index functions.

mod common;

use common::{Failures, integers, shape, vectors};
use relayout::{ArrayShape, index};
use serde_json::Value;

fn lists(value: &Value) -> Vec<Vec<i64>> {
    value.as_array().unwrap().iter().map(integers).collect()
}

/// Every index that `bump_indices` reaches from zero, at most `limit`.
fn walk(shape: &ArrayShape, limit: usize) -> Vec<Vec<i64>> {
    let mut index = vec![0; shape.rank()];
    let mut seen = Vec::new();
    if shape.elements() == Ok(0) {
        return seen;
    }
    loop {
        seen.push(index.clone());
        if seen.len() == limit || !index::bump_indices(shape, &mut index).unwrap() {
            return seen;
        }
    }
}

/// What the layout says of the order of the dimensions.
fn order(failures: &mut Failures, shape: &ArrayShape, vector: &Value) {
    let case = vector["shape"].as_str().unwrap();
    let physical = shape.make_logical_to_physical().unwrap();
    let physical: Vec<i64> = physical.into_iter().map(|number| number as i64).collect();
    failures.equal(case, "logical to physical", physical, integers(&vector["logical_to_physical"]));
    let layout = shape.layout();
    let is_major = vector["dim0_major"].as_bool().unwrap();
    failures.equal(case, "dim 0 major", layout.is_monotonic_with_dim0_major(), is_major);
    let is_minor = vector["dim0_minor"].as_bool().unwrap();
    failures.equal(case, "dim 0 minor", layout.is_monotonic_with_dim0_minor(), is_minor);
    let is_untiled = vector["is_untiled"].as_bool().unwrap();
    failures.equal(case, "is untiled", shape.is_untiled(), Ok(is_untiled));
}

/// Indices both ways, and the walk over them.
fn walks(failures: &mut Failures, shape: &ArrayShape, vector: &Value) {
    let case = vector["shape"].as_str().unwrap();
    for (linear, multi) in lists(&vector["multi"]).into_iter().enumerate() {
        let linear = linear as i64;
        let found = index::linear_index_to_multidimensional_index(shape, linear);
        failures.equal(case, &format!("multi of {linear}"), found, Ok(multi.clone()));
        let found = index::multidimensional_index_to_linear_index(shape, &multi);
        failures.equal(case, &format!("linear of {multi:?}"), found, Ok(linear));
    }
    let bump = lists(&vector["bump"]);
    failures.equal(case, "bump", walk(shape, bump.len().max(1)), bump);
}

#[test]
fn every_function() {
    let mut failures = Failures::default();
    for vector in vectors("index_util.jsonl") {
        let case = vector["shape"].as_str().unwrap();
        let shape = shape(&vector, "shape");
        let strides = vector["byte_strides"].as_array().map(|_| integers(&vector["byte_strides"]));
        failures.equal(case, "elements", shape.elements(), Ok(vector["elements"].as_i64().unwrap()));
        failures.equal(case, "byte strides", shape.byte_strides(), Ok(strides));
        let unpacked = integers(&vector["unpacked_byte_strides"]);
        failures.equal(case, "unpacked byte strides", shape.unpacked_byte_strides(), Ok(unpacked));
        let strides = (0..shape.rank() as i64).map(|dimension| index::dimension_stride(&shape, dimension));
        let strides: Result<Vec<i64>, _> = strides.collect();
        failures.equal(case, "dimension strides", strides, Ok(integers(&vector["dimension_strides"])));
        order(&mut failures, &shape, &vector);
        walks(&mut failures, &shape, &vector);
        failures.case_done();
    }
    failures.finish(60);
}

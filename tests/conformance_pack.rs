//! Packing and unpacking of 2- and 4-bit elements, against XLA's own bytes.

mod common;

use common::{Engine, Failures, SENTINEL, integers, planned, reference, vectors};
use relayout::{ArrayShape, Layout, PrimitiveType, Request};
use serde_json::Value;

fn bytes(list: &Value) -> Vec<u8> {
    integers(list).into_iter().map(|byte| byte as u8).collect()
}

fn moved(engine: &impl Engine, from: &ArrayShape, to: &ArrayShape, src: &[u8]) -> Result<Vec<u8>, String> {
    let mut dst = vec![SENTINEL; to.byte_size().unwrap() as usize];
    engine(&Request::new(from, to), src, &mut dst).map(|()| dst)
}

fn every_list(engine: impl Engine) {
    let mut failures = Failures::default();
    for vector in vectors("pack.jsonl") {
        let unpacked = bytes(&vector["unpacked"]);
        let bits = vector["bits"].as_i64().unwrap();
        let element_types = match bits {
            2 => [PrimitiveType::U2, PrimitiveType::S2],
            _ => [PrimitiveType::U4, PrimitiveType::S4],
        };
        for element_type in element_types {
            let wide = ArrayShape::new(element_type, [unpacked.len() as i64]);
            let packed = wide.clone().with_layout(Layout::row_major(1).with_element_size_in_bits(bits));
            let case = format!("{wide} -> {packed}");
            let found = moved(&engine, &wide, &packed, &unpacked);
            failures.equal(&case, "packed", found, Ok(bytes(&vector["packed"])));
            let found = moved(&engine, &packed, &wide, &bytes(&vector["packed"]));
            failures.equal(&case, "unpacked again", found, Ok(bytes(&vector["unpacked_again"])));
        }
        failures.case_done();
    }
    failures.finish(28);
}

#[test]
fn reference_packs_every_list() {
    every_list(reference);
}

#[test]
fn plans_pack_every_list() {
    every_list(planned);
}

//! Every element type of `data/types.jsonl`.

use relayout::PrimitiveType;
use serde_json::{Value, json};

/// The facts of a type, in the fields of the vectors; `proto` is XLA's spelling of the enumerator.
fn facts(found: PrimitiveType, proto: &Value) -> Value {
    let head = json!({ "number": found.number(), "name": found.name(), "proto": proto });
    let array = json!({ "array": found.is_array_element() });
    let classes = json!({
        "bits": found.bit_width(),
        "bytes": found.byte_width(),
        "float": found.is_floating_point(),
        "integral": found.is_integral(),
        "signed_integral": found.is_signed_integral(),
        "complex": found.is_complex(),
        "sub_byte_non_pred": found.is_sub_byte_non_pred(),
    });
    let parts = if found.is_array_element() { vec![head, array, classes] } else { vec![head, array] };
    parts.into_iter().flat_map(|part| part.as_object().cloned().unwrap_or_default()).collect()
}

#[test]
fn every_type_has_the_facts_of_xla() {
    let mut seen = Vec::new();
    let mut wrong = Vec::new();
    for line in include_str!("data/types.jsonl").lines() {
        let expected: Value = serde_json::from_str(line).expect("the vectors are JSON");
        let number =
            expected["number"].as_u64().and_then(|number| u8::try_from(number).ok()).expect("a number");
        let found = PrimitiveType::from_number(number).expect("a known type");
        let actual = facts(found, &expected["proto"]);
        if actual != expected || PrimitiveType::from_name(found.name()) != Some(found) {
            wrong.push(format!("expected {expected}\nactual   {actual}"));
        }
        seen.push(found);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // The vectors are of XLA 2.21; the newer library has two types more.
    let newer: Vec<_> = PrimitiveType::all().filter(|found| !seen.contains(found)).collect();
    assert_eq!(newer, [PrimitiveType::F6e3m2fn, PrimitiveType::F6e2m3fn]);
}

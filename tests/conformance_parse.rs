//! Every text of `data/parse.jsonl`: what XLA's parser and validation made of it.
//!
//! The newer library decides where the two differ (`newer`, `newer_valid`). Texts that XLA reads by accident
//! (`lenient`), with a loss (`lossy`) or only to abort (`abort`) are refused here, on purpose.

use relayout::Shape;
use serde_json::Value;

/// What this library has to answer: canonical text and validity, or a refusal.
type Verdict = Option<(String, bool)>;

fn expected(line: &Value) -> Verdict {
    let refused = matches!(line["label"].as_str(), Some("lenient" | "lossy" | "abort"));
    let newer = line.get("newer").unwrap_or(line);
    if refused || newer["ok"] != true {
        return None;
    }
    let valid = line.get("newer_valid").or_else(|| line.get("valid")).is_none_or(|valid| *valid == true);
    Some((newer["canonical"].as_str().expect("accepted texts have a canonical one").to_owned(), valid))
}

fn actual(text: &str) -> Verdict {
    let shape: Shape = text.parse().ok()?;
    Some((shape.to_string(), shape.validate().is_ok()))
}

#[test]
fn every_text_is_read_as_by_xla() {
    let lines: Vec<Value> = include_str!("data/parse.jsonl")
        .lines()
        .map(|line| serde_json::from_str(line).expect("the vectors are JSON"))
        .collect();
    assert_eq!(lines.len(), 675);
    let wrong: Vec<String> = lines
        .iter()
        .filter_map(|line| {
            let text = line["text"].as_str().expect("every line has a text");
            let (expected, actual) = (expected(line), actual(text));
            (expected != actual).then(|| format!("{text:?}\n  expected {expected:?}\n  actual   {actual:?}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} texts differ:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

#[test]
fn canonical_texts_are_read_as_themselves() {
    let mut wrong = Vec::new();
    for line in include_str!("data/parse.jsonl").lines() {
        let line: Value = serde_json::from_str(line).expect("the vectors are JSON");
        if let Some((canonical, valid)) = expected(&line) {
            let again = actual(&canonical);
            if again != Some((canonical.clone(), valid)) {
                wrong.push(format!("{canonical} -> {again:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

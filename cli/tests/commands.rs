//! What the commands print: the fields that programs rely on, and the statuses.

mod common;

use common::{json, program, refusal, run, succeed};
use serde_json::{Value, json};

#[test]
fn shape_prints_text_validity_and_sizes() {
    let facts = &json(&["shape", "--json", " bf16 [64, 300]{1,0:T(8,128)(2,1)} "])[0];
    assert_eq!(
        *facts,
        json!({
            "canonical": "bf16[64,300]{1,0:T(8,128)(2,1)}",
            "valid": true,
            "errors": [],
            "element_bits": 16,
            "elements": 19200,
            "physical_dimensions": [8, 3, 4, 128, 2, 1],
            "padded_elements": 24576,
            "bytes": 49152,
            "padding_bytes": 10752,
        })
    );
    let text = succeed(&["shape", "bf16[64,300]{1,0:T(8,128)(2,1)}"]);
    assert!(text.contains("49152") && text.contains("10752 (21.9 %)"), "{text}");
}

#[test]
fn shape_without_a_size_is_valid_with_nulls() {
    for text in ["f32[?,3]", "(f32[2], s32[])", "token[]", "f32[2,3]{1,0:T(2,*)}"] {
        let facts = &json(&["shape", "--json", text])[0];
        assert_eq!(facts["valid"], true, "{text}");
        assert_eq!(facts["physical_dimensions"], Value::Null, "{text}");
        assert!(facts.as_object().unwrap().contains_key("bytes"), "{text}");
    }
}

#[test]
fn an_invalid_shape_is_printed_and_refused() {
    let output = run(&["shape", "--json", "f32[2,3]{0,0}"]);
    assert_eq!(output.status.code(), Some(2));
    let facts: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&facts["valid"], &facts["bytes"]), (&json!(false), &Value::Null));
    assert_eq!(facts["errors"].as_array().unwrap().len(), 1);
    assert!(common::refused(&output, &[]).contains("twice"));
}

#[test]
fn a_shape_that_does_not_parse_prints_its_byte_and_no_json() {
    let output = run(&["shape", "--json", "f32[2,"]);
    assert!(output.stdout.is_empty());
    let line = common::refused(&output, &[]);
    assert!(line.contains("SHAPE") && line.contains("byte 6"), "{line}");
    assert!(refusal(&["shape", "f32[2]\n\n{0:Q}"]).contains("byte"));
}

#[test]
fn index_goes_both_ways() {
    let shape = "f32[3,5]{1,0:T(2,2)}";
    assert_eq!(
        json(&["index", "--json", shape, "0,0", "2,3"])[0],
        json!({ "shape": shape, "linear": [0, 17] })
    );
    assert_eq!(
        json(&["index", "--json", shape, "--inverse", "17", "18"])[0],
        json!({ "shape": shape, "index": [[2, 3], null] })
    );
    assert_eq!(json(&["index", "f32[]", "", "--json"])[0], json!({ "shape": "f32[]", "linear": [0] }));
    assert_eq!(json(&["index", "f32[]", "--inverse", "0", "--json"])[0]["index"], json!([[]]));
    assert_eq!(succeed(&["index", shape, "2,3"]), "17\n");
    assert_eq!(succeed(&["index", shape, "--inverse", "17", "18"]), "2,3\npadding\n");
}

#[test]
fn index_refuses_what_is_outside() {
    let shape = "f32[3,5]{1,0:T(2,2)}";
    for (index, expected) in
        [("3,0", "'3,0'"), ("1", "'1'"), ("x,1", "'x'"), ("1,99999999999999999999", "expected")]
    {
        let line = refusal(&["index", shape, index]);
        assert!(line.contains(expected), "{line}");
    }
    assert!(refusal(&["index", shape, "--inverse", "24"]).contains("'24'"));
    assert!(refusal(&["index", "(f32[2])", "0"]).contains("SHAPE"));
    assert!(refusal(&["index", "f32[?]", "0"]).contains("SHAPE"));
    refusal(&["index", shape, "-1,0"]);
    refusal(&["index", shape]);
}

#[test]
fn show_draws_tiles_and_memory() {
    let text = succeed(&["show", "f32[3,5]{1,0:T(2,2)}"]);
    for line in [
        " y 0 │  0  1 │  4  5 │  8 ·· │",
        "     ├───────┼───────┼───────┤",
        "      12 │ 2,0 2,1  ··  ·· │ 2,2 2,3  ··  ·· │ 2,4  ··  ··  ·· │",
    ] {
        assert!(text.lines().any(|drawn| drawn == line), "{line}\n{text}");
    }
    assert!(!text.contains('\x1b'), "colours only on a terminal");
}

#[test]
fn show_crops_large_arrays_and_says_so() {
    let text = succeed(&["show", "bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}"]);
    assert!(text.contains("cropped") && text.lines().count() < 100, "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 140), "{text}");
    assert!(!succeed(&["show", "f32[3,5]"]).contains("cropped"));
    assert!(succeed(&["show", "f32[2,3,4,5]"]).contains("… and 3 more slices"));
    assert!(!succeed(&["show", "f32[3,4,5]"]).contains("more slice"));
    for odd in ["f32[0,5]", "f32[]", "f32[]{:T(8,128)}", "f32[3,4,5]{2,1,0:T(*,6)}", "s4[3,5]{1,0:L(7)E(4)}"]
    {
        succeed(&["show", odd]);
    }
}

#[test]
fn show_reads_a_whole_instruction() {
    let line =
        "ROOT %copy.1 = bf16[6,10]{1,0:T(4,8)(2,1)} copy(bf16[6,10]{0,1} %p.0), metadata={op_name=\"x\"}";
    let pictures = json(&["show", line, "--json"]);
    let shapes: Vec<&Value> = pictures.iter().map(|picture| &picture["shape"]).collect();
    assert_eq!(shapes, ["bf16[6,10]{1,0:T(4,8)(2,1)}", "bf16[6,10]{0,1}"]);
    assert_eq!(pictures[0]["logical"][0]["cells"][1][2], 5);
    assert_eq!(pictures[0]["memory"]["cells"][0][1], json!([1, 0]));
    assert!(refusal(&["show", "%x = f32[2"]).contains("byte"));
    assert!(refusal(&["show", "token[]"]).contains("no array"));
}

#[test]
fn show_writes_an_svg_file() {
    let folder = common::Folder::new();
    let path = folder.file("picture.svg");
    succeed(&["show", "f32[3,5]{1,0:T(2,2)}", "--svg", &path]);
    let svg = String::from_utf8(folder.read("picture.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n") && svg.contains(">17<"), "{svg}");
    assert_eq!(folder.names(), ["picture.svg"]);
}

#[test]
fn explain_names_boxes_and_kernels() {
    let (src, dst) = ("f32[64,300]{1,0}", "f32[64,300]{1,0:T(8,128)}");
    for arguments in
        [&["explain", "--json", src, dst][..], &["explain", "--json", &format!("{src} -> {dst}")]]
    {
        let explanation = &json(arguments)[0];
        assert_eq!((&explanation["src"], &explanation["dst"]), (&json!(src), &json!(dst)));
        assert!(!explanation["boxes"].as_array().unwrap().is_empty());
        assert!(explanation["kernels"].as_array().unwrap().iter().all(Value::is_string));
        assert_eq!(explanation["identity"], false);
    }
    assert_eq!(json(&["explain", "--json", "f32[2,3]", "f32[2,3]{1,0}"])[0]["identity"], true);
    assert!(succeed(&["explain", src, dst]).contains(dst));
}

#[test]
fn pairs_are_refused_by_argument() {
    assert!(refusal(&["explain", "f32[2", "f32[2]"]).contains("SRC: at byte 5"));
    assert!(refusal(&["explain", "f32[2]", "f32[2"]).contains("DST: at byte 5"));
    assert!(refusal(&["explain", "f32[2] -> f32[2"]).contains("at byte 15"));
    assert!(refusal(&["explain", "f32[2]"]).contains("DST"));
    assert!(refusal(&["explain", "f32[2] -> f32[2]", "f32[2] -> f32[2]"]).contains("one pair"));
    assert!(refusal(&["verify", "f32[2]", "f32[3]"]).contains("dimension 0"));
    assert!(refusal(&["verify", "f32[2,3]{0,0}", "f32[2,3]"]).contains("twice"));
    assert!(
        refusal(&["verify", "f32[9223372036854775807]", "f32[9223372036854775807]"]).contains("overflow")
    );
    assert!(refusal(&["verify", "f32[1099511627776,1024]", "f32[1099511627776,1024]"]).contains("memory"));
    refusal(&["explain"]);
}

#[test]
fn verify_agrees_with_the_reference() {
    for (src, dst) in [
        ("f32[64,300]{1,0}", "f32[64,300]{1,0:T(8,128)}"),
        ("bf16[5,33,130]{2,1,0}", "bf16[5,33,130]{2,0,1:T(8,128)(2,1)}"),
        ("s4[7,13]{1,0:E(4)}", "s4[7,13]{0,1}"),
        ("u8[]", "u8[]"),
        ("f32[0,3]", "f32[0,3]{0,1}"),
    ] {
        let verified = &json(&["verify", "--json", src, dst])[0];
        assert_eq!(verified["equal"], true, "{src} -> {dst}");
        assert_eq!((&verified["src"], &verified["dst"]), (&json!(canonical(src)), &json!(canonical(dst))));
    }
    assert!(succeed(&["verify", "u8[3,4]", "u8[3,4]{0,1}"]).contains("equal"));
}

fn canonical(shape: &str) -> String {
    json(&["shape", "--json", shape])[0]["canonical"].as_str().unwrap().to_owned()
}

#[test]
fn bench_prints_a_line_per_pair_and_threads() {
    let (src, dst) = ("f32[64,300]{1,0}", "f32[64,300]{1,0:T(8,128)}");
    let lines = json(&["bench", "--json", src, dst, "--threads", "1"]);
    let [line] = &lines[..] else { panic!("{lines:?}") };
    assert_eq!(line["case"], format!("{src} -> {dst}"));
    assert_eq!((&line["src"], &line["dst"], &line["threads"]), (&json!(src), &json!(dst), &json!(1)));
    assert_eq!((&line["bytes_read"], &line["bytes_written"]), (&json!(76800), &json!(76800)));
    for field in ["suite", "level", "kernel"] {
        assert!(line[field].is_string(), "{field}");
    }
    for field in [
        "seconds_median",
        "seconds_min",
        "gbps",
        "memcpy_gbps",
        "stream_copy_gbps",
        "stream_prefetch_copy_gbps",
        "ratio",
        "memcpy_ratio",
    ] {
        assert!(line[field].as_f64().is_some_and(|value| value > 0.0), "{field}: {line}");
    }
    let quotient = line["gbps"].as_f64().unwrap() / line["stream_copy_gbps"].as_f64().unwrap();
    assert!((line["ratio"].as_f64().unwrap() - quotient).abs() < 1e-9);
    assert!(line["two_passes_gbps"].is_null());
    let converted = json(&["bench", "--json", "f32[64,300] -> bf16[64,300]{0,1}"]);
    assert!(converted[0]["two_passes_gbps"].as_f64().is_some_and(|value| value > 0.0));
    assert_eq!(converted[0]["bytes_written"], 38400);
    let scaled = "f32[64,300]{1,0} -> bf16[64,300]{0,1} | factors along 1";
    assert_eq!(json(&["bench", "--json", scaled])[0]["case"], scaled);
    for factors in ["factors", "factors along 2", "factors along"] {
        let line = format!("f32[64,300] -> bf16[64,300] | {factors}");
        assert!(refusal(&["bench", &line]).contains(&format!("found '{factors}'")), "{line}");
    }
    let table = succeed(&["bench", "u8[9,7] -> u8[9,7]{0,1}", "--threads", "1,2", "--dst-offsets", "1,4095"]);
    assert_eq!(table.lines().count(), 3, "{table}");
}

#[test]
fn levels_are_named_and_must_exist() {
    let pair = "u8[9,7] -> u8[9,7]{0,1}";
    assert_eq!(json(&["bench", "--json", pair, "--level", "scalar"])[0]["level"], "scalar");
    assert!(refusal(&["bench", pair, "--level", "mmx"]).contains("--level"));
    // No machine has both.
    let absent = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
    assert!(refusal(&["bench", pair, "--level", absent]).contains(absent));
    let output = program().args(["verify", pair]).env("RELAYOUT_LEVEL", absent).output().unwrap();
    assert!(common::refused(&output, &[]).contains("RELAYOUT_LEVEL"));
    for threads in ["0", "4097", "100000"] {
        assert!(refusal(&["bench", pair, "--threads", threads]).contains("--threads"));
    }
    for offsets in ["4096", "-1", "16,"] {
        let offsets = format!("--dst-offsets={offsets}");
        assert!(refusal(&["bench", pair, &offsets]).contains("--dst-offsets"));
    }
    assert!(refusal(&["bench", "f32[0]", "f32[0]"]).contains("no elements"));
}

#[test]
fn usage_errors_take_one_line() {
    for arguments in
        [&["nonsense"][..], &["shape"], &["shape", "f32[]", "--nonsense"], &["--nonsense"], &["demo", "x"]]
    {
        refusal(arguments);
    }
    for arguments in [&["--help"][..], &["--version"], &["help", "convert"], &["bench", "--help"]] {
        assert!(!succeed(arguments).is_empty());
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_quietly() {
    use std::process::Stdio;
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = program().args(["show", "f32[3,5]"]).stdout(writer).stderr(Stdio::piped()).output().unwrap();
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_reported() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = program().args(["show", "f32[3,5]"]).stdout(full).output().unwrap();
    assert!(common::refused(&output, &[]).contains("standard output"));
}

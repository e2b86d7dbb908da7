//! `convert` on whole checkpoints.

mod common;

use common::{Folder, TINY, refusal, run_with, succeed};
use safetensors::tensor::{Dtype, SafeTensors};
use serde_json::{Value, json};

/// Converts the file `from` in the folder to `to`.
fn convert(folder: &Folder, from: &str, to: &str, policy: &str) {
    succeed(&["convert", &folder.file(from), &folder.file(to), "--to", policy]);
}

fn notes(file: &[u8]) -> Value {
    let (_, metadata) = SafeTensors::read_metadata(file).unwrap();
    let notes = metadata.metadata().clone().unwrap_or_default();
    notes.get("relayout.tensors").map_or(Value::Null, |json| serde_json::from_str(json).unwrap())
}

#[test]
fn every_policy_comes_back_byte_for_byte() {
    let folder = Folder::new();
    folder.write("tiny.safetensors", TINY);
    for policy in ["tpu", "column-major", "row-major", "T(8,128)", "{0,1:T(8,128)}", "T(8,128)(2,1)S(1)"] {
        convert(&folder, "tiny.safetensors", "there.safetensors", policy);
        convert(&folder, "there.safetensors", "back.safetensors", "row-major");
        assert!(folder.read("back.safetensors") == TINY, "{policy}");
    }
}

#[test]
fn layouts_change_without_an_untiled_stop() {
    let folder = Folder::new();
    folder.write("tiny.safetensors", TINY);
    convert(&folder, "tiny.safetensors", "a.safetensors", "tpu");
    convert(&folder, "a.safetensors", "b.safetensors", "column-major");
    convert(&folder, "b.safetensors", "c.safetensors", "tpu");
    assert!(folder.read("a.safetensors") == folder.read("c.safetensors"));
    convert(&folder, "c.safetensors", "back.safetensors", "row-major");
    assert!(folder.read("back.safetensors") == TINY);
}

#[test]
fn converted_files_are_valid_for_other_readers() {
    let folder = Folder::new();
    folder.write("tiny.safetensors", TINY);
    convert(&folder, "tiny.safetensors", "tpu.safetensors", "tpu");
    let file = folder.read("tpu.safetensors");
    let tensors = SafeTensors::deserialize(&file).unwrap();
    assert_eq!(tensors.len(), SafeTensors::deserialize(TINY).unwrap().len());
    // Tiled tensors are bytes, and the notes say which array they are.
    let tiled = tensors.tensor("model.embed_tokens.weight").unwrap();
    assert_eq!((tiled.dtype(), tiled.shape()), (Dtype::U8, &[104 * 128 * 2][..]));
    let notes = notes(&file);
    assert_eq!(notes["model.embed_tokens.weight"], "bf16[97,96]{1,0:T(8,128)(2,1)}");
    assert_eq!(notes["model.layers.0.input_layernorm.weight"], "f32[300]{0:T(1024)}");
    // What stays row major stays what it is.
    let plain = tensors.tensor("model.position_ids").unwrap();
    assert_eq!((plain.dtype(), plain.shape()), (Dtype::I64, &[1, 128][..]));
    assert_eq!(notes.get("model.position_ids"), None);
    // The user's notes are kept.
    let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
    assert_eq!(metadata.metadata().as_ref().unwrap()["format"], "pt");
}

#[test]
fn a_tensor_holds_what_the_raw_conversion_makes() {
    let folder = Folder::new();
    folder.write("tiny.safetensors", TINY);
    convert(&folder, "tiny.safetensors", "tpu.safetensors", "tpu");
    let name = "model.layers.0.mlp.up_proj.weight";
    let plain = SafeTensors::deserialize(TINY).unwrap().tensor(name).unwrap().data();
    let (from, to) = ("f16[3,40,24]", "f16[3,40,24]{2,1,0:T(8,128)(2,1)}");
    let raw = run_with(&["convert", "--from", from, "--to", to, "-", "-"], plain);
    let file = folder.read("tpu.safetensors");
    assert!(SafeTensors::deserialize(&file).unwrap().tensor(name).unwrap().data() == raw.stdout);
}

#[test]
fn equal_inputs_give_equal_files() {
    let folder = Folder::new();
    folder.write("tiny.safetensors", TINY);
    convert(&folder, "tiny.safetensors", "one.safetensors", "tpu");
    convert(&folder, "tiny.safetensors", "two.safetensors", "tpu");
    assert!(folder.read("one.safetensors") == folder.read("two.safetensors"));
    let output = common::run(&["convert", &folder.file("tiny.safetensors"), "-", "--to", "tpu"]);
    assert!(output.stdout == folder.read("one.safetensors"));
}

/// A file with the header `header` before `data`.
fn safetensors(header: &Value, data: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn packed_and_odd_types_come_back() {
    let folder = Folder::new();
    let header = json!({
        "z": { "dtype": "F4", "shape": [3, 6], "data_offsets": [0, 9] },
        "a": { "dtype": "C64", "shape": [1, 2], "data_offsets": [9, 25] },
        "m": { "dtype": "F8_E8M0", "shape": [5], "data_offsets": [25, 30] },
    });
    let original = safetensors(&header, &(0..30).collect::<Vec<u8>>());
    folder.write("odd.safetensors", &original);
    convert(&folder, "odd.safetensors", "tpu.safetensors", "tpu");
    let notes = notes(&folder.read("tpu.safetensors"));
    assert_eq!(notes["z"], "f4e2m1fn[3,6]{1,0:T(8,128)(8,1)E(4)}");
    assert_eq!(notes["m"], "f8e8m0fnu[5]{0:T(1024)(128)(4,1)}");
    convert(&folder, "tpu.safetensors", "back.safetensors", "row-major");
    assert!(folder.read("back.safetensors") == original);
}

#[test]
fn an_edited_file_keeps_its_edits() {
    let folder = Folder::new();
    let tensors = json!({ "a": { "dtype": "U8", "shape": [1024], "data_offsets": [0, 1024] },
        "__metadata__": { "relayout.tensors": "{\"a\":\"s8[2,3]{1,0:T(8,128)(2,1)}\"}", "note": "new" } });
    folder.write("edited.safetensors", &safetensors(&tensors, &[1; 1024]));
    convert(&folder, "edited.safetensors", "back.safetensors", "row-major");
    let file = folder.read("back.safetensors");
    let back = SafeTensors::deserialize(&file).unwrap();
    let tensor = back.tensor("a").unwrap();
    assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (Dtype::I8, &[2, 3][..], &[1; 6][..]));
    let (_, metadata) = SafeTensors::read_metadata(&file).unwrap();
    let expected = [("note".to_owned(), "new".to_owned())].into();
    assert_eq!(metadata.metadata(), &Some(expected));
}

#[test]
fn broken_checkpoints_are_refused_and_leave_nothing() {
    let folder = Folder::new();
    let entry = |dtype: &str, shape: Value, end: i64| json!({ "weight": { "dtype": dtype, "shape": shape, "data_offsets": [0, end] } });
    let note = |note: &str| {
        json!({ "weight": { "dtype": "U8", "shape": [8], "data_offsets": [0, 8] },
            "__metadata__": { "relayout.tensors": format!("{{\"weight\":\"{note}\"}}") } })
    };
    let data = [0; 8];
    for (bytes, expected) in [
        (b"short".to_vec(), "at byte 0"),
        (TINY[..100].to_vec(), "at byte 8"),
        (TINY[..TINY.len() - 1].to_vec(), "cut off"),
        ([TINY, b"x"].concat(), "what follows the data?"),
        (safetensors(&entry("F6_E2M3", json!([4]), 3), &data[..3]), "'weight': element type F6_E2M3"),
        (safetensors(&entry("F12", json!([2]), 8), &data), "'weight'"),
        (safetensors(&entry("F32", json!([3]), 8), &data), "'weight'"),
        (safetensors(&entry("F32", json!([4294967296i64, 4294967296i64]), 8), &data), "'weight'"),
        (safetensors(&note("f32[3]"), &data), "'weight'"),
        (safetensors(&note("f32[2"), &data), "at byte 5"),
        (safetensors(&json!([1]), &[]), "header"),
    ] {
        let input = folder.write("in.safetensors", &bytes);
        let line = refusal(&["convert", &input, &folder.file("out.safetensors"), "--to", "tpu"]);
        assert!(line.contains(expected) && line.contains("in.safetensors"), "{line}");
    }
    assert_eq!(folder.names(), ["in.safetensors"]);
}

#[test]
fn bad_usage_is_named() {
    let folder = Folder::new();
    let tiny = folder.write("tiny.safetensors", TINY);
    let out = folder.file("out.safetensors");
    for (arguments, expected) in [
        ([&tiny, &out, "--to", "gpu"], "'gpu'"),
        ([&tiny, &out, "--to", "T(8,"], "--to"),
        ([&tiny, &out, "--to", "T(0)"], "tensor"),
        ([&tiny, &out, "--to", "{5,4,3,2,1,0}"], "no tensor"),
        ([&tiny, &folder.file("out.npy"), "--to", "tpu"], "out.npy"),
        ([&folder.file("none.safetensors"), &out, "--to", "tpu"], "none.safetensors"),
        ([&folder.file("data.bin"), &out, "--to", "tpu"], "--from"),
        ([&tiny, &out, "--to", "tpu --src-offset"], "--to"),
    ] {
        let line = refusal(&[&["convert"], &arguments[..]].concat());
        assert!(line.contains(expected), "{line}");
    }
    refusal(&["convert", &tiny, &out, "--to", "tpu", "--src-offset=1"]);
    assert_eq!(folder.names(), ["tiny.safetensors"]);
}

#[test]
fn npy_goes_to_fortran_order_and_back() {
    let folder = Folder::new();
    let mut header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }".to_owned();
    header.extend(std::iter::repeat_n(' ', 128 - 10 - 1 - header.len()));
    let numbers: Vec<u8> = (0..6u16).flat_map(u16::to_le_bytes).collect();
    let original = [b"\x93NUMPY\x01\x00\x76\x00", header.as_bytes(), b"\n", &numbers].concat();
    folder.write("a.npy", &original);
    convert(&folder, "a.npy", "f.npy", "column-major");
    let fortran = folder.read("f.npy");
    assert!(fortran[..128].windows(4).any(|word| word == b"True"));
    assert_eq!(fortran[128..], [0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0]);
    convert(&folder, "f.npy", "back.npy", "row-major");
    assert_eq!(folder.read("back.npy"), original);
    let tiled = refusal(&["convert", &folder.file("a.npy"), &folder.file("t.npy"), "--to", "tpu"]);
    assert!(tiled.contains(".safetensors"), "{tiled}");
    let cut = folder.write("cut.npy", &original[..original.len() - 1]);
    assert!(refusal(&["convert", &cut, &folder.file("t.npy"), "--to", "row-major"]).contains("cut off"));
    let named =
        refusal(&["convert", &folder.file("a.npy"), &folder.file("t.safetensors"), "--to", "row-major"]);
    assert!(named.contains("ends in .npy"), "{named}");
}

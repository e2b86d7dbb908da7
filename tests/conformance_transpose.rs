//! XLA's `TransposePlan`: each of its plans, said as two layouts.

mod common;

use common::{Engine, Failures, SENTINEL, integers, planned, reference, vectors};
use relayout::{ArrayShape, Layout, Padding, PrimitiveType, Request, Tile, TileDimension, index};
use serde_json::Value;

/// A plan of XLA in the words of this library. Both sides have the logical dimensions of the input, which is row major;
/// the permutation is the order of the output's dimensions in memory.
struct Case {
    src: ArrayShape,
    dst: ArrayShape,
    src_strides: Option<Vec<i64>>,
}

impl Case {
    /// Fails where XLA refuses what no layout could say, or where a layout says it and is invalid.
    fn translate(vector: &Value) -> Result<Case, String> {
        let element_type = match vector["elem_size"].as_i64() {
            Some(1) => PrimitiveType::U8,
            Some(2) => PrimitiveType::U16,
            Some(4) => PrimitiveType::U32,
            Some(8) => PrimitiveType::U64,
            Some(16) => PrimitiveType::C128,
            other => return Err(format!("no element type has {other:?} bytes")),
        };
        if vector["num_threads"].as_i64().is_some_and(|threads| threads < 1) {
            return Err("a plan takes at least one thread".to_owned());
        }
        let dims = integers(&vector["dims"]);
        let side = |layout: Layout, tiling: &Value| {
            let sizes = tiling.as_array().map(|_| integers(tiling)).unwrap_or_default();
            let tile = (!sizes.is_empty()).then(|| Tile::new(sizes.into_iter().map(TileDimension::Size)));
            let shape = ArrayShape::new(element_type, dims.iter().copied());
            shape.with_layout(layout.with_tiles(tile)).validated().map_err(|error| error.to_string())
        };
        let src_strides = vector["input_strides_bytes"].as_array();
        Ok(Case {
            src: side(Layout::row_major(dims.len()), &vector["input_tiling"])?,
            dst: side(Layout::from_major_to_minor(integers(&vector["perm"])), &vector["output_tiling"])?,
            src_strides: src_strides.map(|_| integers(&vector["input_strides_bytes"])),
        })
    }

    fn request(&self, src_offset: i64, padding: Padding) -> Request<'_> {
        let request = Request::new(&self.src, &self.dst).with_padding(padding);
        match &self.src_strides {
            Some(strides) => request.with_src_strides_bytes(strides).with_src_offset_bytes(src_offset),
            None => request,
        }
    }

    fn name(&self) -> String {
        match &self.src_strides {
            Some(strides) => format!("{} -> {} strides {strides:?}", self.src, self.dst),
            None => format!("{} -> {}", self.src, self.dst),
        }
    }
}

/// Elements that hold the numbers 0, 1, …, cut to their size.
fn numbered(elements: usize, element_bytes: usize) -> Vec<u8> {
    (0..elements as u128).flat_map(|number| number.to_le_bytes().into_iter().take(element_bytes)).collect()
}

/// The source buffer, the bytes of one entry of `output`, and where index 0 lies.
fn source(vector: &Value, case: &Case) -> (Vec<u8>, usize, i64) {
    let element_bytes = vector["elem_size"].as_u64().unwrap() as usize;
    let length = vector["input_len"].as_u64().unwrap() as usize;
    let base = vector["input_base"].as_i64().unwrap();
    let (mut src, unit) = match vector["unit"].as_str() {
        Some("elem") => (numbered(length, element_bytes), element_bytes),
        _ => ((0..length).map(|byte| (byte % 251) as u8).collect(), 1),
    };
    if case.src_strides.is_none() {
        // XLA's buffer ends with the last element that is read; the shape's ends with its padding.
        src.resize(case.src.byte_size().unwrap() as usize, 0);
    }
    (src, unit, base * unit as i64)
}

/// The whole output as bytes; `padding` gives what is in the places that XLA leaves alone.
fn expected(vector: &Value, unit: usize, padding: u8) -> Vec<u8> {
    let entry = |entry: &Value| match entry.as_u64() {
        Some(number) => u128::from(number).to_le_bytes()[..unit].to_vec(),
        None => vec![padding; unit],
    };
    vector["output"].as_array().unwrap().iter().flat_map(entry).collect()
}

/// Runs one of XLA's plans under every padding policy.
fn run(engine: &impl Engine, vector: &Value, failures: &mut Failures) {
    let case = Case::translate(vector).unwrap();
    let (src, unit, offset) = source(vector, &case);
    let name = case.name();
    let policies = [(Padding::Leave, SENTINEL), (Padding::Zero, 0), (Padding::Fill(u128::MAX), 0xff)];
    for (padding, held) in policies {
        let mut dst = vec![SENTINEL; case.dst.byte_size().unwrap() as usize];
        let done = engine(&case.request(offset, padding), &src, &mut dst).map(|()| dst);
        failures.equal(&name, &format!("{padding:?}"), done, Ok(expected(vector, unit, held)));
    }
    // In one dimension XLA drops tilings from the sizes that it reports.
    if case.src.rank() != 1 {
        let reported = |field: &str| Ok(vector[field].as_i64().unwrap());
        failures.equal(&name, "input size", case.src.padded_elements(), reported("plan_input_elems"));
        failures.equal(&name, "output size", case.dst.padded_elements(), reported("plan_output_elems"));
    }
}

/// XLA refuses, for want of a way and not of a meaning.
fn has_meaning(vector: &Value) -> bool {
    let why = vector["error"].as_str().unwrap();
    vector["code"] == "UNIMPLEMENTED" || why.contains("must have at most as many dimensions")
}

/// What XLA refuses is an error here too, or is done because it has a meaning.
fn run_refused(engine: &impl Engine, vector: &Value, failures: &mut Failures) {
    let name = vector["error"].as_str().unwrap();
    let case = Case::translate(vector).and_then(|case| {
        case.request(0, Padding::Zero).check().map(|()| case).map_err(|error| error.to_string())
    });
    failures.equal(name, "converted", case.is_ok(), has_meaning(vector));
    let Ok(case) = case else { return };

    let element_bytes = vector["elem_size"].as_u64().unwrap() as usize;
    let src = numbered(case.src.padded_elements().unwrap() as usize, element_bytes);
    let mut dst = vec![SENTINEL; case.dst.byte_size().unwrap() as usize];
    failures.equal(name, "result", engine(&case.request(0, Padding::Zero), &src, &mut dst), Ok(()));
    for (slot, found) in dst.chunks_exact(element_bytes).enumerate() {
        let element = index::multi_index(&case.dst, slot as i64).unwrap();
        let source = element.map_or(0, |element| index::linear_index(&case.src, &element).unwrap());
        failures.equal(name, &format!("slot {slot}"), found, &source.to_le_bytes()[..element_bytes]);
    }
}

fn every_plan(engine: impl Engine) {
    let mut failures = Failures::default();
    let mut with_transform = 0;
    for vector in vectors("transpose.jsonl") {
        if vector.get("transform").is_some() {
            // ef57 changes values and is no relayout; it comes with a later release.
            with_transform += 1;
            continue;
        }
        match vector.get("error") {
            Some(_) => run_refused(&engine, &vector, &mut failures),
            None => run(&engine, &vector, &mut failures),
        }
        failures.case_done();
    }
    assert_eq!(with_transform, 18);
    failures.finish(442);
}

#[test]
fn reference_does_every_plan() {
    every_plan(reference);
}

#[test]
fn plans_do_every_plan() {
    every_plan(planned);
}

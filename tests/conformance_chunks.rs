//! How XLA cuts large plans: the same plans here, with cuts that keep the same promises.

mod common;

use common::{Failures, integers, vectors};
use relayout::{Chunk, End, Plan, Shape};
use serde_json::Value;

/// XLA's plan as two shapes: both have the input's dimensions, the permutation is the output's order in memory.
fn plan(vector: &Value) -> Plan {
    let dims = integers(&vector["dims"]);
    let element = match vector["elem_size"].as_i64() {
        Some(1) => "u8",
        Some(2) => "u16",
        Some(4) => "u32",
        _ => "u64",
    };
    let list = |numbers: &[i64]| numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(",");
    let side = |major_to_minor: Vec<i64>, tiling: &Value| -> Shape {
        let tile = tiling.as_array().map(|_| format!(":T({})", list(&integers(tiling)))).unwrap_or_default();
        let minor_to_major: Vec<i64> = major_to_minor.into_iter().rev().collect();
        format!("{element}[{}]{{{}{tile}}}", list(&dims), list(&minor_to_major)).parse().unwrap()
    };
    let src = side((0..dims.len() as i64).collect(), &vector["input_tiling"]);
    let dst = side(integers(&vector["perm"]), &vector["output_tiling"]);
    Plan::new(&src, &dst).unwrap()
}

#[test]
fn large_plans_are_cut_as_wished() {
    let mut failures = Failures::default();
    for vector in vectors("chunks.jsonl") {
        let plan = plan(&vector);
        let name = format!("{plan}");
        let threads = vector["num_threads"].as_u64().unwrap() as usize;
        let end = if vector["contiguity"] == "input" { End::Source } else { End::Destination };
        let chunks: Vec<Chunk> = plan.chunks(threads).contiguous(end).collect();
        failures.equal(&name, "chunks", chunks.len(), threads);
        // On the side that is wished for, neighbours meet but for padding of the source, which nobody reads.
        let range: fn(&Chunk) -> std::ops::Range<usize> = match end {
            End::Source => Chunk::src_span,
            End::Destination => Chunk::dst_range,
        };
        let meet = |a: &Chunk, b: &Chunk| match end {
            End::Source => range(a).end <= range(b).start,
            End::Destination => range(a).end == range(b).start,
        };
        let meet = chunks.windows(2).all(|pair| meet(&pair[0], &pair[1]));
        failures.equal(&name, "neighbours", meet, true);
        // Together they are what XLA's chunks are together, where it cuts that side.
        let sizes = vector["chunks"].as_array().unwrap().iter().map(|chunk| integers(chunk)[3]);
        if vector["contiguity"] == "output" {
            let bytes = chunks.iter().map(|chunk| chunk.dst_range().len() as i64);
            failures.equal(&name, "bytes", bytes.sum::<i64>(), sizes.sum());
        }
        // Equal shares, as far as whole tiles, rows and pages allow.
        let sizes = chunks.iter().map(|chunk| range(chunk).len());
        let (least, most) =
            sizes.fold((usize::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
        failures.case_done();
        failures.equal(&name, "even", most <= least * 2, true);
    }
    failures.finish(24);
}

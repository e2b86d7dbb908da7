//! Everyday pairs stay a handful of boxes: more would mean that the planner no longer sees what both sides share.

use relayout::{Plan, Problem};

/// Boxes that move elements.
fn copies(line: &str) -> usize {
    let problem: Problem = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
    let plan = Plan::new(&problem.src, &problem.dst).unwrap_or_else(|error| panic!("{line}: {error}"));
    plan.explain().boxes.iter().filter(|explained| !explained.is_fill).count()
}

const EVERYDAY: &[(&str, usize)] = &[
    ("bf16[8,1,1280,16384] -> bf16[8,1,1280,16384]{3,2,0,1:T(8,128)(2,1)}", 1),
    ("bf16[8191,8100] -> bf16[8191,8100]{1,0:T(8,128)(2,1)}", 6),
    ("bf16[8191,8100]{0,1} -> bf16[8191,8100]{1,0:T(8,128)(2,1)}", 6),
    ("bf16[8191,8100]{1,0:T(8,128)(2,1)} -> bf16[8191,8100]{1,0:T(16,128)(2,1)}", 8),
    ("bf16[8191,8100]{1,0:T(8,128)(2,1)} -> bf16[8191,8100]{0,1:T(8,128)(2,1)}", 12),
    ("bf16[8192,8192] -> bf16[8192,8192]{1,0:T(8,128)(2,1,1,1)}", 1),
    ("f32[2,7,8,11,10] -> f32[2,7,8,11,10]{4,3,2,1,0:T(*,*,2,*,3)}", 2),
    ("bf16[4096] -> bf16[4096]{0:T(1024)(128)(2,1)}", 1),
    ("bf16[4000] -> bf16[4000]{0:T(1024)(128)(2,1)}", 3),
    ("f32[8191,8100]{1,0:T(8,128)} -> f32[8191,8100]{1,0:T(6,100)}", 688),
    ("f32[4096,14336] -> f32[4096,14336]{1,0:T(8,128)}", 1),
    ("f32[4096,14336]{1,0:T(8,128)} -> f32[4096,14336]", 1),
    ("f32[8192,8192]{1,0:T(8,128)} -> f32[8192,8192]{1,0:T(16,64)}", 1),
    ("s8[4096,4096] -> s8[4096,4096]{1,0:T(8,128)(4,1)}", 1),
    ("s4[8192,8192]{1,0:E(4)} -> s4[8192,8192]{1,0:T(8,128)(8,1)E(4)}", 1),
    ("u8[224,224,3] -> u8[224,224,3]{1,0,2}", 1),
    ("f32[64,56,56,256]{3,2,1,0} -> f32[64,56,56,256]{2,1,3,0}", 1),
];

#[test]
fn everyday_pairs() {
    for &(line, boxes) in EVERYDAY {
        assert_eq!(copies(line), boxes, "{line}");
    }
}

#[test]
fn what_changes_nothing_is_one_copy() {
    for line in [
        "f32[1024,1024] -> f32[1024,1024]",
        "f32[16,128]{1,0:T(8,128)} -> f32[16,128]",
        "f32[1,7,1,9]{3,2,1,0} -> f32[1,7,1,9]{2,3,0,1}",
        "bf16[64,256]{1,0:T(8,128)(2,1)} -> bf16[64,256]{1,0:T(8,128)(2,1)}",
        "s4[256]{0:E(4)} -> s4[256]{0:T(16)(4)E(4)}",
        "f32[128,16]{0,1:T(8,128)} -> f32[128,16]{0,1:T(8,128)}",
    ] {
        let problem: Problem = line.parse().unwrap();
        let plan = Plan::new(&problem.src, &problem.dst).unwrap();
        assert!(plan.is_memcpy() && plan.is_identity(), "{line}\n{plan}");
    }
}

#[test]
fn coprime_giants_have_no_boxes() {
    for line in [
        "f32[1000,1000]{1,0:T(3,5)} -> f32[1000,1000]{1,0:T(8,128)}",
        "f32[1000,1000]{1,0:T(7,11)} -> f32[1000,1000]{0,1:T(8,128)(2,1)}",
    ] {
        assert_eq!(copies(line), 0, "{line}");
    }
}

//! Which parts of arrays go in two steps, and what is read for them.

use super::*;

fn plan(src: &str, dst: &str) -> Plan {
    Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap()
}

#[test]
fn a_part_of_a_destination_is_made_from_its_part_of_the_source() {
    // A plane has as many bytes on both sides, of bytes and of half bytes.
    for (src, dst, plane) in [
        ("s8[9,40,2560]", "s8[9,40,2560]{1,2,0}", 102_400),
        ("s4[9,40,2560]{2,1,0:E(4)}", "s4[9,40,2560]{1,2,0:E(4)}", 51_200),
    ] {
        let plan = plan(src, dst);
        let mut bytes = vec![0; plane];
        for start in [0, 3 * plane] {
            let target = Target { start, bytes: &mut bytes };
            assert_eq!(plan.read_for(&target), Some(start..start + plane), "{src}");
        }
    }
}

#[test]
fn long_rows_of_tiles_are_those_of_words_in_lines() {
    let is_long = |src: &str, dst: &str| {
        let plan = plan(src, dst);
        has_long_tile_rows(&plan, &plan.steps.moves().max_by_key(bytes_of).unwrap())
    };
    let row = "f32[999,1000]";
    assert!(is_long("bf16[999,1000]{1,0:T(8,128)(2,1)}", row));
    for tiles in ["T(8,128)", "T(8,8)(2,1)"] {
        assert!(!is_long(&format!("bf16[999,1000]{{1,0:{tiles}}}"), row), "{tiles}");
    }
    assert!(!is_long("bf16[999,500]{1,0:T(8,128)(2,1)}", "f32[999,500]"));
}

#[test]
fn rows_across_a_source_go_straight_where_they_are_long() {
    let goes_in_two = |rows: usize| {
        let dimensions = format!("bf16[1000,10,{rows}]");
        TwoSteps::new(&plan(&dimensions, &format!("{dimensions}{{0,2,1:T(8,128)(2,1)}}"))).is_some()
    };
    // Words that have padding, short rows of two boxes, and long ones.
    assert_eq!([7, 61, 500].map(goes_in_two), [true, true, false]);
}

#[test]
fn ragged_rows_go_straight_unless_many_are_woven_with_padding() {
    let goes_in_two = |dimensions: &str, minor: &str| {
        let tiles = format!("bf16[{dimensions}]{{{minor}:T(8,128)(2,1)}}");
        TwoSteps::new(&plan(&format!("f32[{dimensions}]"), &tiles)).is_some()
    };
    for rows in ["8000,197", "8003,197", "8000,300"] {
        assert!(!goes_in_two(rows, "1,0"), "{rows}");
    }
    // One of 23 rows, and one of 5, with ragged columns; and one of 7 without.
    let planes = ["1000,23,300", "1000,5,300", "1000,7,128"];
    assert_eq!(planes.map(|rows| goes_in_two(rows, "2,1,0")), [false, true, false]);
}

#[test]
fn ragged_rows_of_two_bytes_are_made_of_moved_bytes() {
    let goes_in_two = |src: &str, dst: &str| {
        TwoSteps::new(&plan(&format!("{src}[999,8100]{{1,0:T(8,128)(4,1)}}"), &format!("{dst}[999,8100]")))
            .is_some()
    };
    for src in ["s8", "f8e4m3fn"] {
        assert_eq!(["bf16", "f16", "f32"].map(|dst| goes_in_two(src, dst)), [true, true, false], "{src}");
    }
}

#[test]
fn columns_lie_across_a_source_and_words_of_tiles_do_not() {
    let is_across = |src: &str, dst: &str| {
        let plan = plan(src, dst);
        goes_across(&plan.steps.moves().max_by_key(bytes_of).unwrap(), ACROSS)
    };
    assert!(is_across("f32[9,40,2560]", "bf16[9,40,2560]{1,2,0}"));
    assert!(!is_across("f32[999,300]{1,0:T(8,128)}", "s8[999,300]"));
    assert!(!is_across("f32[999,300]{1,0:T(8,128)(4,1)}", "bf16[999,300]"));
}

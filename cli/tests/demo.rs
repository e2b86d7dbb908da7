//! The demonstration, which checks its own work.

mod common;

#[test]
fn the_demonstration_needs_no_argument_and_ends_well() {
    let text = common::succeed(&[]);
    for expected in ["into tiles", "GB/s", "plain copy", "┌──", "byte for byte the same"] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

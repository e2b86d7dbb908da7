//! Nests that are moved to some columns of a slice reach no others.

use relayout_kernels::{Family, Level, Loop, Mover, Nest, OutOfBounds, Panel};

fn moved(panel: usize, dst_offset: isize, loops: &[Loop]) -> Result<Vec<u8>, OutOfBounds> {
    let mut dst = vec![0; 23];
    let mover = Mover { family: Family::Strided, element_bytes: 2, level: Level::Scalar, stream: false };
    let panel = &mut Panel::split(&mut dst, 8, &[4])[panel];
    mover.run_panel(&[1; 64], panel, Nest { src_offset: 0, dst_offset, loops })?;
    Ok(dst)
}

#[test]
fn a_nest_stays_in_its_columns() {
    let rows = |extent, dst_stride| Loop { extent, src_stride: 2, dst_stride };
    assert!(moved(0, 2, &[rows(3, 8)]).is_ok());
    assert!(moved(0, 18, &[rows(3, -8)]).is_ok());
    assert!(moved(1, 4, &[rows(2, 8), rows(2, 2)]).is_ok());
    for (panel, offset, loops) in [
        (0, 3, vec![rows(3, 8)]),             // an element across the cut
        (0, 4, vec![rows(3, 8)]),             // the other panel's columns
        (1, 2, vec![rows(3, 8)]),             // the other panel's columns
        (0, 0, vec![rows(2, 4)]),             // a loop across the cut
        (0, 0, vec![rows(4, 8)]),             // a row too many
        (0, 2, vec![rows(3, -8)]),            // below the first row
        (1, 6, vec![rows(3, 8)]),             // the last row is too short
        (1, 4, vec![rows(2, 8), rows(3, 2)]), // on into the next row
        (0, -8, vec![rows(2, 8)]),            // begins below the slice
    ] {
        assert!(moved(panel, offset, &loops).is_err(), "panel {panel} at {offset}: {loops:?}");
    }
}

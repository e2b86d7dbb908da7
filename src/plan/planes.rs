//! Which planes of a box are transposed by themselves, and not together with other loops.

use std::ops::RangeInclusive;

use super::pieces::{Atom, Piece, bytes_of};

/// A box of so many bytes, or fewer, stays in a second-level cache with as many that are written.
pub(super) const IN_CACHE: i64 = 1 << 20;

/// From this many bytes on either side a plane is better transposed by itself than together with the loops that go on where it ends.
const LARGE_PLANE: i64 = 2048;

/// The same of a plane's bytes in all where none goes on, or everything stays in the cache: blocks of fewer are mostly edges.
const LEAST_PLANE: i64 = 512;

/// Sides of a plane of less than a register of half a line are short where other loops make so many bytes of them: sets of those fill
/// registers.
const SHORT_SIDE: i64 = 32;
const LONG_SIDE: i64 = 128;

/// A way of a first-level cache in bytes, and how many a cache has at least: as many lines whose places differ by a multiple of the
/// former stay in it.
const WAY: i64 = 4096;
const WAYS: i64 = 8;

/// A lane, which the shorter side of a plane fills; or half of one, if the other side has a line.
const LANE: i64 = 16;
const LINE: i64 = 64;

/// Bytes of a group of elements of which each belongs to another row, at most, and of such a row, at least.
const GROUP: i64 = 512;
const GROUPED_ROW: i64 = 128;

/// The rows of a tile, in bytes: some lanes of the source, and some lines of the destination.
const TILE_ROWS: RangeInclusive<i64> = 16..=64;
const TILE_COLUMNS: i64 = 512;

/// Columns of the source, in bytes, of which those of one row of tiles are more than the cache keeps: in it, tiles are better
/// transposed in sets of loops.
const LONG_COLUMN: i64 = 8192;

/// True where the loops that are contiguous in the source and in the destination are best transposed as a plane.
pub(super) fn is_plane(piece: &Piece, [src, dst]: [usize; 2], bytes: usize) -> bool {
    let rows = Side::new(piece, [src, dst], bytes, |atom| atom.src_stride);
    let columns = Side::new(piece, [dst, src], bytes, |atom| atom.dst_stride);
    let is_shorter = (rows.len, columns.whole) < (columns.len, rows.whole);
    let (short, long) = if is_shorter { (rows, columns) } else { (columns, rows) };
    // Narrow rows of the destination are written one over the end of the other.
    let is_narrow = long.len >= LINE
        && 2 * short.len > LANE
        && (columns.len >= LANE || piece.atoms[src].dst_stride == columns.len);
    let fills_lanes = short.len >= LANE || is_narrow;
    let is_alone = [rows, columns].iter().all(|side| side.whole == side.len);
    let is_short = short.len < SHORT_SIDE && short.whole >= LONG_SIDE
        || columns.len < LINE && columns.whole >= LONG_SIDE && meets(&piece.atoms[src]);
    let is_large = match piece.atoms.len() {
        2 => fills_lanes,
        _ if is_alone || !is_short && bytes_of(&piece.atoms, bytes) <= IN_CACHE => {
            fills_lanes && bytes_of(&[piece.atoms[src], piece.atoms[dst]], bytes) >= LEAST_PLANE
        }
        _ => short.len >= LARGE_PLANE,
    };
    is_large
        || is_of_groups(piece, [src, dst], [rows, columns], bytes)
        || is_column_of_tiles(piece, [src, dst], bytes)
}

/// True where a plane is groups of a few elements on one side, one behind the other, of which each goes to a row of its own on the other,
/// or comes from there, and such rows start lines: channels, or places of a kernel, with tiles that have a row for each.
fn is_of_groups(piece: &Piece, [src, dst]: [usize; 2], [rows, columns]: [Side; 2], bytes: usize) -> bool {
    let are_groups = |side: Side, step: i64| {
        side.whole == side.len && step == side.len && 2 * side.len > LANE && side.len <= GROUP
    };
    let start_lines = |along: usize, stride: fn(&Atom) -> i64| {
        let mut others = piece.atoms.iter().enumerate().filter(|&(i, _)| i != along);
        others.all(|(_, atom)| stride(atom) % LINE == 0)
    };
    let least = |group: Side| if group.len < LINE { GROUPED_ROW } else { 2 * GROUPED_ROW };
    let leave = || columns.len >= least(rows) && start_lines(dst, |atom| atom.dst_stride);
    // Groups of bytes that fill no lanes are better put together from tiles, and those of lanes that are lines by sets of loops.
    let are_fast = match bytes {
        1 => columns.len <= LANE || columns.len % LANE == 0,
        _ => bytes < LANE as usize || columns.len % LINE != 0,
    };
    let come = || are_fast && rows.len >= GROUPED_ROW && start_lines(src, |atom| atom.src_stride);
    are_groups(rows, piece.atoms[dst].src_stride) && leave()
        || are_groups(columns, piece.atoms[src].dst_stride) && come()
}

/// What is contiguous on one side of a plane.
#[derive(Clone, Copy)]
struct Side {
    /// Bytes of the plane's loop.
    len: i64,
    /// The same with all loops of which each goes on where those before it end.
    whole: i64,
}

impl Side {
    /// What one loop begins, and all others but the plane's `across` may continue.
    fn new(piece: &Piece, [along, across]: [usize; 2], bytes: usize, stride: fn(&Atom) -> i64) -> Side {
        let len = bytes_of(&[piece.atoms[along]], bytes);
        let mut whole = len;
        let goes_on = |whole: i64| {
            let mut others = piece.atoms.iter().enumerate().filter(|(position, _)| *position != across);
            others.find(|(_, atom)| atom.extent > 1 && stride(atom) == whole)
        };
        while let Some((_, next)) = goes_on(whole) {
            whole = whole.saturating_mul(next.extent);
        }
        Side { len, whole }
    }
}

/// True where lines of the destination, one for each step of the loop, are in so few sets of the cache that they do not stay there until
/// the rest of them is written.
fn meets(rows: &Atom) -> bool {
    let apart = rows.dst_stride.trailing_zeros().clamp(LINE.trailing_zeros(), WAY.trailing_zeros());
    rows.extent > (WAY >> apart) * WAYS
}

/// The rows of a tile go on in the next tile: together they are as long as the source's columns, and are walked as one.
fn is_column_of_tiles(piece: &Piece, [src, dst]: [usize; 2], bytes: usize) -> bool {
    let rows = bytes_of(&[piece.atoms[src]], bytes);
    let goes_on = |atom: &Atom| atom.src_stride == rows && rows.saturating_mul(atom.extent) >= LONG_COLUMN;
    let others = piece.atoms.iter().enumerate().filter(|&(i, _)| i != dst);
    TILE_ROWS.contains(&rows)
        && rows % TILE_ROWS.start() == 0
        && bytes_of(&[piece.atoms[dst]], bytes) >= TILE_COLUMNS
        && others.map(|(_, atom)| atom).any(goes_on)
}

#[cfg(test)]
mod tests {
    use relayout_kernels::Family;

    use crate::Plan;
    use crate::plan::step::Kernel;

    /// How the first box of a pair of elements is moved.
    fn family(src: &str, dst: &str) -> Option<Family> {
        let plan = Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap();
        plan.steps.moves().find_map(|step| match step.kernel {
            Kernel::Move { family, .. } => Some(family),
            _ => None,
        })
    }

    #[test]
    fn planes_that_end_where_no_loop_goes_on_are_transposed() {
        assert_eq!(family("f32[2048,40,320]", "f32[2048,40,320]{1,2,0}"), Some(Family::Transpose));
        assert_eq!(family("u8[9999,24,24]", "u8[9999,24,24]{1,2,0}"), Some(Family::Transpose));
        assert_eq!(family("f32[9999,9,11]", "f32[9999,9,11]{1,2,0}"), Some(Family::Strided));
    }

    #[test]
    fn groups_that_go_to_rows_of_tiles_or_come_from_there_are_transposed() {
        let both = |plain: &str, tiled: &str| [family(plain, tiled), family(tiled, plain)];
        let [transposed, strided] = [Some(Family::Transpose), Some(Family::Strided)];
        assert_eq!(both("f32[999,1024,9]", "f32[999,1024,9]{1,0,2:T(8,128)}"), [transposed; 2]);
        assert_eq!(both("u8[9999,1024,16]", "u8[9999,1024,16]{1,0,2:T(8,128)}"), [transposed; 2]);
        // Rows that start no lines, long groups, groups of bytes that fill no lanes, and rows of two lines for groups of more than one.
        assert_eq!(both("f32[160,1024,300]", "f32[160,1024,300]{1,0,2:T(8,128)}"), [strided; 2]);
        assert_eq!(both("bf16[999,1001,9]", "bf16[999,1001,9]{1,0,2:T(8,77)}"), [strided; 2]);
        assert_eq!(family("u8[9999,1024,25]{1,0,2:T(8,128)}", "u8[9999,1024,25]"), strided);
        assert_eq!(family("f32[999,1024,49]", "f32[999,1024,49]{1,0,2:T(8,32)}"), strided);
    }

    #[test]
    fn planes_in_the_cache_are_transposed_unless_others_make_them_longer() {
        assert_eq!(family("f32[96,768]{1,0:T(8,128)}", "f32[96,768]{0,1}"), Some(Family::Transpose));
        assert_eq!(family("f32[128,512]{1,0:T(8,128)}", "f32[128,512]{0,1}"), Some(Family::Strided));
        assert_eq!(family("f32[960,7680]{1,0:T(8,128)}", "f32[960,7680]{0,1}"), Some(Family::Strided));
        assert_eq!(family("f32[512,128]{0,1:T(4,128)}", "f32[512,128]"), Some(Family::Strided));
        assert_eq!(family("f32[5120,16]{0,1:T(4,128)}", "f32[5120,16]"), Some(Family::Transpose));
    }
}

//! Which planes of a box are transposed by themselves, and not together with other loops.

use std::ops::RangeInclusive;

use super::pieces::{Atom, Piece};

/// From this many bytes on either side a plane is better transposed by itself than together with other loops.
const LARGE_PLANE: i64 = 2048;

/// The same for rows of the destination where no other loop goes on where the plane ends, and for both sides where elements
/// are narrow: two lines of every row are written together.
const SHORT_PLANE: i64 = 128;

/// The same for the longer side where the other one is shorter than that: sets of loops would read or write parts of many lines.
const THIN_PLANE: i64 = 256;

/// Elements of at most so many bytes are narrow: a block of them has so many columns that short ones are better read as one
/// plane.
const NARROW: usize = 2;

/// The same where there is no other loop: a lane; and on one side half of a lane, if the other side has a line.
const LANE: i64 = 16;
const LINE: i64 = 64;

/// The rows of a tile, in bytes: some lanes of the source, and some lines of the destination.
const TILE_ROWS: RangeInclusive<i64> = 16..=64;
const TILE_COLUMNS: i64 = 512;

/// Columns of the source, in bytes, of which those of one row of tiles are more than the cache keeps: in it, tiles are better
/// transposed in sets of loops.
const LONG_COLUMN: i64 = 8192;

/// True where the loops that are contiguous in the source and in the destination are best transposed as a plane.
pub(super) fn is_plane(piece: &Piece, [src, dst]: [usize; 2], bytes: usize) -> bool {
    let span = |position: usize| length(&piece.atoms[position], bytes);
    let (short, long) = (span(src).min(span(dst)), span(src).max(span(dst)));
    // Narrow rows of the destination are written one over the end of the other.
    let is_narrow =
        long >= LINE && 2 * short > LANE && (span(dst) >= LANE || piece.atoms[src].dst_stride == span(dst));
    let is_large = match piece.atoms.len() {
        2 => short >= LANE || is_narrow,
        _ if stands_alone(piece, [src, dst], bytes) => {
            let is_thin = short < SHORT_PLANE && long >= THIN_PLANE && (short >= LANE || is_narrow);
            is_thin || short >= SHORT_PLANE && (span(src) >= LARGE_PLANE || bytes <= NARROW)
        }
        _ => short >= LARGE_PLANE,
    };
    is_large || is_column_of_tiles(piece, [src, dst], bytes)
}

/// True where no other loop goes on where one of the plane's ends.
fn stands_alone(piece: &Piece, plane: [usize; 2], bytes: usize) -> bool {
    let [rows, columns] = plane.map(|position| piece.atoms[position]);
    let goes_on =
        |atom: &Atom| atom.src_stride == length(&rows, bytes) || atom.dst_stride == length(&columns, bytes);
    let mut others = (0..piece.atoms.len()).filter(|position| !plane.contains(position));
    !others.any(|position| goes_on(&piece.atoms[position]))
}

/// The rows of a tile go on in the next tile: together they are as long as the source's columns, and are walked as one.
fn is_column_of_tiles(piece: &Piece, [src, dst]: [usize; 2], bytes: usize) -> bool {
    let rows = length(&piece.atoms[src], bytes);
    let goes_on = |atom: &Atom| atom.src_stride == rows && rows.saturating_mul(atom.extent) >= LONG_COLUMN;
    let others = piece.atoms.iter().enumerate().filter(|&(i, _)| i != dst);
    TILE_ROWS.contains(&rows)
        && rows % TILE_ROWS.start() == 0
        && length(&piece.atoms[dst], bytes) >= TILE_COLUMNS
        && others.map(|(_, atom)| atom).any(goes_on)
}

/// Bytes of a loop's elements.
fn length(atom: &Atom, bytes: usize) -> i64 {
    atom.extent.saturating_mul(bytes as i64)
}

//! Tiles whose columns become rows, or columns of other tiles, at every level of this machine against a plain loop.

use relayout_kernels::{Family, Loop};

mod nests;
use nests::{Case, check};

/// Rows of a tile, and columns.
const TILE: [usize; 2] = [8, 128];

/// Tiles of elements of so many bytes, of which as many rows take turns.
#[derive(Clone, Copy, Debug)]
struct Tiles {
    element: usize,
    turns: usize,
    /// Tiles one below the other, and beside each other.
    count: [usize; 2],
}

impl Tiles {
    /// Places of the tiles below, those beside, words of rows, the elements of one, and columns.
    fn strides(self) -> [usize; 5] {
        let Tiles { element, turns, count } = self;
        let tile = TILE[0] * TILE[1] * element;
        [count[1] * tile, tile, turns * TILE[1] * element, element, turns * element]
    }

    /// Moves elements of so many columns of every tile to rows `pitch` bytes apart.
    fn to_columns(self, columns: usize, pitch: usize) -> Case {
        let Tiles { element, turns, count } = self;
        let rows = [TILE[0] * element, TILE[1] * pitch, turns * element, element, pitch];
        let extents = [count[0], count[1], TILE[0] / turns, turns, columns];
        self.case(&extents, &self.strides(), &rows)
    }

    /// Moves all elements to tiles that have rows in place of columns; there are as many tiles below as have the rows of one.
    fn to_turned(self) -> Case {
        let Tiles { element, turns, count } = self;
        let [below, beside, words, one, column] = self.strides();
        let groups = TILE[1] / TILE[0];
        let wide = count[0] / groups;
        let tile = TILE[0] * TILE[1] * element;
        // Groups of tiles below, tiles of one, words, elements of one; tiles beside, words of columns in those that rows become, words,
        // elements of one.
        let extents = [wide, groups, TILE[0] / turns, turns, count[1], groups, TILE[0] / turns, turns];
        let src = [groups * below, below, words, one, beside, TILE[0] * column, turns * column, column];
        let dst = [
            tile,
            TILE[0] * turns * element,
            turns * turns * element,
            turns * element,
            groups * wide * tile,
            wide * tile,
            words,
            element,
        ];
        self.case(&extents, &src, &dst)
    }

    fn case(self, extents: &[usize], src: &[usize], dst: &[usize]) -> Case {
        let loops = extents.iter().zip(src.iter().zip(dst)).map(|(&extent, (&src, &dst))| Loop {
            extent,
            src_stride: src as isize,
            dst_stride: dst as isize,
        });
        Case { family: Family::Strided, element: self.element, loops: loops.collect() }
    }
}

/// Rows that start lines, and others, of whole strips and of more tiles than these; whole tiles, and the last ones, which are not.
#[test]
fn columns_of_tiles_become_rows() {
    for (element, turns) in [(4, 1), (8, 1), (2, 1), (2, 2), (1, 4)] {
        for down in [16, 19] {
            for (columns, gap) in [(TILE[1], 0), (TILE[1], element), (36, 64)] {
                let tiles = Tiles { element, turns, count: [down, 3] };
                check(&tiles.to_columns(columns, down * TILE[0] * element + gap));
            }
        }
    }
}

#[test]
fn tiles_become_tiles_of_columns() {
    for (element, turns) in [(4, 1), (2, 2), (1, 4)] {
        for groups in [1, 2] {
            check(&Tiles { element, turns, count: [groups * 16, 2] }.to_turned());
        }
    }
}

/// Words of two rows that lie in no tiles, one behind the other along all columns, become words of two columns.
#[test]
fn words_of_rows_become_words_of_columns() {
    for (words, columns, gap) in [(64, 96, 0), (70, 130, 0), (19, 40, 2), (64, 1030, 64)] {
        let (row, pitch) = (4 * columns, 8 * words + gap);
        let extents = [words, columns / 2, 2, 2];
        let tiles = Tiles { element: 2, turns: 2, count: [0; 2] };
        check(&tiles.case(&extents, &[row, 8, 2, 4], &[8, pitch, 4, 2]));
    }
}

/// Tiles of so few columns that a register has those of several, and so many that a panel ends among them.
#[test]
fn narrow_tiles_become_rows() {
    for (element, wide, high) in [(4, 2, 8), (4, 8, 8), (1, 4, 16), (2, 64, 4)] {
        let (along, further) = (4100 / wide, 128 / (high * element) + 1);
        let (tile, rows) = (wide * high * element, further * high * element + 64 - 16);
        let tiles = Tiles { element, turns: 1, count: [0; 2] };
        let extents = [along, further, high, wide];
        let src = [tile, along * tile, wide * element, element];
        check(&tiles.case(&extents, &src, &[wide * rows, high * element, element, rows]));
    }
}

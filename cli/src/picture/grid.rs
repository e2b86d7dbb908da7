//! A table of cells with headings, and the choice of what is drawn of a long dimension.

use std::collections::BTreeSet;

use serde_json::{Value, json};

/// What is drawn in one place.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Cell {
    /// An element: what is written in it, the same as data, and the number of its tile.
    Slot { label: String, value: Value, tile: Option<i64> },
    /// A slot that holds no element.
    Padding { tile: Option<i64> },
    /// Something that is left out, or that does not exist.
    Gap,
}

impl Cell {
    pub(crate) fn label(&self) -> &str {
        match self {
            Cell::Slot { label, .. } => label,
            Cell::Padding { .. } => "··",
            Cell::Gap => "",
        }
    }

    pub(crate) fn tile(&self) -> Option<i64> {
        match *self {
            Cell::Slot { tile, .. } | Cell::Padding { tile } => tile,
            Cell::Gap => None,
        }
    }

    /// True where a line belongs between this cell and its neighbour.
    fn differs(&self, other: &Cell) -> bool {
        *self != Cell::Gap && *other != Cell::Gap && self.tile() != other.tile()
    }
}

/// A table: cells by row and column, and what stands at their edges.
pub(crate) struct Grid {
    pub(crate) title: String,
    pub(crate) row_axis: String,
    pub(crate) column_axis: String,
    /// Headings; `None` is where something is left out.
    pub(crate) rows: Vec<Option<i64>>,
    pub(crate) columns: Vec<Option<i64>>,
    pub(crate) cells: Vec<Vec<Cell>>,
}

impl Grid {
    /// A grid of gaps; each axis is its name and its places.
    pub(crate) fn new(
        title: String,
        rows: (String, &[Option<i64>]),
        columns: (String, &[Option<i64>]),
    ) -> Grid {
        Grid {
            title,
            row_axis: rows.0,
            column_axis: columns.0,
            rows: rows.1.to_vec(),
            columns: columns.1.to_vec(),
            cells: vec![vec![Cell::Gap; columns.1.len()]; rows.1.len()],
        }
    }

    /// True where a line is drawn on the left of a cell; `column` may be one past the last.
    pub(crate) fn line_left_of(&self, row: usize, column: usize) -> bool {
        if column == 0 || column == self.columns.len() {
            return true;
        }
        // A row that is left out carries on the lines above it.
        if self.rows[row].is_none() && row > 0 {
            return self.line_left_of(row - 1, column);
        }
        self.cells[row][column - 1].differs(&self.cells[row][column])
    }

    /// True where a line is drawn above a cell; `row` may be one past the last.
    pub(crate) fn line_above(&self, row: usize, column: usize) -> bool {
        if row == 0 || row == self.rows.len() {
            return true;
        }
        if self.columns[column].is_none() && column > 0 {
            return self.line_above(row, column - 1);
        }
        self.cells[row - 1][column].differs(&self.cells[row][column])
    }

    /// The grid as data.
    pub(crate) fn json(&self) -> Value {
        let value = |cell: &Cell| match cell {
            Cell::Slot { value, .. } => value.clone(),
            Cell::Padding { .. } | Cell::Gap => Value::Null,
        };
        let cells: Vec<Vec<Value>> = self.cells.iter().map(|row| row.iter().map(value).collect()).collect();
        json!({
            "title": self.title,
            "row_axis": self.row_axis,
            "column_axis": self.column_axis,
            "rows": self.rows,
            "columns": self.columns,
            "cells": cells,
        })
    }
}

/// The places of a dimension that are drawn, at most `limit` with the gaps between them (`None`).
///
/// The dimension has `size` places, `padded` with padding, and is cut every `tile` places. All are drawn if they fit;
/// otherwise the beginning, both sides of the first cut, and the ends of data and padding.
pub(crate) fn places(size: i64, padded: i64, tile: Option<i64>, limit: usize) -> Vec<Option<i64>> {
    if usize::try_from(padded).is_ok_and(|padded| padded <= limit) {
        return (0..padded).map(Some).collect();
    }
    let cut = tile.filter(|&tile| tile < padded).unwrap_or(0);
    let edges =
        [0, 1, cut - 1, cut, size - 1, padded - 1, 2, size, cut + 1, size - 2, padded - 2, 3, cut - 2];
    let wished = edges.into_iter().chain(4..padded).filter(|place| (0..padded).contains(place));
    let mut drawn = BTreeSet::new();
    for place in wished {
        let gaps = drawn.iter().zip(drawn.iter().skip(1)).filter(|(a, b)| *b - *a > 1).count();
        // Adding one place makes at most one more gap.
        if drawn.len() + gaps + 2 > limit {
            break;
        }
        drawn.insert(place);
    }
    let mut places: Vec<Option<i64>> = Vec::new();
    for place in drawn {
        match places.last().copied().flatten().map_or(0, |last| place - last) {
            // What is left out must be more than the mark that says so.
            2 => places.push(Some(place - 1)),
            3.. => places.push(None),
            _ => {}
        }
        places.push(Some(place));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(places: &[Option<i64>]) -> String {
        places
            .iter()
            .map(|place| place.map_or("…".into(), |place| place.to_string()))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn what_fits_is_drawn_whole() {
        assert_eq!(text(&places(3, 4, Some(2), 4)), "0 1 2 3");
        assert_eq!(text(&places(0, 0, None, 4)), "");
    }

    #[test]
    fn long_dimensions_keep_their_edges() {
        assert_eq!(text(&places(300, 384, Some(128), 14)), "0 1 2 … 127 128 129 … 298 299 300 … 383");
        assert_eq!(text(&places(1 << 40, 1 << 40, None, 8)), "0 1 2 3 … 1099511627774 1099511627775");
        for limit in 2..40 {
            assert!(places(i64::MAX, i64::MAX, Some(7), limit).len() <= limit.max(2));
        }
    }
}

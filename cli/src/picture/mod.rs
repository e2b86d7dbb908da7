//! Pictures of layouts: what is to be seen, whoever draws it.
//!
//! A picture has two kinds of grids. The logical ones show the two dimensions that are fastest in memory, each cell
//! with the slot of its element. The grid of memory shows slots in their order, each with the index of its element.
//! Large arrays are cropped to the corners, the first tile's edges and the ends.

mod grid;
pub(crate) mod svg;
pub(crate) mod text;
mod tiles;

use anyhow::Result;
use relayout::index::Indexer;
use relayout::{ArrayShape, LayoutError, axis_name};
use serde_json::{Value, json};

use grid::places;
pub(crate) use grid::{Cell, Grid};
use tiles::FirstTile;

/// Slices of arrays with more than two dimensions that are drawn at most.
const MAX_SLICES: usize = 3;
/// Rows of a grid that are drawn at most.
const MAX_ROWS: usize = 14;
/// Characters that a row of a grid takes at most.
const MAX_CHARACTERS: usize = 100;

/// Columns that have room where each takes `width` characters: enough for the edges of a dimension.
fn columns_of(width: usize) -> usize {
    (MAX_CHARACTERS / width).max(8)
}

/// Everything that is to be seen of one array.
pub(crate) struct Picture {
    pub(crate) title: String,
    pub(crate) summary: String,
    /// Slices of the array, the fixed indices in their titles.
    pub(crate) logical: Vec<Grid>,
    /// Slices behind these that are not drawn.
    left_out: i64,
    pub(crate) memory: Grid,
    pub(crate) cropped: bool,
    facts: Value,
}

/// One array, prepared to be asked.
struct View<'a> {
    shape: &'a ArrayShape,
    indexer: Indexer,
    bounds: Vec<i64>,
    tile: FirstTile,
    cropped: bool,
}

impl Picture {
    pub(crate) fn new(shape: &ArrayShape) -> Result<Picture, LayoutError> {
        let indexer = Indexer::new(shape)?;
        let bounds = shape.bounds()?;
        let tile = FirstTile::new(shape, &bounds, &indexer);
        let mut view = View { shape, indexer, bounds, tile, cropped: false };
        let logical = view.slices()?;
        let left_out = view.slices_in_all().saturating_sub(logical.len() as i64);
        let memory = view.memory();
        Ok(Picture {
            title: shape.to_string(),
            summary: view.summary()?,
            logical,
            left_out,
            memory,
            cropped: view.cropped,
            facts: view.facts()?,
        })
    }

    /// How many slices are left out, in words, if any are.
    pub(crate) fn slices_left_out(&self) -> Option<String> {
        match self.left_out {
            0 => None,
            1 => Some("… and one more slice".to_owned()),
            count => Some(format!("… and {count} more slices")),
        }
    }

    /// The picture as data: what is drawn, cell by cell, `null` for padding and for what is left out.
    pub(crate) fn json(&self) -> Value {
        let mut picture = self.facts.clone();
        picture["cropped"] = json!(self.cropped);
        picture["slices_left_out"] = json!(self.left_out);
        picture["logical"] = self.logical.iter().map(Grid::json).collect();
        picture["memory"] = self.memory.json();
        picture
    }
}

impl View<'_> {
    fn summary(&self) -> Result<String, LayoutError> {
        let (bytes, padding) = (self.shape.byte_size()?, self.shape.padding_bytes()?);
        let elements = self.shape.elements()?;
        let bits = self.shape.element_bits()?;
        let physical: Vec<String> = self.indexer.physical_dimensions().iter().map(i64::to_string).collect();
        Ok(format!(
            "{elements} elements in {slots} slots of {bits} bits, {bytes} bytes, {padding} of them padding; in memory [{physical}]",
            slots = self.indexer.slots(),
            physical = physical.join(","),
        ))
    }

    fn facts(&self) -> Result<Value, LayoutError> {
        Ok(json!({
            "shape": self.shape.to_string(),
            "physical_dimensions": self.indexer.physical_dimensions(),
            "padded_elements": self.indexer.slots(),
            "bytes": self.shape.byte_size()?,
            "padding_bytes": self.shape.padding_bytes()?,
        }))
    }

    /// The dimensions that are drawn, in their logical order: the two that are fastest in memory.
    fn drawn(&self) -> (Option<usize>, Option<usize>) {
        let mut fastest =
            self.shape.layout().minor_to_major().iter().take(2).map(|&dimension| dimension as usize);
        match (fastest.next(), fastest.next()) {
            (Some(a), Some(b)) => (Some(a.min(b)), Some(a.max(b))),
            (only, _) => (None, only),
        }
    }

    /// The dimensions that are not drawn, of whose indices each has a slice.
    fn fixed(&self) -> Vec<usize> {
        let (row, column) = self.drawn();
        (0..self.bounds.len()).filter(|&dimension| ![row, column].contains(&Some(dimension))).collect()
    }

    /// None where there are no elements.
    fn slices_in_all(&self) -> i64 {
        let bounds = self.fixed().into_iter().map(|dimension| self.bounds[dimension]);
        if self.bounds.contains(&0) { 0 } else { bounds.fold(1, i64::saturating_mul) }
    }

    fn slices(&mut self) -> Result<Vec<Grid>, LayoutError> {
        let (row, column) = self.drawn();
        let fixed = self.fixed();
        let mut index = vec![0; self.bounds.len()];
        let mut slices = Vec::new();
        if self.bounds.contains(&0) {
            return Ok(slices);
        }
        loop {
            slices.push(self.slice(&index, &fixed, row, column)?);
            // The next index of the fixed dimensions, the last one fastest.
            let Some(&bumped) = fixed.iter().rev().find(|&&d| index[d] + 1 < self.bounds[d]) else { break };
            index[bumped] += 1;
            fixed.iter().filter(|&&d| d > bumped).for_each(|&d| index[d] = 0);
            if slices.len() == MAX_SLICES {
                self.cropped = true;
                break;
            }
        }
        Ok(slices)
    }

    fn slice(
        &mut self,
        at: &[i64],
        fixed: &[usize],
        row: Option<usize>,
        column: Option<usize>,
    ) -> Result<Grid, LayoutError> {
        let width = self.indexer.slots().to_string().len();
        let rows = self.axis(row, MAX_ROWS);
        let columns = self.axis(column, columns_of(width + 1));
        let name = |dimension: Option<usize>| dimension.map_or(String::new(), |d| axis_name(at.len(), d));
        let title =
            fixed.iter().map(|&d| format!("{} = {}", axis_name(at.len(), d), at[d])).collect::<Vec<_>>();
        let mut grid = Grid::new(title.join(", "), (name(row), &rows), (name(column), &columns));
        for (r, y) in rows.iter().enumerate() {
            for (c, x) in columns.iter().enumerate() {
                let (Some(y), Some(x)) = (*y, *x) else { continue };
                let mut index = at.to_vec();
                row.into_iter().for_each(|dimension| index[dimension] = y);
                column.into_iter().for_each(|dimension| index[dimension] = x);
                grid.cells[r][c] = self.cell(&index)?;
            }
        }
        Ok(grid)
    }

    fn cell(&self, index: &[i64]) -> Result<Cell, LayoutError> {
        let tile = self.tile.number(index);
        if index.iter().zip(&self.bounds).any(|(entry, bound)| entry >= bound) {
            return Ok(Cell::Padding { tile });
        }
        let linear = self.indexer.linear(index)?;
        Ok(Cell::Slot { label: linear.to_string(), value: json!(linear), tile })
    }

    /// The places of a dimension that are drawn; one place for a dimension that does not exist.
    fn axis(&mut self, dimension: Option<usize>, limit: usize) -> Vec<Option<i64>> {
        let Some(dimension) = dimension else { return vec![Some(0)] };
        let padded = self.tile.padded(dimension, self.bounds[dimension]);
        let drawn = places(self.bounds[dimension], padded, self.tile.size(dimension), limit);
        self.cropped |= drawn.contains(&None);
        drawn
    }

    fn memory(&mut self) -> Grid {
        let slots = self.indexer.slots();
        let length = self.row_length().clamp(1, slots.max(1));
        let width = self.bounds.iter().map(|bound| bound.to_string().len() + 1).sum::<usize>().max(3);
        let block = self.tile.block();
        let rows_total = slots / length + i64::from(slots % length != 0);
        let rows_of_block = block.filter(|block| block % length == 0).map(|block| block / length);
        let rows = places(rows_total, rows_total, rows_of_block, MAX_ROWS);
        let columns = places(length, length, block.filter(|&block| block < length), columns_of(width));
        self.cropped |= rows.contains(&None) || columns.contains(&None);
        let starts: Vec<Option<i64>> = rows.iter().map(|row| row.map(|row| row * length)).collect();
        let mut grid = Grid::new(String::new(), ("slot".into(), &starts), ("+".into(), &columns));
        for (r, start) in starts.iter().enumerate() {
            for (c, offset) in columns.iter().enumerate() {
                if let (Some(start), Some(offset)) = (*start, *offset) {
                    grid.cells[r][c] = self.slot(start.saturating_add(offset));
                }
            }
        }
        grid
    }

    fn slot(&self, linear: i64) -> Cell {
        if linear >= self.indexer.slots() {
            return Cell::Gap;
        }
        match self.indexer.multi(linear) {
            Some(index) => {
                let label = match index[..] {
                    [] => "()".to_owned(),
                    _ => index.iter().map(i64::to_string).collect::<Vec<_>>().join(","),
                };
                Cell::Slot { label, tile: self.tile.number(&index), value: json!(index) }
            }
            None => Cell::Padding { tile: self.tile.block().map(|block| linear / block) },
        }
    }

    /// Slots in a row of the memory grid: what lies along the innermost dimension, and more where tiles are small.
    fn row_length(&self) -> i64 {
        let physical = self.indexer.physical_dimensions();
        // Inside the last of several tiles are the neighbours that it made, and before them what they run along.
        let (inside, wished) = match self.shape.layout().tiles() {
            [] => (1, 1),
            [_] => (1, 16),
            [.., last] => (last.dimensions().len() + 1, 16),
        };
        let (outer, row) = physical.split_at(physical.len().saturating_sub(inside));
        // An array without elements may have sides whose product does not fit.
        let mut length = row.iter().fold(1, |length: i64, &size| length.saturating_mul(size));
        for &size in outer.iter().rev() {
            match length.checked_mul(size) {
                Some(longer) if longer <= wished || length == 1 => length = longer,
                _ => break,
            }
        }
        length
    }
}

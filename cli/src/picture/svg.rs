//! Pictures as an SVG file: the same grids, a colour per tile.

use std::fmt::Write;

use super::{Cell, Grid, Picture};

/// Fills that tiles take in turn; an untiled array has the last.
const TILE_FILLS: [&str; 6] = ["#cfe3f7", "#fde3c0", "#d6efd0", "#f3d3e3", "#e3dbf3", "#eef1f4"];
const ROW_HEIGHT: usize = 24;
const CHARACTER_WIDTH: usize = 8;
const MARGIN: usize = 24;

/// A drawing that grows downwards.
struct Canvas {
    body: String,
    width: usize,
    height: usize,
}

/// All pictures, one under the other, as a complete file.
pub(crate) fn draw(pictures: &[Picture]) -> String {
    let mut canvas = Canvas { body: String::new(), width: 0, height: MARGIN };
    for picture in pictures {
        canvas.picture(picture);
    }
    let (width, height) = (canvas.width + MARGIN, canvas.height);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" font-family=\"ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" \
         font-size=\"13\" fill=\"#1f2933\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{}</svg>\n",
        canvas.body
    )
}

impl Canvas {
    fn picture(&mut self, picture: &Picture) {
        self.line(&picture.title, "font-size=\"16\" font-weight=\"bold\"");
        self.line(&picture.summary, "fill=\"#52606d\"");
        if picture.cropped {
            self.line("cropped: … stands for what is left out", "fill=\"#52606d\"");
        }
        self.line("logical: each cell holds its slot in memory, ·· is padding", "font-weight=\"bold\"");
        for grid in &picture.logical {
            self.grid(grid);
        }
        picture.slices_left_out().into_iter().for_each(|more| self.line(&more, ""));
        self.line("memory: each slot holds its logical index", "font-weight=\"bold\"");
        self.grid(&picture.memory);
        self.height += MARGIN;
    }

    /// One line of text at the left edge.
    fn line(&mut self, text: &str, style: &str) {
        self.height += ROW_HEIGHT;
        self.text(MARGIN, self.height - 8, text, style);
        self.width = self.width.max(MARGIN + (text.chars().count() + 2) * (CHARACTER_WIDTH + 1));
    }

    fn text(&mut self, x: usize, y: usize, text: &str, style: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.body, "<text x=\"{x}\" y=\"{y}\" {style}>{}</text>", escape(text));
    }

    fn grid(&mut self, grid: &Grid) {
        if !grid.title.is_empty() {
            self.line(&grid.title, "");
        }
        let cells = grid.cells.iter().flatten().map(|cell| cell.label().chars().count());
        let headings = grid.columns.iter().flatten().map(|place| place.to_string().len());
        let cell = (cells.chain(headings).max().unwrap_or(0).max(2) + 1) * CHARACTER_WIDTH + 6;
        let rows = grid.rows.iter().flatten().map(|place| place.to_string().len()).max().unwrap_or(0);
        let left = MARGIN + (rows + grid.row_axis.chars().count() + 2) * CHARACTER_WIDTH;
        let top = self.height + ROW_HEIGHT;
        self.headings(grid, left, top, cell);
        for (row, cells) in grid.cells.iter().enumerate() {
            for (column, content) in cells.iter().enumerate() {
                let left_out = grid.rows[row].is_none() || grid.columns[column].is_none();
                self.cell(content, left_out, [left + column * cell, top + row * ROW_HEIGHT, cell]);
            }
        }
        self.tile_lines(grid, left, top, cell);
        self.width = self.width.max(left + grid.columns.len() * cell);
        self.height = top + grid.rows.len() * ROW_HEIGHT + ROW_HEIGHT / 2;
    }

    fn headings(&mut self, grid: &Grid, left: usize, top: usize, cell: usize) {
        let axis = "font-weight=\"bold\"";
        self.text(left - CHARACTER_WIDTH * 3 / 2, top - 6, &grid.column_axis, axis);
        for (column, place) in grid.columns.iter().enumerate() {
            let text = place.map_or("…".to_owned(), |place| place.to_string());
            let style = "text-anchor=\"middle\" fill=\"#52606d\"";
            self.text(left + column * cell + cell / 2, top - 6, &text, style);
        }
        self.text(MARGIN, top + ROW_HEIGHT - 7, &grid.row_axis, axis);
        for (row, place) in grid.rows.iter().enumerate() {
            let text = place.map_or("…".to_owned(), |place| place.to_string());
            let style = "text-anchor=\"end\" fill=\"#52606d\"";
            self.text(left - CHARACTER_WIDTH, top + row * ROW_HEIGHT + ROW_HEIGHT - 7, &text, style);
        }
    }

    fn cell(&mut self, cell: &Cell, left_out: bool, [x, y, width]: [usize; 3]) {
        let fill = match (cell, cell.tile()) {
            (Cell::Slot { .. }, Some(tile)) => {
                TILE_FILLS[tile.rem_euclid(TILE_FILLS.len() as i64 - 1) as usize]
            }
            (Cell::Slot { .. }, None) => TILE_FILLS[TILE_FILLS.len() - 1],
            _ => "#ffffff",
        };
        if *cell != Cell::Gap {
            let _ = writeln!(
                self.body,
                "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{ROW_HEIGHT}\" fill=\"{fill}\" \
                 stroke=\"#cbd2d9\" stroke-width=\"0.5\"/>"
            );
        }
        let label = if left_out { "…" } else { cell.label() };
        let color = if matches!(cell, Cell::Slot { .. }) { "#1f2933" } else { "#9aa5b1" };
        self.text(
            x + width / 2,
            y + ROW_HEIGHT - 7,
            label,
            &format!("text-anchor=\"middle\" fill=\"{color}\""),
        );
    }

    /// The edges of tiles and of the grid.
    fn tile_lines(&mut self, grid: &Grid, left: usize, top: usize, cell: usize) {
        let mut path = String::new();
        for row in 0..grid.rows.len() {
            for column in (0..=grid.columns.len()).filter(|&column| grid.line_left_of(row, column)) {
                let _ = write!(path, "M{} {}v{ROW_HEIGHT}", left + column * cell, top + row * ROW_HEIGHT);
            }
        }
        for row in 0..=grid.rows.len() {
            for column in (0..grid.columns.len()).filter(|&column| grid.line_above(row, column)) {
                let _ = write!(path, "M{} {}h{cell}", left + column * cell, top + row * ROW_HEIGHT);
            }
        }
        let _ = writeln!(
            self.body,
            "<path d=\"{path}\" stroke=\"#3e4c59\" stroke-width=\"1.5\" stroke-linecap=\"square\" fill=\"none\"/>"
        );
    }
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

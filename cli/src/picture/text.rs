//! A picture in plain text, with colours where a terminal shows it.

use std::io::IsTerminal;

use super::{Cell, Grid, Picture};

/// Box-drawing characters by the lines that meet: 1 from above, 2 from below, 4 from the left, 8 from the right.
const CORNERS: [char; 16] = [' ', '╵', '╷', '│', '╴', '┘', '┐', '┤', '╶', '└', '┌', '├', '─', '┴', '┬', '┼'];

/// ANSI colours that tiles take in turn.
const TILE_COLORS: [u8; 5] = [36, 33, 35, 32, 34];

/// True where standard output is a terminal and the user has not asked for plain text (`NO_COLOR`).
pub(crate) fn colors() -> bool {
    std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty())
}

/// The whole picture, ending in a line break.
pub(crate) fn draw(picture: &Picture, colors: bool) -> String {
    let mut text = format!("{}\n{}\n", style(&picture.title, "1", colors), picture.summary);
    if picture.cropped {
        text.push_str("cropped: … stands for what is left out\n");
    }
    text.push_str("\nlogical: each cell holds its slot in memory, ·· is padding\n");
    if picture.logical.is_empty() {
        text.push_str("  no elements\n");
    }
    for grid in &picture.logical {
        text.push_str(&draw_grid(grid, colors));
    }
    picture.slices_left_out().into_iter().for_each(|more| text.push_str(&format!("{more}\n")));
    text.push_str("\nmemory: each slot holds its logical index\n");
    text.push_str(&draw_grid(&picture.memory, colors));
    text
}

fn style(text: &str, code: &str, colors: bool) -> String {
    if colors && !text.is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
}

fn heading(place: Option<i64>) -> String {
    place.map_or("…".to_owned(), |place| place.to_string())
}

/// The widths that the lines of one grid share.
struct Widths {
    row_heading: usize,
    cell: usize,
}

fn draw_grid(grid: &Grid, colors: bool) -> String {
    let longest = |texts: &mut dyn Iterator<Item = usize>| texts.max().unwrap_or(0);
    let cells = grid.cells.iter().flatten().map(|cell| cell.label().chars().count());
    let columns = grid.columns.iter().map(|&place| heading(place).chars().count());
    let rows = grid.rows.iter().map(|&place| heading(place).chars().count());
    let widths = Widths {
        row_heading: longest(&mut rows.chain([0])) + grid.row_axis.chars().count() + 1,
        cell: longest(&mut cells.chain(columns)),
    };
    let mut text = String::new();
    if !grid.title.is_empty() {
        text.push_str(&format!("{}\n", grid.title));
    }
    if grid.rows.is_empty() || grid.columns.is_empty() {
        return text;
    }
    text.push_str(&column_headings(grid, &widths, colors));
    for row in 0..grid.rows.len() {
        text.push_str(&line_above(grid, row, &widths));
        text.push_str(&row_of_cells(grid, row, &widths, colors));
    }
    text + &line_above(grid, grid.rows.len(), &widths)
}

/// True where some row has a line on the left of the column, so that every row leaves room for it.
fn has_line(grid: &Grid, column: usize) -> bool {
    (0..grid.rows.len()).any(|row| grid.line_left_of(row, column))
}

fn column_headings(grid: &Grid, widths: &Widths, colors: bool) -> String {
    let axis = style(&format!("{:>1$}", grid.column_axis, widths.row_heading + 1), "1", colors);
    let mut line = format!("{axis} ");
    for (column, &place) in grid.columns.iter().enumerate() {
        if column > 0 && has_line(grid, column) {
            line.push_str("  ");
        }
        line.push_str(&format!(" {:>1$}", heading(place), widths.cell));
    }
    line + "\n"
}

fn row_of_cells(grid: &Grid, row: usize, widths: &Widths, colors: bool) -> String {
    let axis = if row == 0 { grid.row_axis.as_str() } else { "" };
    let room = widths.row_heading - axis.chars().count();
    let mut line = format!(" {}{:>room$} ", style(axis, "1", colors), heading(grid.rows[row]));
    for column in 0..=grid.columns.len() {
        if has_line(grid, column) {
            line.push_str(if column > 0 { " " } else { "" });
            line.push(if grid.line_left_of(row, column) { '│' } else { ' ' });
        }
        if column < grid.columns.len() {
            let left_out = grid.rows[row].is_none() || grid.columns[column].is_none();
            line.push_str(&cell(&grid.cells[row][column], left_out, widths.cell, colors));
        }
    }
    line.trim_end().to_owned() + "\n"
}

fn cell(cell: &Cell, left_out: bool, width: usize, colors: bool) -> String {
    let label = if left_out { "…" } else { cell.label() };
    let text = format!(" {label:>width$}");
    match (cell, cell.tile()) {
        (Cell::Slot { .. }, Some(tile)) => {
            let color = TILE_COLORS[tile.rem_euclid(TILE_COLORS.len() as i64) as usize];
            style(&text, &color.to_string(), colors)
        }
        (Cell::Slot { .. }, None) => text,
        _ => style(&text, "2", colors),
    }
}

/// The line over a row, or nothing where no tile begins.
fn line_above(grid: &Grid, row: usize, widths: &Widths) -> String {
    let columns = grid.columns.len();
    if !(0..columns).any(|column| grid.line_above(row, column)) {
        return String::new();
    }
    let mut line = " ".repeat(widths.row_heading + 2);
    for column in 0..=columns {
        let left = column > 0 && grid.line_above(row, column - 1);
        let right = column < columns && grid.line_above(row, column);
        if has_line(grid, column) {
            line.push_str(if column == 0 {
                ""
            } else if left {
                "─"
            } else {
                " "
            });
            let above = row > 0 && grid.line_left_of(row - 1, column);
            let below = row < grid.rows.len() && grid.line_left_of(row, column);
            let met = [above, below, left, right];
            let corner = (0..4).map(|bit| usize::from(met[bit]) << bit).sum::<usize>();
            line.push(CORNERS[corner]);
        }
        if column < columns {
            line.push_str(&if right { "─" } else { " " }.repeat(widths.cell + 1));
        }
    }
    line.trim_end().to_owned() + "\n"
}

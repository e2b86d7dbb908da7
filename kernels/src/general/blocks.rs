//! Transposes of sets of loops: a line of every column of a strip is brought together, transposed, and written to the rows.
//!
//! Rows and columns are chains of any loops (`composite.rs`), so that extents need not fill a lane or a line. A strip is
//! as many columns as fill some lines of every row; it is walked along all rows, whose places come from a table.

use crate::general::composite::{list_places, steps};
use crate::general::staged::{Buffers, gather, lines_to_buffers, load_staged, part_to_buffers};
use crate::lanes::{LANE, LINE, Lanes};
use crate::nest::Loop;
use crate::rows::carry::emit;
use crate::rows::{copy_run, stream_run};
use crate::tuning::{COLUMN_AHEAD, SHORT_COLUMN};
use crate::walk::Point;

/// Columns of the widest strip.
const STRIP_COLUMNS: usize = 64;

/// Bytes of a strip in every row; see `transpose/stream.rs` for why two lines, and why one for bytes.
const fn strip(element: usize) -> usize {
    if element == 1 { LINE } else { 2 * LINE }
}

/// The most bytes of a strip whose rows are carried, and the line before.
const CARRIED_ROW: usize = LINE + strip(2);

/// How the rows are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Write {
    /// With ordinary stores.
    Store,
    /// Past the cache; every row starts a line, or all start as far behind one.
    Lines,
    /// Past the cache; every row carries what is behind its last whole line over to the next strip.
    Carried,
}

/// Bytes of the rows of a line, with a strip of each behind a line: of elements of a byte there are 64, and of others the fewer the longer
/// strips may be.
const ROWS_OF_LINE: usize = LINE * (LINE + strip(2));

/// Room that [`Blocks`] works in: a line of each of a strip's columns, and a line of rows with the strip's bytes.
#[repr(align(64))]
pub(crate) struct Room {
    staged: [u8; STRIP_COLUMNS * LINE],
    rows: [u8; ROWS_OF_LINE],
}

impl Room {
    pub(crate) const EMPTY: Room = Room { staged: [0; STRIP_COLUMNS * LINE], rows: [0; ROWS_OF_LINE] };
}

/// Bytes of carry buffer that so many rows want, at the start of a line.
pub(crate) const fn carry_bytes(rows: usize) -> usize {
    rows * CARRIED_ROW
}

/// Transposes rows and columns of elements of `E` bytes, `N` to a lane.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a, const E: usize, const N: usize> {
    /// Contiguous in the source, fastest first.
    pub(crate) rows: &'a [Loop],
    /// Contiguous in the destination, fastest first.
    pub(crate) columns: &'a [Loop],
    /// The first of these that is moved, and how many are.
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) write: Write,
    pub(crate) room: *mut Room,
    /// Places of as many rows as are walked before the next strip.
    pub(crate) places: *mut isize,
    pub(crate) panel: usize,
    /// From here to the next plane in the source, as far as that is known: what is asked for ahead.
    pub(crate) next: isize,
    /// [`carry_bytes`] for that many rows where they are carried.
    pub(crate) carry: *mut u8,
    /// Bytes of a strip in every row that starts a line, unless elements fill a lane: whole lines.
    pub(crate) long: usize,
}

impl<const E: usize, const N: usize> Point for Blocks<'_, E, N> {
    /// # Safety
    /// All places of both chains must be valid on both sides, without overlap; with [`Write::Lines`] every row must start
    /// a line.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let rows = steps(self.rows);
        let mut first = 0;
        while first < rows {
            let count = self.panel.min(rows - first);
            // SAFETY: there is room for `panel` places, this kernel's alone; rows are contiguous in the source.
            unsafe {
                list_places::<false>(self.rows, first, std::slice::from_raw_parts_mut(self.places, count));
                self.panel(lanes, count, src.wrapping_add(first * E), dst);
            }
            first += count;
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.write != Write::Store
    }
}

/// What is asked for ahead of its use.
struct Ahead {
    column: usize,
    at: usize,
    /// Bytes of a column.
    len: usize,
}

impl Ahead {
    /// Asks for all lines of a turn.
    #[inline(always)]
    fn ask_all<L: Lanes>(&mut self, lanes: L, turn: Turn<'_>) {
        for number in 0..turn.places.len() {
            self.ask(lanes, turn, number);
        }
    }

    /// Asks for the line of a turn.
    #[inline(always)]
    fn ask<L: Lanes>(&mut self, lanes: L, turn: Turn<'_>, number: usize) {
        if self.len == usize::MAX {
            lanes.prefetch(turn.src.wrapping_offset(turn.places[number]).wrapping_add(COLUMN_AHEAD));
        } else if let Some(place) = turn.places.get(self.column) {
            lanes.prefetch(turn.src.wrapping_offset(*place).wrapping_add(self.at));
            self.at += LINE;
            if self.at >= self.len {
                (self.column, self.at) = (self.column + 1, 0);
            }
        }
    }
}

/// Where the lines lie that are asked for with a part of a strip, one for each of its columns.
#[derive(Clone, Copy)]
struct Turn<'a> {
    places: &'a [isize],
    src: *const u8,
}

/// A part of a strip.
#[derive(Clone, Copy)]
struct Part {
    /// Its columns.
    width: usize,
    /// The panel's number of its first row, and its rows.
    row: usize,
    height: usize,
    is_first: bool,
    is_last: bool,
}

impl<const E: usize, const N: usize> Blocks<'_, E, N> {
    /// Columns of a strip: a constant for elements that fill a lane, of which there is little to a row but its loop.
    #[inline(always)]
    fn strip(&self) -> usize {
        let most = if E < LANE && self.write == Write::Lines { self.long } else { strip(E) };
        most.min(STRIP_COLUMNS * E) / E
    }

    /// Columns of the first strip: where rows that go past the cache as whole lines start none, those before their first line.
    #[inline(always)]
    fn first_strip(&self, dst: *mut u8) -> usize {
        match dst.addr().wrapping_neg() % LINE / E {
            before @ 1.. if self.write == Write::Lines => before,
            _ => self.strip(),
        }
    }

    /// From one row's buffer to the next one's.
    #[inline(always)]
    fn pitch(&self) -> usize {
        LINE + self.strip() * E
    }

    /// The rows whose places are listed, through all columns.
    ///
    /// # Safety
    /// As [`Point::point`], for `count` rows from `src`.
    #[inline(always)]
    unsafe fn panel<L: Lanes>(&self, lanes: L, count: usize, src: *const u8, dst: *mut u8) {
        let columns = self.count;
        // The next strip's short columns are asked for one behind the other, along the source; of long columns what
        // comes next in each.
        let is_short = count * E <= SHORT_COLUMN;
        // SAFETY: the room is there, and this kernel's alone.
        let staged = unsafe { (&raw mut (*self.room).staged).cast::<u8>() };
        let mut places = [[0; STRIP_COLUMNS]; 2];
        let strip = self.strip();
        list_places::<true>(self.columns, self.first, &mut places[0][..strip]);
        let mut column = 0;
        while column < columns {
            let most = if column == 0 { self.first_strip(dst) } else { strip };
            let width = most.min(columns - column);
            let [now, next] = &mut places;
            let behind = column + width;
            let mut ahead = Ahead { column: 0, at: 0, len: if is_short { count * E } else { usize::MAX } };
            // Behind the last strip comes the first of the next plane.
            let (following, first) =
                if behind < columns { (src, behind) } else { (src.wrapping_offset(self.next), 0) };
            list_places::<true>(self.columns, self.first + first, &mut next[..strip]);
            let to = dst.wrapping_add(column * E);
            let mut row = 0;
            while row < count {
                let height = (LINE / E).min(count - row);
                let (from, wanted) = if is_short { (following, &*next) } else { (src, &*now) };
                let places = &wanted[..strip];
                let src_ahead = if is_short { from } else { from.wrapping_add(row * E) };
                let turn = Turn { places, src: src_ahead };
                if L::BYTES == LINE {
                    ahead.ask_all(lanes, turn);
                }
                let part = Part { width, row, height, is_first: column == 0, is_last: behind == columns };
                // SAFETY: `width` columns and `height` rows from here are the nest's.
                unsafe {
                    gather::<L, E>(lanes, src.wrapping_add(row * E), &now[..width], height * E, staged);
                    self.scatter(lanes, staged, part, to, (&mut ahead, turn));
                }
                row += height;
            }
            places.swap(0, 1);
            column = behind;
        }
    }

    /// Writes what is staged to its rows.
    ///
    /// # Safety
    /// As [`Point::point`]; `dst` is the place of the part's first column in row 0.
    #[inline(always)]
    unsafe fn scatter<L: Lanes>(
        &self,
        lanes: L,
        staged: *const u8,
        part: Part,
        dst: *mut u8,
        (ahead, turn): (&mut Ahead, Turn<'_>),
    ) {
        let (bytes, are_lines) = match E {
            LANE if part.width == strip(E) / E => (strip(E), true),
            LANE => (part.width * E, false),
            _ => (part.width * E, (part.width * E).is_multiple_of(LINE)),
        };
        let is_carried = self.write == Write::Carried;
        // SAFETY: the rows' places are listed; buffers have room for the rows of a line, and for a strip of each.
        unsafe {
            let places = std::slice::from_raw_parts(self.places.add(part.row), part.height);
            if are_lines && !is_carried && part.height == LINE / E {
                let mut row = 0;
                while row < LINE / E {
                    let from = (staged.wrapping_add(row * E), bytes);
                    self.whole(lanes, from, places.as_ptr().add(row), dst, (ahead, turn, row));
                    row += N;
                }
                return;
            }
            if L::BYTES < LINE {
                ahead.ask_all(lanes, turn);
            }
            let first = match is_carried {
                true => self.carry.add(part.row * self.pitch()),
                false => (&raw mut (*self.room).rows).cast::<u8>(),
            };
            let buffers = Buffers { first, pitch: self.pitch() };
            if are_lines {
                let mut row = 0;
                while row < part.height {
                    let from = (staged.wrapping_add(row * E), bytes);
                    lines_to_buffers::<L, E, N>(lanes, from, (buffers, row));
                    row += N;
                }
            } else {
                part_to_buffers::<L, E, N>(lanes, staged, (part.width, part.height), buffers);
            }
            for (i, place) in places.iter().enumerate() {
                let (buffer, to) = (buffers.row(i), dst.wrapping_offset(*place));
                if is_carried && !part.is_last {
                    emit(lanes, buffer, to, bytes, part.is_first);
                } else {
                    self.end(lanes, buffer, to, part);
                }
            }
        }
    }

    /// `N` rows of a strip, straight from the registers, line by line. Where registers are less than a line, one is asked for
    /// ahead with each, so that the memory reads and writes at the same time.
    ///
    /// # Safety
    /// So many bytes, whole lines, and a strip of elements that fill a lane, must be writable at each place, which starts a line where streaming.
    #[inline(always)]
    unsafe fn whole<L: Lanes>(
        &self,
        lanes: L,
        (from, len): (*const u8, usize),
        places: *const isize,
        dst: *mut u8,
        (ahead, turn, first): (&mut Ahead, Turn<'_>, usize),
    ) {
        // A constant, as that of a strip.
        let len = if E == LANE { strip(E) } else { len };
        let mut number = first * (len / LINE);
        let mut at = 0;
        while at < len {
            // SAFETY: staged lines, and the caller's promise.
            unsafe {
                let mut line = [[lanes.zero(); N]; LINE / LANE];
                let mut part = 0;
                while part < LINE / L::BYTES {
                    let from = from.wrapping_add((at + part * L::BYTES) / E * LINE);
                    line[part] = load_staged::<L, E, N>(lanes, from);
                    part += 1;
                }
                let mut row = 0;
                while row < N {
                    let to = dst.wrapping_offset(*places.add(row)).wrapping_add(at);
                    let mut part = 0;
                    while part < LINE / L::BYTES {
                        let to = to.wrapping_add(part * L::BYTES);
                        match self.write {
                            Write::Lines => lanes.stream(to, line[part][row]),
                            _ => lanes.store(to, line[part][row]),
                        }
                        part += 1;
                    }
                    if L::BYTES < LINE {
                        ahead.ask(lanes, turn, number);
                    }
                    number += 1;
                    row += 1;
                }
            }
            at += LINE;
        }
    }

    /// The last bytes of a row in this panel, perhaps fewer than a strip, and what it carries.
    ///
    /// # Safety
    /// As [`Blocks::scatter`], for the row whose buffer and place are given.
    #[inline(always)]
    unsafe fn end<L: Lanes>(&self, lanes: L, buffer: *mut u8, to: *mut u8, part: Part) {
        let len = part.width * E;
        let carried = match self.write {
            Write::Carried if !part.is_first => to.addr() % LINE,
            _ => 0,
        };
        let (from, to, len) = (buffer.wrapping_add(LINE - carried), to.wrapping_sub(carried), len + carried);
        // SAFETY: the buffer holds the row's bytes, behind those that it carries.
        unsafe {
            match self.write {
                Write::Store => copy_run(lanes, from, to, len, (0, 0)),
                _ => stream_run(lanes, from, to, len, 0),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::buffer::AlignedBuffer;
    use crate::convert::flush::walk_at_level;

    /// Transposes two chains of two loops each, in strips of so many bytes, and compares the whole.
    fn check<const E: usize, const N: usize>(
        [row, rows]: [usize; 2],
        [column, columns]: [usize; 2],
        (write, long, behind): (Write, usize, usize),
    ) {
        // Rows and columns of a chain are apart on the other side.
        let stride = |bytes: usize| bytes as isize;
        let column_step = rows * row * E + 24;
        let pitch = (columns * column * E).next_multiple_of(LINE) + LINE;
        let row_chain = [
            Loop { extent: row, src_stride: stride(E), dst_stride: stride(pitch) },
            Loop { extent: rows, src_stride: stride(row * E), dst_stride: stride(row * pitch + LINE) },
        ];
        let column_chain = [
            Loop { extent: column, src_stride: stride(column_step), dst_stride: stride(E) },
            Loop {
                extent: columns,
                src_stride: stride(column * column_step + 8),
                dst_stride: stride(column * E),
            },
        ];
        let (first, count) = (3, columns * column - 5);
        let place = |chain: &[Loop; 2], number: usize, of: fn(&Loop) -> isize| {
            let [inner, outer] = chain;
            let steps = [number % inner.extent, number / inner.extent].map(|steps| steps as isize);
            (steps[0] * of(inner) + steps[1] * of(outer)) as usize
        };
        let src: Vec<u8> = (0..columns * (column * column_step + 8))
            .map(|i| (i.wrapping_mul(0x9E37_79B9) >> 11) as u8)
            .collect();
        let mut dst = AlignedBuffer::zeroed(rows * (row * pitch + LINE) + LINE).unwrap();
        let dst = &mut dst[..];
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        for (r, c) in (0..rows * row).flat_map(|r| (0..count).map(move |c| (r, c))) {
            let from =
                place(&row_chain, r, |l| l.src_stride) + place(&column_chain, first + c, |l| l.src_stride);
            let to = behind + place(&row_chain, r, |l| l.dst_stride) + c * E;
            wanted[to..to + E].copy_from_slice(&src[from..from + E]);
        }
        let levels = [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available());
        for level in levels {
            let (mut room, mut places) = (Room::EMPTY, vec![0; 128]);
            let mut carry = AlignedBuffer::zeroed(carry_bytes(places.len())).unwrap();
            let kernel = Blocks::<E, N> {
                rows: &row_chain,
                columns: &column_chain,
                first,
                count,
                write,
                room: &raw mut room,
                places: places.as_mut_ptr(),
                panel: places.len(),
                next: 0,
                carry: carry.as_mut_ptr(),
                long,
            };
            dst.fill(0xA5);
            // SAFETY: all places lie in the two buffers, the room is this kernel's alone; a thread sees what it streamed itself.
            let done =
                unsafe { walk_at_level(level, &[], (src.as_ptr(), dst[behind..].as_mut_ptr()), kernel) };
            assert!(
                done && dst == wanted,
                "{level}: {rows} x {row} rows, {columns} x {column} columns of {E} bytes, {write:?}, {long}, {behind}"
            );
        }
    }

    #[test]
    fn every_row_is_whole_whatever_a_strip_has() {
        let strips = [(1, 0), (2, 0), (4, 0), (2, 16), (4, 48)];
        let strips = strips.map(|(lines, behind)| (Write::Lines, lines * LINE, behind));
        let others = [Write::Store, Write::Carried].map(|write| (write, LINE, 16));
        for strip in strips.into_iter().chain(others) {
            for (rows, columns) in
                [([16, 9], [32, 15]), ([15, 15], [15, 8]), ([5, 40], [64, 3]), ([33, 2], [7, 5])]
            {
                check::<1, 16>(rows, columns, strip);
                check::<2, 8>(rows, columns, strip);
                check::<4, 4>(rows, columns, strip);
                check::<8, 2>(rows, columns, strip);
                check::<16, 1>(rows, columns, strip);
            }
        }
    }
}

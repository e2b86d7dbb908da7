//! The lines that a streamed transpose writes: rows of a strip, as they come out of the registers.

use core::mem::MaybeUninit;

use crate::lanes::{LANE, LINE, Lanes};
use crate::rows::carry::{begin_row, emit};
use crate::transpose::ahead::WithRows;
use crate::transpose::block::{Leave, MOST_TILES, Tiles, load_tile, put_lines};
use crate::transpose::columns::Columns;
use crate::transpose::stream::{Group, StreamTranspose, row_buffer};

/// Does something for every row of so many, at most `N`, written out: of a row that is told at run time the registers become
/// memory, and are stored behind the lines that left.
macro_rules! each_row {
    ($rows:expr, $row:ident => $body:block) => {
        each_row!($rows, $row => $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    ($rows:expr, $row:ident => $body:block, $($at:literal)*) => {
        $(if $at < N && $at < $rows {
            let $row: usize = $at;
            $body
        })*
    };
}

/// The same for every tile.
macro_rules! each_tile {
    ($tiles:expr, $tile:ident => $body:block) => {
        let mut $tile = 0;
        while $tile < MOST_TILES {
            if $tile < $tiles $body
            $tile += 1;
        }
    };
}

impl<const E: usize, const N: usize, C: Columns, W: Leave> StreamTranspose<E, N, C, W> {
    /// How far a row of a group is from its first one.
    #[inline(always)]
    fn row_at(&self, group: &Group<'_>, row: usize) -> isize {
        match C::ARE_OF_WORDS {
            true => group.rows[row],
            false => row as isize * self.plane.rows.dst_stride,
        }
    }

    /// At most `N` rows of a strip, straight from the registers.
    ///
    /// # Safety
    /// As [`StreamTranspose::group`], of whose buffer `turned` is a lane; every row starts a line at `to`.
    #[inline(always)]
    pub(crate) unsafe fn whole_lines<L: Lanes, const WHOLE: bool>(
        &self,
        lanes: L,
        turned: *const u8,
        to: *mut u8,
        group: Group<'_>,
        found: &W::Found,
    ) {
        let to = self.plane.row_place(to, group.row);
        // SAFETY: the strip's columns are a part of every row, at a multiple of a register. The registers of a line go one
        // behind the other, so that it leaves as a whole.
        unsafe {
            if 2 * L::BYTES == LINE {
                let (first, lines) = (turned, self.width() / LINE);
                let tiles = Tiles { first, apart: L::BYTES / E * L::BYTES, lines, leave: self.leave };
                let (step, rows) = (self.plane.rows.dst_stride, 0..if WHOLE { N } else { group.count });
                return put_lines::<L, E, N, true, _, _>(lanes, tiles, (to, step), rows, &mut ());
            }
            if !W::AS_THEY_ARE {
                return self.leaving_rows::<L, false>(lanes, turned, to, (group, false), found);
            }
            let mut at = 0;
            while at < self.source.strip(E) {
                let turned = turned.add(at / E * L::BYTES);
                // With the first line of each row.
                let asks = if at == 0 { group.asks } else { None };
                let group = Group { asks, ..group };
                self.lines_of_tiles::<L, WHOLE>(lanes, turned, to.wrapping_add(at), group);
                at += LINE;
            }
        }
    }

    /// The registers of at most `N` rows of a strip, which are lines.
    ///
    /// # Safety
    /// As [`StreamTranspose::whole_lines`].
    #[inline(always)]
    unsafe fn tiles<L: Lanes>(&self, lanes: L, turned: *const u8) -> [[L::Vector; N]; MOST_TILES] {
        debug_assert!(L::BYTES == LINE && self.source.strip(E) <= MOST_TILES * LINE);
        let mut tiles = [[lanes.zero(); N]; MOST_TILES];
        let mut tile = 0;
        while tile < MOST_TILES {
            if tile * LINE < self.source.strip(E) {
                // SAFETY: the caller's promise.
                tiles[tile] = unsafe { load_tile::<L, E, N>(lanes, turned.add(tile * (LINE / E) * LINE)) };
            }
            tile += 1;
        }
        tiles
    }

    /// The lines of a row of a strip, one or two.
    #[inline(always)]
    fn lines_of_row<L: Lanes>(
        &self,
        lanes: L,
        [a, b, c, d]: [L::Vector; MOST_TILES],
        (found, number): (&W::Found, usize),
    ) -> [L::Vector; 2] {
        let [first, second] = match (W::TILES, self.width()) {
            (1, _) | (_, LINE) => return self.leave.made(lanes, [a, b, c, d], (found, number, 0)),
            (4, _) => [[a, b, c, d], [c, d, c, d]],
            _ => [[a; MOST_TILES], [b; MOST_TILES]],
        };
        let second = self.leave.made(lanes, second, (found, number, LINE / Self::OUT));
        [self.leave.made(lanes, first, (found, number, 0))[0], second[0]]
    }

    /// At most `N` rows of a strip as they leave, joined with what they carry or not.
    ///
    /// # Safety
    /// As [`StreamTranspose::joined_lines`] or [`StreamTranspose::whole_lines`], for rows of which the first one is at `to`.
    #[inline(always)]
    unsafe fn leaving_rows<L: Lanes, const JOINED: bool>(
        &self,
        lanes: L,
        turned: *const u8,
        to: *mut u8,
        (group, is_first): (Group<'_>, bool),
        found: &W::Found,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            if W::IS_LONG {
                return self.long_rows::<L, JOINED>(lanes, turned, to, (group, is_first), found);
            }
            let tiles = self.tiles(lanes, turned);
            each_row!(group.count, row => {
                let registers = [tiles[0][row], tiles[1][row], tiles[2][row], tiles[3][row]];
                self.leaving_row::<L, JOINED>(lanes, registers, (to, row), (group, is_first), found);
            });
        }
    }

    /// The same row by row, from a room that has their registers.
    ///
    /// # Safety
    /// As [`StreamTranspose::leaving_rows`].
    #[inline(always)]
    unsafe fn long_rows<L: Lanes, const JOINED: bool>(
        &self,
        lanes: L,
        turned: *const u8,
        to: *mut u8,
        (group, is_first): (Group<'_>, bool),
        found: &W::Found,
    ) {
        debug_assert!(L::BYTES == LINE && self.source.strip(E) <= MOST_TILES * LINE);
        let mut room = MaybeUninit::<[[L::Vector; N]; MOST_TILES]>::uninit();
        let room = room.as_mut_ptr().cast::<u8>();
        let tiles = self.source.strip(E).div_ceil(LINE);
        let place = |tile: usize, row: usize| room.wrapping_add((tile * N + row) * LINE);
        // SAFETY: the caller's promise; there is room for all registers, and none is read that was not put there.
        unsafe {
            each_tile!(tiles, tile => {
                let rows = load_tile::<L, E, N>(lanes, turned.add(tile * (LINE / E) * LINE));
                each_row!(N, row => { lanes.store(place(tile, row), rows[row]); });
            });
            let mut row = 0;
            while row < N.min(group.count) {
                let mut registers = [lanes.zero(); MOST_TILES];
                each_tile!(tiles, tile => { registers[tile] = lanes.load(place(tile, row)); });
                self.leaving_row::<L, JOINED>(lanes, registers, (to, row), (group, is_first), found);
                row += 1;
            }
        }
    }

    /// A row of them, the first of which is at `to`.
    ///
    /// # Safety
    /// As [`StreamTranspose::leaving_rows`].
    #[inline(always)]
    unsafe fn leaving_row<L: Lanes, const JOINED: bool>(
        &self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        (to, row): (*mut u8, usize),
        (group, is_first): (Group<'_>, bool),
        found: &W::Found,
    ) {
        WithRows::ask(group.asks, lanes, row, C::ARE_OF_WORDS);
        let lines = self.lines_of_row(lanes, registers, (found, group.number + row));
        let to = to.wrapping_offset(self.row_at(&group, row));
        // SAFETY: the caller's promise.
        unsafe {
            if JOINED {
                self.join_row(lanes, lines, (to, row), group, is_first);
            } else {
                lanes.stream(to, lines[0]);
                if self.width() > LINE {
                    lanes.stream(to.wrapping_add(LINE), lines[1]);
                }
            }
        }
    }

    /// A line of each of at most `N` rows, made of any number of registers.
    ///
    /// # Safety
    /// As [`StreamTranspose::whole_lines`], for these columns.
    #[inline(always)]
    unsafe fn lines_of_tiles<L: Lanes, const WHOLE: bool>(
        &self,
        lanes: L,
        turned: *const u8,
        to: *mut u8,
        group: Group<'_>,
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            let mut line = [[lanes.zero(); N]; LINE / LANE];
            let mut part = 0;
            while part < LINE / L::BYTES {
                let before = part * L::BYTES / E * L::BYTES;
                line[part] = load_tile::<L, E, N>(lanes, turned.add(before));
                part += 1;
            }
            // In two loops, as more than eight turns of one that asks are not written out, and registers be stored for it.
            self.stream_rows::<L, WHOLE>(lanes, &line, 0..N / 2, to, group);
            self.stream_rows::<L, WHOLE>(lanes, &line, N / 2..N, to, group);
        }
    }

    /// At most `N` rows of a strip, each line joined from the end of one register and the start of the next.
    ///
    /// # Safety
    /// As [`StreamTranspose::carried_lines`]; a register is a line.
    #[inline(always)]
    pub(crate) unsafe fn joined_lines<L: Lanes, const WHOLE: bool>(
        &self,
        lanes: L,
        turned: *const u8,
        to: *mut u8,
        (group, is_first): (Group<'_>, bool),
        found: &W::Found,
    ) {
        let to = self.plane.row_place(to, group.row);
        // SAFETY: rows of a panel have a line of carry each, of which the end belongs before the strip unless the strip is
        // the first; then what belongs to the row's first line is written by itself. The strip's other lines lie inside the
        // row, and start where lines do.
        unsafe {
            if !W::AS_THEY_ARE {
                return self.leaving_rows::<L, true>(lanes, turned, to, (group, is_first), found);
            }
            let first = load_tile::<L, E, N>(lanes, turned);
            let last = match self.source.strip(E) {
                LINE => first,
                _ => load_tile::<L, E, N>(lanes, turned.add(LINE / E * L::BYTES)),
            };
            each_row!(if WHOLE { N } else { group.count }, row => {
                WithRows::ask(group.asks, lanes, row, C::ARE_OF_WORDS);
                let to = to.wrapping_offset(self.row_at(&group, row));
                self.join_row(lanes, [first[row], last[row]], (to, row), group, is_first);
            });
        }
    }

    /// The lines of a row of a group, one or two, joined with what it carries.
    ///
    /// # Safety
    /// As [`StreamTranspose::joined_lines`], for this row, which is at `to`.
    #[inline(always)]
    unsafe fn join_row<L: Lanes>(
        &self,
        lanes: L,
        [first, last]: [L::Vector; 2],
        (to, row): (*mut u8, usize),
        group: Group<'_>,
        is_first: bool,
    ) {
        let before = to.addr() % LINE;
        let line = to.wrapping_sub(before);
        // SAFETY: the caller's promise.
        unsafe {
            let carry = self.plane.carry.add((group.row - group.first + row) * row_buffer::<L, C>());
            if is_first {
                begin_row(lanes, first, to, carry);
            } else {
                lanes.stream(line, lanes.join(lanes.load(carry), first, LINE - before));
            }
            if self.width() > LINE {
                lanes.stream(line.wrapping_add(LINE), lanes.join(first, last, LINE - before));
                lanes.store(carry, last);
            } else {
                lanes.store(carry, first);
            }
        }
    }

    /// At most `N` rows of a strip, by way of their carries.
    ///
    /// # Safety
    /// As [`StreamTranspose::whole_lines`], with a carry buffer in place of the line starts.
    #[inline(always)]
    pub(crate) unsafe fn carried_lines<L: Lanes, const WHOLE: bool>(
        &self,
        lanes: L,
        turned: *const u8,
        to: *mut u8,
        group: Group<'_>,
        is_first: bool,
    ) {
        debug_assert!(W::AS_THEY_ARE);
        let to = self.plane.row_place(to, group.row);
        // SAFETY: rows of a panel have a buffer each, of a line and a strip; the lines written to the destination lie inside the
        // row but for the part before the first strip, which is not written as a line.
        unsafe {
            let buffer = self.plane.carry.add((group.row - group.first) * C::ROW_BUFFER);
            let mut at = 0;
            while at < self.source.strip(E) {
                let tile = load_tile::<L, E, N>(lanes, turned.add(at / E * L::BYTES));
                let mut i = 0;
                while i < N {
                    if WHOLE || i < group.count {
                        lanes.store(buffer.add(i * C::ROW_BUFFER + LINE + at), tile[i]);
                    }
                    i += 1;
                }
                at += L::BYTES;
            }
            let mut i = 0;
            while i < N {
                if WHOLE || i < group.count {
                    let to = to.wrapping_offset(i as isize * self.plane.rows.dst_stride);
                    emit(lanes, buffer.add(i * C::ROW_BUFFER), to, self.source.strip(E), is_first);
                }
                i += 1;
            }
        }
    }

    /// A line of each of some rows, of which there are as many as a group has unless it is `WHOLE`.
    ///
    /// # Safety
    /// As [`StreamTranspose::whole_lines`], for these rows.
    #[inline(always)]
    unsafe fn stream_rows<L: Lanes, const WHOLE: bool>(
        &self,
        lanes: L,
        line: &[[L::Vector; N]; LINE / LANE],
        rows: core::ops::Range<usize>,
        to: *mut u8,
        group: Group<'_>,
    ) {
        let mut row = rows.start;
        while row < rows.end {
            if WHOLE || row < group.count {
                WithRows::ask(group.asks, lanes, row, C::ARE_OF_WORDS);
                let to = to.wrapping_offset(self.row_at(&group, row));
                let mut part = 0;
                while part < LINE / L::BYTES {
                    // SAFETY: the caller's promise.
                    unsafe { lanes.stream(to.wrapping_add(part * L::BYTES), line[part][row]) };
                    part += 1;
                }
            }
            row += 1;
        }
    }
}

//! The lines of a turn's rows that start anywhere, joined in registers from the end of one and the start of the next, where a
//! register is a line.
//!
//! What a row carries is all that is stored among the lines that leave: they leave in order, and whatever is stored between them
//! takes a place among the few that may wait.

use core::marker::PhantomData;

use super::lines::{Asking, Rows};
use super::{BurstTranspose, Strip};
use crate::lanes::{LINE, Lanes};
use crate::rows::carry::begin_row;
use crate::transpose::ahead::Ahead;
use crate::transpose::block::{Beside, GROUP, Leave, MOST_TILES, load_rows};
use crate::transpose::columns::Turns;

/// Does something with each number of a row of a group: written out, as registers of a row that is told at run time become memory.
macro_rules! each_row {
    ($i:ident: $body:block) => {
        each_row!($i: $body 0 1 2 3);
    };
    ($i:ident: $body:block $($number:literal)*) => {
        $(if $number < N {
            let $i = $number;
            $body
        })*
    };
}

/// `N` rows of a filled block of a strip, tile by tile.
#[derive(Clone, Copy)]
struct Tiles<W> {
    first: *const u8,
    lines: usize,
    leave: W,
}

impl<W: Leave> Tiles<W> {
    /// Registers that make a line.
    const OF_LINE: usize = W::TILES / 2;

    /// A line of some rows, a group of `N`, as it leaves.
    ///
    /// # Safety
    /// The line must be one of the tiles'.
    #[inline(always)]
    unsafe fn line<L: Lanes, const E: usize, const N: usize>(
        self,
        lanes: L,
        line: usize,
        group: usize,
    ) -> [L::Vector; GROUP] {
        let mut made = [[lanes.zero(); GROUP]; MOST_TILES];
        let mut tile = 0;
        while tile < Self::OF_LINE {
            let before = (line * Self::OF_LINE + tile) * (N * L::LANES * L::BYTES);
            // SAFETY: the caller's promise; a register is a line of the block.
            made[tile] = unsafe { load_rows::<L, E, N, GROUP>(lanes, self.first.add(before), group) };
            tile += 1;
        }
        if !W::AS_THEY_ARE {
            let [a, b, c, d] = made;
            each_row!(i: {
                made[0][i] = self.leave.made(lanes, [a[i], b[i], c[i], d[i]], (&W::Found::default(), 0, 0))[0];
            });
        }
        made[0]
    }
}

impl<const E: usize, const N: usize, const PAST: bool, C: Turns, W: Leave> BurstTranspose<E, N, PAST, C, W> {
    /// Streams `N` rows of a strip, and asks for as many lines.
    ///
    /// # Safety
    /// As [`BurstTranspose::carried_lines`]; a register is a line.
    #[inline(always)]
    pub(super) unsafe fn joined_lines<L: Lanes>(
        &self,
        lanes: L,
        block: *const u8,
        strip: Strip,
        rows: Rows,
        (ahead, asked): (Ahead, usize),
    ) {
        let tiles = Tiles {
            first: block.wrapping_add(rows.part * (N * L::BYTES)),
            lines: strip.width / LINE,
            leave: self.leave,
        };
        let number = asked + rows.before * tiles.lines;
        let mut asking = Asking { lanes, source: self.source, ahead, leave: PhantomData::<W>, number };
        // Rows that are left out may be those before the panel.
        let carries = self.plane.carry.wrapping_add(rows.at * LINE).wrapping_sub(strip.first * LINE);
        if rows.skip > 0 || self.plane.even_rows::<N>(rows.at, N) < N {
            let mut row = rows.skip;
            while row < N {
                let to = self.plane.row_place(strip.to, rows.at + row);
                let carry = carries.wrapping_add(row * LINE);
                // SAFETY: the caller's promise, for a row.
                unsafe { joined_row::<L, E, N, W>(lanes, tiles, row, (to, carry), strip.is_first) };
                row += 1;
            }
            return asking.lines((N - rows.skip) * tiles.lines);
        }
        let to = self.plane.row_place(strip.to, rows.at);
        macro_rules! groups {
            ($($group:literal)*) => {
                $(if $group * GROUP < N {
                    let to = to.wrapping_offset($group * GROUP as isize * self.plane.rows.dst_stride);
                    let carries = carries.wrapping_add($group * GROUP * LINE);
                    // SAFETY: the caller's promise, for a group.
                    unsafe { self.joined_rows(lanes, tiles, $group, (to, carries), strip.is_first, &mut asking) };
                })*
            };
        }
        groups!(0 1 2 3);
    }

    /// A group of rows at even distances from `to` on, with carries one behind the other.
    ///
    /// # Safety
    /// As [`BurstTranspose::joined_lines`], for these rows.
    #[inline(always)]
    unsafe fn joined_rows<L: Lanes>(
        &self,
        lanes: L,
        tiles: Tiles<W>,
        group: usize,
        (to, carries): (*mut u8, *mut u8),
        is_first: bool,
        beside: &mut impl Beside,
    ) {
        let step = self.plane.rows.dst_stride;
        let (mut line, mut places) = (0, [(to, 0); GROUP]);
        let mut before = [lanes.zero(); GROUP];
        each_row!(i: {
            let to = to.wrapping_offset(i as isize * step);
            places[i] = (to.wrapping_sub(to.addr() % LINE), LINE - to.addr() % LINE);
        });
        // SAFETY: rows of a panel have a line of carry each, of which the end belongs before the strip unless that is the first; then
        // what belongs to the row's first line is written by itself. All other lines lie inside the row.
        unsafe {
            if is_first {
                before = tiles.line::<L, E, N>(lanes, 0, group);
                each_row!(i: {
                    begin_row(lanes, before[i], to.wrapping_offset(i as isize * step), carries.add(i * LINE));
                });
                beside.lines(GROUP.min(N));
                line = 1;
            } else {
                each_row!(i: {
                    before[i] = lanes.load(carries.add(i * LINE));
                });
            }
            while line < tiles.lines {
                let made = tiles.line::<L, E, N>(lanes, line, group);
                each_row!(i: {
                    let (to, at) = places[i];
                    lanes.stream(to.wrapping_add(line * LINE), lanes.join(before[i], made[i], at));
                });
                before = made;
                beside.lines(GROUP.min(N));
                line += 1;
            }
            each_row!(i: {
                lanes.store(carries.add(i * LINE), before[i]);
            });
        }
    }
}

/// One of `N` rows: what is left of a panel, or of rows that go on elsewhere.
///
/// # Safety
/// As [`BurstTranspose::joined_lines`], for this row, its place and its carry.
#[inline(always)]
unsafe fn joined_row<L: Lanes, const E: usize, const N: usize, W: Leave>(
    lanes: L,
    tiles: Tiles<W>,
    row: usize,
    (to, carry): (*mut u8, *mut u8),
    is_first: bool,
) {
    let over = to.addr() % LINE;
    // SAFETY: as for a group of rows.
    unsafe {
        let mut before = lanes.load(carry);
        let mut line = 0;
        while line < tiles.lines {
            let made = tiles.line::<L, E, N>(lanes, line, row / GROUP)[row % GROUP];
            let to = to.wrapping_add(line * LINE);
            match is_first && line == 0 {
                true => begin_row(lanes, made, to, carry),
                false => lanes.stream(to.wrapping_sub(over), lanes.join(before, made, LINE - over)),
            }
            before = made;
            line += 1;
        }
        lanes.store(carry, before);
    }
}

//! Blocks of a transpose: a register of rows by as many columns.

use core::ops::Range;

use crate::lanes::{LINE, Lanes, Order, put};
use crate::transpose::ahead::{Ahead, Ways};

/// Room for the registers of a block or a strip, with their lanes transposed.
#[repr(align(64))]
#[allow(dead_code)] // reached by its address only
pub(crate) struct Turned([u8; 128 * LINE]);

/// One block.
///
/// # Safety
/// `BYTES` bytes must be readable at each of `BYTES / E` columns, and writable at each of as many rows.
#[inline(always)]
pub(crate) unsafe fn block<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    from: *const u8,
    column_step: isize,
    to: *mut u8,
    row_step: isize,
    next: *mut u8,
) {
    let mut turned = core::mem::MaybeUninit::<Turned>::uninit();
    let turned = turned.as_mut_ptr().cast::<u8>();
    // SAFETY: the caller's promise; the block's registers take `BYTES * BYTES / E` bytes of the buffer, and are written
    // before they are read.
    unsafe {
        Places::even(column_step).turn::<L, N>(lanes, from, L::BYTES, turned, (None, ()));
        let mut lane = 0;
        while lane < L::LANES {
            let tile = load_tile::<L, E, N>(lanes, turned.add(lane * N * L::BYTES));
            let mut row = 0;
            while row < N {
                let at = (lane * N + row) as isize * row_step;
                lanes.store(to.wrapping_offset(at), tile[row]);
                lanes.prefetch_near(next.wrapping_offset(at));
                row += 1;
            }
            lane += 1;
        }
    }
}

/// Where columns lie: so many at even distances, and as many others so far from the first of these.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    pub(crate) step: isize,
    /// A power of two.
    pub(crate) together: usize,
    pub(crate) apart: isize,
    /// True where those together are far from each other, so that lines are asked for of each.
    pub(crate) are_ways: bool,
}

impl Places {
    /// All at even distances.
    #[inline(always)]
    pub(crate) fn even(step: isize) -> Places {
        Places { step, together: 1 << (usize::BITS - 1), apart: 0, are_ways: false }
    }

    /// The columns that lines are asked for of in turn.
    #[inline(always)]
    pub(crate) fn ways(self) -> Ways {
        if self.are_ways { Ways { count: self.together, step: self.step } } else { Ways::ONE }
    }

    /// How far a column is from the first one.
    #[inline(always)]
    pub(crate) fn place(self, column: usize) -> isize {
        let group = (column >> self.together.trailing_zeros()) as isize;
        group * self.apart + (column & (self.together - 1)) as isize * self.step
    }

    /// Reads the first `len` bytes, a register at most, of each of a block's columns from `from` on, with the lanes in an order;
    /// those are `N` rows each. Behind each other in `turned`: the `N` registers of the first lane, those of the second, … In
    /// between it asks for lines ahead, from the turn given on.
    ///
    /// # Safety
    /// So many bytes must be readable at each of `N * LANES` columns, and `N * LANES * BYTES` writable at `turned`.
    #[inline(always)]
    pub(crate) unsafe fn turn<L: Lanes, const N: usize>(
        self,
        lanes: L,
        from: *const u8,
        len: usize,
        turned: *mut u8,
        (ahead, order): (Option<(Ahead, usize)>, impl Order),
    ) {
        // Columns of a register's lanes are a power of two apart, so that distances add up.
        let steps = [self.place(N), self.place(2 * N)];
        let mut i = 0;
        while i < N {
            let (from, to) = (from.wrapping_offset(self.place(i)), turned.wrapping_add(i * L::BYTES));
            if let Some((ahead, first)) = ahead {
                ahead.ask(lanes, first + i);
            }
            // SAFETY: lane `l` of each register comes from column `l * N + i`, so these are exactly the block's columns.
            unsafe {
                match len == L::BYTES {
                    true => lanes.turn(from, steps, (to, N * L::BYTES), order),
                    false => lanes.turn_part(from, steps, len, (to, N * L::BYTES), order),
                }
            }
            i += 1;
        }
    }
}

/// Reads `N` registers and transposes their lanes: one register for each of `N` rows.
///
/// # Safety
/// `N * BYTES` bytes must be readable at `turned`.
#[inline(always)]
pub(crate) unsafe fn load_tile<L: Lanes, const E: usize, const N: usize>(
    lanes: L,
    turned: *const u8,
) -> [L::Vector; N] {
    let mut tile = [lanes.zero(); N];
    let mut i = 0;
    while i < N {
        // SAFETY: the caller's promise.
        tile[i] = unsafe { lanes.load(turned.add(i * L::BYTES)) };
        i += 1;
    }
    network::<L, E, N>(lanes, &mut tile);
    tile
}

/// Most rows that [`load_rows`] makes.
pub(crate) const GROUP: usize = 4;

/// Some of what [`load_tile`] makes: the registers of up to `G` rows, two or four, a group of them. So few are there that those of
/// all tiles of a line stay in 16 registers.
///
/// # Safety
/// As [`load_tile`].
#[inline(always)]
pub(crate) unsafe fn load_rows<L: Lanes, const E: usize, const N: usize, const G: usize>(
    lanes: L,
    turned: *const u8,
    group: usize,
) -> [L::Vector; GROUP] {
    let mut tile = [lanes.zero(); 16];
    // Written out, as in `network`.
    macro_rules! load {
        ($($i:literal)*) => {
            // SAFETY: the caller's promise.
            $(if $i < N { tile[$i] = unsafe { lanes.load(turned.add($i * L::BYTES)) } })*
        };
    }
    load!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
    // Of the steps of `network`, which tell by the bits of a row from the topmost on, those that tell groups apart.
    macro_rules! halve {
        ($half:literal: $($i:literal)*) => {
            if N >= 2 * $half && $half >= G {
                let is_upper = group * G / $half % 2 == 1;
                $(if $i < $half {
                    let (low, high) = lanes.zip::<E>(tile[$i], tile[$i + $half]);
                    tile[$i] = if is_upper { high } else { low };
                })*
            }
        };
    }
    halve!(8: 0 1 2 3 4 5 6 7);
    halve!(4: 0 1 2 3);
    halve!(2: 0 1);
    let mut rows = [tile[0], tile[1], tile[2], tile[3]];
    match N.min(G) {
        1 => {}
        2 => (rows[0], rows[1]) = lanes.zip::<E>(rows[0], rows[1]),
        _ => network::<L, E, GROUP>(lanes, &mut rows),
    }
    rows
}

/// What is done beside lines that are written.
pub(crate) trait Beside {
    /// True where it is done once for the lines of a group of rows.
    const IS_ONCE: bool;

    fn lines(&mut self, count: usize);
}

/// Nothing.
impl Beside for () {
    const IS_ONCE: bool = true;

    #[inline(always)]
    fn lines(&mut self, _count: usize) {}
}

/// What rows become as they leave: what of their registers makes a line.
pub(crate) trait Leave: Copy {
    /// Half lines of tiles that make a line of the destination: 1, 2, 4 or 8.
    const TILES: usize;

    /// True where they leave as they are.
    const AS_THEY_ARE: bool = false;

    /// True where what makes a line is so long that it stands there once for all rows, and not once for each: compilers take far longer
    /// for the latter.
    const IS_LONG: bool = false;

    /// What is found once for some rows of a strip.
    type Found: Default;

    /// What is found for a group of rows of a strip whose first element lies there.
    #[inline(always)]
    fn found(self, _from: *const u8) -> Self::Found {
        Self::Found::default()
    }

    /// Writes a line of as many registers, the first ones of those given: past the cache or not.
    ///
    /// # Safety
    /// A line must be writable at `to`, and start one if it goes `PAST` the cache.
    unsafe fn line<L: Lanes, const PAST: bool>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        to: *mut u8,
    ) {
        debug_assert!(L::BYTES == LINE);
        // SAFETY: the caller's promise.
        unsafe { put(lanes, to, self.made(lanes, registers, (&Self::Found::default(), 0, 0))[0], PAST) };
    }

    /// The lines that registers of a line become, the first ones of those given: one of as many as make a line, the first that is
    /// returned, or two of one register. Of a group for which something was found they are this row's, from this column of the strip
    /// on.
    #[inline(always)]
    fn made<L: Lanes>(
        self,
        _lanes: L,
        registers: [L::Vector; MOST_TILES],
        _place: (&Self::Found, usize, usize),
    ) -> [L::Vector; 2] {
        debug_assert!(Self::AS_THEY_ARE);
        [registers[0]; 2]
    }

    /// True where two rows are better written together. A lane then has some.
    const PAIRS: bool = false;

    /// Writes a line of two rows each.
    ///
    /// # Safety
    /// As [`Leave::line`], for both.
    #[inline(always)]
    unsafe fn pair<L: Lanes, const PAST: bool>(
        self,
        lanes: L,
        registers: [[L::Vector; MOST_TILES]; 2],
        to: [*mut u8; 2],
    ) {
        // SAFETY: the caller's promise.
        unsafe {
            self.line::<L, PAST>(lanes, registers[0], to[0]);
            self.line::<L, PAST>(lanes, registers[1], to[1]);
        }
    }
}

/// Most tiles that make a line of a row.
pub(crate) const MOST_TILES: usize = 4;

/// As they are.
#[derive(Clone, Copy)]
pub(crate) struct AsIs;

impl Leave for AsIs {
    const TILES: usize = 2;

    const AS_THEY_ARE: bool = true;

    type Found = ();

    #[inline(always)]
    unsafe fn line<L: Lanes, const PAST: bool>(
        self,
        lanes: L,
        registers: [L::Vector; MOST_TILES],
        to: *mut u8,
    ) {
        let mut part = 0;
        while part < LINE / L::BYTES {
            // SAFETY: the caller's promise; so many registers are a line.
            unsafe { put(lanes, to.wrapping_add(part * L::BYTES), registers[part], PAST) };
            part += 1;
        }
    }
}

/// Tiles one behind the other, and what becomes of them: so many lines of every row.
#[derive(Clone, Copy)]
pub(crate) struct Tiles<W> {
    pub(crate) first: *const u8,
    /// From tile to tile, in bytes.
    pub(crate) apart: usize,
    pub(crate) lines: usize,
    pub(crate) leave: W,
}

/// Tiles of a level's registers that make a line.
const fn tiles_of<L: Lanes, W: Leave>() -> usize {
    W::TILES * (LINE / 2) / L::BYTES
}

/// Writes some of the `N` rows of tiles, some rows at a time: past the cache or not.
///
/// # Safety
/// As [`load_tile`], for all tiles; the lines must be writable `row * step` bytes behind `to` for each of the rows, and start lines
/// if they go `PAST` the cache.
#[inline(always)]
pub(crate) unsafe fn put_lines<
    L: Lanes,
    const E: usize,
    const N: usize,
    const PAST: bool,
    W: Leave,
    B: Beside,
>(
    lanes: L,
    tiles: Tiles<W>,
    (to, step): (*mut u8, isize),
    rows: Range<usize>,
    beside: &mut B,
) {
    // Written out: of a row that is told at run time the registers become memory.
    macro_rules! groups {
        ($g:literal: $($group:literal)*) => {
            $(if $group * $g < N && rows.start < ($group + 1) * $g && $group * $g < rows.end {
                let count = N.min(rows.end).min(($group + 1) * $g) - rows.start.max($group * $g);
                let is_whole = count == N.min($g);
                let mut line = 0;
                while line < tiles.lines {
                    // SAFETY: the caller's promise.
                    unsafe {
                        let mut made = [[lanes.zero(); GROUP]; MOST_TILES];
                        let mut tile = 0;
                        while tile < tiles_of::<L, W>() {
                            let from = tiles.first.add((line * tiles_of::<L, W>() + tile) * tiles.apart);
                            made[tile] = load_rows::<L, E, N, $g>(lanes, from, $group);
                            tile += 1;
                        }
                        let to = to.wrapping_add(line * LINE);
                        if W::PAIRS && is_whole {
                            groups!(pairs $g, $group, to, made: 0 1, 2 3);
                        } else {
                            groups!(rows $g, $group, is_whole, to, made: 0 1 2 3);
                        }
                        if B::IS_ONCE {
                            beside.lines(count);
                        }
                    }
                    line += 1;
                }
            })*
        };
        (pairs $g:literal, $group:literal, $to:ident, $made:ident: $($row:literal $next:literal),*) => {
            $(if $next < $g && $next < N {
                let registers = [groups!($made: $row), groups!($made: $next)];
                let to = [groups!($to: $group * $g + $row), groups!($to: $group * $g + $next)];
                tiles.leave.pair::<L, PAST>(lanes, registers, to);
                if !B::IS_ONCE {
                    beside.lines(2);
                }
            })*
        };
        (rows $g:literal, $group:literal, $is_whole:ident, $to:ident, $made:ident: $($row:literal)*) => {
            $(if $row < $g && $row < N && ($is_whole || rows.contains(&($group * $g + $row))) {
                tiles.leave.line::<L, PAST>(lanes, groups!($made: $row), groups!($to: $group * $g + $row));
                if !B::IS_ONCE {
                    beside.lines(1);
                }
            })*
        };
        ($made:ident: $row:literal) => {
            [$made[0][$row], $made[1][$row], $made[2][$row], $made[3][$row]]
        };
        ($to:ident: $row:expr) => {
            $to.wrapping_offset(($row) as isize * step)
        };
    }
    match tiles_of::<L, W>() {
        4 => {
            groups!(2: 0 1 2 3 4 5 6 7);
        }
        _ => {
            groups!(4: 0 1 2 3);
        }
    }
}

/// Transposes the `N` x `N` elements of every lane.
///
/// Interleaving the first half of the registers with the second, element by element, and again, log2(N) times, is the
/// transpose: each step moves the topmost bit of the register number to the bottom of the place in the lane.
///
/// ```text
///   a0 a1 a2 a3      a0 c0 a1 c1      a0 b0 c0 d0
///   b0 b1 b2 b3  ->  a2 c2 a3 c3  ->  a1 b1 c1 d1
///   c0 c1 c2 c3      b0 d0 b1 d1      a2 b2 c2 d2
///   d0 d1 d2 d3      b2 d2 b3 d3      a3 b3 c3 d3
/// ```
#[inline(always)]
pub(crate) fn network<L: Lanes, const UNIT: usize, const N: usize>(lanes: L, tile: &mut [L::Vector; N]) {
    let mut step = 1;
    while step < N {
        let from = *tile;
        // Written out: a loop of 8 steps stays one, and the registers become memory.
        macro_rules! zips {
            ($($i:literal)*) => {
                $(if $i < N / 2 {
                    (tile[2 * $i], tile[2 * $i + 1]) = lanes.zip::<UNIT>(from[$i], from[$i + N / 2]);
                })*
            };
        }
        zips!(0 1 2 3 4 5 6 7);
        step *= 2;
    }
}

//! Lines of a strip's columns that are asked for ahead of their use, a few at a time among the loads or the rows that are written.
//!
//! Lines that are loaded, streamed and asked for wait in the same few buffers of the core. Asked for all at once, lines fill
//! these, and what is behind them waits; by turns, both sides of the memory are busy all the time. Where to find a line takes
//! no branch and no step from the one before, for the same reason.

use crate::lanes::{LINE, Lanes};
use crate::nest::Loop;
use crate::tuning::{FEW_LINES, MEETING_STRETCH, PAGE};

/// In which order the lines of a strip's columns are asked for.
#[derive(Clone, Copy)]
pub(crate) struct Ask {
    /// From column to column.
    step: isize,
    /// Columns of a strip.
    width: usize,
    /// Lines of a column that are asked for together, of all columns in turn; `None` where columns lie one behind the
    /// other, and the next strip is asked for in the order of memory.
    stretch: Option<usize>,
    /// Bytes of a column that are left out, having been asked for before.
    beyond: usize,
    /// Columns that lie one behind the other, and are one for stretches and steps.
    together: usize,
    /// True where lines are asked for into the first level.
    to_first_level: bool,
}

/// Lines that are asked for with one register of rows of a strip.
#[derive(Clone, Copy)]
pub(crate) struct Ahead {
    from: *const u8,
    step: isize,
    /// Binary logarithm of the lines of a stretch.
    shift: u32,
    /// Lines before the one that counts as the first.
    first: usize,
    /// As in [`Ask`].
    to_first_level: bool,
}

impl Ask {
    /// For strips of `width` columns, a power of two, of `len` bytes; stretches have at least so many lines.
    #[inline(always)]
    pub(crate) fn new(step: isize, len: usize, width: usize, least: usize) -> Ask {
        let stretch = match follow(step, len) {
            true => None,
            false => Some(if meets(step) { MEETING_STRETCH.max(least) } else { least }),
        };
        Ask { step, width, stretch, beyond: 0, together: 1, to_first_level: false }
    }

    /// The same in stretches of so many lines, a power of two, so many bytes behind those of the next turn.
    #[inline(always)]
    pub(crate) fn of_bursts(step: isize, len: usize, width: usize, lines: usize, beyond: usize) -> Ask {
        let ask = Ask::new(step, len, width, 1);
        Ask { stretch: ask.stretch.map(|_| lines), beyond, ..ask }
    }

    /// The same whatever the columns.
    #[inline(always)]
    pub(crate) fn of_stretches(step: isize, width: usize, stretch: usize, beyond: usize) -> Ask {
        Ask { step, width, stretch: Some(stretch), beyond, together: 1, to_first_level: false }
    }

    /// For strips of which so many columns of `len` bytes lie one behind the other, together a power of two of lines, and others with
    /// the step from the first of these: all of the next strip's, or of the same strip's in the next tiles, in the order of memory.
    #[inline(always)]
    pub(crate) fn of_groups(step: isize, len: usize, width: usize, together: usize) -> Ask {
        Ask { step, width, stretch: Some(together * len / LINE), beyond: 0, together, to_first_level: false }
    }

    /// The same into the first level, or not.
    #[inline(always)]
    pub(crate) fn to_first_level(self, to_first_level: bool) -> Ask {
        Ask { to_first_level, ..self }
    }

    /// What to ask for while the rows from byte `at` of a strip's columns on are moved, of which those of `rows` are walked:
    /// of some columns, in turn, the whole next stretch, so that all have been asked for when the walk gets there. Behind the
    /// last rows follows the next strip.
    #[inline(always)]
    pub(crate) fn ahead(&self, top: *const u8, rows: core::ops::Range<usize>, at: usize) -> Ahead {
        let places = self.width / self.together;
        // What lies together is one column of as many times the bytes.
        let rows = rows.start * self.together..rows.end * self.together;
        let at = at * self.together;
        let strip = top.wrapping_offset(places as isize * self.step).wrapping_add(rows.start);
        // Lines asked for before these.
        let before = (at - rows.start) * places / LINE;
        let Some(stretch) = self.stretch else {
            return Ahead {
                from: strip.wrapping_add(before * LINE),
                step: LINE as isize,
                shift: 0,
                first: 0,
                to_first_level: self.to_first_level,
            };
        };
        let all = stretch * places;
        let next = rows.start + (before / all + 1) * stretch * LINE + self.beyond;
        let from = match next.checked_sub(rows.end) {
            None => top.wrapping_add(next),
            Some(over) => strip.wrapping_add(over.min(self.beyond)),
        };
        let (column, line) = (before % all / stretch, before % stretch);
        let from = from.wrapping_offset(column as isize * self.step).wrapping_add(line * LINE);
        Ahead {
            from,
            step: self.step,
            shift: stretch.trailing_zeros(),
            first: 0,
            to_first_level: self.to_first_level,
        }
    }
}

impl Ahead {
    /// So many lines of each column from a place on, a power of two.
    #[inline(always)]
    pub(crate) fn of_lines(from: *const u8, step: isize, lines: usize) -> Ahead {
        Ahead { from, step, shift: lines.trailing_zeros(), first: 0, to_first_level: false }
    }

    /// The lines behind so many of these.
    #[inline(always)]
    pub(crate) fn behind(self, lines: usize) -> Ahead {
        Ahead { first: self.first + lines, ..self }
    }

    /// The lines so many bytes behind these.
    #[inline(always)]
    pub(crate) fn moved(self, bytes: isize) -> Ahead {
        Ahead { from: self.from.wrapping_offset(bytes), ..self }
    }

    /// Asks for as many lines as a turn of registers reads.
    #[inline(always)]
    pub(crate) fn ask<L: Lanes>(self, lanes: L, turn: usize) {
        let count = L::LANES * L::BYTES / LINE;
        self.ask_lines(lanes, turn * count, count);
    }

    /// Asks for the lines of these numbers.
    #[inline(always)]
    pub(crate) fn ask_lines<L: Lanes>(self, lanes: L, first: usize, count: usize) {
        let mut i = 0;
        while i < count {
            match self.to_first_level {
                true => lanes.prefetch_near(self.place(first + i)),
                false => lanes.prefetch(self.place(first + i)),
            }
            i += 1;
        }
    }

    /// The line of number 0.
    #[inline(always)]
    pub(crate) fn first(self) -> *const u8 {
        self.from
    }

    /// Where the line of this number lies.
    #[inline(always)]
    fn place(self, number: usize) -> *const u8 {
        let number = self.first + number;
        let (column, line) = (number >> self.shift, number & ((1 << self.shift) - 1));
        self.from.wrapping_offset(column as isize * self.step).wrapping_add(line * LINE)
    }
}

/// Lines that are asked for with some rows as they are written, so many with each.
#[derive(Clone, Copy)]
pub(crate) struct WithRows {
    ahead: Ahead,
    count: usize,
    ways: Ways,
}

/// So many columns that take turns at even distances, of each of which the same lines are asked for: elements of words.
#[derive(Clone, Copy)]
pub(crate) struct Ways {
    /// A power of two.
    pub(crate) count: usize,
    pub(crate) step: isize,
}

impl Ways {
    pub(crate) const ONE: Ways = Ways { count: 1, step: 0 };
}

impl WithRows {
    /// For rows that stand so many `behind` those that the first lines are asked for with, if any are.
    #[inline(always)]
    pub(crate) fn new(ahead: Option<Ahead>, (count, ways): (usize, Ways), behind: usize) -> Option<WithRows> {
        match ahead {
            Some(ahead) if count > 0 => Some(WithRows { ahead: ahead.behind(behind * count), count, ways }),
            _ => None,
        }
    }

    /// For the rows so many behind the first.
    #[inline(always)]
    pub(crate) fn behind(asks: Option<WithRows>, rows: usize) -> Option<WithRows> {
        let WithRows { ahead, count, ways } = asks?;
        WithRows::new(Some(ahead), (count, ways), rows)
    }

    /// Asks with the row of this number, of one way unless there may be several.
    #[inline(always)]
    pub(crate) fn ask<L: Lanes>(asks: Option<WithRows>, lanes: L, row: usize, may_be_several: bool) {
        let Some(WithRows { ahead, count, ways }) = asks else { return };
        if !may_be_several {
            return ahead.ask_lines(lanes, row * count, count);
        }
        let mut i = 0;
        while i < count {
            // A line of each way in turn.
            let number = ahead.first + row * count + i;
            let way = (number & (ways.count - 1)) as isize;
            let of_way = Ahead { first: number >> ways.count.trailing_zeros(), ..ahead };
            of_way.moved(way * ways.step).ask_lines(lanes, 0, 1);
            i += 1;
        }
    }
}

/// True where columns of a few lines lie one behind the other: they are one stream.
#[inline(always)]
pub(crate) fn follow(step: isize, len: usize) -> bool {
    len <= FEW_LINES * LINE && Ok(len) == usize::try_from(step)
}

/// True where columns lie within some lines of a multiple of a page apart: such places are in few sets of the caches, and in
/// few banks of the memory.
#[inline(always)]
pub(crate) fn meets(step: isize) -> bool {
    step.wrapping_add(4 * LINE as isize).rem_euclid(PAGE as isize) < 8 * LINE as isize
}

/// The same of places that are not near each other.
#[inline(always)]
pub(crate) fn meets_far(step: isize) -> bool {
    meets(step) && step.unsigned_abs() >= PAGE / 2
}

/// True where columns with these rows are a few lines each, and lie one behind the other, so that they are asked for as one.
pub(crate) fn lie_together(rows: Loop, columns: Loop) -> bool {
    let len = rows.src_stride.unsigned_abs() * rows.extent;
    let all = len * columns.extent;
    Ok(len) == usize::try_from(columns.src_stride)
        && len <= FEW_LINES * LINE
        && all >= LINE
        && all.is_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::Stretches;

    /// All lines that are asked for in a strip of 16 columns, as columns and lines from the strip's first.
    fn asked(step: isize, len: usize) -> Vec<(usize, usize)> {
        let top = std::ptr::null::<u8>().wrapping_add(1 << 20);
        let ask = Ask::new(step, len, 16, Stretches::USUAL.of(len));
        let places = (0..len).step_by(LINE).flat_map(|at| {
            let ahead = ask.ahead(top, 0..len, at);
            (0..16).map(move |number| ahead.place(number).addr() - top.addr())
        });
        let mut lines: Vec<_> =
            places.map(|place| (place / step.unsigned_abs(), place % step.unsigned_abs() / LINE)).collect();
        lines.sort_unstable();
        lines
    }

    #[test]
    fn every_line_is_asked_for_once() {
        for (step, len, stretch) in
            [(14528, 48 * LINE, Stretches::USUAL.of(48 * LINE)), (8192, 128 * LINE, MEETING_STRETCH)]
        {
            let rest = (0..16).flat_map(|column| (stretch..len / LINE).map(move |line| (column, line)));
            let next = (16..32).flat_map(|column| (0..stretch).map(move |line| (column, line)));
            assert_eq!(asked(step, len), rest.chain(next).collect::<Vec<_>>());
        }
        let next = (16..32).flat_map(|column| (0..8).map(move |line| (column, line)));
        assert_eq!(asked(512, 512), next.collect::<Vec<_>>());
    }
}

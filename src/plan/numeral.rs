//! Indices as mixed-radix numerals: the pieces of everyday layouts in closed form.
//!
//! Where every size divides the one that it is cut from, a place is a sum over digits of the index, whose weights divide one
//! another. Two such sides have all their weights in common if those still do, and pieces follow from the digits of how
//! many values there are. Everything else is for `forest` and `cut`.

use std::ops::Range;

use smallvec::SmallVec;

use super::digits::{Digits, Op};
use super::lower::Window;
use super::padding::Slots;
use super::pieces::{Atom, PartRange, PartRanges, Parts, Piece};

/// A digit of an index on one side.
#[derive(Clone, Copy, Debug)]
struct Digit {
    /// Which index, by its position among the roots.
    index: usize,
    /// By how much the index differs where the digit differs by one.
    weight: i64,
    slots: i64,
    stride: i64,
}

/// What a register stands for: digits of an index from a weight on.
#[derive(Clone, Copy)]
struct Segment {
    index: usize,
    weight: i64,
    /// True where nothing more significant was taken off, so that only memory bounds it.
    is_top: bool,
}

/// The digits of a side's indices: those of an index together, most significant first, and none with a single slot.
#[derive(Default)]
pub(crate) struct Places {
    indices: usize,
    digits: SmallVec<[Digit; 12]>,
}

impl Places {
    /// Finds the digits, of which there are none yet. `None` where a size does not divide the one that it is cut from, or where
    /// a `*` merges dimensions.
    pub(crate) fn find(&mut self, side: &Digits) -> Option<()> {
        self.indices = side.roots.len();
        let none = Segment { index: 0, weight: 1, is_top: true };
        let mut parts: SmallVec<[Segment; 16]> = SmallVec::from_elem(none, side.slots.len());
        for (index, &root) in side.roots.iter().enumerate() {
            parts[root].index = index;
        }
        for op in &side.ops {
            let Op::Divide { input, by, quotient, remainder } = *op else { return None };
            let whole = parts[input];
            if !whole.is_top && side.slots[input] % by != 0 {
                return None;
            }
            parts[quotient] = Segment { weight: whole.weight.checked_mul(by)?, ..whole };
            parts[remainder] = Segment { is_top: false, ..whole };
        }
        for term in &side.terms {
            let (Segment { index, weight, .. }, slots) = (parts[term.register], side.slots[term.register]);
            if slots > 1 {
                self.insert(Digit { index, weight, slots, stride: term.stride });
            }
        }
        Some(())
    }

    fn insert(&mut self, digit: Digit) {
        self.digits.push(digit);
        let digits = &mut self.digits[..];
        let mut position = digits.len() - 1;
        while position > 0 {
            let before = digits[position - 1];
            if before.index < digit.index || before.index == digit.index && before.weight > digit.weight {
                break;
            }
            digits.swap(position - 1, position);
            position -= 1;
        }
    }
}

/// Takes the digits of an index from those of it and of the indices behind it.
fn take<'a>(digits: &mut &'a [Digit], index: usize) -> &'a [Digit] {
    let count = digits.iter().take_while(|digit| digit.index == index).count();
    let (taken, others) = digits.split_at(count);
    *digits = others;
    taken
}

/// A digit of an index with its strides on both sides.
#[derive(Clone, Copy, Debug)]
struct Common {
    index: usize,
    weight: i64,
    /// How many of it are one of the digit above; of the first, how many the destination has slots for.
    radix: i64,
    src_stride: i64,
    dst_stride: i64,
}

impl Common {
    /// True where so many steps of `minor` as make one of this digit go as far on both sides.
    fn continues(&self, minor: &Common) -> bool {
        minor.src_stride.checked_mul(minor.radix) == Some(self.src_stride)
            && minor.dst_stride.checked_mul(minor.radix) == Some(self.dst_stride)
    }
}

/// Values of an index: some of one digit, none of the digits before it, and any of those behind it.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    digit: usize,
    count: i64,
    src_offset: i64,
    dst_offset: i64,
}

/// Indices in the digits that both sides have in common, and parts of them.
#[derive(Default)]
pub(crate) struct Numerals {
    /// Of each index at least one, the most significant first.
    digits: SmallVec<[Common; 16]>,
    ends: SmallVec<[usize; 8]>,
    /// The digits as loops are sorted in a box.
    order: SmallVec<[usize; 16]>,
    runs: SmallVec<[Run; 16]>,
}

impl Numerals {
    /// Cuts every dimension at the digits that both sides have in common; `None` where they do not have them, or where a window
    /// starts inside a tile.
    pub(crate) fn common(&mut self, src: &Places, dst: &Places, window: &Window) -> Option<PartRanges> {
        let (mut src, mut dst) = (&src.digits[..], &dst.digits[..]);
        let mut ranges = PartRanges::new();
        for (dimension, &extent) in window.extents.iter().enumerate() {
            let (src, dst) = (take(&mut src, dimension), take(&mut dst, dimension));
            let starts = [place(src, window.src_start[dimension])?, place(dst, window.dst_start[dimension])?];
            self.add(src, dst)?;
            ranges.push(self.elements(dimension, extent, starts)?);
        }
        Some(ranges)
    }

    /// Adds an index. `None` where the weights of one side do not divide those of the other, or where a stride overflows.
    fn add(&mut self, mut src: &[Digit], mut dst: &[Digit]) -> Option<()> {
        let (index, start) = (self.ends.len(), self.digits.len());
        let mut above = dst.first().map_or(1, |top| top.slots * top.weight);
        while let Some(weight) = top_weight(src, dst) {
            if self.digits.len() > start && above % weight != 0 {
                return None;
            }
            let radix = above / weight;
            let (src_stride, dst_stride) = (stride_at(weight, &mut src)?, stride_at(weight, &mut dst)?);
            let mut digit = Common { index, weight, radix, src_stride, dst_stride };
            match &mut self.digits[start..] {
                [.., last] if last.continues(&digit) => {
                    digit.radix *= last.radix;
                    *last = digit;
                }
                _ => self.digits.push(digit),
            }
            above = weight;
        }
        if self.digits.len() == start {
            self.digits.push(Common { index, weight: 1, radix: 1, src_stride: 0, dst_stride: 0 });
        }
        self.ends.push(self.digits.len());
        (start..self.digits.len()).for_each(|digit| self.add_to_order(digit));
        Some(())
    }

    /// Sorts a digit in among those before it.
    fn add_to_order(&mut self, digit: usize) {
        self.order.push(digit);
        let (digits, order) = (&self.digits[..], &mut self.order[..]);
        let mut place = order.len() - 1;
        while place > 0 && digits[order[place - 1]].dst_stride < digits[digit].dst_stride {
            order[place] = order[place - 1];
            place -= 1;
        }
        order[place] = digit;
    }

    /// The numbers of an index's digits.
    fn range(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start..self.ends[index]
    }

    fn add_run(&mut self, digit: usize, count: i64, [src_offset, dst_offset]: [i64; 2]) {
        if count > 0 {
            self.runs.push(Run { digit, count, src_offset, dst_offset });
        }
    }

    /// Adds the first `count` values of an index, whose places start anywhere; `None` where one overflows.
    fn elements(&mut self, index: usize, count: i64, [mut src, mut dst]: [i64; 2]) -> Option<PartRange> {
        let (first, mut rest) = (self.runs.len(), count);
        for digit in self.range(index) {
            let Common { weight, src_stride, dst_stride, .. } = self.digits[digit];
            let full = rest / weight;
            rest -= full * weight;
            self.add_run(digit, full, [src, dst]);
            if rest == 0 {
                break;
            }
            src = src.checked_add(src_stride.checked_mul(full)?)?;
            dst = dst.checked_add(dst_stride.checked_mul(full)?)?;
        }
        Some(first..self.runs.len())
    }

    /// Adds what the destination has slots for behind the first `count` values of an index.
    fn unused(&mut self, index: usize, count: i64) -> PartRange {
        let (first, mut place, mut rest) = (self.runs.len(), 0, count);
        for digit in self.range(index) {
            let Common { weight, radix, dst_stride, .. } = self.digits[digit];
            let full = rest / weight;
            rest -= full * weight;
            let used = full + i64::from(rest > 0);
            self.add_run(digit, radix - used, [place + used * dst_stride; 2]);
            if rest == 0 {
                break;
            }
            place += full * dst_stride;
        }
        first..self.runs.len()
    }

    /// Adds all that the destination has slots for.
    fn everything(&mut self, index: usize) -> PartRange {
        let (first, digit) = (self.runs.len(), self.range(index).start);
        self.add_run(digit, self.digits[digit].radix, [0, 0]);
        first..self.runs.len()
    }
}

impl Parts for Numerals {
    type Part = Run;

    fn parts(&self) -> &[Run] {
        &self.runs
    }

    fn assemble(&self, runs: &[Run], piece: &mut Piece) {
        for run in runs {
            piece.shift(run.src_offset, run.dst_offset);
        }
        let digits = &self.digits[..];
        for &number in &self.order[..] {
            let digit = &digits[number];
            let run = &runs[digit.index];
            if number >= run.digit {
                let extent = if number == run.digit { run.count } else { digit.radix };
                let Common { src_stride, dst_stride, .. } = *digit;
                piece.add_loop(Atom { extent, src_stride, dst_stride });
            }
        }
    }
}

/// The largest weight of two sides' digits.
fn top_weight(src: &[Digit], dst: &[Digit]) -> Option<i64> {
    let top = |digits: &[Digit]| digits.first().map(|digit| digit.weight);
    top(src).max(top(dst))
}

/// The stride at a weight that the first of the digits divides; takes that digit away where it has this weight.
fn stride_at(weight: i64, digits: &mut &[Digit]) -> Option<i64> {
    let Some((first, rest)) = digits.split_first() else { return Some(0) };
    if first.weight == weight {
        *digits = rest;
        return Some(first.stride);
    }
    if weight % first.weight != 0 {
        return None;
    }
    first.stride.checked_mul(weight / first.weight)
}

/// The place of an index that is a multiple of its most significant weight.
fn place(digits: &[Digit], index: i64) -> Option<i64> {
    match digits.first() {
        _ if index == 0 => Some(0),
        Some(top) if index % top.weight == 0 => top.stride.checked_mul(index / top.weight),
        _ => None,
    }
}

/// The slots of one side's indices, of which the first `extents` are taken.
pub(crate) struct NumeralSlots<'a> {
    numerals: Numerals,
    extents: &'a [i64],
}

impl<'a> NumeralSlots<'a> {
    pub(crate) fn new(extents: &'a [i64]) -> NumeralSlots<'a> {
        NumeralSlots { numerals: Numerals::default(), extents }
    }

    /// Adds the indices of a side; `None` where a stride overflows.
    pub(crate) fn add(&mut self, side: &Places) -> Option<()> {
        let mut digits = &side.digits[..];
        for index in 0..side.indices {
            let digits = take(&mut digits, index);
            self.numerals.add(digits, digits)?;
        }
        Some(())
    }

    /// Values of an index; those that are in front of a tile longer than the rank have one.
    fn values(&self, index: usize) -> i64 {
        self.extents.get(index).copied().unwrap_or(1)
    }
}

impl Slots for NumeralSlots<'_> {
    type Parts = Numerals;

    fn parts(&self) -> &Numerals {
        &self.numerals
    }

    fn indices(&self) -> usize {
        self.numerals.ends.len()
    }

    fn unused(&mut self, index: usize) -> Option<PartRange> {
        Some(self.numerals.unused(index, self.values(index)))
    }

    fn elements(&mut self, index: usize) -> Option<PartRange> {
        self.numerals.elements(index, self.values(index), [0, 0])
    }

    fn everything(&mut self, index: usize) -> PartRange {
        self.numerals.everything(index)
    }
}

//! One layout, expanded: which divisions and remainders of the logical index make up a place in memory.

use std::fmt;

use smallvec::SmallVec;

use crate::{ArrayShape, TileDimension};

/// A number of a [`Digits`] program: a logical dimension's index, or what became of it.
pub(crate) type Register = usize;

/// One step of the way from a logical index to its physical digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Op {
    /// `out = major * slots(minor) + minor`: a `*` of a tile.
    Combine { major: Register, minor: Register, out: Register },
    /// `quotient = input div by`, `remainder = input mod by`: an entry of a tile.
    Divide { input: Register, by: i64, quotient: Register, remainder: Register },
}

/// A physical digit: a register and the distance between its neighbours.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Term {
    pub(crate) register: Register,
    /// In the unit of the side: bytes, or slots where slots share bytes.
    pub(crate) stride: i64,
}

/// A layout as a function from a logical index to a place: run the steps, then add up the terms.
///
/// Registers `0..rank` are the logical dimensions; others that no step writes are zero.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Digits {
    pub(crate) rank: usize,
    /// The registers that no step writes: the dimensions, and those of size 1 in front of a tile longer than the rank.
    pub(crate) roots: SmallVec<[Register; 8]>,
    /// Slots of every register: its values lie below.
    pub(crate) slots: SmallVec<[i64; 16]>,
    pub(crate) ops: SmallVec<[Op; 8]>,
    /// The physical digits, most major first.
    pub(crate) terms: SmallVec<[Term; 12]>,
}

/// Expands the layout of a shape that has slots, into room that is empty: digits are too large to hand around.
///
/// `slot` is the width of a slot in the unit of the side, `strides` the distances between elements, or between tiles
/// of the first tile, where the caller gives them. The request has been checked, so sizes cannot overflow and no tile
/// ends in `*`.
pub(crate) fn expand(shape: &ArrayShape, slot: i64, strides: Option<&[i64]>, digits: &mut Digits) {
    let layout = shape.layout();
    digits.rank = shape.rank();
    let padded = layout.padded_dimensions();
    for (dimension, size) in shape.dimensions().iter().enumerate() {
        digits.slots.push(padded.get(dimension).copied().or(size.bound()).unwrap_or(0));
        digits.roots.push(dimension);
    }
    let mut sequence: SmallVec<[Register; 16]> = SmallVec::new();
    for &dimension in layout.minor_to_major().iter().rev() {
        sequence.push(dimension as usize);
    }
    for (number, tile) in layout.tiles().iter().enumerate() {
        let is_last = number + 1 == layout.tiles().len();
        digits.apply_tile(tile.dimensions(), is_last, &mut sequence);
    }
    digits.assign_strides(&sequence, slot);
    if let Some(strides) = strides {
        // Beside strides, no later tile touches the counts of the first.
        let first_tile = layout.tiles().first().map_or(0, |tile| tile.dimensions().len());
        digits.replace_outer_strides(&sequence[..first_tile.max(digits.rank)], strides);
    }
}

impl Digits {
    fn register(&mut self, slots: i64) -> Register {
        self.slots.push(slots);
        self.slots.len() - 1
    }

    /// Applies one tile to the last digits of `sequence`: counts stay in their places, insides follow at the end. A size of 1
    /// divides nothing: where no other tile comes, and none was longer than the rank, its inside need not be told.
    fn apply_tile(&mut self, tile: &[TileDimension], is_last: bool, sequence: &mut SmallVec<[Register; 16]>) {
        let missing = tile.len().saturating_sub(sequence.len());
        if missing > 0 {
            let first = self.slots.len();
            self.slots.extend(std::iter::repeat_n(1, missing));
            self.roots.extend(first..first + missing);
            sequence.insert_many(0, first..first + missing);
        }
        let (first, end) = (sequence.len() - tile.len(), sequence.len());
        let (mut counts, mut pending) = (first, None);
        for (position, entry) in (first..end).zip(tile) {
            let digit = match pending.take() {
                Some(major) => self.combine(major, sequence[position]),
                None => sequence[position],
            };
            match *entry {
                TileDimension::Combine => pending = Some(digit),
                TileDimension::Size(1) if is_last && missing == 0 => {
                    sequence[counts] = digit;
                    counts += 1;
                }
                TileDimension::Size(by) => {
                    let quotient = self.register(self.slots[digit].unsigned_div_ceil(by));
                    let remainder = self.register(by);
                    self.ops.push(Op::Divide { input: digit, by, quotient, remainder });
                    sequence[counts] = quotient;
                    counts += 1;
                    sequence.push(remainder);
                }
            }
        }
        sequence.drain(counts..end);
    }

    fn combine(&mut self, major: Register, minor: Register) -> Register {
        let out = self.register(self.slots[major] * self.slots[minor]);
        self.ops.push(Op::Combine { major, minor, out });
        out
    }

    /// Row-major strides over the final digits.
    fn assign_strides(&mut self, sequence: &[Register], slot: i64) {
        let mut stride = slot;
        for &register in sequence.iter().rev() {
            self.terms.push(Term { register, stride });
            stride *= self.slots[register];
        }
        self.terms.reverse();
    }

    /// Gives the digits of whole dimensions, or of tile counts, the strides of their logical dimensions.
    fn replace_outer_strides(&mut self, outer: &[Register], strides: &[i64]) {
        for &register in outer {
            let dimension = self.dimension_of(register);
            let term = self.terms.iter_mut().find(|term| term.register == register);
            if let Some(term) = term {
                term.stride = dimension.map_or(0, |dimension| strides[dimension]);
            }
        }
    }

    /// The logical dimension that a register counts, or counts tiles of.
    fn dimension_of(&self, register: Register) -> Option<usize> {
        let divided = self.ops.iter().find_map(|op| match *op {
            Op::Divide { input, quotient, .. } if quotient == register => Some(input),
            _ => None,
        });
        let root = divided.unwrap_or(register);
        (root < self.rank).then_some(root)
    }

    /// The place of a logical index, `registers` being room for the intermediate numbers.
    pub(crate) fn place(&self, index: impl IntoIterator<Item = i64>, registers: &mut Vec<i64>) -> i64 {
        registers.clear();
        registers.extend(index);
        registers.resize(self.slots.len(), 0);
        for op in &self.ops {
            match *op {
                Op::Combine { major, minor, out } => {
                    registers[out] = registers[major] * self.slots[minor] + registers[minor];
                }
                Op::Divide { input, by, quotient, remainder } => {
                    registers[quotient] = registers[input] / by;
                    registers[remainder] = registers[input] % by;
                }
            }
        }
        self.terms.iter().map(|term| registers[term.register] * term.stride).sum()
    }
}

/// Division with rounding up, of sizes that are known to be positive.
trait UnsignedDivCeil {
    fn unsigned_div_ceil(self, by: i64) -> i64;
}

impl UnsignedDivCeil for i64 {
    fn unsigned_div_ceil(self, by: i64) -> i64 {
        self / by + i64::from(self % by != 0)
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for op in &self.ops {
            match *op {
                Op::Combine { major, minor, out } => {
                    write!(f, "r{out} = r{major} * {} + r{minor}; ", self.slots[minor])?;
                }
                Op::Divide { input, by, quotient, remainder } => {
                    write!(f, "r{quotient} = r{input} / {by}, r{remainder} = r{input} % {by}; ")?;
                }
            }
        }
        f.write_str("place =")?;
        if self.terms.is_empty() {
            f.write_str(" 0")?;
        }
        for (position, term) in self.terms.iter().enumerate() {
            let plus = if position == 0 { "" } else { " +" };
            write!(f, "{plus} r{}*{}", term.register, term.stride)?;
        }
        Ok(())
    }
}

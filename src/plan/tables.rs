//! The way for pairs that no short list of boxes describes: places computed from the digits, block by block.

use smallvec::SmallVec;

use super::digits::{Digits, Op};
use super::lower::Window;

/// Indices evaluated at once: two tables of two sides are then 128 KiB, whatever the size of the data.
pub(crate) const BLOCK: i64 = 4096;

/// One logical dimension's part of the window.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Range {
    pub(crate) dimension: usize,
    pub(crate) extent: i64,
    pub(crate) src_start: i64,
    pub(crate) dst_start: i64,
}

/// Both sides' digits, and the logical dimensions in two sets. No step of either side combines dimensions of different
/// sets, so a place is the sum of a place of the one and a place of the other.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Tables {
    pub(crate) src: Digits,
    pub(crate) dst: Digits,
    pub(crate) outer: SmallVec<[Range; 4]>,
    pub(crate) inner: SmallVec<[Range; 4]>,
}

impl Tables {
    pub(crate) fn new(src: Digits, dst: Digits, window: &Window) -> Tables {
        let mut tables = Tables { outer: SmallVec::new(), inner: SmallVec::new(), src, dst };
        let (mut inner_points, mut outer_points) = (1i64, 1i64);
        let mut sets = connected(&tables.src, &tables.dst);
        // Largest first into the smaller table keeps the two about equal, which is the least work.
        let points = |set: &[usize]| set.iter().map(|&d| window.extents[d]).product::<i64>();
        sets.sort_by_key(|set| std::cmp::Reverse(points(set)));
        for set in sets {
            let (table, total) = match inner_points <= outer_points {
                true => (&mut tables.inner, &mut inner_points),
                false => (&mut tables.outer, &mut outer_points),
            };
            *total *= points(&set);
            table.extend(set.iter().map(|&dimension| Range {
                dimension,
                extent: window.extents[dimension],
                src_start: window.src_start[dimension],
                dst_start: window.dst_start[dimension],
            }));
        }
        if fastest(&tables.dst, &tables.outer) < fastest(&tables.dst, &tables.inner) {
            std::mem::swap(&mut tables.outer, &mut tables.inner);
        }
        tables
    }

    /// Fills both tables with the places of `count` points of a set of dimensions from point `first`, the last
    /// dimension of the set fastest; all other dimensions count as zero. `scaled` is the dimension that has factors.
    pub(crate) fn evaluate(
        &self,
        set: &[Range],
        first: i64,
        count: i64,
        scaled: Option<usize>,
        room: &mut Room,
    ) {
        room.clear();
        for point in first..first + count {
            room.index.clear();
            room.index.resize(self.src.rank, 0);
            let mut rest = point;
            for range in set.iter().rev() {
                room.index[range.dimension] = rest % range.extent;
                rest /= range.extent;
            }
            room.rows.extend(scaled.map(|dimension| room.index[dimension]));
            let place =
                |digits: &Digits, start: fn(&Range) -> i64, index: &mut [i64], numbers: &mut Vec<i64>| {
                    set.iter().for_each(|range| index[range.dimension] += start(range));
                    let place = digits.place(index.iter().copied(), numbers);
                    set.iter().for_each(|range| index[range.dimension] -= start(range));
                    place
                };
            room.src.push(place(&self.src, |range| range.src_start, &mut room.index, &mut room.numbers));
            room.dst.push(place(&self.dst, |range| range.dst_start, &mut room.index, &mut room.numbers));
        }
    }
}

/// Points of a set of dimensions.
pub(crate) fn points(set: &[Range]) -> i64 {
    set.iter().map(|range| range.extent).product()
}

/// Room for one block of places of both sides.
#[derive(Default, Debug)]
pub(crate) struct Room {
    pub(crate) src: Vec<i64>,
    pub(crate) dst: Vec<i64>,
    /// The steps of the dimension that has factors, counted from the start of the window.
    pub(crate) rows: Vec<i64>,
    index: Vec<i64>,
    numbers: Vec<i64>,
}

impl Room {
    pub(crate) fn clear(&mut self) {
        self.src.clear();
        self.dst.clear();
        self.rows.clear();
    }

    /// Adds a point of another block.
    pub(crate) fn push(&mut self, from: &Room, point: usize) {
        self.src.push(from.src[point]);
        self.dst.push(from.dst[point]);
        self.rows.extend(from.rows.get(point));
    }
}

/// The smallest stride of the terms that depend on a set of dimensions.
fn fastest(digits: &Digits, set: &[Range]) -> i64 {
    let roots = origins(digits);
    let depends =
        |register: usize| set.iter().any(|range| roots[register] & (1 << range.dimension.min(127)) != 0);
    let strides = digits.terms.iter().filter(|term| depends(term.register)).map(|term| term.stride.abs());
    strides.min().unwrap_or(i64::MAX)
}

/// For every register the set of logical dimensions that it depends on, as bits; ranks beyond 128 share the last bit.
fn origins(digits: &Digits) -> Vec<u128> {
    let mut roots = vec![0u128; digits.slots.len()];
    for (dimension, root) in roots.iter_mut().enumerate().take(digits.rank) {
        *root = 1 << dimension.min(127);
    }
    for op in &digits.ops {
        match *op {
            Op::Combine { major, minor, out } => roots[out] = roots[major] | roots[minor],
            Op::Divide { input, quotient, remainder, .. } => {
                roots[quotient] = roots[input];
                roots[remainder] = roots[input];
            }
        }
    }
    roots
}

/// The logical dimensions in sets that no step of either side connects.
fn connected(src: &Digits, dst: &Digits) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = (0..src.rank).map(|dimension| vec![dimension]).collect();
    for digits in [src, dst] {
        let roots = origins(digits);
        for op in &digits.ops {
            let Op::Combine { out, .. } = *op else { continue };
            let touches = |set: &Vec<usize>| set.iter().any(|&d| roots[out] & (1 << d.min(127)) != 0);
            let (together, apart): (Vec<_>, Vec<_>) = sets.into_iter().partition(touches);
            sets = apart;
            if !together.is_empty() {
                sets.push(together.concat());
            }
        }
    }
    sets
}

//! How a nest is cut into tiles, and how the passes of a tile go.
//!
//! A *tile* takes a chunk of every loop, so that what it reads and what it writes are both long runs, and stays in the
//! first-level cache between its passes.

use super::forms::BLOCK;
use super::rows::Place;
use crate::lanes::LINE;
use crate::loops::{Loops, MAX_LOOPS, next_tile};
use crate::nest::Loop;
use crate::tuning::{CONVERT_NEAR, CONVERT_REACHES, REACHES_OF_BOTH, TILE_IN_STEPS};

/// Steps of a loop that a tile takes where nothing is contiguous.
const LOOSE: usize = 64;

/// One pass over a tile by rows: elements that are contiguous on both sides, and the loops over the rows.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pass {
    pub(super) run: usize,
    pub(super) rows: Loops,
}

impl Pass {
    /// Takes the loops that go on from one another with an element's width, off the others.
    pub(super) fn new(loops: &[Loop], units: [isize; 2]) -> Pass {
        let mut pass = Pass { run: 1, rows: Loops::of(loops) };
        pass.lengthen(units);
        pass
    }

    /// The same for a pass whose run is single elements.
    pub(super) fn lengthen(&mut self, [src_unit, dst_unit]: [isize; 2]) {
        let Pass { run, rows } = self;
        let continues = |run: usize| {
            move |l: &Loop| l.src_stride == src_unit * run as isize && l.dst_stride == dst_unit * run as isize
        };
        while let Some(l) = rows.take(continues(*run)) {
            *run *= l.extent;
        }
    }
}

/// How a nest is cut, and how elements lie between the passes: in the order of the source, and of the destination.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Steps of each loop that a tile takes.
    pub(super) chunks: [usize; MAX_LOOPS],
    /// Strides in elements, where what is contiguous in the source stays so.
    pub(super) src_order: [isize; MAX_LOOPS],
    /// The same for the destination.
    pub(super) dst_order: [isize; MAX_LOOPS],
    /// Elements of a run of the source, and of the destination.
    pub(super) runs: [usize; 2],
    /// Elements that a buffer must have room for.
    pub(super) room: usize,
}

/// The loops that continue one another on a side, from the fastest on, as far as a tile goes.
#[derive(Clone, Copy, Debug, Default)]
struct Chain {
    members: [usize; MAX_LOOPS],
    len: usize,
    /// Steps of each member.
    steps: [usize; MAX_LOOPS],
}

impl Chain {
    /// Of at least so many elements, and a multiple of `whole`, a power of two, as far as loops go on; shared out evenly where fewer than
    /// `least` would be left.
    fn new(
        loops: &[Loop],
        (stride, unit): (fn(&Loop) -> isize, isize),
        wanted: usize,
        (whole, least): (usize, usize),
    ) -> Chain {
        let mut chain = Chain::default();
        let mut elements: usize = 1;
        while elements < wanted || !elements.is_multiple_of(whole) {
            let next = |l: &Loop| stride(l) == unit * elements as isize && l.extent > 1;
            let Some(position) = loops.iter().position(next) else { break };
            let extent = loops[position].extent;
            chain.members[chain.len] = position;
            let to_whole = whole >> elements.trailing_zeros().min(whole.trailing_zeros());
            let most = extent.min(wanted.div_ceil(elements).next_multiple_of(to_whole));
            let steps =
                if elements * (extent % most) < least { extent.div_ceil(extent / most) } else { most };
            chain.steps[chain.len] = steps;
            chain.len += 1;
            elements *= steps;
            if steps < extent {
                break;
            }
        }
        chain
    }

    fn members(&self) -> &[usize] {
        &self.members[..self.len]
    }
}

impl Cut {
    /// The longest runs on both sides whose tile is small enough, those of the destination of whole lines where that is possible: of
    /// others, the first line and the last one would each be written twice. In the cache that is better than a tile of few elements.
    pub(super) fn new(loops: &[Loop], units: [isize; 2], bits: [usize; 2], stream: bool) -> Cut {
        let bytes = bits.into_iter().min().unwrap_or(8).div_ceil(8);
        let line = 8 * LINE / bits[1];
        let elements =
            |(src, dst, most): (usize, usize, usize)| ([8 * src / bits[0], 8 * dst / bits[1]], most);
        let fits = |cut: &Cut, most: usize| cut.elements() * bytes <= most;
        if line.is_power_of_two() {
            let (of_both, others) = CONVERT_REACHES.split_at(REACHES_OF_BOTH);
            // To whole lines a tile without a bound might go far, and what it spans is more than what it holds.
            let far = |reaches: &'static [_]| {
                let reaches = reaches.iter().copied().filter(|&(_, _, most)| most < usize::MAX).map(elements);
                reaches.map(|(runs, most)| (runs, most, true, 0))
            };
            let near = CONVERT_NEAR.iter().filter(|_| !stream);
            // Packed slots of another tile would start inside a byte.
            let least = if bits.iter().all(|&bits| bits >= 8) { BLOCK / 2 } else { 0 };
            let near = near.map(|&(runs, may_cut)| (runs, TILE_IN_STEPS, may_cut, least));
            for (runs, most, may_cut, least) in far(of_both).chain(near).chain(far(others)) {
                let cut = Cut::with_runs(loops, units, runs, (line, least));
                let is_near = fits(&cut, most) && cut.room * bytes <= TILE_IN_STEPS;
                if is_near && (may_cut || cut.has_whole_rows(loops, units)) {
                    return cut;
                }
            }
        }
        let mut cut = Cut::with_runs(loops, units, [1, 1], (1, 0));
        for (runs, most) in CONVERT_REACHES.into_iter().map(elements) {
            cut = Cut::with_runs(loops, units, runs, (1, 0));
            if fits(&cut, most) {
                break;
            }
        }
        cut
    }

    /// True where the loop over elements that are contiguous in the source is not cut.
    fn has_whole_rows(&self, loops: &[Loop], units: [isize; 2]) -> bool {
        loops.iter().zip(self.chunks).all(|(l, chunk)| l.src_stride != units[0] || chunk == l.extent)
    }

    /// Runs of at least so many elements in the source and in the destination, there a multiple of `whole`, as far as loops go on;
    /// shared out evenly where fewer than `least` would be left.
    pub(super) fn with_runs(
        loops: &[Loop],
        units: [isize; 2],
        wanted: [usize; 2],
        (whole, least): (usize, usize),
    ) -> Cut {
        let chains = [
            Chain::new(loops, (|l| l.src_stride, units[0]), wanted[0], (1, least)),
            Chain::new(loops, (|l| l.dst_stride, units[1]), wanted[1], (whole, least)),
        ];
        let mut chunks = [1; MAX_LOOPS];
        for chain in &chains {
            for (&member, &steps) in chain.members().iter().zip(&chain.steps) {
                chunks[member] = chunks[member].max(steps);
            }
        }
        // A side without runs has its fastest steps together all the same.
        for (chain, stride) in chains.iter().zip([|l: &Loop| l.src_stride, |l: &Loop| l.dst_stride]) {
            let fastest = (0..loops.len()).min_by_key(|&i| stride(&loops[i]).unsigned_abs());
            if let (Some(fastest), []) = (fastest, chain.members()) {
                chunks[fastest] = chunks[fastest].max(loops[fastest].extent.min(LOOSE));
            }
        }
        let by_src = |l: &Loop| l.src_stride.unsigned_abs();
        let by_dst = |l: &Loop| l.dst_stride.unsigned_abs();
        let (src_order, src_room) = order(loops, &chunks, &chains[0], by_src);
        let (dst_order, dst_room) = order(loops, &chunks, &chains[1], by_dst);
        let runs = chains.map(|chain| chain.members().iter().map(|&i| chunks[i]).product());
        Cut { chunks, src_order, dst_order, runs, room: src_room.max(dst_room) }
    }

    fn elements(&self) -> usize {
        self.chunks.iter().product()
    }
}

/// Strides of a tile's elements, those of a chain without gaps, and the elements that they span.
fn order(
    loops: &[Loop],
    chunks: &[usize; MAX_LOOPS],
    chain: &Chain,
    speed: impl Fn(&Loop) -> usize,
) -> ([isize; MAX_LOOPS], usize) {
    let mut strides = [0; MAX_LOOPS];
    let mut span = 1;
    for &member in chain.members() {
        strides[member] = span as isize;
        span *= chunks[member];
    }
    if span < loops.iter().enumerate().map(|(i, _)| chunks[i]).product() {
        // Rows start lines, whatever the width of an element.
        span = span.next_multiple_of(LINE);
    }
    let mut others: [usize; MAX_LOOPS] = core::array::from_fn(|i| i);
    let others = &mut others[..loops.len()];
    others.sort_unstable_by_key(|&i| speed(&loops[i]));
    for &i in others.iter().filter(|i| !chain.members().contains(i) && chunks[**i] > 1) {
        strides[i] = span as isize;
        span *= chunks[i];
    }
    (strides, span)
}

/// Calls `visit` with the extents of every tile, along the source, where it starts on both sides, and where the next one starts in the
/// source, if there is one.
pub(super) fn each_tile(
    loops: &[Loop],
    cut: &Cut,
    [src, dst]: [Place; 2],
    mut visit: impl FnMut(&[usize; MAX_LOOPS], [Place; 2], Option<Place>),
) {
    let mut order: [usize; MAX_LOOPS] = core::array::from_fn(|i| i);
    let order = &mut order[..loops.len()];
    order.sort_by_key(|&i| std::cmp::Reverse(loops[i].src_stride.unsigned_abs()));
    let mut origin = [0; MAX_LOOPS];
    let places = |origin: &[usize; MAX_LOOPS]| {
        let at = |place: Place, stride: fn(&Loop) -> isize| {
            let steps = loops.iter().zip(origin).map(|(l, &o)| o as isize * stride(l));
            place.at(steps.sum())
        };
        [at(src, |l| l.src_stride), at(dst, |l| l.dst_stride)]
    };
    let mut both = places(&origin);
    loop {
        let mut extents = [1; MAX_LOOPS];
        for (i, l) in loops.iter().enumerate() {
            extents[i] = cut.chunks[i].min(l.extent - origin[i]);
        }
        let next = next_tile(loops, &cut.chunks, order, &mut origin).then(|| places(&origin));
        visit(&extents, both, next.map(|[src, _]| src));
        let Some(next) = next else { return };
        both = next;
    }
}

/// The loops of a tile of these extents, with these strides for each.
pub(super) fn part(
    loops: &[Loop],
    extents: &[usize; MAX_LOOPS],
    strides: impl Fn(usize) -> [isize; 2],
) -> Loops {
    let mut part = Loops::default();
    for i in (0..loops.len()).filter(|&i| extents[i] > 1) {
        let [src_stride, dst_stride] = strides(i);
        part.push(Loop { extent: extents[i], src_stride, dst_stride });
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps of the rows and the columns that a tile takes in the cache, of `f32` that become `bf16`.
    fn near(rows: usize, columns: usize) -> [usize; 2] {
        let loops = [
            Loop { extent: rows, src_stride: 4, dst_stride: 2 * columns as isize },
            Loop { extent: columns, src_stride: 4 * rows as isize, dst_stride: 2 },
        ];
        let cut = Cut::new(&loops, [4, 2], [32, 16], false);
        [cut.chunks[0], cut.chunks[1]]
    }

    #[test]
    fn rows_in_the_cache_are_whole_or_shared_out() {
        assert_eq!(near(900, 1056), [900, 64]);
        assert_eq!(near(2048, 640), [512, 64]);
        // Of 1030 rows 6 would be left, of 70 columns as many.
        assert_eq!(near(1030, 640), [515, 64]);
        assert_eq!(near(900, 70), [900, 70]);
    }
}

//! Loops that continue one another on one side, taken as one: the many small dimensions of a nest in two sets.
//!
//! *Rows* are a chain of loops that is contiguous in the source, *columns* a chain that is contiguous in the destination.
//! Within a chain the places of the other side have no common stride; they come from a small table.

use core::ops::Range;

use crate::lanes::{LANE, LINE};
use crate::nest::Loop;

/// Loops that a nest in sets may have; deeper ones are walked element by element.
pub(crate) const MAX_LOOPS: usize = 32;

/// Destination bytes of a row before anything else is asked for: two lines.
const LEAST_ROW: usize = 128;

/// Source bytes of a column before the rows are made longer: a stream of some lines.
const LEAST_COLUMN: usize = 512;

/// The same where rows are to be as long as possible.
const SHORT_COLUMN: usize = 256;

/// Destination bytes of a row before the columns get what is left: first and last lines are then few.
const LONG_ROW: usize = 1024;

/// A nest in sets of loops; the chains have their innermost loop first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sets {
    loops: [Loop; MAX_LOOPS],
    /// Ends of the outer loops, of the rows and of the columns in `loops`.
    ends: [usize; 3],
}

impl Sets {
    /// Finds both chains; `None` where the nest has too many loops.
    pub(crate) fn new(loops: &[Loop], element: usize) -> Option<Sets> {
        Sets::with_rows_of(LONG_ROW, LEAST_COLUMN, loops, element)
    }

    /// The same with rows of the destination as long as they can be, which have so few first and last lines.
    pub(crate) fn of_longest_rows(loops: &[Loop], element: usize) -> Option<Sets> {
        Sets::with_rows_of(usize::MAX, SHORT_COLUMN, loops, element)
    }

    /// Chains that are known, and the loops outside of them, [`MAX_LOOPS`] in all at most.
    pub(crate) fn of_chains(outer: &[Loop], rows: &[Loop], columns: &[Loop]) -> Sets {
        let mut sets = Sets { loops: [Loop::default(); MAX_LOOPS], ends: [0; 3] };
        let mut end = 0;
        for (chain, of_chain) in [outer, rows, columns].into_iter().zip(&mut sets.ends) {
            sets.loops[end..end + chain.len()].copy_from_slice(chain);
            end += chain.len();
            *of_chain = end;
        }
        sets
    }

    /// Chains of which that of the rows spans so many bytes before that of the columns does, and that before the rows get what is left.
    fn with_rows_of(long: usize, column: usize, loops: &[Loop], element: usize) -> Option<Sets> {
        let mut free = Free { loops: [Loop::default(); MAX_LOOPS], count: 0 };
        for l in loops.iter().filter(|l| l.extent > 1) {
            *free.loops.get_mut(free.count)? = *l;
            free.count += 1;
        }
        let mut rows = Chain::new(element, |l| l.src_stride);
        let mut columns = Chain::new(element, |l| l.dst_stride);
        // A loop each, lanes, lines: neither takes all before the other has what it cannot do without.
        rows.grow(&mut free, element + 1);
        columns.grow(&mut free, LANE);
        rows.grow(&mut free, LANE);
        columns.grow(&mut free, LINE);
        rows.grow(&mut free, LINE);
        columns.grow(&mut free, LEAST_ROW);
        rows.grow(&mut free, column);
        columns.grow(&mut free, long);
        rows.grow(&mut free, usize::MAX);
        columns.grow(&mut free, usize::MAX);
        let mut sets = Sets { loops: free.loops, ends: [free.count; 3] };
        for (chain, end) in [(&rows, 1), (&columns, 2)] {
            let start = sets.ends[end - 1];
            sets.ends[end] = start + chain.count;
            sets.loops[start..sets.ends[end]].copy_from_slice(&chain.loops[..chain.count]);
        }
        Some(sets)
    }

    /// With the numbers of all columns.
    pub(crate) fn whole(&self) -> (&Sets, Range<usize>) {
        (self, 0..steps(self.columns()))
    }

    /// The loops outside of both chains, in the order of the nest.
    pub(crate) fn outer(&self) -> &[Loop] {
        &self.loops[..self.ends[0]]
    }

    /// The chain that is contiguous in the source.
    pub(crate) fn rows(&self) -> &[Loop] {
        &self.loops[self.ends[0]..self.ends[1]]
    }

    /// The chain that is contiguous in the destination.
    pub(crate) fn columns(&self) -> &[Loop] {
        &self.loops[self.ends[1]..self.ends[2]]
    }
}

/// Steps of all loops of a chain.
#[inline(always)]
pub(crate) fn steps(chain: &[Loop]) -> usize {
    chain.iter().map(|l| l.extent).product()
}

/// Loops that belong to no chain yet, in the order of the nest.
struct Free {
    loops: [Loop; MAX_LOOPS],
    count: usize,
}

impl Free {
    fn take(&mut self, position: usize) -> Loop {
        let taken = self.loops[position];
        self.loops.copy_within(position + 1..self.count, position);
        self.count -= 1;
        taken
    }
}

struct Chain {
    loops: [Loop; MAX_LOOPS],
    count: usize,
    /// Bytes that the chain spans on its side.
    span: usize,
    stride: fn(&Loop) -> isize,
}

impl Chain {
    fn new(element: usize, stride: fn(&Loop) -> isize) -> Chain {
        Chain { loops: [Loop::default(); MAX_LOOPS], count: 0, span: element, stride }
    }

    /// Takes free loops that continue the chain until it spans `wanted` bytes.
    fn grow(&mut self, free: &mut Free, wanted: usize) {
        while self.span < wanted {
            let continues = |l: &Loop| Ok(self.span) == usize::try_from((self.stride)(l));
            let Some(position) = free.loops[..free.count].iter().position(continues) else { return };
            self.loops[self.count] = free.take(position);
            self.span *= self.loops[self.count].extent; // cannot overflow: the chain lies inside a slice
            self.count += 1;
        }
    }
}

/// Writes the places of `places.len()` steps of a chain, from step `first` on: those of the source, or of the destination.
#[inline(always)]
pub(crate) fn list_places<const SOURCE: bool>(chain: &[Loop], first: usize, places: &mut [isize]) {
    let stride = |l: &Loop| if SOURCE { l.src_stride } else { l.dst_stride };
    let mut counters = [0; MAX_LOOPS];
    let (mut rest, mut place) = (first, 0);
    let loops = chain.len().min(MAX_LOOPS);
    let mut number = 0;
    while number < loops {
        let l = &chain[number];
        counters[number] = rest % l.extent;
        rest /= l.extent;
        place += counters[number] as isize * stride(l);
        number += 1;
    }
    for listed in places {
        *listed = place;
        let mut number = 0;
        while number < loops {
            let (counter, l) = (&mut counters[number], &chain[number]);
            number += 1;
            *counter += 1;
            place = place.wrapping_add(stride(l));
            if *counter < l.extent {
                break;
            }
            *counter = 0;
            place = place.wrapping_sub(stride(l).wrapping_mul(l.extent as isize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a_loop(extent: usize, src_stride: isize, dst_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride }
    }

    #[test]
    fn loops_fall_into_sets() {
        // Source order, fastest first: a b c d; destination: d c b a, of which not all continue.
        let (a, b) = (a_loop(3, 4, 5000), a_loop(64, 12, 700));
        let (c, d) = (a_loop(5, 800, 14), a_loop(7, 4000, 2));
        let sets = Sets::new(&[a, c, b, d], 2).unwrap();
        assert_eq!((sets.outer(), sets.rows(), sets.columns()), (&[a, b][..], &[][..], &[d, c][..]));
        // Contested: `b` continues both, and the rows have less than a lane.
        let (a, b) = (a_loop(6, 2, 5000), a_loop(64, 12, 70));
        let sets = Sets::new(&[a, c, b, d], 2).unwrap();
        assert_eq!((sets.outer(), sets.rows(), sets.columns()), (&[][..], &[a, b][..], &[d, c][..]));
    }

    #[test]
    fn longest_rows_take_what_both_sets_could() {
        // Source order, fastest first: a b c d; destination: d c b a.
        let (a, b) = (a_loop(300, 4, 10_000), a_loop(50, 1200, 200));
        let (c, d) = (a_loop(5, 60_000, 40), a_loop(10, 300_000, 4));
        let nest = [d, c, b, a];
        let sets = |sets: Option<Sets>| sets.map(|sets| (sets.rows().to_vec(), sets.columns().to_vec()));
        assert_eq!(sets(Sets::of_longest_rows(&nest, 4)), Some((vec![a], vec![d, c, b])));
        let of_chains = Sets::of_chains(&[c], &[a], &[d, b]);
        assert_eq!(
            (of_chains.outer(), of_chains.rows(), of_chains.columns()),
            (&[c][..], &[a][..], &[d, b][..])
        );
    }

    #[test]
    fn places_are_those_of_the_loops() {
        let chain = [a_loop(2, 1, 10), a_loop(3, 2, -7)];
        let mut places = [0; 4];
        list_places::<false>(&chain, 1, &mut places);
        assert_eq!(places, [10, -7, 3, -14]);
        list_places::<true>(&chain, 2, &mut places);
        assert_eq!(places, [2, 3, 4, 5]);
    }
}

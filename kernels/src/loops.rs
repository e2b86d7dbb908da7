//! A few loops, taken apart and put together.

use crate::nest::Loop;

/// Loops that a nest may have here; of deeper ones the outermost are walked outside.
pub(crate) const MAX_LOOPS: usize = 12;

/// A loop that does nothing.
pub(crate) const ONCE: Loop = Loop { extent: 1, src_stride: 0, dst_stride: 0 };

/// Moves `origin`, where a tile of so many steps of each loop starts, to the next one, whose loops follow in `order` from the slowest to
/// the fastest; false behind the last.
pub(crate) fn next_tile(loops: &[Loop], chunks: &[usize], order: &[usize], origin: &mut [usize]) -> bool {
    for &i in order.iter().rev() {
        origin[i] += chunks[i];
        if origin[i] < loops[i].extent {
            return true;
        }
        origin[i] = 0;
    }
    false
}

/// Some loops, without a heap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Loops {
    loops: [Loop; MAX_LOOPS],
    len: usize,
}

impl Loops {
    /// At most [`MAX_LOOPS`] of them.
    pub(crate) fn of(loops: &[Loop]) -> Loops {
        let mut few = Loops::default();
        loops.iter().for_each(|&l| few.push(l));
        few
    }

    /// The same, if there is room for them.
    pub(crate) fn of_few(loops: &[Loop]) -> Option<Loops> {
        (loops.len() <= MAX_LOOPS).then(|| Loops::of(loops))
    }

    pub(crate) fn push(&mut self, l: Loop) {
        self.loops[self.len] = l;
        self.len += 1;
    }

    pub(crate) fn sort_by_key<K: Ord>(&mut self, key: impl Fn(&Loop) -> K) {
        self.loops[..self.len].sort_by_key(key);
    }

    /// Takes the first one of a kind off the others.
    pub(crate) fn take(&mut self, is_wanted: impl Fn(&Loop) -> bool) -> Option<Loop> {
        let position = self.as_slice().iter().position(is_wanted)?;
        Some(self.remove(position))
    }

    pub(crate) fn remove(&mut self, position: usize) -> Loop {
        let removed = self.loops[position];
        for next in position + 1..self.len {
            self.loops[next - 1] = self.loops[next];
        }
        self.len -= 1;
        removed
    }

    /// Takes the last one, if there is one.
    pub(crate) fn pop(&mut self) -> Option<Loop> {
        self.len.checked_sub(1).map(|last| self.remove(last))
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [Loop] {
        &mut self.loops[..self.len]
    }

    pub(crate) fn as_slice(&self) -> &[Loop] {
        &self.loops[..self.len]
    }

    /// Joins neighbours that continue one another; the slowest destination comes first.
    pub(crate) fn join(&mut self) {
        self.loops[..self.len].sort_unstable_by_key(|l| std::cmp::Reverse(l.dst_stride.unsigned_abs()));
        let mut joined = 0;
        for position in 0..self.len {
            let inner = self.loops[position];
            let steps = inner.extent as isize;
            match self.loops[..joined].last_mut() {
                Some(outer)
                    if outer.src_stride == inner.src_stride * steps
                        && outer.dst_stride == inner.dst_stride * steps =>
                {
                    *outer = Loop { extent: outer.extent * inner.extent, ..inner };
                }
                _ => {
                    self.loops[joined] = inner;
                    joined += 1;
                }
            }
        }
        self.len = joined;
    }
}

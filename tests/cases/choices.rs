//! A row of bytes read as a row of decisions, so that property tests and fuzzers share their generators.

/// Bytes that decide; where they have run out, every decision is the first one.
///
/// The first way of every decision is the simplest, so smaller and fewer bytes make simpler cases: a shrinking test
/// runner needs to know no more.
pub(crate) struct Choices<'a>(std::slice::Iter<'a, u8>);

impl<'a> Choices<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Choices<'a> {
        Choices(bytes.iter())
    }

    pub(crate) fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    /// A number in `0..ways`, where `ways` is at least 1.
    pub(crate) fn below(&mut self, ways: i64) -> i64 {
        let high = if ways > 256 { i64::from(self.byte()) << 8 } else { 0 };
        (high + i64::from(self.byte())) % ways
    }

    /// True once in `ways` times.
    pub(crate) fn one_in(&mut self, ways: i64) -> bool {
        self.below(ways) == ways - 1
    }

    pub(crate) fn pick<T: Copy>(&mut self, among: &[T]) -> T {
        among[self.below(among.len() as i64) as usize]
    }

    /// The numbers `0..count` in some order.
    pub(crate) fn permutation(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for next in 1..count {
            // The first way leaves the entry where it is.
            let other = next - self.below(next as i64 + 1) as usize;
            order.swap(next, other);
        }
        order
    }
}

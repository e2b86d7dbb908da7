//! Consecutive pieces of a range of bytes, cut at multiples of a grain.

use std::ops::Range;

/// Where a range is cut; nothing is stored for the single pieces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Cuts {
    range: Range<usize>,
    /// Bytes of the range's first grain that lie before the range.
    phase: usize,
    grain: usize,
    parts: usize,
    share: Share,
}

/// How many grains a piece has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Share {
    /// So many grains are shared out as equally as possible.
    Equal(usize),
    /// So many each.
    Each(usize),
}

impl Cuts {
    /// At most so many pieces, as equal as whole grains from `origin` on allow.
    pub(super) fn equal(range: Range<usize>, origin: usize, grain: usize, parts: usize) -> Cuts {
        let grain = grain.max(1);
        let phase = phase(range.start, origin, grain);
        let grains = (range.len() + phase) / grain;
        let parts = if range.is_empty() { 0 } else { parts.clamp(1, grains.max(1)) };
        Cuts { range, phase, grain, parts, share: Share::Equal(grains) }
    }

    /// Pieces of `bytes`, which is a multiple of the grain; the first and the last may be shorter.
    pub(super) fn of_bytes(range: Range<usize>, origin: usize, grain: usize, bytes: usize) -> Cuts {
        let phase = phase(range.start, origin, grain);
        let parts = if range.is_empty() { 0 } else { range.len().saturating_add(phase).div_ceil(bytes) };
        Cuts { range, phase, grain, parts, share: Share::Each(bytes / grain) }
    }

    /// How many pieces there are.
    pub(super) fn parts(&self) -> usize {
        self.parts
    }

    /// Where a piece begins; that behind the last is where the range ends.
    pub(super) fn start(&self, part: usize) -> usize {
        if part == 0 {
            return self.range.start;
        }
        if part >= self.parts {
            return self.range.end;
        }
        let grains = match self.share {
            // Neither factor is larger than the address space, so that 128 bits hold the product.
            Share::Equal(grains) => (grains as u128 * part as u128 / self.parts as u128) as usize,
            Share::Each(grains) => grains * part,
        };
        // What lies before the range is less than a grain, and inner pieces begin inside the range.
        self.range.start + (grains * self.grain - self.phase)
    }

    /// The bytes of a piece.
    pub(super) fn piece(&self, part: usize) -> Range<usize> {
        self.start(part)..self.start(part + 1)
    }
}

/// Bytes from the last multiple of the grain, counted from `origin`, to `start`.
fn phase(start: usize, origin: usize, grain: usize) -> usize {
    let (start, origin) = (start % grain, origin % grain);
    if start >= origin { start - origin } else { start + (grain - origin) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(cuts: &Cuts) -> Vec<Range<usize>> {
        (0..cuts.parts()).map(|part| cuts.piece(part)).collect()
    }

    #[test]
    fn grains_are_shared_out() {
        assert_eq!(pieces(&Cuts::equal(0..100, 0, 8, 3)), [0..32, 32..64, 64..100]);
        assert_eq!(pieces(&Cuts::equal(5..30, 3, 8, 9)), [5..11, 11..19, 19..30]);
        assert_eq!(pieces(&Cuts::equal(0..7, 0, 8, 4)), vec![0..7; 1]);
        assert_eq!(pieces(&Cuts::equal(0..7, 0, 1, 0)), vec![0..7; 1]);
        assert!(pieces(&Cuts::equal(4..4, 0, 1, 3)).is_empty());
    }

    #[test]
    fn pieces_have_as_many_bytes_as_they_may() {
        assert_eq!(pieces(&Cuts::of_bytes(5..30, 3, 8, 16)), [5..19, 19..30]);
        assert_eq!(pieces(&Cuts::of_bytes(0..3, 0, 1, 1)), [0..1, 1..2, 2..3]);
        assert!(pieces(&Cuts::of_bytes(9..9, 0, 1, 1)).is_empty());
        let huge = Cuts::of_bytes(0..usize::MAX / 2, 0, 64, 64);
        assert_eq!(huge.piece(huge.parts() - 1).end, usize::MAX / 2);
    }

    #[test]
    fn pieces_are_adjacent_and_none_is_empty() {
        for start in 0..9 {
            for len in 1..40 {
                for (grain, origin) in [(1, 0), (3, 1), (8, 5), (64, 63)] {
                    let range = start..start + len;
                    let limited = [1, 2, 5].map(|n| Cuts::of_bytes(range.clone(), origin, grain, grain * n));
                    let shared = [1, 2, 3, 7, 100].map(|n| Cuts::equal(range.clone(), origin, grain, n));
                    for cuts in limited.iter().chain(&shared) {
                        let pieces = pieces(cuts);
                        assert_eq!((pieces[0].start, pieces[pieces.len() - 1].end), (range.start, range.end));
                        assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start), "{cuts:?}");
                        assert!(pieces.iter().all(|piece| !piece.is_empty()), "{cuts:?}");
                    }
                }
            }
        }
    }
}

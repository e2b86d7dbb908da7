//! Transposes of words that are woven of two dimensions on one side only: tiles with pairs of rows, such as those of `(2,1)`, that become
//! tiles of another fastest dimension with pairs along a third one.
//!
//! Elements of both pairs stay together. A block of such words is woven into a buffer, and transposed from there, or copied there,
//! transposed, and taken apart to where it belongs. The buffers stay in the second-level cache.

use crate::deinterleave::{Deinterleave, Past};
use crate::interleave::Interleave;
use crate::lanes::{LINE, Lanes, next_line};
use crate::loops::{Loops, ONCE};
use crate::mover::{Family, Mover};
use crate::nest::Loop;
use crate::rows::{Rows, StreamedRows};
use crate::stage::starts_lines;
use crate::tuning::{WOVEN_BLOCK, WOVEN_RUN};
use crate::walk::each_point;

/// A nest of such words.
pub(crate) struct Woven {
    outer: Loops,
    /// Elements that are woven first, or taken apart last, and those that are together with them in a word.
    across: Loop,
    pair: Loop,
    /// Bytes of an element, and of a word.
    element: usize,
    word: usize,
    /// Words that follow one another in the source.
    rows: Chain,
    /// Those that follow one another in the destination.
    columns: Chain,
    /// True where words are woven first, false where they are taken apart last.
    zips: bool,
}

/// Loops that continue one another on a side.
#[derive(Clone, Copy)]
struct Chain {
    /// Those of which a block has all steps, the fastest first, and how many that are.
    whole: Loops,
    together: usize,
    /// The one of which it has some.
    cut: Loop,
}

impl Chain {
    /// From a stride on, until about as many bytes are reached as a run should have; none where they are less than a line.
    fn take(outer: &mut Loops, stride: fn(&Loop) -> isize, unit: usize) -> Option<Chain> {
        let (mut chain, mut span) = (Chain { whole: Loops::default(), together: 1, cut: ONCE }, unit);
        while span < WOVEN_RUN
            && let Some(l) = outer.take(|l| usize::try_from(stride(l)) == Ok(span))
        {
            if chain.cut.extent > 1 {
                chain.whole.push(chain.cut);
                chain.together *= chain.cut.extent;
            }
            (chain.cut, span) = (l, span * l.extent); // cannot overflow: the chain lies inside a slice
        }
        (span >= LINE).then_some(chain)
    }

    /// Steps of the last loop with which so many words are reached.
    fn steps(&self, words: usize) -> usize {
        words.div_ceil(self.together).clamp(1, self.cut.extent)
    }

    /// The loops of so many steps, the slowest first, with places in a buffer at a pitch.
    fn loops(&self, steps: usize, pitch: usize, place: fn(Loop, isize) -> Loop) -> Loops {
        let mut loops = Loops::default();
        let mut stride = (pitch * self.together) as isize;
        loops.push(place(Loop { extent: steps, ..self.cut }, stride));
        for &l in self.whole.as_slice().iter().rev() {
            stride /= l.extent as isize;
            loops.push(place(l, stride));
        }
        loops
    }
}

impl Woven {
    /// The nest as such words; none where it has no two pairs, or runs that are shorter than a line.
    pub(crate) fn new(loops: &[Loop], element: usize) -> Option<Woven> {
        Woven::of(loops, element, true).or_else(|| Woven::of(loops, element, false))
    }

    fn of(loops: &[Loop], element: usize, zips: bool) -> Option<Woven> {
        let unit = element as isize;
        let near = |l: &Loop| if zips { l.dst_stride } else { l.src_stride };
        let far = |l: &Loop| if zips { l.src_stride } else { l.dst_stride };
        let few = |l: &Loop| matches!(l.extent, 2 | 4);
        let mut outer = Loops::of_few(loops).filter(|_| matches!(element, 1 | 2))?;
        let across = outer.take(|l| near(l) == unit && few(l))?;
        let pair = outer.take(|l| near(l) == unit * across.extent as isize && far(l) == unit && few(l))?;
        let word = across.extent * pair.extent * element;
        if word > 16 {
            return None;
        }
        // On the side where elements are apart, a word is only those of one of them.
        let part = pair.extent * element;
        let (from, to) = if zips { (part, word) } else { (word, part) };
        let rows = Chain::take(&mut outer, |l| l.src_stride, from)?;
        let columns = Chain::take(&mut outer, |l| l.dst_stride, to)?;
        // Whole tiles of the source one after the other: in the order of the destination a part of each would be read at a time.
        outer.sort_by_key(|l| std::cmp::Reverse(l.src_stride.unsigned_abs()));
        Some(Woven { outer, across, pair, element, word, rows, columns, zips })
    }

    /// True where rows are written by what transposes them: they are woven already, and lie at even distances.
    fn is_direct(&self) -> bool {
        self.zips && self.rows.together == 1
    }

    /// Moves the nest, past the cache where that is wanted.
    ///
    /// # Safety
    /// All places of the nest must be valid on both sides, without overlap.
    pub(crate) unsafe fn run<L: Lanes>(&self, lanes: L, (src, dst): (*const u8, *mut u8), stream: bool) {
        let part = if self.zips { self.word } else { self.element * self.pair.extent };
        let columns = self.columns.steps(WOVEN_RUN / part);
        let words = columns * self.columns.together;
        let rows = self.rows.steps(WOVEN_BLOCK / (self.word * words));
        let height = rows * self.rows.together;
        let bytes = |rows: usize, columns: usize| (rows * self.word + LINE) * columns;
        let turned = if self.is_direct() { 0 } else { bytes(words, height) };
        let mut buffers = [bytes(height, words), turned].map(|bytes| vec![0u8; bytes + LINE]);
        let buffers = buffers.each_mut().map(|buffer| next_line(buffer.as_mut_ptr()));
        let block = Block { woven: self, rows, columns, stream, buffers };
        // SAFETY: the caller's promise, and room for a block.
        block.each(self.outer.as_slice(), (src, dst), &mut |block, places| unsafe {
            block.run(lanes, places)
        });
    }
}

/// Steps of both chains.
#[derive(Clone, Copy)]
struct Block<'a> {
    woven: &'a Woven,
    rows: usize,
    columns: usize,
    stream: bool,
    /// Room for its columns, one behind the other, and for its rows, each with a line between two.
    buffers: [*mut u8; 2],
}

impl Block<'_> {
    /// Visits all blocks at every point of the loops.
    fn each(
        self,
        outer: &[Loop],
        (src, dst): (*const u8, *mut u8),
        visit: &mut impl FnMut(Self, (*const u8, *mut u8)),
    ) {
        let places = |(src, dst): (*const u8, *mut u8), l: &Loop, step: usize| {
            let step = step as isize;
            (src.wrapping_offset(step * l.src_stride), dst.wrapping_offset(step * l.dst_stride))
        };
        if let [first, rest @ ..] = outer {
            return (0..first.extent)
                .for_each(|step| self.each(rest, places((src, dst), first, step), visit));
        }
        let (along, across) = (self.woven.rows.cut, self.woven.columns.cut);
        for row in (0..along.extent).step_by(self.rows) {
            for column in (0..across.extent).step_by(self.columns) {
                let start = places(places((src, dst), &along, row), &across, column);
                let (rows, columns) =
                    (self.rows.min(along.extent - row), self.columns.min(across.extent - column));
                visit(Block { rows, columns, ..self }, start);
            }
        }
    }

    /// # Safety
    /// As [`Woven::run`]; there must be room for the block.
    unsafe fn run<L: Lanes>(self, lanes: L, (src, dst): (*const u8, *mut u8)) {
        let Woven { word, ref rows, ref columns, zips, .. } = *self.woven;
        let [height, width] = [self.rows * rows.together, self.columns * columns.together];
        let [column, row] = [height, width].map(|words| words * word + LINE);
        let [made, turned] = self.buffers;
        let is_direct = self.woven.is_direct();
        let (to, step) = if is_direct { (dst, rows.cut.dst_stride) } else { (turned, row as isize) };
        let read = columns.loops(self.columns, column, |l, place| Loop { dst_stride: place, ..l });
        let written = rows.loops(self.rows, row, |l, place| Loop { src_stride: place, ..l });
        let (read, written) = (read.as_slice(), written.as_slice());
        let loops = [
            Loop { extent: height, src_stride: word as isize, dst_stride: step },
            Loop { extent: width, src_stride: column as isize, dst_stride: word as isize },
        ];
        let mover = Mover {
            family: Family::Transpose,
            element_bytes: word,
            level: L::LEVEL,
            stream: is_direct && self.stream,
        };
        // SAFETY: the caller's promise, and room for the block.
        unsafe {
            match zips {
                true => self.zip(lanes, read, (src, made), height),
                false => {
                    each_point(lanes, read, src, made, Rows::new(read, height * word));
                }
            }
            mover.go(lanes, &loops, made, to);
            match zips {
                true if is_direct => {}
                true if self.stream => {
                    each_point(lanes, written, turned, dst, StreamedRows::new(written, width * word))
                }
                true => each_point(lanes, written, turned, dst, Rows::new(written, width * word)),
                false => self.unzip(lanes, written, (turned, dst), width),
            }
        }
    }

    /// Weaves so many words of every column.
    ///
    /// # Safety
    /// As [`Woven::run`]; there must be room for the block.
    unsafe fn zip<L: Lanes>(
        self,
        lanes: L,
        columns: &[Loop],
        (src, made): (*const u8, *mut u8),
        words: usize,
    ) {
        let Woven { across, pair, element, .. } = *self.woven;
        let unit = element as isize;
        let (extent, dst_stride) = (words * pair.extent, unit * across.extent as isize);
        let along = Loop { extent, src_stride: unit, dst_stride };
        macro_rules! run {
            ($($e:literal $k:literal)*) => {
                match (element, across.extent) {
                    // SAFETY: the caller's promise; there is room for the block.
                    $(($e, $k) => unsafe {
                        each_point(lanes, columns, src, made, Interleave::<$e, $k> { along, across, past: None, whole_rows: 0 });
                    },)*
                    _ => unreachable!("words are woven of 2 or 4 elements of 1 or 2 bytes"),
                }
            };
        }
        run!(1 2 1 4 2 2 2 4);
    }

    /// Takes so many words of every row apart.
    ///
    /// # Safety
    /// As [`Woven::run`]; there must be room for the block.
    unsafe fn unzip<L: Lanes>(
        self,
        lanes: L,
        rows: &[Loop],
        (turned, dst): (*const u8, *mut u8),
        words: usize,
    ) {
        let Woven { across, pair, element, .. } = *self.woven;
        let unit = element as isize;
        let (extent, src_stride) = (words * pair.extent, unit * across.extent as isize);
        let along = Loop { extent, src_stride, dst_stride: unit };
        let past = self.stream && L::STREAMS && starts_lines(rows.iter().chain([&across]), dst);
        let past = past.then(|| Past::new(0, across));
        macro_rules! run {
            ($($e:literal $k:literal)*) => {
                match (element, across.extent) {
                    // SAFETY: the block's words, and where they belong.
                    $(($e, $k) => unsafe {
                        each_point(lanes, rows, turned, dst, Deinterleave::<$e, $k> { along, across, past });
                    },)*
                    _ => unreachable!("words are woven of 2 or 4 elements of 1 or 2 bytes"),
                }
            };
        }
        run!(1 2 1 4 2 2 2 4);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(extent: usize, src_stride: isize, dst_stride: isize) -> Loop {
        Loop { extent, src_stride, dst_stride }
    }

    #[test]
    fn tiles_become_those_of_another_dimension() {
        // Pairs of rows of two sources, in columns of which four lie in a tile.
        let [across, pair] = [of(2, 1 << 20, 2), of(2, 2, 4)];
        let (rows, columns) = (of(128, 4, 4096), [of(4, 512, 8), of(16, 8192, 32)]);
        let zips = Woven::new(&[columns[1], rows, columns[0], pair, across], 2).unwrap();
        assert_eq!((zips.zips, zips.word, zips.across, zips.pair), (true, 8, across, pair));
        assert_eq!(
            (zips.rows.cut, zips.columns.whole.as_slice(), zips.columns.cut),
            (rows, &columns[..1], columns[1])
        );
        // The reverse.
        let turned = |l: Loop| of(l.extent, l.dst_stride, l.src_stride);
        let unzips = Woven::new(&[columns[1], rows, columns[0], pair, across].map(turned), 2).unwrap();
        assert_eq!((unzips.zips, unzips.across, unzips.pair), (false, turned(across), turned(pair)));
        assert_eq!((unzips.columns.cut, unzips.rows.together), (turned(rows), 4));
        // Runs of less than a line, and words of more than a lane.
        assert!(Woven::new(&[of(7, 4, 4096), columns[0], pair, across], 2).is_none());
        assert!(
            Woven::new(&[of(4, 1 << 20, 2), of(4, 2, 8), of(128, 8, 4096), of(16, 8192, 32)], 2).is_none()
        );
    }
}

//! Rows that are converted, and end with padding, or are woven with it: together past the cache where that is possible, and as the
//! portable loop and a fill make them one after the other.

use relayout_kernels::{
    Along, Conversion, Converter, Fill, Level, Loop, Nest, OutOfBounds, Scale, Side, SlotWidth, StepDigit,
    fill_nest,
};

use super::pairs::{conversions, rare_conversions, scaled_conversions};
use super::{levels, noise};

fn a_loop(extent: usize, src_stride: usize, dst_stride: usize) -> Loop {
    Loop { extent, src_stride: src_stride as isize, dst_stride: dst_stride as isize }
}

/// Places from a loop's first to its last in the source, in bytes.
fn reach(l: &Loop) -> usize {
    (l.extent - 1) * l.src_stride.unsigned_abs()
}

/// How the rows of a source lie to one another.
#[derive(Clone, Copy)]
enum Lie {
    /// One behind the other in a group.
    Dense,
    /// Far apart, which are all of them or all of the elements.
    Apart,
    /// From one to the next it is always as far, with a gap between them.
    Evenly,
    /// The same, from the last one to the first.
    Backwards,
    /// Only groups of them follow one another, each with a few elements of another.
    Across,
}

const LIES: [Lie; 5] = [Lie::Dense, Lie::Apart, Lie::Evenly, Lie::Backwards, Lie::Across];

/// A way to write rows and padding; false where a converter has none.
type RunWith<'a> = dyn Fn(&Converter<'_>, &[u8], &mut [u8]) -> bool + 'a;

/// Rows and padding, whose loops start at an offset.
struct Padded {
    loops: Vec<Loop>,
    pad: Vec<Loop>,
    /// Where the first row starts in the source, and padding in the destination.
    first: isize,
    offset: usize,
}

impl Padded {
    /// `present` rows out of `ways`, of `count` elements out of `slots`, in 5 groups of 3.
    fn new(
        widths: [usize; 2],
        (present, ways): (usize, usize),
        (count, slots): (usize, usize),
        lie: Lie,
    ) -> Padded {
        let [src, dst] = widths;
        let (row, group) = (count * src, slots * ways * dst);
        let gap = row + 100 * src;
        let (far, more, step) = match lie {
            Lie::Dense => (3 * present * (row + src), present * row, row),
            Lie::Apart => (3 * present * (row + src), row, 3 * row + src),
            Lie::Evenly | Lie::Backwards => (3 * present * gap, present * gap, gap),
            Lie::Across => (row, 15 * row, 50 * row),
        };
        let mut outer = [a_loop(5, far, 3 * group), a_loop(3, more, group)];
        let (along, mut across) = (a_loop(count, src, ways * dst), a_loop(present, step, dst));
        let mut first = 0;
        if matches!(lie, Lie::Backwards) {
            first = [outer[0], outer[1], across].iter().map(reach).sum();
            outer.iter_mut().chain([&mut across]).for_each(|l| l.src_stride = -l.src_stride);
        }
        let rows = if present > 1 { vec![along, across] } else { vec![along] };
        let pad = match present == ways {
            true => vec![a_loop(15, 0, group), a_loop((slots - count) * ways, 0, dst)],
            false => vec![a_loop(15, 0, group), a_loop(count, 0, ways * dst), a_loop(ways - present, 0, dst)],
        };
        let offset = if present == ways { count * ways * dst } else { present * dst };
        Padded { loops: [&outer[..], &rows].concat(), pad, first: first as isize, offset }
    }

    fn fill(&self, dst: usize) -> (Nest<'_>, Fill) {
        let nest = Nest { src_offset: 0, dst_offset: self.offset as isize, loops: &self.pad };
        (nest, Fill { value: 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10, width: SlotWidth::Bytes(dst) })
    }

    fn nest(&self) -> Nest<'_> {
        Nest { src_offset: self.first, dst_offset: 0, loops: &self.loops }
    }

    /// Bytes from the destination's first to its last.
    fn len(&self, dst: usize) -> usize {
        let end = |loops: &[Loop]| -> usize {
            loops.iter().map(|l| (l.extent - 1) * l.dst_stride.unsigned_abs()).sum()
        };
        end(&self.loops).max(self.offset + end(&self.pad)) + dst
    }

    /// True where some level wrote both together; all levels must have written the same, where there is more of the source and where it
    /// ends with the last row.
    fn check(&self, converter: &Converter<'_>, src: &[u8], [read, written]: [usize; 2]) -> bool {
        let end = self.loops.iter().map(reach).sum::<usize>() + read;
        let together = self.check_of(converter, src, written);
        let alone = src[..end].to_vec(); // an allocation that ends there, too
        assert_eq!(self.check_of(converter, &alone, written), together, "{converter:?}");
        together
    }

    fn check_of(&self, converter: &Converter<'_>, src: &[u8], dst: usize) -> bool {
        self.check_by(converter, src, dst, &|converter, src, written| {
            converter.run_padded(src, written, (None, self.nest()), self.fill(dst)).unwrap()
        })
    }

    /// The same by a way to write both.
    fn check_by(&self, converter: &Converter<'_>, src: &[u8], dst: usize, run: &RunWith<'_>) -> bool {
        let (mut together, len) = (false, self.len(dst));
        let mut wanted = vec![0xa5; len];
        let portable = Converter { level: Level::Scalar, stream: false, ..*converter };
        portable.run(src, &mut wanted, self.nest()).unwrap();
        fill_nest(&mut wanted, self.fill(dst).0, self.fill(dst).1).unwrap();
        for level in levels() {
            let converter = Converter { level, stream: true, ..*converter };
            for start in [64, 5] {
                let mut found = vec![0xa5; len + 192];
                let line = found.as_ptr().align_offset(64);
                let slice = &mut found[line + start..line + start + len];
                let is_done = run(&converter, src, slice);
                let expected = if is_done { &wanted } else { &vec![0xa5; len] };
                assert!(slice == expected, "{converter:?} at {start}: {:?} {:?}", self.loops, self.pad);
                found[line + start..line + start + len].fill(0xa5);
                assert!(found.iter().all(|&byte| byte == 0xa5), "beside: {converter:?} {:?}", self.loops);
                assert!(!is_done || start == 64, "rows start lines: {converter:?} {:?}", self.loops);
                together |= is_done;
            }
        }
        together
    }
}

/// Rows out of ways, elements out of slots.
const SIZES: [((usize, usize), (usize, usize)); 9] = [
    ((1, 1), (100, 128)),
    ((1, 1), (3, 64)),
    ((2, 2), (100, 128)),
    ((4, 4), (65, 128)),
    ((8, 8), (31, 64)),
    ((1, 2), (128, 128)),
    ((3, 4), (128, 128)),
    ((1, 4), (64, 64)),
    ((5, 8), (192, 192)),
];

/// Rows that are converted in parts, of which the last one is short.
const LONG: ((usize, usize), (usize, usize)) = ((2, 2), (4099, 4224));

#[test]
fn rows_are_converted_with_their_padding() {
    let src = noise();
    let streams = levels().any(|level| level >= Level::Avx2);
    for (conversion, from, to) in conversions().into_iter().chain(rare_conversions()) {
        let (SlotWidth::Bytes(read), SlotWidth::Bytes(written)) = (from, to) else { continue };
        let (scale, level) = (Scale::All(1.0), Level::Scalar);
        let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
        for ((present, ways), elements) in SIZES.into_iter().chain([LONG]) {
            for lie in LIES {
                let rows = Padded::new([read, written], (present, ways), elements, lie);
                let together = rows.check(&converter, &src, [read, written]);
                let has_kernel =
                    matches!((written, ways), (1 | 2 | 4 | 8 | 16, 1) | (1 | 2, _) | (4, 2 | 4) | (8, 2));
                assert_eq!(together, streams && has_kernel, "{converter:?} {:?}", rows.loops);
            }
        }
    }
}

/// Ways, pieces of so many elements each, and elements out of slots.
type Pieces = (usize, (usize, usize), (usize, usize));

/// Rows whose first elements are pieces, as those of whole tiles are.
const PIECES: [Pieces; 5] = [
    (1, (2, 128), (44, 128)),
    (1, (1, 64), (100, 192)),
    (2, (2, 128), (44, 128)),
    (4, (1, 64), (5, 128)),
    (8, (3, 64), (65, 128)),
];

impl Padded {
    /// What of these rows is the pieces, and what is behind them.
    fn apart(&self, [src, dst]: [usize; 2], ways: usize, (pieces, piece): (usize, usize)) -> [Vec<Loop>; 2] {
        let next = a_loop(pieces, piece * src, piece * ways * dst);
        let of = |extent: &dyn Fn(usize) -> usize| -> Vec<Loop> {
            let along = |l: &Loop| l.src_stride == src as isize && l.dst_stride == (ways * dst) as isize;
            self.loops
                .iter()
                .map(|l| if along(l) { Loop { extent: extent(l.extent), ..*l } } else { *l })
                .collect()
        };
        let mut before = of(&|_| piece);
        before.insert(2, next);
        [before, of(&|extent| extent - pieces * piece)]
    }

    /// [`Padded::check_of`] with pieces of the rows and what is behind them.
    fn check_pieces(
        &self,
        converter: &Converter<'_>,
        src: &[u8],
        [read, written]: [usize; 2],
        (ways, (pieces, piece), _): Pieces,
    ) -> bool {
        let [before, behind] = self.apart([read, written], ways, (pieces, piece));
        let [from, to] = [read, ways * written].map(|step| (pieces * piece * step) as isize);
        let before = Nest { loops: &before, ..self.nest() };
        let behind = Nest { src_offset: self.first + from, dst_offset: to, loops: &behind };
        self.check_by(converter, src, written, &|converter, src, dst| {
            converter.run_padded(src, dst, (Some(before), behind), self.fill(written)).unwrap()
        })
    }
}

#[test]
fn rows_are_converted_with_what_is_whole_before_their_padding() {
    let src = noise();
    let streams = levels().any(|level| level >= Level::Avx2);
    for (conversion, from, to) in conversions().into_iter().chain(rare_conversions()) {
        let (SlotWidth::Bytes(read), SlotWidth::Bytes(written)) = (from, to) else { continue };
        let (scale, level) = (Scale::All(1.0), Level::Scalar);
        let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
        for (sizes, lie) in PIECES.into_iter().flat_map(|sizes| LIES.map(|lie| (sizes, lie))) {
            let (ways, (pieces, piece), (count, slots)) = sizes;
            let (widths, whole) = ([read, written], pieces * piece);
            let rows = Padded::new(widths, (ways, ways), (whole + count, whole + slots), lie);
            let together = rows.check_pieces(&converter, &src, widths, sizes);
            let has_kernel =
                matches!((written, ways), (1 | 2 | 4 | 8 | 16, 1) | (1 | 2, _) | (4, 2 | 4) | (8, 2));
            let fits = (whole + count) * ways * written <= 8192 && (ways > 1 || count * written < 2048);
            assert_eq!(together, streams && has_kernel && fits, "{converter:?} {:?}", rows.loops);
        }
    }
}

#[test]
fn what_does_not_go_on_is_no_whole_row() {
    let src = noise();
    let (conversion, from, to) = conversions()[0];
    let (SlotWidth::Bytes(read), SlotWidth::Bytes(written)) = (from, to) else { panic!("whole bytes") };
    let (scale, level) = (Scale::All(1.0), Level::detect());
    let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
    let (ways, pieces, whole) = (2, (1, 128), 128);
    let rows = Padded::new([read, written], (ways, ways), (whole + 44, whole + 128), Lie::Evenly);
    let [before, behind] = rows.apart([read, written], ways, pieces);
    let (first, reach) = (rows.first + (whole * read) as isize, (whole * ways * written) as isize);
    let nest = Nest { src_offset: first, dst_offset: reach, loops: &behind };
    let mut dst = vec![0xa5; rows.len(written) + 64];
    let line = dst.as_ptr().align_offset(64);
    let dst = &mut dst[line..line + rows.len(written)];
    let run = |before: Nest<'_>, dst: &mut [u8]| {
        converter.run_padded(&src, dst, (Some(before), nest), rows.fill(written))
    };
    let whole = Nest { loops: &before, ..rows.nest() };
    // Elements earlier than those that go on with the rows, fewer of them, and other rows.
    assert_eq!(run(Nest { src_offset: whole.src_offset + 1, ..whole }, dst), Ok(false));
    let with = |position: usize, l: Loop| -> Vec<Loop> {
        before.iter().enumerate().map(|(i, other)| if i == position { l } else { *other }).collect()
    };
    for loops in [
        with(3, Loop { extent: 127, ..before[3] }),
        with(3, Loop { extent: 96, ..before[3] }),
        with(0, Loop { extent: 4, ..before[0] }),
        with(1, Loop { src_stride: before[1].src_stride - 1, ..before[1] }),
        [&before[..], &[Loop { extent: 2, src_stride: 0, dst_stride: 0 }]].concat(),
    ] {
        assert_eq!(run(Nest { loops: &loops, ..whole }, dst), Ok(false), "{loops:?}");
    }
    if level >= Level::Avx2 {
        let outside = Nest { dst_offset: rows.len(written) as isize, ..whole };
        assert_eq!(run(outside, dst), Err(OutOfBounds { side: Side::Destination, len: dst.len() }));
    }
    assert!(dst.iter().all(|&byte| byte == 0xa5));
    assert_eq!(run(whole, dst), Ok(level >= Level::Avx2));
}

#[test]
fn factors_are_found_by_the_places_of_rows() {
    let src = noise();
    let values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    let number = |n: usize| std::num::NonZeroUsize::new(n).expect("strides are not zero");
    for (conversion, from, to) in scaled_conversions() {
        let (SlotWidth::Bytes(read), SlotWidth::Bytes(written)) = (from, to) else { continue };
        for ((present, ways), elements) in SIZES {
            // One for each row, or for each column.
            let of_rows = [(elements.0 * read, usize::MAX), (read, elements.0 * read)];
            let lies = [Lie::Dense, Lie::Evenly, Lie::Across];
            for (lie, (stride, modulus)) in lies.into_iter().flat_map(|lie| of_rows.map(|of| (lie, of))) {
                let rows = Padded::new([read, written], (present, ways), elements, lie);
                let digit = StepDigit { stride: number(stride), modulus: number(modulus), unit: 1 };
                let scale = Scale::Along(Along { values: &values, digits: &[digit], first: 0, start: 0 });
                let level = Level::Scalar;
                rows.check(
                    &Converter { conversion, src: from, dst: to, scale, level, stream: true },
                    &src,
                    [read, written],
                );
            }
        }
    }
}

#[test]
fn factors_are_found_by_the_places_of_rows_that_are_whole_before() {
    let src = noise();
    let values: Vec<f32> = (0..2048).map(|i| (i as f32 - 700.0) * 0.37).collect();
    let number = |n: usize| std::num::NonZeroUsize::new(n).expect("strides are not zero");
    for (conversion, from, to) in scaled_conversions() {
        let (SlotWidth::Bytes(read), SlotWidth::Bytes(written)) = (from, to) else { continue };
        for sizes @ (ways, (pieces, piece), (count, slots)) in PIECES {
            let (widths, whole) = ([read, written], pieces * piece);
            let row = (whole + count) * read;
            // One for each row, or for each column.
            for (stride, modulus) in [(row, usize::MAX), (read, row)] {
                let rows = Padded::new(widths, (ways, ways), (whole + count, whole + slots), Lie::Dense);
                let digit = StepDigit { stride: number(stride), modulus: number(modulus), unit: 1 };
                let scale = Scale::Along(Along { values: &values, digits: &[digit], first: 0, start: 0 });
                let converter =
                    Converter { conversion, src: from, dst: to, scale, level: Level::Scalar, stream: true };
                rows.check_pieces(&converter, &src, widths, sizes);
            }
        }
    }
}

#[test]
fn what_does_not_change_is_padded_as_well() {
    let src = noise();
    for bytes in [1, 2, 4] {
        let (width, scale) = (SlotWidth::Bytes(bytes), Scale::All(1.0));
        let conversion = Conversion::identity(bytes);
        let level = Level::Scalar;
        let converter = Converter { conversion, src: width, dst: width, scale, level, stream: true };
        for ((present, ways), elements) in SIZES.into_iter().chain([LONG]) {
            let rows = Padded::new([bytes; 2], (present, ways), elements, Lie::Dense);
            rows.check(&converter, &src, [bytes; 2]);
        }
    }
}

#[test]
fn rows_outside_of_their_slices_are_errors() {
    let src = noise();
    let (conversion, from, to) = conversions()[0];
    let (SlotWidth::Bytes(read), SlotWidth::Bytes(written)) = (from, to) else { panic!("whole bytes") };
    let (scale, level) = (Scale::All(1.0), Level::detect());
    let converter = Converter { conversion, src: from, dst: to, scale, level, stream: true };
    let rows = Padded::new([read, written], (1, 2), (128, 128), Lie::Dense);
    let len = rows.len(written);
    let mut dst = vec![0xa5; len];
    if level >= Level::Avx2 {
        let error = converter
            .run_padded(&src, &mut dst[..len - 1], (None, rows.nest()), rows.fill(written))
            .unwrap_err();
        assert_eq!(error, OutOfBounds { side: Side::Destination, len: len - 1 });
        assert!(converter.run_padded(&src[..9], &mut dst, (None, rows.nest()), rows.fill(written)).is_err());
    }
    assert!(dst.iter().all(|&byte| byte == 0xa5));
}

//! Relayouts of every kind, made from a row of bytes: shapes, layouts, strides, regions, padding.

use std::fmt;

use relayout::{
    ArrayShape, Conversion, DimensionSize, Layout, Level, Padding, PaddingValue, Plan, PlanBuilder,
    PrimitiveType, Region, Request, Shape, Streaming, Tile, TileDimension,
};

use super::choices::Choices;
use super::conversions::conversion;
use super::placing::{Placing, placing};

/// How large arrays may become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Elements at most.
    elements: i64,
    /// Slots at most; tiles that need more are left out.
    slots: i64,
}

impl Limits {
    /// A case takes a fraction of a millisecond.
    pub(crate) const TINY: Limits = Limits { elements: 400, slots: 2_000 };
    /// A case takes milliseconds.
    pub(crate) const SMALL: Limits = Limits { elements: 20_000, slots: 60_000 };
    /// Enough for several threads, and for rows longer than a page.
    pub(crate) const LARGE: Limits = Limits { elements: 600_000, slots: 1_000_000 };
}

/// One relayout, and the bytes to try it on.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) src: Shape,
    pub(crate) dst: Shape,
    pub(crate) src_placing: Placing,
    pub(crate) dst_placing: Placing,
    /// True where the destination's strides were drawn without care for overlaps.
    pub(crate) may_overlap: bool,
    pub(crate) region: Option<Region>,
    pub(crate) padding: Option<Padding>,
    pub(crate) conversion: Conversion,
    pub(crate) max_threads: usize,
    pub(crate) level: Option<Level>,
    pub(crate) streaming: Streaming,
    /// Where the source's bytes start in the row of all bytes.
    pub(crate) seed: u8,
}

impl Case {
    /// The dense relayout that a problem line names.
    pub(crate) fn of_line(line: &str) -> Case {
        let problem: relayout::Problem = line.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        Case {
            src: problem.src,
            dst: problem.dst,
            src_placing: Placing::default(),
            dst_placing: Placing { misalignment: 3, ..Placing::default() },
            may_overlap: false,
            region: None,
            padding: None,
            conversion: Conversion::new(),
            max_threads: 1,
            level: None,
            streaming: Streaming::Auto,
            seed: 1,
        }
    }

    pub(crate) fn decode(bytes: &[u8], limits: Limits) -> Case {
        let choices = &mut Choices::new(bytes);
        let element_type = choices.pick(TYPES);
        let src_sizes = sizes(choices, limits);
        let (dst_sizes, region) = match choices.one_in(4) {
            true => region(choices, &src_sizes, limits),
            false => (src_sizes.clone(), None),
        };
        let extents = region.as_ref().map_or(&src_sizes[..], Region::extents);
        let (dst_type, conversion) = conversion(choices, element_type, extents);
        let src = array(choices, element_type, &src_sizes, limits);
        let dst = array(choices, dst_type, &dst_sizes, limits);
        let (src_placing, _) = placing(choices, &src, 2);
        let (dst_placing, may_overlap) = placing(choices, &dst, 5);
        Case {
            src: src.into(),
            dst: dst.into(),
            src_placing,
            dst_placing,
            may_overlap,
            region,
            conversion,
            padding: choices.pick(&[None, None, Some(Padding::Leave), Some(Padding::Zero), Some(FILL)]),
            max_threads: 1 + choices.below(4) as usize,
            level: level(choices),
            streaming: choices.pick(&[Streaming::Auto, Streaming::Always, Streaming::Never]),
            seed: choices.byte(),
        }
    }

    pub(crate) fn src_array(&self) -> &ArrayShape {
        self.src.as_array().expect("cases are made of arrays")
    }

    pub(crate) fn dst_array(&self) -> &ArrayShape {
        self.dst.as_array().expect("cases are made of arrays")
    }

    /// The question, as the reference takes it.
    pub(crate) fn request(&self) -> Request<'_> {
        let mut request = Request::new(self.src_array(), self.dst_array())
            .with_conversion(self.conversion.clone())
            .with_src_offset_bytes(self.src_placing.offset_bytes)
            .with_dst_offset_bytes(self.dst_placing.offset_bytes);
        if let Some(strides) = &self.src_placing.strides_bytes {
            request = request.with_src_strides_bytes(strides);
        }
        if let Some(strides) = &self.dst_placing.strides_bytes {
            request = request.with_dst_strides_bytes(strides);
        }
        if let Some(region) = &self.region {
            request = request.with_region(region.clone());
        }
        match self.padding {
            Some(padding) => request.with_padding(padding),
            None => request,
        }
    }

    /// The question, as a program puts it.
    pub(crate) fn builder(&self) -> PlanBuilder<'_> {
        let mut builder = Plan::builder(&self.src, &self.dst)
            .conversion(self.conversion.clone())
            .src_offset_bytes(self.src_placing.offset_bytes)
            .dst_offset_bytes(self.dst_placing.offset_bytes)
            .max_threads(self.max_threads)
            .streaming(self.streaming);
        if let Some(strides) = &self.src_placing.strides_bytes {
            builder = builder.src_strides_bytes(strides);
        }
        if let Some(strides) = &self.dst_placing.strides_bytes {
            builder = builder.dst_strides_bytes(strides);
        }
        if let Some(region) = &self.region {
            builder = builder.region(region.clone());
        }
        if let Some(level) = self.level {
            builder = builder.level(level);
        }
        match self.padding {
            Some(padding) => builder.padding(padding),
            None => builder,
        }
    }
}

/// The problem line, and behind it what the line cannot say.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} -> {}", self.src, self.dst)?;
        for (name, array, placing) in
            [("src", self.src_array(), &self.src_placing), ("dst", self.dst_array(), &self.dst_placing)]
        {
            let layout = array.layout();
            if !layout.padded_dimensions().is_empty() {
                let (padded, value) = (layout.padded_dimensions(), layout.padding_value());
                write!(f, " {name}_padded_dimensions={padded:?} {value:?}")?;
            }
            if let Some(strides) = &placing.strides_bytes {
                write!(f, " {name}_strides_bytes={strides:?} {name}_offset_bytes={}", placing.offset_bytes)?;
            }
        }
        if let Some(region) = &self.region {
            let (extents, src, dst) = (region.extents(), region.src_start(), region.dst_start());
            write!(f, " region={extents:?} from {src:?} to {dst:?}")?;
        }
        if let Some(padding) = self.padding {
            write!(f, " padding={padding:?}")?;
        }
        if self.conversion != Conversion::new() {
            write!(f, " {:?}", self.conversion)?;
        }
        if let Some(level) = self.level {
            write!(f, " level={level}")?;
        }
        write!(f, " threads={} streaming={:?}", self.max_threads, self.streaming)
    }
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// At least one type of every width.
const TYPES: &[PrimitiveType] = {
    use PrimitiveType as P;
    &[
        P::U8,
        P::F32,
        P::Bf16,
        P::S4,
        P::F64,
        P::C128,
        P::Pred,
        P::U2,
        P::U1,
        P::F4e2m1fn,
        P::F6e3m2fn,
        P::C64,
        P::S16,
        P::F8e8m0fnu,
    ]
};

/// Different bytes, so that a wrong width or order shows.
const FILL: Padding = Padding::Fill(0x1f2e_3d4c_5b6a_7988_9706_1524_3342_5160);

/// None half of the time, so that a level that the environment asks for is tried too.
fn level(choices: &mut Choices<'_>) -> Option<Level> {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|level| level.is_available()).collect();
    choices.one_in(2).then(|| choices.pick(&levels))
}

fn sizes(choices: &mut Choices<'_>, limits: Limits) -> Vec<i64> {
    let rank = choices.pick(&[1, 2, 3, 2, 4, 2, 3, 0, 5, 6, 8, 13]);
    let mut room = limits.elements;
    let size = |_| {
        // Many dimensions are small ones, so that they are not all 1 but for the first.
        let size = if rank < 8 { size(choices, limits) } else { 1 + choices.below(4) };
        let size = size.min(room);
        room /= size.max(1);
        size
    };
    (0..rank).map(size).collect()
}

fn size(choices: &mut Choices<'_>, limits: Limits) -> i64 {
    match choices.below(100) {
        0..50 => 1 + choices.below(9),
        50..65 => choices.pick(&[8, 16, 32, 64, 128]),
        65..80 => choices.pick(&[127, 129, 31, 33, 17, 100, 255, 260]),
        80..99 => 1 + choices.below(500.max(limits.elements / 200)),
        _ => 0,
    }
}

/// The destination's sizes, and a box that lies in both arrays.
fn region(choices: &mut Choices<'_>, src_sizes: &[i64], limits: Limits) -> (Vec<i64>, Option<Region>) {
    let (mut dst_sizes, mut extents) = (Vec::new(), Vec::new());
    let (mut src_start, mut dst_start) = (Vec::new(), Vec::new());
    let mut room = limits.elements;
    for &src in src_sizes {
        let dst = match choices.below(3) {
            0 => src,
            1 => src - choices.below(src + 1),
            _ => src + choices.below(9),
        };
        let dst = dst.min(room);
        room /= dst.max(1);
        let most = src.min(dst);
        let extent = match choices.below(16) {
            0..8 => most,
            8..15 => most - choices.below(most.max(1)),
            _ => 0,
        };
        dst_sizes.push(dst);
        extents.push(extent);
        src_start.push(choices.below(src - extent + 1));
        dst_start.push(choices.below(dst - extent + 1));
    }
    let region = Region::new(extents).with_src_start(src_start).with_dst_start(dst_start);
    (dst_sizes, Some(region))
}

fn array(
    choices: &mut Choices<'_>,
    element_type: PrimitiveType,
    sizes: &[i64],
    limits: Limits,
) -> ArrayShape {
    let dynamic = |&size: &i64| match choices.one_in(12) {
        true => DimensionSize::Bounded(size),
        false => DimensionSize::Static(size),
    };
    let dimensions: Vec<DimensionSize> = sizes.iter().map(dynamic).collect();
    let order = choices.permutation(sizes.len()).into_iter().map(|dimension| dimension as i64);
    let mut layout =
        Layout::from_major_to_minor(order).with_element_size_in_bits(slot_bits(choices, element_type));
    if choices.one_in(10) {
        layout = legacy_padding(choices, layout, sizes);
    } else {
        layout = layout.with_tiles(tiles(choices, sizes.len()));
    }
    if choices.one_in(6) {
        layout = layout.with_tail_padding_alignment_in_elements(1 + choices.below(40));
    }
    let mut shape = ArrayShape::new(element_type, dimensions).with_layout(layout);
    while shape.padded_elements().map_or(true, |slots| slots > limits.slots) {
        let layout = shape.layout().clone();
        let tiles = layout.tiles().split_last().map_or(Vec::new(), |(_, rest)| rest.to_vec());
        shape = shape.with_layout(layout.with_tiles(tiles).with_padded_dimensions([], PaddingValue::Unknown));
    }
    shape
}

/// An `E` that the type fits into: packed where it can be, wider than the type, or none.
fn slot_bits(choices: &mut Choices<'_>, element_type: PrimitiveType) -> i64 {
    match i64::from(element_type.bit_width().unwrap_or(8)) {
        bits @ (1 | 2 | 4) => choices.pick(&[0, bits, bits, bits, 4, 8, 16, 24]),
        6 => choices.pick(&[0, 8, 16]),
        bits => choices.pick(&[0, 0, 0, 0, 0, bits, bits * 2, bits + 8, 136]),
    }
}

fn legacy_padding(choices: &mut Choices<'_>, layout: Layout, sizes: &[i64]) -> Layout {
    let padded: Vec<i64> = sizes.iter().map(|size| size + choices.below(4)).collect();
    let values = {
        use PaddingValue as V;
        [V::Zero, V::One, V::Lowest, V::Highest, V::Unknown]
    };
    layout.with_padded_dimensions(padded, choices.pick(&values))
}

fn tiles(choices: &mut Choices<'_>, rank: usize) -> Vec<Tile> {
    let levels = choices.pick(&[0, 1, 2, 1, 3, 2, 0]);
    let mut digits = rank as i64;
    let mut tiles = Vec::new();
    for _ in 0..levels {
        let entries = 1 + choices.below((digits + 1).min(5));
        let entry = |position| match position + 1 < entries && choices.one_in(8) {
            true => TileDimension::Combine,
            false => choices.pick(&[2, 1, 4, 8, 3, 5, 7, 2, 4, 8, 128, 16, 6, 11, 12, 13]).into(),
        };
        let tile = Tile::new((0..entries).map(entry).collect::<Vec<_>>());
        let merged =
            tile.dimensions().iter().filter(|&&entry| entry == TileDimension::Combine).count() as i64;
        digits = digits.max(entries) + entries - 2 * merged;
        tiles.push(tile);
    }
    tiles
}

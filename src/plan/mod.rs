//! From a pair of layouts to a plan: digits, boxes, kernels.
//!
//! | step | file | from | to |
//! |---|---|---|---|
//! | expand | `digits` | one layout | the divisions and remainders of each index, with strides |
//! | cut | `numeral`, else `forest` and `cut` | two sides' digits | the parts of each index in which both advance evenly |
//! | lower | `lower`, `pieces` | parts of indices | strided boxes |
//! | pad | `padding`, over `numeral`, else `tree_slots` | one side's digits | boxes of padding |
//! | normalize | `normalize` | a box | its shortest loop nest |
//! | choose | `choose`, `planes` | a loop nest | a step: the kernel that runs it |
//! | prepare | `prepared` | few small steps | the same, checked once for all executions |
//! | pairs | `ef57` | two sides' digits | the way of `f64` that are split or joined |
//! | one side | `side`, `reach` | a checked request | its digits, its buffer's length, the fills of its padding |
//! | factors | `factors` | the source's digits | which factor of a dimension belongs to a place |
//! | tables | `tables` | two sides' digits | the way for pairs without a short list of boxes |
//!
//! Ordinary ranks and box counts are planned without a heap allocation: lists are inline and filled in place.

mod builder;
pub(crate) mod choose;
pub(crate) mod convert;
mod cut;
pub(crate) mod digits;
mod ef57;
mod explain;
mod factors;
mod forest;
mod lower;
mod normalize;
mod numeral;
mod padding;
mod pieces;
mod planes;
mod prepared;
mod reach;
mod side;
pub(crate) mod step;
pub(crate) mod tables;
mod tree_slots;

use relayout_kernels::Level;
use smallvec::SmallVec;

pub(crate) use builder::Way;
pub use builder::{PlanBuilder, Streaming};
pub use explain::{BoxExplanation, Explanation};

use crate::request::{Encoding, Parts, array_of};
use crate::{ArrayShape, Conversion, End, Fingerprint, Padding, PlanError, Region, Request, Shape};
use choose::{Element, choose};
use convert::element;
pub(crate) use ef57::Ef57;
use factors::StepPlaces;
use lower::{Expanded, Window};
use prepared::PreparedSteps;
use side::Side;
pub(crate) use side::unit;
use step::{Kernel, Step, Steps};
use tables::Tables;

/// A relayout, planned: validated, immutable, shareable between threads.
///
/// ```
/// use relayout::{Plan, Shape};
/// let src: Shape = "f32[3,5]".parse()?;
/// let dst: Shape = "f32[3,5]{0,1}".parse()?;
/// let plan = Plan::new(&src, &dst)?;
/// let numbers: Vec<u8> = (0..15u32).flat_map(|i| (i as f32).to_le_bytes()).collect();
/// let mut columns = vec![0; plan.dst_byte_size()];
/// plan.execute(&numbers, &mut columns)?;
/// assert_eq!(columns[4..8], 5f32.to_le_bytes()); // behind element (0,0) lies (1,0)
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) src: ArrayShape,
    pub(crate) dst: ArrayShape,
    /// Where the caller gave some; kept for those who ask what the plan is.
    pub(crate) src_strides: Option<Strides>,
    pub(crate) dst_strides: Option<Strides>,
    pub(crate) src_len: BufferLength,
    pub(crate) dst_len: BufferLength,
    pub(crate) element: Element,
    /// Where `f64` are split or joined, their way instead of steps' and tables'.
    pub(crate) ef57: Option<Box<Ef57>>,
    pub(crate) conversion: Conversion,
    /// In this order: fills come first, so that a fill of everything is written over.
    pub(crate) steps: Steps,
    /// Of small arrays, the steps that move elements once more, ready to run, where there are few of them.
    pub(crate) prepared: PreparedSteps,
    /// Where boxes would be too many, the elements' way instead.
    pub(crate) tables: Option<Box<Tables>>,
    /// Where boxes move elements that have factors along a dimension, whose factor is whose.
    pub(crate) step_places: Option<Box<StepPlaces>>,
    /// Added to every place that comes from `tables`.
    pub(crate) table_base: [i64; 2],
    pub(crate) max_threads: Option<usize>,
    pub(crate) level: Level,
    pub(crate) streaming: Streaming,
    /// The rest of the request, for those who ask what the plan is.
    region: Option<Region>,
    padding: Padding,
    /// True where executing leaves no byte of the destination as it was.
    pub(crate) writes_every_byte: bool,
    /// True where no padding is written where an element comes later.
    pub(crate) fills_are_apart: bool,
}

/// Explicit strides, inline for ordinary ranks.
type Strides = SmallVec<[i64; 6]>;

/// How long a buffer must be, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BufferLength {
    /// Dense arrays: exactly so many.
    Exactly(usize),
    /// Strided ones: at least so many.
    AtLeast(usize),
}

impl BufferLength {
    pub(crate) fn bytes(self) -> usize {
        match self {
            BufferLength::Exactly(bytes) | BufferLength::AtLeast(bytes) => bytes,
        }
    }
}

/// What a plan is asked for beside the request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) level: Level,
    pub(crate) max_threads: Option<usize>,
    pub(crate) streaming: Streaming,
}

impl Plan {
    /// Plans the whole of a dense `src` into a dense `dst`, padding zero unless the layout says otherwise.
    ///
    /// Both must be arrays of equal dimensions (bounded dynamic ones count with their bound), of element types of which one
    /// [becomes](crate::convert) the other; the layouts may be any two that have a size.
    ///
    /// ```
    /// use relayout::{End, LayoutError, Plan, PlanError, Shape};
    /// let (src, dst): (Shape, Shape) = ("f32[3,5]".parse()?, "f32[3,?]".parse()?);
    /// let error = LayoutError::UnboundedDimension { dimension: 1 };
    /// assert_eq!(Plan::new(&src, &dst).unwrap_err(), PlanError::Layout { end: End::Destination, error });
    /// # Ok::<(), relayout::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`PlanError`], by what the shapes break; see [`Request::check`] for the order.
    pub fn new(src: &Shape, dst: &Shape) -> Result<Plan, PlanError> {
        Plan::builder(src, dst).build()
    }

    /// Plans with options: strides, a box of the arrays, what padding becomes.
    pub fn builder<'a>(src: &'a Shape, dst: &'a Shape) -> PlanBuilder<'a> {
        PlanBuilder::new(src, dst)
    }

    /// Plans what a request asks: the same question that [`reference::relayout`](crate::reference::relayout) answers one
    /// element at a time.
    ///
    /// # Errors
    /// [`PlanError`], by what the request breaks.
    pub fn from_request(request: &Request<'_>) -> Result<Plan, PlanError> {
        let level = builder::default_level()?;
        Plan::with_options(request, Options { level, max_threads: None, streaming: Streaming::Auto })
    }

    pub(crate) fn with_options(request: &Request<'_>, options: Options) -> Result<Plan, PlanError> {
        let mut rooms = [Expanded::default(), Expanded::default()];
        Lowering::new(request, &mut rooms)?.plan(options)
    }

    /// Bytes of the source buffer; with strides, the least that it may have.
    pub fn src_byte_size(&self) -> usize {
        self.src_len.bytes()
    }

    /// Bytes of the destination buffer; with strides, the least that it may have.
    pub fn dst_byte_size(&self) -> usize {
        self.dst_len.bytes()
    }

    /// The instructions that the plan uses.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The shape that is read.
    pub fn src(&self) -> &ArrayShape {
        &self.src
    }

    /// The shape that is written.
    pub fn dst(&self) -> &ArrayShape {
        &self.dst
    }

    /// True where all of both arrays takes part, and padding is written.
    pub(crate) fn is_whole(&self) -> bool {
        self.region.is_none() && self.writes_every_byte
    }

    /// What padding becomes.
    pub(crate) fn padding(&self) -> Padding {
        self.padding
    }

    /// The number that names what the plan moves, and not how.
    pub fn fingerprint(&self) -> Fingerprint {
        let parts = Parts {
            src: &self.src,
            dst: &self.dst,
            src_strides_bytes: self.src_strides.as_deref(),
            dst_strides_bytes: self.dst_strides.as_deref(),
            src_offset_bytes: self.table_base[0],
            dst_offset_bytes: self.table_base[1],
            region: self.region.as_ref(),
            padding: Some(self.padding),
            conversion: &self.conversion,
        };
        Encoding::new(|writer| writer.request(parts)).fingerprint()
    }

    /// True where executing writes the destination with one copy of contiguous bytes, and nothing else.
    pub fn is_memcpy(&self) -> bool {
        let copies = self.steps.iter().all(|step| matches!(step.kernel, Kernel::Copy));
        self.tables.is_none() && self.ef57.is_none() && self.steps.len() <= 1 && copies
    }

    /// True where the destination's bytes are the source's bytes, so that a caller may skip the relayout.
    ///
    /// ```
    /// use relayout::{Plan, Shape};
    /// let (src, dst): (Shape, Shape) = ("f32[16,128]".parse()?, "f32[16,128]{1,0:T(8,128)}".parse()?);
    /// assert!(Plan::new(&src, &dst)?.is_identity()); // tiles as wide as the array, and no padding
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_identity(&self) -> bool {
        let whole = |step: Step<'_>| {
            let starts = [step.nest.src_offset, step.nest.dst_offset];
            starts == [0, 0] && step.points() == self.dst_byte_size()
        };
        self.is_memcpy() && self.src_byte_size() == self.dst_byte_size() && self.steps.iter().all(whole)
    }
}

/// A checked request on its way to steps.
struct Lowering<'a> {
    request: &'a Request<'a>,
    src: Side<'a>,
    dst: Side<'a>,
    src_layout: Option<&'a Expanded>,
    dst_layout: Option<&'a Expanded>,
    src_window: Window,
    /// Where `ef57` makes it another than the source's.
    dst_window: Option<Window>,
}

impl<'a> Lowering<'a> {
    fn new(request: &'a Request<'a>, rooms: &'a mut [Expanded; 2]) -> Result<Lowering<'a>, PlanError> {
        let [src_size, dst_size] = request.memory_sizes()?;
        let src = Side::new(request, End::Source, src_size)?;
        let dst = Side::new(request, End::Destination, dst_size)?;
        src.expand(&mut rooms[0].digits);
        dst.expand(&mut rooms[1].digits);
        if rooms.iter().any(|room| !room.digits.ops.is_empty()) {
            rooms.iter_mut().for_each(Expanded::find_places);
        }
        let [src_room, dst_room] = &*rooms;
        let (src_layout, dst_layout) =
            (src.has_slots().then_some(src_room), dst.has_slots().then_some(dst_room));
        let src_window = window(request);
        let split = || Window { extents: request.dst_extents().into(), ..src_window.clone() };
        let dst_window = request.conversion().ef57().then(split);
        Ok(Lowering { request, src, dst, src_layout, dst_layout, src_window, dst_window })
    }

    /// The plan, put together at the end: it is too large to be moved for nothing.
    fn plan(&self, options: Options) -> Result<Plan, PlanError> {
        let (request, src, dst) = (self.request, &self.src, &self.dst);
        let [src_strides, dst_strides] = [src, dst].map(|side| side.strides.map(Strides::from_slice));
        let src_len = src.buffer_length(self.src_layout, &self.src_window)?;
        let dst_len = dst.buffer_length(self.dst_layout, self.window())?;
        let element = element(request, src.width, dst.width)?;
        let mut steps = Steps::default();
        let fills_are_apart = self.add_fills(&mut steps)?;
        let OtherWays { ef57, tables, step_places } = self.add_elements(&element, &mut steps)?;
        let prepared = match (&ef57, &tables, &step_places) {
            (None, None, None) => PreparedSteps::new(&steps, &element, [src_len, dst_len], options),
            _ => PreparedSteps::default(),
        };
        Ok(Plan {
            src: request.src().clone(),
            dst: request.dst().clone(),
            src_strides,
            dst_strides,
            src_len,
            dst_len,
            element,
            ef57,
            conversion: request.conversion().clone(),
            steps,
            prepared,
            tables,
            step_places,
            table_base: [src.offset, dst.offset],
            max_threads: options.max_threads,
            level: options.level,
            streaming: options.streaming,
            region: request.region().cloned(),
            padding: request.padding(),
            writes_every_byte: writes_every_byte(request),
            fills_are_apart,
        })
    }

    fn window(&self) -> &Window {
        self.dst_window.as_ref().unwrap_or(&self.src_window)
    }

    /// Adds what writes padding; false where it writes elements too, before those arrive.
    fn add_fills(&self, steps: &mut Steps) -> Result<bool, PlanError> {
        let Some(layout) = self.dst_layout else { return Ok(true) };
        let fills = self.dst.fills(layout, self.window(), steps);
        fills.ok_or(PlanError::AddressOverflow { end: End::Destination })
    }

    /// Adds what moves the elements, or says in which way else they are moved.
    fn add_elements(&self, element: &Element, steps: &mut Steps) -> Result<OtherWays, PlanError> {
        let ((Some(src), Some(dst)), window) = ((self.src_layout, self.dst_layout), self.window()) else {
            return Ok(OtherWays::default());
        };
        if window.is_empty() {
            return Ok(OtherWays::default());
        }
        let conversion = self.request.conversion();
        if conversion.ef57() {
            let ef57 = Ef57::new(self.request, [&src.digits, &dst.digits], [&self.src_window, window]);
            return Ok(OtherWays { ef57: Some(Box::new(ef57)), ..OtherWays::default() });
        }
        let mut add_boxes = || {
            let boxes = lower::copies(src, dst, window, &mut |piece| {
                piece.shift(self.src.offset, self.dst.offset);
                choose(piece, element, steps)
            });
            boxes.ok_or(PlanError::AddressOverflow { end: End::Source })
        };
        let factors = conversion.factors_along();
        let step_places = factors.and_then(|(dimension, _)| StepPlaces::new(&src.digits, dimension, window));
        // Where places do not say whose factor is whose, only the tables do.
        let in_boxes = factors.is_some() == step_places.is_some() && add_boxes()?;
        let tables = || Box::new(Tables::new(src.digits.clone(), dst.digits.clone(), window));
        Ok(OtherWays { ef57: None, tables: (!in_boxes).then(tables), step_places })
    }
}

/// Where boxes are not the way of the elements, one of the first two is; the third is for boxes.
#[derive(Default)]
struct OtherWays {
    ef57: Option<Box<Ef57>>,
    tables: Option<Box<Tables>>,
    step_places: Option<Box<StepPlaces>>,
}

/// True where the elements, and padding where it is written, are all of the destination's bytes.
fn writes_every_byte(request: &Request<'_>) -> bool {
    let is_dense = request.strides_bytes(End::Destination).is_none();
    is_dense && request.covers_destination() && request.padding() != Padding::Leave
}

fn window(request: &Request<'_>) -> Window {
    let zero = || SmallVec::from_elem(0, request.src().rank());
    let start = |of: fn(&crate::Region) -> &[i64]| {
        request.region().map_or_else(zero, |region| SmallVec::from_slice(of(region)))
    };
    Window {
        extents: request.inline_extents(),
        src_start: start(crate::Region::src_start),
        dst_start: start(crate::Region::dst_start),
    }
}

/// The arrays of two shapes.
fn arrays<'a>(src: &'a Shape, dst: &'a Shape) -> Result<(&'a ArrayShape, &'a ArrayShape), PlanError> {
    Ok((array_of(End::Source, src)?, array_of(End::Destination, dst)?))
}

//! From a pair of layouts to a plan: digits, boxes, kernels.
//!
//! | step | file | from | to |
//! |---|---|---|---|
//! | expand | `digits` | one layout | the divisions and remainders of each index, with strides |
//! | plant | `forest` | digits | one tree per index |
//! | lower | `lower`, `pieces`, `padding` | two forests | strided boxes, and boxes of padding |
//! | normalize | `normalize` | a box | its shortest loop nest |
//! | choose | `choose` | a loop nest | a step: the kernel that runs it |
//! | tables | `tables` | two sides' digits | the way for pairs without a short list of boxes |

mod builder;
mod choose;
mod digits;
mod explain;
mod forest;
mod lower;
mod normalize;
mod padding;
mod pieces;
mod reach;
pub(crate) mod step;
pub(crate) mod tables;

use relayout_kernels::{Fill, Level, SlotWidth};
use smallvec::SmallVec;

pub use builder::{PlanBuilder, Streaming};
pub use explain::{BoxExplanation, Explanation};

use crate::request::array_of;
use crate::{ArrayShape, End, Padding, PlanError, Request, Shape, Slot};
use choose::{Element, choose, choose_fill};
use digits::{Digits, expand};
use lower::Window;
use pieces::{Atom, Piece, Pieces};
use reach::{Reach, check_overlap};
use step::{Kernel, Step, slot_width};
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
    pub(crate) src_digits: Option<Digits>,
    pub(crate) dst_digits: Option<Digits>,
    pub(crate) src_len: BufferLength,
    pub(crate) dst_len: BufferLength,
    pub(crate) element: Element,
    /// In this order: fills come first, so that a fill of everything is written over.
    pub(crate) steps: Vec<Step>,
    /// Where boxes would be too many, the elements' way instead.
    pub(crate) tables: Option<Tables>,
    /// Added to every place that comes from `tables`.
    pub(crate) table_base: [i64; 2],
    pub(crate) max_threads: Option<usize>,
    pub(crate) level: Level,
    pub(crate) streaming: Streaming,
}

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

/// One side of a request, expanded.
struct SidePlan {
    end: End,
    digits: Option<Digits>,
    width: SlotWidth,
    /// Width of a slot in the unit of the side.
    slot: i64,
    len: BufferLength,
}

impl Plan {
    /// Plans the whole of a dense `src` into a dense `dst`, padding zero unless the layout says otherwise.
    ///
    /// Both must be arrays of one element type and of equal dimensions (bounded dynamic ones count with their bound);
    /// the layouts may be any two that have a size.
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
        Plan::at_level(request, builder::default_level()?)
    }

    fn at_level(request: &Request<'_>, level: Level) -> Result<Plan, PlanError> {
        request.check()?;
        let window = window(request);
        let src = side(request, End::Source, &window)?;
        let dst = side(request, End::Destination, &window)?;
        let element = Element { src: src.width, dst: dst.width, bits: request.moved_bits()? };
        let overflow = |end| move || PlanError::AddressOverflow { end };
        let mut plan = Plan {
            src: request.src().clone(),
            dst: request.dst().clone(),
            src_len: src.len,
            dst_len: dst.len,
            element,
            steps: padding_steps(request, &dst, &window).ok_or_else(overflow(End::Destination))??,
            tables: None,
            table_base: [request.offset_bytes(End::Source), request.offset_bytes(End::Destination)],
            max_threads: None,
            level,
            streaming: Streaming::Auto,
            src_digits: src.digits,
            dst_digits: dst.digits,
        };
        if let (Some(src), Some(dst)) = (&plan.src_digits, &plan.dst_digits)
            && !window.is_empty()
        {
            match lower::copies(src, dst, &window) {
                Some(boxes) => {
                    for piece in boxes {
                        let [src_base, dst_base] = plan.table_base;
                        let placed = Piece {
                            src_offset: piece.src_offset + src_base,
                            dst_offset: piece.dst_offset + dst_base,
                            ..piece
                        };
                        plan.steps.extend(choose(&placed, element).ok_or_else(overflow(End::Source))?);
                    }
                }
                None => plan.tables = Some(Tables::new(src.clone(), dst.clone(), &window)),
            }
        }
        Ok(plan)
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

    /// True where executing writes the destination with one copy of contiguous bytes, and nothing else.
    pub fn is_memcpy(&self) -> bool {
        let one_copy = matches!(self.steps[..], [Step { kernel: Kernel::Copy { .. }, .. }]);
        self.tables.is_none() && (one_copy || self.steps.is_empty())
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
        let whole = |step: &Step| {
            step.src_offset == 0 && step.dst_offset == 0 && step.points() == self.dst_byte_size()
        };
        self.is_memcpy() && self.src_byte_size() == self.dst_byte_size() && self.steps.iter().all(whole)
    }
}

fn window(request: &Request<'_>) -> Window {
    let zero = || SmallVec::from_elem(0, request.src().rank());
    let start = |of: fn(&crate::Region) -> &[i64]| {
        request.region().map_or_else(zero, |region| SmallVec::from_slice(of(region)))
    };
    Window {
        extents: request.extents().into(),
        src_start: start(crate::Region::src_start),
        dst_start: start(crate::Region::dst_start),
    }
}

/// Expands one side and finds how long its buffer must be.
fn side(request: &Request<'_>, end: End, window: &Window) -> Result<SidePlan, PlanError> {
    let layout = |error| PlanError::Layout { end, error };
    let shape = if end == End::Source { request.src() } else { request.dst() };
    let slot = request.slot(end)?;
    let width = slot_width(slot).ok_or(PlanError::AddressOverflow { end })?;
    let unit = match slot {
        Slot::Bytes(bytes) => bytes,
        Slot::Bits(_) => 1,
    };
    let strides = request.strides_bytes(end);
    // An array without slots has no digits: its sizes need not even fit 64 bits before the zero is met.
    let digits = (shape.padded_elements().map_err(layout)? > 0).then(|| expand(shape, unit, strides));
    let len = match (&digits, strides) {
        (Some(digits), Some(_)) => {
            let start = if end == End::Source { &window.src_start } else { &window.dst_start };
            let mut reach = Reach::of_elements(digits, start, window, unit, end)?;
            if end == End::Destination {
                let writes_padding = request.covers_destination() && request.padding() != Padding::Leave;
                check_overlap(digits, window, writes_padding, unit)?;
                if writes_padding {
                    reach.add_pieces(&lower::fills(digits, &window.extents), unit);
                }
            }
            BufferLength::AtLeast(reach.buffer_length(request.offset_bytes(end), end)?)
        }
        (None, Some(_)) => BufferLength::AtLeast(0),
        (_, None) => {
            let bytes = shape.byte_size().map_err(layout)?;
            BufferLength::Exactly(usize::try_from(bytes).map_err(|_| PlanError::AddressOverflow { end })?)
        }
    };
    Ok(SidePlan { end, digits, width, slot: unit, len })
}

/// The steps that write the destination's padding; `None` where an address does not fit this machine.
fn padding_steps(
    request: &Request<'_>,
    side: &SidePlan,
    window: &Window,
) -> Option<Result<Vec<Step>, PlanError>> {
    let value = match request.padding() {
        Padding::Leave => return Some(Ok(Vec::new())),
        Padding::Zero => 0,
        Padding::Fill(value) => value,
    };
    let (Some(digits), true) = (&side.digits, request.covers_destination()) else {
        return Some(Ok(Vec::new()));
    };
    let mut pieces = lower::fills(digits, &window.extents);
    let mut steps = Vec::new();
    if request.strides_bytes(side.end).is_none() {
        match tail(request.dst(), digits, side) {
            Ok((slots, unused)) => {
                pieces.extend(slots);
                if let Some(unused) = unused {
                    steps.push(choose_fill(&unused, Fill { value: 0, width: side.width })?);
                }
            }
            Err(error) => return Some(Err(PlanError::Layout { end: side.end, error })),
        }
    }
    let base = request.offset_bytes(side.end);
    for piece in &pieces {
        let placed = Piece { dst_offset: piece.dst_offset + base, ..piece.clone() };
        steps.push(choose_fill(&placed, Fill { value, width: side.width })?);
    }
    Some(Ok(steps))
}

/// What lies behind the last digit's slots: the slots that `L` adds, and the unused bits of the last byte.
fn tail(
    shape: &ArrayShape,
    digits: &Digits,
    side: &SidePlan,
) -> Result<(Pieces, Option<Piece>), crate::LayoutError> {
    let total = shape.padded_elements()?;
    let placed: i64 = digits.terms.iter().map(|term| digits.slots[term.register]).product();
    let run = |first: i64, slots: i64| Piece {
        src_offset: 0,
        dst_offset: first * side.slot,
        atoms: SmallVec::from_slice(&[Atom { extent: slots, src_stride: side.slot, dst_stride: side.slot }]),
    };
    let added = (total > placed).then(|| run(placed, total - placed)).into_iter().collect();
    let unused = match side.width {
        SlotWidth::Bits(bits) => match total % (8 / bits as i64) {
            0 => None,
            over => Some(run(total, 8 / bits as i64 - over)),
        },
        SlotWidth::Bytes(_) => None,
    };
    Ok((added, unused))
}

/// The arrays of two shapes.
fn arrays<'a>(src: &'a Shape, dst: &'a Shape) -> Result<(&'a ArrayShape, &'a ArrayShape), PlanError> {
    Ok((array_of(End::Source, src)?, array_of(End::Destination, dst)?))
}

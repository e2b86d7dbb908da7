//! One side of a request: its digits, the length of its buffer, and its padding.

use relayout_kernels::{Fill, SlotWidth};

use super::BufferLength;
use super::choose::choose_fill;
use super::digits::{Digits, expand};
use super::lower::{self, Expanded, Window};
use super::pieces::{Atom, Piece};
use super::reach::{Reach, check_overlap};
use super::step::{Steps, slot_width};
use crate::size::MemorySize;
use crate::{ArrayShape, End, Padding, PlanError, Request};

/// What one side of a checked request says.
pub(crate) struct Side<'a> {
    end: End,
    shape: &'a ArrayShape,
    size: MemorySize,
    pub(crate) width: SlotWidth,
    pub(crate) strides: Option<&'a [i64]>,
    /// The byte where the element of index 0 lies.
    pub(crate) offset: i64,
    /// What padding becomes, where it is part of the request.
    padding: Option<u128>,
}

/// Units of a side that one slot takes: bytes, or 1 where slots share bytes.
pub(crate) fn unit(width: SlotWidth) -> i64 {
    match width {
        SlotWidth::Bytes(bytes) => bytes as i64,
        SlotWidth::Bits(_) => 1,
    }
}

impl<'a> Side<'a> {
    pub(crate) fn new(request: &Request<'a>, end: End, size: MemorySize) -> Result<Side<'a>, PlanError> {
        let written = end == End::Destination && request.covers_destination();
        Ok(Side {
            end,
            shape: request.shape(end),
            size,
            width: slot_width(request.slot(end)?).ok_or(PlanError::AddressOverflow { end })?,
            strides: request.strides_bytes(end),
            offset: request.offset_bytes(end),
            padding: match request.padding() {
                Padding::Zero if written => Some(0),
                Padding::Fill(value) if written => Some(value),
                _ => None,
            },
        })
    }

    /// Expands the layout, into room that is empty. An array without slots has no digits: its sizes need not even fit 64 bits
    /// before the zero is met.
    pub(crate) fn expand(&self, room: &mut Digits) {
        if self.has_slots() {
            expand(self.shape, unit(self.width), self.strides, room);
        }
    }

    pub(crate) fn has_slots(&self) -> bool {
        self.size.slots > 0
    }

    pub(crate) fn buffer_length(
        &self,
        layout: Option<&Expanded>,
        window: &Window,
    ) -> Result<BufferLength, PlanError> {
        let end = self.end;
        if self.strides.is_none() {
            let bytes = usize::try_from(self.size.bytes);
            return bytes.map(BufferLength::Exactly).map_err(|_| PlanError::AddressOverflow { end });
        }
        let Some(layout) = layout else { return Ok(BufferLength::AtLeast(0)) };
        let digits = &layout.digits;
        let start = if end == End::Source { &window.src_start } else { &window.dst_start };
        let slot = unit(self.width);
        let mut reach = Reach::of_elements(digits, start, window, slot, end)?;
        if end == End::Destination {
            check_overlap(digits, window, self.padding.is_some(), slot)?;
        }
        if self.padding.is_some() {
            let add = &mut |piece: &mut Piece| {
                reach.add_piece(piece, slot);
                Some(())
            };
            lower::fills(layout, &window.extents, add);
        }
        Ok(BufferLength::AtLeast(reach.buffer_length(self.offset, end)?))
    }

    /// Adds the steps that write padding, false where they write elements too, before those arrive; `None` where an address
    /// does not fit this machine.
    pub(crate) fn fills(&self, layout: &Expanded, window: &Window, steps: &mut Steps) -> Option<bool> {
        let Some(value) = self.padding else { return Some(true) };
        let fill = |value| Fill { value, width: self.width };
        if self.strides.is_none()
            && let Some(mut unused) = self.unused_bits()
        {
            choose_fill(&mut unused, fill(0), steps)?;
        }
        // As many slots as elements leave nothing between them.
        if window.extents.iter().try_fold(1, |product: i64, &extent| product.checked_mul(extent))
            == Some(self.size.slots)
        {
            return Some(true);
        }
        if self.strides.is_none()
            && let Some(mut tail) = self.tail(&layout.digits)
        {
            choose_fill(&mut tail, fill(value), steps)?;
        }
        lower::fills(layout, &window.extents, &mut |piece| {
            piece.dst_offset += self.offset;
            choose_fill(piece, fill(value), steps)
        })
    }

    /// `slots` neighbours from slot `first` on.
    fn run(&self, first: i64, slots: i64) -> Piece {
        let unit = unit(self.width);
        let mut run = Piece { dst_offset: first * unit, ..Piece::default() };
        run.add_loop(Atom { extent: slots, src_stride: unit, dst_stride: unit });
        run
    }

    /// The slots that `L` adds behind those of the last digit.
    fn tail(&self, digits: &Digits) -> Option<Piece> {
        let placed: i64 = digits.terms.iter().map(|term| digits.slots[term.register]).product();
        (self.size.slots > placed).then(|| self.run(placed, self.size.slots - placed))
    }

    /// The bits of the last byte that belong to no slot.
    fn unused_bits(&self) -> Option<Piece> {
        let SlotWidth::Bits(bits) = self.width else { return None };
        let per_byte = 8 / bits as i64;
        let over = self.size.slots % per_byte;
        (over != 0).then(|| self.run(self.size.slots, per_byte - over))
    }
}

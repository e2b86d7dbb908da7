//! Which kernel moves a box: an ordered list of candidates that accept or refuse, most special first.

use relayout_kernels::{Fill, SlotWidth};
use smallvec::SmallVec;

use super::normalize::normalize;
use super::pieces::{Atom, Piece};
use super::step::{Kernel, Step};

/// What every box of a plan has in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) src: SlotWidth,
    pub(crate) dst: SlotWidth,
    /// Bits that move.
    pub(crate) bits: i64,
}

impl Element {
    /// Bytes that move, where both sides have whole bytes and the value has too.
    pub(crate) fn bytes(self) -> Option<usize> {
        match (self.src, self.dst) {
            (SlotWidth::Bytes(_), SlotWidth::Bytes(_)) if self.bits % 8 == 0 => {
                usize::try_from(self.bits / 8).ok()
            }
            _ => None,
        }
    }
}

/// The steps that move one box; `None` where an address does not fit this machine.
pub(crate) fn choose(piece: &Piece, element: Element) -> Option<SmallVec<[Step; 2]>> {
    let piece = normalize(piece);
    let mut steps = SmallVec::new();
    match element.bytes() {
        Some(bytes) => {
            steps.push(whole_bytes(&piece, bytes)?);
            if let SlotWidth::Bytes(slot) = element.dst
                && slot > bytes
            {
                steps.push(zero_extension(&piece, bytes, slot)?);
            }
        }
        None => packed(&piece, element, &mut steps)?,
    }
    Some(steps)
}

/// A step that fills a box; `None` where an address does not fit this machine.
pub(crate) fn choose_fill(piece: &Piece, fill: Fill) -> Option<Step> {
    Step::new(Kernel::Fill(fill), &normalize(piece))
}

fn whole_bytes(piece: &Piece, bytes: usize) -> Option<Step> {
    [copy, rows, blocked].iter().find_map(|candidate| candidate(piece, bytes))
}

/// Everything is one run.
fn copy(piece: &Piece, bytes: usize) -> Option<Step> {
    let extent = match piece.atoms[..] {
        [] => 1,
        [atom] if is_run(atom, bytes) => atom.extent,
        _ => return None,
    };
    let atom = Atom { extent: extent.checked_mul(bytes as i64)?, src_stride: 1, dst_stride: 1 };
    let run = Piece { atoms: SmallVec::from_slice(&[atom]), ..*piece };
    Step::new(Kernel::Copy { bytes: atom.extent.try_into().ok()? }, &run)
}

/// The innermost loop is contiguous on both sides.
fn rows(piece: &Piece, bytes: usize) -> Option<Step> {
    let run = piece.atoms.last().is_some_and(|&atom| is_run(atom, bytes));
    run.then(|| Step::new(Kernel::Rows { element_bytes: bytes }, piece)).flatten()
}

/// Anything: the loop that is fastest in the source comes next to the one that is fastest in the destination.
fn blocked(piece: &Piece, bytes: usize) -> Option<Step> {
    let mut piece = piece.clone();
    let fastest = (0..piece.atoms.len()).min_by_key(|&i| piece.atoms[i].src_stride.unsigned_abs())?;
    let last = piece.atoms.len() - 1;
    if fastest < last {
        piece.atoms[fastest..last].rotate_left(1);
    }
    Step::new(Kernel::Blocked { element_bytes: bytes }, &piece)
}

/// A slot wider than what moves into it: zeros behind each element.
fn zero_extension(piece: &Piece, bytes: usize, slot: usize) -> Option<Step> {
    let mut rest = piece.clone();
    rest.dst_offset = rest.dst_offset.checked_add(i64::try_from(bytes).ok()?)?;
    Step::new(Kernel::Fill(Fill { value: 0, width: SlotWidth::Bytes(slot - bytes) }), &rest)
}

/// Slots that share bytes: a run of equal slots that starts bytes on both sides moves as bytes, the rest one by one.
fn packed(piece: &Piece, element: Element, steps: &mut SmallVec<[Step; 2]>) -> Option<()> {
    let one_by_one = Kernel::Slots { value_bits: element.bits.try_into().ok()? };
    let run = match (element.src, element.dst, &piece.atoms[..]) {
        (SlotWidth::Bits(src), SlotWidth::Bits(dst), &[atom]) if src == dst && is_run(atom, 1) => {
            Some((atom.extent, 8 / src as i64))
        }
        _ => None,
    };
    match run {
        Some((slots, per_byte)) if piece.src_offset % per_byte == 0 && piece.dst_offset % per_byte == 0 => {
            let whole = slots / per_byte * per_byte;
            let bytes = |offset| offset / per_byte;
            let part = |src_offset, dst_offset, extent| Piece {
                src_offset,
                dst_offset,
                atoms: SmallVec::from_slice(&[Atom { extent, src_stride: 1, dst_stride: 1 }]),
            };
            let run = part(bytes(piece.src_offset), bytes(piece.dst_offset), bytes(whole));
            steps.push(Step::new(Kernel::Copy { bytes: bytes(whole).try_into().ok()? }, &run)?);
            if whole < slots {
                let tail = part(piece.src_offset + whole, piece.dst_offset + whole, slots - whole);
                steps.push(Step::new(one_by_one, &tail)?);
            }
        }
        _ => steps.push(Step::new(one_by_one, piece)?),
    }
    Some(())
}

/// True where a loop is contiguous on both sides.
fn is_run(atom: Atom, bytes: usize) -> bool {
    let bytes = i64::try_from(bytes);
    bytes.is_ok_and(|bytes| atom.src_stride == bytes && atom.dst_stride == bytes)
}

//! Which kernel moves a box: an ordered list of candidates that accept or refuse, most special first.

use relayout_kernels::{Family, Fill, SlotWidth};
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
    let (piece, bytes) = &widen(piece, bytes);
    [copy, rows, interleave, deinterleave, transpose, strided]
        .iter()
        .find_map(|candidate| candidate(piece, *bytes))
}

/// Elements that always move together are one wider element, up to the widest that kernels know.
fn widen(piece: &Piece, bytes: usize) -> (Piece, usize) {
    if let [atoms @ .., last] = &piece.atoms[..]
        && is_run(*last, bytes)
        && let Some(run) = usize::try_from(last.extent).ok().and_then(|extent| extent.checked_mul(bytes))
        && matches!(run, 2 | 4 | 8 | 16)
    {
        return (Piece { atoms: SmallVec::from_slice(atoms), ..*piece }, run);
    }
    (piece.clone(), bytes)
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
    let (run, others) = piece.atoms.split_last()?;
    if !is_run(*run, bytes) {
        return None;
    }
    let mut atoms: SmallVec<[Atom; 6]> = SmallVec::from_slice(others);
    // Tile by tile in either direction: of two loops that are as fast on one side each, the one that stays nearer goes
    // outside.
    atoms.sort_by_key(|atom| {
        let (src, dst) = (atom.src_stride.unsigned_abs(), atom.dst_stride.unsigned_abs());
        (std::cmp::Reverse(src.min(dst)), src.max(dst))
    });
    atoms.push(*run);
    Step::new(Kernel::Move { family: Family::Rows, element_bytes: bytes }, &Piece { atoms, ..*piece })
}

/// The loops that are contiguous in the source and in the destination, where there are such and they differ.
fn units(piece: &Piece, bytes: usize) -> Option<(usize, usize)> {
    let bytes = i64::try_from(bytes).ok()?;
    let src = piece.atoms.iter().position(|atom| atom.src_stride == bytes)?;
    let dst = piece.atoms.iter().position(|atom| atom.dst_stride == bytes)?;
    (src != dst).then_some((src, dst))
}

/// Most rows, or channels, that the interleaving kernels take.
const MAX_WAYS: i64 = 8;

/// A few rows become one stream: the destination's fastest loop is short, and the source's fastest continues it.
fn interleave(piece: &Piece, bytes: usize) -> Option<Step> {
    let (src, dst) = units(piece, bytes)?;
    let (along, across) = (piece.atoms[src], piece.atoms[dst]);
    let fits = across.extent <= MAX_WAYS && along.dst_stride == bytes as i64 * across.extent;
    let by_destination = |atom: &Atom| atom.dst_stride;
    fits.then(|| with_innermost(piece, Family::Interleave, bytes, [src, dst], by_destination)).flatten()
}

/// One stream becomes a few rows: the reverse.
fn deinterleave(piece: &Piece, bytes: usize) -> Option<Step> {
    let (src, dst) = units(piece, bytes)?;
    let (across, along) = (piece.atoms[src], piece.atoms[dst]);
    let fits = across.extent <= MAX_WAYS && along.src_stride == bytes as i64 * across.extent;
    let by_source = |atom: &Atom| atom.src_stride.saturating_abs();
    fits.then(|| with_innermost(piece, Family::Deinterleave, bytes, [src, dst], by_source)).flatten()
}

/// Blocks of both fastest loops are transposed in registers; both must fill a lane.
fn transpose(piece: &Piece, bytes: usize) -> Option<Step> {
    let (src, dst) = units(piece, bytes)?;
    let lane = 16 / bytes as i64;
    let fits =
        [src, dst].iter().all(|&i| piece.atoms[i].extent >= lane) && matches!(bytes, 1 | 2 | 4 | 8 | 16);
    let by_both = |atom: &Atom| atom.src_stride.saturating_abs().min(atom.dst_stride);
    fits.then(|| with_innermost(piece, Family::Transpose, bytes, [src, dst], by_both)).flatten()
}

/// Two loops innermost, the others before them, slowest by `speed` first.
fn with_innermost(
    piece: &Piece,
    family: Family,
    bytes: usize,
    innermost: [usize; 2],
    speed: impl Fn(&Atom) -> i64,
) -> Option<Step> {
    let others = (0..piece.atoms.len()).filter(|i| !innermost.contains(i));
    let mut atoms: SmallVec<[Atom; 6]> = others.map(|i| piece.atoms[i]).collect();
    atoms.sort_by_key(|atom| std::cmp::Reverse(speed(atom)));
    atoms.extend(innermost.map(|i| piece.atoms[i]));
    Step::new(Kernel::Move { family, element_bytes: bytes }, &Piece { atoms, ..*piece })
}

/// Anything: the loop that is fastest in the source comes next to the one that is fastest in the destination.
fn strided(piece: &Piece, bytes: usize) -> Option<Step> {
    let mut piece = piece.clone();
    if let Some(last) = piece.atoms.len().checked_sub(1) {
        let fastest = (0..last).min_by_key(|&i| piece.atoms[i].src_stride.unsigned_abs()).unwrap_or(last);
        piece.atoms[fastest..last].rotate_left(usize::from(fastest < last));
    }
    Step::new(Kernel::Move { family: Family::Strided, element_bytes: bytes }, &piece)
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

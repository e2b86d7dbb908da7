//! Which kernel moves a box: an ordered list of candidates that accept or refuse, most special first.

use relayout_kernels::{Family, Fill, SlotWidth};
use smallvec::smallvec;

use super::convert::Convert;
use super::pieces::{Atom, Piece, bytes_of};
use super::planes::{IN_CACHE, is_plane};
use super::step::{Kernel, Steps};

/// What every box of a plan has in common.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element {
    pub(crate) src: SlotWidth,
    pub(crate) dst: SlotWidth,
    /// Bits that move, or that a converted value has.
    pub(crate) bits: i64,
    /// What happens to elements whose type or slot width changes, unless bytes that move say it all.
    pub(crate) convert: Option<Convert>,
}

impl Element {
    /// Bytes that move, where bytes are moved.
    pub(crate) fn bytes(&self) -> Option<usize> {
        if self.convert.is_some() { None } else { usize::try_from(self.bits / 8).ok() }
    }

    /// What is written of a slot of the destination, before zeros behind it: the slot where it shares a byte, else the
    /// value's bytes.
    pub(crate) fn written(&self) -> SlotWidth {
        match self.dst {
            SlotWidth::Bytes(slot) => {
                SlotWidth::Bytes(usize::try_from(self.bits).map_or(slot, |bits| bits.div_ceil(8)))
            }
            bits => bits,
        }
    }
}

/// Adds the steps that move one box; `None` where an address does not fit this machine.
pub(crate) fn choose(piece: &mut Piece, element: &Element, steps: &mut Steps) -> Option<()> {
    piece.normalize();
    // Slots wider than what moves into them are zero behind it: they are cleared as wholes, which makes runs.
    if let (SlotWidth::Bytes(slot), SlotWidth::Bytes(bytes)) = (element.dst, element.written())
        && slot > bytes
    {
        steps.push(Kernel::Fill(Fill { value: 0, width: element.dst }), piece)?;
    }
    match element.bytes() {
        Some(bytes) => whole_bytes(piece, bytes, steps),
        None => changed(piece, element, steps),
    }
}

/// Adds a step that fills a box; `None` where an address does not fit this machine.
pub(crate) fn choose_fill(piece: &mut Piece, fill: Fill, steps: &mut Steps) -> Option<()> {
    piece.normalize();
    steps.push(Kernel::Fill(fill), piece)
}

fn whole_bytes(piece: &mut Piece, bytes: usize, steps: &mut Steps) -> Option<()> {
    let bytes = widen(piece, bytes);
    if let Some(run) = single_run(piece, bytes) {
        piece.atoms = smallvec![Atom { extent: run, src_stride: 1, dst_stride: 1 }];
        return steps.push(Kernel::Copy, piece);
    }
    let family = rows(piece, bytes).or_else(|| {
        let plane = plane(piece, bytes)?;
        let candidates = [interleave, deinterleave, transpose];
        candidates.iter().find_map(|candidate| candidate(piece, plane, bytes))
    });
    let family = family.unwrap_or_else(|| strided(piece));
    steps.push(Kernel::Move { family, element_bytes: bytes }, piece)
}

/// Elements that always move together are one wider element, up to the widest that kernels know.
fn widen(piece: &mut Piece, bytes: usize) -> usize {
    if let Some(&last) = piece.atoms.last()
        && is_run(last, bytes)
        && let Some(run) = usize::try_from(last.extent).ok().and_then(|extent| extent.checked_mul(bytes))
        && matches!(run, 2 | 4 | 8 | 16)
    {
        piece.atoms.pop();
        return run;
    }
    bytes
}

/// The bytes of a box that is one run.
fn single_run(piece: &Piece, bytes: usize) -> Option<i64> {
    let extent = match piece.atoms[..] {
        [] => 1,
        [atom] if is_run(atom, bytes) => atom.extent,
        _ => return None,
    };
    extent.checked_mul(bytes as i64)
}

/// Shorter runs of bytes are better taken from neighbouring lines of the source.
const LEAST_RUN: i64 = 128;

/// A loop of fewer steps is better not the innermost around rows: the next row is asked for ahead along it.
const LEAST_STEPS: i64 = 8;

/// The innermost loop is contiguous on both sides.
fn rows(piece: &mut Piece, bytes: usize) -> Option<Family> {
    let all = bytes_of(&piece.atoms, bytes);
    let (run, others) = piece.atoms.split_last_mut()?;
    if !is_run(*run, bytes) {
        return None;
    }
    let run = run.extent.saturating_mul(bytes as i64);
    match others {
        // In the cache along the destination, as they are.
        [.., next, last] if all <= IN_CACHE && run >= LEAST_RUN => {
            if last.extent < LEAST_STEPS && next.extent > last.extent {
                std::mem::swap(next, last);
            }
        }
        // Tile by tile in either direction: of two loops that are as fast on one side each, the one that stays nearer
        // goes outside.
        _ => others.sort_by_key(|atom| {
            let (src, dst) = (atom.src_stride.unsigned_abs(), atom.dst_stride.unsigned_abs());
            (std::cmp::Reverse(src.min(dst)), src.max(dst))
        }),
    }
    Some(Family::Rows)
}

/// The loops that are contiguous in the source and in the destination, where there are such and they differ.
fn plane(piece: &Piece, bytes: usize) -> Option<[usize; 2]> {
    let bytes = i64::try_from(bytes).ok()?;
    let src = piece.atoms.iter().position(|atom| atom.src_stride == bytes)?;
    let dst = piece.atoms.iter().position(|atom| atom.dst_stride == bytes)?;
    (src != dst).then_some([src, dst])
}

/// Most rows, or channels, that the interleaving kernels take.
const MAX_WAYS: i64 = 8;

/// The most bytes of one element of each row, of elements of at most 8 bytes, that they turn in registers. Of more, a transpose
/// moves as many at once.
const MAX_GROUP: i64 = 32;

/// Bytes that their rows must have: a register, or a lane where rows are a power of two and become one stream; but single
/// planes of so few bytes whose groups are a lane are transposed in the first-level cache, which is faster.
const LEAST_ROW: i64 = 64;
const LEAST_LANE: i64 = 16;
const IN_FIRST_LEVEL: i64 = 16 << 10;

/// Fewer bytes of a row that becomes part of a stream are less than some lines.
const SHORT_PIECE: i64 = 256;

/// True where one element of each of a few rows is a group that fits a register.
fn is_group(across: Atom, bytes: usize) -> bool {
    bytes <= 8 && across.extent * bytes as i64 <= MAX_GROUP
}

/// A few rows become one stream: the destination's fastest loop is short, and the source's fastest continues it.
fn interleave(piece: &mut Piece, [src, dst]: [usize; 2], bytes: usize) -> Option<Family> {
    let (along, across) = (piece.atoms[src], piece.atoms[dst]);
    let is_even = is_group(across, bytes) && across.extent.unsigned_abs().is_power_of_two();
    let is_small = piece.atoms.len() == 2
        && across.extent * bytes as i64 >= LEAST_LANE
        && bytes_of(&piece.atoms, bytes) <= IN_FIRST_LEVEL;
    let least = if is_even && !is_small { LEAST_LANE } else { LEAST_ROW };
    let fits = across.extent <= MAX_WAYS
        && along.extent * bytes as i64 >= least
        && along.dst_stride == bytes as i64 * across.extent;
    fits.then(|| {
        // Short pieces of rows are read on and on, where long ones are written in order.
        let is_short = along.extent.saturating_mul(bytes as i64) < SHORT_PIECE;
        with_innermost(piece, [src, dst], |atom| match is_short {
            true => atom.src_stride.saturating_abs().min(atom.dst_stride),
            false => atom.dst_stride,
        });
        if is_group(across, bytes) { Family::Interleave } else { Family::Transpose }
    })
}

/// One stream becomes a few rows: the reverse.
fn deinterleave(piece: &mut Piece, [src, dst]: [usize; 2], bytes: usize) -> Option<Family> {
    let (across, along) = (piece.atoms[src], piece.atoms[dst]);
    let fits = across.extent <= MAX_WAYS
        && along.extent * bytes as i64 >= LEAST_ROW
        && along.src_stride == bytes as i64 * across.extent;
    fits.then(|| {
        with_innermost(piece, [src, dst], |atom| atom.src_stride.saturating_abs());
        if is_group(across, bytes) { Family::Deinterleave } else { Family::Transpose }
    })
}

/// Blocks of both fastest loops are transposed in registers, where these are a plane.
fn transpose(piece: &mut Piece, [src, dst]: [usize; 2], bytes: usize) -> Option<Family> {
    let fits = is_plane(piece, [src, dst], bytes) && matches!(bytes, 1 | 2 | 4 | 8 | 16);
    fits.then(|| {
        with_innermost(piece, [src, dst], |atom| atom.src_stride.saturating_abs().min(atom.dst_stride));
        Family::Transpose
    })
}

/// Puts two loops innermost, the others before them, slowest by `speed` first.
fn with_innermost(piece: &mut Piece, innermost: [usize; 2], speed: impl Fn(&Atom) -> i64) {
    let pair = innermost.map(|position| piece.atoms[position]);
    let atoms = &mut piece.atoms[..];
    let mut others = 0;
    for position in 0..atoms.len() {
        if !innermost.contains(&position) {
            atoms[others] = atoms[position];
            others += 1;
        }
    }
    atoms[others..].copy_from_slice(&pair);
    atoms[..others].sort_by_key(|atom| std::cmp::Reverse(speed(atom)));
}

/// Anything: what is near on either side comes inside, and of two that are equally near the one that is contiguous in the
/// destination.
fn strided(piece: &mut Piece) -> Family {
    piece.atoms.sort_by_key(|atom| {
        let (src, dst) = (atom.src_stride.unsigned_abs(), atom.dst_stride.unsigned_abs());
        std::cmp::Reverse((src.min(dst), dst))
    });
    Family::Strided
}

/// Elements that change, and packed slots. Where slots only move, in runs that are whole bytes on both sides, bytes move.
fn changed(piece: &mut Piece, element: &Element, steps: &mut Steps) -> Option<()> {
    let convert = element.convert.as_ref()?;
    let one_by_one = Kernel::Convert { src: element.src, dst: element.written() };
    let per_byte = match (element.src, element.dst) {
        (SlotWidth::Bits(src), SlotWidth::Bits(dst)) if src == dst && convert.conversion.is_identity() => {
            8 / src as i64
        }
        _ => return steps.push(one_by_one, piece),
    };
    let tail = tail_of_run(piece, per_byte);
    match in_bytes(piece, per_byte) {
        Some(mut bytes) => whole_bytes(&mut bytes, 1, steps)?,
        None => steps.push(one_by_one, piece)?,
    }
    tail.map_or(Some(()), |tail| steps.push(one_by_one, &tail))
}

/// Cuts off a single run that starts a byte what does not fill one at its end.
fn tail_of_run(piece: &mut Piece, per_byte: i64) -> Option<Piece> {
    let [run] = &mut piece.atoms[..] else { return None };
    let (extent, whole) = (run.extent, run.extent / per_byte * per_byte);
    let starts_bytes = [piece.src_offset, piece.dst_offset].iter().all(|slots| slots % per_byte == 0);
    if !is_run(*run, 1) || !starts_bytes || whole == 0 || whole == extent {
        return None;
    }
    run.extent = whole;
    let (src_offset, dst_offset) = (piece.src_offset + whole, piece.dst_offset + whole);
    Some(Piece { src_offset, dst_offset, atoms: smallvec![Atom { extent: extent - whole, ..*run }] })
}

/// A box of slots of which so many make a byte as one of bytes, if all of its runs are some.
fn in_bytes(piece: &Piece, per_byte: i64) -> Option<Piece> {
    let (&run, others) = piece.atoms.split_last().filter(|(run, _)| is_run(**run, 1))?;
    let strides = others.iter().flat_map(|atom| [atom.src_stride, atom.dst_stride]);
    let mut places = strides.chain([piece.src_offset, piece.dst_offset, run.extent]);
    places.all(|slots| slots % per_byte == 0).then(|| {
        let bytes = |slots| slots / per_byte;
        let atom = |atom: &Atom| Atom {
            src_stride: bytes(atom.src_stride),
            dst_stride: bytes(atom.dst_stride),
            ..*atom
        };
        let mut whole = Piece {
            src_offset: bytes(piece.src_offset),
            dst_offset: bytes(piece.dst_offset),
            atoms: others.iter().map(atom).collect(),
        };
        whole.add_loop(Atom { extent: bytes(run.extent), ..run });
        whole
    })
}

/// True where a loop is contiguous on both sides.
fn is_run(atom: Atom, bytes: usize) -> bool {
    let bytes = i64::try_from(bytes);
    bytes.is_ok_and(|bytes| atom.src_stride == bytes && atom.dst_stride == bytes)
}

//! Elements whose places come from tables: pairs of layouts that no short list of loop nests describes.

use crate::nest::{OutOfBounds, Side};

/// Places as the sum of a base and two tables: point (i, j) lies at `base + outer[i] + inner[j]`.
#[derive(Clone, Copy, Debug)]
pub struct Offsets<'a> {
    /// Added to every place.
    pub base: i64,
    /// One entry per outer index.
    pub outer: &'a [i64],
    /// One entry per inner index.
    pub inner: &'a [i64],
}

impl Offsets<'_> {
    pub(crate) fn check(&self, width: usize, len: usize, side: Side) -> Result<(), OutOfBounds> {
        let extremes = |table: &[i64]| Some((*table.iter().min()?, *table.iter().max()?));
        let inside = || {
            let ((low_outer, high_outer), (low_inner, high_inner)) =
                (extremes(self.outer)?, extremes(self.inner)?);
            let low = self.base.checked_add(low_outer)?.checked_add(low_inner)?;
            let high = self.base.checked_add(high_outer)?.checked_add(high_inner)?;
            let end = usize::try_from(high).ok()?.checked_add(width)?;
            Some(low >= 0 && end <= len)
        };
        if inside() == Some(true) { Ok(()) } else { Err(OutOfBounds { side, len }) }
    }

    /// Places as numbers that the check has shown to be inside the slice.
    pub(crate) fn rows(&self) -> impl Iterator<Item = i64> {
        self.outer.iter().map(|outer| self.base + outer)
    }
}

/// Copies one element of `element_bytes` for every point, and writes zeros behind it up to `slot_bytes` of the
/// destination; places are in bytes, tables of both sides of equal length.
///
/// # Errors
/// [`OutOfBounds`] where some element lies outside its slice; nothing was moved then.
pub fn copy_offsets(
    src: &[u8],
    dst: &mut [u8],
    from: Offsets<'_>,
    to: Offsets<'_>,
    element_bytes: usize,
    slot_bytes: usize,
) -> Result<(), OutOfBounds> {
    if from.outer.is_empty() || from.inner.is_empty() {
        return Ok(());
    }
    from.check(element_bytes, src.len(), Side::Source)?;
    to.check(slot_bytes.max(element_bytes), dst.len(), Side::Destination)?;
    if slot_bytes > element_bytes {
        each_pair(from, to, |_, d| dst[d + element_bytes..d + slot_bytes].fill(0));
    }
    if runs(from, to, element_bytes).count() * WORTHWHILE <= from.inner.len() * element_bytes {
        for (src_row, dst_row) in from.rows().zip(to.rows()) {
            for run in runs(from, to, element_bytes) {
                let (s, d) = ((src_row + run.src) as usize, (dst_row + run.dst) as usize);
                dst[d..d + run.bytes].copy_from_slice(&src[s..s + run.bytes]);
            }
        }
        return Ok(());
    }
    match element_bytes {
        1 => elements::<1>(src, dst, from, to),
        2 => elements::<2>(src, dst, from, to),
        4 => elements::<4>(src, dst, from, to),
        8 => elements::<8>(src, dst, from, to),
        16 => elements::<16>(src, dst, from, to),
        _ => {
            each_pair(from, to, |s, d| dst[d..d + element_bytes].copy_from_slice(&src[s..s + element_bytes]))
        }
    }
    Ok(())
}

/// Neighbours in both inner tables.
struct Run {
    src: i64,
    dst: i64,
    bytes: usize,
}

/// From this many bytes on average runs are better copied as such than element by element.
const WORTHWHILE: usize = 16;

/// The inner tables as runs.
fn runs<'a>(from: Offsets<'a>, to: Offsets<'a>, element_bytes: usize) -> impl Iterator<Item = Run> + 'a {
    let mut at = 0;
    std::iter::from_fn(move || {
        let (&src, &dst) = (from.inner.get(at)?, to.inner.get(at)?);
        let mut bytes = 0;
        while let (Some(&s), Some(&d)) = (from.inner.get(at), to.inner.get(at))
            && s - src == bytes as i64
            && d - dst == bytes as i64
        {
            bytes += element_bytes;
            at += 1;
        }
        Some(Run { src, dst, bytes })
    })
}

fn elements<const N: usize>(src: &[u8], dst: &mut [u8], from: Offsets<'_>, to: Offsets<'_>) {
    each_pair(from, to, |s, d| {
        let element: [u8; N] = src[s..s + N].try_into().expect("a slice of N bytes is an array of N bytes");
        dst[d..d + N].copy_from_slice(&element);
    });
}

/// Calls `visit` with both places of every point; all are known to be inside the slices.
fn each_pair(from: Offsets<'_>, to: Offsets<'_>, mut visit: impl FnMut(usize, usize)) {
    for (src_row, dst_row) in from.rows().zip(to.rows()) {
        for (src, dst) in from.inner.iter().zip(to.inner) {
            visit((src_row + src) as usize, (dst_row + dst) as usize);
        }
    }
}

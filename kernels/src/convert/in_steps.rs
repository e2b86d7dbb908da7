//! Elements that are moved as those that are converted are: tile by tile, each by a few families of kernels one after the other.

use super::converter::{Converter, Work};
use super::flush::{fence, streams};
use super::program::Conversion;
use super::rows::Place;
use super::scale::Scale;
use crate::level::Level;
use crate::loops::Loops;
use crate::nest::Loop;
use crate::slots::SlotWidth;
use crate::tuning::{LEAST_IN_TILES, WIDEST_IN_TILES};

/// Moves a nest, past the cache if it is a stream; false where no families move its tiles, or it is too small, and nothing was done.
///
/// # Safety
/// All places of `loops`, and `element` bytes behind each, must be valid on both sides, without overlap; the level must be there.
pub(crate) unsafe fn moved_in_steps(
    level: Level,
    loops: &[Loop],
    (src, dst): (*const u8, *mut u8),
    element: usize,
    stream: bool,
) -> bool {
    let bytes = loops.iter().fold(element, |bytes, l| bytes.saturating_mul(l.extent));
    let pays = (streams(level) || !stream) && element <= WIDEST_IN_TILES && bytes >= LEAST_IN_TILES;
    let Some(mut loops) = Loops::of_few(loops).filter(|_| pays) else { return false };
    let slots = SlotWidth::Bytes(element);
    let converter = Converter {
        conversion: Conversion::identity(element),
        src: slots,
        dst: slots,
        scale: Scale::All(1.0),
        level,
        stream,
    };
    let (from, to) = (Place::new(src.cast_mut(), slots, 0), Place::new(dst, slots, 0));
    loops.join();
    let work = Work { converter: &converter, made: &converter.make(loops.as_slice()) };
    // SAFETY: the caller's promise.
    let is_done = unsafe { work.tiles_by_families(loops.as_slice(), from, to) };
    if is_done && stream {
        fence(level);
    }
    is_done
}

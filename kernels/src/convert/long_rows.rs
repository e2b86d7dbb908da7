//! Long rows past the cache, wherever they start.

use super::converter::Work;
use super::flush::streams;
use super::forms::BLOCK;
use super::rows::{Form, Place};
use super::tile::Pass;
use crate::lanes::LINE;
use crate::loops::Loops;

impl Work<'_> {
    /// A long row, past the cache: whole lines, and what is before the first and behind the last of them.
    ///
    /// # Safety
    /// `run` contiguous elements must be valid at both places, without overlap.
    pub(super) unsafe fn stream_row(&self, src: Place, dst: Place, run: usize) {
        let [src_unit, dst_unit] = self.units();
        let (head, line) = self.line_of(dst);
        let head = head.min(run);
        let body = (run - head) / line * line;
        let has_lines = dst.bits.is_none() || self.only_packs() || !self.conversion.is_identity();
        let lines = if body >= BLOCK && has_lines && streams(self.level) { Form::Lines } else { Form::Plain };
        for (first, count, form) in
            [(0, head, Form::Plain), (head, body, lines), (head + body, run - head - body, Form::Plain)]
        {
            let pass = Pass { run: count, rows: Loops::default() };
            let [src, dst] =
                [(src, src_unit), (dst, dst_unit)].map(|(place, unit)| place.at(first as isize * unit));
            // SAFETY: a part of the row; the middle one starts and ends lines.
            unsafe { self.convert(&self.conversion, &pass, form, [src, dst], None) };
        }
    }

    /// Elements up to the next line of the destination, and elements of a line; as many as there are where elements
    /// straddle lines.
    fn line_of(&self, dst: Place) -> (usize, usize) {
        let per_byte = dst.bits.map_or(1, |bits| 8 / bits as usize);
        let ahead = dst.first.rem_euclid(per_byte as isize).unsigned_abs();
        let to_byte = (per_byte - ahead) % per_byte;
        let bytes = dst.byte_of(to_byte as isize).addr().wrapping_neg() % LINE;
        match dst.bits {
            Some(_) => (to_byte + bytes * per_byte, LINE * per_byte),
            None => match self.conversion.dst_bytes() {
                width if bytes.is_multiple_of(width) => (bytes / width, LINE / width),
                width => (usize::MAX, LINE / width),
            },
        }
    }
}

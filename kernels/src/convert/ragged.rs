//! Rows that are woven as they are converted, with what they have before and the padding behind them: all from registers, so that memory
//! is read and written at any time.

use super::converter::{Work, each_place};
use super::forms::BLOCK;
use super::rows::{ConvertRows, Form, Place};
use super::tile::Pass;
use super::weave::{look, put_in_order};
use super::words::any::ends;
use crate::rows::padded::{Padded, Part};

/// Bytes of a word that is woven.
const WORD: usize = 4;

/// What becomes of rows that are woven.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ragged {
    /// Their parts, of which pieces are whole blocks.
    pub(super) part: Part,
    /// A word of padding.
    pub(super) padding: u32,
}

impl Work<'_> {
    /// Converts rows that are woven into words, with what they have before and behind them; false where there is no such way, and
    /// nothing was done.
    ///
    /// # Safety
    /// All rows, their pieces and their padding must be valid at both places, where the rows behind the pieces start, without overlap.
    pub(super) unsafe fn ragged(&self, rows: &Padded, part: Part, [src, dst]: [Place; 2]) -> bool {
        let (conversion, count) = (&self.conversion, part.elements());
        // Words of as many rows as they have places for, from elements that do change: the others have ways of their own.
        let is_whole = rows.ways == rows.across.extent && rows.ways > 1;
        let fits = is_whole
            && part.has_pieces_of(BLOCK)
            && rows.ways * conversion.dst_bytes() == WORD
            && count >= BLOCK
            && conversion.parts() == 1
            && !conversion.is_identity()
            && ends(conversion, None).is_some();
        if !fits {
            return false;
        }
        let ragged = Ragged { part, padding: rows.word() };
        let form = Form::Zip { ways: rows.ways, step: rows.across.src_stride, stream: true };
        let mut pass = Pass { run: count, rows: rows.outer };
        put_in_order(&mut pass.rows);
        let src = src.at(-(part.before() as isize * self.units()[0]));
        let dst = dst.at(-part.reach());
        let look = look(self, form, (src, count));
        let (outer, beyond, rows) = self.turns(&pass, form, src);
        each_place(outer, src, dst, &mut |src, dst| {
            let src = Place { pitch: rows.src_stride, ..src };
            let dst = Place { pitch: rows.dst_stride, ..dst };
            let plain = ConvertRows::new(conversion, [src, dst], self.scale);
            let widening = self.made.widening.as_ref();
            let (rows, ragged) = (rows.extent, Some(&ragged));
            let task = ConvertRows { rows, beyond, count, form, look, widening, ragged, ..plain };
            // SAFETY: a step of the outer loops starts rows of the pass, which go by words.
            unsafe { task.at_level(self.level) };
        });
        true
    }
}

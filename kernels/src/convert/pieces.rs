//! Rows that are made of pieces of a stream, of which the next piece goes on in the same line, past the cache.

use super::converter::{Work, each_place};
use super::join_rows::Piece;
use super::rows::{Form, Lines, Place};
use super::tile::Pass;
use crate::loops::Loops;

impl Work<'_> {
    /// Rows that start anywhere: each step of the loop `next` of the pass does a piece of every row that the loops inside it lead to.
    ///
    /// # Safety
    /// Every element of the pass, for `ways` rows `step` apart, must be valid at both places, without overlap; the level must have the
    /// form. A fence is then due.
    pub(super) unsafe fn pieces(
        &self,
        pass: &Pass,
        next: usize,
        (ways, step): (usize, isize),
        [src, dst]: [Place; 2],
    ) {
        let (outer, inner) = pass.rows.as_slice().split_at(next);
        let [next, inner @ ..] = inner else { return };
        let pass = Pass { run: pass.run, rows: Loops::of(inner) };
        each_place(outer, src, dst, &mut |src, dst| {
            for i in 0..next.extent as isize {
                let (is_first, is_last) = (i == 0, i + 1 == next.extent as isize);
                let piece = Piece { next: next.src_stride, is_first, is_last };
                let form = Form::Unzip { ways, step, lines: Lines::Joined(piece) };
                let (src, dst) = (src.at(i * next.src_stride), dst.at(i * next.dst_stride));
                // SAFETY: a step of the loops starts pieces of rows; the next step's are valid too, unless it is the last.
                unsafe { self.convert(&self.conversion, &pass, form, [src, dst], None) };
            }
        });
    }
}

#[cfg(all(test, one_test_program))]
mod tests {
    use super::*;
    use crate::buffer::AlignedBuffer;
    use crate::convert::converter::Converter;
    use crate::convert::flush::fence;
    use crate::convert::tables::made::Made;
    use crate::level::Level;
    use crate::nest::Loop;

    /// Pieces of a row, elements of a piece, and bytes from row to row.
    const PIECES: usize = 3;
    const PIECE: usize = 128;
    const PITCH: usize = 4096;

    /// Four rows of `f32`, of which `bf16` have two in turn, so many bytes behind the start of a line.
    fn check(level: Level, behind: usize) {
        let converter = Converter::bf16_to_f32(level);
        // Numbers, none of which is infinite or NaN.
        let elements = (0..4 * PIECES * PIECE).map(|i| (i.wrapping_mul(0x9E37_79B9) >> 9) as u16 & 0xBFFF);
        let src: Vec<u8> = elements.clone().flat_map(u16::to_ne_bytes).collect();
        let mut dst = AlignedBuffer::zeroed(4 * PITCH).unwrap();
        dst.fill(0xA5);
        let mut wanted = dst.to_vec();
        for (i, element) in elements.enumerate() {
            let (piece, pair, at, way) = (i / (4 * PIECE), i / (2 * PIECE) % 2, i / 2 % PIECE, i % 2);
            let place = (2 * pair + way) * PITCH + (piece * PIECE + at) * 4 + behind;
            wanted[place..][..4].copy_from_slice(&(u32::from(element) << 16).to_ne_bytes());
        }
        let next = Loop { extent: PIECES, src_stride: 8 * PIECE as isize, dst_stride: 4 * PIECE as isize };
        let pairs = Loop { extent: 2, src_stride: 4 * PIECE as isize, dst_stride: 2 * PITCH as isize };
        let pass = Pass { run: PIECE, rows: Loops::of(&[next, pairs]) };
        let places = [
            Place::new(src.as_ptr().cast_mut(), converter.src, 0),
            Place::new(dst.as_mut_ptr(), converter.dst, behind as isize),
        ];
        let work = Work { converter: &converter, made: &Made::NOTHING };
        // SAFETY: all places lie in the two buffers.
        unsafe { work.pieces(&pass, 0, (2, PITCH as isize), places) };
        fence(level);
        assert!(dst[..] == wanted[..], "{level}, {behind} bytes behind a line");
    }

    #[test]
    fn rows_that_start_lines_are_joined_like_any() {
        for level in [Level::Avx2, Level::Avx512].into_iter().filter(|level| level.is_available()) {
            [0, 4, 60].into_iter().for_each(|behind| check(level, behind));
        }
    }
}

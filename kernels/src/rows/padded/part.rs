//! What rows are made of: runs that become whole lines, each in a place of its own, and a last one with padding behind it.

use super::found::Pieces;

/// A part of a row: pieces in places of their own, if any, and what is behind them, with padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// How many pieces there are, of so many elements.
    pieces: usize,
    piece: usize,
    /// From one piece to the next in the destination, and from the last one to what is behind them.
    next: isize,
    /// Elements behind the pieces, and the bytes that these and their padding take, which are whole lines.
    pub(crate) count: usize,
    bytes: usize,
}

impl Part {
    /// Without pieces.
    pub(super) fn alone(count: usize, bytes: usize) -> Part {
        Part { pieces: 0, piece: 0, next: 0, count, bytes }
    }

    /// The same behind pieces.
    pub(super) fn behind(self, (piece, next): Pieces) -> Part {
        Part { pieces: next.extent, piece, next: next.dst_stride, ..self }
    }

    /// The same with single bytes for elements of so many.
    pub(super) fn in_bytes(self, element: usize) -> Part {
        let [piece, count] = [self.piece, self.count].map(|count| count * element);
        Part { piece, count, ..self }
    }

    /// Elements of all pieces.
    pub(crate) fn before(&self) -> usize {
        self.pieces * self.piece
    }

    /// From the first of them to what is behind them, in the destination.
    pub(crate) fn reach(&self) -> isize {
        self.pieces as isize * self.next
    }

    /// Elements of pieces and those behind them.
    pub(crate) fn elements(&self) -> usize {
        self.before() + self.count
    }

    /// True where pieces, if any, are whole blocks of so many elements.
    pub(crate) fn has_pieces_of(&self, block: usize) -> bool {
        self.piece.is_multiple_of(block)
    }

    /// How many runs there are: the pieces, and what is behind them.
    #[inline(always)]
    pub(crate) fn runs(&self) -> usize {
        self.pieces + 1
    }

    /// One of them.
    #[inline(always)]
    pub(crate) fn run(&self, number: usize) -> Run {
        let (before, to) = (number * self.piece, number as isize * self.next);
        match number < self.pieces {
            true => Run { before, to, count: self.piece, padded: 0 },
            false => Run { before, to, count: self.count, padded: self.bytes },
        }
    }
}

/// Elements that follow one another, and what is behind them.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    /// Elements of the row before them.
    pub(crate) before: usize,
    /// From where the row starts in the destination to where they do.
    pub(crate) to: isize,
    pub(crate) count: usize,
    /// Bytes that they take with their padding, or 0 where they have none.
    pub(crate) padded: usize,
}

//! Destinations that start inside a cache line, made band by band in a buffer that starts one.
//!
//! Rows of tiles are whole lines, as long as tiles start some; else each shares its first and its last line with others, and lines
//! that are written in part have to come from memory first. So a band is written to a buffer that stays in the second-level cache,
//! and leaves for its place as one run, while the lines are asked for that the next band reads.

use relayout_kernels::{AlignedBuffer, Family, Level, stream_and_ask};

use super::bands::Bands;
use super::ends::{Source, Target};
use super::parts::LINE;
use super::restrict::{units_per_byte, written};
use super::{ExecuteError, FEW_STEPS};
use crate::plan::Plan;
use crate::plan::step::{Kernel, Step};

/// Bytes of a band: with what it is made from, a part of the second-level cache.
const BAND: usize = 256 * 1024;

/// The source of a band is asked for where it has at most so many bytes.
const MOST_ASKED: usize = 2 * BAND;

/// Fewer bytes are not worth a buffer.
const LEAST: usize = 64 * 1024;

impl Plan {
    /// The bands of a part of the destination, where it starts no line and is better made aside: tiles of rows that are copied, woven or
    /// converted along the source, and all that is between them. What goes across the source had better join its lines itself.
    pub(super) fn bands_aside(&self, target: &Target<'_>) -> Option<Bands> {
        let first = target.bytes.as_ptr().addr().wrapping_sub(target.start);
        let starts_line = first.is_multiple_of(LINE);
        let is_worth_it = target.bytes.len() >= LEAST && self.steps.len() <= FEW_STEPS;
        let has_boxes = self.tables.is_none() && self.ef57.is_none();
        let has_tiles = !self.dst.layout().tiles().is_empty();
        // Nothing of what was there before must be kept.
        let is_wanted = !starts_line && is_worth_it && has_boxes && has_tiles && self.writes_every_byte;
        if !is_wanted || self.level < Level::Avx2 {
            return None;
        }
        let bytes = |step: &Step<'_>| written(step) / units_per_byte(step);
        let largest = self.steps.moves().max_by_key(bytes)?;
        let pays = match largest.kernel {
            Kernel::Move { family: Family::Rows | Family::Interleave, .. } => true,
            Kernel::Convert { .. } => self.converts_faster_aside(),
            _ => false,
        };
        if pays { Bands::of(&largest, BAND) } else { None }
    }

    /// True where rows that are converted are not put together in a buffer on their way, or are so for more than what a band takes.
    fn converts_faster_aside(&self) -> bool {
        let to = self.dst.element_type();
        let is_small_float = to.is_floating_point() && to.bit_width() == Some(8);
        self.src.layout().tiles().is_empty() && !is_small_float
    }

    /// Runs what the plan writes in a part of the destination, band by band in a buffer.
    pub(super) fn run_aside(
        &self,
        bands: Bands,
        src: Source<'_>,
        target: Target<'_>,
    ) -> Result<(), ExecuteError> {
        let Target { mut start, bytes: mut rest } = target;
        let band = |start: usize, rest: &[u8]| (bands.end(start) - start).min(rest.len()).min(BAND);
        let mut room = AlignedBuffer::zeroed(rest.len().min(BAND))?;
        while !rest.is_empty() {
            let (bytes, behind) = rest.split_at_mut(band(start, rest));
            let mut aside = Target { start, bytes: &mut room[..bytes.len()] };
            self.run_target(src, &mut aside, false)?;
            start += bytes.len();
            rest = behind;
            let next = band(start, rest);
            let asked = self.asked_for(src, &Target { start, bytes: &mut rest[..next] });
            stream_and_ask(aside.bytes, bytes, asked, self.level);
        }
        Ok(())
    }

    /// The part of the source that is read for a part of the destination; nothing of it where that is much.
    fn asked_for<'a>(&self, src: Source<'a>, target: &Target<'_>) -> &'a [u8] {
        let read = self.read_for(target).filter(|read| read.len() <= MOST_ASKED);
        let places = read.map(|read| read.start.wrapping_sub(src.start)..read.end.wrapping_sub(src.start));
        places.and_then(|places| src.bytes.get(places)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Request;

    /// True where a destination so many bytes behind a line is made aside.
    fn goes_aside(src: &str, dst: &str, behind: usize) -> bool {
        let plan = Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap();
        let mut room = AlignedBuffer::zeroed(plan.dst_byte_size() + LINE).unwrap();
        let bytes = &mut room[behind..][..plan.dst_byte_size()];
        let found = plan.bands_aside(&Target { start: 0, bytes }).is_some();
        found || plan.level < Level::Avx2
    }

    #[test]
    fn tiles_that_start_no_line_are_made_aside() {
        let [rows, tiles] = ["bf16[999,1000]", "bf16[999,1000]{1,0:T(8,128)(2,1)}"];
        assert!(goes_aside(rows, tiles, 16));
        assert!(goes_aside("f32[999,1000]", tiles, 16));
        let others = [(rows, tiles, 0), (tiles, rows, 16), ("bf16[9,9]", "bf16[9,9]{1,0:T(8,128)(2,1)}", 16)];
        if Level::detect() >= Level::Avx2 {
            assert!(others.into_iter().all(|(src, dst, behind)| !goes_aside(src, dst, behind)));
        }
    }

    #[test]
    fn bands_are_the_same_wherever_a_destination_starts() {
        for (src, dst) in [
            ("bf16[1999,300]", "bf16[1999,300]{1,0:T(8,128)(2,1)}"),
            ("f32[40,7,1000]", "f32[40,7,1000]{2,1,0:T(8,128)}"),
            ("f32[999,1000]", "s8[999,1000]{1,0:T(8,128)(4,1)}"),
        ] {
            let plan = Plan::new(&src.parse().unwrap(), &dst.parse().unwrap()).unwrap();
            let from: Vec<u8> = (0..plan.src_byte_size()).map(|i| (i * 7 % 251) as u8).collect();
            let mut wanted = vec![0; plan.dst_byte_size()];
            crate::reference::relayout(&Request::new(&plan.src, &plan.dst), &from, &mut wanted).unwrap();
            for behind in [1, 16, 48] {
                let mut room = AlignedBuffer::zeroed(plan.dst_byte_size() + LINE).unwrap();
                room.fill(0xA5);
                let bytes = &mut room[behind..][..plan.dst_byte_size()];
                let bands = Bands::of(&plan.steps.moves().max_by_key(Step::points).unwrap(), BAND).unwrap();
                plan.run_aside(bands, Source::whole(&from), Target { start: 0, bytes }).unwrap();
                assert!(bytes == wanted, "{src} -> {dst}, {behind} bytes behind a line");
                let [before, after] = [&room[..behind], &room[behind + wanted.len()..]];
                assert!(before.iter().chain(after).all(|&byte| byte == 0xA5));
            }
        }
    }
}

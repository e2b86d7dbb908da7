//! Runs of the destination put together by byte shuffles, however their bytes lie in the source.
//!
//! A *run* is what the loops that are fastest in the destination write: some lanes of it, which may have holes. For every
//! lane a program lists windows of the source, a lane each, and which byte of the window goes where. It is made once, and
//! then run at every point of the other loops: whatever extents and strides a nest has, also none, also backwards.

use crate::general::composite::MAX_LOOPS;
use crate::lanes::{LANE, LINE, Lanes};
use crate::nest::Loop;
use crate::rows::{copy_short, stream_run};
use crate::walk::Point;

/// Bytes of the longest run.
const MOST: usize = 2048;

/// No byte of a window.
const NOWHERE: u8 = 0x80;

/// A lane that is read, and where its bytes go.
#[derive(Clone, Copy, Debug)]
struct Window {
    src: isize,
    order: [u8; LANE],
}

/// A lane that is written: windows, up to `end` in the program's list.
#[derive(Clone, Copy, Debug)]
struct Written {
    dst: usize,
    end: usize,
    /// Which bytes stay, where not all are written.
    kept: Option<[u8; LANE]>,
}

/// How a run is made.
#[derive(Debug)]
pub(crate) struct Program {
    windows: Vec<Window>,
    written: Vec<Written>,
    /// From the run's first element down to its lowest source place, and the bytes from there that it reads.
    below: isize,
    src_len: usize,
    dst_len: usize,
    has_holes: bool,
}

/// A nest as runs: the loops outside of them, and the loops of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Runs {
    outer: [Loop; MAX_LOOPS],
    inner: [Loop; MAX_LOOPS],
    counts: [usize; 2],
    /// The loop that is cut into runs, and its last steps, which no run takes.
    pub(crate) rest: Option<(Loop, usize)>,
}

impl Runs {
    /// Cuts runs of about `wanted` bytes, whole units where that is possible, from a nest. `None` where it has too many loops, or nothing in its destination is
    /// near.
    pub(crate) fn new(loops: &[Loop], element: usize, wanted: usize, unit: usize) -> Option<Runs> {
        let none = [Loop::default(); MAX_LOOPS];
        let mut runs = Runs { outer: none, inner: none, counts: [0; 2], rest: None };
        for l in loops.iter().filter(|l| l.extent > 1) {
            *runs.outer.get_mut(runs.counts[0])? = *l;
            runs.counts[0] += 1;
        }
        let mut span = element;
        while span < wanted
            && let Some(at) = runs.next(span)
        {
            let l = runs.outer[at];
            let step = l.dst_stride.unsigned_abs();
            // Whole units where the run may be so long: else every run would begin and end within one.
            let whole = unit >> step.trailing_zeros().min(unit.trailing_zeros());
            let room = MOST.saturating_sub(span) / step + 1;
            let most = match wanted.div_ceil(step).next_multiple_of(whole) {
                most if most <= room => most,
                _ => room.min(wanted.div_ceil(step)),
            };
            if most < 2 {
                break;
            }
            runs.take(at, l.extent.min(most));
            span += (l.extent.min(most) - 1) * step;
            if most < l.extent {
                break;
            }
        }
        (runs.counts[1] > 0).then_some(runs)
    }

    /// The outer loop that comes next in the destination. What lies between its steps is kept, not written; where that
    /// were most of a lane, elements are better moved alone.
    fn next(&self, span: usize) -> Option<usize> {
        let near =
            |&i: &usize| usize::try_from(self.outer[i].dst_stride).is_ok_and(|s| s > 0 && s <= 4 * span);
        (0..self.counts[0]).filter(near).min_by_key(|&i| self.outer[i].dst_stride)
    }

    /// Makes so many steps of an outer loop part of the runs.
    fn take(&mut self, at: usize, steps: usize) {
        let l = self.outer[at];
        self.inner[self.counts[1]] = Loop { extent: steps, ..l };
        self.counts[1] += 1;
        if !l.extent.is_multiple_of(steps) {
            self.rest = Some((l, l.extent % steps));
        }
        let by = steps as isize;
        let (src_stride, dst_stride) = (l.src_stride.wrapping_mul(by), l.dst_stride.wrapping_mul(by));
        self.outer[at] = Loop { extent: l.extent / steps, src_stride, dst_stride };
        if l.extent == steps {
            self.outer.copy_within(at + 1..self.counts[0], at);
            self.counts[0] -= 1;
        }
    }

    /// The loops outside of the runs, in the order of the nest.
    pub(crate) fn outer(&self) -> &[Loop] {
        &self.outer[..self.counts[0]]
    }

    pub(crate) fn outer_mut(&mut self) -> &mut [Loop] {
        &mut self.outer[..self.counts[0]]
    }

    /// The loops of a run, fastest in the destination first.
    fn inner(&self) -> &[Loop] {
        &self.inner[..self.counts[1]]
    }
}

impl Program {
    /// The program of a nest's runs.
    pub(crate) fn new(runs: &Runs, element: usize) -> Program {
        let span = |stride: fn(&Loop) -> isize| {
            runs.inner().iter().map(|l| stride(l).unsigned_abs() * (l.extent - 1)).sum::<usize>() + element
        };
        let below = runs.inner().iter().map(|l| l.src_stride.min(0) * (l.extent as isize - 1)).sum();
        let mut program = Program {
            windows: Vec::new(),
            written: Vec::new(),
            below,
            src_len: span(|l| l.src_stride),
            dst_len: span(|l| l.dst_stride),
            has_holes: false,
        };
        let mut bytes = vec![None; program.dst_len];
        list_bytes(runs.inner(), element, 0, -below, &mut bytes);
        program.has_holes = bytes.iter().any(Option::is_none);
        let mut at = 0;
        loop {
            // The last lane steps back rather than step outside.
            let dst = at.min(program.dst_len.saturating_sub(LANE));
            program.write(dst, &bytes[dst..program.dst_len.min(dst + LANE)]);
            at += LANE;
            if at >= program.dst_len {
                return program;
            }
        }
    }

    /// Adds the lane at `dst`, whose bytes come from the places given, each counted from the lowest.
    fn write(&mut self, dst: usize, bytes: &[Option<isize>]) {
        let last = self.src_len.saturating_sub(LANE) as isize;
        let mut rest = [None; LANE];
        rest[..bytes.len()].copy_from_slice(bytes);
        while let Some(first) = rest.iter().flatten().min().copied() {
            let mut window = Window { src: first.min(last), order: [NOWHERE; LANE] };
            for (order, place) in window.order.iter_mut().zip(&mut rest) {
                if let Some(at) = place.map(|place| place - window.src)
                    && at < LANE as isize
                {
                    (*order, *place) = (at as u8, None);
                }
            }
            self.windows.push(window);
        }
        if bytes.iter().all(Option::is_none) {
            return;
        }
        let kept = bytes.iter().any(Option::is_none).then(|| {
            let keep = |at: usize| bytes.get(at).is_some_and(Option::is_none);
            std::array::from_fn(|at| if keep(at) { at as u8 } else { NOWHERE })
        });
        self.written.push(Written { dst, end: self.windows.len(), kept });
    }

    /// True where runs have whole lines, and nothing in them is kept.
    pub(crate) fn has_lines(&self) -> bool {
        self.dst_len >= LINE && !self.has_holes
    }
}

/// Notes for every byte of a run where it comes from.
fn list_bytes(loops: &[Loop], element: usize, dst: usize, src: isize, bytes: &mut [Option<isize>]) {
    match loops {
        [rest @ .., l] => {
            for i in 0..l.extent as isize {
                list_bytes(rest, element, dst + (i * l.dst_stride) as usize, src + i * l.src_stride, bytes);
            }
        }
        [] => (0..element).for_each(|at| bytes[dst + at] = Some(src + at as isize)),
    }
}

/// Runs a program at every point.
#[derive(Clone, Copy)]
pub(crate) struct Programmed<'a> {
    pub(crate) program: &'a Program,
    /// Past the cache; the program must have lines.
    pub(crate) stream: bool,
}

impl Point for Programmed<'_> {
    /// # Safety
    /// All places of the program's run must be valid on both sides, without overlap, and what lies between them too.
    #[inline(always)]
    unsafe fn point<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        let &Program { below, src_len, dst_len, .. } = self.program;
        let from = src.wrapping_offset(below);
        let (mut short_src, mut short_dst) = ([0u8; LANE], [0u8; LANE]);
        let (short_src, short_dst) = (short_src.as_mut_ptr(), short_dst.as_mut_ptr());
        // SAFETY: what the run reads is `src_len` bytes, what it writes `dst_len`; what is shorter than a lane is moved by
        // way of one.
        unsafe {
            let from = if src_len < LANE {
                copy_short(from, short_src, src_len);
                short_src.cast_const()
            } else {
                from
            };
            if dst_len < LANE {
                copy_short(dst, short_dst, dst_len);
                self.lanes(lanes, from, short_dst);
                copy_short(short_dst, dst, dst_len);
            } else if self.stream {
                let mut run = core::mem::MaybeUninit::<Run>::uninit();
                let run = (&raw mut (*run.as_mut_ptr()).0).cast::<u8>();
                self.lanes(lanes, from, run);
                stream_run(lanes, run, dst, dst_len, 0);
            } else {
                self.lanes(lanes, from, dst);
            }
        }
    }

    #[inline(always)]
    fn streams(&self) -> bool {
        self.stream
    }
}

/// Room for a run.
#[repr(align(64))]
struct Run([u8; MOST]);

impl Programmed<'_> {
    /// # Safety
    /// The program's windows must be readable from `src`, its lanes writable from `dst`.
    #[inline(always)]
    unsafe fn lanes<L: Lanes>(&self, lanes: L, src: *const u8, dst: *mut u8) {
        // Half the registers, and half of those: a lane.
        let lane = lanes.narrow().narrow();
        const { assert!(<<L::Narrow as Lanes>::Narrow as Lanes>::LANES == 1) };
        let mut window = self.program.windows.as_ptr();
        let first = window;
        for written in &self.program.written {
            // SAFETY: the program's windows, up to the lane's end.
            unsafe {
                let to = dst.wrapping_add(written.dst);
                let end = first.add(written.end);
                let mut made = lane.zero();
                while window < end {
                    let &Window { src: at, order } = &*window;
                    made = lane.or(made, lane.shuffle(lane.load(src.wrapping_offset(at)), order));
                    window = window.add(1);
                }
                if let Some(kept) = written.kept {
                    made = lane.or(made, lane.shuffle(lane.load(to), kept));
                }
                lane.store(to, made);
            }
        }
    }
}

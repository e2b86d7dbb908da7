//! Factors that elements are multiplied by: one for all, or one for each step of a dimension.
//!
//! A nest has places and no dimensions, so it is the place of an element in the source that says which factor is its: the
//! step of a dimension is a sum of digits of the place. Along a run of elements most digits stay as they are, or one of them
//! counts up, so factors are found for some elements at once.

use core::num::NonZeroUsize;

use crate::nest::Loop;
use crate::transpose::block::Places;
use crate::tuning::KEPT_ROWS;

/// What elements are multiplied by, where their conversion has a scale.
#[derive(Clone, Copy, Debug)]
pub enum Scale<'a> {
    /// One factor for all elements.
    All(f32),
    /// A factor for each step of a dimension.
    Along(Along<'a>),
}

/// A factor for each step of a dimension, which the place of an element in the source tells.
#[derive(Clone, Copy, Debug)]
pub struct Along<'a> {
    /// The factors. An element that has none becomes NaN.
    pub values: &'a [f32],
    /// The digits of a place whose sum is the step.
    pub digits: &'a [StepDigit],
    /// The place of the first byte of the source slice, or of its first slot where slots share bytes.
    pub first: isize,
    /// The step that the first of the factors belongs to.
    pub start: usize,
}

/// A digit of a place, and what it counts for: `place % modulus / stride * unit`.
///
/// Of two digits one's stride is a multiple of the other's modulus.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StepDigit {
    /// From one value of the digit to the next, in bytes, or in slots where slots share bytes.
    pub stride: NonZeroUsize,
    /// From where on the digit begins anew: a multiple of the stride, or the greatest number where it never does.
    pub modulus: NonZeroUsize,
    /// Steps of the dimension from one value to the next.
    pub unit: usize,
}

impl StepDigit {
    /// True where it is the same at places so far apart, any number of times: these are whole periods.
    fn is_same_apart(&self, pitch: isize) -> bool {
        pitch.unsigned_abs().is_multiple_of(self.modulus.get())
    }
}

/// Elements whose factors are found together, from one of them on.
pub(super) struct Segment<'a> {
    /// The factor of the first one.
    pub(super) index: usize,
    pub(super) count: usize,
    /// True where each has the next factor; false where all have the same.
    pub(super) advances: bool,
    /// The fastest digit that changes.
    fastest: Option<Fastest<'a>>,
    /// Bytes or slots until any other one changes.
    others: usize,
    /// From one element to the next.
    step: usize,
}

/// A digit at a place.
#[derive(Clone, Copy)]
struct Fastest<'a> {
    digit: &'a StepDigit,
    /// Bytes or slots that are left in its value.
    left: usize,
    /// Those that are left in its period.
    rest: usize,
}

impl Segment<'_> {
    /// Elements for which nothing but the fastest digit changes.
    pub(super) fn window(&self) -> usize {
        if self.others == usize::MAX { usize::MAX } else { steps(self.others, self.step) }
    }

    /// How many elements, the first of them one, have the same factor.
    pub(super) fn lasts(&self) -> usize {
        if self.advances { 1 } else { self.count.min(self.window()) }
    }

    /// Elements after which the fastest digit begins anew.
    pub(super) fn period(&self) -> usize {
        match self.fastest {
            None => 1,
            Some(Fastest { digit, .. }) => exactly(digit.modulus.get(), self.step).unwrap_or(usize::MAX),
        }
    }

    /// Elements to where the fastest digit begins anew, or any other one changes.
    pub(super) fn rest(&self) -> usize {
        self.fastest.map_or(0, |Fastest { rest, .. }| steps(rest, self.step)).min(self.window())
    }

    /// Elements that have the same factor, where as many have the next one, and so on; and those to where these end, or any other digit
    /// changes.
    pub(super) fn groups(&self) -> Option<(usize, usize)> {
        let (each, _) = self.repeats()?;
        let all = self.rest() / each * each;
        (each == self.count && all > each).then_some((each, all))
    }

    /// Elements that have the same factor, where as many have the next one, and so on; and those to the end of the period.
    fn repeats(&self) -> Option<(usize, usize)> {
        let Fastest { digit, left, rest } = self.fastest?;
        let stride = digit.stride.get();
        let each = exactly(stride, self.step).filter(|_| left == stride && digit.unit == 1);
        each.map(|each| (each, steps(rest, self.step)))
    }
}

/// How many elements so many bytes or slots are, the last of them perhaps in part.
fn steps(bytes: usize, step: usize) -> usize {
    match step.is_power_of_two() {
        true => ((bytes - 1) >> step.trailing_zeros()) + 1,
        false => bytes.div_ceil(step.max(1)),
    }
}

/// The same, where they are whole elements.
pub(super) fn exactly(bytes: usize, step: usize) -> Option<usize> {
    let [count, behind] = split(bytes, NonZeroUsize::new(step)?);
    (behind == 0).then_some(count)
}

impl Scale<'_> {
    /// True where elements have factors of their own.
    pub(super) fn is_along(&self) -> bool {
        matches!(self, Scale::Along(_))
    }

    /// The factor of what is made for all elements; those with factors of their own get others.
    pub(super) fn for_all(&self) -> f32 {
        match self {
            Scale::All(factor) => *factor,
            Scale::Along(_) => 1.0,
        }
    }

    /// True where so many neighbouring bytes, or slots, have the same factor, from any place on that is whole such steps from one.
    pub(super) fn is_same_within(&self, place: isize, bytes: usize) -> bool {
        match self {
            Scale::All(_) => true,
            Scale::Along(along) => {
                let is_whole = |n: usize| n.is_multiple_of(bytes);
                let starts_whole = is_whole(along.first.wrapping_add(place).unsigned_abs());
                starts_whole && along.digits.iter().all(|digit| is_whole(digit.stride.get()))
            }
        }
    }

    /// Where elements from a place on, `step` from one to the next, have one factor after the other: how many there are until these
    /// begin anew, and from there to the next time.
    pub(super) fn period(&self, place: isize, step: isize) -> Option<(usize, usize)> {
        let (Scale::Along(along), Ok(step)) = (self, usize::try_from(step)) else { return None };
        let segment = along.segment(place, step);
        segment.advances.then(|| (segment.count, segment.period()))
    }

    /// True where so many elements from a place on, `step` from one to the next, have the same factor.
    pub(super) fn is_same_along(&self, place: isize, step: usize, count: usize) -> bool {
        match self {
            Scale::All(_) => true,
            Scale::Along(along) => along.segment(place, step).lasts() >= count,
        }
    }

    /// True where elements so many bytes, or slots, apart have the same factor, any number of times.
    pub(super) fn is_same_apart(&self, pitch: isize) -> bool {
        match self {
            Scale::All(_) => true,
            Scale::Along(along) => along.digits.iter().all(|digit| digit.is_same_apart(pitch)),
        }
    }

    /// How many rows so far apart, the first of them at a place, there are until the next ones have the same factors again, if a few.
    pub(super) fn repeats_after(&self, place: isize, pitch: isize) -> Option<usize> {
        let (Scale::Along(along), Ok(pitch)) = (self, usize::try_from(pitch)) else { return None };
        let mut counts = along.digits.iter().filter_map(|digit| exactly(digit.modulus.get(), pitch));
        counts.find(|count| (2..=KEPT_ROWS).contains(count) && self.is_same_along(place, count * pitch, 2))
    }

    /// True where no step of a loop changes a factor, of a nest that starts at a place and has all these loops: a digit stays as it is
    /// where steps are whole periods of it, or all that is less than its steps stays inside of one.
    pub(super) fn is_same_over<'l>(
        &self,
        place: isize,
        all: impl Iterator<Item = &'l Loop> + Clone,
        steps: &Loop,
    ) -> bool {
        let Scale::Along(along) = self else { return true };
        let first = along.first.wrapping_add(place).unsigned_abs();
        let stays = |digit: &StepDigit| {
            let stride = digit.stride.get();
            let is_less = |l: &Loop| !l.src_stride.unsigned_abs().is_multiple_of(stride);
            let reach = all.clone().filter(|l| is_less(l)).try_fold(first % stride, |reach, l| {
                let step = usize::try_from(l.src_stride).ok()?;
                step.checked_mul(l.extent - 1)?.checked_add(reach)
            });
            is_less(steps) && reach.is_some_and(|reach| reach < stride)
        };
        let same = |digit: &StepDigit| digit.is_same_apart(steps.src_stride) || stays(digit);
        steps.extent == 1 || along.digits.iter().all(same)
    }

    /// As [`Along::fill`]; all factors alike where there is only one.
    #[inline(always)]
    pub(super) fn fill(&self, place: isize, step: usize, room: &mut [f32]) {
        match self {
            Scale::All(factor) => {
                for each in room {
                    *each = *factor;
                }
            }
            Scale::Along(along) => along.fill(place, step, room),
        }
    }

    /// The same for columns that lie in such places, those at even distances together.
    #[inline(never)] // as for `Along::fill`
    pub(super) fn fill_columns(&self, place: isize, columns: Places, room: &mut [f32]) {
        let mut done = 0;
        while done < room.len() {
            let end = room.len().min(done.saturating_add(columns.together));
            self.fill(place + columns.place(done), columns.step.unsigned_abs(), &mut room[done..end]);
            done = end;
        }
    }
}

impl<'a> Along<'a> {
    /// The elements from a place of the slice on, `step` from one to the next, whose factors are alike or follow one another.
    #[inline(always)]
    pub(super) fn segment(&self, place: isize, step: usize) -> Segment<'a> {
        let place = self.first.wrapping_add(place).unsigned_abs();
        let mut index = 0usize;
        let mut fastest: Option<Fastest<'_>> = None;
        let mut others = usize::MAX;
        for digit in self.digits {
            let inside =
                if digit.modulus == NonZeroUsize::MAX { place } else { split(place, digit.modulus)[1] };
            let [value, behind] = split(inside, digit.stride);
            index = index.wrapping_add(value.wrapping_mul(digit.unit));
            let changes = step < digit.modulus.get() || step % digit.modulus != 0;
            let left = digit.stride.get() - behind;
            match fastest {
                _ if !changes => {}
                Some(other) if other.digit.stride <= digit.stride => others = others.min(left),
                slower => {
                    others = slower.map_or(others, |slower| others.min(slower.left));
                    fastest = Some(Fastest { digit, left, rest: digit.modulus.get() - inside });
                }
            }
        }
        let (count, advances) = match fastest {
            None => (usize::MAX, false),
            Some(Fastest { digit, left, .. }) if step < digit.stride.get() => (steps(left, step), false),
            Some(Fastest { digit, rest, .. }) if step == digit.stride.get() && digit.unit == 1 => {
                (steps(rest, step), true)
            }
            Some(_) => (1, false),
        };
        Segment { index: index.wrapping_sub(self.start), count, advances, fastest, others, step }
    }

    /// The factors of as many elements as there is room for, from a place of the slice on, `step` from one to the next.
    #[inline(never)] // whoever multiplies has all registers in use, and nothing here is done in vectors
    pub(super) fn fill(&self, place: isize, step: usize, room: &mut [f32]) {
        let mut done = 0;
        while done < room.len() {
            let place = place + (done * step) as isize;
            let segment = self.segment(place, step);
            let window = segment.window().min(room.len() - done);
            let part = &mut room[done..done + window];
            // Where the fastest digit begins anew before anything else changes, so do the factors.
            let period = segment.period().min(window);
            self.fill_each(place, step, &mut part[..period]);
            begin_anew(part, period);
            done += window;
        }
    }

    /// The factor of each of some rows, from a place of the slice on, `pitch` from one to the next, where all elements of a row have
    /// the same; false where they have not, or the rows are too many. They are found together, as finding one takes as long
    /// as multiplying a short row.
    #[inline(never)] // as for `fill`
    pub(super) fn fill_rows(
        &self,
        (place, step, count): (isize, usize, usize),
        pitch: isize,
        rows: usize,
        room: &mut [f32],
    ) -> bool {
        let (Some(room), Ok(pitch)) = (room.get_mut(..rows), usize::try_from(pitch)) else { return false };
        let segment = self.segment(place, step);
        let are_alike = !segment.advances
            && segment.count >= count
            && self.digits.iter().all(|digit| pitch.is_multiple_of(digit.stride.get()));
        if are_alike {
            self.fill(place, pitch, room);
        }
        are_alike
    }

    /// As [`Along::fill`], where nothing begins anew.
    fn fill_each(&self, place: isize, step: usize, room: &mut [f32]) {
        let mut done = 0;
        while done < room.len() {
            let segment = self.segment(place + (done * step) as isize, step);
            let repeated = match segment.repeats() {
                Some((each, rest)) if segment.count < rest => {
                    let end = done.saturating_add(rest).min(room.len());
                    self.repeated(segment.index, each, &mut room[done..end])
                }
                _ => 0,
            };
            if repeated > 0 {
                done += repeated;
                continue;
            }
            let Segment { index, count, advances, .. } = segment;
            let end = done.saturating_add(count).min(room.len());
            let part = &mut room[done..end];
            match self.values.get(index..index.saturating_add(part.len())) {
                _ if !advances => part.fill(self.value(index)),
                Some(values) => part.copy_from_slice(values),
                None => {
                    for (i, factor) in part.iter_mut().enumerate() {
                        *factor = self.value(index.wrapping_add(i));
                    }
                }
            }
            done = end;
        }
    }

    /// Puts each of the factors from one on `each` times, the last one perhaps fewer, and tells how many these are.
    fn repeated(&self, index: usize, each: usize, room: &mut [f32]) -> usize {
        match each {
            2 => self.repeat::<2>(index, room),
            4 => self.repeat::<4>(index, room),
            8 => self.repeat::<8>(index, room),
            16 => self.repeat::<16>(index, room),
            32 => self.repeat::<32>(index, room),
            _ => {
                let values = self.values.get(index..).unwrap_or_default();
                for (group, value) in room.chunks_mut(each).zip(values) {
                    group.fill(*value);
                }
                room.len().min(values.len().saturating_mul(each))
            }
        }
    }

    fn repeat<const TIMES: usize>(&self, index: usize, room: &mut [f32]) -> usize {
        let (groups, _) = room.as_chunks_mut::<TIMES>();
        let values = self.values.get(index..).unwrap_or_default();
        for (group, value) in groups.iter_mut().zip(values) {
            *group = [*value; TIMES];
        }
        groups.len().min(values.len()) * TIMES
    }

    pub(super) fn value(&self, index: usize) -> f32 {
        self.values.get(index).copied().unwrap_or(f32::NAN)
    }
}

/// Repeats the first few factors to the end.
pub(super) fn begin_anew(factors: &mut [f32], period: usize) {
    let mut done = period;
    while done < factors.len() {
        let more = done.min(factors.len() - done);
        factors.copy_within(..more, done);
        done += more;
    }
}

/// Quotient and remainder, without a division where it is not needed: divisions take longer than all else of a search.
#[inline(always)]
fn split(place: usize, by: NonZeroUsize) -> [usize; 2] {
    match by.is_power_of_two() {
        true => [place >> by.trailing_zeros(), place & (by.get() - 1)],
        false => [place / by, place % by],
    }
}

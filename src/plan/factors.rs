//! How the place of an element in the source says which step of a dimension it belongs to, and so which factor is its.

use std::num::NonZeroUsize;

use relayout_kernels::StepDigit;
use smallvec::SmallVec;

use super::digits::{Digits, Op, Term};
use super::lower::Window;

/// The digits of the source's places whose sum is the step of the dimension that has factors.
#[derive(Clone, Debug)]
pub(crate) struct StepPlaces {
    pub(crate) digits: SmallVec<[StepDigit; 3]>,
    /// The step that the first factor belongs to.
    pub(crate) start: usize,
}

impl StepPlaces {
    /// `None` where places do not say it: where steps share places, or go backwards, or where the dimension is combined with
    /// another one.
    pub(super) fn new(src: &Digits, dimension: usize, window: &Window) -> Option<Box<StepPlaces>> {
        let units = units(src, dimension)?;
        let counts = |term: &Term| src.slots[term.register] > 1;
        let (still, mut terms): (SmallVec<[Term; 12]>, SmallVec<[Term; 12]>) =
            src.terms.iter().copied().filter(counts).partition(|term| term.stride == 0);
        if still.iter().any(|term| units[term.register] > 0) {
            return None;
        }
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.stride));
        let mut places =
            StepPlaces { digits: SmallVec::new(), start: window.src_start[dimension].try_into().ok()? };
        let mut above = None;
        for Term { register, stride } in terms {
            let reach = stride.checked_mul(src.slots[register])?;
            if stride < 0 || above.is_some_and(|above| reach > above || above % stride != 0) {
                return None;
            }
            if units[register] > 0 {
                let modulus = above.map_or(Some(NonZeroUsize::MAX), number)?;
                let (stride, unit) = (number(stride)?, usize::try_from(units[register]).ok()?);
                places.digits.push(StepDigit { stride, modulus, unit });
            }
            above = Some(stride);
        }
        Some(Box::new(places))
    }
}

fn number(stride: i64) -> Option<NonZeroUsize> {
    usize::try_from(stride).ok().and_then(NonZeroUsize::new)
}

/// For every register how many steps of a dimension its values are apart: zero where it does not depend on the dimension.
/// `None` where one depends on other dimensions too.
fn units(digits: &Digits, dimension: usize) -> Option<SmallVec<[i64; 16]>> {
    let mut units: SmallVec<[i64; 16]> = SmallVec::from_elem(0, digits.slots.len());
    units[dimension] = 1;
    for op in &digits.ops {
        match *op {
            Op::Divide { input, by, quotient, remainder } => {
                units[quotient] = units[input].checked_mul(by)?;
                units[remainder] = units[input];
            }
            Op::Combine { major, minor, out } => {
                let alone = |other| digits.slots[other] == 1;
                units[out] = match (units[major], units[minor]) {
                    (0, 0) => 0,
                    (0, unit) if alone(major) => unit,
                    (unit, 0) if alone(minor) => unit,
                    _ => return None,
                };
            }
        }
    }
    Some(units)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;
    use crate::plan::digits::expand;

    fn places(shape: &str, dimension: usize) -> Option<Vec<(usize, usize, usize)>> {
        let shape: Shape = shape.parse().expect("a shape");
        let shape = shape.as_array().expect("an array");
        let mut digits = Digits::default();
        expand(shape, 4, None, &mut digits);
        let zero: SmallVec<[i64; 8]> = SmallVec::from_elem(0, shape.rank());
        let window = Window { extents: zero.clone(), src_start: zero.clone(), dst_start: zero };
        let places = StepPlaces::new(&digits, dimension, &window)?;
        Some(places.digits.iter().map(|d| (d.modulus.get(), d.stride.get(), d.unit)).collect())
    }

    #[test]
    fn digits_of_a_dimension() {
        assert_eq!(places("f32[5,7]", 0), Some(vec![(usize::MAX, 28, 1)]));
        assert_eq!(places("f32[5,7]", 1), Some(vec![(28, 4, 1)]));
        assert_eq!(places("f32[1,7]", 0), Some(vec![]));
        let rows = vec![(usize::MAX, 8192, 8), (4096, 512, 1)];
        assert_eq!(places("f32[20,200]{1,0:T(8,128)}", 0), Some(rows));
        let columns = vec![(8192, 4096, 128), (512, 4, 1)];
        assert_eq!(places("f32[20,200]{1,0:T(8,128)}", 1), Some(columns));
    }

    #[test]
    fn combined_dimensions_say_nothing_alone() {
        assert_eq!(places("f32[4,6]{1,0:T(*,8)}", 0), None);
        assert_eq!(places("f32[1,20]{1,0:T(*,8)}", 1), Some(vec![(usize::MAX, 32, 8), (32, 4, 1)]));
    }
}

//! Element types of the destination, and how elements come to be of them.

use relayout::{Conversion, Narrowing, Overflow, PrimitiveType, Rounding, convert};

use super::choices::Choices;

/// The type of the destination: mostly that of the source, else any that a conversion leads to; with its options.
pub(crate) fn conversion(
    choices: &mut Choices<'_>,
    from: PrimitiveType,
    extents: &[i64],
) -> (PrimitiveType, Conversion) {
    if !choices.one_in(2) {
        return (from, Conversion::new());
    }
    let types: Vec<PrimitiveType> =
        PrimitiveType::all().filter(|&to| convert::is_defined(from, to)).collect();
    let to = choices.pick(&types);
    let mut options = Conversion::new()
        .with_overflow(choices.pick(&[Overflow::Ieee, Overflow::Saturate]))
        .with_narrowing(choices.pick(&[Narrowing::Wrap, Narrowing::Saturate]))
        .with_rounding(choices.pick(&[Rounding::TowardZero, Rounding::NearestEven]));
    if convert::takes_scale(from, to) {
        let factor =
            |choices: &mut Choices<'_>| choices.pick(&[1.0, 0.5, -3.25, 1e-3, 255.0, 0.0, f32::INFINITY]);
        options = match choices.below(6) {
            0..4 => options,
            4 => options.with_scale(factor(choices)),
            _ if extents.is_empty() => options.with_scale(factor(choices)),
            _ => {
                let dimension = choices.below(extents.len() as i64) as usize;
                let some: Vec<f32> = (0..3).map(|_| factor(choices)).collect();
                let factors = (0..extents[dimension]).map(|i| some[i as usize % 3] * (1.0 + i as f32));
                options.with_scale_along(dimension, factors)
            }
        };
    }
    (to, options)
}

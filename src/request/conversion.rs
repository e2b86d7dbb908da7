//! What a conversion asks of the rest of a request.

use super::{PlanError, Request};
use crate::{ArrayShape, PrimitiveType, convert};

impl Request<'_> {
    /// That elements of the one type become elements of the other, as is asked.
    pub(super) fn check_types(&self, src: PrimitiveType, dst: PrimitiveType) -> Result<(), PlanError> {
        let has_scale = self.conversion.scale().is_some();
        if self.conversion.ef57() {
            return match (src, dst) {
                _ if has_scale => Err(PlanError::Ef57Option { option: "a scale" }),
                _ if self.region.is_some() => Err(PlanError::Ef57Option { option: "a region" }),
                (PrimitiveType::F64, PrimitiveType::F32) | (PrimitiveType::F32, PrimitiveType::F64) => Ok(()),
                _ => Err(PlanError::Ef57Types { src, dst }),
            };
        }
        if src != dst && !convert::is_defined(src, dst) {
            return Err(PlanError::NoConversion { src, dst });
        }
        if has_scale && !convert::takes_scale(src, dst) {
            return Err(PlanError::ScaleOfTypes { src, dst });
        }
        Ok(())
    }

    /// That a scale along a dimension has as many factors as elements are moved along it.
    pub(super) fn check_factors(&self) -> Result<(), PlanError> {
        let Some((Some(dimension), factors)) = self.conversion.scale() else { return Ok(()) };
        let found = factors.len();
        match self.extents().get(dimension) {
            None => Err(PlanError::ScaleDimension { dimension, rank: self.src.rank() }),
            Some(&expected) if i64::try_from(found) != Ok(expected) => {
                Err(PlanError::ScaleLength { dimension, expected, found })
            }
            Some(_) => Ok(()),
        }
    }

    /// That the last dimension has twice as many `f32` as `f64`, and that all others are equal.
    pub(super) fn check_ef57_dimensions(&self) -> Result<(), PlanError> {
        self.check_same_dimensions(self.src.rank().saturating_sub(1))?;
        let last = |shape: &ArrayShape| shape.dimensions().last().and_then(|size| size.bound()).unwrap_or(0);
        let (pairs, floats) = match self.src.element_type() {
            PrimitiveType::F64 => (last(self.src), last(self.dst)),
            _ => (last(self.dst), last(self.src)),
        };
        match pairs.checked_mul(2) == Some(floats) && self.src.rank() > 0 {
            true => Ok(()),
            false => Err(PlanError::Ef57Size { pairs, floats }),
        }
    }
}

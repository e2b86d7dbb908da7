//! A conversion in two passes over memory: what one does who has a tool for types and another for layouts.

use anyhow::Result;
use relayout::{ArrayShape, Conversion, Level, Plan, Shape};

use super::plan_builder;

/// Both passes.
pub(crate) struct TwoPasses {
    plans: [Plan; 2],
}

impl TwoPasses {
    /// `None` where the pair changes not both what elements are and where they lie.
    /// Elements are multiplied where they change their type.
    pub(crate) fn new(
        src: &Shape,
        dst: &Shape,
        conversion: &Conversion,
        threads: usize,
        level: Level,
    ) -> Result<Option<TwoPasses>> {
        let (Some(from), Some(to)) = (src.as_array(), dst.as_array()) else { return Ok(None) };
        // The narrower elements are those that are moved.
        let between = match from.element_bits()? >= to.element_bits()? {
            true => elements_of(from, to),
            false => elements_of(to, from),
        };
        if between == *from || between == *to {
            return Ok(None);
        }
        let between = Shape::from(between);
        let plan = |src: &Shape, dst: &Shape| -> Result<Plan> {
            let types = [src, dst].map(|shape| shape.as_array().map(ArrayShape::element_type));
            let changes = types[0] != types[1];
            let conversion = if changes { conversion.clone() } else { Conversion::new() };
            Ok(plan_builder(src, dst, Some(threads))?.conversion(conversion).level(level).build()?)
        };
        let plans = [plan(src, &between)?, plan(&between, dst)?];
        Ok(Some(TwoPasses { plans }))
    }

    /// Bytes of the array between the passes.
    pub(crate) fn byte_size_between(&self) -> usize {
        self.plans[1].src_byte_size()
    }

    /// Converts by way of `between`, which may be longer than the array.
    pub(crate) fn execute(&self, src: &[u8], between: &mut [u8], dst: &mut [u8]) -> Result<()> {
        let between = &mut between[..self.byte_size_between()];
        self.plans[0].execute(src, between)?;
        Ok(self.plans[1].execute(between, dst)?)
    }
}

/// An array that lies as one does, with the elements of another.
fn elements_of(array: &ArrayShape, other: &ArrayShape) -> ArrayShape {
    let layout = array.layout().clone();
    let bits = other.layout().element_size_in_bits();
    array.clone().with_element_type(other.element_type()).with_layout(layout.with_element_size_in_bits(bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_passes(src: &str, dst: &str) -> Option<TwoPasses> {
        TwoPasses::new(&src.parse().unwrap(), &dst.parse().unwrap(), &Conversion::new(), 1, Level::Scalar)
            .unwrap()
    }

    #[test]
    fn the_narrower_elements_move() {
        let between = |src, dst| two_passes(src, dst).unwrap().plans[0].dst().to_string();
        assert_eq!(between("f32[8,8]", "bf16[8,8]{0,1}"), "bf16[8,8]{1,0}");
        assert_eq!(between("bf16[8,8]", "f32[8,8]{0,1:T(4,4)}"), "bf16[8,8]{0,1:T(4,4)}");
        assert_eq!(between("s4[8,8]", "s4[8,8]{0,1:E(4)}"), "s4[8,8]{1,0:E(4)}");
    }

    #[test]
    fn one_pass_is_not_two() {
        for (src, dst) in
            [("f32[8,8]", "f32[8,8]{0,1}"), ("f32[8,8]", "bf16[8,8]"), ("s4[8]{0:E(4)}", "s4[8]")]
        {
            assert!(two_passes(src, dst).is_none(), "{src} {dst}");
        }
    }

    #[test]
    fn both_ways_end_alike() {
        let (src, dst) =
            ("f32[9,8]".parse::<Shape>().unwrap(), "bf16[9,8]{1,0:T(4,4)(2,1)}".parse::<Shape>().unwrap());
        let plan = Plan::new(&src, &dst).unwrap();
        let bytes: Vec<u8> = (0..plan.src_byte_size()).map(|i| (i * 37) as u8).collect();
        let (mut one, mut two) = (vec![0; plan.dst_byte_size()], vec![1; plan.dst_byte_size()]);
        plan.execute(&bytes, &mut one).unwrap();
        let passes = TwoPasses::new(&src, &dst, &Conversion::new(), 1, Level::Scalar).unwrap().unwrap();
        passes.execute(&bytes, &mut vec![2; passes.byte_size_between()], &mut two).unwrap();
        assert_eq!(one, two);
    }
}

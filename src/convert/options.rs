//! What a caller may choose about a conversion.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What becomes of values that are too large for a float type.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Overflow {
    /// What rounding gives: infinity; NaN where the type has none; in the types that have neither (`f4e2m1fn`,
    /// `f6e2m3fn`, `f6e3m2fn`) the greatest value.
    #[default]
    Ieee,
    /// The greatest finite value. Infinities count as too large.
    Saturate,
}

/// What becomes of integers that are too large for an integer type.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Narrowing {
    /// The high bits are dropped.
    #[default]
    Wrap,
    /// The least or the greatest value of the type.
    Saturate,
}

/// What becomes of the fraction of a float that becomes an integer.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
pub enum Rounding {
    /// It is dropped: 2.7 becomes 2, and -2.7 becomes -2.
    #[default]
    TowardZero,
    /// The nearest integer, of two the even one: 2.5 becomes 2, and 3.5 becomes 4. What quantising asks for.
    NearestEven,
}

/// Options of the conversion of elements, where the element types of source and destination differ.
///
/// See [`convert`](crate::convert) for the rules that every conversion follows.
///
/// ```
/// use relayout::{Conversion, Overflow, Plan, Shape};
/// let (src, dst): (Shape, Shape) = ("f32[4]".parse()?, "f8e4m3fn[4]".parse()?);
/// let options = Conversion::new().with_overflow(Overflow::Saturate).with_scale(0.5);
/// let plan = Plan::builder(&src, &dst).conversion(options).build()?;
/// let numbers: Vec<u8> = [1f32, -3.0, 1e6, f32::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
/// let mut narrow = [0; 4];
/// plan.execute(&numbers, &mut narrow)?;
/// assert_eq!(narrow, [0x30, 0xbc, 0x7e, 0x7f]); // 0.5, -1.5, 448 (the greatest), NaN
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Rows that are quantised, each with a step of its own:
///
/// ```
/// use relayout::{Conversion, Plan, Rounding, Shape};
/// let (src, dst): (Shape, Shape) = ("f32[2,2]".parse()?, "s8[2,2]".parse()?);
/// let steps = [0.5, 2.0f32];
/// let options = Conversion::new().with_scale_along(0, steps.map(f32::recip)).with_rounding(Rounding::NearestEven);
/// let plan = Plan::builder(&src, &dst).conversion(options).build()?;
/// let numbers: Vec<u8> = [0.7f32, -100.0, 7.0, -4.9].iter().flat_map(|x| x.to_le_bytes()).collect();
/// let mut quantised = [0; 4];
/// plan.execute(&numbers, &mut quantised)?;
/// assert_eq!(quantised.map(|x| x as i8), [1, -128, 4, -2]); // 7 / 2 lies between 3 and 4
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[non_exhaustive]
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct Conversion {
    overflow: Overflow,
    narrowing: Narrowing,
    rounding: Rounding,
    scale: Option<Scale>,
    ef57: bool,
}

/// Multipliers, one for all elements or one for each step of a dimension.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    /// `None`: the only factor is for all elements.
    pub(crate) dimension: Option<usize>,
    pub(crate) factors: Arc<[f32]>,
}

impl Scale {
    /// The factors' bits: NaN is equal to itself, and zeros differ by their signs, as they do in results.
    fn bits(&self) -> impl Iterator<Item = u32> {
        self.factors.iter().map(|factor| factor.to_bits())
    }

    /// The factor of the element of an index.
    pub(crate) fn factor(&self, index: &[i64]) -> f32 {
        self.factors[self.dimension.map_or(0, |dimension| index[dimension] as usize)]
    }
}

impl PartialEq for Scale {
    fn eq(&self, other: &Scale) -> bool {
        self.dimension == other.dimension && self.bits().eq(other.bits())
    }
}

impl Eq for Scale {}

impl Hash for Scale {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dimension.hash(state);
        self.factors.len().hash(state);
        self.bits().for_each(|bits| bits.hash(state));
    }
}

impl Conversion {
    /// As numpy and ml_dtypes convert: [`Overflow::Ieee`], [`Narrowing::Wrap`], [`Rounding::TowardZero`], no scale.
    pub fn new() -> Conversion {
        Conversion::default()
    }

    /// What becomes of values that are too large for a float type.
    pub fn with_overflow(mut self, overflow: Overflow) -> Conversion {
        self.overflow = overflow;
        self
    }

    /// What becomes of integers that are too large for an integer type.
    pub fn with_narrowing(mut self, narrowing: Narrowing) -> Conversion {
        self.narrowing = narrowing;
        self
    }

    /// What becomes of the fraction of a float that becomes an integer.
    pub fn with_rounding(mut self, rounding: Rounding) -> Conversion {
        self.rounding = rounding;
        self
    }

    /// Multiplies every element: it becomes an `f32`, the product is rounded to an `f32`, and that becomes the
    /// destination's type, which must be a real float or an integer.
    pub fn with_scale(self, factor: f32) -> Conversion {
        self.scaled(None, [factor])
    }

    /// As [`Conversion::with_scale`], with a factor for each step of one logical dimension (a row, or a channel), as
    /// many as are moved along it.
    pub fn with_scale_along(self, dimension: usize, factors: impl IntoIterator<Item = f32>) -> Conversion {
        self.scaled(Some(dimension), factors)
    }

    /// Splits each `f64` into a pair of `f32` (`ef57`), or joins such pairs, depending on which side is the `f64`.
    ///
    /// The last dimension of the `f32` array is twice as long as that of the `f64` array: element 2j is element j rounded
    /// to an `f32`, element 2j+1 what is left of it, rounded too (zero where the first is not finite). Joining adds the
    /// two. Layouts may be any; regions and scales cannot be combined with it.
    pub fn with_ef57(mut self) -> Conversion {
        self.ef57 = true;
        self
    }

    fn scaled(mut self, dimension: Option<usize>, factors: impl IntoIterator<Item = f32>) -> Conversion {
        self.scale = Some(Scale { dimension, factors: factors.into_iter().collect() });
        self
    }

    /// What becomes of values that are too large for a float type.
    pub fn overflow(&self) -> Overflow {
        self.overflow
    }

    /// What becomes of integers that are too large for an integer type.
    pub fn narrowing(&self) -> Narrowing {
        self.narrowing
    }

    /// What becomes of the fraction of a float that becomes an integer.
    pub fn rounding(&self) -> Rounding {
        self.rounding
    }

    /// The factors, and the dimension that they belong to where there is one for each of its steps.
    pub fn scale(&self) -> Option<(Option<usize>, &[f32])> {
        self.scale.as_ref().map(|scale| (scale.dimension, &scale.factors[..]))
    }

    /// True where pairs of `f32` stand for `f64`.
    pub fn ef57(&self) -> bool {
        self.ef57
    }

    /// True where nothing was chosen.
    pub(crate) fn is_default(&self) -> bool {
        *self == Conversion::new()
    }

    pub(crate) fn factors(&self) -> Option<&Scale> {
        self.scale.as_ref()
    }

    /// The factors, where they belong to a dimension, and the dimension.
    pub(crate) fn factors_along(&self) -> Option<(usize, &Scale)> {
        self.scale.as_ref().and_then(|scale| Some((scale.dimension?, scale)))
    }
}

//! `f64` as pairs of `f32`: no boxes, since an element of the one side is two of the other.

use super::digits::Digits;
use super::lower::Window;
use crate::{PrimitiveType, Request};

/// Both layouts of a plan that splits `f64` into pairs of `f32`, or joins them.
#[derive(Clone, Debug)]
pub(crate) struct Ef57 {
    pub(crate) src: Digits,
    pub(crate) dst: Digits,
    /// True where `f64` are the source.
    pub(crate) splits: bool,
    /// Elements of the `f64` array along each dimension.
    pub(crate) extents: Vec<i64>,
}

impl Ef57 {
    /// Of a source and a destination, and what is moved as either counts it.
    pub(super) fn new(request: &Request<'_>, [src, dst]: [&Digits; 2], windows: [&Window; 2]) -> Ef57 {
        let splits = request.src().element_type() == PrimitiveType::F64;
        let doubles = if splits { windows[0] } else { windows[1] };
        Ef57 { src: src.clone(), dst: dst.clone(), splits, extents: doubles.extents.to_vec() }
    }
}

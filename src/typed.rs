//! Rust's types of numbers, and the element types that they are.

use bytemuck::Pod;

use crate::PrimitiveType;

/// A Rust type whose values are elements of an array, bit for bit.
///
/// Those of the crate `half` are elements with the feature `half`.
///
/// ```
/// use relayout::{Element, PrimitiveType};
/// assert_eq!(<f32 as Element>::PRIMITIVE_TYPE, PrimitiveType::F32);
/// ```
pub trait Element: Pod {
    /// The element type.
    const PRIMITIVE_TYPE: PrimitiveType;
}

macro_rules! elements {
    ($($(#[$feature:meta])? $rust:ty => $element_type:ident),* $(,)?) => {$(
        $(#[$feature])?
        impl Element for $rust {
            const PRIMITIVE_TYPE: PrimitiveType = PrimitiveType::$element_type;
        }
    )*};
}

elements! {
    i8 => S8, i16 => S16, i32 => S32, i64 => S64,
    u8 => U8, u16 => U16, u32 => U32, u64 => U64,
    f32 => F32, f64 => F64,
    #[cfg(feature = "half")]
    half::bf16 => Bf16,
    #[cfg(feature = "half")]
    half::f16 => F16,
}

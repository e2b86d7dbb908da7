//! What happens to elements that change their type, in the kernels' words.

use relayout_kernels::{
    Conversion, Converter, FloatFormat, Level, Number, Rules, Scale, SlotWidth, Specials,
};

use super::choose::Element;
use crate::value::float;
use crate::{Narrowing, Overflow, PlanError, PrimitiveType, Request, Rounding};

/// A conversion, as kernels run it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Convert {
    pub(crate) conversion: Conversion,
    /// The bits of the factor of all elements.
    factor: u32,
}

impl Convert {
    /// The factor of all elements; 1 where there is none.
    pub(crate) fn factor(&self) -> f32 {
        f32::from_bits(self.factor)
    }

    /// The kernel between such slots.
    #[inline(always)] // a converter that is handed on takes as long to copy as a line to convert
    pub(crate) fn converter<'a>(
        &self,
        [src, dst]: [SlotWidth; 2],
        scale: Scale<'a>,
        level: Level,
        stream: bool,
    ) -> Converter<'a> {
        Converter { conversion: self.conversion, src, dst, scale, level, stream }
    }
}

/// What every box of a checked request has in common.
pub(crate) fn element(request: &Request<'_>, src: SlotWidth, dst: SlotWidth) -> Result<Element, PlanError> {
    let types = [request.src().element_type(), request.dst().element_type()];
    let bits = types[1].bit_width().unwrap_or(0).into();
    let mut element = Element { src, dst, bits, convert: None };
    let conversion = if request.converts() {
        let [from, to] = types.map(number);
        let made = from.zip(to).and_then(|(from, to)| Conversion::new(from, to, rules(request)));
        Some(made.ok_or(PlanError::NoConversion { src: types[0], dst: types[1] })?)
    } else {
        element.bits = request.moved_bits()?;
        None
    };
    let in_bytes = element.bits % 8 == 0 && [src, dst].iter().all(|slot| matches!(slot, SlotWidth::Bytes(_)));
    let moves = conversion.is_none_or(|conversion| conversion.is_identity());
    if !(in_bytes && moves) {
        let low_bits = || narrowed(src, dst, element.bits);
        let factor = match request.conversion().scale() {
            Some((None, &[factor])) => factor,
            _ => 1.0,
        };
        let conversion = conversion.unwrap_or_else(low_bits);
        element.convert = Some(Convert { conversion, factor: factor.to_bits() });
    }
    Ok(element)
}

/// The low bits of a slot, into a slot of another width.
fn narrowed(src: SlotWidth, dst: SlotWidth, bits: i64) -> Conversion {
    let is_exact = |slot| matches!(slot, SlotWidth::Bits(width) if width as i64 == bits);
    match is_exact(src) || is_exact(dst) {
        true => Conversion::identity(1), // a slot holds nothing else
        false => Conversion::low_bits(u32::try_from(bits).unwrap_or(8)),
    }
}

fn rules(request: &Request<'_>) -> Rules {
    let conversion = request.conversion();
    Rules {
        saturate_floats: conversion.overflow() == Overflow::Saturate,
        saturate_integers: conversion.narrowing() == Narrowing::Saturate,
        round_to_nearest: conversion.rounding() == Rounding::NearestEven,
        scale: conversion.scale().is_some(),
    }
}

/// What a type's bits mean.
fn number(element_type: PrimitiveType) -> Option<Number> {
    let signed = element_type.is_signed_integral();
    Some(match element_type {
        PrimitiveType::Pred => Number::Truth,
        PrimitiveType::C64 => Number::Complex(FloatFormat::F32),
        PrimitiveType::C128 => Number::Complex(FloatFormat::F64),
        _ if element_type.is_floating_point() => Number::Float(format(element_type)?),
        _ => Number::Integer { bits: element_type.bit_width()?, signed },
    })
}

fn format(element_type: PrimitiveType) -> Option<FloatFormat> {
    let float::FloatFormat { exponent_bits, mantissa_bits, bias, specials } =
        float::FloatFormat::of(element_type)?;
    let specials = match specials {
        float::Specials::Ieee => Specials::Ieee,
        float::Specials::NanOnly => Specials::NanOnly,
        float::Specials::NanIsNegativeZero => Specials::NanIsNegativeZero,
        float::Specials::FiniteOnly => Specials::FiniteOnly,
        float::Specials::PowersOfTwo => Specials::PowersOfTwo,
    };
    Some(FloatFormat { exponent_bits, mantissa_bits, bias, specials })
}

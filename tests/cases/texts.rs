//! One text through every reader: refused with a place, or read and printed so that it is read again as the same.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use relayout::hlo::Instruction;
use relayout::index::Indexer;
use relayout::{ArrayShape, DimensionSize, Layout, ParseError, Problem, Shape, SplitConfig, Tile};

/// Texts are compared too, because equality of layouts leaves out the metadata prefix.
fn check<T: FromStr<Err = ParseError> + Display + PartialEq + Debug>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => {
            let printed = value.to_string();
            let again: T = printed.parse().unwrap_or_else(|error| panic!("{text:?} -> {printed:?}: {error}"));
            assert_eq!((again.to_string(), &again), (printed, &value), "{text:?}");
        }
        Err(error) => {
            assert!(error.offset <= text.len() && text.is_char_boundary(error.offset), "{text:?}: {error:?}");
            assert!(error.caret().ends_with('^') && !error.to_string().contains('\n'), "{text:?}: {error:?}");
        }
    }
}

/// Panics where a reader breaks its promise.
pub(crate) fn check_text(text: &str) {
    check::<Shape>(text);
    check::<ArrayShape>(text);
    check::<Layout>(text);
    check::<Tile>(text);
    check::<SplitConfig>(text);
    check::<DimensionSize>(text);
    check::<Problem>(text);
    check::<Instruction>(text);
    if let Ok(shape) = text.parse::<Shape>() {
        assert_eq!(shape.validate().err(), shape.validation_errors().into_iter().next(), "{text:?}");
        check_sizes(&shape, text);
    }
}

fn sizes(array: &ArrayShape) -> Vec<i64> {
    array.physical_dimensions().expect("an array of some size has physical dimensions")
}

/// Sizes are there or refused, and fit one another.
fn check_sizes(shape: &Shape, text: &str) {
    if let Some(array) = shape.as_array() {
        assert_eq!(array.padded_elements().err(), Indexer::new(array).err(), "{text:?}");
    }
    let (Ok(bytes), Some(array)) = (shape.byte_size(), shape.as_array()) else { return };
    let slots = array.padded_elements().expect("an array of some size has slots");
    let bits = array.element_bits().expect("an array of some size has slots of some width");
    let expected = (i128::from(slots) * i128::from(bits) + 7) / 8;
    assert_eq!(i128::from(bytes), expected, "{text:?}");
    let indexer = Indexer::new(array).expect("an array of some size has an index function");
    assert_eq!((indexer.slots(), indexer.physical_dimensions()), (slots, &*sizes(array)), "{text:?}");
    assert!(array.elements().is_ok_and(|elements| (0..=slots).contains(&elements)), "{text:?}");
    let untiled = array.is_untiled();
    assert!(untiled.is_ok(), "{text:?}: {untiled:?}");
}

//! Shapes, layouts and requests for serde (feature `serde`): as XLA's text, which people read and other tools know.
//!
//! What a text cannot say, such as legacy padding inside a shape, is refused by the serialiser rather than lost.

mod conversion;
mod record;

pub use record::{EndRecord, RecordError, RequestRecord};

use std::fmt::Display;
use std::str::FromStr;

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use crate::{
    ArrayShape, DimensionSize, Fingerprint, Layout, Padding, PaddingValue, PlanRequest, PrimitiveType,
    Problem, Shape, SplitConfig, Tile,
};

/// Writes the text, after making sure that it says everything.
fn write<T, S>(value: &T, serializer: S) -> Result<S::Ok, S::Error>
where
    T: Display + FromStr + PartialEq,
    S: Serializer,
{
    let text = value.to_string();
    match text.parse::<T>() {
        Ok(read) if read == *value => serializer.serialize_str(&text),
        _ => Err(S::Error::custom(format_args!("`{text}` does not say everything about this value"))),
    }
}

fn read<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: FromStr<Err: Display>,
    D: Deserializer<'de>,
{
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

macro_rules! as_text {
    ($($type:ty),* $(,)?) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                write(self, serializer)
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                read(deserializer)
            }
        }
    )*};
}

as_text!(ArrayShape, DimensionSize, Fingerprint, Layout, Problem, Shape, SplitConfig, Tile);

/// Types whose values have names.
macro_rules! by_name {
    ($($type:ty: $what:literal, $name:expr, $from_name:expr);* $(;)?) => {$(
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let name: fn(&$type) -> String = $name;
                serializer.serialize_str(&name(self))
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$type, D::Error> {
                let name = String::deserialize(deserializer)?;
                let from_name: fn(&str) -> Option<$type> = $from_name;
                let unknown = || D::Error::custom(format_args!(concat!("expected ", $what, ", found '{}'"), name));
                from_name(&name).ok_or_else(unknown)
            }
        }
    )*};
}

by_name! {
    PrimitiveType: "an element type", |value| value.name().to_owned(), PrimitiveType::from_name;
    PaddingValue: "zero, one, lowest, highest or unknown", |value| padding_value_name(*value).to_owned(), |name| {
        PADDING_VALUES.into_iter().find(|&value| padding_value_name(value) == name)
    };
    Padding: "leave, zero or fill=0x…", padding_text, padding_from_text;
}

const PADDING_VALUES: [PaddingValue; 5] = [
    PaddingValue::Zero,
    PaddingValue::One,
    PaddingValue::Lowest,
    PaddingValue::Highest,
    PaddingValue::Unknown,
];

fn padding_value_name(value: PaddingValue) -> &'static str {
    match value {
        PaddingValue::Zero => "zero",
        PaddingValue::One => "one",
        PaddingValue::Lowest => "lowest",
        PaddingValue::Highest => "highest",
        PaddingValue::Unknown => "unknown",
    }
}

fn padding_text(padding: &Padding) -> String {
    match padding {
        Padding::Leave => "leave".to_owned(),
        Padding::Zero => "zero".to_owned(),
        Padding::Fill(bits) => format!("fill={bits:#x}"),
    }
}

fn padding_from_text(text: &str) -> Option<Padding> {
    match text {
        "leave" => Some(Padding::Leave),
        "zero" => Some(Padding::Zero),
        _ => {
            let digits = text.strip_prefix("fill=0x").filter(|digits| !digits.starts_with('+'))?;
            u128::from_str_radix(digits, 16).ok().map(Padding::Fill)
        }
    }
}

impl Serialize for PlanRequest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RequestRecord::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for PlanRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<PlanRequest, D::Error> {
        PlanRequest::try_from(RequestRecord::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

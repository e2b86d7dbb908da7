//! A conversion as it is stored: names and numbers, those of factors by their bits.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Conversion, Narrowing, Overflow, Rounding};

/// The fields of a [`Conversion`]; those that are missing have their defaults, and all must be known.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    #[serde(default)]
    overflow: Overflow,
    #[serde(default)]
    narrowing: Narrowing,
    #[serde(default, skip_serializing_if = "is_default")]
    rounding: Rounding,
    #[serde(default)]
    scale: Option<Scale>,
    #[serde(default)]
    ef57: bool,
}

/// True for what is left out, as it was when there was no choice.
fn is_default(rounding: &Rounding) -> bool {
    *rounding == Rounding::default()
}

/// One factor for all elements, or factors along a dimension.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Scale {
    All { factor_bits: u32 },
    Along { dimension: usize, factors_bits: Vec<u32> },
}

impl Scale {
    fn new((dimension, factors): (Option<usize>, &[f32])) -> Scale {
        let mut bits = factors.iter().map(|factor| factor.to_bits());
        match dimension {
            Some(dimension) => Scale::Along { dimension, factors_bits: bits.collect() },
            None => Scale::All { factor_bits: bits.next().unwrap_or(1f32.to_bits()) },
        }
    }
}

impl Serialize for Conversion {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let stored = Stored {
            overflow: self.overflow(),
            narrowing: self.narrowing(),
            rounding: self.rounding(),
            scale: self.scale().map(Scale::new),
            ef57: self.ef57(),
        };
        stored.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Conversion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Conversion, D::Error> {
        let Stored { overflow, narrowing, rounding, scale, ef57 } = Stored::deserialize(deserializer)?;
        let conversion = Conversion::new().with_overflow(overflow).with_narrowing(narrowing);
        let conversion = conversion.with_rounding(rounding);
        let conversion = match scale {
            None => conversion,
            Some(Scale::All { factor_bits }) => conversion.with_scale(f32::from_bits(factor_bits)),
            Some(Scale::Along { dimension, factors_bits }) => {
                conversion.with_scale_along(dimension, factors_bits.into_iter().map(f32::from_bits))
            }
        };
        Ok(if ef57 { conversion.with_ef57() } else { conversion })
    }
}

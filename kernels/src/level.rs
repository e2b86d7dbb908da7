//! SIMD levels: which instructions the kernels may use.

use std::fmt;
use std::str::FromStr;

/// A set of instructions. Higher levels of one architecture include the lower ones.
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Level {
    /// Portable code.
    Scalar,
    /// 128-bit vectors of aarch64.
    Neon,
    /// 256-bit vectors of x86-64.
    Avx2,
    /// 512-bit vectors of x86-64 (F, BW, CD, DQ, VL).
    Avx512,
    /// The same with byte permutes across a whole vector, and with what rounds to `bf16` where a processor has that, too.
    Avx512Vbmi,
}

/// A level that is unknown, or that this machine lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LevelError {
    /// No level has this name.
    Unknown(String),
    /// The level exists, but not on this machine.
    Unavailable(Level),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelError::Unknown(name) => {
                write!(f, "unknown level '{name}', expected scalar, avx2, avx512, avx512vbmi or neon")
            }
            LevelError::Unavailable(level) => write!(f, "this machine lacks level {level}"),
        }
    }
}

impl std::error::Error for LevelError {}

impl Level {
    /// Every level, from the lowest to the highest.
    pub const ALL: [Level; 5] = [Level::Scalar, Level::Neon, Level::Avx2, Level::Avx512, Level::Avx512Vbmi];

    /// The highest level of this machine.
    pub fn detect() -> Level {
        Level::ALL.into_iter().rev().find(|level| level.is_available()).unwrap_or(Level::Scalar)
    }

    /// True where this machine has the level; each instruction set is asked for once per process.
    pub fn is_available(self) -> bool {
        match self {
            Level::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => pulp::x86::V3::try_new().is_some() && is_x86_feature_detected!("f16c"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => pulp::x86::V4::try_new().is_some(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Vbmi => pulp::x86::V4::try_new().is_some() && is_x86_feature_detected!("avx512vbmi"),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => pulp::aarch64::Neon::try_new().is_some(),
            // The levels of other architectures.
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }

    /// The level itself where this machine has it.
    ///
    /// # Errors
    /// [`LevelError::Unavailable`] otherwise.
    pub fn require(self) -> Result<Level, LevelError> {
        if self.is_available() { Ok(self) } else { Err(LevelError::Unavailable(self)) }
    }

    /// The name: `scalar`, `avx2`, `avx512`, `avx512vbmi` or `neon`.
    pub fn name(self) -> &'static str {
        match self {
            Level::Scalar => "scalar",
            Level::Neon => "neon",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
            Level::Avx512Vbmi => "avx512vbmi",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Level {
    type Err = LevelError;

    fn from_str(name: &str) -> Result<Level, LevelError> {
        let found = Level::ALL.into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| LevelError::Unknown(name.to_owned()))
    }
}

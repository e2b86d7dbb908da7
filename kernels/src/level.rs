//! SIMD levels: which instructions the kernels may use.

use std::fmt;
use std::str::FromStr;

/// False where a build leaves the levels of AVX-512 out. Where it stands before a way, that way is not even compiled.
pub(crate) const HAS_AVX512: bool = cfg!(all(target_arch = "x86_64", feature = "avx512"));

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

/// A level that is unknown, or that this machine or this build lacks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LevelError {
    /// No level has this name.
    Unknown(String),
    /// The level exists, but not on this machine, or not in a build without the feature `avx512`.
    Unavailable(Level),
}

impl fmt::Display for LevelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LevelError::Unknown(name) => {
                write!(f, "unknown level '{name}', expected scalar, avx2, avx512, avx512vbmi or neon")
            }
            LevelError::Unavailable(level) if level.is_left_out() => {
                write!(f, "this build lacks level {level}, which the feature avx512 brings")
            }
            LevelError::Unavailable(level) => write!(f, "this machine lacks level {level}"),
        }
    }
}

impl std::error::Error for LevelError {}

impl Level {
    /// Every level, from the lowest to the highest.
    pub const ALL: [Level; 5] = [Level::Scalar, Level::Neon, Level::Avx2, Level::Avx512, Level::Avx512Vbmi];

    /// The highest level of this machine that the build has.
    pub fn detect() -> Level {
        Level::ALL.into_iter().rev().find(|level| level.is_available()).unwrap_or(Level::Scalar)
    }

    /// True where this machine has the level, and the build has it too; each instruction set is asked for once per process.
    pub fn is_available(self) -> bool {
        match self {
            Level::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => pulp::x86::V3::try_new().is_some() && is_x86_feature_detected!("f16c"),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512 => HAS_AVX512 && pulp::x86::V4::try_new().is_some(),
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Vbmi => Level::Avx512.is_available() && is_x86_feature_detected!("avx512vbmi"),
            #[cfg(target_arch = "aarch64")]
            Level::Neon => pulp::aarch64::Neon::try_new().is_some(),
            // The levels of other architectures.
            #[allow(unreachable_patterns)]
            _ => false,
        }
    }

    /// True for a level of this architecture that is not part of the build.
    fn is_left_out(self) -> bool {
        let is_avx512 = matches!(self, Level::Avx512 | Level::Avx512Vbmi);
        cfg!(target_arch = "x86_64") && is_avx512 && !HAS_AVX512
    }

    /// The level itself where it [is available](Level::is_available).
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_lacking_is_told() {
        for level in Level::ALL {
            let Err(error) = level.require() else { continue };
            let text = error.to_string();
            if level.is_left_out() {
                assert_eq!(text, format!("this build lacks level {level}, which the feature avx512 brings"));
            } else {
                assert_eq!(text, format!("this machine lacks level {level}"));
            }
        }
        assert!(Level::detect().is_available() && Level::detect().require() == Ok(Level::detect()));
        assert_eq!(HAS_AVX512, cfg!(all(target_arch = "x86_64", feature = "avx512")));
        assert_eq!(Level::Avx512.is_left_out(), cfg!(target_arch = "x86_64") && !HAS_AVX512);
    }
}

//! Which processor this is, as far as kernels differ by it. Asked once per process.

use std::sync::OnceLock;

/// Processors that were found to want their memory read and written in different ways.
#[derive(Clone, Copy, PartialEq, Eq)]
#[allow(dead_code)] // other targets have the first only
enum Kind {
    /// Any that is none of these: Intel's, which the first measurements were of.
    Other,
    /// AMD's before their fourth Zen, with AVX2 only.
    EarlyZen,
    FourthZen,
    /// Since the fifth: as many stores in flight as Intel's, and streams followed by the address of the instruction that reads them.
    FifthZen,
}

fn kind() -> Kind {
    static KIND: OnceLock<Kind> = OnceLock::new();
    *KIND.get_or_init(found::kind)
}

/// True on processors of AMD, whose last-level cache is a core's own neighbour.
pub(crate) fn is_amd() -> bool {
    kind() != Kind::Other
}

/// True on those before the fifth Zen, which keep few stores in flight.
pub(crate) fn is_older_amd() -> bool {
    matches!(kind(), Kind::EarlyZen | Kind::FourthZen)
}

/// True on those before the fourth Zen. What was measured on one of each differs by up to a half.
pub(crate) fn is_early_amd() -> bool {
    kind() == Kind::EarlyZen
}

/// True on the fourth Zen and those after it, which read a stream by itself faster than rows that take turns.
pub(crate) fn is_later_amd() -> bool {
    matches!(kind(), Kind::FourthZen | Kind::FifthZen)
}

/// True on AMD's fourth Zen.
pub(crate) fn is_fourth_zen() -> bool {
    kind() == Kind::FourthZen
}

/// True on AMD's fifth Zen, and later ones.
pub(crate) fn is_fifth_zen() -> bool {
    kind() == Kind::FifthZen
}

/// From how many bytes on, source and destination together, this processor should write past its cache, if it says how large
/// that is.
pub(crate) fn stream_threshold() -> Option<usize> {
    found::stream_threshold()
}

#[cfg(target_arch = "x86_64")]
mod found {
    use super::Kind;
    use raw_cpuid::{CacheType, CpuId, CpuIdReaderNative};

    /// The family of the fifth Zen, by which AMD tells its processors apart.
    const FIFTH_ZEN: u8 = 0x1a;

    /// Bytes of a cache level.
    fn level(cpuid: &CpuId<CpuIdReaderNative>, level: u8) -> Option<usize> {
        let caches = cpuid.get_cache_parameters()?;
        let mut found =
            caches.filter(|cache| cache.level() == level && cache.cache_type() != CacheType::Instruction);
        found.next().map(|cache| {
            cache.associativity()
                * cache.physical_line_partitions()
                * cache.coherency_line_size()
                * cache.sets()
        })
    }

    pub(super) fn stream_threshold() -> Option<usize> {
        let cpuid = CpuId::new();
        match super::is_amd() {
            // That of the cores beside this one: servers have several, and sum them up elsewhere.
            true => level(&cpuid, 3).map(|bytes| bytes / 2),
            false => level(&cpuid, 2).map(|bytes| bytes * 3 / 2),
        }
    }

    pub(super) fn kind() -> Kind {
        let cpuid = CpuId::new();
        let is_amd = cpuid.get_vendor_info().is_some_and(|vendor| vendor.as_str() == "AuthenticAMD");
        let family = cpuid.get_feature_info().map_or(0, |info| info.family_id());
        match is_amd {
            true if family >= FIFTH_ZEN => Kind::FifthZen,
            // The third and the fourth share a family; those before the fourth have second-level caches of half a mebibyte.
            true if level(&cpuid, 2).is_some_and(|bytes| bytes < 1 << 20) => Kind::EarlyZen,
            true => Kind::FourthZen,
            false => Kind::Other,
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod found {
    use super::Kind;

    pub(super) fn stream_threshold() -> Option<usize> {
        None
    }

    pub(super) fn kind() -> Kind {
        Kind::Other
    }
}

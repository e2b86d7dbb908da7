//! Every threshold of the kernels, with the reason for its value.

/// Bytes of the destination that one staged tile covers in a run, where rows start lines: two lines, so that strides near
/// a power of two, which share few sets of the caches, still write pairs of lines.
pub(crate) const ALIGNED_RUN: usize = 256;

/// The same where rows start anywhere: the first and last line of a run are written in part and met again by the next
/// tile, so runs are long enough to make that rare.
pub(crate) const UNALIGNED_RUN: usize = 1024;

/// Bytes of the source that one staged tile reads in a run: whole lines, and several, since a line that is read in part
/// is gone before the rest is wanted.
pub(crate) const SOURCE_RUN: usize = 256;

/// A staged tile never takes more than this: half of the smallest second-level cache in use.
pub(crate) const STAGE_BYTES: usize = 512 * 1024;

/// From this many bytes, source and destination together, a relayout on one thread is better written past the cache.
///
/// Until then ordinary stores stay in the cache and are up to twice as fast; beyond, each of them first reads the line
/// that it is about to replace. Where the last-level cache is a core's own neighbour (AMD) the limit was measured at half
/// of it; where it lies behind a mesh and only catches what the second level drops (Intel) at one and a half times the
/// second level.
pub fn stream_threshold() -> usize {
    static THRESHOLD: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *THRESHOLD.get_or_init(|| cache::threshold().unwrap_or(16 << 20))
}

#[cfg(target_arch = "x86_64")]
mod cache {
    use raw_cpuid::{CacheType, CpuId};

    /// Bytes of a cache level, and the threads that share it.
    fn level(cpuid: &CpuId<impl raw_cpuid::CpuIdReader>, level: u8) -> Option<usize> {
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

    pub(super) fn threshold() -> Option<usize> {
        let cpuid = CpuId::new();
        let vendor = cpuid.get_vendor_info()?;
        match vendor.as_str() {
            "AuthenticAMD" => cpuid
                .get_l2_l3_cache_and_tlb_info()
                .map(|info| usize::from(info.l3cache_size()) * 512 * 1024 / 2),
            _ => level(&cpuid, 2).map(|bytes| bytes * 3 / 2),
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod cache {
    pub(super) fn threshold() -> Option<usize> {
        None
    }
}

//! Scratch buffers, and their way past the cache.

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::lanes::Lanes;
#[cfg(target_arch = "x86_64")]
use crate::lanes::x86::Enter;
use crate::lanes::{LINE, next_line};
#[cfg(target_arch = "x86_64")]
use crate::level::HAS_AVX512;
use crate::level::Level;
use crate::nest::Loop;
use crate::rows::StreamedRows;
use crate::walk::Point;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
use crate::walk::Walk;

/// Bytes that start a line.
pub(super) struct Buffer(Vec<u8>);

impl Buffer {
    /// So many bytes; none take no memory.
    pub(super) fn new(bytes: usize) -> Buffer {
        Buffer(if bytes == 0 { Vec::new() } else { vec![0; bytes + LINE] })
    }

    /// The same, of which nothing is written yet: clearing as many takes as long as moving some of them.
    pub(super) fn unwritten(bytes: usize) -> Buffer {
        Buffer(Vec::with_capacity(bytes + LINE))
    }

    pub(super) fn start(&mut self) -> *mut u8 {
        next_line(self.0.as_mut_ptr())
    }
}

/// Runs a kernel at every point of the loops, at a level that has registers; false, and nothing is done, where there is none.
/// Where the kernel's stores pass the cache, a fence is then due.
///
/// # Safety
/// As the kernel says, at every point; there must be at most as many loops as one walk takes.
#[allow(unused_variables)] // portable targets have no levels
pub(crate) unsafe fn walk_at_level<K: Point>(
    level: Level,
    loops: &[Loop],
    (src, dst): (*const u8, *mut u8),
    kernel: K,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        use pulp::x86::{V3, V4};
        let walk = Walk::new(loops, (src, dst), kernel, false);
        let half = V3::try_new().filter(|_| level >= Level::Avx2);
        if HAS_AVX512
            && level >= Level::Avx512
            && let (Some(lanes), Some(half)) = (V4::try_new(), half)
        {
            match K::BY_HALF_LINES {
                true => V4::vectorize(lanes, Enter(half, walk)),
                // SAFETY: the caller's promise.
                false => unsafe { Lanes::vectorize(lanes, walk) },
            }
            return true;
        }
        if let Some(lanes) = half {
            // SAFETY: the caller's promise.
            unsafe { Lanes::vectorize(lanes, walk) };
            return true;
        }
    }
    #[cfg(target_arch = "aarch64")]
    if let (true, Some(lanes)) = (level >= Level::Neon, pulp::aarch64::Neon::try_new()) {
        // SAFETY: the caller's promise.
        unsafe { Lanes::vectorize(lanes, Walk::new(loops, (src, dst), kernel, false)) };
        return true;
    }
    false
}

/// Writes runs of `run` bytes, past the cache where the level can.
///
/// # Safety
/// Every run that the loops reach must be valid at both places, without overlap; there must be at most as many loops as
/// one walk takes.
pub(super) unsafe fn flush(level: Level, loops: &[Loop], src: *const u8, dst: *mut u8, run: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !walk_at_level(level, loops, (src, dst), StreamedRows::new(loops, run)) {
            crate::strided::walk_runs(loops, src, dst, run);
        }
    }
}

/// True where the level has stores that pass the cache.
pub(crate) fn streams(level: Level) -> bool {
    level >= Level::Avx2
}

/// Orders streamed stores before what follows.
#[allow(unused_variables)] // portable targets have no levels
pub(crate) fn fence(level: Level) {
    #[cfg(target_arch = "x86_64")]
    if let (true, Some(lanes)) = (streams(level), pulp::x86::V3::try_new()) {
        Lanes::fence(lanes);
    }
}

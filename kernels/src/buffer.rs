//! A buffer of bytes that starts a cache line, and a huge page where it is large.

use std::alloc;
use std::fmt;
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

use crate::tuning::{HUGE_PAGE, HUGE_PAGE_BUFFER};

/// Every buffer starts at a multiple of this many bytes: a cache line, and the widest vector.
const ALIGNMENT: usize = 64;

/// Bytes at a multiple of 64, for staging and for destinations of relayouts.
///
/// On Linux, buffers of 4 MiB and more start a huge page, and the system is asked for such pages: filling fresh memory
/// then takes one page fault for 2 MiB in place of 512.
///
/// ```
/// use relayout_kernels::AlignedBuffer;
/// let mut buffer = AlignedBuffer::zeroed(100)?;
/// buffer[99] = 1;
/// assert_eq!((buffer.len(), buffer.as_ptr() as usize % 64), (100, 0));
/// assert_eq!(buffer[98..], [0, 1]);
/// # Ok::<(), relayout_kernels::BufferError>(())
/// ```
pub struct AlignedBuffer {
    memory: Memory,
}

/// Why there is no [`AlignedBuffer`].
#[non_exhaustive]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BufferError {
    /// The system gave no memory, or there are no addresses for so many bytes.
    OutOfMemory {
        /// Bytes that were asked for.
        bytes: usize,
    },
    /// What was to write the buffer returned other memory than the buffer's.
    NotTheBuffer,
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::OutOfMemory { bytes } => write!(f, "no memory for a buffer of {bytes} bytes"),
            BufferError::NotTheBuffer => f.write_str("other memory was written in place of the buffer"),
        }
    }
}

impl std::error::Error for BufferError {}

impl AlignedBuffer {
    /// `len` bytes of zero. Large ones come as the system's own zero pages, and are not touched here.
    ///
    /// # Errors
    /// [`BufferError::OutOfMemory`].
    pub fn zeroed(len: usize) -> Result<AlignedBuffer, BufferError> {
        // SAFETY: `Memory::new` asks for no less than one byte.
        let memory = Memory::new(len, |block| unsafe { alloc::alloc_zeroed(block) })?;
        Ok(AlignedBuffer { memory })
    }

    /// `len` bytes that `write` writes. It gets memory that nobody has written yet, and returns it as bytes.
    ///
    /// ```
    /// use relayout_kernels::{AlignedBuffer, BufferError, zero_bytes};
    /// let buffer = AlignedBuffer::written_by(3, |memory| Ok::<_, BufferError>(zero_bytes(memory)))?;
    /// assert_eq!(buffer[..], [0, 0, 0]);
    /// # Ok::<(), BufferError>(())
    /// ```
    ///
    /// # Errors
    /// [`BufferError`] where there is no memory, or `write` returned other memory than it got; and what `write` returns.
    pub fn written_by<E: From<BufferError>>(
        len: usize,
        write: impl for<'a> FnOnce(&'a mut [MaybeUninit<u8>]) -> Result<&'a mut [u8], E>,
    ) -> Result<AlignedBuffer, E> {
        // SAFETY: as in `zeroed`.
        let mut memory = Memory::new(len, |block| unsafe { alloc::alloc(block) })?;
        let written = write(memory.uninit())?;
        // Exclusively borrowed bytes at the buffer's place are the buffer's, so they have been initialized.
        let (place, bytes) = (written.as_ptr(), written.len());
        if bytes != len || place != memory.start.as_ptr() {
            return Err(BufferError::NotTheBuffer.into());
        }
        Ok(AlignedBuffer { memory })
    }
}

impl Deref for AlignedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: `start` and `len` are those of the memory, which lives as long as the buffer; every byte of it was
        // initialized when the buffer was made.
        unsafe { std::slice::from_raw_parts(self.memory.start.as_ptr(), self.memory.len) }
    }
}

impl DerefMut for AlignedBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `deref`, and the buffer is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory.start.as_ptr(), self.memory.len) }
    }
}

impl fmt::Debug for AlignedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AlignedBuffer").field("len", &self.memory.len).finish_non_exhaustive()
    }
}

/// Memory of our own.
struct Memory {
    /// What the allocator gave, for as many bytes as `block` says.
    allocation: NonNull<u8>,
    block: alloc::Layout,
    /// The first aligned address in it; `len` bytes behind it belong to the allocation.
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the memory belongs to this value alone, like that of a vector of bytes.
unsafe impl Send for Memory {}
// SAFETY: as above; a shared reference only reads.
unsafe impl Sync for Memory {}

impl Memory {
    /// Allocates more than is asked for and takes the aligned part: asking the allocator for the alignment would make it
    /// write zeros that the system has written already.
    fn new(len: usize, allocate: impl FnOnce(alloc::Layout) -> *mut u8) -> Result<Memory, BufferError> {
        let no_memory = BufferError::OutOfMemory { bytes: len };
        let alignment = alignment(len);
        let size = len.checked_add(alignment).ok_or(no_memory)?;
        let block = alloc::Layout::from_size_align(size, 1).map_err(|_| no_memory)?;
        let allocation = NonNull::new(allocate(block)).ok_or(no_memory)?;
        let skipped = allocation.as_ptr().addr().wrapping_neg() % alignment;
        // SAFETY: `skipped` is less than `alignment`, so the address, and `len` bytes behind it, lie in the allocation.
        let start = unsafe { allocation.add(skipped) };
        let memory = Memory { allocation, block, start, len };
        if alignment == HUGE_PAGE {
            memory.advise_huge_pages();
        }
        Ok(memory)
    }

    fn uninit(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the memory is borrowed exclusively, `len` bytes long, and bytes that may be uninitialized are valid
        // whatever it holds.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().cast(), self.len) }
    }

    /// Asks the system to back the memory by huge pages. It is free not to, so the answer does not matter.
    fn advise_huge_pages(&self) {
        #[cfg(all(target_os = "linux", not(miri)))]
        {
            let whole_pages = self.len / HUGE_PAGE * HUGE_PAGE;
            // SAFETY: the range is a part of this value's allocation, and starts a page; the advice changes which pages
            // back it, and not what it holds.
            unsafe { libc::madvise(self.start.as_ptr().cast(), whole_pages, libc::MADV_HUGEPAGE) };
        }
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: `allocation` came from the global allocator with this block, and is given back once.
        unsafe { alloc::dealloc(self.allocation.as_ptr(), self.block) }
    }
}

/// What the start of a buffer of `len` bytes is a multiple of.
fn alignment(len: usize) -> usize {
    if cfg!(target_os = "linux") && len >= HUGE_PAGE_BUFFER { HUGE_PAGE } else { ALIGNMENT }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicPtr, Ordering};

    use super::*;
    use crate::uninit::zero_bytes;

    #[test]
    fn buffers_start_lines_or_huge_pages() {
        let huge = [HUGE_PAGE_BUFFER - 1, HUGE_PAGE_BUFFER, HUGE_PAGE_BUFFER + 1];
        // An interpreter takes minutes for the large ones.
        let huge = if cfg!(miri) { &[][..] } else { &huge };
        for &len in [0, 1, 63, 64, 65, 4095].iter().chain(huge) {
            let mut buffer = AlignedBuffer::zeroed(len).expect("memory");
            assert_eq!((buffer.len(), buffer.as_ptr().addr() % alignment(len)), (len, 0));
            assert!(buffer.iter().all(|&byte| byte == 0));
            buffer.fill(7);
            let copy = AlignedBuffer::written_by(len, |memory| Ok::<_, BufferError>(zero_bytes(memory)));
            assert_eq!(copy.expect("memory").len(), len);
            assert!(buffer.iter().all(|&byte| byte == 7));
        }
    }

    #[test]
    fn too_much_is_an_error() {
        for bytes in [usize::MAX, isize::MAX as usize] {
            assert_eq!(AlignedBuffer::zeroed(bytes).map(|_| ()), Err(BufferError::OutOfMemory { bytes }));
        }
    }

    #[test]
    fn other_memory_is_refused() {
        let leaked = AtomicPtr::new(std::ptr::null_mut());
        let other = AlignedBuffer::written_by(3, |_| {
            let other = Box::into_raw(Box::new([0; 3]));
            leaked.store(other, Ordering::Relaxed);
            // SAFETY: a box of its own, which is not reached in another way while this is.
            Ok::<_, BufferError>(unsafe { &mut *other })
        });
        assert_eq!(other.map(|_| ()), Err(BufferError::NotTheBuffer));
        // SAFETY: the box from above, which nobody borrows any more.
        drop(unsafe { Box::from_raw(leaked.load(Ordering::Relaxed)) });
        let part = AlignedBuffer::written_by(3, |memory| Ok::<_, BufferError>(zero_bytes(&mut memory[..2])));
        assert_eq!(part.map(|_| ()), Err(BufferError::NotTheBuffer));
        let failed = AlignedBuffer::written_by(3, |_| Err(BufferError::OutOfMemory { bytes: 9 }));
        assert_eq!(failed.map(|_| ()), Err(BufferError::OutOfMemory { bytes: 9 }));
    }

    #[test]
    fn buffers_go_between_threads() {
        let buffer = AlignedBuffer::zeroed(100).expect("memory");
        let sum = std::thread::spawn(move || buffer.iter().map(|&byte| usize::from(byte)).sum::<usize>());
        assert_eq!(sum.join().expect("no panic"), 0);
    }
}

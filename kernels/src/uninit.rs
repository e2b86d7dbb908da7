//! Memory that nobody has written yet, made fit for kernels that take `&mut [u8]`.

use std::mem::MaybeUninit;

/// Gives every byte of `memory` some value without touching it, for a caller who writes every byte before looking at any:
/// which values the bytes have is not promised, not even that they stay until written.
///
/// Where the compiler cannot be told so (it can on x86-64 and aarch64) the bytes become zero.
pub fn any_bytes(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
    {
        // SAFETY:
        // - the block executes no instruction, touches no stack and no flags;
        // - it is given the address of exclusively borrowed memory and is not `nomem`, so for the compiler it may have
        //   written any bytes there, and it must take the memory as written.
        unsafe {
            std::arch::asm!("/* {0} */", in(reg) memory.as_mut_ptr(), options(nostack, preserves_flags));
        }
        let bytes: *mut [u8] = std::ptr::from_mut(memory) as *mut [u8];
        // SAFETY: the borrow's own memory, as long as before, with the alignment of bytes; and initialized, as far as the
        // language goes, by what is above.
        unsafe { &mut *bytes }
    }
    #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
    zero_bytes(memory)
}

/// Writes zeros.
pub fn zero_bytes(memory: &mut [MaybeUninit<u8>]) -> &mut [u8] {
    memory.fill(MaybeUninit::new(0));
    let bytes: *mut [u8] = std::ptr::from_mut(memory) as *mut [u8];
    // SAFETY: the borrow's own memory, every byte of which was just written.
    unsafe { &mut *bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_can_be_written_and_read() {
        for len in [0, 1, 100] {
            let mut memory = vec![MaybeUninit::uninit(); len];
            let address = memory.as_ptr().addr();
            let bytes = any_bytes(&mut memory);
            assert_eq!((bytes.as_ptr().addr(), bytes.len()), (address, len));
            bytes.fill(7);
            assert!(bytes.iter().all(|&byte| byte == 7));
            assert!(zero_bytes(&mut memory).iter().all(|&byte| byte == 0));
        }
    }
}

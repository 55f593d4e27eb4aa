//! Whether an address can be read without a fault.

use crate::page_size;

/// Whether the machine word at `address` is readable memory of this process.  Null and misaligned
/// addresses are not.
///
/// The driver dereferences the handles that it is given.  Handles from outside are checked here
/// first.
///
/// ```
/// let word = 7usize;
/// assert!(arrow_cuda_context::is_readable(&raw const word as usize));
/// assert!(!arrow_cuda_context::is_readable(0));
/// ```
pub fn is_readable(address: usize) -> bool {
    // Has the kernel copy the word; unlike a load, that fails without a fault.
    let size = size_of::<usize>();
    if address == 0 || !address.is_multiple_of(size) {
        return false;
    }
    let mut word = 0usize;
    let here = libc::iovec { iov_base: (&raw mut word).cast(), iov_len: size };
    let there = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: size };
    // SAFETY: writes only to `word`; the kernel checks the other address.
    let copied = unsafe { libc::process_vm_readv(libc::getpid(), &here, 1, &there, 1, 0) };
    if copied >= 0 {
        return copied.cast_unsigned() == size;
    }
    // Some sandboxes forbid the call.  Then check at least whether the page is mapped.
    let refused = std::io::Error::last_os_error().raw_os_error() != Some(libc::EFAULT);
    refused && is_mapped(address)
}

fn is_mapped(address: usize) -> bool {
    let page = page_size();
    let mut resident = 0u8;
    let start = (address & !(page - 1)) as *mut libc::c_void;
    // SAFETY: one page needs one byte of `resident`; nothing is read through `start`.
    unsafe { libc::mincore(start, page, &raw mut resident) == 0 }
}

//! Pinned (page-locked) host memory.

use arrow_cuda_buffer::mapped_address;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaError, CudaResult, blocking, call, may_release, report_failure};
use std::ffi::c_void;
use std::ptr::NonNull;
use std::slice;

/// `CU_MEMHOSTALLOC_PORTABLE`: pinned for every context, not only the one that is current.
const PORTABLE: u32 = 1;

/// Host memory that the device can reach, and that copies to and from it are fastest with.
///
/// Unmapped when dropped, at once: an address into it must fault afterwards rather than read
/// somebody else's data.
///
/// ```
/// use arrow_cuda_context::Context;
/// use arrow_cuda_host_io::HostBuffer;
///
/// let mut pinned = HostBuffer::allocate(&Context::primary(0)?, 4)?;
/// pinned.as_mut_slice().copy_from_slice(b"data");
/// assert_eq!(pinned.as_slice(), b"data");
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct HostBuffer {
    data: NonNull<u8>,
    size: usize,
}

// SAFETY: plain memory without thread affinity; Rust's borrows guard access to it.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// Allocates `size` bytes.  Their content is whatever the driver leaves there: zeros, or what
    /// this process had in pinned memory before.
    ///
    /// # Errors
    ///
    /// The driver's, when so much cannot be pinned.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let mut data: *mut c_void = std::ptr::null_mut();
        if size > 0 {
            let _current = context.enter()?;
            // SAFETY: stores an address through the pointer, which outlives the call.
            unsafe { call!(cuMemHostAlloc((&raw mut data).cast(), size, PORTABLE)) }
                .map_err(|error: CudaError| error.while_allocating(size as u64))?;
        }
        Ok(Self { data: NonNull::new(data.cast()).unwrap_or(NonNull::dangling()), size })
    }

    /// The memory's address.  Dangling, but not null, when there are no bytes.
    pub fn as_ptr(&self) -> *mut u8 {
        self.data.as_ptr()
    }

    /// The size, in bytes.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `size` bytes are allocated at `data`, in pages that the driver has touched.
        unsafe { slice::from_raw_parts(self.as_ptr(), self.size) }
    }

    /// The bytes, to be written.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.as_ptr(), self.size) }
    }
}

/// Whether host memory is pinned, from one end to the other, as far as the ends tell: then copies
/// on streams return before they are made.
///
/// # Errors
///
/// When the context cannot be entered.
pub fn is_pinned(context: &Context, address: *const u8, size: usize) -> CudaResult<bool> {
    let is_known = |address: *const u8| Ok(mapped_address(context, address as u64)?.is_some());
    Ok(size > 0 && is_known(address)? && is_known(address.wrapping_add(size - 1))?)
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.size > 0 && may_release() {
            // SAFETY: the address came from `cuMemHostAlloc` and is freed once, here.
            let freed = blocking(|| unsafe { call!(cuMemFreeHost(self.as_ptr().cast())) });
            report_failure("pinned host memory", freed);
        }
    }
}

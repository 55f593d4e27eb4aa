//! Pinned host memory.

use arrow_cuda_context::{Context, Current};
use arrow_cuda_driver::CudaResult;
use std::ptr::NonNull;
use std::slice;

/// Host memory that the device can access directly, which makes copies fastest.
///
/// Dropping it unmaps the memory at once: a stale address must fault rather than show other data.
///
/// ```
/// use arrow_cuda_context::Context;
/// use arrow_cuda_transfer::HostBuffer;
///
/// let mut pinned = HostBuffer::allocate(&Context::primary(0)?, 4)?;
/// pinned.as_mut_slice().copy_from_slice(b"data");
/// assert_eq!(pinned.as_slice(), b"data");
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct HostBuffer {
    context: Context,
    /// Dangling when there are no bytes.
    data: NonNull<u8>,
    size: usize,
}

// SAFETY: plain memory without thread affinity; Rust's borrows guard access to it.
unsafe impl Send for HostBuffer {}
// SAFETY: as above.
unsafe impl Sync for HostBuffer {}

impl HostBuffer {
    /// Allocates `size` bytes.  Their content is unspecified: zeros, or what this process had in
    /// pinned memory before.
    ///
    /// # Errors
    ///
    /// Driver errors, when it cannot pin that much memory.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let data = match size {
            0 => NonNull::dangling(),
            _ => context.enter()?.allocate_host_memory(size)?,
        };
        Ok(Self { context: context.clone(), data, size })
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

    /// The bytes, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.as_ptr(), self.size) }
    }
}

/// Whether host memory is pinned, judged by its first and last byte.
///
/// # Errors
///
/// When the context is gone.
pub fn is_pinned(context: &Context, address: *const u8, size: usize) -> CudaResult<bool> {
    is_device_accessible(&context.enter()?, address, size)
}

pub(crate) fn is_device_accessible(
    current: &Current<'_>,
    start: *const u8,
    size: usize,
) -> CudaResult<bool> {
    let knows = |address: *const u8| Ok(current.device_address(address as u64)?.is_some());
    Ok(size > 0 && knows(start)? && knows(start.wrapping_add(size - 1))?)
}

impl Drop for HostBuffer {
    fn drop(&mut self) {
        if self.size > 0 {
            self.context.release("pinned host memory", |current| {
                // SAFETY: allocated in `allocate`, and released once, here.
                unsafe { current.release_host_memory(self.data) }
            });
        }
    }
}

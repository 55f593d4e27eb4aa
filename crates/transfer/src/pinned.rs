//! Pinned host memory.

use arrow_cuda_context::{Block, Context, Current, is_pinned_block};
use arrow_cuda_driver::CudaResult;
use std::ptr::NonNull;
use std::slice;

/// Host memory that the device can access directly, which makes copies fastest.
///
/// Dropping it releases the memory: the process caches it for its next pinned memory, and everything
/// that checks an address refuses it until then.
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
    /// None when there are no bytes.
    block: Option<Block>,
}

impl HostBuffer {
    /// Allocates `size` bytes.  Their content is unspecified: zeros, or what this process had in
    /// pinned memory before.
    ///
    /// # Errors
    ///
    /// Driver errors, when it cannot pin that much memory.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let block = match size {
            0 => None,
            _ => Some(context.allocate_pinned(size)?),
        };
        Ok(Self { block })
    }

    /// The memory's address, for others, who may queue work that does not retain the buffer.  Once
    /// it is dropped, its memory serves again only when all work in the process is complete that
    /// was queued before.  Dangling, but not null, when there are no bytes.
    ///
    /// Work that retains the buffer uses the address of [`as_slice`](Self::as_slice).
    pub fn as_ptr(&self) -> *mut u8 {
        let exposed = self.block.as_ref().map(Block::address);
        exposed.map_or(NonNull::dangling().as_ptr(), |address| address as *mut u8)
    }

    /// The memory's address, for work that retains the buffer.
    pub(crate) fn start(&self) -> *mut u8 {
        let address = self.block.as_ref().map(Block::private_address);
        address.map_or(NonNull::dangling().as_ptr(), |address| address as *mut u8)
    }

    /// The size, in bytes.
    pub fn size(&self) -> usize {
        // The size was asked for as a `usize`.
        self.block.as_ref().map_or(0, |block| block.size() as usize)
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `size` bytes are allocated there, in pages that the driver has touched.
        unsafe { slice::from_raw_parts(self.start(), self.size()) }
    }

    /// The bytes, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.start(), self.size()) }
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
    // The driver takes longer to tell.
    if is_pinned_block(start.addr() as u64, size as u64) {
        return Ok(size > 0);
    }
    let knows = |address: *const u8| Ok(current.device_address(address as u64)?.is_some());
    Ok(size > 0 && knows(start)? && knows(start.wrapping_add(size - 1))?)
}

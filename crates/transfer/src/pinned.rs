//! Pinned host memory.

use arrow_cuda_context::{Block, Context, Current, Retained, is_pinned_block};
use arrow_cuda_driver::CudaResult;
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::ptr::NonNull;
use std::{ptr, slice};

/// Host memory that the device can access directly, which makes copies fastest.
///
/// Dropping it releases the memory, which the process caches for its next pinned memory; until then, calls that check
/// addresses refuse it.
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
    memory: Memory,
}

#[derive(Debug)]
enum Memory {
    /// No bytes.
    Empty,
    Owned(Block),
    /// Another library's, kept valid by its owner.
    Foreign {
        address: usize,
        size: usize,
        _owner: Retained,
    },
}

impl HostBuffer {
    /// Allocates `size` bytes.  Their content is unspecified: zeros, or what this process had in
    /// pinned memory before.
    ///
    /// # Errors
    ///
    /// Driver errors, when it cannot pin that much memory.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        let memory = match size {
            0 => Memory::Empty,
            _ => Memory::Owned(Block::allocate_pinned(context, size)?),
        };
        Ok(Self { memory })
    }

    /// Pinned memory of another library, which `owner` keeps valid.
    ///
    /// # Safety
    ///
    /// The bytes must be initialised, pinned, and the result's alone, as long as `owner` lives.
    pub unsafe fn foreign(address: *mut u8, size: usize, owner: Retained) -> Self {
        let address = address.expose_provenance();
        let memory = match size {
            0 => Memory::Empty,
            _ => Memory::Foreign { address, size, _owner: owner },
        };
        Self { memory }
    }

    /// The memory's address, for others, who may queue work that does not retain the buffer.  Once the buffer
    /// is dropped, its memory is reused only when all work that the process queued before is complete.
    /// Dangling, but not null, when there are no bytes.
    ///
    /// Work that retains the buffer uses the [`private_ptr`](Self::private_ptr).
    pub fn as_ptr(&self) -> *mut u8 {
        if let Memory::Owned(block) = &self.memory {
            block.expose();
        }
        self.private_ptr()
    }

    /// The memory's address, for work that is complete, or retains the buffer, when the call returns or fails.  Other
    /// libraries must not get it.
    pub fn private_ptr(&self) -> *mut u8 {
        match &self.memory {
            Memory::Empty => NonNull::dangling().as_ptr(),
            Memory::Owned(block) => block.private_address() as *mut u8,
            Memory::Foreign { address, .. } => ptr::with_exposed_provenance_mut(*address),
        }
    }

    /// The size, in bytes.
    pub fn size(&self) -> usize {
        match &self.memory {
            Memory::Empty => 0,
            // The size was asked for as a `usize`.
            Memory::Owned(block) => block.size() as usize,
            Memory::Foreign { size, .. } => *size,
        }
    }

    /// The size, in bytes, under the name that slices have for it.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_transfer::HostBuffer;
    ///
    /// let pinned = HostBuffer::allocate(&Context::primary(0)?, 4)?;
    /// assert!(pinned.len() == 4 && !pinned.is_empty());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.size()
    }

    /// Whether there are no bytes.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// The bytes.  They may get to other libraries, as [`as_ptr`](Self::as_ptr) describes.
    ///
    /// `cudarc` takes any slice for pageable memory, and does not wait for its copies: pass it the buffer itself.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: `size` bytes are allocated there, and initialised.
        unsafe { slice::from_raw_parts(self.as_ptr(), self.size()) }
    }

    /// The bytes, mutable; as [`as_slice`](Self::as_slice).
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { slice::from_raw_parts_mut(self.as_ptr(), self.size()) }
    }
}

// It only drops the objects of other libraries that it owns.
impl UnwindSafe for HostBuffer {}
impl RefUnwindSafe for HostBuffer {}

/// The bytes, as [`as_slice`](HostBuffer::as_slice) gives them.
impl Deref for HostBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl DerefMut for HostBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }
}

impl AsRef<[u8]> for HostBuffer {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

impl AsMut<[u8]> for HostBuffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self.as_mut_slice()
    }
}

/// Whether all of a range of host memory is pinned at once: it lies in one allocation of pinned memory, or in one range
/// that was registered.  A range of which only parts are pinned, or that spans two such ranges, counts as pageable: the
/// driver refuses to copy it.
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
    // On machines whose devices reach pageable memory, the driver knows that, too, but no range of it.
    let end = |(start, length): (u64, u64)| start.saturating_add(length);
    let known = current.known_range(start.addr() as u64)?;
    Ok(size > 0 && known.is_some_and(|range| end(range) - start.addr() as u64 >= size as u64))
}

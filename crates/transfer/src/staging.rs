//! Host memory on the way to a device: pinned, or pageable if none can be pinned.

use crate::HostBuffer;
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaResult;

/// Memory that is filled on the host, and copied to a device.
///
/// ```
/// use arrow_cuda_context::Context;
/// use arrow_cuda_transfer::Staging;
///
/// let mut staging = Staging::allocate(&Context::primary(0)?, 100)?;
/// // SAFETY: within the memory, which nobody else uses.
/// unsafe { staging.private_ptr().add(99).write(7) };
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub enum Staging {
    /// The device reads it directly, whenever its turn comes.
    Pinned(HostBuffer),
    /// Copies of it are slower, which is better than none.
    Pageable(Vec<u8>),
}

impl Staging {
    /// Allocates `size` bytes, of any content.
    ///
    /// # Errors
    ///
    /// Driver errors; `CUDA_ERROR_OUT_OF_MEMORY` when there is no memory of either kind.
    pub fn allocate(context: &Context, size: usize) -> CudaResult<Self> {
        match HostBuffer::allocate(context, size) {
            Ok(pinned) => Ok(Self::Pinned(pinned)),
            Err(error) if error.is_out_of_memory() => {
                let mut bytes = Vec::new();
                bytes.try_reserve_exact(size).map_err(|_| error)?;
                bytes.resize(size, 0);
                Ok(Self::Pageable(bytes))
            }
            Err(error) => Err(error),
        }
    }

    /// Where the memory begins, for work that is complete, or retains it, when the call returns or fails.
    pub fn private_ptr(&mut self) -> *mut u8 {
        match self {
            Self::Pinned(pinned) => pinned.private_ptr(),
            Self::Pageable(bytes) => bytes.as_mut_ptr(),
        }
    }
}

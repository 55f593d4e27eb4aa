//! Pinned memory that `cust` and `cudarc` have allocated.

use crate::{HostBuffer, is_pinned};
use arrow_cuda_context::{Adopted, Context};
use arrow_cuda_driver::{CudaError, CudaResult, codes};
use bytemuck::Pod;

impl HostBuffer {
    /// Pinned memory of `cust`, which the result owns from now on.
    ///
    /// The other way, [`as_slice`](Self::as_slice) is what copies of `cust` take, as bytes or cast to their elements:
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_transfer::HostBuffer;
    /// use cust::memory::{CopyDestination, DeviceBuffer, LockedBuffer};
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let theirs = LockedBuffer::from_slice(&[1u32, 2]).expect("room");
    /// let mut ours = HostBuffer::from_cust(&context, theirs)?;
    /// assert_eq!(ours.as_slice(), [1, 0, 0, 0, 2, 0, 0, 0]);
    ///
    /// let numbers: &[u32] = bytemuck::cast_slice(ours.as_slice());
    /// let on_device = DeviceBuffer::from_slice(&[3, 4u32]).expect("room");
    /// on_device.copy_to(bytemuck::cast_slice_mut(ours.as_mut_slice())).expect("a device");
    /// assert_eq!(ours.as_slice(), [3, 0, 0, 0, 4, 0, 0, 0]);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_VALUE` for memory that the context's device cannot reach, or driver errors.
    #[cfg(feature = "cust")]
    pub fn from_cust<T>(
        context: &Context,
        mut buffer: cust::memory::LockedBuffer<T>,
    ) -> CudaResult<Self>
    where
        T: cust::memory::DeviceCopy + Pod + Send + Sync,
    {
        let (start, size) = (buffer.as_mut_ptr().cast(), size_of_val(buffer.as_slice()));
        let owner = Adopted::new(context, "pinned memory of cust", buffer);
        check(context, start, size)?;
        // SAFETY: cust's buffer has allocated the bytes, and is owned.
        Ok(unsafe { Self::foreign(start, size, Box::new(owner)) })
    }

    /// Pinned memory of `cudarc`, which the result owns from now on, after a wait for the work that `cudarc` has
    /// queued on it.
    ///
    /// The other way, `cudarc`'s copies take the buffer itself, as elements of any type, and return when the copy is
    /// complete; they do not wait for a copy of its [slice](Self::as_slice).  The host reads memory slowly that
    /// `cudarc` has allocated without flags: it is write-combined.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_transfer::HostBuffer;
    ///
    /// let cudarc = Context::primary(0)?.to_cudarc()?;
    /// // SAFETY: it is written to before it is read.
    /// let mut theirs = unsafe { cudarc.alloc_pinned_with_flags::<u32>(2, 0) }?;
    /// theirs.as_mut_slice()?.copy_from_slice(&[1, 2]);
    /// let ours = HostBuffer::from_cudarc(theirs)?;
    /// assert_eq!(ours.as_slice(), [1, 0, 0, 0, 2, 0, 0, 0]);
    ///
    /// let stream = cudarc.default_stream();
    /// let numbers = stream.clone_htod::<u32, _>(&ours)?;
    /// assert_eq!(stream.clone_dtoh(&numbers)?, [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::from_cudarc`]; `CUDA_ERROR_INVALID_VALUE` for memory that the device cannot reach.
    #[cfg(feature = "cudarc")]
    pub fn from_cudarc<T>(mut slice: cudarc::driver::PinnedHostSlice<T>) -> CudaResult<Self>
    where
        T: cudarc::driver::ValidAsZeroBits + Pod + Send + Sync,
    {
        let context = Context::from_cudarc(slice.context())?;
        let current = context.enter()?;
        let start = slice.as_mut_ptr().map_err(CudaError::of_cudarc)?.cast();
        drop(current);
        let size = slice.num_bytes();
        let owner = Adopted::new(&context, "pinned memory of cudarc", slice);
        check(&context, start, size)?;
        // SAFETY: cudarc's slice has allocated the bytes, and is owned; nothing is queued on it.
        Ok(unsafe { Self::foreign(start, size, Box::new(owner)) })
    }
}

fn check(context: &Context, start: *mut u8, size: usize) -> CudaResult<()> {
    match size == 0 || is_pinned(context, start, size)? {
        true => Ok(()),
        false => Err(CudaError::of_call("cuPointerGetAttribute", codes::INVALID_VALUE)),
    }
}

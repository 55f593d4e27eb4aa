//! Pinned host memory.

use crate::out_param::out_param;
use crate::{Current, Unused};
use arrow_cuda_driver::{CudaResult, call, report_failure};

/// `CU_MEMHOSTREGISTER_PORTABLE` and `CU_MEMHOSTREGISTER_DEVICEMAP`: pinned for every context, not only for the current
/// one, and the device gets an address.
const PORTABLE_AND_MAPPED: u32 = 3;
/// `CU_MEMHOSTREGISTER_READ_ONLY`.
const READ_ONLY: u32 = 8;

impl Current<'_> {
    /// Pins host memory that somebody else has allocated, and maps it for the device.  Returns the
    /// device's address of it.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let current = context.enter()?;
    /// let data = Box::leak(Box::new([7u8; 4096]));
    /// // SAFETY: leaked memory stays allocated.
    /// let address = unsafe { current.register_host_memory(data.as_mut_ptr(), data.len()) }?;
    /// assert_eq!(current.device_address(data.as_ptr() as u64)?, Some(address));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The memory must stay allocated until [`unregister_host_memory`](Self::unregister_host_memory)
    /// has succeeded, or the context is gone.
    ///
    /// # Errors
    ///
    /// Driver errors.  The memory must stay allocated even then: the driver may still hold it.
    pub unsafe fn register_host_memory(&self, data: *mut u8, size: usize) -> CudaResult<u64> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.register(data, size, PORTABLE_AND_MAPPED) }
    }

    /// Pins host memory that the device only reads, which may be mapped for reading only.  Copies to it fail.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// const IS_SUPPORTED: i32 = 113; // CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED
    /// let context = Context::primary(0)?;
    /// if context.device().attribute(IS_SUPPORTED) == Ok(1) {
    ///     let (current, data) = (context.enter()?, Box::leak(Box::new([7u8; 4096])));
    ///     // SAFETY: leaked memory stays allocated, and no kernel uses it.
    ///     let address = unsafe { current.register_read_only_host_memory(data.as_ptr(), data.len()) }?;
    ///     assert_eq!(current.device_address(data.as_ptr() as u64)?, Some(address));
    /// }
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`register_host_memory`](Self::register_host_memory); no kernel may write to it.
    ///
    /// # Errors
    ///
    /// As for [`register_host_memory`](Self::register_host_memory), and where the device pins no memory in this way.
    pub unsafe fn register_read_only_host_memory(
        &self,
        data: *const u8,
        size: usize,
    ) -> CudaResult<u64> {
        // SAFETY: guaranteed by the caller.
        unsafe { self.register(data.cast_mut(), size, PORTABLE_AND_MAPPED | READ_ONLY) }
    }

    /// # Safety
    ///
    /// As for [`register_host_memory`](Self::register_host_memory).
    unsafe fn register(&self, data: *mut u8, size: usize, flags: u32) -> CudaResult<u64> {
        // SAFETY: guaranteed by the caller; stores an address.
        unsafe {
            call!(cuMemHostRegister_v2(data.cast(), size, flags))?;
            out_param(0u64, |at| call!(cuMemHostGetDevicePointer_v2(at, data.cast(), 0)))
                .inspect_err(|_| {
                    let unused = Unused::promised(); // nobody has its address
                    report_failure(
                        "pinned host memory",
                        self.unregister_host_memory(data, &unused),
                    );
                })
        }
    }

    /// The same where nobody needs the device's address.  If it fails, the driver does not have the memory.
    ///
    /// # Safety
    ///
    /// As for [`register_host_memory`](Self::register_host_memory).
    pub(crate) unsafe fn pin_host_memory(&self, data: *mut u8, size: usize) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemHostRegister_v2(data.cast(), size, PORTABLE_AND_MAPPED)) }
    }

    /// Undoes [`register_host_memory`](Self::register_host_memory).  The driver does not wait for work of other
    /// contexts.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// let context = Context::primary(0)?;
    /// let (current, data) = (context.enter()?, Box::leak(Box::new([7u8; 4096])));
    /// // SAFETY: leaked memory stays allocated.
    /// unsafe { current.register_host_memory(data.as_mut_ptr(), data.len()) }?;
    /// let unused = context.await_users()?;
    /// // SAFETY: it was pinned above, and is unpinned once.
    /// unsafe { current.unregister_host_memory(data.as_mut_ptr(), &unused) }?;
    /// assert_eq!(current.device_address(data.as_ptr() as u64)?, None);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED` for memory that is not registered; other driver errors.
    ///
    /// # Safety
    ///
    /// The registration must be the caller's to undo, once.
    #[doc(hidden)]
    pub unsafe fn unregister_host_memory(&self, data: *mut u8, _unused: &Unused) -> CudaResult<()> {
        // SAFETY: guaranteed by the caller.
        unsafe { call!(cuMemHostUnregister(data.cast())) }
    }
}

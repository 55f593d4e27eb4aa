//! Host memory of somebody else, pinned for a time.

use arrow_cuda_context::{Context, Retained};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, codes, may_release, report_failure};

/// `CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED`.
const PINS_FOR_READING: i32 = 113;

/// Memory that its owner has allocated in the ordinary way, pinned and mapped for the device as long
/// as this exists.
///
/// The owner is retained until the memory is unpinned again.
///
/// ```
/// use arrow_cuda_context::Context;
/// use arrow_cuda_transfer::{RegisteredMemory, is_pinned};
///
/// let context = Context::primary(0)?;
/// let owner = vec![0u8; 8192];
/// let (start, size) = (owner.as_ptr(), owner.len());
/// // SAFETY: the vector keeps its bytes where they are.
/// let registered = unsafe { RegisteredMemory::register(&context, start, size, Box::new(owner)) }?;
/// assert!(is_pinned(&context, start, size)?);
/// registered.unregister()?;
/// assert!(!is_pinned(&context, start, size)?);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct RegisteredMemory {
    context: Context,
    start: usize,
    device_address: u64,
    /// Keeps the memory allocated; `None` once it is unpinned.
    owner: Option<Retained>,
}

impl RegisteredMemory {
    /// Pins `size` bytes, more than 0, for all contexts.
    ///
    /// # Safety
    ///
    /// `owner` must keep the memory allocated, and at its place.
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED` when some of the memory is pinned already; driver
    /// errors, when it cannot pin that much memory.
    pub unsafe fn register(
        context: &Context,
        start: *const u8,
        size: usize,
        owner: Retained,
    ) -> CudaResult<Self> {
        // SAFETY: the owner keeps the memory, and is kept here.
        let address = unsafe { context.enter()?.register_host_memory(start.cast_mut(), size) }?;
        Ok(Self::at(context, start, address, owner))
    }

    /// Pins memory that the device only reads.  It may be mapped for reading only, as files are; copies to such memory
    /// fail.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    /// use arrow_cuda_transfer::{RegisteredMemory, is_pinned};
    ///
    /// let context = Context::primary(0)?;
    /// let text = "read, but not written".repeat(1000);
    /// let (start, size) = (text.as_ptr(), text.len());
    /// // SAFETY: the string keeps its bytes where they are, and no kernel writes to them.
    /// let registered =
    ///     unsafe { RegisteredMemory::register_read_only(&context, start, size, Box::new(text)) }?;
    /// assert!(is_pinned(&context, start, size)?);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// As for [`register`](Self::register); no kernel may write to the memory.
    ///
    /// # Errors
    ///
    /// As for [`register`](Self::register); `CUDA_ERROR_INVALID_VALUE` for memory that is mapped for reading only,
    /// where the device cannot pin it.
    pub unsafe fn register_read_only(
        context: &Context,
        start: *const u8,
        size: usize,
        owner: Retained,
    ) -> CudaResult<Self> {
        let current = context.enter()?;
        // SAFETY: the owner keeps the memory, and is kept here.
        let address = match unsafe { current.register_host_memory(start.cast_mut(), size) } {
            Err(error) if is_invalid(&error) && pins_for_reading(context)? => {
                // SAFETY: as above; the caller promises that no kernel writes to it.
                unsafe { current.register_read_only_host_memory(start, size) }?
            }
            address => address?,
        };
        Ok(Self::at(context, start, address, owner))
    }

    fn at(context: &Context, start: *const u8, device_address: u64, owner: Retained) -> Self {
        let (context, start) = (context.clone(), start.addr());
        Self { context, start, device_address, owner: Some(owner) }
    }

    /// Where the device finds the memory.
    pub fn device_address(&self) -> u64 {
        self.device_address
    }

    /// Unpins the memory, after the work that is queued so far in any context of the process: the memory is pinned for
    /// all of them.  In a forked child, which has no memory of the driver, this does nothing.
    ///
    /// Dropping it does the same, and reports a failure as that of a destructor.
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn unregister(mut self) -> CudaResult<()> {
        let Some(owner) = self.owner.take() else { return Ok(()) };
        if !may_release() {
            std::mem::forget(owner);
            return Ok(());
        }
        release(&self.context, self.start, owner)
    }
}

fn is_invalid(error: &CudaError) -> bool {
    error.code() == Some(codes::INVALID_VALUE)
}

fn pins_for_reading(context: &Context) -> CudaResult<bool> {
    Ok(context.device().attribute(PINS_FOR_READING)? != 0)
}

/// Unpins memory and drops its owner, unless the driver still has the memory, or work may use it.
fn release(context: &Context, start: usize, owner: Retained) -> CudaResult<()> {
    let unpinned = context.await_users().and_then(|unused| match context.enter() {
        // SAFETY: registered in `register`, and unregistered once, here.
        Ok(current) => unsafe { current.unregister_host_memory(start as *mut u8, &unused) },
        // With its context, the memory was unpinned.
        Err(error) if context.is_gone(&error) => Ok(()),
        Err(error) => Err(error),
    });
    if unpinned.is_err() {
        std::mem::forget(owner);
    }
    unpinned
}

impl Drop for RegisteredMemory {
    fn drop(&mut self) {
        let Some(owner) = self.owner.take() else { return };
        if !may_release() {
            // The driver may have kept the pages from a forked child.
            std::mem::forget(owner);
            return;
        }
        // `Context::release` would drop the owner of memory that stays pinned.
        let outcome = blocking(|| release(&self.context, self.start, owner));
        report_failure("pinned host memory", outcome);
    }
}

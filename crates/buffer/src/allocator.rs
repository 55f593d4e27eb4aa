//! Allocators that the program sets in place of ours: buffers are made of their memory.

use crate::{Error, foreign};
use arrow_cuda_context::{Context, StreamHandle};
use arrow_cuda_driver::{
    AllocatorError, CudaError, CudaResult, Lock, codes, holds_lock, may_release,
};
use std::any::Any;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Allocates device memory in place of the context's cache.
///
/// ```
/// use arrow_cuda_buffer::{Allocation, Allocator, DeviceBuffer, set_allocator};
/// use arrow_cuda_context::{Block, Context, Placement, Ready};
/// use arrow_cuda_driver::CudaResult;
/// use std::sync::Arc;
///
/// struct Packed;
/// // SAFETY: blocks of the context are of its memory, and the owner keeps the block.
/// unsafe impl Allocator for Packed {
///     fn allocate(&self, context: &Context, size: usize) -> CudaResult<Allocation> {
///         let block = Block::allocate(&context, size as u64, Placement::Packed)?;
///         Ok(Allocation { address: block.address(&Ready::by_caller()), owner: Box::new(block) })
///     }
/// }
///
/// set_allocator(0, Some(Arc::new(Packed)))?;
/// let buffer = DeviceBuffer::allocate(&Context::primary(0)?, 8)?;
/// assert!(buffer.lent_allocation().is_some());
/// # set_allocator(0, None)?;
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// Buffers take its word for their memory, so safe code can implement none:
///
/// ```compile_fail,E0200
/// # use arrow_cuda_buffer::{Allocation, Allocator};
/// # use arrow_cuda_context::Context;
/// # use arrow_cuda_driver::CudaResult;
/// struct Forged(u64);
/// impl Allocator for Forged {
///     fn allocate(&self, _: &Context, _: usize) -> CudaResult<Allocation> {
///         Ok(Allocation { address: self.0, owner: Box::new(()) })
///     }
/// }
/// ```
///
/// # Safety
///
/// The memory that [`allocate`](Self::allocate) returns must be the result's alone, writable, and stay
/// allocated until the owner is dropped.  This crate asks the driver whether that much memory is there, on that
/// device, but not whose it is.
pub unsafe trait Allocator: Send + Sync {
    /// Allocates `size` bytes, more than 0, on the device of a primary context.  Work that is queued on
    /// the default stream, or that comes after it, may use them.  See [`Allocator`] for an example.
    ///
    /// # Errors
    ///
    /// [`CudaError::Allocator`].
    fn allocate(&self, context: &Context, size: usize) -> CudaResult<Allocation>;
}

/// Device memory that an [`Allocator`] has allocated.
///
/// ```
/// use arrow_cuda_buffer::Allocation;
/// use arrow_cuda_context::{Block, Context, Placement, Ready};
///
/// let block = Block::allocate(&Context::primary(0)?, 512, Placement::Packed)?;
/// let memory = Allocation { address: block.address(&Ready::by_caller()), owner: Box::new(block) };
/// assert!(memory.address.is_multiple_of(256)); // as buffers demand
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub struct Allocation {
    /// Its address on the device.
    pub address: u64,
    /// Releases the memory when it is dropped, on any thread.
    pub owner: Box<dyn Any + Send + Sync>,
}

const ALIGNMENT: u64 = 256;

static ALLOCATORS: Lock<BTreeMap<u32, Arc<dyn Allocator>>> = Lock::new(BTreeMap::new());
static HAS_ANY: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_OWN: Cell<bool> = const { Cell::new(false) };
}

/// Sets the allocator of new buffers in the primary context of device `device`; with `None`, the context allocates
/// them again.  Existing buffers keep their memory.
///
/// ```
/// use arrow_cuda_buffer::{Allocation, Allocator, CudaError, CudaResult, DeviceBuffer, set_allocator};
/// use arrow_cuda_context::Context;
/// use arrow_cuda_driver::AllocatorError;
/// use std::sync::Arc;
///
/// struct Exhausted;
/// // SAFETY: it returns no memory.
/// unsafe impl Allocator for Exhausted {
///     fn allocate(&self, _: &Context, size: usize) -> CudaResult<Allocation> {
///         let error = AllocatorError::new(format!("no room for {size} bytes"), None);
///         Err(CudaError::Allocator(error.out_of_memory()))
///     }
/// }
///
/// let context = Context::primary(0)?;
/// set_allocator(0, Some(Arc::new(Exhausted)))?;
/// assert!(DeviceBuffer::allocate(&context, 8).is_err_and(|error| error.is_out_of_memory()));
/// set_allocator(0, None)?;
/// assert!(DeviceBuffer::allocate(&context, 8).is_ok());
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
///
/// # Errors
///
/// In a forked child.
pub fn set_allocator(device: u32, allocator: Option<Arc<dyn Allocator>>) -> CudaResult<()> {
    HAS_ANY.fetch_or(allocator.is_some(), Ordering::Relaxed);
    let mut allocators = ALLOCATORS.lock()?;
    let before = match allocator {
        Some(allocator) => allocators.insert(device, allocator),
        None => allocators.remove(&device),
    };
    drop(allocators);
    drop(before); // under no lock: it may run any code
    Ok(())
}

/// Runs `work`, during which this thread's new buffers ignore [`set_allocator`]: the context allocates them.
///
/// ```
/// use arrow_cuda_buffer::{DeviceBuffer, with_own_memory};
/// use arrow_cuda_context::Context;
///
/// let context = Context::primary(0)?;
/// let buffer = with_own_memory(|| DeviceBuffer::allocate(&context, 8))?;
/// assert!(buffer.lent_allocation().is_none() && buffer.block().is_some());
/// # Ok::<(), arrow_cuda_buffer::Error>(())
/// ```
pub fn with_own_memory<T>(work: impl FnOnce() -> T) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IS_OWN.set(self.0);
        }
    }
    let _before = Before(IS_OWN.replace(true));
    work()
}

/// The allocator for an allocation.  Within an allocator there is no such allocator: it would call itself.
/// Nor is it under a lock, where only this project allocates, for a short time.
fn of(context: &Context) -> Option<Arc<dyn Allocator>> {
    let is_ours = !HAS_ANY.load(Ordering::Relaxed) || IS_OWN.get() || !context.is_primary();
    if is_ours || holds_lock() || !may_release() {
        return None;
    }
    ALLOCATORS.lock().ok()?.get(&context.device().number()).cloned()
}

/// Memory of the allocator that was set for the context's device; `None` if none was.
pub(crate) fn allocate(context: &Context, size: usize) -> CudaResult<Option<Allocation>> {
    let Some(allocator) = of(context) else { return Ok(None) };
    let memory = with_own_memory(|| allocator.allocate(context, size))?;
    check(context, memory.address, size)?;
    // Work that had the memory before may be under way on the default stream; ours need not follow it.
    context.enter()?.await_turn(StreamHandle::DEFAULT)?;
    Ok(Some(memory))
}

fn check(context: &Context, address: u64, size: usize) -> CudaResult<()> {
    let number = context.device().number();
    let refused = |text: String| {
        let text = format!("the allocator of device {number} returned {address:#x}: {text}");
        CudaError::Allocator(AllocatorError::new(text, None))
    };
    if address == 0 || !address.is_multiple_of(ALIGNMENT) {
        return Err(refused(format!("not a multiple of {ALIGNMENT} other than 0")));
    }
    foreign::check(context, address, size).map_err(|error| match error {
        Error::Cuda(error) if error.code() == Some(codes::INVALID_VALUE) => {
            refused(format!("memory that the driver does not know ({error})"))
        }
        Error::Cuda(error) => error,
        other => refused(other.to_string()),
    })?;
    match foreign::has_device_memory(&context.enter()?, address)? {
        true => Ok(()),
        false => Err(refused("memory of the host".to_owned())),
    }
}

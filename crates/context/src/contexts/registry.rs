//! The registry that maps each driver context to one `Context`.

use super::context::WeakContext;
use super::{Context, Device, identity};
use crate::{Attribute, Current};
use arrow_cuda_driver::{CudaResult, Lock, without_locks};
use std::collections::HashMap;

static CONTEXTS: Lock<Option<HashMap<usize, WeakContext>>> = Lock::new(None);
/// The primary contexts, which stay retained.
static PRIMARIES: Lock<Vec<Context>> = Lock::new(Vec::new());

impl Context {
    /// The primary context of a device, under the name that constructors have: [`primary`](Self::primary).
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// assert_eq!(Context::new(0)?, Context::primary(0)?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`primary`](Self::primary).
    pub fn new(device: u32) -> CudaResult<Self> {
        Self::primary(device)
    }

    /// The primary context of a device.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Device};
    ///
    /// let context = Context::primary(0)?;
    /// assert_eq!(context.device().number(), 0);
    /// assert!(Context::primary(Device::count()?).is_err());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When there is no such device, or the driver cannot make its context.
    pub fn primary(device: u32) -> CudaResult<Self> {
        let mut lost = None;
        let found = find_or_retain(device, &mut lost);
        // Not under this lock, nor under a lock of the caller: destructors of the lost one may take others,
        // and wait.
        if let Some(lost) = lost {
            without_locks(move || lost.abandon());
        }
        found
    }

    /// The primary contexts that this process has asked for so far.
    ///
    /// ```
    /// use arrow_cuda_context::Context;
    ///
    /// assert!(Context::primaries().is_empty());
    /// let context = Context::primary(0)?;
    /// assert_eq!(Context::primaries(), [context]);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn primaries() -> Vec<Self> {
        PRIMARIES.lock().map(|primaries| primaries.clone()).unwrap_or_default()
    }

    /// The context that has the memory at an address; none for memory that belongs to no context, such as that of a
    /// pool, and for memory that the driver does not know.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 100, Placement::Packed)?;
    /// let owner = Context::of_memory(&context.enter()?, block.private_address())?;
    /// assert!(owner.is_some_and(|owner| owner.is_same(&context)));
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors.
    pub fn of_memory(current: &Current<'_>, address: u64) -> CudaResult<Option<Self>> {
        let [handle, device] =
            current.attributes([Attribute::Context, Attribute::DeviceOrdinal], address)?;
        let (Ok(handle @ 1..), Ok(device)) = (usize::try_from(handle), u32::try_from(device))
        else {
            return Ok(None);
        };
        let device = Device::get(device)?;
        of_handle(handle, identity::number_of(handle)?, device).map(Some)
    }

    /// A context that another library has made, by its `CUcontext` handle.
    ///
    /// The context is borrowed: this crate never releases it, and checks it before each use, since
    /// its owner may destroy it at any time.
    ///
    /// ```compile_fail,E0133
    /// # let handle = arrow_cuda_context::Context::primary(0).expect("a device").handle();
    /// let context = arrow_cuda_context::Context::borrowed(0, handle);
    /// ```
    ///
    /// # Safety
    ///
    /// The handle must be that of a context, or of one that was destroyed: the driver reads through it.  The context
    /// must not be destroyed while a thread is in a call that uses it, or has it [entered](Self::enter).
    ///
    /// # Errors
    ///
    /// `CUDA_ERROR_INVALID_CONTEXT` when the handle names no context of that device.
    pub unsafe fn borrowed(device: u32, handle: usize) -> CudaResult<Self> {
        let device = Device::get(device)?;
        let number = identity::number_of(handle)?;
        let context = of_handle(handle, number, device)?;
        let lies_on = context.enter()?.device_handle()?;
        if lies_on == device.handle()? { Ok(context) } else { Err(identity::gone()) }
    }
}

/// Puts the context that a reset of the device has taken, if it has, into `lost`.
fn find_or_retain(device: u32, lost: &mut Option<Context>) -> CudaResult<Context> {
    let mut primaries = PRIMARIES.lock()?;
    let known = primaries.iter().position(|context| context.device().number() == device);
    if let Some(at) = known {
        if primaries[at].is_alive() {
            return Ok(primaries[at].clone());
        }
        // Somebody has reset the device.  To retain its context again makes another one.
        let gone = primaries.swap_remove(at);
        forget(&gone)?;
        *lost = Some(gone);
    }
    let device = Device::get(device)?;
    let (handle, number) = device.retain_primary_context()?;
    // It may be known already, as a borrowed one.
    let context = of_handle(handle, number, device)?;
    context.mark_as_primary();
    primaries.push(context.clone());
    Ok(context)
}

fn of_handle(handle: usize, number: u64, device: Device) -> CudaResult<Context> {
    let mut contexts = CONTEXTS.lock()?;
    let contexts = contexts.get_or_insert_default();
    if let Some(known) = contexts.get(&handle).and_then(WeakContext::upgrade) {
        if known.identity() == (handle, number) {
            return Ok(known);
        }
        // This may be the last one by now, and its destructors must not run under the lock.
        without_locks(move || drop(known));
    }
    contexts.retain(|_, context| !context.is_dropped());
    let context = Context::made(handle, number, device);
    contexts.insert(handle, context.downgrade());
    Ok(context)
}

/// Where the driver does not number contexts, the next one with this handle would pass for this one,
/// and have all that is kept with it.
fn forget(lost: &Context) -> CudaResult<()> {
    let mut contexts = CONTEXTS.lock()?;
    let contexts = contexts.get_or_insert_default();
    if let Some(known) = contexts.get(&lost.handle()).and_then(WeakContext::upgrade) {
        if known.is_same(lost) {
            contexts.remove(&lost.handle());
        }
        without_locks(move || drop(known));
    }
    Ok(())
}

pub(crate) fn all() -> Vec<Context> {
    let Ok(contexts) = CONTEXTS.lock() else { return Vec::new() };
    contexts.iter().flat_map(HashMap::values).filter_map(WeakContext::upgrade).collect()
}

//! All contexts of the process, so that each driver context has one `Context`.

use super::context::WeakContext;
use super::{Context, Device, identity};
use arrow_cuda_driver::{CudaResult, Lock, without_locks};
use std::collections::HashMap;

/// All contexts in use, by handle.
static CONTEXTS: Lock<Option<HashMap<usize, WeakContext>>> = Lock::new(None);
/// The primary contexts, which stay retained.
static PRIMARIES: Lock<Vec<Context>> = Lock::new(Vec::new());

pub(super) fn primary(device: u32) -> CudaResult<Context> {
    let mut lost = None;
    let found = find_or_retain(device, &mut lost);
    // Not under this lock, nor under a lock of the caller: destructors of the lost one may take others,
    // and wait.
    if let Some(lost) = lost {
        without_locks(move || lost.abandon());
    }
    found
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
    let (handle, number) = identity::retain_primary(device)?;
    // It may be known already, as a borrowed one.
    let context = of_handle(handle, number, device)?;
    context.mark_as_primary();
    primaries.push(context.clone());
    Ok(context)
}

pub(super) fn primaries() -> Vec<Context> {
    PRIMARIES.lock().map(|primaries| primaries.clone()).unwrap_or_default()
}

/// The context with this handle and number.
pub(super) fn of_handle(handle: usize, number: u64, device: Device) -> CudaResult<Context> {
    let mut contexts = CONTEXTS.lock()?;
    let contexts = contexts.get_or_insert_default();
    if let Some(known) = contexts.get(&handle).and_then(WeakContext::upgrade)
        && known.identity() == (handle, number)
    {
        return Ok(known);
    }
    contexts.retain(|_, context| !context.is_dropped());
    let context = Context::new(handle, number, device);
    contexts.insert(handle, context.downgrade());
    Ok(context)
}

/// Where the driver does not number contexts, the next one with this handle would pass for this one,
/// and have all that is kept with it.
fn forget(gone: &Context) -> CudaResult<()> {
    let mut contexts = CONTEXTS.lock()?;
    let contexts = contexts.get_or_insert_default();
    let known = contexts.get(&gone.handle()).and_then(WeakContext::upgrade);
    if known.is_some_and(|known| known.is_same(gone)) {
        contexts.remove(&gone.handle());
    }
    Ok(())
}

/// All contexts in use.
pub(crate) fn all() -> Vec<Context> {
    let Ok(contexts) = CONTEXTS.lock() else { return Vec::new() };
    contexts.iter().flat_map(HashMap::values).filter_map(WeakContext::upgrade).collect()
}

//! Returning segments to the driver.

use super::ledger::{Home, Segment};
use super::pool;
use crate::Context;
use arrow_cuda_driver::{CudaResult, blocking, may_release};
use std::ptr::NonNull;

/// Has the driver free segments that the ledger has removed.  Returns how many bytes, and the first
/// failure.  Waits for all work of the devices.
///
/// Only primary contexts cache memory.  `own` is the context of a block that may be in another one.
pub(super) fn free(segments: &[Segment], own: Option<&Context>) -> (u64, CudaResult<()>) {
    if segments.is_empty() || !may_release() {
        return (0, Ok(()));
    }
    blocking(|| {
        let mut contexts = Context::primaries();
        contexts.extend(own.cloned());
        let of = |home: Home| contexts.iter().find(|context| context.identity() == home);
        segments.iter().fold((0, Ok(())), |(bytes, outcome), segment| {
            // A context that is gone has taken its memory with it.
            match of(segment.home).map_or(Ok(false), |context| free_in(context, segment)) {
                Ok(is_freed) => (bytes + u64::from(is_freed) * segment.capacity, outcome),
                Err(error) => {
                    // In a forked child nothing can be saved.
                    let _counted = pool::with_ledger(|ledger| ledger.restore_segment(segment));
                    (bytes, outcome.and(Err(error)))
                }
            }
        })
    })
}

/// Frees a segment.  Returns false when its context is gone.
fn free_in(context: &Context, segment: &Segment) -> CudaResult<bool> {
    let current = match context.enter() {
        Ok(current) => current,
        Err(error) if context.is_gone(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    let start = NonNull::new(segment.address as *mut u8).expect("a driver gives addresses");
    // SAFETY: the segment was allocated in this live context, and the ledger has removed it, once.
    unsafe { current.release_host_memory(start) }.map(|()| true)
}

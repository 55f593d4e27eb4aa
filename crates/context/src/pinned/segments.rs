//! Memory that becomes segments, and what becomes of segments in the end.

use super::ledger::{Home, Segment, Source};
use super::limit::available_memory;
use super::pool;
use crate::streams::wait_for_contexts;
use crate::{Context, Current, Pages};
use arrow_cuda_driver::{
    CudaError, CudaResult, blocking, codes, keeping_interpreter, may_release, report_failure,
};
use std::ptr::NonNull;
use std::sync::Arc;
use std::thread;

/// The system promises more memory than it has, and ends processes that touch it.  So it is asked how
/// much it has before as much as this is touched.
const LARGE: usize = 64 << 20;
const WHAT: &str = "pinned host memory";

/// Pins `size` bytes, more than 0, in pages of their own.  Returns where they begin.
pub(super) fn pin_pages(current: &Current<'_>, size: usize) -> CudaResult<u64> {
    let is_there = size < LARGE || available_memory().is_none_or(|bytes| bytes >= size as u64);
    let Some(pages) = is_there.then(|| Pages::map(size)).flatten() else {
        return Err(CudaError::of_call("cuMemHostRegister", codes::OUT_OF_MEMORY));
    };
    pages.touch();
    // SAFETY: the pages stay where they are until the segment is freed.
    unsafe { current.pin_host_memory(pages.start(), size) }?;
    Ok(pages.into_address())
}

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
        let of = |home: Home| contexts.iter().find(|context| context.identity() == home.context);
        segments.iter().fold((0, Ok(())), |(bytes, outcome), segment| {
            // A context that is gone has taken its memory with it.
            match of(segment.home).map_or(Ok(false), |context| free_in(context, segment)) {
                Ok(is_freed) => {
                    if segment.home.source == Source::Pages {
                        unmap(segment);
                    }
                    (bytes + u64::from(is_freed) * segment.capacity, outcome)
                }
                Err(error) => {
                    // In a forked child nothing can be saved.
                    let _counted = pool::with_ledger(|ledger| ledger.restore_segment(segment));
                    (bytes, outcome.and(Err(error)))
                }
            }
        })
    })
}

/// The same on another thread, and failures are reported.  `own` is as above.
pub(super) fn free_elsewhere(evicted: CudaResult<Vec<Segment>>, own: &Context) {
    let segments = match evicted {
        Ok(segments) if segments.is_empty() => return,
        Ok(segments) => segments,
        // A forked child.
        Err(error) => return report_failure(WHAT, Err(error)),
    };
    let (segments, own) = (Arc::new(segments), own.clone());
    let free_all = {
        let (segments, own) = (Arc::clone(&segments), own.clone());
        move || report_failure(WHAT, free(&segments, Some(&own)).1)
    };
    let thread = thread::Builder::new().name("cuda-releases".to_owned());
    if thread.spawn(free_all).is_err() {
        report_failure(WHAT, keeping_interpreter(|| free(&segments, Some(&own)).1));
    }
}

/// Has the driver let go of a segment.  Returns false when its context is gone.
fn free_in(context: &Context, segment: &Segment) -> CudaResult<bool> {
    let current = match context.enter() {
        Ok(current) => current,
        Err(error) if context.is_gone(&error) => return Ok(false),
        Err(error) => return Err(error),
    };
    let start = NonNull::new(segment.address as *mut u8).expect("a driver gives addresses");
    // SAFETY: the segment was allocated in this live context, and the ledger has removed it, once.  Work
    // that uses pages is over, since nothing waits for it later.
    unsafe {
        match segment.home.source {
            Source::Driver => current.release_host_memory(start)?,
            Source::Pages => {
                wait_for_contexts(&current)?;
                current.unregister_host_memory(start.as_ptr())?;
            }
        }
    }
    Ok(true)
}

/// Unmaps pages that the driver does not have any more.
fn unmap(segment: &Segment) {
    // SAFETY: made in `pin_pages`, and the ledger has removed the segment, once.
    drop(unsafe { Pages::at(segment.address, segment.capacity as usize) });
}

/// The same for all segments of a context that is gone; the driver's own memory has gone with it.
pub(super) fn unmap_all(segments: &[Segment]) {
    segments.iter().filter(|segment| segment.home.source == Source::Pages).for_each(unmap);
}

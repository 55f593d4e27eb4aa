//! A lane: the pinned memory and events of one copy at a time.

use crate::RegisteredMemory;
use crate::staging::pools::home_of;
use arrow_cuda_context::{Context, Current, Event, Pages, Slots, StreamHandle};
use arrow_cuda_driver::{CudaError, CudaResult, codes};

/// More moves than the plans have on their way.  An event that is recorded again early is reached later.
const ENDS: usize = 16;

#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) slots: Slots,
    /// Marks what the default stream has to do before a copy.
    pub(crate) start: Event,
}

impl Lane {
    /// `size` bytes, more than 0.  They are ordinary memory in huge pages, which is pinned then: programs would wait
    /// longer for the driver's own pinned memory (0.3 ms for each MiB on an H200's host, measured).
    pub(crate) fn new(context: &Context, size: usize) -> CudaResult<Self> {
        let Some(pages) = Pages::map(size) else {
            return Err(CudaError::of_call("cuMemHostRegister", codes::OUT_OF_MEMORY));
        };
        pages.withhold_from_children(); // which have no use for it
        home_of(context.device()).touch(|| pages.touch());
        let start = pages.start();
        // SAFETY: the owner does not move the memory.
        let registered =
            unsafe { RegisteredMemory::register(context, start, size, Box::new(pages)) }?;
        let mut slots = Slots::of(start, size, Box::new(registered));
        slots.prepare_ends(&context.enter()?, ENDS)?;
        Ok(Self { slots, start: Event::new(context)? })
    }

    /// Releases what a copy has used that failed, once the device is done with it.  If the device cannot
    /// be waited for, the memory is never released: after a reset, moves may still be on their way.
    pub(crate) fn discard(self, context: &Context) {
        if context.enter().and_then(|current| current.synchronize()).is_err() {
            self.slots.give_up();
        }
    }

    /// Marks what is queued on the default stream, unless all of it is complete.  Returns whether it is.
    pub(crate) fn mark_start(&self, current: &Current<'_>) -> CudaResult<bool> {
        let is_complete = current.is_stream_complete(StreamHandle::DEFAULT)?;
        if !is_complete {
            current.record(&self.start, StreamHandle::DEFAULT)?;
        }
        Ok(is_complete)
    }
}

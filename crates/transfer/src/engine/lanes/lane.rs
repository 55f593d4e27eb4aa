//! A lane: the pinned memory and events of one copy at a time.

use super::slots::Slots;
use arrow_cuda_context::{Context, Current, Event, StreamHandle};
use arrow_cuda_driver::CudaResult;

#[derive(Debug)]
pub(crate) struct Lane {
    slots: Slots,
    /// Where the next copy's slots begin, if it does not need the whole lane.
    next: usize,
    /// Marks what the default stream has to do before a copy.
    pub(crate) start: Event,
    /// Unused events for the ends of moves.
    pub(crate) ends: Vec<Event>,
}

impl Lane {
    pub(crate) fn new(context: &Context, size: usize) -> CudaResult<Self> {
        let slots = Slots::allocate(context, size)?;
        Ok(Self { slots, next: 0, start: Event::new(context)?, ends: Vec::new() })
    }

    /// Releases what a copy has used that failed, once the device is done with it.  If the device cannot
    /// be waited for, the memory is never released: after a reset, moves may still be on their way.
    pub(crate) fn discard(self, context: &Context) {
        if context.enter().and_then(|current| current.synchronize()).is_err() {
            std::mem::forget(self.slots);
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.slots.size()
    }

    /// The start of slots for one copy, at most as large as the lane.
    ///
    /// Copies use one part after the other: the device is slow to write where processors have just
    /// read, since they have the memory in their caches (on an H200, 4 MiB took 220 us so, and 120 us
    /// elsewhere, measured).
    pub(crate) fn take_slots(&mut self, size: usize) -> *mut u8 {
        if self.next + size > self.size() {
            self.next = 0;
        }
        let start = self.slots.start().wrapping_add(self.next);
        self.next += size;
        start
    }

    /// Marks what is queued on the default stream, unless all of it is complete.  Returns whether it is.
    pub(crate) fn mark_start(&self, current: &Current<'_>) -> CudaResult<bool> {
        let is_complete = current.is_stream_complete(StreamHandle::DEFAULT)?;
        if !is_complete {
            current.record(&self.start, StreamHandle::DEFAULT)?;
        }
        Ok(is_complete)
    }

    /// An event at the end of what is queued on a stream, to be put back among the `ends` then.
    pub(crate) fn mark_end(
        &mut self,
        current: &Current<'_>,
        stream: StreamHandle<'_>,
    ) -> CudaResult<Event> {
        let event = self.ends.pop().map_or_else(|| Event::new(current.context()), Ok)?;
        current.record(&event, stream)?;
        Ok(event)
    }
}

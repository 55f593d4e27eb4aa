//! Fences: they tell when all work that could still touch released memory is complete.
//!
//! The driver's own release waits for all work of the device.  Here nothing waits: an event that
//! covers all streams of the context tells when that work is complete.  It covers the streams of
//! other libraries and those that are not ordered with the default stream, too (seen on an H200).

use crate::Current;
use crate::calls::{DISABLE_TIMING, RawEvent};
use arrow_cuda_driver::{CudaResult, codes, report_failure};
use std::collections::VecDeque;

/// No more fences are recorded than this: a later fence covers all that came before it.
const MAX_FENCES: usize = 8;

/// Points in the work of a context, each of which follows some releases.
///
/// These are raw handles because an `Event` would own the context that owns this.
#[derive(Debug, Default)]
pub(super) struct Fences {
    fences: VecDeque<Fence>,
    /// Events that can be recorded again.
    spare: Vec<RawEvent>,
}

#[derive(Debug)]
struct Fence {
    event: RawEvent,
    /// The number of the last release before it.
    after: u64,
}

// SAFETY: any thread may use the driver's events.
unsafe impl Send for Fences {}

impl Fences {
    /// Returns the number of a release: all work that could touch memory released up to then is
    /// complete.  `last_release` is the number of the last release so far.
    ///
    /// This is the one place that decides when memory may be reused.  A driver error proves
    /// nothing, so it makes no memory reusable.
    pub(super) fn complete_up_to(&mut self, current: &Current<'_>, last_release: u64) -> u64 {
        let is_new = self.fences.back().is_none_or(|last| last.after < last_release);
        if is_new && self.fences.len() < MAX_FENCES {
            match self.add(current, last_release) {
                Ok(()) => {}
                Err(error)
                    if error.code().is_some_and(|it| codes::STREAM_CAPTURE.contains(&it)) => {}
                // Drivers before CUDA 12.5 have no such events, so this waits for the whole
                // context.
                Err(_) if current.synchronize().is_ok() => return last_release,
                Err(_) => return 0,
            }
        }
        let mut complete = 0;
        // The latest fence comes first: usually nothing is in flight, and it covers all others.
        let reached = self.fences.iter().rposition(|fence| fence.is_reached(current));
        for fence in self.fences.drain(..reached.map_or(0, |last| last + 1)) {
            complete = fence.after;
            self.spare.push(fence.event);
        }
        complete
    }

    /// Records a fence behind all work that is in flight in the context.
    fn add(&mut self, current: &Current<'_>, after: u64) -> CudaResult<()> {
        let event = self.spare.pop().map_or_else(|| current.create_event(DISABLE_TIMING), Ok)?;
        // SAFETY: a live event of the current context.
        let recorded = unsafe { current.record_event_on_all_streams(event) };
        match recorded {
            Ok(()) => self.fences.push_back(Fence { event, after }),
            Err(_) => self.spare.push(event),
        }
        recorded
    }

    /// Destroys the events.
    pub(super) fn destroy(self, current: &Current<'_>) {
        let events = self.fences.into_iter().map(|fence| fence.event);
        for event in events.chain(self.spare) {
            // SAFETY: a live event, which nobody else has.
            report_failure("an event", unsafe { current.destroy_event(event) });
        }
    }

    /// Forgets the events, which the driver has destroyed with their context.
    pub(super) fn abandon(&mut self) {
        self.fences.clear();
        self.spare.clear();
    }
}

impl Fence {
    fn is_reached(&self, current: &Current<'_>) -> bool {
        // SAFETY: a live event, which only the fences destroy.
        unsafe { current.is_event_complete(self.event) }.unwrap_or(false)
    }
}

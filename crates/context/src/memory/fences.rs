//! Whether work that could still touch released memory is complete.
//!
//! The driver's own release waits for all work of the device.  Here nothing waits: an event that
//! covers all streams of the context tells when that work is complete, those of other libraries and
//! those that are not ordered with the default stream included (seen on an H200).

use crate::Current;
use crate::calls::RawEvent;
use arrow_cuda_driver::{CudaResult, codes, report_failure};
use std::collections::VecDeque;

/// More fences than that need not be told apart: a later one covers all that was before it.
const MOST_FENCES: usize = 8;

/// Points in the work of a context, each later than some releases.
///
/// The events are handles, not `Event`s, because those would own the context that owns this.
#[derive(Debug, Default)]
pub(super) struct Fences {
    fences: VecDeque<Fence>,
    /// Events to be recorded anew.
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
    /// The number of a release: the work is complete that could touch what was released until then.
    /// `last_release` is the number of the last one so far.
    ///
    /// This is the one place that decides when memory may serve again.  A failure of the driver
    /// proves nothing, so nothing serves again on it.
    pub(super) fn complete_up_to(&mut self, current: &Current<'_>, last_release: u64) -> u64 {
        let is_new = self.fences.back().is_none_or(|last| last.after < last_release);
        if is_new && self.fences.len() < MOST_FENCES {
            match self.add(current, last_release) {
                Ok(()) => {}
                Err(error)
                    if error.code().is_some_and(|it| codes::STREAM_CAPTURE.contains(&it)) => {}
                // A driver older than CUDA 12.5 has no such events, and has to be waited for.
                Err(_) if current.synchronize().is_ok() => return last_release,
                Err(_) => return 0,
            }
        }
        let mut complete = 0;
        // The latest first: mostly nothing is in flight, and it covers all others.
        let reached = self.fences.iter().rposition(|fence| fence.is_reached(current));
        for fence in self.fences.drain(..reached.map_or(0, |last| last + 1)) {
            complete = fence.after;
            self.spare.push(fence.event);
        }
        complete
    }

    /// Has the context tell when all that it has to do now is complete.
    fn add(&mut self, current: &Current<'_>, after: u64) -> CudaResult<()> {
        let event = self.spare.pop().map_or_else(|| current.create_event(false), Ok)?;
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

    /// Forgets the events: they went with their context.
    pub(super) fn abandon(&mut self) {
        self.fences.clear();
        self.spare.clear();
    }
}

impl Fence {
    fn is_reached(&self, current: &Current<'_>) -> bool {
        // SAFETY: a live event, which goes only with the fences.
        unsafe { current.is_event_complete(self.event) }.unwrap_or(false)
    }
}

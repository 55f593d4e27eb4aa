//! Fences: they tell when all work is complete that could still use released memory.
//!
//! The driver's own release waits for the device.  Here nothing waits: events tell when the work is
//! complete.  Each covers all streams of a context, those of other libraries and those that are not
//! ordered with the default stream, too (seen on an H200).  Kernels of another device may use the
//! memory as well, so a fence has an event in every context that may reach it.

use crate::calls::{DISABLE_TIMING, RawEvent};
use crate::contexts::others_that_may_reach;
use crate::{Current, Event};
use arrow_cuda_driver::{CudaResult, codes, report_failure};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// No more fences are recorded than this: a later fence covers all that came before it.
const MAX_FENCES: usize = 8;
/// An idle device reaches an event within this time.
const POLL_TIME: Duration = Duration::from_micros(50);

/// Points in the work of all contexts, each of which follows some releases.
#[derive(Debug, Default)]
pub(super) struct Fences {
    fences: VecDeque<Fence>,
    /// Events that can be recorded again.
    spare: Vec<RawEvent>,
}

#[derive(Debug)]
struct Fence {
    /// A raw handle, because an `Event` would own the context that owns this.
    event: RawEvent,
    /// In the other contexts.
    others: Vec<Event>,
    /// The number of the last release before it.
    after: u64,
}

// SAFETY: any thread may use the driver's events.
unsafe impl Send for Fences {}

impl Fences {
    /// Returns the number of a release: all work that could use memory released up to then is
    /// complete.  `last_release` is the number of the last release so far.
    ///
    /// This is the one place that decides when exposed memory may be reused.  A driver error proves
    /// nothing, so it makes no memory reusable; neither does a driver before CUDA 12.5, which has
    /// no such events.
    pub(super) fn complete_up_to(&mut self, current: &Current<'_>, last_release: u64) -> u64 {
        let is_new = self.fences.back().is_none_or(|last| last.after < last_release);
        if is_new && self.fences.len() < MAX_FENCES {
            // A stream that is being captured is one reason why this may fail.
            let _no_evidence = self.add(current, last_release);
        }
        // The latest fence comes first: usually nothing is in flight, and it covers all others.
        let reached = self.fences.iter().rposition(|fence| fence.is_reached(current));
        self.remove(reached.map_or(0, |last| last + 1))
    }

    /// Waits for the oldest fence, and returns the number of the last release before it; 0 if
    /// nothing was proven.
    pub(super) fn wait_for_one(&mut self, current: &Current<'_>) -> u64 {
        match self.fences.front().map(|oldest| oldest.wait(current)) {
            Some(Ok(())) => self.remove(1),
            _ => 0,
        }
    }

    /// Whether the device has nothing to do, so that the driver frees memory without a wait: all
    /// work is complete that could use what was released up to the number that is returned then.
    ///
    /// # Errors
    ///
    /// When the driver has no events that tell.
    pub(super) fn is_idle(
        &mut self,
        current: &Current<'_>,
        last_release: u64,
    ) -> CudaResult<Option<u64>> {
        if self.fences.len() >= MAX_FENCES {
            self.complete_up_to(current, last_release);
        }
        if self.fences.len() >= MAX_FENCES {
            return Ok(None);
        }
        match self.add(current, last_release) {
            Ok(()) => {}
            Err(error) if error.code().is_some_and(|it| codes::STREAM_CAPTURE.contains(&it)) => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
        let start = Instant::now();
        while !self.fences.back().is_none_or(|fence| fence.is_reached(current)) {
            if start.elapsed() > POLL_TIME {
                return Ok(None);
            }
            std::hint::spin_loop();
        }
        Ok(Some(self.remove(self.fences.len())))
    }

    /// Removes the first fences.  Returns the number of the last release before them.
    fn remove(&mut self, count: usize) -> u64 {
        let mut complete = 0;
        for fence in self.fences.drain(..count) {
            complete = fence.after;
            self.spare.push(fence.event);
        }
        complete
    }

    /// Records a fence behind all work that is in flight.
    fn add(&mut self, current: &Current<'_>, after: u64) -> CudaResult<()> {
        let others = record_elsewhere(current)?;
        let event = self.spare.pop().map_or_else(|| current.create_event(DISABLE_TIMING), Ok)?;
        // SAFETY: a live event of the current context.
        let recorded = unsafe { current.record_event_on_all_streams(event) };
        match recorded {
            Ok(()) => self.fences.push_back(Fence { event, others, after }),
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

/// Events behind all work of the other contexts that may reach a context's memory.
fn record_elsewhere(current: &Current<'_>) -> CudaResult<Vec<Event>> {
    let mut events = Vec::new();
    for context in others_that_may_reach(current.context()) {
        let recorded = Event::new(&context).and_then(|event| {
            event.record_on_all_streams()?;
            Ok(event)
        });
        match recorded {
            Ok(event) => events.push(event),
            Err(error) if error.is_context_gone() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(events)
}

impl Fence {
    fn is_reached(&self, current: &Current<'_>) -> bool {
        // SAFETY: a live event, which only the fences destroy.
        let is_reached = unsafe { current.is_event_complete(self.event) }.unwrap_or(false);
        is_reached && self.others.iter().all(|event| is_over(event.is_complete()))
    }

    fn wait(&self, current: &Current<'_>) -> CudaResult<()> {
        // SAFETY: a live event, which only the fences destroy.
        unsafe { current.synchronize_event(self.event) }?;
        for event in &self.others {
            match event.synchronize() {
                Err(error) if !error.is_context_gone() => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Whether the work before an event is over: a context that is gone does nothing any more.
fn is_over(is_complete: CudaResult<bool>) -> bool {
    is_complete.unwrap_or_else(|error| error.is_context_gone())
}

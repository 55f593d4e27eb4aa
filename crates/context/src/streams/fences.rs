//! Fences: evidence that all work is complete that could still use released memory.
//!
//! A release never waits for a fence.  An allocation does, if more than the cache's limit is in flight.
//!
//! A fence has one event in each context of the process that this crate knows: every context can use pinned
//! memory, and kernels of one device may use the memory of another.  Each event covers all streams of its
//! context, also streams of other libraries, and streams that are not ordered with the default stream (seen on
//! an H200).

use super::users::contexts_of_the_process;
use crate::Unused;
use crate::{Context, Current, Event};
use arrow_cuda_driver::CudaResult;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// No more fences are recorded than this: a later fence covers all that came before it.
const MAX_FENCES: usize = 8;
/// An idle device reaches an event within this time.
const POLL_TIME: Duration = Duration::from_micros(50);

/// Points in the work of all contexts, each of which follows some releases.  Releases are numbered.
///
/// Dropping events may block, so it is left to callers that hold no lock.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    fences: VecDeque<Fence>,
    spare: Vec<Event>,
    /// Events of contexts that are gone.  The caller takes them out, and drops them without a lock.
    pub(crate) useless: Vec<Event>,
}

/// A point in the work of all contexts.
#[derive(Clone, Debug)]
pub(crate) struct Fence {
    events: Vec<Event>,
    /// The number of the last release before it.
    after: u64,
}

impl Fences {
    /// Returns the number of a release: all work that could use memory released up to then is
    /// complete.  `last_release` is the number of the last release so far.
    ///
    /// This is the one place that decides when exposed memory may be reused.  A driver error proves
    /// nothing, so it makes no memory reusable.  Fails, too, where the driver has no events that cover all
    /// streams of a context: before CUDA 12.5.
    pub(crate) fn complete_up_to(
        &mut self,
        current: &Current<'_>,
        last_release: u64,
    ) -> CudaResult<u64> {
        let is_new = self.fences.back().is_none_or(|last| last.after < last_release);
        if is_new {
            self.add(current, last_release)?;
        }
        // A fence is not reached before those in front of it, so this asks for two of them while the device is
        // busy, and for one while it is not.
        let is_reached = |fence: &&Fence| fence.is_reached(current);
        let reached = match self.fences.back().filter(is_reached) {
            Some(_) => self.fences.len(),
            None => self.fences.iter().take_while(is_reached).count(),
        };
        Ok(self.remove(reached))
    }

    /// The oldest fence, to be waited for under no lock.
    pub(crate) fn oldest(&self) -> Option<Fence> {
        self.fences.front().cloned()
    }

    /// Whether nothing is in flight, so that memory can be given back without a wait.  Returns the
    /// number as above then, and that evidence.
    pub(crate) fn all_complete(
        &mut self,
        current: &Current<'_>,
        last_release: u64,
    ) -> CudaResult<Option<(u64, Unused)>> {
        if self.fences.len() >= MAX_FENCES {
            self.complete_up_to(current, last_release)?;
        }
        if !self.add(current, last_release)? {
            return Ok(None);
        }
        let start = Instant::now();
        while !self.fences.back().is_none_or(|fence| fence.is_reached(current)) {
            if start.elapsed() > POLL_TIME {
                return Ok(None);
            }
            std::hint::spin_loop();
        }
        Ok(Some((self.remove(self.fences.len()), Unused::after_waits())))
    }

    /// Removes the first fences.  Returns the number of the last release before them.
    fn remove(&mut self, count: usize) -> u64 {
        let mut complete = 0;
        for fence in self.fences.drain(..count) {
            complete = fence.after;
            self.spare.extend(fence.events);
        }
        complete
    }

    /// Records a fence after all work that is in flight.  Returns whether that was possible now: a
    /// stream that is being captured is one reason why it may not be.
    fn add(&mut self, current: &Current<'_>, after: u64) -> CudaResult<bool> {
        if self.fences.len() >= MAX_FENCES {
            return Ok(false);
        }
        let Ok(contexts) = contexts_of_the_process(Some(current.context())) else {
            return Ok(false);
        };
        let is_useless = |event: &mut Event| contexts.iter().all(|it| !it.is_same(event.context()));
        self.useless.extend(self.spare.extract_if(.., is_useless));
        let mut events = Vec::with_capacity(contexts.len());
        for context in &contexts {
            match self.record(current, context) {
                Ok(event) => events.push(event),
                // Its work has gone with it, just now.
                Err(error) if context.is_gone(&error) => {}
                Err(error) => {
                    self.spare.extend(events);
                    let is_impossible = error.is_missing_function();
                    return if is_impossible { Err(error) } else { Ok(false) };
                }
            }
        }
        self.fences.push_back(Fence { events, after });
        Ok(true)
    }

    fn record(&mut self, current: &Current<'_>, context: &Context) -> CudaResult<Event> {
        let spare = self.spare.iter().position(|event| event.context().is_same(context));
        let event = match spare {
            Some(at) => self.spare.swap_remove(at),
            None => Event::new(context)?,
        };
        let recorded = match context.is_same(current.context()) {
            true => current.record_on_all_streams(&event),
            false => context.enter().and_then(|it| it.record_on_all_streams(&event)),
        };
        match recorded {
            Ok(()) => Ok(event),
            Err(error) => {
                self.spare.push(event);
                Err(error)
            }
        }
    }
}

impl Fence {
    fn is_reached(&self, current: &Current<'_>) -> bool {
        self.events.iter().all(|event| {
            let reached = match event.context().is_same(current.context()) {
                true => current.is_reached(event),
                false => event.is_complete(),
            };
            // The work of a context that is gone has gone with it.
            reached.unwrap_or_else(|error| event.context().is_gone(&error))
        })
    }

    /// Blocks until it is reached.  Returns the number of the last release before it; 0 if nothing
    /// was proven.
    pub(crate) fn wait(&self) -> u64 {
        let fails =
            |event: &Event| event.wait().is_err_and(|error| !event.context().is_gone(&error));
        if self.events.iter().any(fails) { 0 } else { self.after }
    }
}

//! Fences: they tell when all work that could still touch leaked memory is complete.
//!
//! Pinned memory is every context's to use.  So a fence has an event in each context of the process,
//! which covers all streams there, those of other libraries too.

use crate::contexts;
use crate::{Context, Current, Device, Event};
use arrow_cuda_driver::CudaResult;
use std::collections::VecDeque;

/// No more fences are recorded than this: a later fence covers all that came before it.
const MAX_FENCES: usize = 8;

/// Points in the work of all contexts, each of which follows some releases.
#[derive(Debug)]
pub(super) struct Fences {
    fences: VecDeque<Fence>,
    /// Events that can be recorded again.
    spare: Vec<Event>,
}

#[derive(Debug)]
struct Fence {
    /// One in each context.
    events: Vec<Event>,
    /// The number of the last release before it.
    after: u64,
}

/// What the fences show.
#[derive(Debug)]
pub(super) enum Evidence {
    /// All work that could touch memory released up to this number is complete.
    CompleteUpTo(u64),
    /// The driver has no events that cover all streams of a context: those before CUDA 12.5.
    Impossible,
}

impl Fences {
    pub(super) const fn new() -> Self {
        Self { fences: VecDeque::new(), spare: Vec::new() }
    }

    /// What is known about the work that came before the release of number `last_release`, which is
    /// the last one so far, in these contexts, which exist.  `current` is one of them.
    ///
    /// This is the one place that decides when leaked memory may be reused.  A driver error proves
    /// nothing, so it makes no memory reusable.  Events that are of no use any more go to `useless`,
    /// to be dropped under no lock.
    pub(super) fn ask(
        &mut self,
        current: &Current<'_>,
        contexts: &[Context],
        last_release: u64,
        useless: &mut Vec<Event>,
    ) -> Evidence {
        let in_use = |event: &mut Event| contexts.iter().any(|it| it.is_same(event.context()));
        useless.extend(self.spare.extract_if(.., |event| !in_use(event)));
        let is_new = self.fences.back().is_none_or(|last| last.after < last_release);
        if is_new && self.fences.len() < MAX_FENCES {
            match self.record(current, contexts, last_release) {
                Err(error) if error.is_missing_function() => return Evidence::Impossible,
                // The memory does not serve again for now, while a stream is captured for instance.
                Ok(()) | Err(_) => {}
            }
        }
        let mut complete = 0;
        // The latest fence comes first: usually nothing is in flight, and it covers all others.
        let reached = self.fences.iter().rposition(|fence| fence.is_reached(current));
        for fence in self.fences.drain(..reached.map_or(0, |last| last + 1)) {
            complete = fence.after;
            self.spare.extend(fence.events);
        }
        Evidence::CompleteUpTo(complete)
    }

    /// Records a fence behind all work that is in flight in the contexts.
    fn record(
        &mut self,
        current: &Current<'_>,
        contexts: &[Context],
        after: u64,
    ) -> CudaResult<()> {
        let mut events = Vec::with_capacity(contexts.len());
        let mut recorded = Ok(());
        for context in contexts {
            match self.record_in(current, context) {
                Ok(event) => events.push(event),
                // Its work has gone with it, just now.
                Err(error) if error.is_context_gone() => {}
                Err(error) => {
                    recorded = Err(error);
                    break;
                }
            }
        }
        match &recorded {
            Ok(()) => self.fences.push_back(Fence { events, after }),
            Err(_) => self.spare.extend(events),
        }
        recorded
    }

    fn record_in(&mut self, current: &Current<'_>, context: &Context) -> CudaResult<Event> {
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
            reached.unwrap_or_else(|error| error.is_context_gone())
        })
    }
}

/// All contexts whose work may use pinned memory: the primary ones that exist, whichever library
/// has made them, and those of other libraries that this process has been shown and that still
/// exist.
///
/// # Errors
///
/// When the driver cannot tell.
pub(super) fn contexts_of_the_process(current: &Current<'_>) -> CudaResult<Vec<Context>> {
    let known = current.context();
    for number in 0..Device::count()? {
        let device = Device::get(number)?;
        let is_known = known.is_primary() && known.device() == device;
        if !is_known && device.has_primary_context()? {
            // Another library's is retained from now on, as every primary context is.
            Context::primary(number)?;
        }
    }
    let mut contexts = contexts::all();
    contexts.retain(|context| context.is_same(known) || context.is_alive());
    Ok(contexts)
}

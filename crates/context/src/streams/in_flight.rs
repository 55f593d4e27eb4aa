//! Retains what work in flight uses until the work is complete, whatever else is dropped.
//!
//! Each piece of work has an event behind it.  The events of one stream are reached in order, so
//! checking the first one is enough.  Nothing is dropped under the lock: a retained object may be a
//! Python object, whose destructor may do anything.

use crate::{Context, Event};
use arrow_cuda_driver::{CudaResult, Lock, codes};
use std::any::Any;
use std::collections::{HashMap, VecDeque};

/// An owner that keeps memory valid.
pub type Retained = Box<dyn Any + Send + Sync>;

/// The owners that were retained for work that is now complete.  The receiver chooses where to drop
/// them.
#[derive(Default)]
pub struct Completed(Vec<Retained>);

impl Completed {
    pub(crate) fn add(&mut self, retained: Retained) {
        self.0.push(retained);
    }

    /// Adds all owners of another one.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The number of owners.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no owners.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Completed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Completed").field(&self.len()).finish()
    }
}

/// What a context's streams have in flight.
#[derive(Default)]
struct Work {
    /// By the stream's handle.  If the driver reuses a handle, the later work only waits longer.
    queues: HashMap<usize, VecDeque<(Event, Retained)>>,
    /// Owners for work whose end cannot be determined.
    retained_for_good: Vec<Retained>,
    /// Events for reuse: creating and destroying one takes about as long as a copy.
    spare: Vec<Event>,
}

/// More spare events than this are destroyed.
const MAX_SPARE: usize = 64;

/// By the identity of the context.
type InFlight = HashMap<(usize, u64), (Context, Work)>;

static IN_FLIGHT: Lock<Option<InFlight>> = Lock::new(None);

fn work_of<'a>(in_flight: &'a mut Option<InFlight>, context: &Context) -> &'a mut Work {
    let in_flight = in_flight.get_or_insert_default();
    &mut in_flight.entry(context.identity()).or_insert_with(|| (context.clone(), Work::default())).1
}

/// The owners of completed work in a context that was entered, and an event for the next work.
pub(super) fn begin(context: &Context) -> CudaResult<(Completed, Event)> {
    let (completed, spare, surplus) = {
        let mut in_flight = IN_FLIGHT.lock()?;
        let work = work_of(&mut in_flight, context);
        let completed = work.take_completed();
        (completed, work.spare.pop(), work.take_surplus())
    };
    drop(surplus);
    let event = match spare {
        Some(event) => event,
        None => Event::new(context)?,
    };
    Ok((completed, event))
}

/// Retains an owner until an event, recorded on the stream with that handle, is reached.
pub(super) fn retain(stream: usize, event: Event, retained: Retained) -> CudaResult<()> {
    let context = event.context().clone();
    let mut in_flight = IN_FLIGHT.lock()?;
    let queues = &mut work_of(&mut in_flight, &context).queues;
    queues.entry(stream).or_default().push_back((event, retained));
    Ok(())
}

/// Retains an owner as long as the context exists.
pub(super) fn retain_for_good(context: &Context, retained: Retained) -> CudaResult<()> {
    work_of(&mut *IN_FLIGHT.lock()?, context).retained_for_good.push(retained);
    Ok(())
}

/// The owners that were retained for work that is complete by now, on any stream.  Each call that
/// queues work on a stream or waits for one collects them.
///
/// ```
/// use arrow_cuda_context::{Context, Stream, completed};
/// use std::sync::Arc;
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let needed = Arc::new([7; 64]);
/// stream.enqueue(Box::new(needed.clone()), |_current, _stream| Ok(()))?;
/// while !stream.is_complete()? {}
/// drop(completed()); // or any later use of a stream
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
pub fn completed() -> Completed {
    let mut completed = Completed::default();
    let (mut lost, mut surplus) = (Vec::new(), Vec::new());
    let _idle: Vec<_> = {
        let Ok(mut in_flight) = IN_FLIGHT.lock() else { return completed };
        let Some(contexts) = in_flight.as_mut() else { return completed };
        for (context, work) in contexts.values_mut() {
            if context.enter().is_err_and(|error| error.is_context_gone()) {
                lost.push(std::mem::take(work));
            } else {
                completed.0.append(&mut work.take_completed().0);
                surplus.append(&mut work.take_surplus());
            }
        }
        contexts.extract_if(|_, (_, work)| work.is_empty()).collect()
    };
    for work in lost {
        let queued = work.queues.into_values().flatten().map(|(_event, retained)| retained);
        completed.0.extend(queued.chain(work.retained_for_good));
    }
    completed
}

/// Waits for all work in flight, in every context: work of one device may retain memory of another.
/// Returns whether that has released anything.
pub(crate) fn wait_for_all() -> bool {
    let busy: Vec<Context> = {
        let Ok(in_flight) = IN_FLIGHT.lock() else { return false };
        let contexts = in_flight.iter().flat_map(HashMap::values);
        contexts.filter(|(_, work)| !work.queues.is_empty()).map(|(it, _)| it.clone()).collect()
    };
    for context in &busy {
        // The caller that waits for the work gets its failure.
        let _waited = context.synchronize();
    }
    !busy.is_empty() && !completed().is_empty()
}

impl Work {
    fn is_empty(&self) -> bool {
        self.queues.is_empty() && self.retained_for_good.is_empty() && self.spare.is_empty()
    }

    fn take_completed(&mut self) -> Completed {
        let mut completed = Completed::default();
        for queue in self.queues.values_mut() {
            while let Some((event, retained)) = queue.pop_front_if(|(event, _)| is_over(event)) {
                self.spare.push(event);
                completed.0.push(retained);
            }
        }
        self.queues.retain(|_, queue| !queue.is_empty());
        completed
    }

    fn take_surplus(&mut self) -> Vec<Event> {
        self.spare.split_off(self.spare.len().min(MAX_SPARE))
    }
}

/// Whether the work before an event is over, one way or the other.
fn is_over(event: &Event) -> bool {
    match event.is_complete() {
        Ok(is_complete) => is_complete,
        // After a fatal error the context executes nothing any more.  Any other error says nothing
        // about the work.
        Err(error) => error.code().is_some_and(|code| codes::FATAL.contains(&code)),
    }
}

//! What work on streams still uses: kept here until the work is over, whoever drops what.
//!
//! Each piece of work has an event behind it.  Those of one stream are over in order, so asking for
//! the first one is enough.  Nothing here blocks, and nothing is dropped under the lock: owners may
//! be Python objects, whose destructors may do anything.

use crate::{Context, Event, RawStream};
use arrow_cuda_driver::{CudaResult, may_release};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whatever keeps memory valid.
pub type Kept = Box<dyn Any + Send + Sync>;

/// What was kept for work that is over.  Dropping it releases it; who gets it may choose where.
#[derive(Default)]
pub struct Finished(Vec<Kept>);

impl Finished {
    pub(crate) fn add(&mut self, kept: Kept) {
        self.0.push(kept);
    }

    /// Takes over what another one holds.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// How many pieces of work it belonged to.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for Finished {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Finished").field(&self.len()).finish()
    }
}

/// What a context's streams have to do.
#[derive(Default)]
struct Work {
    /// By stream.  A handle that the driver uses again only makes the later work wait.
    queues: HashMap<usize, VecDeque<(Event, Kept)>>,
    /// What nobody can tell the end of.
    kept_for_good: Vec<Kept>,
    /// Events to be used again: making and giving up one takes about as long as a copy.
    spare: Vec<Event>,
}

/// More spare events than this are given up.
const SPARE: usize = 64;

type InFlight = HashMap<(usize, u64), (Context, Work)>;

/// By the identity of the context.
static IN_FLIGHT: Mutex<Option<InFlight>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<InFlight>> {
    IN_FLIGHT.lock().unwrap_or_else(PoisonError::into_inner)
}

fn work_of<'a>(in_flight: &'a mut Option<InFlight>, context: &Context) -> &'a mut Work {
    let in_flight = in_flight.get_or_insert_default();
    &mut in_flight.entry(context.identity()).or_insert_with(|| (context.clone(), Work::default())).1
}

/// What is over in a context that is known to be alive, and an event for what comes next.
pub(crate) fn begin(context: &Context) -> CudaResult<(Finished, Event)> {
    let (finished, spare, surplus) = {
        let mut in_flight = lock();
        let work = work_of(&mut in_flight, context);
        let finished = work.take_finished();
        (finished, work.spare.pop(), work.take_surplus())
    };
    drop(surplus);
    let event = match spare {
        Some(event) => event,
        None => Event::new(context)?,
    };
    Ok((finished, event))
}

/// Keeps something until an event, recorded on that stream, is done.
pub(crate) fn keep(stream: RawStream, event: Event, kept: Kept) {
    let context = event.context().clone();
    let mut in_flight = lock();
    let queues = &mut work_of(&mut in_flight, &context).queues;
    queues.entry(stream.addr()).or_default().push_back((event, kept));
}

/// Keeps something as long as the context exists.
pub(crate) fn keep_for_good(context: &Context, kept: Kept) {
    work_of(&mut lock(), context).kept_for_good.push(kept);
}

/// What was kept for work that is over by now, on any stream: asked for by each call that queues
/// work on a stream or waits for one.
///
/// ```
/// use arrow_cuda_context::{Context, Stream, finished};
/// use std::sync::Arc;
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let needed = Arc::new([7; 64]);
/// stream.enqueue(Box::new(needed.clone()), |_stream| Ok(()))?;
/// while !stream.is_done()? {}
/// drop(finished()); // or any later use of a stream
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
pub fn finished() -> Finished {
    let mut finished = Finished::default();
    if !may_release() {
        return finished; // a fork may have left the lock locked
    }
    let (mut gone, mut surplus) = (Vec::new(), Vec::new());
    {
        let mut in_flight = lock();
        let Some(contexts) = in_flight.as_mut() else { return finished };
        for (context, work) in contexts.values_mut().filter(|(_, work)| work.keeps_anything()) {
            if context.is_gone() {
                gone.push(std::mem::take(work));
            } else {
                finished.0.append(&mut work.take_finished().0);
                surplus.append(&mut work.take_surplus());
            }
        }
        contexts.retain(|_, (_, work)| !work.is_empty());
    }
    for work in gone {
        let queued = work.queues.into_values().flatten().map(|(_event, kept)| kept);
        finished.0.extend(queued.chain(work.kept_for_good));
    }
    finished
}

/// Waits for the work of all contexts that anything is kept for, and releases that: what work of one
/// device keeps may be memory of another.  Whether there was anything.
pub(crate) fn wait_and_release() -> bool {
    if !may_release() {
        return false; // as in `finished`
    }
    let busy: Vec<Context> = {
        let in_flight = lock();
        let contexts = in_flight.iter().flat_map(HashMap::values);
        contexts.filter(|(_, work)| !work.queues.is_empty()).map(|(it, _)| it.clone()).collect()
    };
    for context in &busy {
        // A failure of the work is somebody else's to notice.
        let _waited = context.synchronize();
    }
    !busy.is_empty() && !finished().is_empty()
}

impl Work {
    fn keeps_anything(&self) -> bool {
        !self.queues.is_empty() || !self.kept_for_good.is_empty()
    }

    fn is_empty(&self) -> bool {
        !self.keeps_anything() && self.spare.is_empty()
    }

    fn take_finished(&mut self) -> Finished {
        let mut finished = Finished::default();
        for queue in self.queues.values_mut() {
            while let Some((event, kept)) = queue.pop_front_if(|(event, _)| is_over(event)) {
                self.spare.push(event);
                finished.0.push(kept);
            }
        }
        self.queues.retain(|_, queue| !queue.is_empty());
        finished
    }

    fn take_surplus(&mut self) -> Vec<Event> {
        self.spare.split_off(self.spare.len().min(SPARE))
    }
}

/// Whether the work before an event is over, one way or the other.  The context is alive.
fn is_over(event: &Event) -> bool {
    // SAFETY: the event lives as long as its owner.
    match unsafe { event.context().is_reached(event.raw()) } {
        Ok(is_reached) => is_reached,
        // After such a failure the context does nothing any more.  Any other answer says nothing of
        // the work.
        Err(error) => error.code().is_some_and(|code| (700..=720).contains(&code)),
    }
}

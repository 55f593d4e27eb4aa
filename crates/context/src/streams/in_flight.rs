//! Retains the objects that work in flight uses until the work is complete, even if every other reference is
//! dropped.
//!
//! An event follows each piece of work.  The list of a context's work is an extension of that context, so streams of
//! different contexts share no lock.  Nothing is dropped under a lock: a retained object may be a Python object,
//! whose destructor may do anything.

use super::event::{Event, Retained};
use super::queues::Queues;
use crate::{Context, Current, Extension};
use arrow_cuda_driver::{CudaResult, Lock, codes};

/// How many other streams a use of a stream asks for.  Asking for all would cost the more the more
/// streams are busy; asking for none would retain for good what a stream used that is not used again.
const OTHERS: usize = 2;

/// Where a stream has so many pieces of work in flight, or so many streams have some, only each eighth piece asks for
/// complete ones: beside 512 busy streams, the answers take 1 of 5 microseconds (measured on an H200).
const SELDOM: usize = 8;

/// More spare events than this are destroyed, which takes longer than to keep them, as it does to make them.
const MAX_SPARE: usize = 16 << 10;

#[derive(Default)]
pub(super) struct InFlight(Lock<Work>);

#[derive(Default)]
struct Work {
    /// If the driver reuses a stream's handle, the later work only waits longer.
    queues: Queues<Event, Retained>,
    /// Owners for work whose end cannot be determined.
    retained_for_good: Vec<Retained>,
    /// Events for reuse: creating and destroying one takes about as long as a copy.
    spare: Vec<Event>,
    is_listed: bool,
    /// How many pieces of work were queued.
    begun: usize,
}

/// The contexts that have, or had, work in flight.  They stay until they are gone: their events, and
/// perhaps what they retain, own the context in turn.  Taken before the lock of a context's work.
static LISTED: Lock<Vec<Context>> = Lock::new(Vec::new());

/// If the context is gone, [`completed`] hands out the memory that it retained.
impl Extension for InFlight {}

impl InFlight {
    pub(super) fn of(context: &Context) -> &Self {
        context.own_extension(Self::default)
    }

    /// Collects what was retained for work that is complete by now, on this stream and on a few
    /// others, and finds an event for the next work.
    pub(super) fn begin(
        &self,
        current: &Current<'_>,
        stream: usize,
    ) -> CudaResult<(Completed, Event)> {
        let (completed, surplus) = self.0.lock()?.collect_in_turn(current, stream);
        drop(surplus);
        Ok((completed, self.event(current)?))
    }

    /// An event that nobody else has: a spare one, or a new one.
    pub(super) fn event(&self, current: &Current<'_>) -> CudaResult<Event> {
        let spare = self.0.lock()?.spare.pop();
        spare.map_or_else(|| Event::new_in(current), Ok)
    }

    /// Keeps an event for reuse that is reached, and that nobody else has.
    pub(super) fn keep(&self, event: Event) -> CudaResult<()> {
        let context = event.context().clone();
        self.add(&context, |work| work.spare.push(event))
    }

    /// Collects as [`begin`](Self::begin) does, and on a few streams of one other context, in turn.
    pub(super) fn end(&self, current: &Current<'_>, stream: usize) -> CudaResult<Completed> {
        let (mut completed, surplus) = self.0.lock()?.collect(current, stream);
        drop(surplus);
        if let Some(other) = next_listed(current.context())? {
            completed.extend(collect_in(&other, |queues, is_over| {
                queues.take_from_some(None, OTHERS, is_over)
            }));
        }
        Ok(completed)
    }

    /// Retains an owner until an event, recorded on the stream with that handle, is reached.
    pub(super) fn retain(&self, stream: usize, event: Event, retained: Retained) -> CudaResult<()> {
        let context = event.context().clone();
        self.add(&context, |work| work.queues.push(stream, event, retained))
    }

    /// Retains an owner as long as the context exists.
    pub(super) fn retain_for_good(&self, context: &Context, retained: Retained) -> CudaResult<()> {
        self.add(context, |work| work.retained_for_good.push(retained))
    }

    fn add(&self, context: &Context, add: impl FnOnce(&mut Work)) -> CudaResult<()> {
        let is_listed = {
            let mut work = self.0.lock()?;
            add(&mut work);
            std::mem::replace(&mut work.is_listed, true)
        };
        if !is_listed {
            LISTED.lock()?.push(context.clone());
        }
        Ok(())
    }
}

/// The owners that were retained for work that is complete by now, on any stream of any context, and
/// for work of contexts that are gone.
///
/// Each call that queues work on a stream, or waits for one, collects what that stream has completed; where
/// much is in flight, each eighth call that queues does.  It also looks at a few other streams of the
/// context, the next ones each time, and one that waits looks at some of another context.  So nothing is
/// retained for long while streams are used, and this function is for when they are not.
///
/// ```
/// use arrow_cuda_context::{Context, Stream, completed};
/// use std::sync::Arc;
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let needed = Arc::new([7; 64]);
/// stream.enqueue(Box::new(needed.clone()), |_current, _stream| Ok(()))?;
/// while !stream.is_complete()? {}
/// drop(completed()); // or a later use of the stream
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
pub fn completed() -> Completed {
    let mut completed = Completed::default();
    for context in listed() {
        completed.extend(collect_in(&context, |queues, is_over| queues.take(is_over)));
    }
    completed
}

/// Waits for all work in flight, in every context: work of one device may retain memory of another.
/// Returns what was retained for it.
///
/// ```
/// use arrow_cuda_context::{Context, Stream, wait_for_work_in_flight};
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// stream.enqueue(Box::new([7; 64]), |_current, _stream| Ok(()))?;
/// assert_eq!(wait_for_work_in_flight().len(), 1);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
pub fn wait_for_work_in_flight() -> Completed {
    let ends_in = |context: &Context| {
        let work = InFlight::of(context).0.lock();
        work.map(|work| work.queues.ends().cloned().collect::<Vec<_>>()).unwrap_or_default()
    };
    // A wait for whole contexts would end graph captures in them.
    let ends: Vec<Event> = listed().iter().flat_map(ends_in).collect();
    for end in &ends {
        // The caller that waits for the work gets its failure.
        let _waited = end.wait();
    }
    if ends.is_empty() { Completed::default() } else { completed() }
}

fn listed() -> Vec<Context> {
    LISTED.lock().map(|listed| listed.clone()).unwrap_or_default()
}

/// A context other than this one; each time the next one.
fn next_listed(context: &Context) -> CudaResult<Option<Context>> {
    let mut listed = LISTED.lock()?;
    let Some(next) = listed.iter().position(|other| !other.is_same(context)) else {
        return Ok(None);
    };
    let next = listed.remove(next);
    listed.push(next.clone());
    Ok(Some(next))
}

/// The owners for work in a context that `take` finds to be over; for all of it if the context is gone.
fn collect_in(
    context: &Context,
    take: impl FnOnce(&mut Queues<Event, Retained>, &dyn Fn(&Event) -> bool) -> Vec<(Event, Retained)>,
) -> Completed {
    let entered = context.enter();
    let collected = match &entered {
        Err(error) if context.is_gone(error) => forget(context),
        entered => InFlight::of(context).0.lock().map(|mut work| {
            let is_over = |event: &Event| match entered {
                Ok(current) => is_over(&current.is_reached(event)),
                Err(error) => is_over(&Err(error.clone())),
            };
            let taken = take(&mut work.queues, &is_over);
            work.keep_events(taken)
        }),
    };
    // Events beyond the spare ones are destroyed here, not under the lock.
    collected.map(|(completed, _surplus)| completed).unwrap_or_default()
}

fn forget(context: &Context) -> CudaResult<(Completed, Vec<Event>)> {
    let (work, _context) = {
        let mut listed = LISTED.lock()?;
        // A thread that retains something after this lists the context again.
        let work = std::mem::take(&mut *InFlight::of(context).0.lock()?);
        (work, listed.extract_if(.., |other| other.is_same(context)).collect::<Vec<_>>())
    };
    let Work { mut queues, retained_for_good, spare: mut events, .. } = work;
    let mut completed = Completed::default();
    for (event, retained) in queues.take(|_| true) {
        events.push(event);
        completed.add(retained);
    }
    retained_for_good.into_iter().for_each(|retained| completed.add(retained));
    Ok((completed, events))
}

impl Work {
    /// The owners for complete work on a stream and on a few others, and events beyond the spare ones.
    fn collect(&mut self, current: &Current<'_>, stream: usize) -> (Completed, Vec<Event>) {
        if self.queues.is_empty() {
            return (Completed::default(), Vec::new());
        }
        let is_reached = |event: &Event| is_over(&current.is_reached(event));
        let mut taken = self.queues.take_from(stream, is_reached);
        taken.append(&mut self.queues.take_from_some(Some(stream), OTHERS, is_reached));
        self.keep_events(taken)
    }

    /// As [`collect`](Self::collect), but asks seldom where there is much to ask for.
    fn collect_in_turn(&mut self, current: &Current<'_>, stream: usize) -> (Completed, Vec<Event>) {
        self.begun = self.begun.wrapping_add(1);
        let is_short = self.queues.of(stream) < SELDOM && self.queues.streams() < SELDOM;
        match is_short || self.begun.is_multiple_of(SELDOM) {
            true => self.collect(current, stream),
            false => (Completed::default(), Vec::new()),
        }
    }

    fn keep_events(&mut self, taken: Vec<(Event, Retained)>) -> (Completed, Vec<Event>) {
        let mut completed = Completed::default();
        for (event, retained) in taken {
            self.spare.push(event);
            completed.add(retained);
        }
        let surplus = self.spare.split_off(self.spare.len().min(MAX_SPARE));
        (completed, surplus)
    }
}

/// Whether the work before an event that was asked for is over, one way or the other.
fn is_over(answer: &CudaResult<bool>) -> bool {
    match answer {
        Ok(is_complete) => *is_complete,
        // After a fatal error the context executes nothing any more.  Any other error says nothing
        // about the work.
        Err(error) => error.code().is_some_and(|code| codes::FATAL.contains(&code)),
    }
}

/// The owners that were retained for work that is now complete.  The receiver chooses where to drop
/// them.
///
/// ```
/// use arrow_cuda_context::{Completed, Context, Stream};
/// use std::sync::Arc;
///
/// let stream = Stream::new(&Context::primary(0)?)?;
/// let owner = Arc::new([7; 64]);
/// stream.enqueue(Box::new(owner.clone()), |_current, _stream| Ok(()))?;
/// let completed: Completed = stream.synchronize()?;
/// assert_eq!(Arc::strong_count(&owner), 2);
/// drop(completed);
/// assert_eq!(Arc::strong_count(&owner), 1);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Debug, Default)]
pub struct Completed(Vec<Retained>);

impl Completed {
    pub(super) fn add(&mut self, retained: Retained) {
        self.0.push(retained);
    }

    /// Adds all owners of another one.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// let mut owners = stream.enqueue(Box::new("first"), |_current, _stream| Ok(()))?;
    /// owners.extend(stream.enqueue(Box::new("second"), |_current, _stream| Ok(()))?);
    /// owners.extend(stream.synchronize()?);
    /// assert_eq!(owners.len(), 2);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// The number of owners.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// stream.enqueue(Box::new([7; 64]), |_current, _stream| Ok(()))?;
    /// assert_eq!(stream.synchronize()?.len(), 1);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no owners.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let stream = Stream::new(&Context::primary(0)?)?;
    /// stream.enqueue(Box::new([7; 64]), |_current, _stream| Ok(()))?;
    /// assert!(!stream.synchronize()?.is_empty());
    /// assert!(stream.synchronize()?.is_empty());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

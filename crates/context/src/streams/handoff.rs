//! The gate for memory that passes between libraries.  It decides which side waits.
//!
//! Buffers that C++ brings in do not pass here: `ResolveDevice` of `arrow-bridge` (`cpp/memory/resolve.cc`) waits
//! for their event first, and hands them on with [`Arrival::complete`].
//!
//! Copies of this project run on the legacy default stream, or on a stream that the caller names.  They are complete
//! or recorded when they return.  But kernels of any library may still write to memory that is handed on.  DLPack,
//! the CUDA array interface and the C Device interface each describe such pending work in their own way.
//!
//! * **In**: [`Context::take_over`].  Memory comes in after the work of the legacy default stream, whatever its
//!   producer reports.  The memory's [`Arrival`] orders other streams, and no view of the memory exists without one.
//!   If another context has the memory, the view itself waits.
//! * **Out**: [`Context::make_ready_for`].  It waits, or orders the streams, as the consumer needs.  It refuses memory
//!   of a context that is gone.  It returns a [`Ready`], without which nobody gets an address.

use super::arrival::Arrival;
use super::in_flight::InFlight;
use crate::calls::StreamHandle;
use crate::{Context, Current, Event, Stream};
use arrow_cuda_driver::CudaResult;
use std::time::{Duration, Instant};

/// How long to poll an event: an idle GPU reaches it some microseconds after it was recorded.
const POLL_TIME: Duration = Duration::from_micros(100);

/// Work that may still use memory when another library takes it over.
///
/// ```
/// use arrow_cuda_context::{Context, Pending, Stream};
///
/// let context = Context::primary(0)?;
/// let event = Stream::new(&context)?.record()?;
/// for pending in [Pending::Nothing, Pending::DefaultStream, Pending::Event(event.clone())] {
///     context.wait_for(&pending)?;
/// }
/// assert!(event.is_complete()?);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// All of it is complete.
    Nothing,
    /// Work on the legacy default stream, on the streams that are ordered with it, or on others for which it
    /// has to wait.
    DefaultStream,
    /// Work on a stream that is unknown, or known only by its number.  A driver crashes on the
    /// handle of a stream that does not exist, so such a number is never passed to it.
    AnyStream,
    /// Work before an event.
    Event(Event),
}

/// How the consumer of the memory orders its work after the pending work.
///
/// ```
/// use arrow_cuda_context::{Block, Consumer, Context, Placement};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 100, Placement::Packed)?;
/// for consumer in [Consumer::OnDefaultStream, Consumer::AfterEvent, Consumer::OrdersItself] {
///     let ready = context.make_ready_for(consumer, &[])?;
///     assert_eq!(block.address(&ready), block.private_address());
/// }
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// On the legacy default stream, or on a stream that is ordered with it; or not at all.
    OnDefaultStream,
    /// On a stream that is known by its number only.
    OnOtherStream,
    /// Behind the event that [`Ready::event`] gives it.
    AfterEvent,
    /// Unknown: some libraries ignore the producer's information.
    Unknown,
    /// In another process: its work cannot be ordered after this one's.
    InOtherProcess,
    /// The caller sees to it: it gets a bare address, and orders what it does with that.
    OrdersItself,
}

/// Proof that memory of a context was made ready for a consumer, who may get its addresses now.
///
/// ```
/// use arrow_cuda_context::{Block, Consumer, Context, Placement, Ready};
///
/// let context = Context::primary(0)?;
/// let block = Block::allocate(&context, 100, Placement::Packed)?;
/// let ready: Ready = context.make_ready_for(Consumer::OnDefaultStream, &[])?;
/// assert!(ready.is_for(&context) && block.address(&ready) > 0);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Debug)]
#[must_use = "addresses are for those who have this"]
pub struct Ready {
    /// The context that the memory belongs to; none if the caller has to know.
    context: Option<(usize, u64)>,
    event: Option<Event>,
}

impl Ready {
    /// For a caller who orders the work on the memory itself ([`Consumer::OrdersItself`]).  It is not
    /// checked whether the memory's context still exists.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Ready};
    ///
    /// let ready = Ready::by_caller();
    /// assert!(ready.is_for(&Context::primary(0)?) && ready.event().is_none());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn by_caller() -> Self {
        Self { context: None, event: None }
    }

    /// The event after the pending work; none if there is no such work, or if the consumer was not
    /// [`AfterEvent`](Consumer::AfterEvent).
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let ready = context.make_ready_for(Consumer::AfterEvent, &[])?;
    /// let theirs = Stream::non_blocking(&context)?; // as if of the consumer
    /// if let Some(event) = ready.event() {
    ///     theirs.wait_for(event)?;
    /// }
    /// assert!(context.make_ready_for(Consumer::OnDefaultStream, &[])?.event().is_none());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn event(&self) -> Option<&Event> {
        self.event.as_ref()
    }

    /// The same, without the proof.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context, Ready};
    ///
    /// let context = Context::primary(0)?;
    /// let ready = context.make_ready_for(Consumer::AfterEvent, &[])?;
    /// if let Some(event) = ready.into_event() {
    ///     event.synchronize()?;
    /// }
    /// assert_eq!(Ready::by_caller().into_event(), None);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn into_event(self) -> Option<Event> {
        self.event
    }

    /// Whether this was given for memory of the context.
    ///
    /// ```
    /// use arrow_cuda_context::{Consumer, Context, Device};
    ///
    /// let (first, last) = (Context::primary(0)?, Context::primary(Device::count()? - 1)?);
    /// let ready = first.make_ready_for(Consumer::OnDefaultStream, &[])?;
    /// assert!(ready.is_for(&first));
    /// assert_eq!(ready.is_for(&last), first.is_same(&last));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn is_for(&self, context: &Context) -> bool {
        self.context.is_none_or(|given| given == context.identity())
    }
}

impl Context {
    /// Takes over memory of this context from another library: has the legacy default stream come after the
    /// work that may still use it.  Blocks only where nothing can be said of the streams of that work.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Pending, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let end = Stream::non_blocking(&context)?.record()?; // as if of another library
    /// context.take_over(&Pending::Event(end.clone()))?;
    /// Stream::default_of(&context).synchronize()?;
    /// assert!(end.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context is gone.
    pub fn take_over(&self, pending: &Pending) -> CudaResult<Arrival> {
        match pending {
            Pending::Nothing => Ok(Arrival::complete()),
            Pending::DefaultStream => Ok(Arrival::after(None)),
            Pending::AnyStream => self.synchronize().map(|()| Arrival::complete()),
            Pending::Event(event) => {
                self.queue_after(std::slice::from_ref(event))?;
                Ok(Arrival::after(Some(event.clone())))
            }
        }
    }

    /// Makes memory of this context ready for a consumer in another library, who comes after the work before
    /// the given events, too: blocks where the consumer does not order its own work after the legacy default
    /// stream of this context.  Consumers that give no event work in the device's primary context.
    ///
    /// ```
    /// use arrow_cuda_context::{Block, Consumer, Context, Placement};
    ///
    /// let context = Context::primary(0)?;
    /// let block = Block::allocate(&context, 100, Placement::Packed)?;
    /// let ready = context.make_ready_for(Consumer::OnDefaultStream, &[])?;
    /// assert!(block.address(&ready) > 0);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When queued work failed; error 201 when the context is gone.
    pub fn make_ready_for(&self, consumer: Consumer, behind: &[&Event]) -> CudaResult<Ready> {
        let event = match consumer {
            Consumer::OrdersItself => return Ok(Ready::by_caller()),
            Consumer::AfterEvent => self.event_after(behind)?,
            Consumer::InOtherProcess => {
                behind.iter().try_for_each(|event| event.synchronize().map(drop))?;
                self.synchronize()?;
                // Streams of other contexts copy to this one's memory, too.
                let _unused = self.await_other_users()?;
                None
            }
            Consumer::OnDefaultStream | Consumer::OnOtherStream | Consumer::Unknown => {
                self.order_default_stream(behind)?;
                // Nothing orders the default streams of two contexts.
                let consumer = if self.is_primary() { consumer } else { Consumer::Unknown };
                self.await_default_stream_for(consumer)?;
                None
            }
        };
        Ok(Ready { context: Some(self.identity()), event })
    }

    /// Blocks until work that may still use memory is complete.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Pending, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let event = Stream::new(&context)?.record()?;
    /// context.wait_for(&Pending::Event(event.clone()))?;
    /// assert!(event.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context is gone.
    pub fn wait_for(&self, pending: &Pending) -> CudaResult<()> {
        match pending {
            Pending::Nothing => Ok(()),
            Pending::DefaultStream => self.enter()?.await_stream(StreamHandle::DEFAULT).map(drop),
            Pending::AnyStream => self.synchronize(),
            Pending::Event(event) => event.synchronize().map(drop),
        }
    }

    /// Waits for the default stream if a consumer does not.
    fn await_default_stream_for(&self, consumer: Consumer) -> CudaResult<()> {
        if consumer == Consumer::OnDefaultStream {
            return Ok(());
        }
        if consumer == Consumer::OnOtherStream && Stream::current(self).is_none() {
            let current = self.enter()?;
            if current.is_stream_complete(StreamHandle::DEFAULT)? {
                return Ok(());
            }
        }
        self.wait_for(&Pending::DefaultStream)
    }

    /// Has the legacy default stream wait for the work before the given events and, inside
    /// `with stream:`, for that stream, without waiting for any of it.
    fn order_default_stream(&self, events: &[&Event]) -> CudaResult<()> {
        if events.is_empty() && Stream::current(self).is_none() {
            return self.check_identity();
        }
        self.await_deferred()?;
        self.queue_after(&self.unreached(events)?)
    }

    /// Inside `with stream:`, has that stream wait for the work on the legacy default stream, without
    /// waiting for it: for memory that comes from a producer that works there.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let (stream, end) = (Stream::non_blocking(&context)?, Stream::default_of(&context).record()?);
    /// stream.enter_thread();
    /// context.order_current_stream()?; // what is queued there from now on comes after `end`
    /// stream.synchronize()?;
    /// assert!(stream.leave_thread() && end.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn order_current_stream(&self) -> CudaResult<()> {
        match Stream::current(self) {
            Some(stream) => stream.wait_for(&Stream::default_of(self).record()?),
            None => Ok(()),
        }
    }

    /// The events that are not reached; one of them for the stream that this thread uses in place of
    /// the default stream.
    fn unreached(&self, events: &[&Event]) -> CudaResult<Vec<Event>> {
        let end_of = |stream: Stream| stream.refuse_capture().and_then(|()| stream.record());
        let current_stream = Stream::current(self).map(end_of).transpose()?;
        let mut unreached: Vec<Event> = Vec::new();
        for event in events.iter().copied().chain(&current_stream) {
            // Arrays of one import share its event.
            if !unreached.contains(event) && !event.is_complete()? {
                unreached.push(event.clone());
            }
        }
        Ok(unreached)
    }

    fn queue_after(&self, events: &[Event]) -> CudaResult<()> {
        events.iter().try_for_each(|event| Stream::default_of(self).wait_for(event))
    }

    /// An event after the work that is pending now: the work before the given events, and that of the legacy
    /// default stream and the streams that are ordered with it.  It is one of `events`, or a new one; there is
    /// none if there is no such work.  Nothing is waited for.
    ///
    /// This does not cover non-blocking streams, other than the one that this thread uses in place of the
    /// default stream.  It takes some microseconds, or a tenth of a
    /// millisecond if only streams that are ordered with the default stream are busy.
    fn event_after(&self, events: &[&Event]) -> CudaResult<Option<Event>> {
        self.await_deferred()?;
        let current = self.enter()?;
        let unreached = self.unreached(events)?;
        let is_busy = !current.is_stream_complete(StreamHandle::DEFAULT)?;
        let in_flight = InFlight::of(self);
        let fresh = in_flight.event(&current)?;
        current.record(&fresh, StreamHandle::DEFAULT)?;
        // A query of the stream covers its own work only, for all that drivers promise (an H200's
        // covers more).  The event also follows the work of the streams that are ordered with it.
        let found = match (&*unreached, !is_busy && poll_briefly(&current, &fresh)?) {
            ([], true) => None,
            ([only], true) => Some(only.clone()),
            (several, _) => {
                self.queue_after(several)?;
                if !several.is_empty() {
                    current.record(&fresh, StreamHandle::DEFAULT)?;
                }
                return Ok(Some(fresh));
            }
        };
        in_flight.keep(fresh)?;
        Ok(found)
    }
}

/// Polls an event for as long as an idle device needs to reach it.
fn poll_briefly(current: &Current<'_>, event: &Event) -> CudaResult<bool> {
    let start = Instant::now();
    loop {
        let is_reached = current.is_reached(event)?;
        if is_reached || start.elapsed() > POLL_TIME {
            return Ok(is_reached);
        }
        std::hint::spin_loop();
    }
}

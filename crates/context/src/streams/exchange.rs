//! Ordering of work when memory passes between libraries.
//!
//! Copies here run on the legacy default stream or on one that the caller names, and are complete
//! or recorded when they return.  But kernels of any library may still write to memory that is
//! handed on.  DLPack, the CUDA array interface and the C Device interface each describe this in
//! their own way; this module decides which side waits.

use super::in_flight::InFlight;
use crate::calls::StreamHandle;
use crate::{Context, Current, Event, Stream};
use arrow_cuda_driver::CudaResult;
use std::time::{Duration, Instant};

/// How long to poll an event: an idle GPU reaches it some microseconds after it was recorded.
const POLL_TIME: Duration = Duration::from_micros(100);

/// Work that may still use memory when another library takes it over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// All of it is complete.
    Nothing,
    /// Work on the legacy default stream, and on the streams that are ordered with it.
    DefaultStream,
    /// Work on a stream that is unknown, or known only by its number.  A driver crashes on the
    /// handle of a stream that does not exist, so such a number is never passed to it.
    AnyStream,
    /// Work before an event.
    Event(Event),
}

/// How the consumer of the memory orders its work after the pending work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// On the legacy default stream, or on a stream that is ordered with it; or not at all.
    OnDefaultStream,
    /// On a stream that is known by its number only.
    OnOtherStream,
    /// Unknown: some libraries ignore the producer's information.
    Unknown,
    /// In another process: its work cannot be ordered after this one's.
    InOtherProcess,
}

impl Context {
    /// Blocks until work that may still use memory is complete: for memory that comes from another
    /// library.
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

    /// Makes memory of this context ready for a consumer in another library: blocks where the
    /// consumer does not order its own work after the legacy default stream.
    ///
    /// # Errors
    ///
    /// When queued work failed, or the context is gone.
    pub fn make_ready_for(&self, consumer: Consumer) -> CudaResult<()> {
        match consumer {
            Consumer::OnDefaultStream => match Stream::current(self) {
                Some(stream) => stream.synchronize().map(drop),
                None => self.check_identity(),
            },
            Consumer::OnOtherStream => {
                let current = self.enter()?;
                if let Some(stream) = current.in_place_of(StreamHandle::DEFAULT) {
                    drop(current.await_stream(stream.handle())?);
                    return self.wait_for(&Pending::DefaultStream);
                }
                if !current.is_stream_complete(StreamHandle::DEFAULT)? {
                    drop(current.await_stream(StreamHandle::DEFAULT)?);
                }
                Ok(())
            }
            Consumer::Unknown => self.wait_for(&Pending::DefaultStream),
            Consumer::InOtherProcess => self.wait_for(&Pending::AnyStream),
        }
    }

    /// Has the legacy default stream wait for the work before the given events and, inside
    /// `with stream:`, for that stream, without waiting for any of it: for a consumer that works on
    /// the legacy default stream.
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn order_default_stream(&self, events: &[&Event]) -> CudaResult<()> {
        self.await_small_copies()?;
        self.queue_after(&self.unreached(events)?)
    }

    /// Inside `with stream:`, has that stream wait for the work on the legacy default stream, without
    /// waiting for it: for memory that comes from a producer that works there.
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
        let current_stream = Stream::current(self).map(|stream| stream.record()).transpose()?;
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

    /// The work that is pending now: the work before the given events, and that of the legacy
    /// default stream and the streams that are ordered with it.  Returns [`Pending::Nothing`], one
    /// of `events`, or a new event, without waiting for any of it.
    ///
    /// This does not cover non-blocking streams, other than the one that this thread uses in place of the
    /// default stream.  It takes some microseconds, or a tenth of a
    /// millisecond if only streams that are ordered with the default stream are busy.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Pending};
    ///
    /// let context = Context::primary(0)?;
    /// context.synchronize()?;
    /// assert_eq!(context.pending(&[])?, Pending::Nothing);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn pending(&self, events: &[&Event]) -> CudaResult<Pending> {
        self.await_small_copies()?;
        let current = self.enter()?;
        let unreached = self.unreached(events)?;
        let is_busy = !current.is_stream_complete(StreamHandle::DEFAULT)?;
        let in_flight = InFlight::of(self);
        let fresh = in_flight.event(&current)?;
        current.record(&fresh, StreamHandle::DEFAULT)?;
        // A query of the stream covers its own work only, for all that drivers promise (an H200's
        // covers more).  The event also follows the work of the streams that are ordered with it.
        let pending = match (&*unreached, !is_busy && poll_briefly(&current, &fresh)?) {
            ([], true) => Pending::Nothing,
            ([only], true) => Pending::Event(only.clone()),
            (several, _) => {
                self.queue_after(several)?;
                if !several.is_empty() {
                    current.record(&fresh, StreamHandle::DEFAULT)?;
                }
                return Ok(Pending::Event(fresh));
            }
        };
        in_flight.keep(fresh)?;
        Ok(pending)
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

//! Who waits for whom when memory changes hands between libraries.
//!
//! Copies here run on the legacy default stream or on one that the caller names, and are complete or
//! recorded when they return.  But kernels of any library may still write to memory that is handed
//! on.  DLPack, the CUDA array interface and the C Device interface each say it in their own way; what
//! follows from it is decided here.

use crate::calls::StreamHandle;
use crate::{Context, Event, Stream};
use arrow_cuda_driver::CudaResult;
use std::time::{Duration, Instant};

/// An idle GPU reaches an event some microseconds after it was recorded.
const SOON: Duration = Duration::from_micros(100);

/// The work that may still use memory which changes hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pending {
    /// All of it is complete.
    Nothing,
    /// That of the legacy default stream, and of the streams that are ordered with it.
    DefaultStream,
    /// That of a stream which nobody names, or only by a number.  A driver crashes on the handle of
    /// a stream that does not exist, so it is never handed one of these.
    AnyStream,
    /// What comes before an event.
    Event(Event),
}

/// How whoever takes the memory orders its work after what is pending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Consumer {
    /// On the legacy default stream, or on a stream that is ordered with it; or it wants no order.
    OnDefaultStream,
    /// On a stream that is known by its number only.
    OnOtherStream,
    /// Nobody knows: some libraries ignore what a producer says.
    Unknown,
    /// In another process, whose work nothing orders after this one's.
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
            Pending::DefaultStream => self.enter()?.synchronize_stream(StreamHandle::DEFAULT),
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
            Consumer::OnDefaultStream => Ok(()),
            Consumer::OnOtherStream => {
                let current = self.enter()?;
                if !current.is_stream_complete(StreamHandle::DEFAULT)? {
                    current.synchronize_stream(StreamHandle::DEFAULT)?;
                }
                Ok(())
            }
            Consumer::Unknown => self.wait_for(&Pending::DefaultStream),
            Consumer::InOtherProcess => self.wait_for(&Pending::AnyStream),
        }
    }

    /// What is pending by now: the work before the given events, and that of the legacy default
    /// stream and the streams that are ordered with it.  Gives [`Pending::Nothing`], one of `events`,
    /// or a new event, without waiting for any of it.
    ///
    /// Streams made to be independent of the default stream are not seen.  Takes some microseconds,
    /// or a tenth of a millisecond where only streams that are ordered with it are busy.
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
    /// The driver's, also those of the work.
    pub fn pending(&self, events: &[&Event]) -> CudaResult<Pending> {
        let current = self.enter()?;
        let mut unreached = Vec::new();
        for &event in events {
            if !event.is_complete()? {
                unreached.push(event);
            }
        }
        let default_stream = Stream::default_of(self);
        let is_busy = !current.is_stream_complete(StreamHandle::DEFAULT)?;
        let fresh = default_stream.record()?;
        // A query need not see more than the stream's own work (an H200's driver does).  The event
        // comes after that of the streams that are ordered with it as well.
        match (&*unreached, !is_busy && is_soon_reached(&fresh)?) {
            ([], true) => return Ok(Pending::Nothing),
            ([only], true) => return Ok(Pending::Event((*only).clone())),
            ([], false) => {}
            (several, _) => {
                for event in several {
                    default_stream.wait_for(event)?;
                }
                fresh.record(&default_stream)?;
            }
        }
        Ok(Pending::Event(fresh))
    }
}

/// Whether an event is reached by the time that a device with nothing to do needs to reach it.
fn is_soon_reached(event: &Event) -> CudaResult<bool> {
    let start = Instant::now();
    loop {
        let is_reached = event.is_complete()?;
        if is_reached || start.elapsed() > SOON {
            return Ok(is_reached);
        }
        std::hint::spin_loop();
    }
}

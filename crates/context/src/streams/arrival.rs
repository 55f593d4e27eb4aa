//! Orders streams after the pending work on memory that was taken over from another library.

use super::Stream;
use crate::{Context, Event};
use arrow_cuda_driver::{CudaResult, Lock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The order of memory that was taken over from a producer, which [`Context::take_over`] gives.
///
/// All work of the producer comes before what is queued on the legacy default stream from then on, and on
/// the streams that are ordered with it.  [`order`](Self::order) sees to the others: to be called before each
/// use of the memory on a stream.  Until the first such call, this costs nothing.  Clones are of the same work.
///
/// ```
/// use arrow_cuda_context::{Arrival, Context, Pending, Stream};
///
/// let context = Context::primary(0)?;
/// let (producer, consumer) = (Stream::non_blocking(&context)?, Stream::non_blocking(&context)?);
/// let end = producer.record()?;
/// let arrival: Arrival = context.take_over(&Pending::Event(end.clone()))?;
/// arrival.order(&context, &consumer)?; // what is queued there from now on comes after `end`
/// consumer.synchronize()?;
/// assert!(end.is_complete()?);
/// # Ok::<(), arrow_cuda_context::CudaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arrival(Option<Arc<Order>>);

#[derive(Debug)]
struct Order {
    /// Whether the default stream may not have come to the end of the producer's work.
    is_pending: AtomicBool,
    /// Recorded after that work, once a stream was ordered.
    event: Lock<Option<Event>>,
}

impl Arrival {
    /// Of memory that nobody works on.
    ///
    /// ```
    /// use arrow_cuda_context::{Arrival, Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// Arrival::complete().order(&context, &stream)?; // has nothing to wait for
    /// assert!(stream.is_complete()?);
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn complete() -> Self {
        Self(None)
    }

    /// Of memory whose producer's work comes before that event, or else before what the default stream has to do
    /// now.
    pub(super) fn after(event: Option<Event>) -> Self {
        let (is_pending, event) = (AtomicBool::new(true), Lock::new(event));
        Self(Some(Arc::new(Order { is_pending, event })))
    }

    /// Has a stream wait for the producer's work on memory of a context, without waiting for any of it.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Pending, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let arrival = context.take_over(&Pending::DefaultStream)?;
    /// arrival.order(&context, &Stream::non_blocking(&context)?)?;
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Driver errors, including those of the queued work.
    pub fn order(&self, context: &Context, stream: &Stream) -> CudaResult<()> {
        match &self.0 {
            Some(order) if order.is_pending.load(Ordering::Acquire) => order.apply(context, stream),
            _ => Ok(()),
        }
    }
}

impl Order {
    fn apply(&self, context: &Context, stream: &Stream) -> CudaResult<()> {
        // Such a wait would end the capture, and the work that comes next is refused without that.
        if stream.context().enter()?.is_capturing(stream.handle())? {
            return Ok(());
        }
        let event = self.event_in(context)?;
        if !event.context().enter()?.is_reached(&event)? {
            return stream.wait_for(&event);
        }
        self.is_pending.store(false, Ordering::Release);
        let reached = self.event.lock()?.take();
        drop(reached); // under no lock
        Ok(())
    }

    /// The event after what the default stream had to do when the first stream was ordered.
    fn event_in(&self, context: &Context) -> CudaResult<Event> {
        if let Some(event) = &*self.event.lock()? {
            return Ok(event.clone());
        }
        let event = Stream::default_of(context).record()?;
        let _surplus = self.event.lock()?.replace(event.clone());
        Ok(event)
    }
}

//! Events.

use crate::{Adopted, Context, Event};
use arrow_cuda_driver::CudaResult;
use cudarc::driver::CudaEvent;
use std::sync::Arc;

impl Event {
    /// An event of `cudarc`, which both libraries can use from now on.
    ///
    /// Both share ownership: dropping the last one destroys the event.  There is no way back, because
    /// only `cudarc` can make its events; [`Stream::from_cudarc`](crate::Stream::from_cudarc) has one of its streams
    /// wait for an event of ours.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, Stream};
    /// use cudarc::driver::CudaContext;
    ///
    /// let ours = Stream::new(&Context::primary(0)?)?;
    /// let stream = CudaContext::new(0)?.new_stream()?;
    /// let theirs = Event::from_cudarc(stream.record_event(None)?.into())?;
    /// ours.wait_for(&theirs)?;
    /// Stream::from_cudarc(stream)?.wait_for(&ours.record()?)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Context::from_cudarc`].
    pub fn from_cudarc(event: Arc<CudaEvent>) -> CudaResult<Self> {
        let context = Context::from_cudarc(event.context())?;
        let raw = event.cu_event().cast();
        let owner = Adopted::new(&context, "an event of cudarc", event);
        // SAFETY: the handle of a live event of the context, which its owner keeps alive.
        Ok(unsafe { Self::borrowed(&context, raw, Box::new(owner)) })
    }
}

//! The streams that threads use in place of the default stream.

use super::Stream;
use crate::{Context, Current, StreamHandle};
use std::cell::RefCell;

thread_local! {
    /// Of any contexts, the newest last.
    static STREAMS: RefCell<Vec<Stream>> = const { RefCell::new(Vec::new()) };
}

impl Stream {
    /// Has this thread use the stream in place of its context's default stream, until
    /// [`leave_thread`](Self::leave_thread), or until another one takes its place.
    ///
    /// Calls of this crate and those above it without a stream then come after the work that is queued on
    /// this one so far, whether or not it is ordered with the default stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::non_blocking(&context)?;
    /// stream.enter_thread();
    /// assert_eq!(Stream::current(&context).map(|found| found.as_raw()), Some(stream.as_raw()));
    /// assert!(stream.leave_thread() && Stream::current(&context).is_none());
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn enter_thread(&self) {
        // A thread that ends has no use for it.
        let _ = STREAMS.try_with(|streams| streams.borrow_mut().push(self.clone()));
    }

    /// Undoes the last [`enter_thread`](Self::enter_thread) of this stream on this thread.  Returns
    /// whether there was one.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// stream.enter_thread();
    /// assert!(stream.leave_thread());
    /// assert!(!stream.leave_thread()); // it was left already
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn leave_thread(&self) -> bool {
        let left = STREAMS.try_with(|streams| {
            let mut streams = streams.borrow_mut();
            let last = streams.iter().rposition(|stream| stream.is_same(self));
            last.map(|last| streams.remove(last))
        });
        // Dropped here, where nothing is borrowed: it may be the last clone.
        matches!(left, Ok(Some(_)))
    }

    /// The stream that this thread uses in place of the default stream of a context.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// assert_eq!(Stream::current(&context), None);
    /// stream.enter_thread();
    /// assert_eq!(Stream::current(&context), Some(stream));
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn current(context: &Context) -> Option<Self> {
        let find = |streams: &RefCell<Vec<Self>>| {
            let streams = streams.borrow();
            streams.iter().rfind(|stream| stream.context().is_same(context)).cloned()
        };
        STREAMS.try_with(find).ok().flatten()
    }

    /// Whether this thread uses a stream in place of any context's default stream.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Stream};
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// assert!(!Stream::any_is_current());
    /// stream.enter_thread();
    /// assert!(Stream::any_is_current());
    /// # Ok::<(), arrow_cuda_context::CudaError>(())
    /// ```
    pub fn any_is_current() -> bool {
        STREAMS.try_with(|streams| !streams.borrow().is_empty()).unwrap_or(false)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.as_raw() == other.as_raw() && self.context().is_same(other.context())
    }
}

impl Current<'_> {
    /// The stream that this thread uses in place of the default stream, if `stream` is that.
    pub(crate) fn in_place_of(&self, stream: StreamHandle<'_>) -> Option<Stream> {
        if stream.is_default() { Stream::current(self.context()) } else { None }
    }
}

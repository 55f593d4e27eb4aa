//! Events.

use crate::{Adopted, Context, Event, Loan};
use std::sync::Arc;

impl Event {
    /// An event of `cust`, which both libraries can use from now on.
    ///
    /// Both share ownership: dropping the last one destroys the event.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, Stream};
    /// use cust::event::EventFlags;
    /// use std::sync::Arc;
    ///
    /// let context = Context::primary(0)?;
    /// let stream = Stream::new(&context)?;
    /// let current = context.enter()?;
    /// let theirs = Arc::new(cust::event::Event::new(EventFlags::DEFAULT).expect("one"));
    /// theirs.record(&stream.as_cust()).expect("of the same context");
    /// // SAFETY: it was made in this context, which was current.
    /// let ours = unsafe { Event::from_cust(&context, theirs) };
    /// ours.synchronize()?;
    /// assert!(ours.is_complete()?);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    ///
    /// # Safety
    ///
    /// The event must be one of `context`: the driver has no function that tells.
    pub unsafe fn from_cust(context: &Context, event: Arc<cust::event::Event>) -> Self {
        let raw = handle(&event).cast();
        let owner = Adopted::new(context, "an event of cust", event);
        // SAFETY: guaranteed by the caller; the owner keeps it alive.
        unsafe { Self::borrowed(context, raw, Box::new(owner)) }
    }

    /// The event for functions of `cust`, which work in the thread's current context.
    ///
    /// ```
    /// use arrow_cuda_context::{Context, Event, Stream};
    /// use cust::event::EventStatus;
    ///
    /// let event = Stream::new(&Context::primary(0)?)?.record()?;
    /// let current = event.context().enter()?;
    /// event.as_cust().synchronize().expect("nothing has failed");
    /// assert_eq!(event.as_cust().query().expect("alive"), EventStatus::Ready);
    /// # Ok::<(), arrow_cuda_driver::CudaError>(())
    /// ```
    pub fn as_cust(&self) -> Loan<'_, cust::event::Event> {
        let raw: cust::sys::CUevent = self.as_raw().cast();
        // SAFETY: cust's event holds its handle and nothing else, which the compiler finds by its
        // size, and the assertion below by what it shows; any handle is a valid one.
        let event = unsafe { std::mem::transmute::<cust::sys::CUevent, cust::event::Event>(raw) };
        let event = Loan::new(event);
        assert_eq!(handle(&event), raw);
        event
    }
}

/// The handle of an event of `cust`, which keeps it to itself, except in its `Debug` form.
fn handle(event: &cust::event::Event) -> cust::sys::CUevent {
    const { assert!(size_of::<cust::event::Event>() == size_of::<cust::sys::CUevent>()) };
    // SAFETY: as large as the event, and any bits are a pointer.
    let raw = unsafe { std::mem::transmute_copy::<_, cust::sys::CUevent>(event) };
    assert_eq!(format!("{event:?}"), format!("Event({raw:?})"), "cust's event is its handle");
    raw
}

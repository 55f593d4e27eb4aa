//! Events and streams for C++.

use super::batch_copies::borrowed;
use crate::fault::{Fault, Made};
use crate::ffi::{Failure, RustBuffer, RustContext, RustStream};
use crate::kind::Kind;
use arrow_cuda_buffer::await_stream_of;
use arrow_cuda_context::{Consumer, Context, Event, Ready, is_readable};
use arrow_cuda_driver::without_interpreter;
use std::ffi::c_void;

/// An event, and its handle at a stable address, as the C Device interface requires.
pub(crate) struct RustEvent {
    event: Event,
    handle: *mut c_void,
}

impl RustEvent {
    fn new(event: Event) -> Self {
        Self { handle: event.as_raw(), event }
    }
}

exported! {
    /// The address of the event's `CUevent`, valid as long as `event` exists.
    answer event_place(event: &RustEvent) -> *mut *mut c_void {
        (&raw const event.handle).cast_mut()
    }

    /// The event whose handle a producer has stored at `place`; the producer keeps both valid as
    /// long as this exists.  Fails if this cannot be an event.
    made event_wrap(context: &RustContext, place: *const *mut c_void) -> Made<RustEvent> {
        let handle = handle_at(place)?;
        // SAFETY: the producer promises that the event exists and stays alive.
        Ok(RustEvent::new(unsafe { Event::borrowed(context, handle, Box::new(())) }))
    }

    attempted event_wait(event: &RustEvent) -> Failure {
        Ok(without_interpreter(|| event.event.synchronize()).map(drop)?)
    }

    /// Exposes memory on a device, for a consumer who waits for the event.  It comes after the work in flight
    /// before the given events, on the default stream and on the streams that are ordered with it; null if there
    /// is no such work.
    attempt ready_after_event(
        context: &RustContext,
        buffers: *const *const RustBuffer,
        buffer_count: usize,
        events: *const *const RustEvent,
        event_count: usize,
    ) -> Made<RustEvent> {
        // SAFETY: C++ passes as many live buffers and events as it counts.
        let (buffers, events) =
            unsafe { (borrowed(buffers, buffer_count), borrowed(events, event_count)) };
        let ready = ready_for(Consumer::AfterEvent, context, &buffers, &events)?;
        Ok(ready.into_event().map(|event| Box::new(RustEvent::new(event))))
    }

    /// Exposes memory on a device, for a consumer on the default stream, which is ordered after the given
    /// events.
    attempted ready_on_default_stream(
        context: &RustContext,
        buffers: *const *const RustBuffer,
        buffer_count: usize,
        events: *const *const RustEvent,
        event_count: usize,
    ) -> Failure {
        // SAFETY: C++ passes as many live buffers and events as it counts.
        let (buffers, events) =
            unsafe { (borrowed(buffers, buffer_count), borrowed(events, event_count)) };
        ready_for(Consumer::OnDefaultStream, context, &buffers, &events).map(drop)
    }

    attempted stream_wait_event(stream: &RustStream, event: &RustEvent) -> Failure {
        stream.refuse_capture()?;
        Ok(stream.wait_for(&event.event)?)
    }

    attempted stream_synchronize(stream: &RustStream) -> Failure {
        Ok(without_interpreter(|| stream.synchronize()).map(drop)?)
    }

    /// Waits for a stream that belongs to the context of each buffer.
    attempted stream_await_for(
        stream: &RustStream,
        buffers: *const *const RustBuffer,
        count: usize,
    ) -> Failure {
        // SAFETY: C++ passes `count` live buffers.
        let buffers = unsafe { borrowed(buffers, count) };
        Ok(without_interpreter(|| await_stream_of(stream, &buffers)).map(drop)?)
    }

    answer event_release(event: Box<RustEvent>) {
        drop(event);
    }
}

/// Makes buffers on a device ready in the device's primary context, and in their own contexts.  These differ
/// from it only for views of other contexts' memory.  Fails if one of them is gone.
fn ready_for(
    consumer: Consumer,
    primary: &Context,
    buffers: &[&RustBuffer],
    events: &[&RustEvent],
) -> Result<Ready, Fault> {
    let mut others: Vec<&Context> = Vec::new();
    for buffer in buffers.iter().filter(|buffer| !buffer.is_empty()) {
        let context = buffer.context();
        if !context.is_same(primary) && !others.iter().any(|other| other.is_same(context)) {
            others.push(context);
        }
    }
    for other in others {
        drop(without_interpreter(|| other.make_ready_for(Consumer::Unknown, &[]))?);
    }
    let events: Vec<&Event> = events.iter().map(|event| &event.event).collect();
    let ready = without_interpreter(|| primary.make_ready_for(consumer, &events))?;
    buffers.iter().for_each(|buffer| buffer.expose());
    Ok(ready)
}

fn handle_at(place: *const *mut c_void) -> Result<*mut c_void, Fault> {
    let wrong =
        |what: &str| Fault::new(Kind::Invalid, format!("sync_event ({place:p}) points to {what}"));
    if !is_readable(place as usize) {
        return Err(wrong("memory that cannot be read"));
    }
    // SAFETY: aligned memory that was just found readable.
    let event = unsafe { place.read_volatile() };
    if event.is_null() {
        return Err(wrong("a null event"));
    }
    // The driver would dereference the handle without a check.
    if !is_readable(event as usize) {
        return Err(wrong(&format!("{event:p}, which is not an event")));
    }
    Ok(event)
}

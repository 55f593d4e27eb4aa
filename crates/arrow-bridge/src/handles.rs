//! Events and streams with their driver handles at stable addresses, as the C Device interface and libarrow's classes
//! require.

use arrow_cuda_context::{Event, Stream};
use std::ffi::c_void;

/// An event or a stream, and its handle at a stable address.
pub(crate) struct Placed<T> {
    object: T,
    handle: *mut c_void,
}

pub(crate) type RustEvent = Placed<Event>;
pub(crate) type RustStream = Placed<Stream>;

impl<T> Placed<T> {
    pub(crate) fn object(&self) -> &T {
        &self.object
    }
}

impl RustEvent {
    pub(crate) fn new(event: Event) -> Self {
        Self { handle: event.as_raw(), object: event }
    }
}

impl RustStream {
    pub(crate) fn new(stream: Stream) -> Self {
        Self { handle: stream.as_raw(), object: stream }
    }
}

pub(crate) extern "C" fn place<T>(placed: &Placed<T>) -> *mut *mut c_void {
    (&raw const placed.handle).cast_mut()
}

//! Events and streams with their driver handles at stable addresses, as the C Device interface and libarrow's classes
//! require.

use arrow_cuda_context::{Event, Stream};
use std::ffi::c_void;

/// An event, and its handle at a stable address.
pub(crate) struct RustEvent {
    event: Event,
    handle: *mut c_void,
}

impl RustEvent {
    pub(crate) fn new(event: Event) -> Self {
        let handle = event.as_raw();
        Self { event, handle }
    }

    pub(crate) fn event(&self) -> &Event {
        &self.event
    }

    /// Where the handle is.
    pub(crate) fn place(&self) -> *mut *mut c_void {
        (&raw const self.handle).cast_mut()
    }
}

/// A stream, and its handle at a stable address.
pub(crate) struct RustStream {
    stream: Stream,
    handle: *mut c_void,
}

impl RustStream {
    pub(crate) fn new(stream: Stream) -> Self {
        let handle = stream.as_raw();
        Self { stream, handle }
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    /// Where the handle is.
    pub(crate) fn place(&self) -> *mut *mut c_void {
        (&raw const self.handle).cast_mut()
    }
}

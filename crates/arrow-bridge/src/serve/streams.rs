//! Streams for C++.

use super::{RustEvent, context, hand_over};
use crate::fault::{Fault, attempt};
use crate::ffi::{Failure, Kind};
use arrow_cuda_context::{Stream, is_readable};
use std::ffi::c_void;
use std::ptr;

/// A stream, and its handle at a place that stays where it is: so libarrow's classes want it.
pub(crate) struct RustStream {
    stream: Stream,
    handle: *mut c_void,
}

impl RustStream {
    fn new(stream: Stream) -> Self {
        let handle = stream.as_raw();
        Self { stream, handle }
    }

    pub(super) fn stream(&self) -> &Stream {
        &self.stream
    }
}

pub(super) unsafe extern "C" fn create(
    device: i32,
    flags: u32,
    failure: *mut Failure,
) -> *mut RustStream {
    let work = || Ok(hand_over(RustStream::new(Stream::with_flags(&context(device)?, flags)?)));
    // SAFETY: the caller's promise.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn wrap(
    device: i32,
    place: *const *mut c_void,
    failure: *mut Failure,
) -> *mut RustStream {
    let work = || {
        let context = context(device)?;
        if place.is_null() {
            return Ok(hand_over(RustStream::new(Stream::default_of(&context))));
        }
        if !is_readable(place as usize) {
            let text = format!("{place:p} does not point to a stream");
            return Err(Fault::new(Kind::Invalid, text));
        }
        // SAFETY: readable memory as was just found; its owner says that a stream's handle is there.
        let found = unsafe {
            let handle = place.read_volatile();
            Stream::borrowed(&[&context], handle, Box::new(()))?
        };
        let stream = found.ok_or_else(|| {
            let text =
                format!("the stream belongs to another context than that of device {device}");
            Fault::new(Kind::Invalid, text)
        })?;
        Ok(hand_over(RustStream::new(stream)))
    };
    // SAFETY: the caller's promise.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn release(stream: *mut RustStream) {
    // SAFETY: given back once, by whoever it was handed over to.
    drop(unsafe { Box::from_raw(stream) });
}

pub(super) unsafe extern "C" fn place(stream: *const RustStream) -> *mut *mut c_void {
    // SAFETY: a live stream.
    unsafe { &raw const (*stream).handle }.cast_mut()
}

pub(super) unsafe extern "C" fn wait_event(
    stream: *const RustStream,
    event: *const RustEvent,
    failure: *mut Failure,
) -> bool {
    // SAFETY: live objects; the caller's promise.
    unsafe { attempt(failure, || Ok((*stream).stream.wait_for((*event).event())?)).is_some() }
}

pub(super) unsafe extern "C" fn synchronize(
    stream: *const RustStream,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live stream; the caller's promise.
    unsafe { attempt(failure, || Ok((*stream).stream.synchronize().map(drop)?)).is_some() }
}

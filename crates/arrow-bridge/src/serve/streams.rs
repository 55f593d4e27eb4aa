//! Streams for C++.

use super::adjacent::borrowed;
use super::{RustEvent, context, hand_over};
use crate::fault::{Fault, attempt};
use crate::ffi::{Failure, Kind, RustBuffer};
use arrow_cuda_buffer::await_stream_of;
use arrow_cuda_context::{Stream, is_readable};
use std::ffi::c_void;
use std::ptr;

/// A stream, and its handle at a stable address, as libarrow's classes require.
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
}

pub(super) unsafe extern "C" fn create(
    device: i32,
    flags: u32,
    failure: *mut Failure,
) -> *mut RustStream {
    let work = || Ok(hand_over(RustStream::new(Stream::with_flags(&context(device)?, flags)?)));
    // SAFETY: guaranteed by the caller.
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
        // SAFETY: memory that was just found readable; its owner promises that a stream's handle is
        // there.
        let found = unsafe {
            let handle = place.read_volatile();
            Stream::borrowed(&[&context], handle, Box::new(()))?
        };
        let stream = found.ok_or_else(|| {
            let text =
                format!("the stream does not belong to the primary context of device {device}");
            Fault::new(Kind::Invalid, text)
        })?;
        Ok(hand_over(RustStream::new(stream)))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn release(stream: *mut RustStream) {
    // SAFETY: C++ releases its reference once.
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
    // SAFETY: live objects; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*stream).stream.wait_for((*event).event())?)).is_some() }
}

pub(super) unsafe extern "C" fn synchronize(
    stream: *const RustStream,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live stream; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*stream).stream.synchronize().map(drop)?)).is_some() }
}

pub(super) unsafe extern "C" fn await_for(
    stream: *const RustStream,
    buffers: *const *const RustBuffer,
    count: usize,
    failure: *mut Failure,
) -> bool {
    let work = || {
        // SAFETY: a live stream, and `count` live buffers of this table.
        let (stream, buffers) = unsafe { (&(*stream).stream, borrowed(buffers, count)) };
        Ok(await_stream_of(stream, &buffers).map(drop)?)
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.is_some()
}

//! Streams for C++.

use super::batch_copies::borrowed;
use super::context;
use crate::fault::{Fault, Made, attempted, made};
use crate::ffi::{Failure, RustBuffer, RustEvent, RustStream};
use crate::kind::Kind;
use arrow_cuda_buffer::await_stream_of;
use arrow_cuda_context::{Stream, is_readable};
use std::ffi::c_void;

pub(super) extern "C" fn create(device: i32, flags: u32) -> Made<RustStream> {
    made(|| Ok(RustStream::new(Stream::with_flags(&context(device)?, flags)?)))
}

pub(super) unsafe extern "C" fn wrap(device: i32, place: *const *mut c_void) -> Made<RustStream> {
    made(|| {
        let context = context(device)?;
        if place.is_null() {
            return Ok(RustStream::new(Stream::default_of(&context)));
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
        Ok(RustStream::new(stream))
    })
}

pub(super) extern "C" fn wait_event(stream: &RustStream, event: &RustEvent) -> Failure {
    attempted(|| Ok(stream.object().wait_for(event.object())?))
}

pub(super) extern "C" fn synchronize(stream: &RustStream) -> Failure {
    attempted(|| Ok(stream.object().synchronize().map(drop)?))
}

pub(super) unsafe extern "C" fn await_for(
    stream: &RustStream,
    buffers: *const *const RustBuffer,
    count: usize,
) -> Failure {
    attempted(|| {
        // SAFETY: C++ passes `count` live buffers.
        let buffers = unsafe { borrowed(buffers, count) };
        Ok(await_stream_of(stream.object(), &buffers).map(drop)?)
    })
}

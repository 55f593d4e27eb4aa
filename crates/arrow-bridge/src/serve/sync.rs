//! Events and streams for C++.

use super::context;
use crate::fault::attempt;
use crate::ffi::Failure;
use std::ffi::c_void;

pub(super) unsafe extern "C" fn event_create(
    device: i32,
    out: *mut *mut c_void,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a writable place; the caller's promise.
    unsafe {
        attempt(failure, || {
            out.write(context(device)?.create_event()?);
            Ok(())
        })
        .is_some()
    }
}

pub(super) unsafe extern "C" fn event_record(
    device: i32,
    event: *mut c_void,
    stream: *mut c_void,
    failure: *mut Failure,
) -> bool {
    // SAFETY: live handles; the caller's promise.
    unsafe { attempt(failure, || Ok(context(device)?.record_event(event, stream)?)).is_some() }
}

pub(super) unsafe extern "C" fn event_wait(
    device: i32,
    event: *mut c_void,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live handle; the caller's promise.
    unsafe { attempt(failure, || Ok(context(device)?.wait_for_event(event)?)).is_some() }
}

pub(super) unsafe extern "C" fn event_destroy(device: i32, event: *mut c_void) {
    // SAFETY: a live handle, given up here; nobody wants to know of a failure.
    unsafe {
        attempt(std::ptr::null_mut(), || {
            context(device)?.destroy_event(event);
            Ok(())
        })
    };
}

pub(super) unsafe extern "C" fn stream_create(
    device: i32,
    flags: u32,
    out: *mut *mut c_void,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a writable place; the caller's promise.
    unsafe {
        attempt(failure, || {
            out.write(context(device)?.create_stream(flags)?);
            Ok(())
        })
        .is_some()
    }
}

pub(super) unsafe extern "C" fn stream_wait_event(
    device: i32,
    stream: *mut c_void,
    event: *mut c_void,
    failure: *mut Failure,
) -> bool {
    // SAFETY: live handles; the caller's promise.
    unsafe { attempt(failure, || Ok(context(device)?.stream_wait_event(stream, event)?)).is_some() }
}

pub(super) unsafe extern "C" fn stream_synchronize(
    device: i32,
    stream: *mut c_void,
    failure: *mut Failure,
) -> bool {
    // SAFETY: a live handle; the caller's promise.
    unsafe { attempt(failure, || Ok(context(device)?.synchronize_stream(stream)?)).is_some() }
}

pub(super) unsafe extern "C" fn stream_destroy(device: i32, stream: *mut c_void) {
    // SAFETY: a live handle, given up here; nobody wants to know of a failure.
    unsafe {
        attempt(std::ptr::null_mut(), || {
            context(device)?.destroy_stream(stream);
            Ok(())
        })
    };
}

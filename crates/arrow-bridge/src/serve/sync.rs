//! Events and streams for C++.

use super::context;
use crate::fault::{Fault, attempt};
use crate::ffi::{Failure, Kind};
use arrow_cuda_context::{Pending, is_readable};
use std::ffi::c_void;
use std::{ptr, slice};

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
        attempt(ptr::null_mut(), || {
            context(device)?.destroy_event(event);
            Ok(())
        })
    };
}

pub(super) unsafe extern "C" fn event_at(
    place: *const *mut c_void,
    out: *mut *mut c_void,
    failure: *mut Failure,
) -> bool {
    let work = || {
        let wrong = |what: &str| {
            Fault::new(Kind::Invalid, format!("sync_event ({place:p}) points to {what}"))
        };
        if !is_readable(place as usize) {
            return Err(wrong("memory that cannot be read"));
        }
        // SAFETY: aligned, and readable memory as was just found.
        let event = unsafe { place.read_volatile() };
        if event.is_null() {
            return Err(wrong("a null event"));
        }
        // The driver would read through the handle without a check.
        if !is_readable(event as usize) {
            return Err(wrong(&format!("{event:p}, which is no event")));
        }
        // SAFETY: a writable place.
        unsafe { out.write(event) };
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { attempt(failure, work) }.is_some()
}

pub(super) unsafe extern "C" fn event_pending(
    device: i32,
    events: *const *mut c_void,
    count: usize,
    out: *mut *mut c_void,
    failure: *mut Failure,
) -> bool {
    let work = || {
        // SAFETY: `count` handles, which are live.
        let pending = unsafe {
            let events = if count == 0 { &[] } else { slice::from_raw_parts(events, count) };
            context(device)?.pending(events)?
        };
        let event = match pending {
            Pending::Nothing => ptr::null_mut(),
            Pending::Given(event) | Pending::New(event) => event,
        };
        // SAFETY: a writable place.
        unsafe { out.write(event) };
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { attempt(failure, work) }.is_some()
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
        attempt(ptr::null_mut(), || {
            context(device)?.destroy_stream(stream);
            Ok(())
        })
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn at(place: *const *mut c_void) -> Result<*mut c_void, Fault> {
        let (mut event, mut failure) = (ptr::null_mut(), Failure::none());
        // SAFETY: both places are writable.
        match unsafe { event_at(place, &raw mut event, &raw mut failure) } {
            true => Ok(event),
            false => Err(failure.into_fault()),
        }
    }

    #[test]
    fn a_handle_is_read_where_its_producer_says() {
        let mut memory = 0usize;
        let handle: *mut c_void = (&raw mut memory).cast();
        assert_eq!(at(&raw const handle), Ok(handle));
    }

    #[rstest]
    #[case::null(0, "points to a null event")]
    #[case::wild(0x1230, "points to 0x1230, which is no event")]
    #[case::misaligned(0x1231, "points to 0x1231, which is no event")]
    fn a_handle_that_cannot_be_one_is_refused(#[case] handle: usize, #[case] text: &str) {
        let handle = handle as *mut c_void;
        let fault = at(&raw const handle).expect_err("no event");
        assert_eq!(fault.kind, Kind::Invalid);
        assert!(fault.text.ends_with(text), "{fault}");
    }

    #[rstest]
    #[case(0)]
    #[case(0x1230)]
    #[case(usize::MAX - 7)]
    fn a_place_that_cannot_be_read_is_refused(#[case] place: usize) {
        let fault = at(place as *const *mut c_void).expect_err("no memory");
        assert!(fault.text.ends_with("points to memory that cannot be read"), "{fault}");
    }
}

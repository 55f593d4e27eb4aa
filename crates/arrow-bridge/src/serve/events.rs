//! Events for C++.

use super::{RustStream, context, hand_over};
use crate::fault::{Fault, attempt};
use crate::ffi::{Failure, Kind};
use arrow_cuda_context::{Event, Pending, is_readable};
use std::ffi::c_void;
use std::{ptr, slice};

/// An event, and its handle at a stable address, as the C Device interface requires.
pub(crate) struct RustEvent {
    event: Event,
    handle: *mut c_void,
}

impl RustEvent {
    fn new(event: Event) -> Self {
        let handle = event.as_raw();
        Self { event, handle }
    }

    pub(super) fn event(&self) -> &Event {
        &self.event
    }
}

pub(super) unsafe extern "C" fn create(device: i32, failure: *mut Failure) -> *mut RustEvent {
    let work = || Ok(hand_over(RustEvent::new(Event::new(&context(device)?)?)));
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

pub(super) unsafe extern "C" fn wrap(
    device: i32,
    place: *const *mut c_void,
    failure: *mut Failure,
) -> *mut RustEvent {
    let work = || {
        let (context, handle) = (context(device)?, handle_at(place)?);
        // SAFETY: the producer promises that the event exists and stays alive.
        Ok(hand_over(RustEvent::new(unsafe { Event::borrowed(&context, handle, Box::new(())) })))
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.unwrap_or(ptr::null_mut())
}

/// The handle that a producer has stored at `place`.
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

pub(super) unsafe extern "C" fn release(event: *mut RustEvent) {
    // SAFETY: C++ releases its reference once.
    drop(unsafe { Box::from_raw(event) });
}

pub(super) unsafe extern "C" fn place(event: *const RustEvent) -> *mut *mut c_void {
    // SAFETY: a live event.
    unsafe { &raw const (*event).handle }.cast_mut()
}

pub(super) unsafe extern "C" fn record(
    event: *const RustEvent,
    stream: *const RustStream,
    failure: *mut Failure,
) -> bool {
    // SAFETY: live objects; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*event).event.record((*stream).stream())?)).is_some() }
}

pub(super) unsafe extern "C" fn wait(event: *const RustEvent, failure: *mut Failure) -> bool {
    // SAFETY: a live event; guaranteed by the caller.
    unsafe { attempt(failure, || Ok((*event).event.synchronize().map(drop)?)).is_some() }
}

pub(super) unsafe extern "C" fn pending(
    device: i32,
    events: *const *const RustEvent,
    count: usize,
    out: *mut *mut RustEvent,
    failure: *mut Failure,
) -> bool {
    let work = || {
        // SAFETY: `count` live events.
        let events: Vec<&Event> = unsafe {
            let events = if count == 0 { &[] } else { slice::from_raw_parts(events, count) };
            events.iter().map(|event| &(**event).event).collect()
        };
        let event = match context(device)?.pending(&events)? {
            Pending::Event(event) => hand_over(RustEvent::new(event)),
            _ => ptr::null_mut(),
        };
        // SAFETY: a writable place.
        unsafe { out.write(event) };
        Ok(())
    };
    // SAFETY: guaranteed by the caller.
    unsafe { attempt(failure, work) }.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn at(place: *const *mut c_void) -> Result<*mut c_void, Fault> {
        handle_at(place)
    }

    #[test]
    fn a_handle_is_read_where_its_producer_says() {
        let mut memory = 0usize;
        let handle: *mut c_void = (&raw mut memory).cast();
        assert_eq!(at(&raw const handle), Ok(handle));
    }

    #[rstest]
    #[case::null(0, "points to a null event")]
    #[case::wild(0x1230, "points to 0x1230, which is not an event")]
    #[case::misaligned(0x1231, "points to 0x1231, which is not an event")]
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

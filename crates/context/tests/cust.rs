//! Contexts and streams that this crate and `cust` share.

#![cfg(feature = "cust")]
#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

use arrow_cuda_context::{Context, Device, Event, Stream};
use arrow_cuda_driver::{CudaError, call, codes};
use cust::context::CurrentContext;
use cust::event::EventFlags;
use cust::stream::StreamFlags;
use std::ffi::c_void;
use std::sync::Arc;
use std::thread;

/// The driver's current context of this thread.
fn current_handle() -> usize {
    let mut handle: *mut c_void = std::ptr::null_mut();
    // SAFETY: stores a handle through the pointer, which outlives the call.
    unsafe { call!(cuCtxGetCurrent((&raw mut handle).cast())) }.expect("a driver");
    handle as usize
}

fn their_stream(context: &Context) -> Arc<cust::stream::Stream> {
    let _current = context.enter().expect("alive");
    Arc::new(cust::stream::Stream::new(StreamFlags::DEFAULT, None).expect("a stream"))
}

#[test]
fn a_context_goes_to_cust_and_back() {
    let ours = Context::primary(0).expect("a device");
    let theirs = ours.to_cust().expect("a primary context");
    assert_eq!(theirs.as_raw() as usize, ours.handle());
    assert_eq!(current_handle(), 0, "the thread's current context is unchanged");
    assert!(Context::from_cust(&theirs).expect("alive").is_same(&ours));
    // Each has retained it.
    drop(theirs);
    ours.synchronize().expect("alive");
}

#[test]
fn a_context_that_cust_made_current_is_found() {
    // This initialises the driver.
    let last = Device::count().expect("a device") - 1;
    assert!(Context::current().expect("a driver").is_none());
    let theirs = Context::primary(last).and_then(|ours| ours.to_cust()).expect("a context");
    CurrentContext::set_current(&theirs).expect("alive");
    let found = Context::current().expect("alive").expect("one");
    assert_eq!((found.handle(), found.device().number()), (theirs.as_raw() as usize, last));
}

#[test]
fn a_context_that_is_not_primary_does_not_go_to_cust() {
    use cust::context::legacy;
    cust::init(cust::CudaFlags::empty()).expect("a driver");
    let device = cust::device::Device::get_device(0).expect("a device");
    let _theirs = legacy::Context::create_and_push(legacy::ContextFlags::SCHED_AUTO, device)
        .expect("a context");
    let ours = Context::current().expect("alive").expect("one");
    let refused = ours.to_cust().map(|_| ()).expect_err("not a primary context");
    assert_eq!(refused.code(), Some(codes::INVALID_CONTEXT));
    assert_eq!(current_handle(), ours.handle());
}

#[test]
fn a_stream_of_cust_is_shared() {
    let context = Context::primary(0).expect("a device");
    let theirs = their_stream(&context);
    let ours = Stream::from_cust(&context, Arc::clone(&theirs)).expect("a stream");
    assert_eq!(ours.as_raw(), theirs.as_inner().cast());
    let event = ours.record().expect("room");
    theirs.synchronize().expect("nothing fails");
    assert!(event.is_complete().expect("nothing fails"));
    // The last owner destroys it, even on a thread without a current context.
    drop(theirs);
    ours.synchronize().expect("alive");
    thread::spawn(move || drop(ours)).join().expect("no panic");
}

#[test]
fn a_stream_of_another_context_is_refused() {
    let context = Context::primary(0).expect("a device");
    let device = cust::device::Device::get_device(0).expect("a device");
    let flags = cust::context::legacy::ContextFlags::SCHED_AUTO;
    let _other = cust::context::legacy::Context::create_and_push(flags, device).expect("one");
    let theirs = cust::stream::Stream::new(StreamFlags::DEFAULT, None).expect("a stream");
    let refused = Stream::from_cust(&context, Arc::new(theirs)).expect_err("of another context");
    assert_eq!(refused.code(), Some(codes::INVALID_HANDLE));
}

#[test]
fn cust_works_on_our_stream() {
    let stream = Stream::new(&Context::primary(0).expect("a device")).expect("a stream");
    let current = stream.context().enter().expect("alive");
    let theirs = cust::event::Event::new(EventFlags::DISABLE_TIMING).expect("an event");
    theirs.record(&stream.as_cust()).map_err(CudaError::last).expect("of the same context");
    drop(current);
    stream.synchronize().expect("nothing fails, and cust has not destroyed it");
    let ours = Event::new(stream.context()).expect("an event");
    ours.record(&stream).expect("the stream is alive");
}

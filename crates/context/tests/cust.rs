//! Contexts and streams that this crate and `cust` share.

#![cfg(feature = "cust")]
#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

#[path = "../../cuda-sim/tests/driver/common/child.rs"]
mod child;
mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Adopted, Context, Device, Event, Function, Stream, StreamHandle};
use arrow_cuda_driver::{CudaError, call, codes};
use child::in_child;
use common::current_handle;
use cust::context::{CurrentContext, legacy};
use cust::event::EventFlags;
use cust::stream::StreamFlags;
use simulator::live;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const PTX: &str =
    ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry kernel() { ret; }";

/// A context beside the primary one, which is current.
fn their_current_context() -> legacy::Context {
    let device = cust::device::Device::get_device(0).expect("a device");
    let flags = legacy::ContextFlags::SCHED_AUTO;
    legacy::Context::create_and_push(flags, device).expect("a context")
}

/// The context that is current.
fn current() -> Option<Context> {
    // SAFETY: the tests destroy it when they end, on this thread.
    unsafe { Context::current() }.expect("alive")
}

fn their_stream(context: &Context) -> Arc<cust::stream::Stream> {
    let _current = context.enter().expect("alive");
    Arc::new(cust::stream::Stream::new(StreamFlags::DEFAULT, None).expect("a stream"))
}

#[test]
fn a_context_that_cust_made_current_is_found() {
    // This initialises the driver.
    let last = Device::count().expect("a device") - 1;
    assert!(current().is_none());
    let ours = Context::primary(last).expect("a device");
    let theirs = ours.to_cust().expect("a primary context");
    assert_eq!(current_handle(), 0, "the thread's current context is unchanged");
    assert!(Context::from_cust(&theirs).expect("alive").is_same(&ours));
    CurrentContext::set_current(&theirs).expect("alive");
    let found = current().expect("one");
    assert_eq!((found.handle(), found.device().number()), (theirs.as_raw() as usize, last));
    // Each has retained it.
    drop(theirs);
    ours.synchronize().expect("alive");
}

#[test]
fn a_context_that_is_not_primary_does_not_go_to_cust() {
    cust::init(cust::CudaFlags::empty()).expect("a driver");
    let _theirs = their_current_context();
    let ours = current().expect("one");
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
    let _other = their_current_context();
    let theirs = cust::stream::Stream::new(StreamFlags::DEFAULT, None).expect("a stream");
    let refused = Stream::from_cust(&context, Arc::new(theirs)).expect_err("of another context");
    assert_eq!(refused.code(), Some(codes::INVALID_HANDLE));
}

#[test]
fn an_event_of_cust_is_shared() {
    simulator::in_own_process(&[("CUDA_SIM_LATENCY", "20000")], || {
        let context = Context::primary(0).expect("a device");
        let stream = their_stream(&context);
        let current = context.enter().expect("alive");
        let theirs = cust::event::Event::new(EventFlags::DISABLE_TIMING).expect("an event");
        let byte = current.allocate_memory(1).expect("room");
        // SAFETY: a byte of the context, which outlives the fill.
        let filled = unsafe { call!(cuMemsetD8Async(byte, 1, 1, stream.as_inner().cast())) };
        filled.and_then(|()| theirs.record(&stream).map_err(CudaError::last)).expect("a device");
        let before = live(c"cuda_sim_live_events");
        let theirs = Arc::new(theirs);
        // SAFETY: it was made in this context.
        let ours = unsafe { Event::from_cust(&context, Arc::clone(&theirs)) };
        drop(theirs);
        ours.synchronize().expect("nothing fails");
        assert!(ours.is_complete().expect("nothing fails"));
        drop(current);
        thread::spawn(move || drop(ours)).join().expect("no panic");
        assert_eq!(live(c"cuda_sim_live_events"), before.map(|count| count - 1));
    });
}

#[test]
fn an_event_of_another_context_is_not_recorded() {
    let context = Context::primary(0).expect("a device");
    let _other = their_current_context();
    let other = current().expect("one");
    let theirs = cust::event::Event::new(EventFlags::DEFAULT).expect("an event");
    // SAFETY: it was made in the context that is current.
    let theirs = unsafe { Event::from_cust(&other, Arc::new(theirs)) };
    let refused =
        theirs.record(&Stream::new(&context).expect("a stream")).expect_err("another context");
    assert_eq!(refused.code(), Some(codes::INVALID_HANDLE));
}

#[test]
fn cust_uses_our_stream_and_event_and_leaves_them_alive() {
    let context = Context::primary(0).expect("a device");
    let stream = Stream::new(&context).expect("a stream");
    let ours = Event::with_timing(&context).expect("an event");
    let current = context.enter().expect("alive");
    let lent = ours.as_cust();
    lent.record(&stream.as_cust()).map_err(CudaError::last).expect("of the same context");
    lent.synchronize().expect("nothing fails");
    drop(current);
    ours.synchronize().expect("cust has not destroyed it");
    ours.record(&stream).expect("both are alive");
    stream.synchronize().expect("nothing fails");
}

#[test]
fn a_kernel_keeps_its_module_loaded() {
    simulator::in_own_process(&[], || {
        let context = Context::primary(0).expect("a device");
        let current = context.enter().expect("alive");
        let module = Arc::new(cust::module::Module::from_ptx(PTX, &[]).expect("PTX"));
        let kernel = Function::of_cust_module(&context, Arc::clone(&module), "kernel");
        let missing = Function::of_cust_module(&context, module, "missing");
        assert_eq!(missing.expect_err("no such kernel").code(), Some(codes::NOT_FOUND));
        let kernel = kernel.expect("a kernel");
        let clone = kernel.clone();
        drop(kernel);
        assert_eq!(live(c"cuda_sim_live_modules").unwrap_or(1), 1);
        // SAFETY: the kernel takes no arguments, and does nothing.
        unsafe { current.launch(&clone, (1, 1), &mut [], StreamHandle::DEFAULT) }.expect("loaded");
        current.synchronize().expect("nothing fails");
        drop(current);
        thread::spawn(move || drop(clone)).join().expect("no panic");
        assert_eq!(live(c"cuda_sim_live_modules").unwrap_or(0), 0);
    });
}

#[test]
fn what_was_adopted_is_dropped_under_its_context_and_not_in_a_child() {
    static DROPPED_IN: AtomicUsize = AtomicUsize::new(0);
    struct Theirs;
    impl Drop for Theirs {
        fn drop(&mut self) {
            DROPPED_IN.store(current_handle(), Ordering::SeqCst);
        }
    }
    let context = Context::primary(0).expect("a device");
    let owner = Adopted::new(&context, "a resource", Theirs);
    let mut owner = Some(owner);
    let left = in_child(|| {
        drop(owner.take());
        i32::from(DROPPED_IN.load(Ordering::SeqCst) != 0)
    });
    assert_eq!(left, 0, "the child drops nothing");
    drop(owner);
    assert_eq!(DROPPED_IN.load(Ordering::SeqCst), context.handle());
}

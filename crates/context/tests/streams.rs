//! Streams and events: their order, what their work retains, and handles of other libraries.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;

use arrow_cuda_context::{Context, Event, Stream, completed};
use arrow_cuda_driver::{CudaError, CudaResult, call};
use common::{Gate, alone, destroy, their_context, witness};
use std::ffi::c_void;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

const BUSY: Duration = Duration::from_millis(100);

/// Queues work that takes a while.
fn queue_sleep(stream: &Stream) -> CudaResult<()> {
    extern "C" fn sleep(_: *mut c_void) {
        thread::sleep(BUSY);
    }
    // SAFETY: a live stream, and a function that takes such an argument.
    unsafe { call!(cuLaunchHostFunc(stream.as_raw(), sleep as *mut c_void, std::ptr::null_mut())) }
}

#[test]
fn dropping_a_stream_neither_waits_nor_releases_early() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let needed = Arc::new(());
    let gate = Gate::on(&stream);
    drop(stream.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive"));
    drop(stream);
    assert!(completed().is_empty());
    gate.open();
    context.synchronize().expect("alive");
    drop(completed());
    assert_eq!(Arc::strong_count(&needed), 1);
}

#[test]
fn a_panic_behind_queued_work_releases_nothing_early() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let needed = Arc::new(());
    let gate = Gate::on(&stream);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        stream.enqueue(Box::new(needed.clone()), |_, _| {
            queue_sleep(&stream)?;
            panic!("behind the work")
        })
    }));
    let payload = panicked.expect_err("the panic goes on");
    assert_eq!(payload.downcast_ref(), Some(&"behind the work"));
    assert_eq!(Arc::strong_count(&needed), 2, "the work is in flight");
    gate.open();
    assert_eq!(stream.synchronize().expect("alive").len(), 1);
    assert_eq!(Arc::strong_count(&needed), 1);
}

#[test]
fn queueing_releases_owners_of_work_completed_on_other_streams() {
    let (_alone, context) = alone();
    let [quick, slow] = [0; 2].map(|_| Stream::non_blocking(&context).expect("room"));
    slow.enqueue(Box::new("slow"), |_, _| queue_sleep(&slow)).expect("alive");
    quick.enqueue(Box::new("quick"), |_, _| Ok(())).expect("alive");
    let done = quick.record().expect("alive");
    while !done.is_complete().expect("alive") {}
    assert_eq!(slow.enqueue(Box::new("later"), |_, _| Ok(())).expect("alive").len(), 1);
    assert_eq!(slow.synchronize().expect("alive").len(), 2);
}

#[test]
fn waiting_for_a_stream_releases_what_other_contexts_retained() {
    let (_alone, context) = alone();
    let (other, handle) = their_context();
    let needed = Arc::new(());
    let elsewhere = Stream::new(&other).expect("room");
    elsewhere.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
    other.synchronize().expect("alive");
    drop(Stream::new(&context).expect("room").synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&needed), 1);
    drop(elsewhere);
    destroy(handle);
    drop(completed());
}

#[test]
fn owners_are_retained_when_a_failed_call_may_have_queued_work() {
    let (_alone, context) = alone();
    let stream = Stream::new(&context).expect("room");
    let needed = Arc::new(());
    let failed = stream.enqueue(Box::new(needed.clone()), |_, _| {
        queue_sleep(&stream)?;
        Err(CudaError::of_call("cuMemcpyDtoDAsync", 1))
    });
    assert_eq!(failed.expect_err("its own").code(), Some(1));
    assert_eq!(Arc::strong_count(&needed), 2);
    drop(stream.synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&needed), 1);
}

#[test]
fn foreign_streams_are_matched_to_their_context() {
    let (_alone, context) = alone();
    let (other, handle) = their_context();
    let stream = Stream::new(&other).expect("room");
    let borrow = |contexts: &[&Context]| {
        // SAFETY: a live stream, which the owner keeps alive.
        unsafe { Stream::borrowed(contexts, stream.as_raw(), Box::new(stream.clone())) }
            .expect("alive")
    };
    assert!(borrow(&[&context]).is_none());
    let borrowed = borrow(&[&context, &other]).expect("the second one's");
    assert!(borrowed.context().is_same(&other));
    let event = Event::new(&context).expect("room");
    assert_eq!(event.record(&borrowed).expect_err("another context").code(), Some(400));
    drop((borrowed, stream));
    destroy(handle);
}

#[test]
fn streams_and_events_of_a_destroyed_context_are_refused_and_dropped() {
    let (_alone, context) = alone();
    let (other, handle) = their_context();
    let stream = Stream::new(&other).expect("room");
    let event = stream.record().expect("alive");
    let needed = Arc::new(());
    stream.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
    destroy(handle);
    let code = |outcome: CudaResult<()>| outcome.expect_err("destroyed").code();
    assert_eq!(code(stream.synchronize().map(drop)), Some(201));
    assert_eq!(code(stream.is_complete().map(drop)), Some(201));
    assert_eq!(code(stream.enqueue(Box::new(()), |_, _| Ok(())).map(drop)), Some(201));
    assert_eq!(code(event.record(&stream)), Some(201));
    assert_eq!(code(event.is_complete().map(drop)), Some(201));
    let alive = Stream::new(&context).expect("room");
    assert_eq!(code(alive.wait_for(&event)), Some(201));
    drop(alive.synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&needed), 1, "nothing uses it any more");
}

#[test]
fn threads_share_a_stream() {
    let (_alone, context) = alone();
    let stream = Stream::new(&context).expect("room");
    let needed = Arc::new(());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    stream.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
                }
                drop(stream.synchronize().expect("alive"));
            });
        }
    });
    drop(completed());
    assert_eq!(Arc::strong_count(&needed), 1);
}

#[test]
fn a_guard_refuses_streams_of_other_contexts() {
    let (_alone, context) = alone();
    let (other, handle) = their_context();
    let stream = Stream::new(&other).expect("room");
    let event = Event::new(&context).expect("room");
    let current = context.enter().expect("alive");
    let refused = |outcome: CudaResult<()>| outcome.expect_err("another context's").code();
    assert_eq!(refused(current.synchronize_stream(stream.handle())), Some(400));
    assert_eq!(refused(current.is_stream_complete(stream.handle()).map(drop)), Some(400));
    assert_eq!(refused(current.record(&event, stream.handle())), Some(400));
    destroy(handle);
    // The driver reads through a handle without a check, and this one is dead.
    assert_eq!(refused(current.synchronize_stream(stream.handle())), Some(400));
    let default = Stream::default_of(&context);
    current.synchronize_stream(default.handle()).expect("the context's own");
}

#[test]
fn a_context_that_is_gone_is_forgotten() {
    let (_alone, _) = alone();
    let (other, handle) = their_context();
    let witness = witness(&other);
    let stream = Stream::new(&other).expect("room");
    drop(stream.enqueue(Box::new(()), |_, _| Ok(())).expect("alive"));
    drop(stream.synchronize().expect("alive"));
    drop((stream, other));
    destroy(handle);
    drop(completed());
    assert_eq!(Arc::strong_count(&witness), 1, "the events of its streams kept it");
}

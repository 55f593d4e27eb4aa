//! Graphs that another thread captures while this one uses streams.

#![allow(clippy::disallowed_macros, reason = "sets up what the crate must not do itself")]

mod common;

use arrow_cuda_context::{Placement, Stream, completed};
use arrow_cuda_driver::{CudaResult, call};
use common::{Gate, alone};
use rstest::rstest;
use std::ffi::c_void;
use std::sync::Arc;
use std::thread;

const GLOBAL: i32 = 0;
const THREAD_LOCAL: i32 = 1;

fn begin(stream: &Stream, mode: i32) {
    let _current = stream.context().enter().expect("alive");
    // SAFETY: a live stream.
    unsafe { call!(cuStreamBeginCapture_v2(stream.as_raw(), mode)) }.expect("not captured yet");
}

/// Succeeds unless something has ended the capture.
fn end(stream: &Stream) -> CudaResult<()> {
    let _current = stream.context().enter()?;
    let mut graph: *mut c_void = std::ptr::null_mut();
    // SAFETY: a live stream, and a place for a handle; the graph is destroyed once.
    unsafe {
        call!(cuStreamEndCapture(stream.as_raw(), (&raw mut graph).cast()))?;
        call!(cuGraphDestroy(graph))
    }
}

#[rstest]
#[case(GLOBAL)]
#[case(THREAD_LOCAL)]
fn work_that_is_queued_leaves_captures_of_other_threads_alone(#[case] mode: i32) {
    let (_alone, context) = alone();
    let needed = Arc::new(());
    let [captured, busy, idle] = [0; 3].map(|_| Stream::non_blocking(&context).expect("room"));
    let gate = Gate::on(&busy);
    busy.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
    idle.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
    drop(idle.synchronize().expect("alive"));
    begin(&captured, mode);
    thread::scope(|scope| {
        scope.spawn(|| {
            for stream in [&busy, &idle] {
                let queued = stream.enqueue(Box::new(needed.clone()), |_, _| Ok(()));
                drop(queued.expect("of no concern to the capture"));
            }
        });
    });
    end(&captured).expect("still valid");
    gate.open();
    context.synchronize().expect("alive");
    drop(completed());
    assert_eq!(Arc::strong_count(&needed), 1);
}

#[rstest]
#[case(GLOBAL)]
#[case(THREAD_LOCAL)]
fn allocations_leave_captures_of_other_threads_alone(#[case] mode: i32) {
    let (_alone, context) = alone();
    context.cache().empty().expect("alive");
    let captured = Stream::non_blocking(&context).expect("room");
    begin(&captured, mode);
    thread::scope(|scope| {
        scope.spawn(|| {
            for size in [100, 3 << 20, 40 << 20, 100] {
                drop(
                    context.allocate(size, Placement::Alone).expect("of no concern to the capture"),
                );
                drop(context.allocate(size, Placement::Packed).expect("nor this"));
            }
        });
    });
    end(&captured).expect("still valid");
}

#[test]
fn work_is_not_queued_into_a_graph() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    begin(&stream, THREAD_LOCAL);
    let needed = Arc::new(());
    let refused = stream.enqueue(Box::new(needed.clone()), |_, _| panic!("not to be called"));
    assert_eq!(refused.expect_err("could run at any time").code(), Some(900));
    assert_eq!(Arc::strong_count(&needed), 1);
    end(&stream).expect("as if nothing had been asked");
}

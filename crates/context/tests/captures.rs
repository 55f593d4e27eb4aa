//! Graphs that another thread captures while this one uses streams.

#[path = "common/capture.rs"]
mod capture;
mod common;

use arrow_cuda_context::{Placement, Stream, completed};
use capture::{GLOBAL, THREAD_LOCAL, begin, end};
use common::{Gate, alone};
use rstest::rstest;
use std::sync::Arc;
use std::thread;

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

//! Graphs that another thread captures while this one uses streams.

#[path = "common/capture.rs"]
mod capture;
mod common;

use arrow_cuda_context::{
    Block, Consumer, Context, Pending, Placement, Stream, StreamHandle, Unused, completed,
    wait_for_work_in_flight,
};
use capture::{GLOBAL, RELAXED, THREAD_LOCAL, begin, elsewhere, end, exchange_mode};
use common::{Gate, alone};
use rstest::rstest;
use std::sync::Arc;

#[rstest]
fn work_that_is_queued_leaves_captures_of_other_threads_alone(
    #[values(GLOBAL, THREAD_LOCAL)] mode: i32,
) {
    let (_alone, context) = alone();
    let needed = Arc::new(());
    let [captured, busy, idle] = [0; 3].map(|_| Stream::non_blocking(&context).expect("room"));
    let gate = Gate::on(&busy);
    busy.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
    idle.enqueue(Box::new(needed.clone()), |_, _| Ok(())).expect("alive");
    drop(idle.synchronize().expect("alive"));
    begin(&captured, mode);
    elsewhere(|| {
        for stream in [&busy, &idle] {
            let queued = stream.enqueue(Box::new(needed.clone()), |_, _| Ok(()));
            drop(queued.expect("of no concern to the capture"));
        }
    });
    end(&captured).expect("still valid");
    gate.open();
    context.synchronize().expect("alive");
    drop(completed());
    assert_eq!(Arc::strong_count(&needed), 1);
}

/// The calls of a library that knows nothing of the capture: each might wait for the device.
fn use_everything(context: &Context) {
    let stream = Stream::new(context).expect("room");
    let event = stream.record().expect("alive");
    assert!(event.is_complete().is_ok() && stream.is_complete().is_ok());
    event.synchronize().expect("no concern of the capture");
    event.wait().expect("nor this");
    drop(stream.synchronize().expect("nor this"));
    stream.enqueue(Box::new(()), |_, _| Ok(())).expect("nor this");
    wait_for_work_in_flight();
    context.wait_for(&Pending::DefaultStream).expect("nor this");
    for consumer in [
        Consumer::OnDefaultStream,
        Consumer::OnOtherStream,
        Consumer::AfterEvent,
        Consumer::Unknown,
    ] {
        drop(context.make_ready_for(consumer, &[&event]).expect("nor this"));
    }
    for size in [100, 3 << 20, 40 << 20, 100] {
        drop(Block::allocate(context, size, Placement::Alone).expect("nor this"));
        drop(Block::allocate(context, size, Placement::Packed).expect("nor this"));
    }
    drop(Block::allocate_pinned(context, 40 << 20).expect("nor this"));
    let block = Block::allocate(context, 40 << 20, Placement::Alone).expect("nor this");
    let current = context.enter().expect("alive");
    let (to, mut bytes) = (block.private_address(), [7u8; 100]);
    // SAFETY: a new block of more bytes.
    unsafe {
        current.copy_from_host(to, bytes.as_ptr(), 100).expect("nor this");
        current.copy_to_host(bytes.as_mut_ptr(), to, 100).expect("nor this");
        current.fill_memory(to, 1, 100).expect("nor this");
        current.copy_to_context((to + 100, context), to, 100).expect("nor this");
        let other = current.allocate_memory(16).expect("nor this");
        current.release_memory(other, &Unused::promised()).expect("nor this");
    }
    drop(current);
    drop(block);
    context.cache().empty().expect("nor this");
}

#[rstest]
fn no_call_of_another_thread_ends_a_capture(#[values(GLOBAL, THREAD_LOCAL)] mode: i32) {
    let (_alone, context) = alone();
    context.cache().empty().expect("alive");
    let captured = Stream::non_blocking(&context).expect("room");
    begin(&captured, mode);
    elsewhere(|| use_everything(&context));
    end(&captured).expect("still valid");
}

/// The driver itself could not do it, and would end the capture.
#[test]
fn work_that_a_captured_stream_would_wait_for_is_refused() {
    let (_alone, context) = alone();
    let captured = Stream::new(&context).expect("room");
    let block = Block::allocate(&context, 100, Placement::Packed).expect("room");
    let (default, event) = (Stream::default_of(&context), captured.record().expect("alive"));
    begin(&captured, GLOBAL);
    elsewhere(|| {
        let (current, to) = (context.enter().expect("alive"), block.private_address());
        let mut bytes = [7u8; 100];
        // SAFETY: a block of as many bytes.
        let refused = unsafe {
            [
                current.copy_from_host(to, bytes.as_ptr(), 100),
                current.copy_to_host(bytes.as_mut_ptr(), to, 100),
                current.fill_memory(to, 1, 100),
                current.synchronize_stream(StreamHandle::DEFAULT),
                default.wait_for(&event),
                event.record(&default),
            ]
        };
        let codes = refused.map(|refused| refused.expect_err("it is ordered").code());
        assert_eq!(codes, [Some(906); 6]);
        for _ in 0..10 {
            // SAFETY: a block of as many bytes.
            let small = unsafe { current.copy_small_to_host(bytes.as_mut_ptr(), to, 100) };
            assert_eq!(small.expect_err("it is ordered, too").code(), Some(906));
        }
    });
    end(&captured).expect("still valid");
    context.synchronize().expect("alive");
    let (current, mut bytes) = (context.enter().expect("alive"), [0u8; 100]);
    // SAFETY: a block of as many bytes.
    let small =
        unsafe { current.copy_small_to_host(bytes.as_mut_ptr(), block.private_address(), 100) };
    assert_eq!(small, Ok(true), "no slot is lost");
}

/// The thread's own mode comes back, whatever it was, and in whichever order guards go.
#[rstest]
fn a_guard_leaves_the_mode_as_it_was(#[values(GLOBAL, THREAD_LOCAL, RELAXED)] mode: i32) {
    let (_alone, context) = alone();
    assert_eq!(exchange_mode(mode), GLOBAL);
    let (first, second) = (context.enter().expect("alive"), context.enter().expect("alive"));
    assert_eq!(exchange_mode(RELAXED), RELAXED);
    drop(first);
    assert_eq!(exchange_mode(RELAXED), RELAXED);
    drop(second);
    assert_eq!(exchange_mode(GLOBAL), mode);
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

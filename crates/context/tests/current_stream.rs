//! Streams that threads use in place of the default stream.

mod common;

use arrow_cuda_context::{Consumer, Context, Pending, Stream, StreamHandle};
use common::{Gate, alone};
use rstest::rstest;
use std::thread;

#[rstest]
#[case::a_turn(|context: &Context| context.enter()?.await_turn(StreamHandle::DEFAULT))]
#[case::others_work(|context: &Context| context.wait_for(&Pending::DefaultStream))]
#[case::on_default_stream(|context: &Context| {
    drop(context.make_ready_for(Consumer::OnDefaultStream, &[])?);
    context.enter()?.synchronize_stream(StreamHandle::DEFAULT)
})]
#[case::on_other_stream(|context: &Context| context.make_ready_for(Consumer::OnOtherStream, &[]).map(drop))]
#[case::unknown(|context: &Context| context.make_ready_for(Consumer::Unknown, &[]).map(drop))]
#[case::an_event(|context: &Context| {
    let event = context.make_ready_for(Consumer::AfterEvent, &[])?.into_event();
    event.map_or(Ok(()), |event| event.wait())
})]
fn what_waits_for_the_default_stream_waits_for_the_threads(
    #[case] wait: fn(&Context) -> arrow_cuda_driver::CudaResult<()>,
) {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let gate = Gate::on(&stream);
    wait(&context).expect("alive");
    assert_eq!(stream.is_complete(), Ok(false), "it is independent of the default stream");
    stream.enter_thread();
    let opener = gate.open_soon();
    wait(&context).expect("alive");
    assert_eq!(stream.is_complete(), Ok(true));
    opener.join().expect("no panic");
    assert!(stream.leave_thread());
}

#[test]
fn the_threads_stream_waits_for_the_default_stream() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let gate = Gate::on_default_stream(&context);
    context.order_current_stream().expect("alive");
    assert_eq!(stream.is_complete(), Ok(true), "no thread uses it yet");
    stream.enter_thread();
    context.order_current_stream().expect("alive");
    assert_eq!(stream.is_complete(), Ok(false));
    gate.open();
    assert!(stream.synchronize().is_ok() && stream.leave_thread());
}

#[test]
fn the_last_one_counts_until_it_is_left() {
    let (_alone, context) = alone();
    let streams = [(); 2].map(|()| Stream::new(&context).expect("room"));
    let found = || Stream::current(&context).map(|stream| stream.as_raw());
    let [first, second] = &streams;
    assert!(!Stream::any_is_current() && !first.leave_thread());
    first.enter_thread();
    second.enter_thread();
    first.enter_thread();
    assert_eq!(found(), Some(first.as_raw()));
    thread::scope(|scope| {
        scope.spawn(|| assert!(!Stream::any_is_current() && !first.leave_thread()));
    });
    assert!(first.leave_thread());
    assert_eq!(found(), Some(second.as_raw()));
    assert!(second.leave_thread() && !second.leave_thread());
    assert_eq!(found(), Some(first.as_raw()));
    assert!(first.leave_thread() && !Stream::any_is_current());
}

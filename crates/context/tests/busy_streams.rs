//! What a use of one stream costs while many others are busy, and when it collects what they have
//! completed.

#[path = "common/calls.rs"]
mod calls;
mod common;

use arrow_cuda_context::{Context, Stream, completed};
use calls::count_of;
use common::{Gate, alone};
use std::ffi::CStr;
use std::sync::Arc;

const MANY: usize = 40;

fn independent(context: &Context) -> Stream {
    Stream::non_blocking(context).expect("room")
}

fn enqueue_nothing(stream: &Stream, retained: &Arc<()>) {
    drop(stream.enqueue(Box::new(retained.clone()), |_, _| Ok(())).expect("alive"));
}

/// Streams that are busy until the gate is opened, and retain one share each.
struct Busy {
    _gate: Gate,
    _streams: Vec<Stream>,
}

fn busy(context: &Context, count: usize, retained: &Arc<()>) -> Busy {
    let first = independent(context);
    let gate = Gate::on(&first);
    let opened = first.record().expect("alive");
    let streams = (0..count).map(|_| {
        let stream = independent(context);
        stream.wait_for(&opened).expect("alive");
        enqueue_nothing(&stream, retained);
        stream
    });
    Busy { _streams: streams.collect(), _gate: gate }
}

fn calls_of(function: &CStr, work: impl FnOnce()) -> Option<u64> {
    let before = count_of(function)?;
    work();
    Some(count_of(function)? - before)
}

#[test]
fn the_number_of_calls_does_not_grow_with_the_busy_streams() {
    let (_alone, context) = alone();
    let (shared, stream) = (Arc::new(()), independent(&context));
    let gate = Gate::on(&stream);
    enqueue_nothing(&stream, &shared);
    let calls = || calls_of(c"*", || enqueue_nothing(&stream, &shared));
    let few = busy(&context, 3, &shared);
    let with_few = calls();
    let many = busy(&context, MANY, &shared);
    assert_eq!(calls(), with_few);
    drop((gate, few, many));
    context.synchronize().expect("alive");
    drop(completed());
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn what_streams_retained_that_are_never_used_again_is_collected() {
    let (_alone, context) = alone();
    let (shared, other) = (Arc::new(()), Arc::new(()));
    let busy = busy(&context, MANY, &shared);
    assert_eq!(Arc::strong_count(&shared), MANY + 1);
    drop(busy); // the work of a stream that was dropped is completed all the same
    context.synchronize().expect("alive");
    let stream = independent(&context);
    for _ in 0..MANY {
        enqueue_nothing(&stream, &other);
    }
    assert_eq!(Arc::strong_count(&shared), 1);
    drop(stream.synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&other), 1);
}

/// Not on hardware, which runs many streams through few queues: the stream's work might be behind that
/// of a busy one.
#[test]
fn synchronizing_a_stream_collects_all_that_it_retained() {
    let (_alone, context) = alone();
    if count_of(c"*").is_none() {
        return;
    }
    let (shared, others) = (Arc::new(()), Arc::new(()));
    let busy = busy(&context, MANY, &others);
    let stream = independent(&context);
    let gate = Gate::on(&stream);
    for _ in 0..MANY {
        enqueue_nothing(&stream, &shared);
    }
    gate.open();
    let queries = calls_of(c"cuEventQuery", || {
        assert_eq!(stream.synchronize().expect("alive").len(), MANY);
    });
    assert!(queries.is_some_and(|queries| queries < 2 * MANY as u64), "{queries:?}");
    assert_eq!(Arc::strong_count(&shared), 1);
    assert_eq!(Arc::strong_count(&others), MANY + 1);
    drop(busy);
    context.synchronize().expect("alive");
    assert_eq!(completed().len(), MANY);
}

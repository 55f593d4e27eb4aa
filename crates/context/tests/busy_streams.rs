//! The cost of using one stream while many others are busy, and when it collects what they have
//! completed.

mod common;
#[path = "../../driver/tests/common/simulator.rs"]
mod simulator;

use arrow_cuda_context::{Context, Stream, completed};
use common::{Gate, alone, destroy, their_context};
use simulator::{calls_of, count_of};
use std::sync::Arc;

const MANY: usize = 40;

/// Hardware may wait for its work to create a stream, so the tests create all of them first.
fn independent(context: &Context, count: usize) -> Vec<Stream> {
    (0..count).map(|_| Stream::non_blocking(context).expect("room")).collect()
}

fn enqueue_nothing(stream: &Stream, retained: &Arc<()>) {
    drop(stream.enqueue(Box::new(retained.clone()), |_, _| Ok(())).expect("alive"));
}

/// Streams that are busy until the gate is opened.  All but the first retain one share each.
struct Busy {
    _gate: Gate,
    _streams: Vec<Stream>,
}

fn busy(streams: Vec<Stream>, retained: &Arc<()>) -> Busy {
    let (first, others) = streams.split_first().expect("some");
    let gate = Gate::on(first);
    let opened = first.record().expect("alive");
    for stream in others {
        stream.wait_for(&opened).expect("alive");
        enqueue_nothing(stream, retained);
    }
    Busy { _gate: gate, _streams: streams }
}

#[test]
fn the_number_of_calls_does_not_grow_with_the_busy_streams() {
    let (_alone, context) = alone();
    let (shared, stream) = (Arc::new(()), independent(&context, 1).remove(0));
    let (few, many) = (independent(&context, 4), independent(&context, MANY + 1));
    let gate = Gate::on(&stream);
    enqueue_nothing(&stream, &shared);
    let calls = || calls_of(c"*", || enqueue_nothing(&stream, &shared));
    let few = busy(few, &shared);
    let with_few = calls();
    let many = busy(many, &shared);
    let most = (0..20).map(|_| calls()).max().flatten();
    assert!(most <= with_few, "{most:?} calls, {with_few:?} with a few");
    drop((gate, few, many));
    context.synchronize().expect("alive");
    drop(completed());
    assert_eq!(Arc::strong_count(&shared), 1);
}

#[test]
fn what_streams_retained_that_are_never_used_again_is_collected() {
    let (_alone, context) = alone();
    let (shared, other) = (Arc::new(()), Arc::new(()));
    let stream = independent(&context, 1).remove(0);
    let busy = busy(independent(&context, MANY + 1), &shared);
    assert_eq!(Arc::strong_count(&shared), MANY + 1);
    drop(busy); // the work of a stream that was dropped is completed all the same
    context.synchronize().expect("alive");
    for _ in 0..4 * MANY {
        enqueue_nothing(&stream, &other);
    }
    assert_eq!(Arc::strong_count(&shared), 1);
    drop(stream.synchronize().expect("alive"));
    assert_eq!(Arc::strong_count(&other), 1);
}

/// Not on hardware, which runs many streams through few queues: the stream's work might be after that
/// of a busy one.
#[test]
fn synchronizing_a_stream_collects_all_that_it_retained() {
    let (_alone, context) = alone();
    if count_of(c"*").is_none() {
        return;
    }
    let (shared, others) = (Arc::new(()), Arc::new(()));
    let stream = independent(&context, 1).remove(0);
    let busy = busy(independent(&context, MANY + 1), &others);
    // A second gate of the context would be behind the first: their functions have one thread.
    let (theirs, handle) = their_context();
    let elsewhere = Stream::non_blocking(&theirs).expect("room");
    let gate = Gate::on(&elsewhere);
    stream.wait_for(&elsewhere.record().expect("alive")).expect("alive");
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
    drop(elsewhere);
    destroy(handle);
}

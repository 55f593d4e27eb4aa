//! Work that is pending when memory passes between libraries, and the events that stand for it.

mod common;

use arrow_cuda_context::{Consumer, Context, Event, Pending, Stream};
use common::{Gate, alone};
use std::thread;
use std::time::Duration;

/// Time for a fault to show; correct code does not depend on it.
const SHORTLY: Duration = Duration::from_millis(20);

/// A busy stream, and an event behind its work.
///
/// Every gate has to be open before the stream is waited for: a driver may run the functions of all
/// streams on one thread, one after the other, in any order.
struct Busy {
    gate: Gate,
    event: Event,
    stream: Stream,
}

fn busy(stream: Stream) -> Busy {
    let gate = Gate::on(&stream);
    Busy { gate, event: stream.record().expect("alive"), stream }
}

fn ordered(context: &Context) -> Busy {
    busy(Stream::new(context).expect("room"))
}

fn independent(context: &Context) -> Busy {
    busy(Stream::non_blocking(context).expect("room"))
}

fn pending(context: &Context, events: &[&Event]) -> Pending {
    context.pending(events).expect("alive")
}

fn is_nothing(context: &Context, events: &[&Event]) -> bool {
    pending(context, events) == Pending::Nothing
}

/// A new event, which is reached once all gates are open, and no earlier.
fn check_new(context: &Context, given: &[&Event], gates: &[&Gate]) {
    let found = pending(context, given);
    let Pending::Event(event) = &found else { panic!("{found:?}") };
    assert!(!given.contains(&event));
    for gate in gates {
        thread::sleep(SHORTLY);
        assert!(!event.is_complete().expect("alive"));
        gate.open();
    }
    context.wait_for(&found).expect("alive");
    assert!(event.is_complete().expect("alive"));
}

#[test]
fn nothing_is_pending_in_an_idle_context() {
    let (_alone, context) = alone();
    assert!(is_nothing(&context, &[]));
    let event = Event::new(&context).expect("room");
    assert!(is_nothing(&context, &[&event, &event]), "never recorded");
}

#[test]
fn the_default_streams_work_is_pending() {
    let (_alone, context) = alone();
    let gate = Gate::on_default_stream(&context);
    check_new(&context, &[], &[&gate]);
}

#[test]
fn streams_ordered_with_the_default_stream_are_pending() {
    let (_alone, context) = alone();
    let work = ordered(&context);
    check_new(&context, &[], &[&work.gate]);
}

#[test]
fn other_streams_are_not_pending() {
    let (_alone, context) = alone();
    let work = independent(&context);
    assert!(is_nothing(&context, &[]));
    drop(work);
}

#[test]
fn one_event_stands_for_itself() {
    let (_alone, context) = alone();
    let done = Event::new(&context).expect("room");
    let work = independent(&context);
    let found = pending(&context, &[&done, &work.event]);
    assert_eq!(found, Pending::Event(work.event.clone()));
    work.gate.open();
    drop(work.stream.synchronize().expect("alive"));
    assert!(is_nothing(&context, &[&done]));
}

#[test]
fn several_events_are_one_new_event() {
    let (_alone, context) = alone();
    let works = [independent(&context), independent(&context)];
    let [first, second] = works.each_ref();
    check_new(&context, &[&first.event, &second.event], &[&first.gate, &second.gate]);
}

#[test]
fn an_event_and_the_default_stream_are_one_new_event() {
    let (_alone, context) = alone();
    for opened_first in 0..2 {
        let work = independent(&context);
        let gate = Gate::on_default_stream(&context);
        let mut gates = [&work.gate, &gate];
        gates.rotate_left(opened_first);
        check_new(&context, &[&work.event], &gates);
    }
}

#[test]
fn a_producer_waits_only_for_consumers_that_do_not_order_their_work() {
    let (_alone, context) = alone();
    let gate = Gate::on_default_stream(&context);
    context.make_ready_for(Consumer::OnDefaultStream).expect("alive"); // the gate is closed
    drop(gate);
    context.synchronize().expect("alive");
    for consumer in [Consumer::OnOtherStream, Consumer::Unknown] {
        let opener = Gate::on_default_stream(&context).open_soon();
        context.make_ready_for(consumer).expect("alive");
        let idle = Stream::default_of(&context).is_complete().expect("alive");
        assert!(idle, "{consumer:?} gets memory that is still written to");
        opener.join().expect("no panic");
    }
}

#[test]
fn what_is_pending_on_any_stream_is_waited_for() {
    let (_alone, context) = alone();
    let work = independent(&context);
    context.wait_for(&Pending::DefaultStream).expect("alive");
    context.wait_for(&Pending::Nothing).expect("alive");
    assert!(!work.event.is_complete().expect("alive"));
    let Busy { gate, event, stream } = work;
    let opener = gate.open_soon();
    context.wait_for(&Pending::AnyStream).expect("alive");
    assert!(event.is_complete().expect("alive"));
    opener.join().expect("no panic");
    drop(stream);
}

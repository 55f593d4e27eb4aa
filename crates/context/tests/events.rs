//! Work that is pending when memory passes between libraries, and the events that stand for it.

mod common;

use arrow_cuda_context::{Consumer, Context, Device, Event, Pending, Stream};
use common::{Gate, alone};
use std::thread;
use std::time::Duration;

/// Time for a fault to show; correct code does not depend on it.
const SHORTLY: Duration = Duration::from_millis(20);

/// A busy stream's gate, and an event after its work.
///
/// Every gate has to be open before the stream is waited for: a driver may run the functions of all
/// streams on one thread, one after the other, in any order.
fn busy(context: &Context) -> (Gate, Event) {
    let stream = Stream::non_blocking(context).expect("room");
    let gate = Gate::on(&stream);
    (gate, stream.record().expect("alive"))
}

/// A new event, which is reached once all gates are open, and no earlier.
fn check_new(context: &Context, given: &[&Event], gates: &[&Gate]) {
    let ready = context.make_ready_for(Consumer::AfterEvent, given).expect("alive");
    let event = ready.event().expect("work is pending");
    assert!(!given.contains(&event));
    for gate in gates {
        thread::sleep(SHORTLY);
        assert!(!event.is_complete().expect("alive"));
        gate.open();
    }
    event.synchronize().expect("alive");
    assert!(event.is_complete().expect("alive"));
}

#[test]
fn several_events_are_one_new_event() {
    let (_alone, context) = alone();
    let [(gate, event), (other_gate, other)] = [busy(&context), busy(&context)];
    check_new(&context, &[&event, &other], &[&gate, &other_gate]);
}

#[test]
fn an_event_and_the_default_stream_are_one_new_event() {
    let (_alone, context) = alone();
    for opened_first in 0..2 {
        let (gate, event) = busy(&context);
        let default = Gate::on_default_stream(&context);
        let mut gates = [&gate, &default];
        gates.rotate_left(opened_first);
        check_new(&context, &[&event], &gates);
    }
}

#[test]
fn the_default_stream_waits_for_events() {
    let (_alone, context) = alone();
    let (gate, event) = busy(&context);
    let default = Stream::default_of(&context);
    let ready = context.make_ready_for(Consumer::OnDefaultStream, &[]);
    drop(ready.expect("alive"));
    assert_eq!(default.is_complete(), Ok(true));
    let ready = context.make_ready_for(Consumer::OnDefaultStream, &[&event]);
    drop(ready.expect("alive"));
    thread::sleep(SHORTLY);
    assert_eq!(default.is_complete(), Ok(false));
    gate.open();
    assert!(default.synchronize().is_ok());
}

#[test]
fn other_streams_are_ordered_after_what_is_taken_over() {
    let (_alone, context) = alone();
    let stream = Stream::non_blocking(&context).expect("room");
    let is_complete = || stream.is_complete().expect("alive");
    for has_event in [false, true] {
        let (gate, pending) = match has_event {
            false => (Gate::on_default_stream(&context), Pending::DefaultStream),
            true => {
                let (gate, event) = busy(&context);
                (gate, Pending::Event(event))
            }
        };
        let arrival = context.take_over(&pending).expect("alive");
        assert!(is_complete(), "nothing was asked of it");
        arrival.order(&context, &stream).expect("alive");
        assert!(!is_complete());
        gate.open();
        drop(stream.synchronize().expect("alive"));
        arrival.order(&context, &stream).expect("alive"); // sees that the work is over
        let later = Gate::on_default_stream(&context);
        arrival.order(&context, &stream).expect("alive");
        assert!(is_complete(), "later work is not the producer's");
        later.open();
        drop(Stream::default_of(&context).synchronize().expect("alive"));
    }
}

#[test]
fn a_time_that_nobody_can_tell_says_why() {
    let context = Context::primary(0).expect("a device");
    let timed = || Event::with_timing(&context).expect("an event");
    let stream = Stream::new(&context).expect("a stream");
    let plain = stream.record().expect("an event");
    for (start, end) in [(&timed(), &timed()), (&plain, &plain)] {
        let text = start.elapsed(end).expect_err("no times").to_string();
        assert!(text.ends_with("; make both events with timing, and record them"), "{text}");
    }
}

#[test]
fn a_missing_device_says_which_there_are() {
    let count = Device::count().expect("a driver");
    let text = Context::primary(count + 90).expect_err("too few").to_string();
    let expected = format!("; there is no device {}, only ", count + 90);
    assert!(text.contains("[CUDA_ERROR_INVALID_DEVICE]") && text.contains(&expected), "{text}");
}

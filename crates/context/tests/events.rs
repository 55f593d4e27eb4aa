//! Work that is not done yet, and what stands for it.

mod common;

use arrow_cuda_context::{Context, Pending, RawEvent, RawStream};
use common::Gate;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

const DEFAULT: RawStream = std::ptr::null_mut();
const BLOCKING: u32 = 0;
const NON_BLOCKING: u32 = 1;

/// The default stream is everybody's: one test at a time.
fn alone() -> (MutexGuard<'static, ()>, Context) {
    static ONE: Mutex<()> = Mutex::new(());
    let guard = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let context = Context::primary(0).expect("a device");
    context.synchronize().expect("alive");
    (guard, context)
}

/// A busy stream, and an event behind its work.
struct Busy {
    gate: Gate,
    stream: RawStream,
    event: RawEvent,
}

fn busy(context: &Context, flags: u32) -> Busy {
    let stream = context.create_stream(flags).expect("room");
    let event = context.create_event().expect("room");
    let gate = Gate::on(context, stream);
    // SAFETY: live handles.
    unsafe { context.record_event(event, stream) }.expect("alive");
    Busy { gate, stream, event }
}

impl Busy {
    /// Every gate has to be open by now: a driver may run the functions of all streams on one
    /// thread, one after the other, in any order.
    fn end(self, context: &Context) {
        // SAFETY: live handles, given up here.
        unsafe {
            context.synchronize_stream(self.stream).expect("alive");
            context.destroy_event(self.event);
            context.destroy_stream(self.stream);
        }
    }
}

fn pending(context: &Context, events: &[RawEvent]) -> Pending {
    // SAFETY: the tests give live events.
    unsafe { context.pending(events) }.expect("alive")
}

fn is_reached(context: &Context, event: RawEvent) -> bool {
    // SAFETY: the tests ask about live events.
    unsafe { context.is_reached(event) }.expect("alive")
}

/// The new event, which is reached once all gates are open, and no earlier.
fn check_new(context: &Context, found: Pending, gates: &[&Gate]) {
    let Pending::New(event) = found else { panic!("{found:?}") };
    for gate in gates {
        // Time for a fault to show; without one nothing depends on it.
        thread::sleep(Duration::from_millis(20));
        assert!(!is_reached(context, event));
        gate.open();
    }
    // SAFETY: a live event, given up here.
    unsafe {
        context.wait_for_event(event).expect("alive");
        context.destroy_event(event);
    }
}

#[test]
fn nothing_is_pending_in_an_idle_context() {
    let (_alone, context) = alone();
    assert_eq!(pending(&context, &[]), Pending::Nothing);
    let event = context.create_event().expect("room");
    assert_eq!(pending(&context, &[event, event]), Pending::Nothing, "never recorded");
    // SAFETY: a live event, given up here.
    unsafe { context.destroy_event(event) };
}

#[test]
fn the_default_streams_work_is_pending() {
    let (_alone, context) = alone();
    let gate = Gate::on(&context, DEFAULT);
    check_new(&context, pending(&context, &[]), &[&gate]);
}

#[test]
fn streams_ordered_with_the_default_stream_are_pending() {
    let (_alone, context) = alone();
    let work = busy(&context, BLOCKING);
    check_new(&context, pending(&context, &[]), &[&work.gate]);
    work.end(&context);
}

#[test]
fn other_streams_are_not_pending() {
    let (_alone, context) = alone();
    let work = busy(&context, NON_BLOCKING);
    assert_eq!(pending(&context, &[]), Pending::Nothing);
    work.gate.open();
    work.end(&context);
}

#[test]
fn one_event_stands_for_itself() {
    let (_alone, context) = alone();
    let done = context.create_event().expect("room");
    let work = busy(&context, NON_BLOCKING);
    assert_eq!(pending(&context, &[done, work.event]), Pending::Given(work.event));
    work.gate.open();
    work.end(&context);
    assert_eq!(pending(&context, &[done]), Pending::Nothing);
    // SAFETY: a live event, given up here.
    unsafe { context.destroy_event(done) };
}

#[test]
fn several_events_are_one_new_event() {
    let (_alone, context) = alone();
    let works = [busy(&context, NON_BLOCKING), busy(&context, NON_BLOCKING)];
    let found = pending(&context, &works.each_ref().map(|work| work.event));
    check_new(&context, found, &works.each_ref().map(|work| &work.gate));
    works.into_iter().for_each(|work| work.end(&context));
}

#[test]
fn an_event_and_the_default_stream_are_one_new_event() {
    let (_alone, context) = alone();
    for opened_first in 0..2 {
        let work = busy(&context, NON_BLOCKING);
        let gate = Gate::on(&context, DEFAULT);
        let mut gates = [&work.gate, &gate];
        gates.rotate_left(opened_first);
        check_new(&context, pending(&context, &[work.event]), &gates);
        work.end(&context);
    }
}

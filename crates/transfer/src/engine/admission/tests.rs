use super::*;
use arrow_cuda_driver::{Interruption, interruptible};
use std::sync::Mutex as Shared;

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

#[test]
fn copies_are_admitted_in_their_order() {
    let (admission, order) = (Admission::default(), Shared::new(Vec::new()));
    let mut admitted: Vec<_> = (0..MOST).map(|_| admission.enter().expect("room")).collect();
    thread::scope(|scope| {
        for number in 0..3 {
            let (admission, order) = (&admission, &order);
            scope.spawn(move || {
                let _admitted = admission.enter().expect("its turn");
                order.lock().expect("no panic").push(number);
            });
            until(|| admission.queue().waiting.len() == number + 1);
        }
        admitted.pop(); // each of the three admits the next one
    });
    assert_eq!(order.into_inner().expect("no panic"), [0, 1, 2]);
    drop(admitted);
    assert_eq!(admission.queue().admitted, 0);
}

#[test]
fn a_signal_ends_the_wait_and_leaves_no_place() {
    let admission = Admission::default();
    let admitted: Vec<_> = (0..MOST).map(|_| admission.enter().expect("room")).collect();
    let waited = interruptible(Interruption::Copies(|| true), || admission.enter().map(drop));
    assert_eq!((waited, admission.queue().waiting.len()), (None, 0));
    drop(admitted);
    admission.enter().expect("room again");
}

/// It was admitted while it gave up.
#[test]
fn who_gives_up_lets_the_next_one_in() {
    let admission = Admission::default();
    std::mem::forget(admission.enter().expect("room"));
    let is_admitted = AtomicBool::new(true);
    admission.give_up(&Arc::new(Waiter { thread: thread::current(), is_admitted }));
    assert_eq!(admission.queue().admitted, 0);
}

use super::*;
use arrow_cuda_driver::{Interruption, interruptible};
use proptest::prelude::*;
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

/// Copies of threads that make one after the other, on a link that those share equally that are admitted.
struct Simulation {
    /// The bytes of each thread's copies, and how many of them it still makes.
    threads: Vec<(f64, usize)>,
    queue: Queue<usize>,
    /// Who is admitted, with the bytes that are left.
    running: Vec<(usize, f64)>,
    now: f64,
    /// When each thread asked, and how long each copy took.
    asked: Vec<f64>,
    took: Vec<f64>,
    /// Who asked, and who was admitted.
    order: [Vec<usize>; 2],
}

/// Bytes a second.
const LINK: f64 = 5e10;

impl Simulation {
    fn of(threads: Vec<(f64, usize)>) -> Self {
        let (asked, took) = (vec![0.0; threads.len()], Vec::new());
        let (queue, running, order) = (Queue::default(), Vec::new(), Default::default());
        Self { threads, queue, running, now: 0.0, asked, took, order }
    }

    fn ask(&mut self, thread: usize) {
        self.asked[thread] = self.now;
        self.order[0].push(thread);
        if self.queue.join(|| thread).is_ok() {
            self.begin(thread);
        }
    }

    fn begin(&mut self, thread: usize) {
        self.order[1].push(thread);
        self.running.push((thread, self.threads[thread].0));
    }

    /// Returns the time at which the last copy ended.
    fn run(&mut self) -> f64 {
        (0..self.threads.len()).for_each(|thread| self.ask(thread));
        while let Some(least) = self.running.iter().map(|(_, left)| *left).reduce(f64::min) {
            let share = LINK / self.running.len() as f64;
            self.now += least / share;
            self.running.iter_mut().for_each(|(_, left)| *left -= least);
            let ended = self.running.iter().position(|(_, left)| *left <= 0.0);
            let (thread, _) = self.running.remove(ended.expect("the least one"));
            self.took.push(self.now - self.asked[thread]);
            if let Some(next) = self.queue.leave() {
                self.begin(next);
            }
            self.threads[thread].1 -= 1;
            if self.threads[thread].1 > 0 {
                self.ask(thread);
            }
        }
        self.now
    }
}

proptest! {
    /// With 1 to 64 threads and copies of 1 MiB to 1 GiB.
    #[test]
    fn the_link_is_never_idle_and_nobody_is_overtaken(
        sizes in prop::collection::vec(20..=30u32, 1..=64), copies in 1..6usize,
    ) {
        let threads: Vec<_> = sizes.iter().map(|size| (f64::from(*size).exp2(), copies)).collect();
        let bytes: f64 = threads.iter().map(|(size, copies)| size * *copies as f64).sum();
        let mut simulation = Simulation::of(threads);
        let end = simulation.run();
        prop_assert!((end * LINK / bytes - 1.0).abs() < 1e-6, "the link has work to the end");
        prop_assert_eq!(simulation.took.len(), sizes.len() * copies);
        let [asked, admitted] = simulation.order;
        prop_assert_eq!(asked, admitted);
    }

    #[test]
    fn the_slowest_of_equal_copies_takes_at_most_three_times_the_median(
        threads in 1..=64usize, size in 20..=30u32,
    ) {
        let mut simulation = Simulation::of(vec![(f64::from(size).exp2(), 20); threads]);
        simulation.run();
        let mut took = simulation.took;
        took.sort_by(f64::total_cmp);
        prop_assert!(took[took.len() - 1] <= 3.0 * took[took.len() / 2]);
    }
}

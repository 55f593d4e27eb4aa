//! Admits a few large copies at a time, in their order.
//!
//! More of them make the link no faster, but hold each other up in the driver, and need more pinned memory.

use arrow_cuda_driver::{CudaResult, Lock, Patience, blocking};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

/// Two saturate the link (measured on an H100); with four it has work while some of them begin and end.
const MOST: usize = 4;
/// How often a thread that waits looks for signals.
const INTERVAL: Duration = Duration::from_millis(20);

/// The copies of one direction.
#[derive(Debug, Default)]
pub(super) struct Admission(Lock<Queue>);

#[derive(Debug, Default)]
struct Queue {
    admitted: usize,
    /// The next one is at the front.
    waiting: VecDeque<Arc<Waiter>>,
}

#[derive(Debug)]
struct Waiter {
    thread: Thread,
    is_admitted: AtomicBool,
}

/// Admits the next copy when it is dropped.
#[derive(Debug)]
pub(super) struct Admitted<'admission>(&'admission Admission);

impl Admission {
    /// Waits for this thread's turn.
    ///
    /// # Errors
    ///
    /// When a signal ends the copy; in a forked child.
    pub(super) fn enter(&self) -> CudaResult<Admitted<'_>> {
        let mut queue = self.0.lock()?;
        if queue.admitted < MOST {
            queue.admitted += 1;
            return Ok(Admitted(self));
        }
        let is_admitted = AtomicBool::new(false);
        let waiter = Arc::new(Waiter { thread: thread::current(), is_admitted });
        queue.waiting.push_back(waiter.clone());
        drop(queue);
        let mut patience = Patience::new();
        while !waiter.is_admitted.load(Ordering::Acquire) {
            // Those that are admitted may look for signals, for which they need the interpreter.
            blocking(|| thread::park_timeout(INTERVAL));
            if let Err(error) = patience.check() {
                self.leave(&waiter)?;
                return Err(error);
            }
        }
        Ok(Admitted(self))
    }

    /// Gives up a place in the queue, or what came of it meanwhile.
    fn leave(&self, waiter: &Arc<Waiter>) -> CudaResult<()> {
        let mut queue = self.0.lock()?;
        let place = queue.waiting.iter().position(|other| Arc::ptr_eq(other, waiter));
        if place.and_then(|place| queue.waiting.remove(place)).is_none() {
            drop(queue);
            drop(Admitted(self));
        }
        Ok(())
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let Ok(mut queue) = self.0.0.lock() else { return };
        let Some(next) = queue.waiting.pop_front() else {
            queue.admitted -= 1;
            return;
        };
        drop(queue);
        next.is_admitted.store(true, Ordering::Release);
        next.thread.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_cuda_driver::{CudaError, Interruption, interruptible};
    use std::sync::Mutex;

    fn until(is_so: impl Fn() -> bool) {
        while !is_so() {
            thread::yield_now();
        }
    }

    fn waiting(admission: &Admission) -> usize {
        admission.0.lock().expect("not a forked child").waiting.len()
    }

    #[test]
    fn copies_are_admitted_in_their_order() {
        let (admission, order) = (Admission::default(), Mutex::new(Vec::new()));
        let mut admitted: Vec<_> = (0..MOST).map(|_| admission.enter().expect("room")).collect();
        thread::scope(|scope| {
            for number in 0..3 {
                let (admission, order) = (&admission, &order);
                scope.spawn(move || {
                    let _admitted = admission.enter().expect("its turn");
                    order.lock().expect("no panic").push(number);
                });
                until(|| waiting(admission) == number + 1);
            }
            admitted.pop(); // each of the three admits the next one
        });
        assert_eq!(order.into_inner().expect("no panic"), [0, 1, 2]);
        drop(admitted);
        assert_eq!(admission.0.lock().expect("not a forked child").admitted, 0);
    }

    #[test]
    fn a_signal_ends_the_wait_and_leaves_no_place() {
        let admission = Admission::default();
        let admitted: Vec<_> = (0..MOST).map(|_| admission.enter().expect("room")).collect();
        let waited = interruptible(Interruption::Copies(|| true), || admission.enter().map(drop));
        assert_eq!((waited, waiting(&admission)), (None, 0));
        drop(admitted);
        admission.enter().expect("room again");
    }

    /// It was admitted while it gave up.
    #[test]
    fn who_gives_up_lets_the_next_one_in() {
        let admission = Admission::default();
        let admitted = admission.enter().expect("room");
        std::mem::forget(admitted);
        let is_admitted = AtomicBool::new(true);
        let waiter = Arc::new(Waiter { thread: thread::current(), is_admitted });
        assert_eq!(admission.leave(&waiter), Ok::<_, CudaError>(()));
        assert_eq!(admission.0.lock().expect("not a forked child").admitted, 0);
    }
}

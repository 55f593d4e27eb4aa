//! Admits a few large copies at a time, in their order.
//!
//! More of them make the link no faster, but hold each other up in the driver, and need more pinned memory.

use super::sync::{AtomicBool, Mutex, MutexGuard, Ordering, park_for, thread};
use arrow_cuda_driver::{CudaResult, Patience, blocking};
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// Two saturate the link (measured on an H100); with four it has work while some of them begin and end.
const MOST: usize = if cfg!(loom) { 1 } else { 4 };
/// How often a thread that waits looks for signals.
const INTERVAL: Duration = Duration::from_millis(20);

/// The copies of one direction.
#[derive(Debug, Default)]
pub(super) struct Admission(Mutex<Queue<Arc<Waiter>>>);

/// Who is admitted, and who is next.
#[derive(Debug)]
struct Queue<Waiter> {
    admitted: usize,
    /// The next one is at the front.
    waiting: VecDeque<Waiter>,
}

#[derive(Debug)]
struct Waiter {
    thread: thread::Thread,
    is_admitted: AtomicBool,
}

/// Admits the next copy when it is dropped.
#[derive(Debug)]
pub(super) struct Admitted<'admission>(&'admission Admission);

impl<Waiter> Default for Queue<Waiter> {
    fn default() -> Self {
        Self { admitted: 0, waiting: VecDeque::new() }
    }
}

impl<Waiter> Queue<Waiter> {
    /// Admits one more at once, or has it wait.  Returns whether it is admitted.
    fn join(&mut self, waiter: impl FnOnce() -> Waiter) -> Result<(), &Waiter> {
        if self.admitted < MOST {
            self.admitted += 1;
            return Ok(());
        }
        self.waiting.push_back(waiter());
        Err(&self.waiting[self.waiting.len() - 1])
    }

    /// One of those that are admitted leaves.  Returns who is admitted in its place.
    fn leave(&mut self) -> Option<Waiter> {
        let next = self.waiting.pop_front();
        self.admitted -= usize::from(next.is_none());
        next
    }
}

impl Admission {
    /// Waits for this thread's turn.
    ///
    /// # Errors
    ///
    /// When a signal ends the copy.
    pub(super) fn enter(&self) -> CudaResult<Admitted<'_>> {
        let new = || {
            let (thread, is_admitted) = (thread::current(), AtomicBool::new(false));
            Arc::new(Waiter { thread, is_admitted })
        };
        let waiter = match self.queue().join(new) {
            Ok(()) => return Ok(Admitted(self)),
            Err(waiter) => waiter.clone(),
        };
        let mut patience = Patience::new();
        while !waiter.is_admitted.load(Ordering::Acquire) {
            // Those that are admitted may look for signals, for which they need the interpreter.
            blocking(|| park_for(INTERVAL));
            if let Err(error) = patience.check() {
                self.give_up(&waiter);
                return Err(error);
            }
        }
        Ok(Admitted(self))
    }

    /// Gives up a place in the queue, or the admission if that has come meanwhile.
    fn give_up(&self, waiter: &Arc<Waiter>) {
        let mut queue = self.queue();
        let place = queue.waiting.iter().position(|other| Arc::ptr_eq(other, waiter));
        if place.and_then(|place| queue.waiting.remove(place)).is_none() {
            drop(queue);
            drop(Admitted(self));
        }
    }

    /// A forked child makes no copy, so it does not come here.
    fn queue(&self) -> MutexGuard<'_, Queue<Arc<Waiter>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Admitted<'_> {
    fn drop(&mut self) {
        let next = self.0.queue().leave();
        if let Some(next) = next {
            next.is_admitted.store(true, Ordering::Release);
            next.thread.unpark();
        }
    }
}

#[cfg(all(test, not(loom)))]
#[path = "admission/tests.rs"]
mod tests;

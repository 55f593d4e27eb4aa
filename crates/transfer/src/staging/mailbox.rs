//! Hands jobs to one worker thread.

use super::helpers::Backoff;
use super::job::Job;
use super::sync::{AtomicU8, Mutex, Ordering, spin_loop, thread};
use crossbeam_utils::CachePadded;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// How long a thread spins for the next job before it sleeps: waking it takes about as long.
pub(super) const SPIN_TIME: Duration =
    if cfg!(loom) { Duration::ZERO } else { Duration::from_micros(100) };

/// Holds the next job of one thread.
#[derive(Debug, Default)]
pub(super) struct Mailbox {
    /// Apart from the rest, since the thread looks at it all the time.
    state: CachePadded<AtomicU8>,
    job: Mutex<Option<Arc<Job>>>,
    /// Once it runs.
    thread: Mutex<Option<thread::Thread>>,
}

/// The thread does not run yet.
const NEW: u8 = 0;
const SPINNING: u8 = 1;
const ASLEEP: u8 = 2;
/// A job is about to be put here.
const CHOSEN: u8 = 3;
const FULL: u8 = 4;
const BUSY: u8 = 5;
const ENDED: u8 = 6;

impl Mailbox {
    pub(super) fn choose_spinning(&self) -> bool {
        self.state.load(Ordering::Relaxed) == SPINNING && self.change(SPINNING, CHOSEN)
    }

    pub(super) fn choose_asleep(&self) -> bool {
        self.state.load(Ordering::Relaxed) == ASLEEP && self.change(ASLEEP, CHOSEN)
    }

    /// Gives a job to the thread that was chosen, and wakes it.
    pub(super) fn put(&self, job: Arc<Job>) {
        *self.job.lock().unwrap_or_else(PoisonError::into_inner) = Some(job);
        self.state.store(FULL, Ordering::Release);
        self.wake();
    }

    pub(super) fn end(&self) {
        // Not only a store: a thread that is about to sleep is either seen here, or sees this.
        self.state.swap(ENDED, Ordering::AcqRel);
        self.wake();
    }

    fn wake(&self) {
        if let Some(thread) = &*self.thread.lock().unwrap_or_else(PoisonError::into_inner) {
            thread.unpark(); // costs next to nothing if it is awake
        }
    }

    fn change(&self, from: u8, to: u8) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// The thread's work: one job after the other, until it must end.
    pub(super) fn work(&self, mut after_each: impl FnMut()) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread::current());
        self.change(NEW, SPINNING);
        while self.wait() {
            let job = self.job.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(job) = job {
                job.help();
            }
            after_each();
            self.change(BUSY, SPINNING);
        }
    }

    /// Waits for a job; false once the thread is to end.
    fn wait(&self) -> bool {
        let (since, mut backoff) = (Instant::now(), Backoff::default());
        while self.state.load(Ordering::Acquire) == SPINNING && since.elapsed() < SPIN_TIME {
            backoff.wait();
        }
        if self.change(SPINNING, ASLEEP) {
            while self.state.load(Ordering::Acquire) == ASLEEP {
                thread::park();
            }
        }
        while self.state.load(Ordering::Acquire) == CHOSEN {
            spin_loop();
        }
        self.change(FULL, BUSY)
    }
}

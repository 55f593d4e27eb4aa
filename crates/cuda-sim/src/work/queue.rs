//! A queue of work that a thread of its own carries out in order.
//!
//! Each piece of work has a ticket, a number that counts up in its queue, and runs when all earlier
//! tickets of the queue are done.  A synchronous call takes a ticket too, and runs its work on the
//! calling thread.

use std::collections::VecDeque;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::Health;
use crate::base::code::{CONTEXT_IS_DESTROYED, OUT_OF_MEMORY, Result, UNKNOWN};
use crate::base::lock;

/// The memory that must be free when a thread starts: far more than its thread-local data.
const ROOM_OF_THREAD: usize = 64 << 10;

pub type Work = Box<dyn FnOnce() -> Result + Send>;

/// How a queue is ordered with the context's legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Legacy,
    /// Each of the two waits for what was queued in the other before.
    Blocking,
    /// Neither waits for the other.
    NonBlocking,
}

pub struct Queue {
    /// The context that it belongs to, by its identity.
    pub context: u64,
    pub order: Order,
    /// Of the context: it remembers the first work that failed.
    health: Arc<Health>,
    /// How long work waits before it starts.
    latency: Duration,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    tasks: VecDeque<Task>,
    last: u64,
    done: u64,
    has_worker: bool,
    closed: bool,
}

struct Task {
    end: Mark,
    after: Vec<Mark>,
    work: Work,
}

/// A point in a queue: the end of the work with this ticket.
#[derive(Clone)]
pub struct Mark {
    queue: Arc<Queue>,
    ticket: u64,
}

impl Mark {
    pub fn is_reached(&self) -> bool {
        self.queue.state().done >= self.ticket
    }

    pub fn wait(&self) {
        self.queue.wait_until_done(self.ticket);
    }
}

impl Queue {
    pub fn new(context: u64, order: Order, health: Arc<Health>, latency: Duration) -> Arc<Self> {
        let (state, changed) = (Mutex::default(), Condvar::new());
        Arc::new(Self { context, order, health, latency, state, changed })
    }

    /// The end of the work so far; `None` when all of it is done.
    pub fn tail(self: &Arc<Self>) -> Option<Mark> {
        let state = self.state();
        (state.done < state.last).then(|| self.mark(state.last))
    }

    /// A point that is reached already.
    pub fn start(self: &Arc<Self>) -> Mark {
        self.mark(0)
    }

    /// Leaves `work` to the queue's thread, which does it when all of `after` is reached.  Fails
    /// when no thread can be started, or when the queue is closed.
    pub fn push(self: &Arc<Self>, after: Vec<Mark>, work: Work) -> Result<Mark> {
        let mut state = self.state();
        if state.closed {
            return Err(CONTEXT_IS_DESTROYED);
        }
        self.start_worker(&mut state)?;
        state.last += 1;
        let end = self.mark(state.last);
        state.tasks.push_back(Task { end: end.clone(), after, work });
        self.changed.notify_all();
        Ok(end)
    }

    /// Takes the next ticket for work that the caller does with [`Queue::run`].
    pub fn take_ticket(self: &Arc<Self>) -> Mark {
        let mut state = self.state();
        state.last += 1;
        self.mark(state.last)
    }

    /// Takes the next ticket if all earlier work is done.
    pub fn take_ticket_if_idle(self: &Arc<Self>) -> Option<Mark> {
        let mut state = self.state();
        (state.done == state.last).then(|| {
            state.last += 1;
            self.mark(state.last)
        })
    }

    /// Does `work` on this thread when `after` and all earlier tickets are done.  A failure is
    /// reported to the context's health, too.  Returns the failure of the work; `UNKNOWN` when it
    /// panicked.
    pub fn run(&self, ticket: &Mark, after: &[Mark], work: impl FnOnce() -> Result) -> Result {
        for mark in after {
            mark.wait();
        }
        self.wait_until_done(ticket.ticket - 1);
        // Whatever happens, the ticket must come to its end: others wait for it.
        let outcome = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(UNKNOWN));
        if let Err(code) = outcome {
            self.health.fail(code);
        }
        self.state().done = ticket.ticket;
        self.changed.notify_all();
        outcome
    }

    /// Refuses more work; the thread ends when the queue is empty.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// True once the queue is closed and has done all of its work.
    pub fn is_over(&self) -> bool {
        let state = self.state();
        state.closed && state.done == state.last
    }

    fn start_worker(self: &Arc<Self>, state: &mut State) -> Result {
        if !state.has_worker {
            // A thread without memory for its thread-local data ends the process.
            let mut room = Vec::<u8>::new();
            room.try_reserve_exact(ROOM_OF_THREAD).map_err(|_| OUT_OF_MEMORY)?;
            drop(black_box(room));
            let queue = Arc::clone(self);
            thread::Builder::new()
                .name("cuda-sim-stream".into())
                .spawn(move || queue.work())
                .map_err(|_| OUT_OF_MEMORY)?;
            state.has_worker = true;
        }
        Ok(())
    }

    fn work(&self) {
        block_signals();
        while let Some(task) = self.next_task() {
            if !self.latency.is_zero() {
                thread::sleep(self.latency);
            }
            // The context's health keeps a failure.
            let _ = self.run(&task.end, &task.after, task.work);
        }
    }

    fn next_task(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            if state.closed {
                return None;
            }
            state = self.wait_for_change(state);
        }
    }

    fn wait_until_done(&self, ticket: u64) {
        let mut state = self.state();
        while state.done < ticket {
            state = self.wait_for_change(state);
        }
    }

    fn wait_for_change<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    fn mark(self: &Arc<Self>, ticket: u64) -> Mark {
        Mark { queue: Arc::clone(self), ticket }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// Leaves signals to the threads of the program.
fn block_signals() {
    // SAFETY: the set is initialised before it is read, and only this thread's mask changes.
    unsafe {
        let mut all = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, std::ptr::null_mut());
    }
}

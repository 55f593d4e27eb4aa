//! Streams: queues of work, each carried out in order by a thread of its own.
//!
//! Every piece of work has a ticket, a number that counts up in its stream, and runs when all
//! earlier tickets of the stream are done.  A synchronous call takes a ticket too and runs its
//! work on the calling thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::code::{Answer, CONTEXT_IS_DESTROYED, Code, OUT_OF_MEMORY, SUCCESS, UNKNOWN};
use crate::context::Context;
use crate::driver::Driver;
use crate::handles::lock;

/// Something that a stream does.
pub type Work = Box<dyn FnOnce() -> Answer + Send>;

/// How a stream is ordered with the context's legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The legacy default stream itself.
    Legacy,
    /// Each waits for what was queued in the other before.
    Blocking,
    /// Not at all.
    NonBlocking,
}

pub struct Stream {
    pub context: &'static Context,
    pub order: Order,
    pub priority: i32,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Task>,
    /// The last ticket given out.
    last: u64,
    /// The last ticket that is done.
    done: u64,
    has_worker: bool,
    closed: bool,
}

struct Task {
    ticket: u64,
    after: Vec<Mark>,
    work: Work,
}

/// A point in a stream: the end of the work with this ticket.
#[derive(Clone)]
pub struct Mark {
    stream: Arc<Stream>,
    ticket: u64,
}

impl Mark {
    pub fn is_reached(&self) -> bool {
        self.stream.state().done >= self.ticket
    }

    pub fn wait(&self) {
        self.stream.wait_until_done(self.ticket);
    }
}

impl Stream {
    pub fn new(context: &'static Context, order: Order, priority: i32) -> Arc<Self> {
        Arc::new(Self {
            context,
            order,
            priority,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// The end of what was queued so far; `None` when all of it is done.
    pub fn tail(self: &Arc<Self>) -> Option<Mark> {
        let state = self.state();
        (state.done < state.last).then(|| Mark { stream: Arc::clone(self), ticket: state.last })
    }

    /// Queues `work` for the stream's thread.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY` when no thread can be started, `CONTEXT_IS_DESTROYED` when it is too late.
    pub fn submit(
        self: &Arc<Self>,
        work: impl FnOnce() -> Answer + Send + 'static,
    ) -> Result<Mark, Code> {
        let context = self.context;
        self.submit_always(move || match context.error() {
            SUCCESS => work(),
            // Work after the one that failed does not happen.
            code => Err(code),
        })
    }

    /// Like [`Stream::submit`], for work that runs even when the context has failed.
    pub fn submit_always(
        self: &Arc<Self>,
        work: impl FnOnce() -> Answer + Send + 'static,
    ) -> Result<Mark, Code> {
        self.context.in_order(self, |after| {
            let mut state = self.state();
            if state.closed {
                return Err(CONTEXT_IS_DESTROYED);
            }
            self.start_worker(&mut state)?;
            state.last += 1;
            let ticket = state.last;
            let work = Box::new(work);
            state.queue.push_back(Task { ticket, after, work });
            self.changed.notify_all();
            Ok(self.mark(ticket))
        })
    }

    /// Does `work` at once when nothing is before it, else queues it.
    pub fn submit_quick(
        self: &Arc<Self>,
        work: impl FnOnce() -> Answer + Send + 'static,
    ) -> Result<Mark, Code> {
        let is_idle = self.context.in_order(self, |after| {
            let mut state = self.state();
            let is_idle = after.is_empty() && state.done == state.last;
            state.last += u64::from(is_idle);
            Ok(is_idle.then_some(state.last))
        })?;
        match is_idle {
            Some(ticket) => {
                self.take_turn(ticket, &[], work)?;
                Ok(self.mark(ticket))
            }
            None => self.submit(work),
        }
    }

    /// Does `work` on this thread, in its turn.
    pub fn perform(self: &Arc<Self>, work: impl FnOnce() -> Answer) -> Answer {
        let (ticket, after) = self.context.in_order(self, |after| {
            let mut state = self.state();
            state.last += 1;
            Ok((state.last, after))
        })?;
        self.take_turn(ticket, &after, work)
    }

    /// Holds the stream's later work back until `mark` is reached.
    pub fn wait_for(self: &Arc<Self>, mark: Mark) -> Answer {
        if mark.is_reached() {
            return Ok(());
        }
        self.submit_always(move || {
            mark.wait();
            Ok(())
        })?;
        Ok(())
    }

    /// Takes no more work; the thread ends when the queue is empty.
    pub fn close(&self) {
        self.state().closed = true;
        self.changed.notify_all();
    }

    /// True once nothing can come from the stream any more.
    pub fn is_over(&self) -> bool {
        let state = self.state();
        state.closed && state.done == state.last
    }

    fn take_turn(&self, ticket: u64, after: &[Mark], work: impl FnOnce() -> Answer) -> Answer {
        for mark in after {
            mark.wait();
        }
        self.wait_until_done(ticket - 1);
        // Whatever happens, the ticket must come to its end: others wait for it.
        let answer = catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(UNKNOWN));
        if let Err(code) = answer {
            self.context.fail(code);
        }
        self.state().done = ticket;
        self.changed.notify_all();
        answer
    }

    fn start_worker(self: &Arc<Self>, state: &mut State) -> Answer {
        if !state.has_worker {
            let stream = Arc::clone(self);
            thread::Builder::new()
                .name("cuda-sim-stream".into())
                .spawn(move || stream.work())
                .map_err(|_| OUT_OF_MEMORY)?;
            state.has_worker = true;
        }
        Ok(())
    }

    fn work(&self) {
        block_signals();
        let latency = Driver::get().map(|driver| driver.config.latency);
        while let Some(task) = self.next_task() {
            if let Ok(latency) = latency
                && !latency.is_zero()
            {
                thread::sleep(latency);
            }
            // The context remembers a failure.
            let _ = self.take_turn(task.ticket, &task.after, task.work);
        }
    }

    fn next_task(&self) -> Option<Task> {
        let mut state = self.state();
        loop {
            if let Some(task) = state.queue.pop_front() {
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
        let stream = Arc::clone(self);
        Mark { stream, ticket }
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

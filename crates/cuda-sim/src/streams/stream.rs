//! Streams: what a program sees of a queue of work.

use std::sync::Arc;

use crate::base::code::{Result, SUCCESS};
use crate::contexts::Context;
use crate::work::{Mark, Order, Queue, capture};

#[derive(Clone)]
pub struct Stream {
    pub context: &'static Context,
    pub priority: i32,
    pub queue: Arc<Queue>,
}

impl Stream {
    pub fn create(context: &'static Context, order: Order, priority: i32) -> Self {
        Self { context, priority, queue: context.queues.create(order) }
    }

    pub fn legacy(context: &'static Context) -> Self {
        Self { context, priority: 0, queue: Arc::clone(&context.queues.legacy) }
    }

    /// The calling thread's own default stream.
    pub fn of_this_thread(context: &'static Context) -> Self {
        Self { context, priority: 0, queue: context.queues.of_this_thread() }
    }

    /// Queues `work`, which is left out if the context fails before its turn.  Fails when no thread
    /// can be started, or when it is too late.
    pub fn submit(&self, work: impl FnOnce() -> Result + Send + 'static) -> Result<Mark> {
        let context = self.context;
        self.submit_always(move || match context.error() {
            SUCCESS => work(),
            code => Err(code),
        })
    }

    /// Queues `work`, which runs even when the context has failed.
    pub fn submit_always(&self, work: impl FnOnce() -> Result + Send + 'static) -> Result<Mark> {
        if self.captures()? {
            return Ok(self.queue.start());
        }
        let work = Box::new(work);
        self.context.queues.in_order(&self.queue, |after| self.queue.push(after, work))
    }

    /// Queues a function of the host, which also runs when the context has failed.  It has a turn in the context's
    /// line: from now on if nothing is before it in the stream, or else from when the stream comes to it.
    pub fn submit_function(&self, function: impl FnOnce() + Send + 'static) -> Result<Mark> {
        if self.captures()? {
            return Ok(self.queue.start());
        }
        let (queue, line) = (&self.queue, &self.context.line);
        self.context.queues.in_order(queue, |after| {
            let turn = (after.is_empty() && queue.tail().is_none()).then(|| line.enter());
            let work = move || {
                turn.unwrap_or_else(|| line.enter()).run(function);
                Ok(())
            };
            queue.push(after, Box::new(work))
        })
    }

    /// Does `work` at once if nothing is before it, and queues it otherwise.
    pub fn submit_or_run(&self, work: impl FnOnce() -> Result + Send + 'static) -> Result<Mark> {
        if self.captures()? {
            return Ok(self.queue.start());
        }
        let ticket = self.context.queues.in_order(&self.queue, |after| {
            Ok(if after.is_empty() { self.queue.take_ticket_if_idle() } else { None })
        })?;
        match ticket {
            Some(ticket) => {
                self.queue.run(&ticket, &[], work)?;
                Ok(ticket)
            }
            None => self.submit(work),
        }
    }

    /// Does `work` on this thread, in its turn.
    pub fn run(&self, work: impl FnOnce() -> Result) -> Result {
        if self.captures()? {
            return Ok(());
        }
        let take_ticket = |after| Ok((self.queue.take_ticket(), after));
        let (ticket, after) = self.context.queues.in_order(&self.queue, take_ticket)?;
        self.queue.run(&ticket, &after, work)
    }

    /// Holds the stream's later work back until `mark` is reached.
    pub fn wait_for(&self, mark: Mark) -> Result {
        if mark.is_reached() {
            return Ok(());
        }
        self.submit_always(move || {
            mark.wait();
            Ok(())
        })?;
        Ok(())
    }

    /// Waits for the work that was queued, and for the work that is ordered with it.
    pub fn synchronize(&self) {
        self.tails().iter().for_each(Mark::wait);
    }

    /// Whether the work for which [`Stream::synchronize`] waits is done.
    pub fn is_idle(&self) -> bool {
        self.tails().is_empty()
    }

    /// Whether work becomes part of a graph instead of being done.
    pub fn captures(&self) -> Result<bool> {
        capture::takes_work_of(&self.queue)
    }

    /// The ends of the work for which [`Stream::synchronize`] waits.
    pub fn tails(&self) -> Vec<Mark> {
        self.context.queues.tails_of(&self.queue)
    }
}

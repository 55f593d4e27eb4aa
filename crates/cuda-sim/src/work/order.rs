//! Which queues of a context wait for each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::health::Health;
use super::queue::{Mark, Queue};
use crate::base::code::Result;
use crate::base::lock::lock;

/// How a stream is ordered with the context's legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The legacy default stream itself.
    Legacy,
    /// Each of the two waits for what was queued in the other before.
    Blocking,
    /// Neither waits for the other.
    NonBlocking,
}

/// The queues of one context: that of the legacy default stream, and one for each other stream.
pub struct Queues {
    health: Arc<Health>,
    latency: Duration,
    legacy: Arc<Queue>,
    /// Locked while work is queued, so that the order between streams is that of the calls.
    others: Mutex<Vec<(Order, Arc<Queue>)>>,
    /// Queues of per-thread default streams, by thread.
    per_thread: Mutex<HashMap<u64, Arc<Queue>>>,
}

impl Queues {
    /// The queues of the context with this health; their work waits for `latency` before it
    /// starts.
    pub fn new(health: Arc<Health>, latency: Duration) -> Self {
        Self {
            legacy: Queue::new(Arc::clone(&health), latency),
            health,
            latency,
            others: Mutex::default(),
            per_thread: Mutex::default(),
        }
    }

    pub fn legacy(&self) -> &Arc<Queue> {
        &self.legacy
    }

    /// Makes a queue for a new stream.
    pub fn create(&self, order: Order) -> Arc<Queue> {
        let queue = Queue::new(Arc::clone(&self.health), self.latency);
        let mut others = lock(&self.others);
        others.retain(|(_, queue)| !queue.is_over());
        others.push((order, Arc::clone(&queue)));
        queue
    }

    /// The queue of the calling thread's default stream.
    pub fn of_this_thread(&self) -> Arc<Queue> {
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::pthread_self() } as u64;
        let mut per_thread = lock(&self.per_thread);
        Arc::clone(per_thread.entry(thread).or_insert_with(|| self.create(Order::Blocking)))
    }

    /// Calls `queue_work` with what a stream of this order has to wait for.  No other call queues
    /// work in the context meanwhile.
    ///
    /// # Errors
    /// That of `queue_work`.
    pub fn in_order<T>(
        &self,
        order: Order,
        queue_work: impl FnOnce(Vec<Mark>) -> Result<T>,
    ) -> Result<T> {
        let others = lock(&self.others);
        let after = match order {
            Order::Legacy => blocking_tails(&others),
            Order::Blocking => self.legacy.tail().into_iter().collect(),
            Order::NonBlocking => Vec::new(),
        };
        queue_work(after)
    }

    /// The ends of all work that is not done.
    pub fn tails(&self) -> Vec<Mark> {
        let others = lock(&self.others);
        let others = others.iter().map(|(_, queue)| queue);
        others.chain([&self.legacy]).filter_map(Queue::tail).collect()
    }

    /// The ends of the work for which a synchronisation with one stream waits.  With the legacy
    /// default stream these include the blocking streams, as on an H200.
    pub fn tails_of(&self, queue: &Arc<Queue>, order: Order) -> Vec<Mark> {
        let mut tails: Vec<Mark> = queue.tail().into_iter().collect();
        if order == Order::Legacy {
            tails.extend(blocking_tails(&lock(&self.others)));
        }
        tails
    }

    /// Refuses more work in all queues.
    pub fn close(&self) {
        for (_, queue) in lock(&self.others).drain(..) {
            queue.close();
        }
        self.legacy.close();
        lock(&self.per_thread).clear();
    }
}

fn blocking_tails(others: &[(Order, Arc<Queue>)]) -> Vec<Mark> {
    let blocking = others.iter().filter(|(order, _)| *order == Order::Blocking);
    blocking.filter_map(|(_, queue)| queue.tail()).collect()
}

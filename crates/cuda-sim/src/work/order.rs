//! Which queues of a context wait for each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{Health, Mark, Order, Queue};
use crate::base::code::Result;
use crate::base::lock;

/// The queues of one context: that of the legacy default stream, and one for each other stream.
pub struct Queues {
    context: u64,
    health: Arc<Health>,
    latency: Duration,
    pub legacy: Arc<Queue>,
    /// Locked while work is queued, so that the order between streams is that of the calls.
    others: Mutex<Vec<Arc<Queue>>>,
    per_thread: Mutex<HashMap<u64, Arc<Queue>>>,
}

impl Queues {
    /// The queues of a context.  Their work waits before it starts: on average for `latency`, but in each queue for
    /// another time, since equal times would keep the order of the calls between streams that are not ordered.
    pub fn new(context: u64, health: Arc<Health>, latency: Duration) -> Self {
        Self {
            context,
            // Work that is left on the default stream ends last.
            legacy: Queue::new(context, Order::Legacy, Arc::clone(&health), latency * 3 / 2),
            health,
            latency,
            others: Mutex::default(),
            per_thread: Mutex::default(),
        }
    }

    pub fn create(&self, order: Order) -> Arc<Queue> {
        let health = Arc::clone(&self.health);
        let mut others = lock(&self.others);
        let latency = if others.len().is_multiple_of(2) { self.latency / 2 } else { self.latency };
        let queue = Queue::new(self.context, order, health, latency);
        others.retain(|queue| !queue.is_over());
        others.push(Arc::clone(&queue));
        queue
    }

    /// The queue of the calling thread's default stream.
    pub fn of_this_thread(&self) -> Arc<Queue> {
        // SAFETY: has no preconditions.
        let thread = unsafe { libc::pthread_self() } as u64;
        let mut per_thread = lock(&self.per_thread);
        Arc::clone(per_thread.entry(thread).or_insert_with(|| self.create(Order::Blocking)))
    }

    /// Calls `queue_work` with what new work of a queue has to wait for.  No other call queues work in the
    /// context meanwhile.
    pub fn in_order<T>(
        &self,
        queue: &Queue,
        queue_work: impl FnOnce(Vec<Mark>) -> Result<T>,
    ) -> Result<T> {
        let others = lock(&self.others);
        let after = match queue.order {
            Order::Legacy => blocking_tails(&others),
            Order::Blocking => self.legacy.tail().into_iter().collect(),
            Order::NonBlocking => Vec::new(),
        };
        queue_work(after)
    }

    /// The ends of all work that is not done.
    pub fn tails(&self) -> Vec<Mark> {
        let others = lock(&self.others);
        others.iter().chain([&self.legacy]).filter_map(Queue::tail).collect()
    }

    /// The ends of the work for which a synchronisation with one stream waits.  With the legacy
    /// default stream these include the blocking streams, as on an H200.
    pub fn tails_of(&self, queue: &Arc<Queue>) -> Vec<Mark> {
        let mut tails: Vec<Mark> = queue.tail().into_iter().collect();
        if queue.order == Order::Legacy {
            tails.extend(blocking_tails(&lock(&self.others)));
        }
        tails
    }

    pub fn close(&self) {
        for queue in lock(&self.others).drain(..) {
            queue.close();
        }
        self.legacy.close();
        lock(&self.per_thread).clear();
    }
}

fn blocking_tails(others: &[Arc<Queue>]) -> Vec<Mark> {
    let blocking = others.iter().filter(|queue| queue.order == Order::Blocking);
    blocking.filter_map(Queue::tail).collect()
}

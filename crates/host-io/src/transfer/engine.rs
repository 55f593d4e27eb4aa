//! What the copies of one device share: threads and pinned memory, made when they are first needed.

use super::crew::Crew;
use super::fresh;
use super::host::HostMemory;
use super::job::{Job, Task};
use super::plan::{TransferLimits, WORTH_WAKING};
use super::ring::Ring;
use arrow_cuda_context::Context;
use arrow_cuda_driver::CudaResult;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The means of one context's copies.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// How many bytes the driver has copied so far, where this might have.
    missed: AtomicUsize,
    /// One copy at a time uses them, and saturates the link.
    means: Mutex<Means>,
}

/// By the context's identity.  They stay when their context is gone: freeing what went with it
/// would free somebody else's.
type Engines = HashMap<(usize, u64), Arc<Engine>>;

static ENGINES: Mutex<Option<Engines>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The engine of a context.
pub(super) fn of(context: &Context) -> Arc<Engine> {
    lock(&ENGINES).get_or_insert_default().entry(context.identity()).or_default().clone()
}

impl Engine {
    /// Whether it is worth having for one more task of so many bytes.
    pub(super) fn is_worth_it(&self, size: usize, limits: &TransferLimits) -> bool {
        let missed = self.missed.load(Ordering::Relaxed);
        if missed.saturating_add(size) > limits.begin_after {
            return true;
        }
        self.missed.store(missed + size, Ordering::Relaxed);
        false
    }

    /// Does a task: whether a comparison has found a difference.  None where the
    /// driver is to do it: no memory can be pinned, or it is faster.  The context is current.
    pub(super) fn run(
        &self,
        context: &Context,
        limits: &TransferLimits,
        (threads, piece): (usize, usize),
        task: Task,
        host: HostMemory<'_>,
        device: u64,
    ) -> Option<CudaResult<bool>> {
        let mut means = lock(&self.means);
        let (crew, ring, slots) = means.ready(context, limits)?;
        if host.size() < WORTH_WAKING && !crew.is_alert() {
            return None;
        }
        if task == Task::Download {
            for (address, _, length) in host.stretches(0, host.size()) {
                fresh::prefer_huge_pages(address as usize, length);
            }
        }
        // SAFETY: nobody touches it after the job was closed, which nothing below comes before.
        let host = unsafe { host.unbound() };
        let job = Arc::new(Job::new(task, host, piece, ring.slots(), slots));
        crew.post(&job, threads);
        let moved = ring.issue(&job, device);
        job.close();
        Some(moved.map(|()| job.differs()))
    }
}

/// Threads and pinned memory, once they are worth having.
#[derive(Debug, Default)]
struct Means {
    made_for: Option<TransferLimits>,
    crew: Crew,
    ring: Option<Ring>,
}

impl Means {
    /// The threads, the pinned memory and the number of its slots, made for these limits.
    fn ready(
        &mut self,
        context: &Context,
        limits: &TransferLimits,
    ) -> Option<(&Crew, &mut Ring, usize)> {
        let (slots, slot_size) = limits.ring()?;
        if self.made_for != Some(*limits) {
            self.ring = None; // before the new one takes its place
            self.ring = Ring::new(context, slots, slot_size).ok();
            if self.crew.size() != limits.threads {
                self.crew = Crew::start(limits.threads);
            }
            // Without memory the next copy tries again.
            self.made_for = self.ring.is_some().then_some(*limits);
        }
        let Self { crew, ring, .. } = self;
        ring.as_mut().map(|ring| (&*crew, ring, slots))
    }
}

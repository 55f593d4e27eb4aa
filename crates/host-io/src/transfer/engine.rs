//! What the copies of one device share: threads and pinned memory, made when they are first needed.

use super::crew::Crew;
use super::fresh;
use super::host::HostMemory;
use super::job::{Job, Task};
use super::plan::{TransferLimits, WORTH_WAITING, WORTH_WAKING};
use super::ring::Ring;
use arrow_cuda_context::Context;
use arrow_cuda_driver::{CudaResult, is_forked_child};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// The means of one context's copies.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// How many bytes the driver has copied so far, where this might have.
    missed: AtomicUsize,
    /// One copy at a time uses them, and saturates the link.
    means: Mutex<Means>,
}

/// By the context's handle: its number, and its engine.
type Engines = HashMap<usize, (u64, Arc<Engine>)>;

static ENGINES: Mutex<Option<Engines>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The engine of a context, which must not be gone.
pub(super) fn of(context: &Context) -> Arc<Engine> {
    let (handle, number) = context.identity();
    let (engine, gone) = {
        let mut engines = lock(&ENGINES);
        let engines = engines.get_or_insert_default();
        if let Some((same, engine)) = engines.get(&handle)
            && *same == number
        {
            return engine.clone();
        }
        let engine = Arc::new(Engine::default());
        (engine.clone(), engines.insert(handle, (number, engine)))
    };
    if let Some((_, engine)) = gone {
        // Somebody has reset the device: what was made in the context before went with it.
        lock(&engine.means).release();
    }
    engine
}

/// Gives back what engines have, once the copies are made that use it.
pub(super) fn release_all() {
    if is_forked_child() {
        return; // another thread may have held a lock when the process forked
    }
    let engines: Vec<_> = lock(&ENGINES).iter().flatten().map(|(_, (_, it))| it.clone()).collect();
    for engine in engines {
        lock(&engine.means).release();
    }
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

    /// Does a task: whether a comparison has found a difference.  None where the driver is to do it:
    /// no memory can be pinned, no thread can be started, or it is faster.  The context is current.
    pub(super) fn run(
        &self,
        context: &Context,
        limits: &TransferLimits,
        (threads, piece): (usize, usize),
        task: Task,
        host: HostMemory<'_>,
        device: u64,
    ) -> Option<CudaResult<bool>> {
        let mut means = match self.means.try_lock() {
            Ok(means) => means,
            Err(TryLockError::Poisoned(means)) => means.into_inner(),
            Err(TryLockError::WouldBlock) if host.size() < WORTH_WAITING => return None,
            Err(TryLockError::WouldBlock) => lock(&self.means),
        };
        let (crew, ring, slots) = means.ready(context, limits)?;
        if host.size() < WORTH_WAKING && !crew.is_alert() {
            return None;
        }
        // The threads would only wait as well for what is queued before.
        if let Err(error) = context.synchronize_default_stream() {
            return Some(Err(error));
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
    /// How many threads, and how many slots of which size.
    made_for: Option<(usize, (usize, usize))>,
    crew: Crew,
    ring: Option<Ring>,
    /// How many copies are left to the driver before memory is asked for again.
    discouraged: u32,
}

/// To ask for memory that cannot be pinned takes longer than a copy.
const DISCOURAGED: u32 = 100;

impl Means {
    /// The threads, the pinned memory and the number of its slots, made for these limits.
    fn ready(
        &mut self,
        context: &Context,
        limits: &TransferLimits,
    ) -> Option<(&Crew, &mut Ring, usize)> {
        let (slots, slot_size) = limits.ring()?;
        let wanted = Some((limits.threads, (slots, slot_size)));
        if self.made_for != wanted {
            self.made_for = wanted;
            self.discouraged = 0;
            self.ring = None; // before the new one takes its place
            if self.crew.size() != limits.threads {
                self.crew = Crew::start(limits.threads);
            }
        }
        if self.ring.is_none() {
            if self.discouraged > 0 {
                self.discouraged -= 1;
                return None;
            }
            // The ring leaves the copying to others: alone it would wait for ever.
            if self.crew.size() > 0 {
                self.ring = Ring::new(context, slots, slot_size).ok();
            }
            if self.ring.is_none() {
                self.made_for = None;
                self.discouraged = DISCOURAGED;
            }
        }
        let Self { crew, ring, .. } = self;
        ring.as_mut().map(|ring| (&*crew, ring, slots))
    }

    fn release(&mut self) {
        if let Some(ring) = self.ring.take() {
            ring.release();
        }
        *self = Self::default();
    }
}

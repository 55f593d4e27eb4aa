//! What the copies of one device share: threads and page-locked memory, made when they are first
//! needed.

use super::plan::TransferLimits;
use super::ring::Ring;
use super::workers::Workers;
use arrow_cuda_context::{Context, Extension};
use arrow_cuda_driver::{CudaResult, Lock};
use std::convert::Infallible;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The engine of one context.
#[derive(Debug, Default)]
pub(super) struct Engine {
    /// How many bytes the driver has copied so far, where this might have.
    missed: AtomicUsize,
    /// One copy at a time uses them, and saturates the link.
    resources: Lock<Resources>,
}

impl Extension for Engine {
    fn abandon(&self) {
        self.release();
    }
}

impl Engine {
    pub(super) fn of(context: &Context) -> &Self {
        let made = context.extension_or(|| Ok::<_, Infallible>(Self::default()));
        made.unwrap_or_else(|never| match never {})
    }

    /// Whether it is worth having for one more task of so many bytes.
    pub(super) fn is_worth_it(&self, size: usize, limits: &TransferLimits) -> bool {
        let missed = self.missed.load(Ordering::Relaxed);
        if missed.saturating_add(size) > limits.begin_after {
            return true;
        }
        self.missed.store(missed + size, Ordering::Relaxed);
        false
    }

    /// The resources, once no other copy uses them; none where that is not worth waiting for.
    pub(super) fn lock(&self, waits: bool) -> CudaResult<Option<MutexGuard<'_, Resources>>> {
        match self.resources.try_lock()? {
            None if waits => self.resources.lock().map(Some),
            locked => Ok(locked),
        }
    }

    /// Gives up what there is, once the copies are made that use it.
    fn release(&self) {
        // In a forked child there is nothing to be released.
        let taken = self.resources.lock().map(|mut resources| std::mem::take(&mut *resources));
        // Not under the lock: to release page-locked memory may wait for Python's GIL, whose holder
        // may wait for the lock.
        drop(taken);
    }
}

/// Gives up what engines have, once the copies are made that use it.
pub(super) fn release_all() {
    for context in Context::primaries() {
        if let Some(engine) = context.extension::<Engine>() {
            engine.release();
        }
    }
}

/// Threads and page-locked memory, once they are worth having.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// How many threads, and how many slots of which size.
    made_for: Option<(usize, (usize, usize))>,
    workers: Workers,
    ring: Option<Ring>,
    /// How many copies are left to the driver before memory is asked for again.
    discouraged: u32,
}

/// To ask for memory that cannot be pinned takes longer than a copy.
const DISCOURAGED: u32 = 100;

impl Resources {
    /// The threads, the page-locked memory and the number of its slots, made for these limits.
    pub(super) fn ready(
        &mut self,
        context: &Context,
        limits: &TransferLimits,
    ) -> Option<(&Workers, &mut Ring, usize)> {
        let (slots, slot_size) = limits.ring()?;
        let wanted = Some((limits.threads, (slots, slot_size)));
        if self.made_for != wanted {
            self.made_for = wanted;
            self.discouraged = 0;
            self.ring = None; // before the new one takes its place
        }
        if self.ring.is_none() {
            if self.discouraged > 0 {
                self.discouraged -= 1;
                return None;
            }
            if self.workers.size() != limits.threads {
                self.workers = Workers::start(limits.threads);
            }
            // The ring leaves the copying to others: alone it would wait for ever.
            if self.workers.size() > 0 {
                self.ring = Ring::new(context, slots, slot_size).ok();
            }
            if self.ring.is_none() {
                self.discouraged = DISCOURAGED;
            }
        }
        let Self { workers, ring, .. } = self;
        ring.as_mut().map(|ring| (&*workers, ring, slots))
    }
}

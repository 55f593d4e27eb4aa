//! The resources that the copies of one device share: worker threads and pinned memory, created on
//! demand.

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
    /// How many bytes the driver has copied so far that the engine could have copied.
    driver_bytes: AtomicUsize,
    /// One copy at a time uses the resources, and saturates the link.
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

    /// Whether to create the engine's resources for one more task of `size` bytes.
    pub(super) fn should_start(&self, size: usize, limits: &TransferLimits) -> bool {
        let driver_bytes = self.driver_bytes.load(Ordering::Relaxed);
        if driver_bytes.saturating_add(size) > limits.begin_after {
            return true;
        }
        self.driver_bytes.store(driver_bytes + size, Ordering::Relaxed);
        false
    }

    /// The resources, once no other copy uses them; `None` if they are busy and the caller may not
    /// wait.
    pub(super) fn lock(&self, may_wait: bool) -> CudaResult<Option<MutexGuard<'_, Resources>>> {
        match self.resources.try_lock()? {
            None if may_wait => self.resources.lock().map(Some),
            locked => Ok(locked),
        }
    }

    /// Releases the resources, once the copies that use them are complete.
    fn release(&self) {
        // In a forked child there is nothing to be released.
        let taken = self.resources.lock().map(|mut resources| std::mem::take(&mut *resources));
        // Not under the lock: to release pinned memory may wait for Python's GIL, whose holder
        // may wait for the lock.
        drop(taken);
    }
}

/// Releases the resources of all engines, once the copies that use them are complete.
pub(super) fn release_all() {
    for context in Context::primaries() {
        if let Some(engine) = context.extension::<Engine>() {
            engine.release();
        }
    }
}

/// Worker threads and pinned memory, once they are created.
#[derive(Debug, Default)]
pub(super) struct Resources {
    /// The number of threads, and the number and size of the staging slots.
    configured: Option<(usize, (usize, usize))>,
    workers: Workers,
    ring: Option<Ring>,
    /// How many copies the driver makes before pinning memory is tried again.
    copies_until_retry: u32,
}

/// A failed attempt to pin memory takes longer than a copy.
const RETRY_AFTER: u32 = 100;

impl Resources {
    /// The workers, the ring of staging slots and the number of slots, created for these limits.
    pub(super) fn prepare(
        &mut self,
        context: &Context,
        limits: &TransferLimits,
    ) -> Option<(&Workers, &mut Ring, usize)> {
        let (slots, slot_size) = limits.ring()?;
        let wanted = Some((limits.threads, (slots, slot_size)));
        if self.configured != wanted {
            self.configured = wanted;
            self.copies_until_retry = 0;
            self.ring = None; // before the new one takes its place
        }
        if self.ring.is_none() {
            if self.copies_until_retry > 0 {
                self.copies_until_retry -= 1;
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
                self.copies_until_retry = RETRY_AFTER;
            }
        }
        let Self { workers, ring, .. } = self;
        ring.as_mut().map(|ring| (&*workers, ring, slots))
    }
}

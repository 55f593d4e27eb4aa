//! The pools of a context: for each source a ledger, and the fences that show when exposed blocks may be reused.

use super::ledger::{Ledger, Segment};
use super::stats::PINNED;
use super::{MemoryAction, Source, history};
use crate::streams::{Fences, await_users_of_lost};
use crate::{Context, Extension};
use arrow_cuda_driver::{CudaResult, Lock, blocking, may_release, report};
use std::{mem, thread};

pub(super) struct Pool {
    pub(super) source: Source,
    /// Its number.
    device: u32,
    ledger: Lock<Ledger>,
    /// Taken before the ledger's lock.
    fences: Lock<Fences>,
}

impl Pool {
    fn of(source: Source, device: u32) -> Self {
        let mut ledger = Ledger::default();
        ledger.always_shares = source == Source::Pages;
        Self { source, device, ledger: Lock::new(ledger), fences: Lock::default() }
    }

    /// Reads or changes the ledger.  `work` neither calls the driver nor waits for the GIL: a release, on any
    /// thread, holds the lock for some nanoseconds.  Fails in a forked child.
    pub(super) fn with_ledger<T>(&self, work: impl FnOnce(&mut Ledger) -> T) -> CudaResult<T> {
        let mut ledger = self.ledger.lock()?;
        if self.source == Source::Device {
            return Ok(work(&mut ledger));
        }
        let mut shared = PINNED.lock()?;
        let shared = shared.get_or_insert_default();
        mem::swap(&mut ledger.account, shared);
        let result = work(&mut ledger);
        mem::swap(&mut ledger.account, shared);
        Ok(result)
    }

    /// Records a segment of device memory.
    pub(super) fn record_segment(&self, action: MemoryAction, address: u64, size: u64) {
        if self.source == Source::Device {
            history::record_segment(action, self.device, (address, size));
        }
    }

    /// Reads or changes the fences, except in a forked child.  The events that have become useless are
    /// dropped under no lock.
    pub(super) fn with_fences<T>(&self, work: impl FnOnce(&mut Fences) -> T) -> CudaResult<T> {
        let mut fences = self.fences.lock()?;
        let result = work(&mut fences);
        let useless = mem::take(&mut fences.useless);
        drop(fences);
        drop(useless);
        Ok(result)
    }
}

pub(super) struct Pools([Pool; Source::ALL.len()]);

impl Pools {
    pub(super) fn get(&self, source: Source) -> &Pool {
        &self.0[source as usize]
    }
}

impl Extension for Pools {
    fn abandon(&self) {
        for source in Source::ALL {
            let pool = self.get(source);
            // The fences own contexts, this one too.  In a forked child nothing can be saved.
            drop(pool.with_fences(mem::take));
            let left = pool.with_ledger(|ledger| {
                if source == Source::Device {
                    history::record_loss(pool.device, ledger);
                }
                ledger.abandon(source.outlives_context())
            });
            let left = left.unwrap_or_default();
            match source.serves_libarrow() {
                true if left.is_empty() => {}
                true => elsewhere(move || unmap_unused(source, &left)),
                false => unmap_unused(source, &left),
            }
        }
    }
}

/// Has a thread of its own do what may wait.  Without one, that is left to a later call.
pub(super) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    drop(thread::Builder::new().name("cuda-releases".into()).spawn(work));
}

/// Unmaps segments of a context that is gone.  Its work has gone with it, but that of other contexts may use them.
fn unmap_unused(source: Source, segments: &[Segment]) {
    if segments.is_empty() || !may_release() {
        return;
    }
    match blocking(await_users_of_lost) {
        // SAFETY: the ledger has removed the segments.
        Ok(unused) => segments.iter().for_each(|segment| unsafe { source.unmap(segment, &unused) }),
        Err(error) => report(source.name(), &error),
    }
}

impl Context {
    pub(super) fn pool(&self, source: Source) -> &Pool {
        let device = self.device().number();
        self.own_extension(|| Pools(Source::ALL.map(|it| Pool::of(it, device)))).get(source)
    }
}

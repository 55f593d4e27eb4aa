//! The pools of a context: for each source a ledger, and the fences that show when exposed blocks may be reused.

use super::budget::{Budget, PINNED};
use super::ledger::{Ledger, Lookup, Request, Segment};
use super::{MemoryStats, Source};
use crate::streams::Fences;
use crate::{Context, Extension};
use arrow_cuda_driver::{CudaResult, Lock, LockGuard};
use std::convert::Infallible;
use std::ops::{Deref, DerefMut};

/// The memory of one source in one context.
///
/// Code under the ledger's lock neither calls the driver nor waits for the GIL: a release, on any
/// thread, holds it for some nanoseconds.
#[derive(Debug)]
pub(super) struct Pool {
    ledger: Lock<Ledger>,
    /// Taken before the ledger's lock.
    pub(super) fences: Lock<Fences>,
    /// The budget that it shares with other pools; without one, the ledger has a limit of its own.
    budget: Option<&'static Budget>,
}

/// The ledger of a pool.  What it has changed counts in the shared budget when it is dropped.
pub(super) struct LedgerGuard<'pool> {
    ledger: LockGuard<'pool, Ledger>,
    shared: Option<(&'static Budget, MemoryStats)>,
}

impl Pool {
    fn of(source: Source) -> Self {
        let (ledger, budget) = match source {
            Source::Device => (Ledger::default(), None),
            Source::Pinned => (Ledger::default(), Some(&PINNED)),
            Source::Pages => (Ledger::sharing_always(), Some(&PINNED)),
        };
        Self { ledger: Lock::new(ledger), fences: Lock::default(), budget }
    }

    pub(super) fn ledger(&self) -> CudaResult<LedgerGuard<'_>> {
        let Some(budget) = self.budget else {
            return Ok(LedgerGuard { ledger: self.ledger.lock()?, shared: None });
        };
        let limit = budget.limit(); // not under the lock: it may read a file
        let mut ledger = self.ledger.lock()?;
        let before = ledger.stats();
        let elsewhere =
            budget.with_stats(|all| all.cached_bytes.saturating_sub(before.cached_bytes));
        ledger.share_limit(limit, elsewhere);
        Ok(LedgerGuard { ledger, shared: Some((budget, before)) })
    }

    /// A block of memory that was not ready when the request was made, but is now: its address, and
    /// that of its segment.
    pub(super) fn take_ready(&self, request: &Request) -> CudaResult<Option<(u64, u64)>> {
        Ok(match self.ledger()?.reuse(request) {
            Lookup::Hit { address, segment } => Some((address, segment)),
            Lookup::InFlight | Lookup::Miss => None,
        })
    }

    /// Forgets all memory.  Returns the segments that outlive the context.
    fn abandon(&self, keeps_memory: bool) -> Vec<Segment> {
        // In a forked child nothing can be saved.
        let fences = self.fences.lock().map(|mut fences| std::mem::take(&mut *fences));
        drop(fences); // under no lock: they own contexts, this one too
        self.ledger().map(|mut ledger| ledger.abandon(keeps_memory)).unwrap_or_default()
    }
}

impl Deref for LedgerGuard<'_> {
    type Target = Ledger;

    fn deref(&self) -> &Ledger {
        &self.ledger
    }
}

impl DerefMut for LedgerGuard<'_> {
    fn deref_mut(&mut self) -> &mut Ledger {
        &mut self.ledger
    }
}

impl Drop for LedgerGuard<'_> {
    fn drop(&mut self) {
        if let Some((budget, before)) = &self.shared {
            let after = self.ledger.stats();
            budget.with_stats(|all| all.add_difference(before, &after));
        }
    }
}

/// The pools of a context, by source.
pub(super) struct Pools([Pool; Source::ALL.len()]);

impl Pools {
    pub(super) fn get(&self, source: Source) -> &Pool {
        let [device, pinned, pages] = &self.0;
        match source {
            Source::Device => device,
            Source::Pinned => pinned,
            Source::Pages => pages,
        }
    }
}

impl Extension for Pools {
    fn abandon(&self) {
        for source in Source::ALL {
            let left = self.get(source).abandon(source.outlives_context());
            // SAFETY: the ledger has removed the segments, whose context and its work are gone.
            left.iter().for_each(|segment| unsafe { source.unmap(segment) });
        }
    }
}

impl Context {
    pub(super) fn pool(&self, source: Source) -> &Pool {
        let made = self.extension_or(|| Ok::<_, Infallible>(Pools(Source::ALL.map(Pool::of))));
        made.unwrap_or_else(|never| match never {}).get(source)
    }
}

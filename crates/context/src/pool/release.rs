//! Returning memory: blocks to the ledger, segments to the driver.

use super::ledger::{Ledger, Segment};
use super::{Cache, Source};
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, may_release, report_failure};
use std::thread;

/// How many bytes the driver has freed, and the first failure.
pub(super) type Freed = (u64, CudaResult<()>);

/// What several pools have freed.
pub(super) fn total(each: impl IntoIterator<Item = Freed>) -> Freed {
    each.into_iter().fold((0, Ok(())), |sum, it| (sum.0 + it.0, sum.1.and(it.1)))
}

impl Context {
    /// Releases the block that contains an address, whatever has become of its context.
    pub(super) fn release_block(
        &self,
        source: Source,
        address: u64,
        is_exposed: bool,
    ) -> CudaResult<()> {
        let (is_finished, exceeds_limit) = self.pool(source).with_ledger(|ledger| {
            ledger.release(address, is_exposed);
            (ledger.has_finished(), ledger.exceeds_limit())
        })?;
        if !is_finished && !exceeds_limit {
            return Ok(());
        }
        if !source.may_wait() {
            let context = self.clone();
            let free = move || {
                report_failure(
                    source.name(),
                    context.free_rest(source, is_finished, exceeds_limit),
                );
            };
            if thread::Builder::new().name("cuda-releases".into()).spawn(free).is_ok() {
                return Ok(());
            }
        }
        self.free_rest(source, is_finished, exceeds_limit)
    }

    /// Gives the driver what a release has left over: segments of which nothing may serve again, and
    /// memory beyond the limit, which may be in other pools that share it.
    fn free_rest(&self, source: Source, is_finished: bool, exceeds_limit: bool) -> CudaResult<()> {
        let finished = match is_finished {
            true => {
                self.free_removed(source, |_| self.pool(source).with_ledger(Ledger::take_finished))
                    .1
            }
            false => Ok(()),
        };
        if !exceeds_limit {
            return finished;
        }
        let surplus = Cache::of(self, source).for_each_pool(|context, source| {
            context.free_removed(source, |current| context.surplus(source, current, 0))
        });
        finished.and(surplus.1)
    }

    /// Takes out of the ledger what is not worth keeping if the driver is to allocate `needed` bytes.  This
    /// does not wait: while the device is busy, it is left to a later call.
    pub(super) fn surplus(
        &self,
        source: Source,
        current: &Current<'_>,
        needed: u64,
    ) -> CudaResult<Vec<Segment>> {
        let pool = self.pool(source);
        let last_release =
            pool.with_ledger(|ledger| ledger.has_surplus(needed).then(|| ledger.last_release()))?;
        let Some(last_release) = last_release else { return Ok(Vec::new()) };
        let complete = pool.with_fences(|fences| fences.all_complete(current, last_release))?;
        pool.with_ledger(|ledger| match complete {
            Ok(Some(complete)) => {
                ledger.mark_complete(complete);
                ledger.take_surplus(needed)
            }
            Ok(None) => Vec::new(),
            // Without events, the driver's own wait is the only evidence.
            Err(_) => ledger.remove_beyond_limit(),
        })
    }

    /// Has the driver free segments that `remove` takes from the ledger.  This may wait for all work of the device.
    ///
    /// If the context cannot be entered, nothing is removed: it would be lost.
    pub(super) fn free_removed(
        &self,
        source: Source,
        remove: impl FnOnce(&Current<'_>) -> CudaResult<Vec<Segment>>,
    ) -> Freed {
        if !may_release() {
            return (0, Ok(()));
        }
        blocking(|| match self.enter() {
            Ok(current) => match remove(&current) {
                Ok(segments) => self.free_segments(source, &current, &segments),
                Err(error) => (0, Err(error)),
            },
            Err(error) => (0, self.unless_gone(error)),
        })
    }

    /// The error of entering the context, unless it is gone: the driver has then freed all its memory.
    fn unless_gone(&self, error: CudaError) -> CudaResult<()> {
        if !self.is_gone(&error) {
            return Err(error);
        }
        self.abandon();
        Ok(())
    }

    /// Has the driver free segments that the ledger has removed.
    pub(super) fn free_segments(
        &self,
        source: Source,
        current: &Current<'_>,
        segments: &[Segment],
    ) -> Freed {
        let free_each = segments.iter().map(|segment| {
            // SAFETY: the segment was allocated in this live context, and the ledger has removed it,
            // once.
            let freed = unsafe { source.give_back(current, segment) };
            if freed.is_err() {
                drop(self.pool(source).with_ledger(|ledger| ledger.restore_segment(segment)));
            }
            (if freed.is_ok() { segment.capacity } else { 0 }, freed)
        });
        total(free_each)
    }
}

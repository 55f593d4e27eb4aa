//! Returning memory: blocks to the ledger, segments to the driver.

use super::ledger::{Ledger, Segment};
use super::{Cache, Source};
use crate::{Context, Current};
use arrow_cuda_driver::{
    CudaError, CudaResult, blocking, keeping_interpreter, may_release, report_failure,
};
use std::thread;

/// How many bytes the driver has freed, and the first failure.
pub(super) type Freed = (u64, CudaResult<()>);

/// What several pools have freed.
pub(super) fn total(each: impl IntoIterator<Item = Freed>) -> Freed {
    each.into_iter().fold((0, Ok(())), |sum, it| (sum.0 + it.0, sum.1.and(it.1)))
}

/// The driver's part of a release.
#[must_use = "the driver must free the segment"]
pub(super) struct Rest {
    segment: Option<Segment>,
    exceeds_limit: bool,
}

impl Context {
    /// Releases a block, whatever has become of its context.
    pub(super) fn release_block(
        &self,
        source: Source,
        address: u64,
        is_exposed: bool,
    ) -> CudaResult<()> {
        let rest = self.give_back(source, address, is_exposed)?;
        self.free_rest(source, &rest)
    }

    /// Releases a block without a wait for the device: another thread frees memory.
    pub(super) fn release_without_waiting(&self, source: Source, address: u64) -> CudaResult<()> {
        let rest = self.give_back(source, address, true)?;
        if rest.segment.is_none() && !rest.exceeds_limit {
            return Ok(());
        }
        let (context, thread) = (self.clone(), thread::Builder::new().name("cuda-releases".into()));
        let (segment, exceeds_limit) = (rest.segment, rest.exceeds_limit);
        let free = move || {
            report_failure(
                source.name(),
                context.free_rest(source, &Rest { segment, exceeds_limit }),
            );
        };
        match thread.spawn(free) {
            Ok(_) => Ok(()),
            Err(_) => keeping_interpreter(|| self.free_rest(source, &rest)),
        }
    }

    fn give_back(&self, source: Source, address: u64, is_exposed: bool) -> CudaResult<Rest> {
        let mut ledger = self.pool(source).ledger()?;
        let segment = ledger.release(address, is_exposed);
        Ok(Rest { segment, exceeds_limit: ledger.exceeds_limit() })
    }

    fn free_rest(&self, source: Source, rest: &Rest) -> CudaResult<()> {
        let Rest { segment, exceeds_limit } = rest;
        if (segment.is_none() && !exceeds_limit) || !may_release() {
            return Ok(());
        }
        blocking(|| match self.enter() {
            Ok(current) => {
                let freed = self.free_segments(source, &current, segment.as_slice()).1;
                if !exceeds_limit {
                    return freed;
                }
                // The memory beyond a shared limit may be in other pools.
                let surplus = Cache::of(self, source).for_each_pool(|context, source| {
                    let returned = match context.is_same(self) {
                        true => self.return_surplus(source, &current, 0),
                        false => {
                            context.enter().and_then(|it| context.return_surplus(source, &it, 0))
                        }
                    };
                    (0, returned.or_else(|error| context.unless_gone(error)))
                });
                freed.and(surplus.1)
            }
            Err(error) => {
                let outcome = self.unless_gone(error);
                match outcome {
                    // SAFETY: the ledger has removed the segment, whose context is gone.
                    Ok(()) => segment.iter().for_each(|it| unsafe { source.unmap(it) }),
                    Err(_) => self.restore_segments(source, segment.as_slice()),
                }
                outcome
            }
        })
    }

    /// Gives the driver what is not worth keeping before it allocates `needed` bytes, if any.  This
    /// does not wait: while the device is busy, it is left to a later call.
    pub(super) fn return_surplus(
        &self,
        source: Source,
        current: &Current<'_>,
        needed: u64,
    ) -> CudaResult<()> {
        let pool = self.pool(source);
        let last_release = {
            let ledger = pool.ledger()?;
            if !ledger.has_surplus(needed) {
                return Ok(());
            }
            ledger.last_release()
        };
        let (idle, useless) = {
            let mut fences = pool.fences.lock()?;
            (fences.all_complete(current, last_release), fences.take_useless())
        };
        drop(useless);
        let surplus = {
            let mut ledger = pool.ledger()?;
            match idle {
                Ok(Some(complete)) => {
                    ledger.mark_complete(complete);
                    ledger.take_surplus(needed)
                }
                Ok(None) => return Ok(()),
                // Without events, the driver's own wait is the only evidence.
                Err(_) => ledger.remove_beyond_limit(),
            }
        };
        self.free_segments(source, current, &surplus).1
    }

    /// Gives all unused segments of a pool back to the driver.
    pub(super) fn free_unused(&self, source: Source) -> Freed {
        self.free_removed(source, Ledger::clear)
    }

    /// Has the driver free segments that `remove` takes from the ledger.  Waits for all work of the device.
    ///
    /// If the context cannot be entered, nothing is removed: it would be lost.
    pub(super) fn free_removed(
        &self,
        source: Source,
        remove: impl FnOnce(&mut Ledger) -> Vec<Segment>,
    ) -> Freed {
        if !may_release() {
            return (0, Ok(()));
        }
        blocking(|| match self.enter() {
            Ok(current) => {
                let removed = self.pool(source).ledger().map(|mut ledger| remove(&mut ledger));
                match removed {
                    Ok(segments) => self.free_segments(source, &current, &segments),
                    Err(error) => (0, Err(error)),
                }
            }
            Err(error) => (0, self.unless_gone(error)),
        })
    }

    /// The error of entering the context, unless it is gone: the driver has then freed all its memory.
    pub(super) fn unless_gone(&self, error: CudaError) -> CudaResult<()> {
        if !self.is_gone(&error) {
            return Err(error);
        }
        self.abandon();
        Ok(())
    }

    /// Has the driver free segments that the ledger has removed.
    fn free_segments(&self, source: Source, current: &Current<'_>, segments: &[Segment]) -> Freed {
        let mut bytes = 0;
        let mut outcome = Ok(());
        for segment in segments {
            // SAFETY: the segment was allocated in this live context, and the ledger has removed it,
            // once.
            match unsafe { source.give_back(current, segment) } {
                Ok(()) => bytes += segment.capacity,
                Err(error) => {
                    self.restore_segments(source, &[*segment]);
                    outcome = outcome.and(Err(error));
                }
            }
        }
        (bytes, outcome)
    }

    fn restore_segments(&self, source: Source, segments: &[Segment]) {
        if let Ok(mut ledger) = self.pool(source).ledger() {
            segments.iter().for_each(|segment| ledger.restore_segment(segment));
        }
    }
}

//! Returning memory: blocks to the ledger, segments to the driver.

use super::ledger::Segment;
use super::{Source, pinned};
use crate::{Context, Current};
use arrow_cuda_driver::{
    CudaError, CudaResult, blocking, keeping_interpreter, may_release, report_failure,
};
use std::thread;

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
                freed.and(match source {
                    Source::Device => self.return_surplus(source, &current, 0),
                    Source::Pinned | Source::Pages => pinned::return_surplus_of_all(&current),
                })
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

    /// Has the driver free segments that `take` removes from the ledger.  Returns how many bytes, and
    /// the first failure.  Waits for all work of the device.
    ///
    /// If the context cannot be entered, nothing is removed: it would be lost.
    pub(super) fn free_removed(
        &self,
        source: Source,
        take: impl FnOnce() -> CudaResult<Vec<Segment>>,
    ) -> (u64, CudaResult<()>) {
        if !may_release() {
            return (0, Ok(()));
        }
        blocking(|| match self.enter() {
            Ok(current) => match take() {
                Ok(segments) => self.free_segments(source, &current, &segments),
                Err(error) => (0, Err(error)),
            },
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
    fn free_segments(
        &self,
        source: Source,
        current: &Current<'_>,
        segments: &[Segment],
    ) -> (u64, CudaResult<()>) {
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

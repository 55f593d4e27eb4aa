//! Returning memory: blocks to the ledger, segments to the driver.

use super::ledger::Segment;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaError, CudaResult, blocking, may_release};

impl Context {
    /// Releases a block, whatever has become of its context.
    pub(super) fn release_block(&self, address: u64, is_exposed: bool) -> CudaResult<()> {
        let (segment, exceeds_limit) = {
            let mut ledger = self.manager().ledger.lock()?;
            (ledger.release(address, is_exposed), ledger.exceeds_limit())
        };
        if (segment.is_none() && !exceeds_limit) || !may_release() {
            return Ok(());
        }
        blocking(|| match self.enter() {
            Ok(current) => {
                let freed = self.free_segments(&current, segment.as_slice()).1;
                if !exceeds_limit {
                    return freed;
                }
                freed.and(self.return_surplus(&current, 0))
            }
            Err(error) => {
                self.restore_segments(segment.as_slice());
                self.unless_gone(error)
            }
        })
    }

    /// Gives the driver what is not worth keeping before it allocates `needed` bytes, if any.  This
    /// does not wait: while the device is busy, it is left to a later call.
    pub(super) fn return_surplus(&self, current: &Current<'_>, needed: u64) -> CudaResult<()> {
        let last_release = {
            let ledger = self.manager().ledger.lock()?;
            if !ledger.has_surplus(needed) {
                return Ok(());
            }
            ledger.last_release()
        };
        let (idle, useless) = {
            let mut fences = self.manager().fences.lock()?;
            (fences.all_complete(current, last_release), fences.take_useless())
        };
        drop(useless);
        let surplus = {
            let mut ledger = self.manager().ledger.lock()?;
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
        self.free_segments(current, &surplus).1
    }

    /// Has the driver free segments that `take` removes from the ledger.  Returns how many bytes, and
    /// the first failure.  Waits for all work of the device.
    ///
    /// If the context cannot be entered, nothing is removed: it would be lost.
    pub(super) fn free_removed(
        &self,
        take: impl FnOnce() -> CudaResult<Vec<Segment>>,
    ) -> (u64, CudaResult<()>) {
        if !may_release() {
            return (0, Ok(()));
        }
        blocking(|| match self.enter() {
            Ok(current) => match take() {
                Ok(segments) => self.free_segments(&current, &segments),
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
    fn free_segments(&self, current: &Current<'_>, segments: &[Segment]) -> (u64, CudaResult<()>) {
        let mut bytes = 0;
        let mut outcome = Ok(());
        for segment in segments {
            // SAFETY: the segment was allocated in this live context, and the ledger has removed it,
            // once.
            match unsafe { current.release_memory(segment.address) } {
                Ok(()) => bytes += segment.capacity,
                Err(error) => {
                    self.restore_segments(&[*segment]);
                    outcome = outcome.and(Err(error));
                }
            }
        }
        (bytes, outcome)
    }

    fn restore_segments(&self, segments: &[Segment]) {
        if let Ok(mut ledger) = self.manager().ledger.lock() {
            segments.iter().for_each(|segment| ledger.restore_segment(segment));
        }
    }
}

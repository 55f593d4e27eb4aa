//! Returning memory: blocks to the ledger, segments to the driver.

use super::ledger::Segment;
use crate::{Context, Current};
use arrow_cuda_driver::{CudaResult, blocking, may_release};

impl Context {
    /// Releases a block, whatever has become of its context.
    pub(super) fn release_block(&self, address: u64, is_exposed: bool) -> CudaResult<()> {
        let (segment, exceeds_limit) = {
            let mut ledger = self.manager().ledger.lock()?;
            (ledger.release(address, is_exposed), ledger.exceeds_limit())
        };
        let freed = self.free_segments(segment.as_slice()).1;
        if !exceeds_limit {
            return freed;
        }
        let returned = blocking(|| match self.enter() {
            Ok(current) => self.return_surplus(&current, 0),
            Err(error) if self.is_gone(&error) => Ok(()),
            Err(error) => Err(error),
        });
        freed.and(returned)
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
        self.free_segments(&surplus).1
    }

    /// Has the driver free segments that the ledger has removed.  Returns how many bytes, and the
    /// first failure.  Waits for all work of the device.
    pub(super) fn free_segments(&self, segments: &[Segment]) -> (u64, CudaResult<()>) {
        if segments.is_empty() || !may_release() {
            return (0, Ok(()));
        }
        blocking(|| {
            let current = match self.enter() {
                Ok(current) => current,
                Err(error) => {
                    self.restore_segments(segments);
                    if !self.is_gone(&error) {
                        return (0, Err(error));
                    }
                    // The driver has freed them with the context.
                    self.abandon();
                    return (0, Ok(()));
                }
            };
            let mut bytes = 0;
            let mut outcome = Ok(());
            for segment in segments {
                // SAFETY: the segment was allocated in this live context, and the ledger has
                // removed it, once.
                match unsafe { current.release_memory(segment.address) } {
                    Ok(()) => bytes += segment.capacity,
                    Err(error) => {
                        self.restore_segments(&[*segment]);
                        outcome = outcome.and(Err(error));
                    }
                }
            }
            (bytes, outcome)
        })
    }

    fn restore_segments(&self, segments: &[Segment]) {
        if let Ok(mut ledger) = self.manager().ledger.lock() {
            segments.iter().for_each(|segment| ledger.restore_segment(segment));
        }
    }
}

//! Returning segments to the driver.

use super::ledger::Segment;
use crate::Context;
use arrow_cuda_driver::{CudaResult, blocking, may_release};

impl Context {
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
                    if !error.is_context_gone() {
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

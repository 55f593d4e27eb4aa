//! Segments on their way back to the driver.

use super::ledger::Segment;
use crate::Context;
use arrow_cuda_driver::{CudaResult, blocking, may_release};

impl Context {
    /// Has the driver free segments that the ledger has given up: how many bytes, and the first
    /// failure.  Waits for all work of the device.
    pub(super) fn free_segments(&self, segments: &[Segment]) -> (u64, CudaResult<()>) {
        if segments.is_empty() || !may_release() {
            return (0, Ok(()));
        }
        blocking(|| {
            let current = match self.enter() {
                Ok(current) => current,
                Err(error) => {
                    self.were_not_freed(segments);
                    if !error.is_context_gone() {
                        return (0, Err(error));
                    }
                    // All that was in the context went with it.
                    self.abandon();
                    return (0, Ok(()));
                }
            };
            let mut bytes = 0;
            let mut outcome = Ok(());
            for segment in segments {
                // SAFETY: the segment was allocated in this context, which is alive, and the ledger
                // has given it up, once.
                match unsafe { current.release_memory(segment.address) } {
                    Ok(()) => bytes += segment.capacity,
                    Err(error) => {
                        self.were_not_freed(&[*segment]);
                        outcome = outcome.and(Err(error));
                    }
                }
            }
            (bytes, outcome)
        })
    }

    fn were_not_freed(&self, segments: &[Segment]) {
        if let Ok(mut ledger) = self.manager().ledger.lock() {
            segments.iter().for_each(|segment| ledger.not_freed(segment));
        }
    }
}

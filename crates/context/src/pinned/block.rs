//! A block of pinned memory in use.

use super::ledger::{Home, Segment, Source};
use super::{pool, segments};
use crate::Context;
use crate::exposure::Exposure;
use arrow_cuda_driver::{CudaResult, may_release, report_failure};

/// An allocation of pinned host memory.  Dropping it gives the memory back: to the cache of the
/// process, or to the driver.
///
/// ```
/// use arrow_cuda_context::Context;
///
/// let block = Context::primary(0)?.allocate_pinned(100)?;
/// assert!(block.size() == 100 && block.address() != 0);
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct PinnedBlock {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) capacity: u64,
    pub(super) source: Source,
    pub(super) context: Context,
    pub(super) exposure: Exposure,
}

impl PinnedBlock {
    /// The address, for whoever asks: this exposes the block.
    pub fn address(&self) -> u64 {
        self.exposure.expose();
        self.address
    }

    /// The address, for work that retains the block until it is complete.  It must not reach anybody
    /// else.
    pub fn private_address(&self) -> u64 {
        self.address
    }

    /// The size that was asked for, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How many bytes are there, which is what was asked for or some more.
    pub(crate) fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Where the block was allocated.
    pub fn context(&self) -> &Context {
        &self.context
    }
}

impl PinnedBlock {
    /// Releases the block, as dropping it does, but leaves what the driver is to free for it to another
    /// thread, since that waits for the device.
    pub(crate) fn release_elsewhere(mut self) {
        if may_release() {
            let evicted = self.give_back();
            segments::free_elsewhere(evicted, &self.context);
        }
        self.address = 0;
    }

    /// Gives the block back to the ledger.  Returns what is to be freed.
    fn give_back(&self) -> CudaResult<Vec<Segment>> {
        let home = Home { context: self.context.identity(), source: self.source };
        let is_exposed = self.exposure.is_exposed();
        pool::with_ledger(|ledger| ledger.release(home, self.address, is_exposed))
    }
}

impl Drop for PinnedBlock {
    fn drop(&mut self) {
        // 0 once it is released.
        if self.address == 0 || !may_release() {
            return;
        }
        let released = self.give_back();
        let freed = released.and_then(|evicted| segments::free(&evicted, Some(&self.context)).1);
        report_failure("pinned host memory", freed);
    }
}

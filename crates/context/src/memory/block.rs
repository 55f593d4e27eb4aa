//! A block of device memory in use.

use crate::Context;
use arrow_cuda_driver::{may_release, report_failure};

/// An allocation. Dropping it gives the memory back: to its context, which caches it, or to the
/// driver.
///
/// ```
/// use arrow_cuda_context::{Context, Placement};
///
/// let block = Context::primary(0)?.allocate(100, Placement::Alone)?;
/// assert!(block.size() == 100 && block.is_alone());
/// # Ok::<(), arrow_cuda_driver::CudaError>(())
/// ```
#[derive(Debug)]
pub struct Block {
    pub(super) address: u64,
    pub(super) size: u64,
    pub(super) is_alone: bool,
    pub(super) context: Context,
}

impl Block {
    /// The device address.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The size that was asked for, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Where the block was allocated.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Whether no other allocation lies in the same driver block.
    pub fn is_alone(&self) -> bool {
        self.is_alone
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if !may_release() {
            return;
        }
        let released = self.context.manager().ledger.lock().map(|mut it| it.release(self.address));
        let freed = released.and_then(|segments| self.context.free_segments(&segments).1);
        report_failure("device memory", freed);
    }
}

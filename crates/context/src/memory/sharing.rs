//! Memory that other processes may reach.

use super::ledger::Access;
use super::lookup::ask;
use crate::Current;
use arrow_cuda_driver::CudaResult;

/// Prepares memory for another process, which reaches the whole block in which it lies: what earlier
/// buffers have left in the block is wiped, and the block does not serve again once it is released,
/// since nothing tells of that process's work.
///
/// Memory that was not allocated here stays as it is.
///
/// # Errors
///
/// The driver's.
pub fn prepare_sharing(current: &Current<'_>, address: u64) -> CudaResult<()> {
    for (residue, size) in ask(address, |ledger| ledger.share(address, Access::Lent)) {
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        if size > 0 {
            // SAFETY: a part of a block in use that its buffer does not use.
            unsafe { current.fill_memory(residue, 0, size) }?;
        }
    }
    Ok(())
}

/// Says that other processes may have the memory at an address mapped for as long as they like: the
/// block in which it lies, if it was allocated here, is never freed.
pub fn retain_exported(address: u64) {
    ask(address, |ledger| ledger.share(address, Access::Exported));
}
